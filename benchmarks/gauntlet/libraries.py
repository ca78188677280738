"""The libraries that run the gauntlet, each used as its own documentation says."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.pool import Pool
from typing import Any

import numpy as np

import ppsde

from .jobs import TOLERANCE, Answer, NotOffered, Task


def by_ppsde(task: Task, seed: int) -> Answer:
    """Solve a task with this library."""

    def together(x: np.ndarray) -> Any:
        return task.f(x), task.g(x) if task.g else [], task.h(x) if task.h else []

    constrained = task.g is not None or task.h is not None
    result = ppsde.minimize(
        together if constrained else task.f,
        list(zip(task.low, task.high, strict=True)),
        max_evaluations=task.evaluations,
        rng=seed,
        vectorized=task.rows,
        workers=task.workers,
    )
    return Answer(result.x, result.fun, result.success, result.nfev)


def by_scipy(task: Task, seed: int) -> Answer:
    """Solve a task with SciPy's differential evolution, its own defaults, the budget set by its iterations."""
    from scipy.optimize import NonlinearConstraint, differential_evolution

    constraints = []
    if task.g is not None:
        constraints.append(NonlinearConstraint(task.g, -np.inf, 0.0))
    if task.h is not None:  # SciPy has no tolerance: limits take its place
        constraints.append(NonlinearConstraint(task.h, -TOLERANCE, TOLERANCE))
    f = (lambda x: task.f(x.T)) if task.rows else task.f
    population = 15 * len(task.low)
    result = differential_evolution(
        f,
        list(zip(task.low, task.high, strict=True)),
        constraints=constraints,
        maxiter=max(1, task.evaluations // population - 1),
        rng=seed,
        vectorized=task.rows,
        workers=task.workers,
        updating="deferred" if task.rows or task.workers > 1 else "immediate",
        polish=not task.rows,  # it calls the function in another way
    )
    return Answer(result.x, result.fun, result.success, result.nfev)


def by_pymoo(task: Task, seed: int) -> Answer:
    """Solve a task with pymoo's differential evolution."""
    result = import_module("pymoo.optimize").minimize(
        _pymoo_problem_of_rows(task) if task.rows else _pymoo_problem(task),
        import_module("pymoo.algorithms.soo.nonconvex.de").DE(pop_size=50),
        ("n_eval", task.evaluations),
        seed=seed,
    )
    value = None if result.F is None else float(np.ravel(result.F)[0])
    return Answer(result.X, value, None, result.algorithm.evaluator.n_eval)


def _pymoo_problem(task: Task) -> Any:
    more: dict[str, Any] = {}
    if task.workers > 1:
        starmap = Pool(task.workers).starmap
        more["elementwise_runner"] = import_module("pymoo.parallelization").StarmapParallelization(starmap)
    return import_module("pymoo.problems.functional").FunctionalProblem(
        len(task.low),
        task.f,
        constr_ieq=_components(task.g, task.counts[0]),
        constr_eq=_components(task.h, task.counts[1]),
        xl=np.array(task.low),
        xu=np.array(task.high),
        **more,
    )


def _components(constraints: Callable[[np.ndarray], Any] | None, count: int) -> list[Callable[[np.ndarray], Any]]:
    return [partial(_component, constraints, k) for k in range(count)] if constraints is not None else []


def _component(constraints: Callable[[np.ndarray], Any], k: int, x: np.ndarray) -> Any:
    return constraints(x)[k]


def _pymoo_problem_of_rows(task: Task) -> Any:
    base = import_module("pymoo.core.problem").Problem

    class OfRows(base):  # type: ignore[misc, valid-type]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = task.f(x)

    return OfRows(n_var=len(task.low), n_obj=1, xl=np.array(task.low), xu=np.array(task.high))


def by_nevergrad(task: Task, seed: int) -> Answer:
    """Solve a task with nevergrad's differential evolution."""
    if task.rows:
        raise NotOffered("functions of rows")
    nevergrad = import_module("nevergrad")
    variables = nevergrad.p.Array(shape=(len(task.low),)).set_bounds(np.array(task.low), np.array(task.high))
    variables.random_state.seed(seed)
    optimizer = nevergrad.optimizers.registry["DE"](variables, budget=task.evaluations, num_workers=task.workers)
    violations = []
    if task.g is not None:
        g = task.g
        violations.append(lambda x: np.maximum(g(x), 0.0))
    if task.h is not None:
        h = task.h
        violations.append(lambda x: np.maximum(np.abs(h(x)) - TOLERANCE, 0.0))
    more: dict[str, Any] = {"constraint_violation": violations} if violations else {}
    if task.workers > 1:
        with ProcessPoolExecutor(task.workers) as executor:
            found = optimizer.minimize(task.f, executor=executor, batch_mode=False)
    else:
        found = optimizer.minimize(task.f, **more)
    return Answer(found.value, found.loss, None, optimizer.num_tell)


POPULATION = 50  # of pygmo


class PygmoTask:
    """A task as pygmo's user-defined problem."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def fitness(self, x: np.ndarray) -> Any:
        task = self.task
        if task.rows:
            return task.f(x[None])
        return [task.f(x), *(task.h(x) if task.h else ()), *(task.g(x) if task.g else ())]

    def get_bounds(self) -> tuple[Any, Any]:
        return self.task.low, self.task.high

    def get_nic(self) -> int:
        return self.task.counts[0]

    def get_nec(self) -> int:
        return self.task.counts[1]


class PygmoRows(PygmoTask):
    """The same, for a function of rows."""

    def batch_fitness(self, x: np.ndarray) -> Any:
        return self.task.f(np.reshape(x, (-1, len(self.task.low))))


def by_pygmo(task: Task, seed: int) -> Answer:
    """Solve a task with self-adaptive DE of pygmo, or with its ant colony where there are constraints or workers."""
    pygmo = import_module("pygmo")
    problem = pygmo.problem((PygmoRows if task.rows else PygmoTask)(task))
    problem.c_tol = [TOLERANCE] * problem.get_nec() + [0.0] * problem.get_nic()
    generations = max(1, task.evaluations // POPULATION - 1)
    if task.rows or task.workers > 1:
        batches = pygmo.bfe(pygmo.member_bfe() if task.rows else pygmo.mp_bfe())
        if task.workers > 1:
            pygmo.mp_bfe.init_pool(task.workers)
        method = pygmo.gaco(gen=generations, ker=POPULATION - 1, seed=seed)
        method.set_bfe(batches)
        population = pygmo.population(problem, size=POPULATION, b=batches, seed=seed)
    elif any(task.counts):
        method = pygmo.gaco(gen=generations, ker=POPULATION - 1, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    else:
        method = pygmo.sade(gen=generations, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    population = pygmo.algorithm(method).evolve(population)
    return Answer(population.champion_x, population.champion_f[0], None, population.problem.get_fevals())


def by_cma(task: Task, seed: int) -> Answer:
    """Solve a task with pycma: `fmin2`, or `fmin_con2` where there are constraints."""
    cma = import_module("cma")
    low, high = np.array(task.low), np.array(task.high)
    options: dict[str, Any] = {"bounds": [low, high], "maxfevals": task.evaluations, "seed": seed, "verbose": -9}
    start = np.random.default_rng(seed).uniform(np.minimum(low, high), np.maximum(low, high))
    step = float(np.abs(high - low).min()) / 4
    if any(task.counts):

        def constraints(x: np.ndarray) -> list[float]:
            g = list(task.g(x)) if task.g else []
            return [*g, *(abs(value) - TOLERANCE for value in (task.h(x) if task.h else ()))]

        x, strategy = cma.fmin_con2(task.f, start, step, constraints=constraints, options=options)
        return Answer(x, None, None, strategy.result.evaluations)
    if task.rows:
        x, strategy = cma.fmin2(
            None, start, step, options, parallel_objective=lambda points: list(task.f(np.array(points)))
        )
    elif task.workers > 1:
        strategy = cma.CMAEvolutionStrategy(start, step, options)
        with import_module("cma.optimization_tools").EvalParallel2(task.f, task.workers) as evaluate:
            while not strategy.stop():
                points = strategy.ask()
                strategy.tell(points, evaluate(points))
    else:
        _, strategy = cma.fmin2(task.f, start, step, options)
    result = strategy.result
    return Answer(result.xbest, result.fbest, None, result.evaluations)


@dataclass(frozen=True)
class Library:
    """A library: its name in the table, the package to install, and the function that solves a task with it."""

    title: str
    package: str
    solve: Callable[[Task, int], Answer]

    def version(self) -> str | None:
        if self.package == "ppsde":
            return ppsde.__version__
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


LIBRARIES = {
    "ppsde": Library("ppsde", "ppsde", by_ppsde),
    "scipy": Library("scipy DE", "scipy", by_scipy),
    "pymoo": Library("pymoo DE", "pymoo", by_pymoo),
    "nevergrad": Library("nevergrad DE", "nevergrad", by_nevergrad),
    "pygmo": Library("pygmo", "pygmo", by_pygmo),
    "cma": Library("cma", "cma", by_cma),
}
