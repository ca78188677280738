"""PPS-SQP: push and pull search, matrix adaptation and sequential quadratic programming under one budget.

The default method; after no publication. Three searches share starting points and the best point known, but no
populations: what a local search finds, put into the population of differential evolution, would pull it together, so
that it neither explores nor refines.

  A  Ask for the points of x0; without x0, for the first max(2 D, 16) points of a population of NP, but at most for a
     tenth of the budget.
  B  Repeat until the budget is spent, or the search has converged:
     1  Whose turn it is: that of each search whose credit pays for half of its next step, or else of the nearest to it.
     2  LOCAL, one step of SQP (`parts/sqp.py`). If no local search is under way, one begins, in turn
        MEMBER  at the best member of DE's population that is far from all earlier starts and ends
        NEW     at any point of the box
        NEAR    at the best point known, or near it if a local search has ended there
        PUSH    at any point of the box, ignoring the constraints; where it ends outside of them, it begins again
        A kind of start that has improved the best point is used again. A best point that is due to DE or ES comes
        before all turns. New points and every second member are begun at with care: a small trust region and a large
        penalty lead to what is feasible nearby, which others leap over. During the first 100 D evaluations searches
        begin at members only, boldly. One that comes to an earlier end, or has made 100 + 10 D steps, is given up.
        Those near the best point use the differences of the last search, the others measure noise.
     3  DE, one generation of PPS-DE (`pps_de.py`), planned by the share of the budget that it may expect. Violations
        are normalised by the median size of each constraint in its population when the pull began. Every third cycle
        has no push: the first of them if half of the first population is feasible, so that no infeasible region needs
        to be crossed, else the third. Its first turn completes the first population instead.
     4  ES, one generation of a matrix adaptation evolution strategy (`parts/matrix_adaptation.py`). They begin, in
        turn, at a member of the better half, ignoring the constraints; where that one ended, at the best point known,
        and at a member, with an epsilon that falls by a tenth per generation.
     5  Each evaluation is taken from the credit of the search that made it, and credited to all by their shares. The
        first 100 D belong to LOCAL. After t > 100 D evaluations it has the share 0.9 (100 D / t)^(1/4), ES a tenth of
        the rest, DE the others, all weighted by trust: it doubles, up to 1, when a local search, a cycle of DE or an
        evolution strategy has improved the best point; else it falls by 15 %, for DE by 40 %, down to a quarter.
     6  Converged: local searches from starts of their own have ended at the best point thirty times, or twelve times
        more often than elsewhere.

Nothing but the plan of DE and NP depends on the budget.
Checked against: the elastic program and the local search against hand-computed solutions, SLSQP and trust-constr
(tests/parts/test_quadratic.py, tests/parts/test_sqp.py); DE is PPS-DE's own file; the whole against known optima.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace, when
from ..checks import check_count, check_range
from ..parts.handling import RuleOrName, check_rule, first_handling
from ..parts.matrix_adaptation import Mutation, recombination
from ..parts.repairs import fold
from ..parts.rules import Epsilon, ranking
from ..parts.sizing import first_points, inside
from ..parts.sqp import DIFFERENCE, FIRST_PENALTY, FIRST_RADIUS, LocalSearch, step, widths
from ..parts.starts import Agreement, Visits, after_step, improves, near
from ..population import Population, better_rows, choose, constraint_sizes, normalised, raw
from ..streams import Dealt, Stream
from .pps_de import PPSDE
from .pps_de import State as StateOfDE

LOCAL, DE, ES = range(3)  # the searches
ES_SHARE = 0.1  # of what LOCAL leaves
BOLD, LEAST_TRUST = 2.0, 0.25  # factor of trust after a success; its smallest value
DOUBT = 0.85, 0.6, 0.85  # factors of trust after a failure
EARLY = 100  # evaluations per variable that belong to LOCAL
GENERATIONS = 500  # NP is the budget divided by this, within limits
MEMBER, NEAR, NEW, PUSH = range(4)  # kinds of starts
KINDS = (MEMBER, NEAR, NEW, PUSH, MEMBER, NEAR, NEW, NEAR)  # in turn
WITH_CARE = (False, False, True, False, True, False, True, False)  # those that begin with the next two
SMALL_RADIUS, LARGE_PENALTY = 0.1, 100.0
NARROW = 0.05  # least radius of a local search that begins near the best point
PUSHED, AT_END, AT_BEST, AT_MEMBER = range(4)  # kinds of starts of ES, in turn
STEP_FROM_BEST, STEP_FROM_MEMBER, LARGEST_STEP, LEAST_STEP = 0.05, 0.2, 0.5, 1e-9  # sigma of ES, in widths of the box
WIDE = 0.5  # feasible share of the first population that needs no push
CLOSING = 0.9  # factor of ES's epsilon per generation


@dataclass(frozen=True)
class Purse:
    """Who spends the evaluations; arrays (3,), by search."""

    spent: Array
    credit: Array
    trust: Array
    gained: Array  # bool: whether the search has improved the best point since its trust changed

    @classmethod
    def full(cls, xp: Any = np) -> Purse:
        return cls(xp.zeros(3, dtype=int), xp.zeros(3), xp.ones(3), xp.zeros(3, dtype=bool))

    def shares(self, task: Task) -> Array:
        """The shares of the next evaluations."""
        xp = namespace(self.credit)
        age = self.spent.sum() / (EARLY * task.dimension)
        alone = xp.where(xp.arange(3) == LOCAL, 1.0, 0.0)
        return xp.where(age > 1.0, self._weighted(xp.maximum(age, 1.0)), alone)

    def prospect(self, task: Task) -> Array:
        """The share of DE in what is left of the budget, about: that at its end."""
        xp = namespace(self.credit)
        return self._weighted(xp.asarray(max(1.0, task.max_evaluations / (EARLY * task.dimension))))[DE]

    def _weighted(self, age: Array) -> Array:
        """The shares at an age of at least 1, weighted by trust."""
        local = 0.9 * age**-0.25
        rest = 1.0 - local
        weights = namespace(age).stack([local, (1.0 - ES_SHARE) * rest, ES_SHARE * rest]) * self.trust
        return weights / weights.sum()

    def turns(self, costs: np.ndarray) -> Array:
        """Whose turn it is (3,): that of each which can pay half of its next step, or of the one nearest to that."""
        xp = namespace(self.credit)
        nearest = (self.credit / costs).argmax()
        return (self.credit >= 0.5 * costs) | (xp.arange(3) == nearest)

    def pay(self, search: int, evaluations: Array, improved: Array, task: Task) -> Purse:
        """The purse after a search has made so many evaluations."""
        xp = namespace(self.credit)
        mine = xp.arange(3) == search
        return replace(
            self,
            spent=self.spent + xp.where(mine, evaluations, 0),
            credit=self.credit + evaluations * (self.shares(task) - mine),
            gained=self.gained | (mine & improved),
        )

    def reckon(self, search: int, over: Array) -> Purse:
        """The purse with the trust in a search changed, if a part of that is `over`."""
        xp = namespace(self.credit)
        mine = (xp.arange(3) == search) & over
        up, down = xp.minimum(BOLD * self.trust, 1.0), xp.maximum(xp.asarray(DOUBT) * self.trust, LEAST_TRUST)
        changed = xp.where(self.gained, up, down)
        return replace(self, trust=xp.where(mine, changed, self.trust), gained=self.gained & ~mine)


@dataclass(frozen=True)
class Cloud:
    """The evolution strategy between two generations; its law is in coordinates in which the box has width 1."""

    law: Mutation
    epsilon: Array
    pushing: Array  # bool: constraints are ignored
    leader: Population  # one row, its best point
    age: Array  # generations
    idle: Array  # generations without progress
    over: Array  # bool
    count: Array  # how many have begun

    @classmethod
    def none(cls, point: Population, xp: Any = np) -> Cloud:
        """The state before the first one."""
        law, no, zero = Mutation.fresh(xp.zeros(point.x.shape[1]), 1.0), xp.asarray(False), xp.asarray(0)
        return cls(law, xp.asarray(0.0), no, point, zero, zero, ~no, zero)

    def begin(self, point: Population, sigma: Array, pushing: Array, task: Task) -> Cloud:
        """The next one, around a point, one row."""
        xp = namespace(sigma)
        mean, zero = (point.x[0] - task.lower) / widths(task), xp.asarray(0)
        law = replace(Mutation.fresh(mean, 1.0), sigma=sigma)
        return Cloud(law, xp.asarray(np.inf), pushing, point, zero, zero, xp.asarray(False), self.count + 1)

    def seen(self, points: Population) -> Population:
        """The points as this search sees them."""
        xp = namespace(points.f)
        return replace(points, violation=xp.where(self.pushing & points.valid, 0.0, points.violation))


@dataclass(frozen=True)
class State:
    population: Population  # of DE, with raw violations
    generation: Array  # how many were made
    complete: Array  # bool: the first population is evaluated
    sizes: Array  # (m,), of the constraints; violations below are normalised by them
    de: StateOfDE
    search: LocalSearch
    start: Array  # (d,), where the local search began
    turn: Array  # counts local searches that did not improve the best point; the kinds of starts take turns by it
    alone: Array  # bool: it began at a member or at a new point, not near the best one
    visits: Visits
    agreement: Agreement
    cloud: Cloud
    purse: Purse
    best: Population  # one row, the best point known


@dataclass(frozen=True)
class PPSSQP:
    """Settings of PPS-SQP.

    Parameters
    ----------
    population_size
        NP of the differential evolution; a five-hundredth of the budget if None, but from 20 to max(5 D, 40).
    difference
        Distance between a point and the probes of its derivatives, in widths of the box; larger where a search
        finds noise; down to a tenth of it as moves become short.
    rule
        Constraint-handling technique of DE in place of push and pull, a name or your own (see docs/rules.md); None: no
        other.
    """

    needs_constraint_values: ClassVar[bool] = True  # of each constraint, for the local search

    population_size: int | None = None
    difference: float = DIFFERENCE
    rule: RuleOrName | None = None

    def __post_init__(self) -> None:
        if self.population_size is not None:
            check_count(self, 8, "population_size")
        check_range(self, 1e-12, 1e-1, "difference")
        if self.rule is not None:
            check_rule(self)

    def least_evaluations(self, dimension: int) -> int:
        """The smallest budget that the method can use: for a first point, its derivatives and a move."""
        return 2 * (dimension + 1)

    def _de(self, task: Task) -> PPSDE:
        by_budget = min(max(task.max_evaluations // GENERATIONS, 20), max(task.max_evaluations // 10, 8))
        size = self.population_size or min(by_budget, max(5 * task.dimension, 40))
        return PPSDE(population_size=size, rule=self.rule)

    # A Initialise

    def start(self, task: Task, rng: Stream) -> Coroutine:
        de = self._de(task)
        n = max(de.population_size or 0, 0 if task.x0 is None else len(task.x0))
        x = first_points(task, n, rng)
        xp = namespace(x)
        few = max(1, min(max(2 * task.dimension, 16), task.max_evaluations // 10 + 1))
        asked = min(n, few) if task.x0 is None else len(task.x0)
        points = yield Ask(x, xp.arange(n) < asked)
        sizes = constraint_sizes(points)
        population = normalised(points, sizes, task.tolerance).sorted()
        best = population.take(slice(0, 1))
        no, zero = xp.asarray(False), xp.asarray(0)
        handling = None if self.rule is None else first_handling(self.rule, population, task)
        return State(
            population=raw(population, task.tolerance),
            generation=zero,
            complete=xp.asarray(asked == n),
            sizes=sizes,
            de=de.begin(population, population.take(slice(0, n // 2)), best, zero, first_cycle(population), handling),
            search=replace(LocalSearch.begin(best, task, difference=self.difference), over=~no),
            start=best.x[0],
            turn=zero,
            alone=no,
            visits=Visits.none(task.dimension, xp),
            agreement=Agreement.none(xp),
            cloud=Cloud.none(best, xp),
            purse=Purse.full(xp).pay(DE, xp.asarray(asked), no, task),
            best=best,
        )

    # B Generation

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        d, de, members, offspring = task.dimension, self._de(task), state.population.size, offspring_size(task)
        trials = de.evaluations(members)
        # All numbers are drawn at once, whoever's turn it is, so that no draw depends on values.
        more = None if self.rule is None else rng  # a rule may draw too
        numbers = Dealt(rng.uniform(4 + 2 * d + de.numbers(members, d)), rng.normal(offspring * d + trials), more)
        of_starts, of_cloud, z = numbers.uniform(3 + 2 * d), numbers.uniform(1)[0], numbers.normal(offspring, d)

        turns = state.purse.turns(np.array([d + 1.0, trials, offspring]))  # 1
        state = yield from self._local(state, task, turns[LOCAL], of_starts)
        state = yield from self._evolve(state, task, turns[DE], numbers)
        state = yield from self._adapt(state, task, turns[ES], of_cloud, z)
        population = raw(state.de.population, task.tolerance)
        return replace(state, generation=state.generation + 1, population=population)

    # 2 LOCAL

    def _local(self, state: State, task: Task, mine: Array, u: Array) -> Generator[Ask, Population, State]:
        """One step of a local search."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        begins = mine & state.search.over
        search, start, alone, asked = state.search, state.start, state.alone, xp.asarray(0)
        if xp is not np or begins:
            kind, member, made, radius, penalty = self._next_start(state, task, u)
            is_made = kind != MEMBER
            points = yield Ask(made[None], (begins & is_made)[None])
            asked = asked + (begins & is_made)
            point = choose(is_made[None], normalised(points, state.sizes, task.tolerance), member)
            far = kind != NEAR
            difference = xp.where(far, self.difference, search.difference)
            search = when(
                begins,
                lambda: LocalSearch.begin(point, task, radius, kind == PUSH, penalty, difference, far),
                search,
            )
            start, alone = xp.where(begins, point.x[0], start), xp.where(begins, far, alone)

        steps = step(search, task, mine)
        request = next(steps)
        while True:
            asked = asked + request.wanted.sum()
            points = yield request
            try:
                request = steps.send(normalised(points, state.sizes, task.tolerance))
            except StopIteration as end:
                stepped = end.value
                break
        search = when(mine, lambda: pulled(stepped, task), search)

        search, visits, agreement, _ = after_step(search, start, alone, state.visits, state.agreement, state.best, task)
        leads = improves(search.best, state.best)
        purse = state.purse.pay(LOCAL, asked, leads, task)
        return when(
            mine,
            lambda: replace(
                state,
                search=search,
                start=start,
                turn=state.turn + (search.over & ~purse.gained[LOCAL]),
                alone=alone,
                visits=visits,
                agreement=agreement,
                purse=purse.reckon(LOCAL, search.over),
                best=better_rows(state.best, search.best),
            ),
            state,
        )

    def _next_start(self, state: State, task: Task, u: Array) -> tuple[Array, Population, Array, Array, Array]:
        """The kind of the next start, the member (one row) or the made point (d,), the first radius and penalty."""
        xp = namespace(state.best.f)
        population = state.de.population
        unvisited = state.visits.unvisited(population, task)
        early = state.purse.spent.sum() < EARLY * task.dimension
        turn = state.turn % len(KINDS)
        kind = xp.where(early, MEMBER, xp.asarray(KINDS)[turn])
        kind = xp.where(unvisited.any() | (kind != MEMBER), kind, xp.where(early, NEW, NEAR))
        finished, begun = state.visits.is_end(state.best, task), state.visits.is_start(state.best, task)
        kind = xp.where(finished | begun | early, kind, NEAR)
        close, reach = near(state.best.x[0], u, task)
        close, reach = xp.where(finished, close, state.best.x[0]), xp.where(finished, reach, 0.0)
        careful = xp.asarray(WITH_CARE)[turn] & (kind != NEAR) & ~early
        radius = xp.where(kind == NEAR, xp.maximum(reach, NARROW), xp.where(careful, SMALL_RADIUS, FIRST_RADIUS))
        penalty = xp.where(careful, LARGE_PENALTY, FIRST_PENALTY)
        made = xp.where(kind == NEAR, close, inside(task, u[3 + task.dimension :]))
        return kind, population.take(unvisited.argmax()[None]), made, radius, penalty

    # 3 DE

    def _evolve(self, state: State, task: Task, mine: Array, rng: Stream) -> Generator[Ask, Population, State]:
        """One generation of differential evolution, or the rest of the first population."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        base, de, n = self._de(task), state.de, state.population.size

        completes = mine & ~state.complete
        goes = mine & state.complete
        asked, population, cycle_over = xp.asarray(0), de.population, goes & False
        if xp is not np or completes:
            missing = completes & ~population.valid
            points = yield Ask(population.x, missing)
            asked, population = missing.sum(), choose(missing, points, population)
        # In the pull, violations of different generations are compared with each other, so their sizes stay.
        sizes = xp.where(de.stage.pull & state.complete, state.sizes, constraint_sizes(population))

        def rescaled(points: Population) -> Population:
            return normalised(points, sizes, task.tolerance)

        population = rescaled(population).sorted()
        first = population.take(slice(0, 1))
        cycle = replace(de.cycle, number=first_cycle(population))
        begun = replace(de, population=population, seen=population.take(slice(0, n // 2)), nearest=first, cycle=cycle)
        if self.rule is not None:
            begun = replace(begun, handling=first_handling(self.rule, population, task))
        going = replace(de, population=population, seen=rescaled(de.seen), nearest=rescaled(de.nearest))
        de = when(completes, lambda: begun, going)
        without_push = ~de.stage.pull & (de.cycle.number % 3 == 0)
        pull = de.stage.begin_pull(de.cycle.age, population)
        de = replace(de, stage=when(without_push, lambda: pull, de.stage))

        if xp is not np or goes:
            left = (task.max_evaluations - state.purse.spent.sum()) * state.purse.prospect(task)
            coroutine = base.planned(de, task, rng, xp.floor(de.generation + left / base.evaluations(n)))
            request = next(coroutine)
            while True:
                asked = asked + xp.where(goes, request.shape[0], 0)
                points = yield Ask(request, xp.broadcast_to(goes, request.shape[:1]))
                try:
                    request = coroutine.send(rescaled(points))
                except StopIteration as end:
                    evolved = end.value
                    break
            cycle_over = goes & (evolved.cycle.number > de.cycle.number)
            de = when(goes, lambda: evolved, de)

        search, cloud = state.search, state.cloud
        search = replace(search, point=rescaled(search.point), best=rescaled(search.best), tried=rescaled(search.tried))
        old, leader = rescaled(state.best), de.population.take(slice(0, 1))
        leads = improves(leader, old)
        return when(
            mine,
            lambda: replace(
                state,
                complete=state.complete | completes,
                sizes=sizes,
                de=de,
                search=search,
                agreement=state.agreement.renewed(old, better_rows(old, leader), task),
                cloud=replace(cloud, leader=rescaled(cloud.leader)),
                purse=state.purse.pay(DE, asked, leads, task).reckon(DE, cycle_over),
                best=better_rows(old, leader),
            ),
            state,
        )

    # 4 ES

    def _adapt(self, state: State, task: Task, mine: Array, u: Array, z: Array) -> Generator[Ask, Population, State]:
        """One generation of the evolution strategy."""
        xp = namespace(state.best.f)
        if xp is np and not mine:
            return state
        (offspring, d), members = z.shape, state.de.population
        kind = state.cloud.count % 4
        of_members = (kind == PUSHED) | (kind == AT_MEMBER)
        member = members.take(xp.floor(u * 0.5 * members.size).astype(int)[None])
        known = when(kind == AT_END, lambda: state.cloud.leader, state.best)
        point = when(of_members & member.valid[0], lambda: member, known)
        sigma = xp.where(of_members, STEP_FROM_MEMBER, STEP_FROM_BEST)
        cloud = when(state.cloud.over, lambda: state.cloud.begin(point, sigma, kind == PUSHED, task), state.cloud)

        law = cloud.law
        directions = law.directions(z)
        drawn = law.points(directions)
        x = task.lower + widths(task) * fold(drawn, xp.zeros(d), xp.ones(d))
        points = yield Ask(xp.clip(x, task.lower, task.upper), xp.broadcast_to(mine, (offspring,)))
        points = normalised(points, state.sizes, task.tolerance)
        moved = ((drawn < 0.0) | (drawn > 1.0)).any(axis=1)
        z, directions = law.traced_back((points.x - task.lower) / widths(task), moved, z, directions)

        seen = cloud.seen(points)
        middle = xp.sort(seen.violation)[offspring // 2]
        first_epsilon = xp.where(middle < np.inf, middle, 0.0)
        epsilon = xp.where(cloud.age == 0, first_epsilon, CLOSING * cloud.epsilon)
        epsilon = xp.where(epsilon < 1e-9, 0.0, epsilon)
        rank = ranking(Epsilon(epsilon), seen)
        by = recombination(offspring // 2, d)
        law = law.learn(z[rank], directions[rank], points.valid[rank], by, LARGEST_STEP)
        before = cloud.seen(cloud.leader)
        leader = better_rows(before, seen.take(seen.best()[None]))
        idle = xp.where(improves(leader, before) | (epsilon > 0.0), 0, cloud.idle + 1)
        size = law.sigma * xp.abs(law.M).max()
        over = ~(size >= LEAST_STEP) | (idle > 10 + 30 * d // offspring)
        leader = normalised(leader, state.sizes, task.tolerance)
        best = better_rows(state.best, points.take(points.best()[None]))
        leads = improves(best, state.best)
        return when(
            mine,
            lambda: replace(
                state,
                agreement=state.agreement.renewed(state.best, best, task),
                cloud=Cloud(law, epsilon, cloud.pushing, leader, cloud.age + 1, idle, over, cloud.count),
                purse=state.purse.pay(ES, xp.asarray(offspring), leads, task).reckon(ES, over),
                best=best,
            ),
            state,
        )

    def converged(self, state: State) -> Array:
        return state.agreement.enough

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "stage": state.de.stage.pull,  # 0 push, 1 pull
            "epsilon": state.de.stage.epsilon,
            "searches": state.visits.count,
            "agreeing": state.agreement.same,
            "disagreeing": state.agreement.other,
            "local": state.purse.spent[LOCAL],
            "evolved": state.purse.spent[DE],
            "adapted": state.purse.spent[ES],
        }


def first_cycle(population: Population) -> Array:
    """The number of the first cycle: of one without a push (a multiple of 3), or of the two before the next of these.

    Both are even, because PPS-DE does more in odd cycles.
    """
    return namespace(population.f).where(population.feasible.mean() >= WIDE, 0, 4)


def pulled(search: LocalSearch, task: Task) -> LocalSearch:
    """The search itself; one that ignored the constraints and ended outside of them begins again there, with them."""
    pull = search.over & search.pushing & ~search.point.feasible[0]

    def again() -> LocalSearch:
        return LocalSearch.begin(search.point, task, difference=search.difference, measuring=False)

    return when(pull, lambda: replace(again(), best=search.best), search)


def offspring_size(task: Task) -> int:
    """lambda of the evolution strategy."""
    return 4 + int(3 * np.log(task.dimension + 1))
