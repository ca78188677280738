"""`Problem`: a function that returns objective and constraints, its variables, and how both are to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import Array
from .checks import check_int
from .constraints import Combined, Constraint, as_list, constraints_of
from .lookup import did_you_mean
from .markup import Markup, own_cell, own_table, tag
from .population import TOLERANCE, Population, checked_tolerance
from .returned import FGH as FGH
from .returned import ByName, check_names, parts_of, point_values, reals, row_values
from .returned import MalformedValue as MalformedValue
from .variables import Variables, variables_of


def box(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (d,) from a SciPy `Bounds`, a sequence of pairs, or two arrays.

    Two sequences of length two are read as two (low, high) pairs, as SciPy does. None and infinity mean that there is
    no bound. ValueError if they are not numbers or not in order.

    Examples
    --------
    >>> box([(0, 1), (-2, 2), (5, 6)])
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box(([0, -2, 5], [1, 2, 6]))
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box([(0, None), (None, None)])
    (array([  0., -inf]), array([inf, inf]))
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(_floats(bounds.lb), _floats(bounds.ub))
    else:
        table = _floats(_without_none(bounds))
        if table.ndim == 2 and table.shape[1] == 2:
            lower, upper = table[:, 0], table[:, 1]
        elif table.ndim == 2 and table.shape[0] == 2:
            lower, upper = table
        else:
            raise ValueError(
                f"bounds must be a scipy Bounds, pairs (low, high) or two arrays (lows, highs); got shape {table.shape}"
            )
    lower, upper = np.array(lower, float).reshape(-1), np.array(upper, float).reshape(-1)
    if lower.size == 0:
        raise ValueError("bounds must have at least one variable; got none")
    for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if np.isnan(low) or np.isnan(high) or low == np.inf or high == -np.inf:
            raise ValueError(f"bounds must be numbers, None or infinite; variable {j} has ({low}, {high})")
        if low > high:
            raise ValueError(f"each lower bound must not exceed its upper bound; variable {j} has ({low}, {high})")
        if np.isfinite(low) and np.isfinite(high) and not np.isfinite(high - low):
            raise ValueError(f"bounds must be at most 1.8e308 apart; variable {j} has ({low}, {high})")
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _without_none(bounds: Any) -> Any:
    """Return pairs with infinities in place of None."""
    if not isinstance(bounds, list | tuple):
        return bounds
    ends = (-np.inf, np.inf)
    lengths = [len(pair) if isinstance(pair, list | tuple) else 0 for pair in bounds]
    for j, length in enumerate(lengths):
        if length != 2 and 2 in lengths:  # not two arrays (lows, highs)
            raise ValueError(
                f"bounds of variable {j} must be a pair (low, high); got {bounds[j]!r}; "
                f"allowed values are given as choices={{{j}: [...]}}"
            )
    return [
        [end if value is None else value for value, end in zip(pair, ends, strict=True)]
        if isinstance(pair, list | tuple) and len(pair) == 2
        else pair
        for pair in bounds
    ]


def _floats(values: Any) -> np.ndarray:
    try:
        return reals(values, "bounds")
    except MalformedValue as error:
        raise ValueError(str(error)) from None


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
        names = _texts("variable_names", self.variable_names)
        _texts("constraint_names", self.constraint_names)
        choices = _choices_by_place(self.choices, self.bounds, names)
        lower, upper = box(_bounds_with_choices(self.bounds, choices))
        if names is not None and (len(names) != len(lower) or len(set(names)) < len(names)):
            raise ValueError(f"variable_names must be {len(lower)} different names; got {list(names)}")
        allowed, labels = _allowed(choices, lower, upper)
        for j, values in enumerate(allowed):
            if values is not None:
                lower, upper = lower.copy(), upper.copy()
                lower[j], upper[j] = values[0], values[-1]
        args = self.args if isinstance(self.args, tuple) else (self.args,)
        for name, value in (("lower", lower), ("upper", upper), ("args", args), ("labels", labels)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "variables", variables_of(lower, upper, self.integrality, self.log, allowed))
        object.__setattr__(self, "units", _units_of(self))
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
        return fun if self.units.is_plain else _Converted(fun, self.units, bool(self.vectorized))

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


@dataclass(frozen=True, eq=False)
class Units:
    """How the values of a search are converted to those of the user, and back.

    The search minimises `sign` f, and divides constraints, less what inequalities may be missed by, by `scale`.
    """

    tolerance: Any = TOLERANCE  # of the equalities in the search: a number, or an array (q,)
    variables: Variables | None = None
    sign: float = 1.0
    slack: np.ndarray | None = None  # (p,), by how much inequalities may be missed
    scale: np.ndarray | None = None  # (p + q,)

    @property
    def is_plain(self) -> bool:
        """Whether values are the same in both."""
        return self.sign == 1.0 and self.slack is None and self.scale is None

    def to_search(self, f: Any, g: Any, h: Any) -> FGH:
        """Convert values f (...), g (..., p), h (..., q) of the user."""
        p = g.shape[-1]
        if self.slack is not None:
            g = g - self.slack
        if self.scale is not None:
            g, h = g / self.scale[:p], h / self.scale[p:]
        return self.sign * f, g, h

    def points(self, points: Population | None) -> Population | None:
        """Convert the points of a search; the violation stays that of the search."""
        if points is None or (self.variables is None and self.is_plain):
            return points
        x = points.x if self.variables is None else self.variables.to_user(points.x)
        g, h = points.g, points.h
        if self.scale is not None:
            g, h = g * self.scale[: g.shape[1]], h * self.scale[g.shape[1] :]
        if self.slack is not None:
            g = g + self.slack
        return replace(points, x=x, f=self.sign * points.f, g=g, h=h)

    def x(self, x: np.ndarray) -> np.ndarray:
        """Convert points (d,) or (n, d) of a search; NaN stays NaN."""
        if self.variables is None:
            return x
        known = ~np.isnan(x).any(axis=-1, keepdims=True)
        user: np.ndarray = np.where(known, self.variables.to_user(np.where(known, x, self.variables.box[:, 0])), np.nan)
        return user

    def history(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the columns of a history."""
        return {name: self.sign * column if name == "f" else column for name, column in columns.items()}


class _WithArguments:
    """A function with further arguments."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun, self._args = fun, args

    def __call__(self, x: Any) -> Any:
        return self._fun(x, *self._args)


class _Converted:
    """A function whose values are converted to those of the search."""

    def __init__(self, fun: Callable[..., Any], units: Units, vectorized: bool) -> None:
        self._fun, self._units, self._vectorized = fun, replace(units, variables=None), vectorized

    @property
    def constraint_names(self) -> Sequence[str] | None:
        """Names of the constraints, if the user's function has them."""
        return getattr(self._fun, "constraint_names", None)

    def __call__(self, x: Any) -> Any:
        value = self._fun(x)
        if hasattr(x, "at"):  # an array or a tracer of JAX
            return self._traced(value, len(x))
        f, g, h = row_values(value, len(x)) if self._vectorized else point_values(value)
        for part, count in ((g, self._units.scale), (g, self._units.slack)):
            expected = None if count is None else len(count) - (h.shape[-1] if count is self._units.scale else 0)
            if expected is not None and part.shape[-1] != expected:
                raise MalformedValue(f"there must be {expected} inequalities, as n_ineq says; got {part.shape[-1]}")
        return self._units.to_search(f, g, h)

    def _traced(self, value: Any, n: int) -> Any:
        import jax.numpy as jnp

        f, g, h = parts_of(value)
        rows = (n, -1) if self._vectorized else (-1,)
        g, h = (
            jnp.asarray(part, float).reshape(rows) if len(part) else jnp.empty((n, 0) if self._vectorized else 0)
            for part in (g, h)
        )
        return self._units.to_search(jnp.asarray(f, float), g, h)


class InUserSpace:
    """A function of points of the search, which calls the user's function with the user's points."""

    def __init__(self, fun: Callable[[np.ndarray], Any], variables: Variables) -> None:
        self._fun, self._variables = fun, variables

    @property
    def constraint_names(self) -> Sequence[str] | None:
        """Names of the constraints, if the user's function has them."""
        return getattr(self._fun, "constraint_names", None)

    def __call__(self, x: np.ndarray) -> Any:
        return self._fun(self._variables.to_user(x))


# --- reading the arguments of a Problem -----------------------------------------------------------------------------


def _texts(name: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(f"{name} must be a sequence of names; got {given!r}")
    for each in given:
        if not isinstance(each, str):
            raise ValueError(f"{name} must be texts; got {each!r}")
    return tuple(map(str, given))


def _choices_by_place(choices: Any, bounds: Any, names: Sequence[str] | None) -> dict[int, Any]:
    """Return the allowed values by the place of their variable."""
    if choices is None:
        return {}
    if isinstance(choices, Mapping):
        found = {}
        for key, values in choices.items():
            if isinstance(key, str):
                if names is None or key not in names:
                    hint = did_you_mean(key, names or ())
                    raise ValueError(f"choices: there is no variable {key!r} in variable_names{hint}")
                key = names.index(key)
            found[check_int("the place of a variable in choices", key, 0)] = values
        return found
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise ValueError(f"choices must be a mapping, or a sequence of lists and None; got {choices!r}")
    return {j: values for j, values in enumerate(choices) if values is not None}


def _bounds_with_choices(bounds: Any, choices: Mapping[int, Any]) -> Any:
    """Return the bounds with a pair for each variable that has allowed values in place of its bounds."""
    if bounds is None and choices and set(choices) == set(range(len(choices))):
        bounds = [None] * len(choices)
    if not isinstance(bounds, list | tuple):
        return bounds
    for j, pair in enumerate(bounds):
        if pair is None and j not in choices:
            raise ValueError(f"bounds of variable {j} must be a pair (low, high), unless it has choices; got None")
    return [(None, None) if pair is None else pair for pair in bounds]


def _allowed(
    choices: Mapping[int, Any], lower: np.ndarray, upper: np.ndarray
) -> tuple[tuple[np.ndarray | None, ...], dict[int, tuple[str, ...]]]:
    """Return the allowed numbers of each variable, ascending, and the texts of categories by variable."""
    if not choices:
        return (), {}
    found: list[np.ndarray | None] = [None] * len(lower)
    labels: dict[int, tuple[str, ...]] = {}
    for j, given in choices.items():
        if j >= len(lower):
            raise ValueError(f"choices: there is no variable {j}; there are {len(lower)}")
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise ValueError(f"choices of variable {j} must be a list of values; got {given!r}")
        values = list(given)
        if len(set(map(str, values))) < len(values):
            raise ValueError(f"choices of variable {j} must differ; got {values}")
        if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
            numbers = np.sort(np.array(values, float))
            if not np.isfinite(numbers).all() or not ((numbers >= lower[j]) & (numbers <= upper[j])).all():
                raise ValueError(f"choices of variable {j} must be finite and inside its bounds; got {values}")
            found[j] = numbers
        elif all(isinstance(value, str) for value in values):
            labels[j] = tuple(map(str, values))
            found[j] = np.arange(float(len(values)))
        else:
            raise ValueError(f"choices of variable {j} must be all numbers or all texts; got {values}")
    return tuple(found), labels


def _units_of(problem: Problem) -> Units:
    """Return the units of a problem, from its tolerance, scale and sense."""
    sign = -1.0 if problem.maximize else 1.0
    simple = not isinstance(problem.tolerance, Mapping | list | tuple | np.ndarray)
    tolerance = checked_tolerance(problem.tolerance) if simple else None
    if simple and problem.scale is None:
        return Units(tolerance, problem.variables, sign)
    if problem.counts is None:
        raise ValueError("tolerance or scale of single constraints needs their numbers, n_ineq and n_eq")
    p, q = problem.counts
    allowed = np.concatenate([np.zeros(p), np.full(q, TOLERANCE if tolerance is None else tolerance)])
    if not simple:
        allowed = _by_constraint("tolerance", problem.tolerance, problem.constraint_names, allowed, 0.0)
    scale = np.ones(p + q)
    if problem.scale is not None:
        scale = _by_constraint("scale", problem.scale, problem.constraint_names, scale, np.finfo(float).tiny)
    in_search = allowed[p:] / scale[p:]
    alike = q == 0 or bool((in_search == in_search[0]).all())
    return Units(
        tolerance=(float(in_search[0]) if q else TOLERANCE) if alike else in_search,
        variables=problem.variables,
        sign=sign,
        slack=allowed[:p] if allowed[:p].any() else None,
        scale=scale if (scale != 1.0).any() else None,
    )


def _by_constraint(word: str, given: Any, names: Sequence[str] | None, usual: np.ndarray, least: float) -> np.ndarray:
    """Return a number for each constraint, from a sequence, or from a mapping by name with the usual one for others."""
    if isinstance(given, Mapping):
        if names is None or len(names) != len(usual):
            raise ValueError(f"{word} by name needs constraint_names, {len(usual)} of them")
        found = usual.copy()
        for name, value in given.items():
            if name not in names:
                raise ValueError(f"{word}: unknown constraint {name!r}{did_you_mean(name, names)}")
            found[list(names).index(name)] = _number(word, value, least)
        return found
    values = list(given) if isinstance(given, list | tuple | np.ndarray) else []
    if len(values) != len(usual):
        raise ValueError(f"{word} must have a number for each of the {len(usual)} constraints; got {given!r}")
    return np.array([_number(word, value, least) for value in values])


def _number(word: str, value: Any, least: float) -> float:
    sound = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not sound or not least <= value < np.inf:
        limit = "> 0" if least > 0 else ">= 0"
        raise ValueError(f"{word} of a constraint must be a finite number {limit}; got {value!r}")
    return float(value)
