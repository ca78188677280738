"""A bracket of steel bars from stock, 12 cm wide in all, as cheap as possible."""

import ppsde

STEELS = {"S235": (15_000, 1.0), "S355": (22_000, 1.2)}  # strength in N/cm^2, price per kg


def bracket(x, load):
    height, thickness, bars, gap, steel = x
    strength, price = list(STEELS.values())[int(steel)]
    stress = 6 * load * 200 / (bars * thickness * height**2)
    deflection = load * 200**3 / (3 * 2.1e7 * bars * thickness * height**3 / 12)
    return {
        "f": 0.00785 * 200 * bars * thickness * height * price,
        "g": {"stress": stress - strength, "deflection": deflection - 0.5},
        "h": {"width": bars * thickness + (bars - 1) * gap - 12},
    }


problem = ppsde.Problem(
    bracket,
    [(5, 40), None, (2, 6), (0, None), None],
    args=(20_000.0,),
    variable_names=["height", "thickness", "bars", "gap", "steel"],
    integrality=[0, 0, 1, 0, 0],
    choices={"thickness": [0.5, 0.8, 1, 1.2, 1.5, 2], "steel": list(STEELS)},
    constraint_names=["stress", "deflection", "width"],
    n_ineq=2,
    n_eq=1,
    tolerance={"width": 0.1},
    scale={"stress": 10_000, "width": 10},
    name="bracket",
)
