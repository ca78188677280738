"""SQP from many starts: local searches, one after another, for smooth problems.

The local search is that of `parts/sqp.py`, with its source there; the multistart is after no publication. The first
points are x0, or 2 D uniform ones, but at most a quarter of the budget. Searches begin at their members, best first,
then at uniform points of the box, each time the best of D. One that comes to an earlier end is given up. Ends take the
places of the worst members.

Checked against: SLSQP and trust-constr on the solutions (tests/parts/test_sqp.py), and known optima.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace, when
from ..checks import check_count, check_range
from ..parts.sizing import first_points, inside
from ..parts.sqp import DIFFERENCE, LocalSearch, step
from ..parts.starts import Agreement, Visits, after_step
from ..population import Population, better_rows, choose, join
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # first points and ends, best first
    generation: Array  # how many steps were made
    search: LocalSearch
    start: Array  # (d,), where it began
    visits: Visits
    agreement: Agreement
    best: Population  # one row


@dataclass(frozen=True)
class MultistartSQP:
    """Settings of SQP from many starts.

    Parameters
    ----------
    population_size
        The number of first points; 2 D if None, but at most a quarter of the budget.
    difference
        Distance between a point and the probes of its derivatives, in widths of the box; larger where a search
        finds noise; down to a tenth of it as moves become short.
    """

    needs_constraint_values: ClassVar[bool] = True

    population_size: int | None = None
    difference: float = DIFFERENCE

    def __post_init__(self) -> None:
        if self.population_size is not None:
            check_count(self, 1, "population_size")
        check_range(self, 1e-12, 1e-1, "difference")

    def least_evaluations(self, dimension: int) -> int:
        """The smallest budget that the method can use: for first points, derivatives at one of them and a move."""
        return 2 * (dimension + 1)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size or max(2, min(2 * task.dimension, task.max_evaluations // 4))
        n = n if task.x0 is None else max(n, len(task.x0))
        x = first_points(task, n, rng)
        xp = namespace(x)
        asked = n if task.x0 is None else len(task.x0)
        population = (yield Ask(x, xp.arange(n) < asked)).sorted()
        best = population.take(slice(0, 1))
        return State(
            population=population,
            generation=xp.asarray(0),
            search=replace(LocalSearch.begin(best, task, difference=self.difference), over=~xp.asarray(False)),
            start=best.x[0],
            visits=Visits.none(task.dimension, xp),
            agreement=Agreement.none(xp),
            best=best,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, d = state.population, task.dimension
        xp = namespace(population.f)
        fresh_x = inside(task, rng.uniform(d, d))

        # A new search begins at a member, or at the best of D new points if all have been visited.
        begins = state.search.over
        unvisited = state.visits.unvisited(population, task)
        random = begins & ~unvisited.any()
        fresh = yield Ask(fresh_x, xp.broadcast_to(random, (d,)))
        point = when(random, lambda: fresh.take(fresh.best()[None]), population.take(unvisited.argmax()[None]))
        search = when(begins, lambda: LocalSearch.begin(point, task, difference=self.difference), state.search)
        start = xp.where(begins, point.x[0], state.start)

        search = yield from step(search, task, ~search.over)
        search, visits, agreement, given_up = after_step(
            search, start, xp.asarray(True), state.visits, state.agreement, state.best, task
        )
        last = xp.arange(population.size) == population.size - 1
        ends = join(population.take(slice(0, population.size - 1)), search.best)
        return State(
            population=choose(last & search.over & ~given_up, ends, population).sorted(),
            generation=state.generation + 1,
            search=search,
            start=start,
            visits=visits,
            agreement=agreement,
            best=better_rows(state.best, search.best),
        )

    def converged(self, state: State) -> Array:
        return state.agreement.enough

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "searches": state.visits.count,
            "agreeing": state.agreement.same,
            "disagreeing": state.agreement.other,
            "radius": state.search.radius,
        }
