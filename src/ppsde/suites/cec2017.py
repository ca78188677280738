"""The CEC2017 (and CEC2018) suite of 28 constrained problems, as a table of formulas, boxes and constraints.

G. Wu, R. Mallipeddi, P. N. Suganthan, "Problem definitions and evaluation criteria for the CEC 2017 competition on
constrained real-parameter optimization", technical report, 2017; with the organisers' corrections of September 2024.

Every formula is applied to y = x - shift, or to z = M y. The matrices M are not orthogonal: their singular values lie
in [1, 3], in [1, 5] for the second of C05.

*Checked against* values of the organisers' code at random points, at exact ties of sign and rounding, and at the best
known points, for all problems and dimensions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..checks import check_int
from ..problem import Optimum, Problem
from . import Suite
from . import cec2017_formulas as formulas
from .cec2017_data import OFFICIAL_DIMENSIONS, choose, parts
from .cec2017_formulas import CURRENT, FGH, HISTORICAL, VERSIONS, Evaluation
from .cec2017_optima import OPTIMA


@dataclass(frozen=True)
class Form:
    """One row of the table: a problem of any dimension and instance."""

    formula: Callable[..., FGH]
    half_width: float  # the box is [-half_width, half_width]^D
    objective: str
    inequalities: tuple[str, ...]  # each <= 0
    equalities: tuple[str, ...]  # each = 0
    separable: bool  # the objective, by the organisers: C08 to C10 and C15, maxima, count as separable
    shift: str = "shift_C12_C28"
    matrices: tuple[str, ...] = ()
    everything_rotated: bool = False  # z replaces y everywhere; otherwise only in some constraints
    feasible: bool = True
    largest: int | None = None  # dimension above which a product overflows


WELLS = "sum(y^2 - 5000 cos(0.1 pi y) - 4000)"
SCHWEFEL = "sum_i (y_1 + .. + y_i)^2"
RASTRIGIN = "sum(y^2 - 10 cos(2 pi y) + 10)"
ROSENBROCK = "sum(100 (y_i^2 - y_{i+1})^2 + (y_i - 1)^2)"
BALL = "sum y^2 - 100 D"
NEIGHBOURS = "sum (y_i - y_{i+1})^2"

_PLAIN: dict[str, Form] = {
    "C01": Form(formulas.c01, 100, SCHWEFEL, (WELLS,), (), False, "shift_C01"),
    "C02": Form(formulas.c02, 100, SCHWEFEL, (WELLS + " at z = M y",), (), False, "shift_C02", ("rot_C02",)),
    "C03": Form(formulas.c03, 100, SCHWEFEL, (WELLS,), ("-sum(y sin(0.1 pi y))",), False, "shift_C03"),
    "C04": Form(formulas.c04, 10, RASTRIGIN, ("-sum(y sin 2y)", "sum(y sin y)"), (), True, "shift_C04"),
    "C05": Form(
        formulas.c05,
        10,
        ROSENBROCK,
        ("sum(z^2 - 50 cos(2 pi z) - 40) at z = M1 y", "sum(z^2 - 50 cos(2 pi z) - 40) at z = M2 y"),
        (),
        False,
        "shift_C05",
        ("rot1_C05", "rot2_C05"),
    ),
    "C06": Form(
        formulas.c06,
        20,
        RASTRIGIN,
        (),
        (
            "-sum(y sin y)",
            "sum(y sin(pi y))",
            "-sum(y cos y)",
            "sum(y cos(pi y))",
            "sum(y sin(2 sqrt|y|))",
            "-sum(y sin(2 sqrt|y|))",
        ),
        True,
        "shift_C06",
    ),
    "C07": Form(
        formulas.c07,
        50,
        "sum(y sin y)",
        (),
        ("sum(y - 100 cos(0.5 y) + 100)", "-sum(y - 100 cos(0.5 y) + 100)"),
        True,
        "shift_C07",
    ),
    "C08": Form(
        formulas.c08,
        100,
        "max y",
        (),
        (SCHWEFEL + ", odd-numbered y", SCHWEFEL + ", even-numbered y"),
        True,
        "shift_C08",
    ),
    "C09": Form(
        formulas.c09,
        10,
        "max y",
        ("product of the even-numbered y",),
        ("sum (w_k^2 - w_{k+1})^2, w the odd-numbered y",),
        True,
        "shift_C09",
        largest=500,
    ),
    "C10": Form(formulas.c10, 100, "max y", (), (SCHWEFEL, NEIGHBOURS), True, "shift_C10"),
    "C11": Form(formulas.c11, 100, "sum y", ("product of all y",), (NEIGHBOURS,), True, "shift_C11", largest=140),
    "C12": Form(formulas.c12, 100, RASTRIGIN, ("4 - sum|y|", "sum y^2 - 4"), (), True),
    "C13": Form(formulas.c13, 100, ROSENBROCK, (RASTRIGIN + " - 100", "sum y - 2 D", "5 - sum y"), (), False),
    "C14": Form(formulas.c14, 100, "Ackley", ("sum_{i>1} y_i^2 + 1 - |y_1|",), ("sum y^2 - 4",), False),
    "C15": Form(formulas.c15, 100, "max|y|", (BALL,), ("cos f + sin f",), True),
    "C16": Form(formulas.c16, 100, "sum|y|", (BALL,), ("u^2 - exp(u) - 1 + e, u = cos f + sin f",), True),
    "C17": Form(
        formulas.c17,
        100,
        "Griewank",
        ("1 - sum_i sgn(|y_i| - sum_{j!=i} y_j^2 - 1)",),
        ("sum y^2 - 4 D",),
        False,
        feasible=False,
    ),
    "C18": Form(
        formulas.c18,
        100,
        RASTRIGIN + " of y rounded to half integers where |y| >= 0.5",
        ("1 - sum|y|", BALL),
        ("100 sum (y_i^2 - y_{i+1})^2 + prod sin^2(pi (y_i - 1))",),
        True,
    ),
    "C19": Form(
        formulas.c19,
        50,
        "sum(sqrt|y| + 2 sin y^3)",
        ("10 (D - 1) / exp(-5) - 10 sum exp(-0.2 sqrt(y_i^2 + y_{i+1}^2))", "sum sin^2(2 y) - D / 2"),
        (),
        True,
        feasible=False,
    ),
    "C20": Form(
        formulas.c20,
        100,
        "sum over the ring of 0.5 + (sin^2 r - 0.5) / (1 + 0.001 r)^2, r = sqrt(y_i^2 + y_{i+1}^2)",
        ("cos^2 S - 0.25 cos S - 0.125, S = sum y", "exp(cos S) - exp(0.25), S = sum y"),
        (),
        False,
    ),
}


def _rotated(form: Form) -> Form:
    return Form(
        form.formula,
        form.half_width,
        form.objective + ", y standing for M (x - shift)",
        form.inequalities,
        form.equalities,
        False,
        matrices=("rot_C21_C28",),
        everything_rotated=True,
        feasible=form.feasible,
    )


TABLE: Mapping[str, Form] = _PLAIN | {f"C{k + 9}": _rotated(_PLAIN[f"C{k}"]) for k in range(12, 20)}


def build(
    name: str,
    dimension: int | None = None,
    *,
    instance: int | str | None = None,
    data: str | os.PathLike[str] | None = None,
    version: str = CURRENT,
) -> Problem:
    """Return one problem of the suite.

    Parameters
    ----------
    name : 'C01' .. 'C28'
    dimension : int, optional
        10 when not given. The competition uses 10, 30, 50 and 100; numbered instances exist at any from 2 on.
    instance : 'official', int >= 1, or None
        A number gives shift and matrices made from it, the same on every machine. 'official' reads the organisers'
        data. None is the official instance at the competition's dimensions where its data is found, else number 1;
        `properties["instance"]` says which.
    data : path, optional
        Folder of the official data; it comes before the environment variable PPSDE_CEC2017 and the other places
        that are searched.
    version : '2024', '2016-matlab-batch' or '2016-cpp'
        The latter two are historical and wrong, see `cec2017_formulas`.

    Examples
    --------
    >>> problem = build("C12", 2, instance=1)
    >>> f, g, h = problem.evaluate(problem.fun.shift[None, :])
    >>> f, g, h.shape
    (array([0.]), array([[ 4., -4.]]), (1, 0))
    """
    if name not in TABLE:
        raise ValueError(f"unknown problem {name!r} in suite 'cec2017'; it has C01 .. C28")
    form = TABLE[name]
    d = _checked_dimension(name, form, dimension)
    if version not in VERSIONS:
        raise ValueError(f"unknown version {version!r} of the CEC2017 suite; expected one of {', '.join(VERSIONS)}")
    chosen = choose(instance, d, data)
    shift, matrices = parts(chosen, d, form.half_width, form.shift, form.matrices, data)
    changed = HISTORICAL.get(version, {})
    return Problem(
        Evaluation(changed.get(name, form.formula), shift, matrices, form.everything_rotated),
        bounds=[(-form.half_width, form.half_width)] * d,
        n_ineq=len(form.inequalities),
        n_eq=len(form.equalities),
        vectorized=True,
        name=f"{name} D={d}",
        constraint_names=(*form.inequalities, *form.equalities),
        optimum=_optimum(name, d) if chosen == "official" and name not in changed else None,
        properties={
            "suite": "cec2017",
            "problem": name,
            "instance": chosen,
            "version": version,
            "objective": form.objective,
            "separable": form.separable,
            "rotated": "everything" if form.everything_rotated else "constraints" if form.matrices else "nothing",
            "feasible": form.feasible,
        },
    )


def _checked_dimension(name: str, form: Form, dimension: int | None) -> int:
    d = check_int(f"{name}: dimension", OFFICIAL_DIMENSIONS[0] if dimension is None else dimension, 2)
    if form.largest is not None and d > form.largest:
        raise ValueError(f"{name}: dimension must be at most {form.largest}, above it a product overflows; got {d}")
    return d


def _optimum(name: str, dimension: int) -> Optimum | None:
    known = OPTIMA[name].get(dimension)
    return None if known is None else Optimum(*known)


def budget(dimension: int) -> int:
    """Return the competition's number of evaluations per run."""
    return 20_000 * dimension


SUITE = Suite(
    name="cec2017",
    description="CEC2017/2018 competition on constrained real-parameter optimisation: 28 problems, any dimension",
    names=tuple(TABLE),
    build=build,
    budget=budget,
    dimensions=OFFICIAL_DIMENSIONS,
)
