"""Solvers of other libraries, each called as an experienced user of it would, until the budget is spent.

All search the unit box. A solver that ends early starts again elsewhere. Whether the objective is scaled is what served
each best.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from .problems import BudgetSpent, Counter

MARGIN = 1e-9  # inequalities are aimed at g <= -MARGIN, because solvers end a few units of rounding beside their aim
AIM = 0.999  # equalities are aimed at |h| <= AIM * tolerance, for the same reason


class UnitBox:
    """A counted problem on the unit box, one point at a time, with differences for solvers that need gradients."""

    def __init__(self, counter: Counter) -> None:
        problem = counter.problem
        self.counter = counter
        self.low, self.width = problem.lower, problem.upper - problem.lower
        self.d = problem.dimension
        assert problem.counts is not None  # all problems of the suites have them
        self.p, self.q = problem.counts
        self.tolerance = AIM * problem.tolerance
        self.step = np.sqrt(max(np.finfo(float).eps, counter.variant.noise))
        self.unit = 1.0  # objectives are divided by it
        self._slopes: tuple[bytes, np.ndarray] = (b"", np.empty(0))

    def x(self, u: np.ndarray) -> np.ndarray:
        return self.low + self.width * np.clip(u, 0.0, 1.0)

    def f(self, u: np.ndarray) -> float:
        return self.counter.at(self.x(u))[0] / self.unit

    def g(self, u: np.ndarray) -> np.ndarray:
        """Return the inequalities (p,), <= 0, with the margin."""
        return self.counter.at(self.x(u))[1] + MARGIN

    def h(self, u: np.ndarray) -> np.ndarray:
        """Return the equalities (q,)."""
        return self.counter.at(self.x(u))[2]

    def inequalities(self, u: np.ndarray) -> np.ndarray:
        """Return all constraints as inequalities (p + 2 q,), <= 0: g, then h and -h with the tolerance."""
        h = self.h(u)
        return np.concatenate([self.g(u), h - self.tolerance, -h - self.tolerance])

    def inequality_slopes(self, u: np.ndarray) -> np.ndarray:
        """Return the derivatives of `inequalities`, (p + 2 q, d)."""
        slopes = self.slopes(u)[1:]
        return np.concatenate([slopes, -slopes[self.p :]])

    def slopes(self, u: np.ndarray) -> np.ndarray:
        """Return the derivatives of f, g and h, (1 + p + q, d), by d evaluations; the last are stored."""
        u = np.clip(u, 0.0, 1.0)
        if self._slopes[0] != u.tobytes():
            steps = np.where(u + self.step <= 1.0, self.step, -self.step)
            f, g, h = self.counter.at(self.x(u))
            moved = self.counter.rows(self.x(u + np.diag(steps)))
            changes = np.column_stack(moved) - np.concatenate([[f], g, h])
            changes[:, 0] /= self.unit
            # Contiguous, because SLSQP of SciPy 1.17 reads a gradient with strides as if it had none, without an error.
            self._slopes = u.tobytes(), np.ascontiguousarray((changes / steps[:, None]).T)
        return self._slopes[1]


# An attempt gets the box, a random point whose values are known, random numbers, and the number of attempts before it.
Attempt = Callable[[UnitBox, np.ndarray, np.random.Generator, int], None]


def slsqp(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run SciPy's SLSQP from a random point; then again from its end with equalities as far off as they may be."""
    from scipy.optimize import minimize

    p, q = box.p, box.q
    below = {"type": "ineq", "fun": lambda u: -box.g(u), "jac": lambda u: -box.slopes(u)[1 : 1 + p]}
    equal = {"type": "eq", "fun": box.h, "jac": lambda u: box.slopes(u)[1 + p :]}
    loose = {"type": "ineq", "fun": lambda u: -box.inequalities(u), "jac": lambda u: -box.inequality_slopes(u)}
    stages = [[below] * (p > 0) + [equal], [loose]] if q else [[below] * (p > 0)]
    for constraints in stages:
        start = minimize(
            box.f,
            start,
            jac=lambda u: box.slopes(u)[0],
            method="SLSQP",
            bounds=[(0.0, 1.0)] * box.d,
            constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-10},
        ).x


def scipy_de(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run SciPy's differential evolution with a population that suits the budget; a part is left for its polish."""
    from scipy.optimize import NonlinearConstraint, differential_evolution

    members_per_variable = int(np.clip(np.sqrt(box.counter.budget / box.d) / 3, 3, 30))
    generations = int(0.8 * box.counter.left / (members_per_variable * box.d))
    constraints = NonlinearConstraint(box.inequalities, -np.inf, 0.0) if box.p or box.q else ()
    differential_evolution(
        box.f,
        [(0.0, 1.0)] * box.d,
        constraints=constraints,
        popsize=members_per_variable,
        maxiter=max(1, generations - 1),
        polish=True,
        x0=start,
        rng=rng,
    )


def cma_al(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run pycma with its augmented Lagrangian and twice the population of the attempt before; then find a feasible
    point near its end."""
    cma = import_module("cma")
    cma.constraints_handler._Logger = (
        cma.logger.LoggerDummy
    )  # the only way to have no folder of logs, even an empty one
    default = 4 + int(3 * np.log(box.d))
    options = {
        "bounds": [0.0, 1.0],
        "popsize": default * 2 ** min(attempt, 5),
        "seed": int(rng.integers(1, 2**31)),
        "tolstagnation": 0,
        "verb_log": 0,
        "verbose": -9,
    }
    strategy = cma.CMAEvolutionStrategy(start, 0.25, options)
    if not (box.p or box.q):
        strategy.optimize(box.f)
        return
    fitness = cma.ConstrainedFitnessAL(box.f, box.inequalities, find_feasible_first=box.q == 0, logging=0)
    strategy.optimize(fitness, callback=fitness.update)
    fitness.find_feasible(strategy)


def nlopt_search(box: UnitBox, method: str, local: str | None = None, loose: bool = False) -> Any:
    """Return a search of NLopt on the problem.

    With `local` the method is one that needs another for its steps; with `loose` equalities become inequalities.
    """
    nlopt = import_module("nlopt")
    search = nlopt.opt(getattr(nlopt, method), box.d)
    p, q = (box.p + 2 * box.q, 0) if loose else (box.p, box.q)

    def inequalities(result: np.ndarray, u: np.ndarray, slopes: np.ndarray) -> None:
        result[:] = box.inequalities(u) if loose else box.g(u)

    def equalities(result: np.ndarray, u: np.ndarray, slopes: np.ndarray) -> None:
        result[:] = box.h(u)

    search.set_min_objective(lambda u, slopes: box.f(u))
    search.set_lower_bounds(np.zeros(box.d))
    search.set_upper_bounds(np.ones(box.d))
    if p:
        search.add_inequality_mconstraint(inequalities, np.full(p, MARGIN))
    if q:
        search.add_equality_mconstraint(equalities, np.full(q, box.tolerance))
    search.set_xtol_rel(1e-9)
    search.set_ftol_rel(1e-12)
    search.set_maxeval(box.counter.left)
    if local is not None:
        inner = nlopt.opt(getattr(nlopt, local), box.d)
        inner.set_xtol_rel(1e-6)
        inner.set_ftol_rel(1e-9)
        search.set_local_optimizer(inner)
    search.set_initial_step(0.2)
    return search


def nlopt_run(search: Any, start: np.ndarray) -> None:
    """Run a search of NLopt; its end by rounding errors is an end like others."""
    with suppress(import_module("nlopt").RoundoffLimited):
        search.optimize(start)


def nlopt_bobyqa(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run NLopt's augmented Lagrangian with BOBYQA from a random point."""
    nlopt_run(nlopt_search(box, "AUGLAG", "LN_BOBYQA"), start)


def nlopt_sbplx(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run NLopt's augmented Lagrangian with Subplex from a random point."""
    nlopt_run(nlopt_search(box, "AUGLAG", "LN_SBPLX"), start)


def nlopt_cobyla(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run NLopt's COBYLA from a random point."""
    nlopt_run(nlopt_search(box, "LN_COBYLA", loose=True), start)


def nlopt_isres(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run NLopt's ISRES, with fewer points than its 20 (d + 1) where the budget is small."""
    import_module("nlopt").srand(int(rng.integers(1, 2**31)))
    search = nlopt_search(box, "GN_ISRES")
    search.set_population(int(20 * (box.d + 1) * min(1.0, np.sqrt(box.counter.budget / box.d / 1000))))
    nlopt_run(search, start)


class PygmoProblem:
    """The problem for pygmo, with gradients by differences; with `loose` equalities become inequalities.

    It has functions and no box, because pygmo makes deep copies, and a copy of the counter would count for itself.
    """

    def __init__(self, box: UnitBox, loose: bool) -> None:
        self.d = box.d
        if loose:
            self.p, self.q = box.p + 2 * box.q, 0
            self.values = lambda u: np.concatenate([[box.f(u)], box.inequalities(u)])
            self.slopes = lambda u: np.concatenate([box.slopes(u)[0], box.inequality_slopes(u).ravel()])
        else:
            order = [0, *range(1 + box.p, 1 + box.p + box.q), *range(1, 1 + box.p)]  # f, h, g
            self.p, self.q = box.p, box.q
            self.values = lambda u: np.concatenate([[box.f(u)], box.h(u), box.g(u)])
            self.slopes = lambda u: box.slopes(u)[order].ravel()

    def fitness(self, u: np.ndarray) -> np.ndarray:
        return self.values(u)

    def gradient(self, u: np.ndarray) -> np.ndarray:
        return self.slopes(u)

    def get_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.d), np.ones(self.d)

    def get_nic(self) -> int:
        return self.p

    def get_nec(self) -> int:
        return self.q


def pygmo_search(
    box: UnitBox, start: np.ndarray, rng: np.random.Generator, method: Any, size: int = 1, loose: bool = False
) -> None:
    """Let a method of pygmo change a population: the start and random points."""
    pygmo = import_module("pygmo")
    problem = pygmo.problem(PygmoProblem(box, loose))
    problem.c_tol = [box.tolerance] * problem.get_nec() + [0.0] * problem.get_nic()
    seed = int(rng.integers(1, 2**31))
    algorithm = pygmo.algorithm(method)
    if algorithm.has_set_seed():
        algorithm.set_seed(seed)
    population = pygmo.population(problem, size=size - 1, seed=seed)
    population.push_back(start)
    algorithm.evolve(population)


def pygmo_sade(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run pygmo's self-adaptive DE inside its self-adaptive constraint handling."""
    pygmo = import_module("pygmo")
    size = int(np.clip(np.sqrt(box.counter.budget / 10), 10, 100))
    rounds = max(1, box.counter.left // size)
    seed = int(rng.integers(1, 2**31))  # of the inner method, which does not get the seed of the outer one
    if box.p or box.q:
        method = pygmo.cstrs_self_adaptive(rounds, pygmo.sade(gen=1, variant_adptv=2, seed=seed))
    else:
        method = pygmo.sade(gen=rounds, variant_adptv=2, seed=seed)
    pygmo_search(box, start, rng, method, size)


def pygmo_slsqp(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run pygmo's monotonic basin hopping with SLSQP of NLopt."""
    pygmo = import_module("pygmo")
    local = pygmo.nlopt("slsqp")
    local.xtol_rel, local.ftol_rel = 1e-9, 1e-12
    pygmo_search(box, start, rng, pygmo.mbh(pygmo.algorithm(local), stop=5, perturb=0.1), loose=True)


def pygmo_compass(box: UnitBox, start: np.ndarray, rng: np.random.Generator, attempt: int) -> None:
    """Run pygmo's monotonic basin hopping with its compass search."""
    pygmo = import_module("pygmo")
    local = pygmo.compass_search(max_fevals=max(1, box.counter.left), start_range=0.2, stop_range=1e-6)
    pygmo_search(box, start, rng, pygmo.mbh(pygmo.algorithm(local), stop=5, perturb=0.1))


@dataclass(frozen=True)
class Peer:
    """A solver of another library: the package it needs, and one attempt with it."""

    package: str
    attempt: Attempt
    scaled: bool = True  # whether objectives are divided by that of the start, if that is above 1

    def installed(self) -> bool:
        return find_spec(self.package) is not None


PEERS = {
    "slsqp": Peer("scipy", slsqp),
    "scipy-de": Peer("scipy", scipy_de, scaled=False),
    "cma-al": Peer("cma", cma_al),
    "nlopt-bobyqa": Peer("nlopt", nlopt_bobyqa),
    "nlopt-sbplx": Peer("nlopt", nlopt_sbplx),
    "nlopt-cobyla": Peer("nlopt", nlopt_cobyla),
    "nlopt-isres": Peer("nlopt", nlopt_isres),
    "pygmo-sade": Peer("pygmo", pygmo_sade),
    "pygmo-slsqp": Peer("pygmo", pygmo_slsqp),
    "pygmo-compass": Peer("pygmo", pygmo_compass),
}


def solve(name: str, counter: Counter, seed: int) -> list[str]:
    """Spend the budget on attempts of a peer; return the errors that ended some of them, in words."""
    peer, rng = PEERS[name], np.random.default_rng(seed)
    box = UnitBox(counter)
    errors: list[str] = []
    attempt = 0
    while counter.left:  # ends, because every attempt evaluates its start
        start = rng.random(box.d)
        try:
            box.unit = 1.0
            size = abs(box.f(start))
            box.unit = max(1.0, size) if peer.scaled else 1.0
            peer.attempt(box, start, rng, attempt)
        except BudgetSpent:
            break
        except Exception as error:
            if counter.left:  # otherwise it is the budget's end, in the library's own words
                errors.append(f"{type(error).__name__}: {error}")
        attempt += 1
    return errors
