"""`Problem`: a function that returns objective and constraints, its variables, and how both are to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import check_int
from ..display.markup import Markup, own_cell, own_table, tag
from ..population import TOLERANCE
from .bounds import allowed_values, bounds_with_choices, choices_by_place, names_of
from .bounds import box as box
from .constraints import Combined, Constraint, as_list, constraints_of
from .returned import FGH as FGH
from .returned import ByName, check_names, parts_of, point_values, row_values
from .returned import MalformedValue as MalformedValue
from .units import Converted, InUserSpace, units_of
from .units import Units as Units
from .variables import Variables, variables_of

SHOWN_VARIABLES = 12  # in a notebook


@dataclass(frozen=True)
class Optimum:
    """The best value known of a problem; `status` is 'proved', 'best known' or 'infeasible problem'."""

    value: float
    status: str
    violation: float = 0.0  # by the competition's measure, if no feasible point exists
    x: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """Minimise f(x) subject to g(x) <= 0, `|h(x)| <= tolerance` and the box.

    Parameters
    ----------
    fun : callable
        `fun(x, *args)` returns `(f, g, h)`, or only `f` if there are no constraints. With `vectorized=True` it takes
        points as rows (n, d) and returns arrays (n,), (n, p), (n, q); otherwise one point (d,), a number and
        sequences of p and q numbers. It may return a mapping with f, g and h instead, and g and h may be mappings from
        the names of constraints to their values.
    bounds : scipy Bounds, pairs, or two arrays
        None or infinity where there is no bound; None instead of a pair for a variable with `choices`.
    n_ineq, n_eq : int, optional
        Numbers of constraints; found at the first evaluation if None.
    tolerance : float, sequence or mapping
        How far an equality may be missed. One number for each constraint, inequalities first, or by name, lets
        inequalities be missed too; in a mapping those not named have the default, 1e-4 or 0. That needs `n_ineq` and
        `n_eq`.
    constraint_names : sequence of str, optional
        One per constraint, inequalities first.
    constraints : scipy NonlinearConstraint, LinearConstraint, dict, or a sequence of these
        `fun` then returns the objective alone.
    integrality : bool or array (d,), optional
        True or 1 where a variable is an integer; `fun` gets, and results have, whole numbers there.
    log : bool or array (d,), optional
        True or 1 where the search uses the logarithm of a variable; its bounds must be positive.
    choices : mapping, or sequence of d entries, optional
        The allowed values of variables, by name or place, such as `{2: [1, 2, 5, 10]}`; None in a sequence for others.
        All are numbers or all are texts. Texts are categories: `fun` gets the place of the category in the list,
        counted from 0.
    variable_names : sequence of str, optional
    args : tuple
        Further arguments of `fun`.
    maximize : bool
        Whether `fun` is to be maximised. Results have its values as they are.
    scale : sequence or mapping, optional
        A size > 0 for each constraint, or by name, that its value is divided by in the search. It needs `n_ineq` and
        `n_eq`. Results have the values as they are.

    Examples
    --------
    >>> disc = Problem(lambda x: (x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1], []), [(-2, 2), (-2, 2)], name="disc")
    >>> f, g, h = disc.evaluate([[0.0, 1.0]])
    >>> f, g, h.shape
    (array([1.]), array([[0.]]), (1, 0))
    """

    fun: Callable[..., Any]
    bounds: Any
    n_ineq: int | None = None
    n_eq: int | None = None
    vectorized: bool = False
    tolerance: Any = TOLERANCE
    name: str = "problem"
    constraint_names: Sequence[str] | None = None
    optimum: Optimum | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)  # any further facts: separable, rotated, source ...
    constraints: Any = ()
    integrality: Any = None
    log: Any = None
    choices: Any = None
    variable_names: Sequence[str] | None = None
    args: Any = ()
    maximize: bool = False
    scale: Any = None
    lower: np.ndarray = field(init=False)  # (d,)
    upper: np.ndarray = field(init=False)  # (d,)
    variables: Variables | None = field(init=False, repr=False)  # None if all are plain real numbers with bounds
    labels: Mapping[int, Sequence[str]] = field(init=False, repr=False)  # of the categories, by variable
    units: Units = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.fun):
            raise ValueError(f"fun must be callable; got {type(self.fun).__name__}")
        for name in ("n_ineq", "n_eq"):
            count = getattr(self, name)
            if count is not None:
                object.__setattr__(self, name, check_int(name, count, 0))
        for name in ("vectorized", "maximize"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False; got {getattr(self, name)!r}")
        names = names_of("variable_names", self.variable_names)
        names_of("constraint_names", self.constraint_names)
        choices = choices_by_place(self.choices, names)
        lower, upper = box(bounds_with_choices(self.bounds, choices))
        if names is not None and (len(names) != len(lower) or len(set(names)) < len(names)):
            raise ValueError(f"variable_names must be {len(lower)} different names; got {list(names)}")
        allowed, labels = allowed_values(choices, lower, upper)
        for j, values in enumerate(allowed):
            if values is not None:
                lower, upper = lower.copy(), upper.copy()
                lower[j], upper[j] = values[0], values[-1]
        args = self.args if isinstance(self.args, tuple) else (self.args,)
        for name, value in (("lower", lower), ("upper", upper), ("args", args), ("labels", labels)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "variables", variables_of(lower, upper, self.integrality, self.log, allowed))
        object.__setattr__(self, "units", units_of(self))
        _ = self._limits  # so that wrong constraints are an error here
        if self.counts is not None:
            check_names(self.constraint_names, sum(self.counts))

    def __repr__(self) -> str:
        return f"Problem {self.name!r}: {', '.join(self._facts())}"

    def _repr_html_(self) -> str:
        """Return the problem as HTML, for notebooks: what it has, and the bounds of the first variables."""
        heads = [own_cell("variable", "th"), *(own_cell(text, "th", "right") for text in ("lower", "upper"))]
        rows = [
            tag("tr", own_cell(name, "th"), *(own_cell(f"{bound:g}", align="right") for bound in (low, high)))
            for name, low, high in zip(self.names, self.lower.tolist(), self.upper.tolist(), strict=True)
        ]
        more = len(rows) - SHOWN_VARIABLES
        return tag(
            "div",
            tag("b", str(self.name)),
            f": {', '.join(self._facts())}",
            own_table(rows[:SHOWN_VARIABLES], heads),
            tag("div", f"and {more} more variables") if more > 0 else Markup(),
        )

    def _facts(self) -> list[str]:
        def count(number: int, one: str, many: str) -> str:
            return f"{number} {one if number == 1 else many}"

        facts = [count(self.dimension, "variable", "variables")]
        if self.counts is None:
            facts.append("constraints counted at the first evaluation")
        else:
            facts.append(count(self.counts[0], "inequality", "inequalities"))
            facts.append(count(self.counts[1], "equality", "equalities"))
        if self.optimum is not None:
            facts.append(f"{self.optimum.status} {self.optimum.value:.10g}")
        return facts

    @property
    def dimension(self) -> int:
        """Number of variables."""
        return len(self.lower)

    @property
    def counts(self) -> tuple[int, int] | None:
        """Numbers of inequalities and equalities; None if they are found at the first evaluation."""
        return None if self.n_ineq is None or self.n_eq is None else (self.n_ineq, self.n_eq)

    @property
    def has_scipy_constraints(self) -> bool:
        """Whether some of its constraints are in SciPy's form."""
        return bool(self._limits)

    @cached_property
    def _limits(self) -> list[Constraint]:
        given = as_list(self.constraints) if self.constraints is not None else []
        return constraints_of(given, self.dimension) if given else []

    @cached_property
    def standard(self) -> Callable[..., Any]:
        """The function of the user's variables that returns (f, g, h) to be minimised, scaled."""
        fun = self.fun
        if self.args:
            fun = _WithArguments(fun, self.args)
        if self._limits:
            fun = Combined(fun, self._limits, bool(self.vectorized))
        elif self.counts is None or self.constraint_names is not None:
            fun = ByName(fun, self.constraint_names)
        return fun if self.units.is_plain else Converted(fun, self.units, bool(self.vectorized))

    @cached_property
    def searched(self) -> Problem:
        """The problem that is searched: minimised, in a finite box of real variables."""
        if self.standard is self.fun and self.variables is None:
            return self
        plain = Problem(
            self.standard if self.variables is None else InUserSpace(self.standard, self.variables),
            np.column_stack([self.lower, self.upper]) if self.variables is None else self.variables.box,
            n_ineq=self.n_ineq,
            n_eq=self.n_eq,
            vectorized=bool(self.vectorized),
            name=self.name,
            constraint_names=self.constraint_names,
            properties=self.properties,
        )
        object.__setattr__(plain, "tolerance", self.units.tolerance)
        object.__setattr__(plain, "standard", plain.fun)
        object.__setattr__(plain, "searched", plain)
        return plain

    def evaluate(self, x: Array) -> tuple[Array, Array, Array]:
        """Return objective (n,), inequalities (n, p) and equalities (n, q) of the rows of `x` (n, d), to be minimised.

        Exceptions of the function pass through. `x` may be a JAX array if the function is vectorised array code.
        """
        if not isinstance(x, np.ndarray) and not hasattr(x, "at"):  # JAX arrays and tracers pass as they are
            x = np.asarray(x, float)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise ValueError(f"{self.name}: points must be rows of shape (n, {self.dimension}); got {x.shape}")
        if isinstance(x, np.ndarray) and np.isnan(x).any():
            raise ValueError(f"{self.name}: points must not contain NaN; row {int(np.isnan(x).any(1).argmax())} does")
        fun = self.standard
        if self.vectorized:
            value = fun(x)
            return row_values(value, len(x)) if isinstance(x, np.ndarray) else parts_of(value)
        f, g, h = zip(*(point_values(fun(row.copy())) for row in x), strict=True)
        return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)

    def named(self, x: Any) -> dict[str, Any]:
        """Return the variables of a point (d,) by name; of a category its text, of an integer an int.

        Examples
        --------
        >>> beam = Problem(lambda x: x[0], [(0, 1), None], choices={"steel": ["S235", "S355"]},
        ...                variable_names=["width", "steel"])
        >>> beam.named([0.5, 1])
        {'width': 0.5, 'steel': 'S355'}
        """
        integer = np.zeros(self.dimension, bool) if self.variables is None else self.variables.integrality
        found: dict[str, Any] = {}
        for j, (name, value) in enumerate(zip(self.names, np.asarray(x, float), strict=True)):
            whole = bool(np.isfinite(value)) and (bool(integer[j]) or j in self.labels)
            found[name] = int(value) if whole else float(value)
            if whole and j in self.labels:
                found[name] = self.labels[j][int(value)]
        return found

    @property
    def chosen(self) -> set[int]:
        """The variables that have allowed values or categories."""
        values = () if self.variables is None else self.variables.choices
        return {j for j, allowed in enumerate(values) if allowed is not None}

    @property
    def names(self) -> list[str]:
        """The names of the variables; x[0], x[1] and so on if they have none."""
        given = self.variable_names if self.variable_names is not None else self.properties.get("variables")
        if isinstance(given, list | tuple | np.ndarray) and len(given) == self.dimension:
            return list(map(str, given))
        return [f"x[{j}]" for j in range(self.dimension)]


class _WithArguments:
    """A function with further arguments."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun, self._args = fun, args

    def __call__(self, x: Any) -> Any:
        return self._fun(x, *self._args)
