"""Classical design problems of springs, gears, brakes and bearings, each as f, g, h of the rows of x."""

from __future__ import annotations

import math

from ..arrays import Array, namespace

Outcome = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)


def away_from_zero(divisor: Array, smallest: float) -> Array:
    """The divisor, or `smallest` with its sign where it is nearer to zero than that; 0 counts as positive."""
    xp = namespace(divisor)
    return xp.where(xp.abs(divisor) < smallest, xp.where(divisor < 0, -smallest, smallest), divisor)


def tension_spring(x: Array) -> Outcome:
    """Weight of a tension or compression spring (Arora 1989; Belegundu 1982)."""
    xp = namespace(x)
    wire, coil, turns = x.T
    # A coil as narrow as its wire is no spring, but lies in the published box.
    curvature = away_from_zero(12566 * wire**3 * (coil - wire), 1e-12)
    g = [
        1 - coil**3 * turns / (71785 * wire**4),
        (4 * coil**2 - wire * coil) / curvature + 1 / (5108 * wire**2) - 1,
        1 - 140.45 * wire / (coil**2 * turns),
        (wire + coil) / 1.5 - 1,
    ]
    return (turns + 2) * coil * wire**2, xp.stack(g, axis=1), x[:, :0]


def speed_reducer(x: Array) -> Outcome:
    """Weight of a gear box (Golinski 1970), number of teeth rounded, second shaft from 7.3 (not 7.8) long."""
    xp = namespace(x)
    face, module, _, length1, length2, shaft1, shaft2 = x.T
    teeth = xp.round(x[:, 2])
    f = (
        0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
        - 1.508 * face * (shaft1**2 + shaft2**2)
        + 7.4777 * (shaft1**3 + shaft2**3)
        + 0.7854 * (length1 * shaft1**2 + length2 * shaft2**2)
    )
    pitch = module * teeth
    g = [
        27 / (face * module * pitch) - 1,
        397.5 / (face * pitch**2) - 1,
        1.93 * length1**3 / (pitch * shaft1**4) - 1,
        1.93 * length2**3 / (pitch * shaft2**4) - 1,
        xp.sqrt((745 * length1 / pitch) ** 2 + 16.9e6) / (110 * shaft1**3) - 1,
        xp.sqrt((745 * length2 / pitch) ** 2 + 157.5e6) / (85 * shaft2**3) - 1,
        pitch / 40 - 1,
        5 * module / face - 1,
        face / (12 * module) - 1,
        (1.5 * shaft1 + 1.9) / length1 - 1,
        (1.1 * shaft2 + 1.9) / length2 - 1,
    ]
    return f, xp.stack(g, axis=1), x[:, :0]


def gear_train(x: Array) -> Outcome:
    """Squared error of a gear ratio (Sandgren 1990), all four numbers of teeth rounded; no constraints."""
    driven1, driver1, driver2, driven2 = namespace(x).round(x).T
    return (1 / 6.931 - driver1 * driver2 / (driven1 * driven2)) ** 2, x[:, :0], x[:, :0]


def piston_lever(x: Array) -> Outcome:
    """Oil volume when a lever is lifted to 45 degrees (Vanderplaats 1995), in the form of Gandomi et al. (2013)."""
    xp = namespace(x)
    height, offset, bore, reach = x.T
    load, lever, highest_moment, pressure = 10000.0, 240.0, 1.8e6, 1500.0
    sine = cosine = math.sqrt(0.5)
    lowered = xp.sqrt((reach - offset) ** 2 + height**2)
    lifted = xp.sqrt((reach * sine + height) ** 2 + (offset - reach * cosine) ** 2)
    arm = xp.abs(height * (offset - reach * cosine) - reach * (reach * sine + height)) / lowered
    force = math.pi * pressure * bore**2 / 4
    g = [
        load * lever * cosine - arm * force,
        load * (lever - reach) - highest_moment,
        1.2 * (lifted - lowered) - lowered,
        bore / 2 - offset,
    ]
    return math.pi * bore**2 / 4 * (lifted - lowered), xp.stack(g, axis=1), x[:, :0]


def multiple_disc_clutch_brake(x: Array) -> Outcome:
    """Mass of a disc brake (Osyczka 1992), five listed sizes, in the form of Rao et al. (2011) with 8 constraints."""
    xp = namespace(x)
    inner, outer, discs = xp.round(x[:, 0]), xp.round(x[:, 1]), xp.round(x[:, 4])  # mm, mm, count
    thickness = 0.5 * xp.round(2 * x[:, 2])  # mm
    force = 10 * xp.round(x[:, 3] / 10)  # N
    ring = outer**2 - inner**2
    mean_radius = (outer**3 - inner**3) / ring
    braking = 2 / 3 * 0.5 * force * discs * mean_radius / 1000  # N m, friction 0.5
    pressure = force / (math.pi * ring)  # MPa
    speed = 2 * math.pi * 250 / 90 * mean_radius / 1000  # m/s at 250 turns a minute
    stopping = 55 * math.pi * 250 / (30 * (braking + 3))  # s
    g = [
        20 - (outer - inner),
        (discs + 1) * (thickness + 0.5) - 30,
        pressure - 1,
        pressure * speed - 10,
        speed - 10,
        stopping - 15,
        1.5 * 40 - braking,
        -stopping,
    ]
    return math.pi * ring * thickness * (discs + 1) * 7.8e-6, xp.stack(g, axis=1), x[:, :0]


def hydrostatic_thrust_bearing(x: Array) -> Outcome:
    """Power lost in a thrust bearing in ft lb/s (Siddall 1982), in the form of Deb and Goyal (1997)."""
    xp = namespace(x)
    outer, recess, viscosity, flow = x.T
    density, gravity = 0.0307, 386.4
    reyn = (xp.log10(xp.log10(8.122e6 * viscosity + 0.8)) - 10.04) / -3.55
    heating = 2 * (10**reyn - 560)
    # Thick oil cools and equal radii leave no film, both inside the published box and both infeasible.
    friction = away_from_zero(9336 * flow * density * 0.5 * heating, 1e-6)
    film = (2 * math.pi * 750 / 60) ** 2 * 2 * math.pi * viscosity / friction * (outer**4 - recess**4) / 4
    film = away_from_zero(film, 1e-9)
    pressure = 6 * viscosity * flow / (math.pi * film**3) * xp.log(outer / recess)
    carried = 3 * viscosity * flow / film**3 * (outer**2 - recess**2)  # pi / 2 * pressure * difference / log
    entrance = density * flow / (2 * math.pi * gravity * outer * away_from_zero(pressure * film, 1e-12))
    g = [
        101000 - carried,
        pressure - 1000,
        heating - 50,
        0.001 - film,
        recess - outer,
        entrance - 0.001,
        3 * viscosity * flow / (math.pi * film**3) - 5000,  # load over area, the area cancelled
    ]
    return (flow * pressure / 0.7 + friction) / 12, xp.stack(g, axis=1), x[:, :0]
