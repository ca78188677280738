"""The libraries that run the gauntlet, each called as somebody who knows it well would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import numpy as np

import ppsde

from .jobs import STUDY_BUDGET, STUDY_RUNS, TOLERANCE, Answer, NotOffered, Task


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


STUDY_PROBLEM = """
import os, time
import ppsde

def slow(x):
    log = os.open("evaluations", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, b".")
    os.close(log)
    time.sleep(0.002)
    return (x**2).sum(), [1 - x[0]], []

problem = ppsde.Problem(slow, [(-5, 5)] * 2)
"""
STUDY_PLAN = f"""
problems = ["slow.py:problem"]
algorithms = ["jde"]
runs = {STUDY_RUNS}
budget = {STUDY_BUDGET}
engine = "host"
"""


def study_by_ppsde() -> Answer:
    """Run a study, and the same again with a kill in its middle; `nfev` is how many evaluations were made twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "slow.py").write_text(STUDY_PROBLEM)
        (folder / "plan.toml").write_text(STUDY_PLAN)

        def evaluations() -> int:
            log = folder / "evaluations"
            return log.stat().st_size if log.exists() else 0

        def begun(store: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "ppsde", "bench", "run", "plan.toml", "--store", store, "--quiet"]
            return subprocess.Popen([*command, "--workers", "1"], cwd=folder, start_new_session=True)

        begun("undisturbed.db").wait()
        whole = evaluations()
        process = begun("killed.db")
        middle = whole + (STUDY_RUNS // 2) * STUDY_BUDGET + STUDY_BUDGET // 2  # of a run, too
        while evaluations() < middle and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        begun("killed.db").wait()
        same = _results(folder / "undisturbed.db") == _results(folder / "killed.db")
        return Answer(None, None, same and whole == STUDY_RUNS * STUDY_BUDGET, evaluations() - 2 * whole)


def _results(store: Path) -> list[tuple[Any, ...]]:
    from ppsde.experiments import Store

    with Store(store) as opened:
        return sorted((run.key, run.f, run.violation, run.x.tobytes(), run.evaluations) for run in opened.results())


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


STARTS = 20  # of SLSQP


def by_slsqp(task: Task, seed: int) -> Answer:
    """Solve a task with SciPy's SLSQP from random starts; the best point that holds the constraints is the answer."""
    if task.rows or task.workers > 1:
        raise NotOffered("functions of rows, workers")
    from scipy.optimize import Bounds, minimize

    low, high = np.array(task.low), np.array(task.high)
    bounds = Bounds(low, high)  # type: ignore[arg-type]
    constraints: list[Any] = []
    if task.g is not None:
        g = task.g
        constraints.append({"type": "ineq", "fun": lambda x: -np.array(g(x))})
    if task.h is not None:
        constraints.append({"type": "eq", "fun": task.h})
    rng = np.random.default_rng(seed)
    best = Answer(None)
    evaluations = 0
    for _ in range(STARTS):
        found = minimize(
            task.f, rng.uniform(low, high), method="SLSQP", bounds=bounds, constraints=constraints, tol=1e-9
        )
        evaluations += found.nfev
        if found.success and (best.fun is None or found.fun < best.fun):
            best = Answer(found.x, float(found.fun), True)
        if evaluations >= task.evaluations:
            break
    return Answer(best.x, best.fun, best.success, evaluations)


def by_pymoo(task: Task, seed: int) -> Answer:
    """Solve a task with pymoo: ISRES where constraints are to be met exactly, else differential evolution."""
    isres = import_module("pymoo.algorithms.soo.nonconvex.isres").ISRES
    result = import_module("pymoo.optimize").minimize(
        _pymoo_problem_of_rows(task) if task.rows else _pymoo_problem(task),
        isres() if task.solved else import_module("pymoo.algorithms.soo.nonconvex.de").DE(pop_size=50),
        ("n_eval", task.evaluations),
        seed=seed,
    )
    value = None if result.F is None else float(np.ravel(result.F)[0])
    return Answer(result.X, value, None, result.algorithm.evaluator.n_eval)


def _pymoo_problem(task: Task) -> Any:
    box = {"xl": np.array(task.low), "xu": np.array(task.high)}
    if task.workers > 1:  # of what can be pickled
        runner = import_module("pymoo.parallelization").StarmapParallelization(Pool(task.workers).starmap)
        functional = import_module("pymoo.problems.functional").FunctionalProblem
        return functional(len(task.low), task.f, elementwise_runner=runner, **box)
    base = import_module("pymoo.core.problem").ElementwiseProblem

    class OfPoints(base):  # type: ignore[misc, valid-type]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = task.f(x)
            if task.g is not None:
                out["G"] = task.g(x)
            if task.h is not None:
                out["H"] = task.h(x)

    return OfPoints(
        n_var=len(task.low),
        n_obj=1,
        n_ieq_constr=task.counts[0],
        n_eq_constr=task.counts[1],
        **box,
    )


def _pymoo_problem_of_rows(task: Task) -> Any:
    base = import_module("pymoo.core.problem").Problem

    class OfRows(base):  # type: ignore[misc, valid-type]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = task.f(x)

    return OfRows(n_var=len(task.low), n_obj=1, xl=np.array(task.low), xu=np.array(task.high))


MORE = 1000.0  # nevergrad's penalty grows with the loss, and in the first half of a run it is 0 where that is negative
WEIGHT = 1000.0  # of violations of equalities, in the loss itself


def by_nevergrad(task: Task, seed: int) -> Answer:
    """Solve a task with nevergrad: where there are equalities its RCobyla, which begins again, with violations in the
    loss; its CMA for inequalities, whose violations it is told; two-point differential evolution for workers; else
    NGOpt, its default. Of points with constraints the best feasible one that was evaluated counts, or its
    recommendation if there is none."""
    if task.rows:
        raise NotOffered("functions of rows")
    nevergrad = import_module("nevergrad")
    low, high = np.array(task.low), np.array(task.high)
    variables = nevergrad.p.Array(init=(low + high) / 2, lower=low, upper=high)
    variables.random_state.seed(seed)
    name = "RCobyla" if task.h else "CMA" if task.g else "TwoPointsDE" if task.workers > 1 else "NGOpt"
    optimizer = nevergrad.optimizers.registry[name](variables, budget=task.evaluations, num_workers=task.workers)
    if task.workers > 1:
        with ProcessPoolExecutor(task.workers) as executor:
            found = optimizer.minimize(task.f, executor=executor, batch_mode=False)
        return Answer(found.value, found.loss, None, optimizer.num_tell)
    if not any(task.counts):
        found = optimizer.minimize(task.f)
        return Answer(found.value, found.loss, None, optimizer.num_tell)
    more, best = 0.0, Answer(None)
    for _ in range(task.evaluations):
        point = optimizer.ask()
        x = point.value
        value = task.f(x)
        if optimizer.num_tell == 0 and value < 0:
            more = MORE
        violations = np.array(
            [*(task.g(x) if task.g else ()), *(abs(h) - TOLERANCE for h in (task.h(x) if task.h else ()))]
        )
        if task.h:
            optimizer.tell(point, value + WEIGHT * np.maximum(violations, 0.0).sum())
        else:
            optimizer.tell(point, value + more, violations)
        if (violations <= 0).all() and (best.fun is None or value < best.fun):
            best = Answer(x, value)
    last = optimizer.provide_recommendation().value if best.x is None else best.x
    return Answer(last, best.fun, None, optimizer.num_tell)


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


class PygmoSmooth(PygmoTask):
    """The same with derivatives, by differences."""

    def gradient(self, x: np.ndarray) -> Any:
        return import_module("pygmo").estimate_gradient(self.fitness, x)


class PygmoRows(PygmoTask):
    """The same, for a function of rows."""

    def batch_fitness(self, x: np.ndarray) -> Any:
        return self.task.f(np.reshape(x, (-1, len(self.task.low))))


def by_pygmo(task: Task, seed: int) -> Answer:
    """Solve a task with pygmo: hops between local searches by SLSQP where constraints are to be met exactly, harmony
    search where there are others, its ant colony for rows or workers, else self-adaptive DE."""
    pygmo = import_module("pygmo")
    kind = PygmoRows if task.rows else PygmoSmooth if task.solved else PygmoTask
    problem = pygmo.problem(kind(task))
    problem.c_tol = [TOLERANCE] * problem.get_nec() + [0.0] * problem.get_nic()
    generations = max(1, task.evaluations // POPULATION - 1)
    if task.rows or task.workers > 1:
        batches = pygmo.bfe(pygmo.member_bfe() if task.rows else pygmo.mp_bfe())
        if task.workers > 1:
            pygmo.mp_bfe.init_pool(task.workers)
        method = pygmo.gaco(gen=generations, ker=POPULATION - 1, seed=seed)
        method.set_bfe(batches)
        population = pygmo.population(problem, size=POPULATION, b=batches, seed=seed)
    elif task.solved:
        local = pygmo.nlopt("slsqp")
        local.ftol_rel, local.xtol_rel, local.maxeval = 1e-10, 1e-10, 1000
        method = pygmo.mbh(pygmo.algorithm(local), stop=10, perturb=0.3, seed=seed)
        population = pygmo.population(problem, size=1, seed=seed)
    elif any(task.counts):
        method = pygmo.ihs(gen=task.evaluations - POPULATION, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    else:
        method = pygmo.sade(gen=generations, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    population = pygmo.algorithm(method).evolve(population)
    return Answer(population.champion_x, population.champion_f[0], None, population.problem.get_fevals())


def by_cma(task: Task, seed: int) -> Answer:
    """Solve a task with pycma: `fmin2`, or `fmin_con2` where there are constraints, of which the best feasible point
    counts, or the last mean if there is none."""
    cma = import_module("cma")
    low, high = np.array(task.low), np.array(task.high)
    options: dict[str, Any] = {"bounds": [low, high], "maxfevals": task.evaluations, "seed": seed, "verbose": -9}
    start = np.random.default_rng(seed).uniform(np.minimum(low, high), np.maximum(low, high))
    step = float(np.abs(high - low).min()) / 4
    if any(task.counts):

        def constraints(x: np.ndarray) -> list[float]:
            g, h = list(task.g(x)) if task.g else [], task.h(x) if task.h else ()
            return [*g, *(side - TOLERANCE for value in h for side in (value, -value))]  # two sides of each equality

        x, strategy = cma.fmin_con2(task.f, start, step, constraints=constraints, options=options)
        feasible = strategy.best_feasible.x
        return Answer(x if feasible is None else feasible, None, None, strategy.result.evaluations)
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
    study: Callable[[], Answer] | None = None  # runs a study that is killed in its middle

    def version(self) -> str | None:
        if self.package == "ppsde":
            return ppsde.__version__
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


LIBRARIES = {
    "ppsde": Library("ppsde", "ppsde", by_ppsde, study_by_ppsde),
    "scipy": Library("scipy DE", "scipy", by_scipy),
    "slsqp": Library("scipy SLSQP, 20 starts", "scipy", by_slsqp),
    "pymoo": Library("pymoo", "pymoo", by_pymoo),
    "nevergrad": Library("nevergrad", "nevergrad", by_nevergrad),
    "pygmo": Library("pygmo", "pygmo", by_pygmo),
    "cma": Library("cma", "cma", by_cma),
}
