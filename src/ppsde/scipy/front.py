"""`differential_evolution` with the arguments, the result and the words of SciPy's, done by JADE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..algorithm import Task
from ..checks import check_int
from ..engines.drive import drive
from ..engines.ending import STOPPED
from ..engines.run import Run
from ..population import TOLERANCE, Population
from ..problem import MalformedValue, Problem, box
from ..problem.constraints import Constraint, as_list, constraints_of
from ..problem.variables import Variables, mask, variables_of
from ..streams import seed_from
from .local import LocalSearches
from .polishing import PolishBounds, in_rows, polish_result, take_if_better, violation_at
from .search import ConstraintsFirst, Function, OwnStrategy

CONVERGED = "Optimization terminated successfully."
SPENT = "Maximum number of iterations has been exceeded."
BY_CALLBACK = "callback function requested stop early"
STRATEGIES = tuple(
    base + crossing
    for crossing in ("bin", "exp")
    for base in ("best1", "rand1", "randtobest1", "currenttobest1", "best2", "rand2")
)
UPDATINGS = ("immediate", "deferred")
INITS = ("latinhypercube", "sobol", "halton", "random")


def differential_evolution(
    func: Callable[..., Any],
    bounds: Any,
    args: tuple[Any, ...] = (),
    strategy: Any = "best1bin",
    maxiter: int | None = 1000,
    popsize: int = 15,
    tol: float = 0.01,
    mutation: Any = (0.5, 1),
    recombination: float = 0.7,
    rng: Any = None,
    callback: Callable[..., Any] | None = None,
    disp: bool = False,
    polish: Any = True,
    init: Any = "latinhypercube",
    atol: float = 0,
    updating: str = "immediate",
    workers: Any = 1,
    constraints: Any = (),
    x0: Any = None,
    *,
    integrality: Any = None,
    vectorized: bool = False,
    seed: Any = None,
) -> Any:
    """Minimise a function under bounds and constraints, called as `scipy.optimize.differential_evolution` is.

    The search is JADE: F and CR adapt by themselves. Where there are constraints, it is helped by the local searches of
    PPS-SQP, the default method of `minimize`. Iterations, population, messages and warnings are those of SciPy.

    Parameters
    ----------
    func : callable
        `func(x, *args)` returns a number. With `vectorized`, x has shape (N, S) and the values (S,), as in SciPy. It
        is not called at points that violate constraints, except by polishing.
    bounds : scipy Bounds or pairs (low, high)
        A lower bound above its upper one is an error here; SciPy swaps them.
    strategy : str or callable
        The names are checked, but have no effect. A callable makes the trials, in place of JADE:
        `strategy(candidate, population, rng=rng)` returns the trial (N,) of member number `candidate`; member 0 is the
        best.
    maxiter, popsize : int
        Number of iterations, and members of the population per variable that is not fixed by its bounds.
    tol, atol : float
        The run ends early when all of the population is feasible and the standard deviation of its values is at most
        `atol + tol * abs(mean)`, or when local searches agree (see `polish`).
    rng, seed : None, int, sequence of ints, SeedSequence, BitGenerator, Generator or RandomState
    callback : callable
        `callback(intermediate_result)` or `callback(x, convergence)`; True or `StopIteration` ends the run.
    disp : bool
        Whether to print the best value of each iteration.
    polish : bool or callable
        Whether to improve the result by gradients, integers fixed. Without constraints this is done by L-BFGS-B. With
        constraints it is done by the local searches of the default method, which also shorten the run: some are made
        after the first iteration, from members of the population and from other points, and if they agree the run has
        converged after the third. That does not happen with integers, nor if `tol` and `atol` are 0. Polishing calls
        the objective anywhere inside the bounds. The polished point replaces x only if it violates less, or is as
        feasible and better. A callable is used in its place.
    init : str or array (S, N)
        How the first population is drawn, or that population.
    workers : int or callable like map
        Where the objective is evaluated. If a worker dies, only the evaluation that killed it is lost.
    constraints : NonlinearConstraint, LinearConstraint, Bounds, or a sequence of these
        Evaluated in this process. `lb == ub` is an equality, met within 1e-4; SciPy has no tolerance. NaN is never
        feasible.
    x0 : array (N,)
        A point of the first population.
    integrality : bool or array (N,)
    mutation, recombination, updating
        Checked, but without effect: JADE adapts F and CR, and always updates at the end of an iteration.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x`, `fun` (inf if x is not feasible and was not polished), `nfev` (calls of the objective), `nit`,
        `success` (feasible and converged), `message`, `population`, `population_energies` (inf where not feasible),
        `jac` if L-BFGS-B or your function helped, and with constraints `constr`, `constr_violation` and `maxcv`.
        `n_failed` counts the points of the evolution at which the function failed.

    Examples
    --------
    >>> result = differential_evolution(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-2, 2), (-2, 2)], rng=1)
    >>> print(result.success, result.message, abs(result.fun) < 1e-8)
    True Optimization terminated successfully. True
    """
    from scipy.optimize import OptimizeResult

    from ..algorithms.jade import JADE
    from ..result import keep_with

    if not callable(func):
        raise ValueError(f"func must be callable; got {type(func).__name__}")
    lower, upper = box(bounds)
    check_steering(strategy, mutation, recombination, updating)
    tol, atol = at_least_0(tol, "tol"), at_least_0(atol, "atol")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")
    source = seed_of(rng, seed)
    vectorized = warn_of_overriding(bool(vectorized), workers, updating)
    integer = mask(False if integrality is None else integrality, len(lower), "integrality")
    variables = variables_of(lower, upper, integer)
    iterations = 1000 if maxiter is None else check_int("maxiter", maxiter, 0)
    given = as_list(constraints)
    limits = constraints_of([in_rows(constraint, k, vectorized) for k, constraint in enumerate(given)], len(lower))
    number = seed_from(source)
    first = first_points(init, x0, lower, upper, variables, popsize, np.random.default_rng(number))

    if not np.iterable(args):
        raise ValueError(f"args must be a tuple of what func takes after x; got {args!r}")
    fun = Function(func, tuple(args), vectorized)
    evaluator = ConstraintsFirst(fun, limits, workers, variables)
    searched = np.stack([lower, upper], axis=1) if variables is None else variables.box
    run = Run(
        OwnStrategy(strategy, first, variables) if callable(strategy) else JADE(population_size=len(first)),
        Task(searched[:, 0], searched[:, 1], (iterations + 1) * len(first), first),
        seed=number,
        tolerance=TOLERANCE,
    )

    held = integer | (lower == upper)
    bounds_of_polish = PolishBounds(lower, upper, held, integer)
    polish = polish if not integer.all() else False
    searches = None
    if limits and polish and not callable(polish):
        searches = LocalSearches(fun, limits, searched, held, variables, np.random.default_rng([number, 1]))

    def stand(best: Population | None = None) -> Any:
        calls = evaluator.calls + (0 if searches is None else searches.calls)
        return stand_of(run, best or run.best, variables, limits, vectorized, calls)

    def agree() -> bool:
        if searches is None or run.state is None or integer.any() or tol == atol == 0:
            return False
        return searches.after_iteration(run.completed, run.state.population)

    after_iteration = AfterIteration(callback, bool(disp), tol, atol, run, stand, agree)
    try:
        ending = drive(
            run,
            Problem(fun, searched, vectorized=vectorized),
            workers=evaluator,
            after_generation=after_iteration,
            interruptible=True,
            on_error=lambda error, ending: keep_with(error, stand(ending.best)),
        )
    except MalformedValue as error:
        raise RuntimeError(f"An array returned from a Constraint has the wrong shape: {error}") from error

    result = stand()
    if after_iteration.converged:
        result.message = CONVERGED
    elif ending.status > STOPPED:  # interrupted, or nothing but failures
        result.message = ending.message
    else:
        result.message = BY_CALLBACK if ending.status == STOPPED else SPENT
    if polish and not np.isnan(result.x).any():
        if result.get("maxcv", 0.0) > 0 and not after_iteration.converged:
            warnings.warn(
                "differential evolution didn't find a solution satisfying the constraints, "
                "attempting to polish from the least infeasible solution",
                UserWarning,
                stacklevel=2,
            )
        try:
            if searches is None:
                polish_result(result, polish, fun, limits, given, bounds_of_polish, bool(disp))
            else:
                if disp:
                    print("Polishing solution with 'SQP'")
                found = searches.polished(None if after_iteration.agreed else run.best)
                x = found.x[0] if variables is None else variables.to_user(found.x[0])
                take_if_better(result, OptimizeResult(x=x, fun=float(found.f[0])), fun, limits, bounds_of_polish)
                result.nfev = evaluator.calls + searches.calls
        except BaseException as error:
            keep_with(error, result)
            raise
        result.update(violations(result.x, limits, vectorized))
    result.success = bool(after_iteration.converged and result.get("maxcv", 0.0) == 0)
    if result.get("maxcv", 0.0) > 0 and not np.isnan(result.x).any():
        result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"
        if ending.failures:
            result.message += f"; {ending.failed} evaluations failed, the first with {ending.failures[0]}"
    return OptimizeResult(result)


def check_steering(strategy: Any, mutation: Any, recombination: Any, updating: Any) -> None:
    """Raise ValueError for arguments that SciPy would refuse, though most have no effect on this search."""
    if not callable(strategy) and strategy not in STRATEGIES:
        raise ValueError(f"strategy must be a callable or one of {', '.join(STRATEGIES)}; got {strategy!r}")
    factors = np.atleast_1d(np.asarray(mutation, float))
    if factors.size > 2 or not np.all((factors >= 0) & (factors < 2)):
        raise ValueError(f"mutation must be a number in [0, 2) or a pair of these; got {mutation!r}")
    if not isinstance(recombination, int | float | np.number) or not 0 <= recombination <= 1:
        raise ValueError(f"recombination must be a number in [0, 1]; got {recombination!r}")
    if updating not in UPDATINGS:
        raise ValueError(f"updating must be 'immediate' or 'deferred'; got {updating!r}")


def warn_of_overriding(vectorized: bool, workers: Any, updating: str) -> bool:
    """Return whether to call the function vectorised; warn, as SciPy does, where one argument overrides another."""
    alone = isinstance(workers, int) and workers == 1
    overriding = []
    if not alone and updating == "immediate":
        overriding.append("the 'workers' keyword has overridden updating='immediate' to updating='deferred'")
    if vectorized and not alone:
        overriding.append("the 'workers' keyword overrides the 'vectorized' keyword")
    if vectorized and alone and updating == "immediate":
        overriding.append("the 'vectorized' keyword has overridden updating='immediate' to updating='deferred'")
    for words in overriding:
        warnings.warn(f"differential_evolution: {words}", UserWarning, stacklevel=3)
    return vectorized and alone


def at_least_0(value: Any, name: str) -> float:
    """Return the value; ValueError unless it is a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number >= 0; got {value!r}")
    return float(value)


def seed_of(rng: Any, seed: Any) -> Any:
    """Return the argument `rng` of `minimize`, under either of its names; errors are those of NumPy."""
    if rng is not None and seed is not None:
        raise TypeError("differential_evolution() got multiple values for argument 'rng': seed is the same")
    source = seed if rng is None else rng
    if isinstance(source, np.random.RandomState):
        return int(source.randint(2**31))
    if isinstance(source, int | np.integer):
        return int(source)
    return source if source is None or isinstance(source, np.random.SeedSequence) else np.random.default_rng(source)


def first_points(
    init: Any,
    x0: Any,
    lower: np.ndarray,
    upper: np.ndarray,
    variables: Variables | None,
    popsize: Any,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the first population (S, N), as points of the search."""
    d = len(lower)
    searched = np.stack([lower, upper]) if variables is None else variables.box.T
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(f"init must be one of {', '.join(INITS)} or an array (S, {d}); got {init!r}")
        size = max(5, check_int("popsize", popsize, 1) * max(1, int((lower < upper).sum())))
        points: np.ndarray = np.clip(searched[0] + drawn(init, size, d, rng) * (searched[1] - searched[0]), *searched)
    else:
        points = np.asarray(init, float)
        if points.ndim != 2 or len(points) < 5 or points.shape[1] != d or not np.isfinite(points).all():
            raise ValueError(f"init must be a finite array (S, {d}) with S > 4; got shape {points.shape}")
        points = np.clip(points, *searched)
    if x0 is not None:
        start = np.asarray(x0, float)
        if start.shape != (d,) or not np.all((start >= lower) & (start <= upper)):
            raise ValueError(f"x0 must be a point ({d},) inside the bounds; got {x0!r}")
        points = np.concatenate([start[None], points[1:]])
    return points


def drawn(init: str, size: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return points of the unit box; for 'sobol' their number is the next power of two, as in SciPy."""
    if init == "random":
        return rng.random((size, d))
    if init == "latinhypercube":
        cells = rng.permuted(np.tile(np.arange(size)[:, None], d), axis=0)
        latin: np.ndarray = (cells + rng.random((size, d))) / size
        return latin
    from scipy.stats import qmc

    if init == "halton":
        points: np.ndarray = qmc.Halton(d, seed=rng).random(size)
    else:
        points = qmc.Sobol(d, seed=rng).random_base2(int(np.ceil(np.log2(size))))
    return points


class AfterIteration:
    """Calls the user's callback after each iteration, prints the display, and ends a run that has converged."""

    def __init__(
        self,
        callback: Callable[..., Any] | None,
        disp: bool,
        tol: float,
        atol: float,
        run: Run,
        stand: Callable[[], Any],
        agree: Callable[[], bool],
    ) -> None:
        self._callback, self._disp, self._tol, self._atol = callback, disp, tol, atol
        self._run, self._stand, self._agree = run, stand, agree
        self.converged = self.agreed = False

    def __call__(self) -> bool:
        if self._run.completed == 0 or self._run.state is None:  # SciPy calls it first after an iteration
            return False
        energies = energies_of(self._run.state.population)
        mean, deviation = np.inf, np.inf
        if np.isfinite(energies).all():
            mean, deviation = float(np.mean(energies)), float(np.std(energies))
        if self._disp:
            print(f"differential_evolution step {self._run.completed}: f(x)= {energies.min()}")
        if self._callback is not None and self._wants_to_stop(mean, deviation):
            return True
        self.converged = deviation <= self._atol + self._tol * abs(mean) < np.inf
        self.converged |= deviation < np.inf and self._in_one_place()  # an optimum of 0 at 0 never meets `tol`
        if not self.converged:
            self.converged = self.agreed = self._agree()
        return self.converged

    def _in_one_place(self) -> bool:
        """Whether no member differs from another in the unit box, which SciPy searches, by more than rounding."""
        task, x = self._run.task, self._run.state.population.x  # type: ignore[union-attr]
        return bool((np.ptp(x, axis=0) <= np.finfo(float).eps * (task.upper - task.lower)).all())

    def _wants_to_stop(self, mean: float, deviation: float) -> bool:
        assert self._callback is not None
        smallest = float(np.finfo(float).eps)
        spread = deviation / (abs(mean) + smallest) if deviation < np.inf else np.inf
        convergence = self._tol / (spread + smallest)
        stand = self._stand()
        if set(signature(self._callback).parameters) != {"intermediate_result"}:
            return bool(self._callback(stand.x, convergence=convergence))
        stand.convergence = convergence
        return bool(self._callback(intermediate_result=stand))


def stand_of(
    run: Run,
    best: Population | None,
    variables: Variables | None,
    limits: Sequence[Constraint],
    vectorized: bool,
    calls: int,
) -> Any:
    """Return the result so far, with SciPy's fields; the best point is the first of the population."""
    from scipy.optimize import OptimizeResult

    population = None if run.state is None else run.state.population
    x = np.full(run.task.dimension, np.nan)
    if best is not None:
        x = best.x[0].copy() if variables is None else variables.to_user(best.x[0])
    result = OptimizeResult(
        x=x,
        fun=np.nan if best is None else float(best.f[0]) if best.feasible[0] else np.inf,
        nfev=calls,
        nit=run.completed,
        message="in progress",
        success=best is not None and bool(best.feasible[0]),
        n_failed=run.failed,
        population=None,
        population_energies=None,
    )
    if population is not None:
        ordered = population.sorted()
        result.population = ordered.x.copy() if variables is None else variables.to_user(ordered.x)
        result.population_energies = energies_of(ordered)
    result.update(violations(x, limits, vectorized))
    return result


def energies_of(population: Population) -> np.ndarray:
    """Return the objective of each point, infinite where it is not feasible."""
    energies: np.ndarray = np.where(population.feasible, population.f, np.inf)
    return energies


def violations(x: np.ndarray, limits: Sequence[Constraint], vectorized: bool) -> dict[str, Any]:
    """Return SciPy's fields on the constraints at a point; none without constraints."""
    if not limits:
        return {}
    constr = [violation_at(limit, x, vectorized) for limit in limits]
    largest = float(np.max(np.concatenate(constr)))
    return {"constr": constr, "constr_violation": largest, "maxcv": largest}
