"""PPS-SQP: push and pull search, matrix adaptation and sequential quadratic programming under one budget.

The default method. After no publication; its parts are: PPS-DE (`pps_de.py`), SQP (`parts/sqp.py`), matrix adaptation
(`parts/matrix_adaptation.py`).

Three searches share starting points and the best point known, but no populations: what a local search finds, put into
the population of differential evolution, would pull it together, so that it neither explores nor refines.

  A  ask for the points of x0, or for a first population of NP points; sizes of constraints are their medians
  B  repeat until the budget is spent or the search has converged:
     1  the turn goes to the search with the largest credit
     2  LOCAL: if no local search is under way, begin one at a member of the population far from all starts and ends
        so far, or at a point near the best one known, or at any member; then one step of SQP
     3  DE: one generation of PPS-DE on normalised violations, planned by what is left of the budget at its share; its
        first turn completes the first population instead
     4  ES: one generation of a matrix adaptation evolution strategy around the best point known, or around a member
     5  each evaluation is paid from the credit of the search that made it and credited to all by their shares:
            LOCAL  0.9 (100 D / t)^(1/4), at most 0.9, after t evaluations
            ES     a tenth of the rest
            DE     the others
        weighted by trust, which doubles when a local search, a cycle of DE or one of ES has improved the best point
        and falls when it has not
     6  converged: ...

Checked against: ...
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
import os

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace, when
from ..checks import check_count, check_range
from ..parts.matrix_adaptation import Mutation, recombination
from ..parts.normalising import constraint_sizes, normalised, raw
from ..parts.repairs import fold
from ..parts.rules import Epsilon, ranking
from ..parts.sizing import first_points
from ..parts.sqp import FIRST_RADIUS, SQP, LocalSearch
from ..population import Population, better_rows, choose
from ..streams import Dealt, Stream
from .pps_de import PPSDE
from .pps_de import State as StateOfDE

LOCAL, DE, ES = range(3)  # the searches
REMEMBERED = 64  # starts, and as many ends
APART, CLOSE = 0.1, 0.01  # distances between a start and earlier starts and ends, in the unit box: wanted, accepted
SAME = 0.002  # distance from an earlier end at which a local search is given up
SIGNIFICANT = 1e-6  # relative improvement of the best point that counts
LEAST_TRUST = float(os.environ.get("LEAST_TRUST", "0.2"))
FALL = float(os.environ.get("FALL", "0.85"))
FALL_DE = float(os.environ.get("FALL_DE", "0.5"))
ES_SHARE = float(os.environ.get("ES_SHARE", "0.1"))
GENS = int(os.environ.get("GENS", "500"))
PATTERN = os.environ.get("PATTERN", "mhrh")
MEMBER, ANY, NEAR = range(3)
ONLY_MEMBERS = 100  # evaluations per variable in which local searches begin at members only


@dataclass(frozen=True)
class Visits:
    """Where local searches began and ended, in the unit box; the oldest are forgotten."""

    starts: Array  # (REMEMBERED, d)
    ends: Array  # (REMEMBERED, d)
    count: Array

    @classmethod
    def none(cls, d: int, xp: Any) -> Visits:
        nowhere = xp.full((REMEMBERED, d), np.inf)
        return cls(nowhere, nowhere, xp.asarray(0))

    def distances(self, u: Array) -> Array:
        """Of the points u (n, d) to the nearest start or end (n,), by their largest component."""
        xp = namespace(u)
        visited = xp.concatenate([self.starts, self.ends])
        return xp.abs(u[:, None, :] - visited[None]).max(axis=2).min(axis=1)

    def is_end(self, u: Array) -> Array:
        """Whether a search ended close to u (d,)."""
        xp = namespace(u)
        return (xp.abs(self.ends - u).max(axis=1) < SAME).any()

    def add(self, start: Array, end: Array, given_up: Array) -> Visits:
        xp = namespace(start)
        here = (xp.arange(REMEMBERED) == self.count % REMEMBERED)[:, None]
        end = xp.where(given_up, np.inf, end)
        return Visits(xp.where(here, start, self.starts), xp.where(here, end, self.ends), self.count + 1)


@dataclass(frozen=True)
class Purse:
    """Who spends the evaluations; arrays (3,) by search."""

    spent: Array
    credit: Array
    trust: Array
    gained: Array  # bool: whether the search improved the best point since its trust changed

    @classmethod
    def full(cls, xp: Any) -> Purse:
        return cls(xp.zeros(3, dtype=int), xp.zeros(3), xp.ones(3), xp.zeros(3, dtype=bool))

    def turns(self, costs: Array) -> Array:
        """Whose turn it is (3,): of each that can pay for half of its next step, or else of the one nearest to it."""
        xp = namespace(self.credit)
        nearest = (self.credit / costs).argmax()
        return (self.credit >= 0.5 * costs) | (xp.arange(3) == nearest)

    def shares(self, task: Task) -> Array:
        """Of the next evaluations."""
        xp = namespace(self.credit)
        age = self.spent.sum() / (100.0 * task.dimension)
        local = 0.9 * xp.maximum(age, 1.0) ** -0.25
        rest = 1.0 - local
        base = xp.stack([local, (1.0 - ES_SHARE) * rest, ES_SHARE * rest])
        weights = base * xp.where(age > 1.0, self.trust, 1.0)
        return weights / weights.sum()

    def outlook(self, task: Task) -> Array:
        """The share of DE in what is left of the budget, about."""
        local = 0.9 * min(1.0, 100.0 * task.dimension / task.max_evaluations) ** 0.25
        return (1.0 - ES_SHARE) * (1.0 - local * self.trust[LOCAL])

    def pay(self, search: int, spent: Array, improved: Array, task: Task) -> Purse:
        """The purse after a search made so many evaluations."""
        xp = namespace(self.credit)
        mine = xp.arange(3) == search
        return replace(
            self,
            spent=self.spent + xp.where(mine, spent, 0),
            credit=self.credit + spent * (self.shares(task) - mine),
            gained=self.gained | (mine & improved),
        )

    def reckon(self, search: int, over: Array, fall: float) -> Purse:
        """The purse with the trust changed if a part of the search is over."""
        xp = namespace(self.credit)
        mine = (xp.arange(3) == search) & over
        changed = xp.where(self.gained, xp.minimum(2.0 * self.trust, 1.0), xp.maximum(fall * self.trust, LEAST_TRUST))
        return replace(self, trust=xp.where(mine, changed, self.trust), gained=self.gained & ~mine)


@dataclass(frozen=True)
class Cloud:
    """An evolution strategy around a point, in the unit box."""

    law: Mutation
    epsilon: Array
    leader: Population  # one row
    age: Array  # generations
    idle: Array  # generations without progress
    over: Array  # bool
    count: Array  # how many there were

    @classmethod
    def none(cls, point: Population, xp: Any) -> Cloud:
        law = Mutation.fresh(xp.zeros(point.x.shape[1]), 1.0)
        zero = xp.asarray(0)
        return cls(law, xp.asarray(0.0), point, zero, zero, ~xp.asarray(False), zero)


@dataclass(frozen=True)
class State:
    population: Population  # of DE, with raw violations
    generation: Array  # how many were made
    sizes: Array  # (m,), of the constraints
    complete: Array  # bool: the first population is evaluated
    de: StateOfDE  # with normalised violations, as the fields below
    search: LocalSearch
    start: Array  # (d,), where it began, in the unit box
    visits: Visits
    cloud: Cloud
    purse: Purse
    best: Population  # one row


@dataclass(frozen=True)
class PPSSQP:
    """Settings of PPS-SQP.

    Parameters
    ----------
    population_size
        NP of the differential evolution; a five-hundredth of the budget if None, but from 20 to max(5 D, 40).
    difference
        Distance between a point and the probes of its derivatives, in widths of the box.
    """

    needs_constraint_values: ClassVar[bool] = True  # of each constraint, for the local search

    population_size: int | None = None
    difference: float = 1e-7

    def __post_init__(self) -> None:
        if self.population_size is not None:
            check_count(self, 8, "population_size")
        check_range(self, 1e-12, 1e-1, "difference")

    def _de(self, task: Task) -> PPSDE:
        budget, d = task.max_evaluations, task.dimension
        by_budget = min(max(budget // GENS, 20), max(budget // 10, 8))
        return PPSDE(population_size=self.population_size or min(by_budget, max(5 * d, 40)))

    # A Initialise

    def start(self, task: Task, rng: Stream) -> Coroutine:
        de = self._de(task)
        n = de.population_size or 0
        x = first_points(task, n, rng)
        xp = namespace(x)
        known = len(task.x0) if task.x0 is not None else min(n, max(1, task.max_evaluations // 4))
        points = yield Ask(x, xp.arange(n) < known)
        sizes = constraint_sizes(points)
        population = normalised(points, sizes, task.tolerance).sorted()
        best = population.take(slice(0, 1))
        nothing, zero = xp.zeros(task.dimension), xp.asarray(0)
        return State(
            population=raw(population, task.tolerance),
            generation=zero,
            sizes=sizes,
            complete=xp.asarray(known == n),
            de=de._begin(population, population.take(slice(0, n // 2)), best, zero, zero),
            search=replace(LocalSearch.begin(best, task), over=~xp.asarray(False)),
            start=nothing,
            visits=Visits.none(task.dimension, xp),
            cloud=Cloud.none(best, xp),
            purse=Purse.full(xp).pay(DE, xp.asarray(known), xp.asarray(False), task),
            best=best,
        )

    # B Generation

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        d, n = task.dimension, state.population.size
        xp = namespace(state.population.f)
        trials, offspring = PPSDE().evaluations(n), offspring_size(d)
        numbers = Dealt(
            rng.uniform(4 + 2 * d + 1 + trials * (d + 8) + n // 2), rng.normal(offspring * d + trials)
        )
        starts = numbers.uniform(4 + 2 * d)
        of_cloud = numbers.uniform(1)[0], numbers.normal(offspring, d)
        turns = state.purse.turns(np.array([d + 1.0, trials, offspring]))
        state = yield from self._local(state, task, turns[LOCAL], starts)
        state = yield from self._evolve(state, task, turns[DE], numbers)
        state = yield from self._adapt(state, task, turns[ES], *of_cloud)
        return replace(
            state, generation=state.generation + 1, population=raw(state.de.population, task.tolerance)
        )

    def _local(self, state: State, task: Task, mine: Array, u: Array) -> Generator[Ask, Population, State]:
        """One step of a local search."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        d, width = task.dimension, widths(task)
        begins = mine & state.search.over
        search, start, asked = state.search, state.start, xp.asarray(0)
        if xp is not np or begins:
            kind, member, made, radius = self._starts(state, task, u)
            fresh = yield Ask(made[None], xp.broadcast_to(begins & (kind == NEAR), (1,)))
            asked = asked + xp.where(begins & (kind == NEAR), 1, 0)
            fresh = normalised(fresh, state.sizes, task.tolerance)
            point = choose((kind == NEAR)[None], fresh, member)
            search = when(begins, lambda: LocalSearch.begin(point, task, radius), search)
            start = xp.where(begins, (point.x[0] - task.lower) / width, start)

        step = SQP(self.difference).step(search, task, mine)
        request = next(step)
        while True:
            asked = asked + request.wanted.sum()
            points = yield request
            try:
                request = step.send(normalised(points, state.sizes, task.tolerance))
            except StopIteration as end:
                stepped = end.value
                break

        here, best_u = ((point.x[0] - task.lower) / width for point in (stepped.point, stepped.best))
        leads = improves(stepped.best, state.best)
        given_up = mine & ~stepped.over & state.visits.is_end(here) & ~leads
        stepped = replace(stepped, over=stepped.over | given_up)
        over = mine & stepped.over
        purse = state.purse.pay(LOCAL, asked, leads, task).reckon(LOCAL, over, FALL)
        return replace(
            state,
            search=when(mine, lambda: stepped, search),
            start=start,
            visits=when(over, lambda: state.visits.add(start, best_u, given_up), state.visits),
            purse=when(mine, lambda: purse, state.purse),
            best=when(mine, lambda: better_rows(state.best, stepped.best), state.best),
        )

    def _starts(self, state: State, task: Task, u: Array) -> tuple[Array, Population, Array, Array]:
        """The kind of the next start, a member (one row), a point near the best one (d,), and the first radius."""
        xp = namespace(state.best.f)
        d, width = task.dimension, widths(task)
        population = state.de.population
        distances = state.visits.distances((population.x - task.lower) / width)
        far, apart = (population.valid & (distances > least) for least in (APART, CLOSE))
        candidates = xp.where(far.any(), far, apart)
        count = candidates.sum()
        kinds = xp.asarray(["mrh".index(c) for c in PATTERN])
        young = state.purse.spent.sum() < ONLY_MEMBERS * d
        kind = xp.where(young, MEMBER, kinds[state.visits.count % len(PATTERN)])
        kind = xp.where(count == 0, NEAR, kind)
        drawn = xp.searchsorted(xp.cumsum(candidates), xp.floor(u[0] * count) + 1.0)
        row = xp.where(kind == MEMBER, candidates.argmax(), xp.minimum(drawn, population.size - 1))
        reach = 10.0 ** (1.5 * u[1] - 2.0)
        which, how = u[4 : 4 + d], u[4 + d :]
        changed = (which < 0.5 * u[2] ** 2) | (xp.arange(d) == xp.floor(u[3] * d))
        near = state.best.x[0] + width * reach * (2.0 * how - 1.0) * changed
        radius = xp.where(kind == NEAR, xp.maximum(reach, 0.05), FIRST_RADIUS)
        return kind, population.take(row[None]), xp.clip(near, task.lower, task.upper), radius

    def _evolve(self, state: State, task: Task, mine: Array, rng: Stream) -> Generator[Ask, Population, State]:
        """One generation of differential evolution, or the rest of the first population."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        base, de, sizes, n = self._de(task), state.de, state.sizes, state.population.size

        completes = mine & ~state.complete
        asked = xp.asarray(0)
        if xp is not np or completes:
            missing = completes & ~de.population.valid
            points = yield Ask(de.population.x, missing)
            asked = missing.sum()
            whole = choose(missing, points, de.population)
            sizes = xp.where(completes, constraint_sizes(whole), sizes)
            whole = normalised(whole, sizes, task.tolerance).sorted()
            first = whole.take(slice(0, 1))
            begun = replace(de, population=whole, seen=whole.take(slice(0, n // 2)), nearest=first)
            de = when(completes, lambda: begun, de)

        goes = mine & state.complete
        if os.environ.get("DYNAMIC") and (xp is not np or goes):
            fresh_sizes = constraint_sizes(de.population)
            sizes = xp.where(goes, fresh_sizes, sizes)
            rescaled = replace(de, population=normalised(de.population, sizes, task.tolerance).sorted(), seen=normalised(de.seen, sizes, task.tolerance), nearest=normalised(de.nearest, sizes, task.tolerance))
            de = when(goes, lambda: rescaled, de)
        if xp is not np or goes:
            left = (task.max_evaluations - state.purse.spent.sum()) * state.purse.outlook(task)
            coroutine = base.planned(de, task, rng, xp.floor(de.generation + left / base.evaluations(n)))
            request = next(coroutine)
            while True:
                asked = asked + xp.where(goes, request.shape[0], 0)
                points = yield Ask(request, xp.broadcast_to(goes, request.shape[:1]))
                try:
                    request = coroutine.send(normalised(points, sizes, task.tolerance))
                except StopIteration as end:
                    evolved = end.value
                    break
            cycle_over = goes & (evolved.cycle.number > de.cycle.number)
            de = when(goes, lambda: evolved, de)
        else:
            cycle_over = goes

        old = normalised(state.best, sizes, task.tolerance)
        leader = de.population.take(slice(0, 1))
        purse = state.purse.pay(DE, asked, improves(leader, old), task).reckon(DE, cycle_over, FALL_DE)
        search = when(completes, lambda: renormalised(state.search, sizes, task), state.search)
        return replace(
            state,
            de=de,
            sizes=sizes,
            complete=state.complete | completes,
            search=search,
            purse=when(mine, lambda: purse, state.purse),
            best=when(mine, lambda: better_rows(old, leader), old),
        )

    def _adapt(self, state: State, task: Task, mine: Array, u: Array, z: Array) -> Generator[Ask, Population, State]:
        """One generation of the evolution strategy."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        width, (offspring, d) = widths(task), z.shape
        cloud, population = state.cloud, state.de.population
        begins = mine & cloud.over
        from_best = cloud.count % 2 == 0
        row = xp.floor(u * 0.5 * population.size).astype(int)
        point = when(from_best, lambda: state.best, population.take(row[None]))
        usable = point.valid[0]
        point = when(usable, lambda: point, state.best)
        begun = Cloud(
            Mutation.fresh((point.x[0] - task.lower) / width, 1.0),
            xp.asarray(np.inf),
            point,
            xp.asarray(0),
            xp.asarray(0),
            xp.asarray(False),
            cloud.count + 1,
        )
        begun = replace(begun, law=replace(begun.law, sigma=xp.where(from_best, 0.05, 0.2)))
        cloud = when(begins, lambda: begun, cloud)

        law = cloud.law
        directions = law.directions(z)
        drawn = law.points(directions)
        x = task.lower + width * fold(drawn, xp.zeros(d), xp.ones(d))
        points = yield Ask(xp.clip(x, task.lower, task.upper), xp.broadcast_to(mine, (offspring,)))
        points = normalised(points, state.sizes, task.tolerance)
        inside = (points.x - task.lower) / width
        moved = ((drawn < 0.0) | (drawn > 1.0)).any(axis=1)
        z, directions = law.traced_back(inside, moved, z, directions)
        middle = xp.sort(points.violation)[offspring // 2]
        epsilon = xp.where(cloud.age == 0, xp.where(middle < np.inf, middle, 0.0), 0.9 * cloud.epsilon)
        epsilon = xp.where(epsilon < 1e-9, 0.0, epsilon)
        rank = ranking(Epsilon(epsilon), points)
        by = recombination(offspring // 2, d)
        learnt = law.learn(z[rank], directions[rank], points.valid[rank], by, 0.5)
        leader = better_rows(cloud.leader, points.take(points.best()[None]))
        progress = improves(leader, cloud.leader) | (epsilon > 0.0)
        idle = xp.where(progress, 0, cloud.idle + 1)
        size = learnt.sigma * xp.abs(learnt.M).max()
        over = (size < 1e-9) | (idle > 10 + 30 * d // offspring) | ~xp.isfinite(size)
        grown = Cloud(learnt, epsilon, leader, cloud.age + 1, idle, over, cloud.count)
        cloud = when(mine, lambda: grown, cloud)
        leads = improves(leader, state.best)
        purse = state.purse.pay(ES, xp.asarray(offspring), leads, task).reckon(ES, mine & over, FALL)
        return replace(
            state,
            cloud=cloud,
            purse=when(mine, lambda: purse, state.purse),
            best=when(mine, lambda: better_rows(state.best, leader), state.best),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "stage": state.de.stage.pull,  # 0 push, 1 pull
            "cycle": state.de.cycle.number,
            "epsilon": state.de.stage.epsilon,
            "searches": state.visits.count,
            "local": state.purse.spent[LOCAL],
            "global": state.purse.spent[DE],
            "strategy": state.purse.spent[ES],
        }


def widths(task: Task) -> Array:
    """Of the box (d,); 1 where it has none."""
    xp = namespace(task.lower)
    return xp.where(task.upper > task.lower, task.upper - task.lower, 1.0)


def offspring_size(d: int) -> int:
    """lambda of the evolution strategy in d variables."""
    return 4 + int(3 * np.log(d + 1)) if d > 1 else 6


def improves(point: Population, best: Population) -> Array:
    """Whether a point, one row, is better than another one by enough to count."""
    xp = namespace(point.f)
    violation, f = point.violation[0], point.f[0]
    closer = violation < best.violation[0] * (1.0 - SIGNIFICANT)
    size = xp.where(best.f[0] < np.inf, xp.abs(best.f[0]), 0.0)
    return closer | ((violation <= best.violation[0]) & (f < best.f[0] - SIGNIFICANT * size))


def renormalised(search: LocalSearch, sizes: Array, task: Task) -> LocalSearch:
    """The search with the violations of its points divided by other sizes."""
    point, best, tried = (normalised(p, sizes, task.tolerance) for p in (search.point, search.best, search.tried))
    return replace(search, point=point, best=best, tried=tried)
