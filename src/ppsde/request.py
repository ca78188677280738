"""Requests: problem, method, options, budget, seed and limits of a run, from the arguments of `minimize`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .algorithm import Converging, Task
from .algorithms import label_of, make
from .arrays import bits
from .checkpoints.function_digest import function_digest
from .checkpoints.state_file import CheckpointError
from .checks import check_int, check_target
from .engines.run import Run
from .engines.searches import Searches
from .evaluation.evaluate import NO_LIMITS, Limits
from .population import checked_tolerance
from .problem import FGH, Problem
from .problem.constraints import as_list
from .problem.returned import reals
from .streams import seed_from

EVALUATIONS_PER_VARIABLE = 20_000  # the budget of the CEC2017 competition, and the default
TOL = 1e-8  # the default of methods that can converge


@dataclass(frozen=True, eq=False)
class Request:
    """All that is asked of one run.

    Parameters
    ----------
    problem : Problem
        With the user's variables.
    method : str, class or object
        One of `ppsde.ALGORITHMS`, FILE.py:NAME, or an algorithm itself.
    options : mapping
        Settings of the method, by name.
    max_evaluations : int
        The budget.
    seed : int
    x0 : array (k, d), optional
        Points that the first population must contain, in the user's variables.
    limits : Limits
    named : bool
        Whether the user passed a `Problem`, which has a name, and not a function.
    number : int
        Number of the run, among those with the same seed.
    x0_values : tuple (f, g, h), optional
        The values of the points of `x0`, which are not evaluated then.
    target : float, optional
        The run ends when a feasible point with an objective as small as this was evaluated.
    tol : float, optional
        How exact the result must be before the method may end the run; 0: it never does. The default is `TOL` if the
        method can converge, else 0.
    """

    problem: Problem
    method: Any
    options: Mapping[str, Any] | None = None
    max_evaluations: int | None = None
    seed: int = 0
    x0: Any = None
    limits: Limits = NO_LIMITS
    named: bool = True
    number: int = 0
    x0_values: Any = None
    target: float | None = None
    tol: float | None = None

    @property
    def searched(self) -> Problem:
        """The problem in the variables and values of the search."""
        return self.problem.searched

    @property
    def title(self) -> str:
        """Name of the problem, or of the method if a function was passed, for the display."""
        return self.problem.name if self.named else label_of(self.method)

    @property
    def budget(self) -> int:
        """Number of evaluations of the run: `max_evaluations`, or the default if that is None."""
        most = EVALUATIONS_PER_VARIABLE * self.problem.dimension
        budget = check_int("max_evaluations", most if self.max_evaluations is None else self.max_evaluations, 1)
        if budget >= 2**63:
            raise ValueError(f"max_evaluations must be an int < 2**63; got {budget!r}")
        return budget

    def algorithm(self) -> Any:
        """Return the algorithm of the method, with the options as settings."""
        return make(self.method, self.options)

    def run(self) -> Run:
        """Check the arguments and return the run at its start."""
        x0, units = None if self.x0 is None else reals(self.x0, "x0"), self.problem.units
        if units.variables is not None and x0 is not None:
            x0 = units.variables.to_search(x0)
        problem, algorithm = self.searched, self.algorithm()
        least = getattr(algorithm, "least_evaluations", lambda dimension: 1)(problem.dimension)
        if self.budget < least:
            few = f"max_evaluations={self.budget} is too few for {label_of(self.method)}"
            words = f"{few} with {problem.dimension} variables: it needs {least} to move from a first point"
            warnings.warn(words, UserWarning, stacklevel=3)
        first = _first_points(x0, problem.lower, problem.upper)
        values = _first_values(self.x0_values, first, problem.counts)
        return Run(
            algorithm,
            Task(problem.lower, problem.upper, self.budget, first, self.tol_for(algorithm)),
            seed=self.seed,
            run=self.number,
            tolerance=problem.tolerance,
            target=self.target_in_search,
            x0_values=None if values is None else units.to_search(*values),
        )

    @property
    def target_in_search(self) -> float | None:
        """The target as an objective that is minimised."""
        target = self.target
        if target is not None and self.problem.maximize:
            number = isinstance(target, int | float) and not isinstance(target, bool)
            if not number or not target < np.inf:
                raise ValueError(f"target of a maximised objective must be a number < inf, or None; got {target!r}")
            target = -target
        return check_target(target)

    def tol_for(self, algorithm: Any) -> float:
        """Return `tol` for the algorithm of the method; ValueError if that can never converge but a tol is given."""
        converging = isinstance(algorithm, Converging)
        if self.tol is None:
            return TOL if converging else 0.0
        tol = checked_tolerance(self.tol, "tol")
        if tol > 0 and not converging:
            raise ValueError(
                f"{label_of(self.method)} cannot tell when it has converged: tol must be 0 or None; got {tol!r}"
            )
        return tol

    def stored(self) -> dict[str, Any]:
        """Return the request as plain values for a checkpoint, which stores settings, budget and seed with the run."""
        problem, variables = self.problem, self.problem.variables
        return {
            "method": label_of(self.method),
            "problem": str(problem.name) if self.named else None,
            "constraint_names": _texts(problem.constraint_names) if self.named else None,
            "vectorized": bool(problem.vectorized),
            "lower": problem.lower,
            "upper": problem.upper,
            "integrality": None if variables is None else variables.integrality,
            "log": None if variables is None else variables.log,
            "choices": None if variables is None or not variables.choices else _stored_choices(problem),
            "maximize": bool(problem.maximize),
            "on_failure": self.limits.on_failure,
            "eval_timeout": self.limits.eval_timeout,
            "eval_memory": self.limits.eval_memory,
            "code": self.code,
        }

    @property
    def code(self) -> str:
        """A text that differs between functions whose code, or the numbers that it uses, differ."""
        constraints = [vars(one) if hasattr(one, "__dict__") else one for one in as_list(self.problem.constraints)]
        return function_digest(self.problem.fun, constraints, self.problem.args)

    @classmethod
    def restored(
        cls, content: Mapping[str, Any], run: Run | Searches, fun: Any, max_time: float | None, **given: Any
    ) -> Request:
        """Return the request stored in a checkpoint, with the function or problem that the user passes again.

        `given` are arguments of `problem_of` that a checkpoint does not store: `constraints` and `args`.

        `CheckpointError` if the problem is a different one, or the stored values are not possible.
        """
        try:
            stored = _checked(content)
            limits = Limits(stored["on_failure"], stored["eval_timeout"], stored["eval_memory"], max_time)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"its request is not possible: {type(error).__name__}: {error}") from None
        if not isinstance(fun, Problem):
            given["bounds"] = np.column_stack([stored["lower"], stored["upper"]])
            given |= {name: stored[name] for name in ("vectorized", "integrality", "log", "choices", "maximize")}
            given["tolerance"] = run.tolerance
        else:  # those that were passed beside it are in the checkpoint
            kinds = {name: stored[name] for name in ("integrality", "log") if _is_missing(getattr(fun, name))}
            given |= {name: mask for name, mask in kinds.items() if mask is not None and mask.any()}
        problem = problem_of(fun, **given)
        differences = _differences(stored, problem)
        if not np.array_equal(problem.units.tolerance, run.tolerance):
            differences.append(f"tolerance {run.tolerance}; got one with {problem.units.tolerance}")
        if differences:
            raise CheckpointError(f"it belongs to a problem with {differences[0]}")
        request = cls(
            problem,
            stored["method"],
            max_evaluations=run.task.max_evaluations,
            seed=run.seed,
            limits=limits,
            named=isinstance(fun, Problem),
            target=None if run.target is None else problem.units.sign * run.target,
            tol=run.task.tol,
        )
        searched = request.searched
        if bits(searched.lower) != bits(run.task.lower) or bits(searched.upper) != bits(run.task.upper):
            raise CheckpointError("the box that it searches is not that of its problem")
        return request


def request_of(
    fun: Any,
    bounds: Any,
    constraints: Any = (),
    *,
    vectorized: bool = False,
    tolerance: Any,
    integrality: Any = None,
    log: Any = None,
    choices: Any = None,
    args: Any = (),
    maximize: bool = False,
    rng: Any = None,
    on_failure: str = "penalise",
    eval_timeout: float | None = None,
    eval_memory: int | None = None,
    max_time: float | None = None,
    **others: Any,
) -> Request:
    """Return the request for the arguments of `minimize`; ValueError if one is not possible."""
    problem = problem_of(
        fun,
        bounds=bounds,
        constraints=constraints,
        vectorized=vectorized,
        tolerance=tolerance,
        integrality=integrality,
        log=log,
        choices=choices,
        args=args,
        maximize=maximize,
    )
    limits = Limits(on_failure, eval_timeout, eval_memory, max_time)
    return Request(problem, seed=seed_from(rng), limits=limits, named=isinstance(fun, Problem), **others)


def problem_of(fun: Any, **given: Any) -> Problem:
    """Return the problem for the arguments of `minimize`, those of `Problem`; a `Problem` has all of them already."""
    if isinstance(fun, Problem):
        more = {name: value for name, value in given.items() if not _is_missing(value)}
        for name in ("tolerance", "vectorized"):
            more.pop(name, None)
        for name in more:
            if name in ("bounds", "constraints"):
                raise ValueError("a Problem has bounds and constraints of its own; pass no others")
            if not _is_missing(getattr(fun, name)):
                raise ValueError(f"this Problem has {name} of its own; pass no other")
        return replace(fun, **more) if more else fun
    if not callable(fun):
        raise ValueError(f"fun must be callable; got {type(fun).__name__}")
    if given.get("bounds") is None and given.get("choices") is None:
        raise ValueError("bounds must be given: a scipy Bounds, pairs (low, high) or two arrays")
    return Problem(fun, **{**given, "vectorized": bool(given.get("vectorized"))})


def _is_missing(value: Any) -> bool:
    """Return whether an argument was not given."""
    return value is None or value is False or (isinstance(value, tuple | list) and len(value) == 0)


def _stored_choices(problem: Problem) -> tuple[Any, ...]:
    """Return the allowed values and categories of a problem as plain values."""
    assert problem.variables is not None
    return tuple(
        problem.labels.get(j, None if values is None else tuple(values.tolist()))
        for j, values in enumerate(problem.variables.choices)
    )


def _first_points(x0: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    if x0 is None:
        return None
    points = np.atleast_2d(np.array(x0))
    if points.ndim != 2 or points.shape[1] != len(lower):
        raise ValueError(f"x0 must be one point ({len(lower)},) or rows (k, {len(lower)}); got {np.shape(x0)}")
    inside = np.all((points >= lower) & (points <= upper), axis=1)  # also false for NaN
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(f"x0 must lie inside the bounds; point {row} does not: {points[row]}")
    return points


def _first_values(values: Any, x0: np.ndarray | None, counts: tuple[int, int] | None) -> FGH | None:
    """Return f (k,), g (k, p) and h (k, q) of the points x0 (k, d); ValueError if they do not fit."""
    if values is None:
        return None
    if x0 is None:
        raise ValueError("x0_values are the values of x0, which must be passed with them")
    if not isinstance(values, tuple | list) or len(values) != 3:
        raise ValueError(f"x0_values must be (f, g, h); got {_short(values)}")
    k = len(x0)
    f, g, h = (
        reals(() if part is None else part, f"x0_values: {name}") for name, part in zip("fgh", values, strict=True)
    )
    if f.shape != (k,) and not (k == 1 and f.shape == ()):
        raise ValueError(f"x0_values: f must have shape ({k},), a number for each point of x0; got {f.shape}")
    columns = []
    for name, part in (("g", g), ("h", h)):
        if part.size == 0:
            part = np.empty((k, 0))
        elif part.ndim < 2 and (k == 1 or part.shape == (k,)):
            part = part.reshape(k, -1)
        if part.ndim != 2 or len(part) != k:
            raise ValueError(f"x0_values: {name} must have shape ({k}, number of constraints); got {part.shape}")
        columns.append(part)
    p, q = columns[0].shape[1], columns[1].shape[1]
    if counts is not None and (p, q) != counts:
        raise ValueError(
            f"x0_values must have {counts[0]} inequalities and {counts[1]} equalities, as the problem; got {p} and {q}"
        )
    return (f.reshape(k), columns[0], columns[1]) if k else None


def _checked(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the stored request after checking the values that are not checked later; ValueError if one is wrong."""
    d = np.size(content["lower"]) if "lower" in content else 0

    def is_array(value: Any, kind: type) -> bool:
        return type(value) is np.ndarray and value.shape == (d,) and value.dtype == kind

    def is_texts(value: Any) -> bool:
        return type(value) is tuple and all(type(text) is str for text in value)

    sound: dict[str, Any] = {
        "method": lambda value: type(value) is str,
        "problem": lambda value: value is None or type(value) is str,
        "constraint_names": lambda value: value is None or is_texts(value),
        "vectorized": lambda value: type(value) is bool,
        "lower": lambda value: is_array(value, float),
        "upper": lambda value: is_array(value, float),
        "integrality": lambda value: value is None or is_array(value, bool),
        "log": lambda value: value is None or is_array(value, bool),
        "choices": lambda value: value is None or (type(value) is tuple and len(value) == d),
        "maximize": lambda value: type(value) is bool,
        "on_failure": lambda value: True,
        "eval_timeout": lambda value: True,
        "eval_memory": lambda value: True,
        "code": lambda value: value is None or type(value) is str,
    }
    content = {"code": None, **content}  # not in files of 0.1
    if set(content) != set(sound):
        raise ValueError(f"it has {ascii(sorted(content))[:200]}")
    for name, holds in sound.items():
        if not holds(content[name]):
            raise ValueError(f"{name} cannot be {ascii(content[name])[:80]}")
    return content


def _differences(stored: Mapping[str, Any], problem: Problem) -> list[str]:
    """Return the differences between a problem and the stored one, each as text."""
    found = []
    lower, upper, names = stored["lower"], stored["upper"], _texts(problem.constraint_names)
    if lower.tolist() != problem.lower.tolist() or upper.tolist() != problem.upper.tolist():
        found.append(f"bounds {_pairs(lower, upper)}; got one with {_pairs(problem.lower, problem.upper)}")
    if stored["maximize"] != problem.maximize:
        words = ("minimised", "maximised") if problem.maximize else ("maximised", "minimised")
        found.append(f"an objective to be {words[0]}; got one to be {words[1]}")
    if stored["problem"] is not None and stored["problem"] != str(problem.name):
        found.append(f"name {stored['problem']!a}; got one with {problem.name!a}")
    if stored["problem"] is not None and stored["constraint_names"] != names:
        found.append(f"constraint names {_short(stored['constraint_names'])}; got one with {_short(names)}")
    return found


def _texts(names: Any) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(str, names))


def _pairs(lower: np.ndarray, upper: np.ndarray) -> str:
    return _short(list(zip(lower.tolist(), upper.tolist(), strict=True)))


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 200 else text[:200] + "..."
