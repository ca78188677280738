"""Several runs of one method on one budget, whose points are evaluated one by one and answered in any order.

A run can go on only when all points of its request have values. So that nobody waits for the slowest of them, two
kinds of points are given out beyond those. If a run waits for a single point, as a local search for its next iterate,
these are the points that it will want if that one is a success. Else further runs begin, with random numbers of their
own. Those that began first are served first. All share the budget and the best point; each plans for what the others
leave.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..algorithm import Algorithm, State, Task
from ..evaluation.evaluate import GIVE_UP
from ..population import Population, evaluated, join
from ..problem import FGH
from .ending import CONVERGED, FAILED, INFEASIBLE, RUNNING, SPENT, TARGET, Ending
from .run import Run, Snapshot, better_point

OVERTAKEN = 10  # a run goes on without a point after so many later answers for each point that is out
GUEST = 20  # evaluations per variable of a run that began with the user's points, before another such run replaces it
MOST_INJECTED = 8  # points of the user's with which one run begins: every method's first population has room for them
SAME = 1e-6  # relative difference of two objectives that local searches may leave
LATE, ALONE, EARLY = -1, -2, -3  # in place of a row: its run went on without it; no run wants it; a run may want it
NOBODY = -1  # in place of a run

Row = tuple[float, np.ndarray, np.ndarray]  # f, g (p,), h (q,)
NO_VALUES: Row = (np.nan, np.empty(0), np.empty(0))


@dataclass(frozen=True)
class StrandSnapshot:
    """A strand as plain data, without its run."""

    given: np.ndarray  # (n,) bool: the point is out, or was
    known: np.ndarray  # (n,) bool: it has an answer
    f: np.ndarray  # (n,)
    g: np.ndarray  # (n, p)
    h: np.ndarray  # (n, q)
    waited: int  # later answers to other points
    looked_ahead: bool
    ahead: np.ndarray  # (a, d), points that may be wanted next and are not given out yet
    early_x: np.ndarray  # (e, d), points that may be wanted next and have an answer
    early_f: np.ndarray  # (e,)
    early_g: np.ndarray  # (e, p)
    early_h: np.ndarray  # (e, q)


@dataclass(frozen=True)
class SearchesSnapshot:
    """All runs as plain data; checkpoints store the fields by name."""

    runs: tuple[Snapshot, ...]  # in the order in which they are served
    strands: tuple[StrandSnapshot, ...]  # of these runs
    budget: int
    begun: int  # runs that ever were
    asked: int  # points that ever were given out
    requests: int  # points given out and answers so far
    evaluations: int
    failed: int
    best: Population | None
    numbers: np.ndarray  # (k,), of the points that are out
    places: np.ndarray  # (k, 2): the run, or NOBODY, and the row, or LATE, ALONE, EARLY
    x: np.ndarray  # (k, d), of these points
    number: int  # of the first run
    injected: Population | None  # the user's points, with which the next run begins
    due: bool  # they are better than all before, so that one begins soon
    guest: int  # the run that began with such points, or NOBODY
    looked: bool  # points were shown or given out
    converged: bool
    columns: tuple[str, ...]  # of the history
    rows: np.ndarray | None  # (generations, columns), the history, if it is not that of a single run


@dataclass(eq=False)
class Strand:
    """A run, the answers to its current request, and points that it may want next."""

    run: Run
    given: np.ndarray = field(init=False)
    answers: dict[int, Row] = field(init=False)  # by row
    waited: int = 0
    looked_ahead: bool = False
    ahead: list[np.ndarray] = field(default_factory=list)  # points that may be wanted next and are not given out yet
    early: dict[bytes, tuple[np.ndarray, Row]] = field(default_factory=dict)  # such points that have an answer

    def __post_init__(self) -> None:
        self.next_request()

    def next_request(self) -> None:
        """Forget the answers: the run wants other points, or none."""
        self.given = np.zeros(0 if self.run.wanted is None else len(self.run.wanted), bool)
        self.answers, self.waited = {}, 0
        self.looked_ahead, self.ahead = False, []

    def look_ahead(self, best: Population | None) -> None:
        """Find the points that the run will want if the single one that it waits for is a success."""
        self.looked_ahead = True
        if len(self.given) != 1 or best is None:
            return
        run = Run.restored(replace(self.run.snapshot(), target=None))
        run.supply(best.f - (1.0 + np.abs(best.f)), np.minimum(best.g, 0.0), np.zeros_like(best.h))
        self.ahead = [] if run.wanted is None else list(run.wanted)

    def snapshot(self, counts: tuple[int, int]) -> StrandSnapshot:
        """Return the answers as plain data."""
        known = np.zeros(len(self.given), bool)
        known[list(self.answers)] = True
        d, early = self.run.task.dimension, list(self.early.values())
        return StrandSnapshot(
            self.given.copy(),
            known,
            *self.values(counts),
            self.waited,
            self.looked_ahead,
            np.array(self.ahead).reshape(-1, d),
            np.array([x for x, _ in early]).reshape(-1, d),
            *_together([row for _, row in early], counts),
        )

    def restore(self, stored: StrandSnapshot) -> None:
        """Take over the answers of a snapshot."""
        self.given, self.waited = stored.given.copy(), stored.waited
        for row in np.flatnonzero(stored.known).tolist():
            self.answers[row] = float(stored.f[row]), stored.g[row].copy(), stored.h[row].copy()
        self.looked_ahead, self.ahead = stored.looked_ahead, [x.copy() for x in stored.ahead]
        rows = zip(stored.early_x, stored.early_f.tolist(), stored.early_g, stored.early_h, strict=True)
        self.early = {x.tobytes(): (x.copy(), (f, g.copy(), h.copy())) for x, f, g, h in rows}

    @property
    def over(self) -> bool:
        """Whether the run wants no more points."""
        return self.run.wanted is None

    @property
    def complete(self) -> bool:
        """Whether the current request is answered."""
        return not self.over and len(self.answers) == len(self.given)

    @property
    def waits(self) -> bool:
        """Whether all points of the request are out, or were, and some have no answer."""
        return not self.over and not self.complete and bool(self.given.all())

    def open_rows(self) -> list[int]:
        """Return the rows of the request without an answer."""
        return [row for row in range(len(self.given)) if row not in self.answers]

    def values(self, counts: tuple[int, int]) -> FGH:
        """Return f (n,), g (n, p) and h (n, q) of the request, NaN without an answer; p and q are at least `counts`."""
        return _together([self.answers.get(row, NO_VALUES) for row in range(len(self.given))], counts)


def _together(rows: Sequence[Row], counts: tuple[int, int]) -> FGH:
    """Return f (n,), g (n, p) and h (n, q) of rows; of one that failed there may be fewer numbers, and NaN stands."""
    n = len(rows)
    p, q = (max([counts[0], *(len(g) for _, g, _ in rows)]), max([counts[1], *(len(h) for _, _, h in rows)]))
    f, g, h = np.full(n, np.nan), np.full((n, p), np.nan), np.full((n, q), np.nan)
    for k, row in enumerate(rows):
        f[k], g[k, : len(row[1])], h[k, : len(row[2])] = row
    return f, g, h


class Searches:
    """Runs of one method on one budget: `take` points, `answer` them in any order, until the search is `done`.

    A run that waits for points while `OVERTAKEN` later answers came for each point that is out goes on without them,
    as if they had failed; their answers still count when they come. A run that is over is replaced by another when
    points are wanted. If the run that is served first has converged, and no other knows a better point, so has the
    search.

    Parameters
    ----------
    run : Run
        The first run, at its start.
    """

    between_generations = True  # it can be stored at any moment

    def __init__(self, run: Run) -> None:
        self.budget, self._number = run.task.max_evaluations, run.run
        self._strands = [Strand(run)]
        self._begun, self._asked = 1, 0
        self.requests = 0  # points given out and answers so far
        self.evaluations = self.failed = 0
        self.best = run.best
        self._out: dict[int, tuple[Strand | None, int, np.ndarray]] = {}  # run, row and point, by number
        self._injected: Population | None = None
        self._due = False
        self._guest: Strand | None = None
        self._looked = self._converged = False
        self._columns: tuple[str, ...] = ()
        self._rows: array[float] | None = None

    @classmethod
    def continuing(cls, run: Run) -> Searches:
        """Return the search of a run that has begun already."""
        searches = cls(run)
        searches.requests, searches.evaluations, searches.failed = run.requests, run.evaluations, run.failed
        searches._looked, searches._converged = True, run.status == CONVERGED
        return searches

    @property
    def begun_again(self) -> bool:
        """Whether it has begun again, with the points of an earlier one."""
        return self.leading.begun_again

    # --- the search as a whole --------------------------------------------------------------------------------------

    @property
    def leading(self) -> Run:
        """The run that is served first."""
        return self._strands[0].run

    @property
    def task(self) -> Task:
        """The task of the search as a whole."""
        return replace(self.leading.task, max_evaluations=self.budget)

    @property
    def algorithm(self) -> Algorithm:
        """The method."""
        return self.leading.algorithm

    @property
    def seed(self) -> int:
        """The seed of all runs."""
        return self.leading.seed

    @property
    def tolerance(self) -> float:
        """How far an equality may be missed."""
        return self.leading.tolerance

    @property
    def target(self) -> float | None:
        """A feasible point with an objective as small as this ends the search."""
        return self.leading.target

    @property
    def state(self) -> State | None:
        """The state of the leading run."""
        return self.leading.state

    @property
    def counts(self) -> tuple[int, int] | None:
        """Numbers of inequalities and equalities, if points show them."""
        return self.leading.counts if self.best is None else (self.best.g.shape[1], self.best.h.shape[1])

    @property
    def status(self) -> int:
        """Whether the search is over, and why."""
        best = self.best
        if self.target is not None and best is not None and best.feasible[0] and best.f[0] <= self.target:
            return TARGET
        if self.failed == self.evaluations >= GIVE_UP:
            return FAILED
        if self._converged:
            return CONVERGED
        if self.evaluations < self.budget:
            return RUNNING
        if best is None:
            return FAILED
        return SPENT if best.feasible[0] else INFEASIBLE

    @property
    def done(self) -> bool:
        """Whether nothing more is wanted; points that are out may still be answered."""
        return self.status != RUNNING

    @property
    def wanted(self) -> np.ndarray | None:
        """The points (n, d) of the leading run without an answer, given out or not; None if the search is done."""
        if self.done:
            return None
        strand = self._strands[0]
        if strand.run.wanted is None:
            return np.empty((0, self.leading.task.dimension))
        return strand.run.wanted if not self._asked else strand.run.wanted[self._rows_together(strand)]

    @property
    def out(self) -> int:
        """How many points are out."""
        return len(self._out)

    @property
    def completed(self) -> int:
        """Number of completed generations of the leading run."""
        return self.leading.completed if self._rows is None else max(0, len(self._table()) - 1)

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Columns with a row for each completed generation of the leading run; evaluations and best are of all runs."""
        if self._rows is None:
            return self.leading.history
        return {name: column.copy() for name, column in zip(self._columns, self._table().T, strict=True)}

    @property
    def latest(self) -> Mapping[str, float]:
        """The last row of the history, by column."""
        if self._rows is None:
            return self.leading.latest
        return dict(zip(self._columns, self._rows[len(self._rows) - len(self._columns) :], strict=True))

    def ending(self, status: int | None = None, more: Population | None = None, **costs: Any) -> Ending:
        """Return the record of the search at its end, or so far; as `Run.ending`, but every point was answered."""
        assert more is None
        return replace(
            self.leading.ending(self.status if status is None else status),
            best=self.best,
            evaluations=self.evaluations,
            failed=self.failed,
            generations=self.completed,
            history=self.history,
            **costs,
        )

    # --- points out, answers in -------------------------------------------------------------------------------------

    def look(self) -> None:
        """Fix the first points, because they are shown: points that are injected later belong to another run."""
        if not self._looked and self._injected is not None and self.leading.task.x0 is None:
            self._begun = 0
            self._strands = [self._new_strand()]
        self._looked = True

    def take(self, n: int) -> list[tuple[int, np.ndarray]]:
        """Return number and point (d,) of up to n points that were not given out before; fewer at the budget's end."""
        self.look()
        found: list[tuple[int, np.ndarray]] = []
        n = 0 if self.done else min(n, self._left)
        if n > 0 and self._due and self._guest_has_had_its_time:
            self._guest = self._begin(1)
        while len(found) < n:
            strand = next((strand for strand in self._in_turn() if self._has_points(strand)), None)
            if strand is None:
                strand = self._begin(len(self._strands))
            found.append(self._give(strand, EARLY if strand.given.all() else int(strand.given.argmin())))
        return found

    def _in_turn(self) -> list[Strand]:
        """Return the strands in the order in which they are served; the guest and the leading one take turns."""
        if self._guest is None or self._asked % 2:
            return self._strands
        return [self._guest, *self._strands]

    @property
    def _guest_has_had_its_time(self) -> bool:
        guest = self._guest
        return guest is None or guest.run.evaluations >= GUEST * self.task.dimension

    def _has_points(self, strand: Strand) -> bool:
        """Return whether a run has points to give out: some that it wants, or some that it will want perhaps."""
        if strand.waits and not strand.looked_ahead:
            strand.look_ahead(self.best)
        return not strand.given.all() or bool(strand.ahead)

    def points_out(self) -> list[tuple[int, np.ndarray]]:
        """Return number and point of those that are out."""
        return [(number, x) for number, (_, _, x) in self._out.items()]

    def awaited(self, x: np.ndarray) -> int:
        """Return how many answers to a point (d,) are awaited: it is out, or wanted, so often."""
        out = sum(np.array_equal(point, x) for _, _, point in self._out.values())
        return out + len(self._wanted_places(x))

    def number_of(self, x: np.ndarray) -> int | None:
        """Return the number of a point (d,) that is out, or wanted, and given out now; None if it is neither."""
        for number, (_, _, point) in self._out.items():
            if np.array_equal(point, x):
                return number
        places = self._wanted_places(x)
        return self._give(*places[0])[0] if places else None

    def _wanted_places(self, x: np.ndarray) -> list[tuple[Strand, int]]:
        """Return run and row of a point (d,) where it is wanted and may be given out."""
        places: list[tuple[Strand, int]] = []
        if self._looked and not self.done:
            for strand in self._strands:
                if strand.run.wanted is not None:
                    same = (strand.run.wanted == x).all(axis=1) & ~strand.given
                    places += [(strand, row) for row in np.flatnonzero(same).tolist()]
        return places[: max(0, self._left)]

    def answer(self, number: int, f: float, g: np.ndarray, h: np.ndarray) -> None:
        """Continue with the values of a point that is out: f, g (p,) and h (q,), NaN if its evaluation failed."""
        strand, row, x = self._out.pop(number)
        self.requests += 1
        point = evaluated(x[None], np.array([f], float), g[None], h[None], self.tolerance)
        self.best = better_point(self.best, point)
        failed = int(not point.valid[0])
        if row == LATE:
            self.failed += failed - 1  # it counted as failed when its run went on
            return
        self.evaluations += 1
        self.failed += failed
        values = float(f), g.copy(), h.copy()
        if strand is None:
            self._after_answers(None, 1)
        elif row == EARLY:
            strand.early[x.tobytes()] = x, values
            self._after_answers(None, 1)
        else:
            strand.answers[row] = values
            self._after_answers(strand, 1)

    def supply(self, f: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Continue with the values of all points of `wanted`: f (n,), g (n, p), h (n, q)."""
        if self.leading.wanted is None:
            raise ValueError("the run is over; no values are wanted")
        self.requests += 1
        if self._asked:
            self._supply_open(f, g, h)
        else:
            self._supply_single(f, g, h)

    def _supply_single(self, f: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Supply the only run, which has the budget alone, since no point was ever given out by itself."""
        run = self.leading
        before = run.best
        run.supply(f, g, h)
        self.evaluations, self.failed = run.evaluations, run.failed
        if run.best is not None and run.best is not before:
            self.best = better_point(self.best, run.best)
        self._strands[0].next_request()
        self._converged = run.wanted is None and run.status == CONVERGED

    def _supply_open(self, f: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Answer the points of the leading run that have no answer."""
        strand = self._strands[0]
        assert strand.run.wanted is not None
        rows = self._rows_together(strand)
        points = evaluated(strand.run.wanted[rows], f, g, h, self.tolerance)
        self._out = {number: at for number, at in self._out.items() if at[0] is not strand or at[1] == EARLY}
        self.best = better_point(self.best, points) if len(rows) else self.best
        self.evaluations += points.size
        self.failed += points.size - int(np.count_nonzero(points.valid))
        strand.given[rows] = True
        strand.answers |= {row: (float(f[k]), g[k].copy(), h[k].copy()) for k, row in enumerate(rows)}
        self._after_answers(strand, len(rows))

    def inject(self, points: Population) -> None:
        """Let the search know points of the user's, which cost nothing.

        They may be the best. Those that come before any point is asked for are in the first population, with their
        values. The next run that begins has later ones; if they are better than all before, one begins soon, which is
        served in turn with the leading one.
        """
        self.requests += 1
        before, self.best = self.best, better_point(self.best, points)
        self._due = self._due or self.best is not before
        known = points.take(points.valid)
        if not known.size:
            return
        if self._injected is not None:
            known = join(self._injected, known)
        self._injected = known.sorted().take(slice(0, MOST_INJECTED))

    # --- inside -----------------------------------------------------------------------------------------------------

    @property
    def _left(self) -> int:
        """Number of points that may still be given out."""
        return self.budget - self.evaluations - sum(row != LATE for _, row, _ in self._out.values())

    def _rows_together(self, strand: Strand) -> list[int]:
        """Return the rows without an answer, as many of those that are not out as the budget allows."""
        rows, left = strand.open_rows(), self._left
        if len(rows) <= left:  # nearly always
            return rows
        new = [row for row in rows if not strand.given[row]]
        return rows if len(new) <= left else sorted(set(rows) - set(new[max(left, 0) :]))

    def _give(self, strand: Strand, row: int) -> tuple[int, np.ndarray]:
        """Give out one point: a row of a run's request, or one that it may want next."""
        assert strand.run.wanted is not None
        number, x = self._asked, strand.ahead.pop(0) if row == EARLY else strand.run.wanted[row].copy()
        self._out[number] = strand, row, x
        if row != EARLY:
            strand.given[row] = True
        self._asked += 1
        self.requests += 1
        return number, x.copy()

    def _begin(self, place: int) -> Strand:
        """Begin another run at this place of the queue."""
        if self._rows is None:
            self._columns, self._rows = self.leading.columns, array("d", self.leading.table.ravel())
        strand = self._new_strand()
        self._strands.insert(place, strand)
        self._strands = [other for other in self._strands if not other.over] or [strand]
        return strand

    def _new_strand(self) -> Strand:
        """Return another run, which begins with the points that were injected."""
        first, known, self._injected, self._due = self.leading, self._injected, None, False
        task = replace(first.task, max_evaluations=max(1, self._left), x0=None if known is None else known.x)
        run = Run(
            first.algorithm,
            task,
            seed=first.seed,
            run=self._number + self._begun,
            tolerance=first.tolerance,
            target=first.target,
            x0_values=None if known is None else (known.f, known.g, known.h),
        )
        self._begun += 1
        return Strand(run)

    def _after_answers(self, strand: Strand | None, count: int) -> None:
        """Let runs go on that can, after so many answers to points that one of them wants, or none does."""
        for other in self._strands:
            if other is not strand and other.waits:
                other.waited += count
        if strand is not None:
            strand.waited = 0
            self._go_on(strand)
        for other in list(self._strands):
            if other.waits and other.waited >= OVERTAKEN * (len(self._out) + 1):
                self._give_up(other)
                self._go_on(other)

    def _give_up(self, strand: Strand) -> None:
        """Count the points that a run waits for as failed; they are still out, but late."""
        for number, (owner, row, x) in self._out.items():
            if owner is strand and row != EARLY:
                self._out[number] = None, LATE, x
        rows = strand.open_rows()
        strand.answers |= dict.fromkeys(rows, NO_VALUES)
        self.evaluations += len(rows)
        self.failed += len(rows)

    def _go_on(self, strand: Strand) -> None:
        """Supply a run with the answers to its request as long as it has them all, some of them early ones."""
        run, before = strand.run, strand.run.state
        while strand.complete:
            early = len(strand.early) + sum(owner is strand and row == EARLY for owner, row, _ in self._out.values())
            run.allowance = run.evaluations + len(strand.given) + early + max(0, self._left)
            run.supply(*strand.values(self.counts or (0, 0)))
            strand.next_request()
            self._use_early(strand)
        if self._rows is not None and strand is self._strands[0] and run.state is not before:
            self._record()
        if not strand.over:
            return
        alone = len(self._strands) == 1
        if strand is self._strands[0] and run.status == CONVERGED and (alone or self._is_best_of_all(run)):
            self._converged = True
        elif not alone:
            self._strands.remove(strand)
            self._guest = None if self._guest is strand else self._guest

    def _is_best_of_all(self, run: Run) -> bool:
        """Return whether no point is better than the best of a run, by more than `SAME`."""
        best, own = self.best, run.best
        if best is None or own is None:
            return best is None
        return bool(own.violation[0] <= best.violation[0] and own.f[0] <= best.f[0] + SAME * max(1.0, abs(best.f[0])))

    def _use_early(self, strand: Strand) -> None:
        """Answer a new request with points that were given out before; no run wants the others of them."""
        under_way = {
            x.tobytes(): number for number, (owner, row, x) in self._out.items() if owner is strand and row == EARLY
        }
        wanted = () if strand.run.wanted is None else strand.run.wanted
        for row, x in enumerate(wanted if strand.early or under_way else ()):
            key = x.tobytes()
            if key in strand.early:
                strand.given[row], strand.answers[row] = True, strand.early.pop(key)[1]
            elif key in under_way:
                strand.given[row] = True
                self._out[under_way.pop(key)] = strand, row, x.copy()
        for number in under_way.values():
            self._out[number] = None, ALONE, self._out[number][2]
        strand.early = {}

    def _record(self) -> None:
        """Add a row to the history, after a generation of the leading run."""
        assert self._rows is not None
        row = dict(self.leading.latest)
        if self.best is not None:
            row |= {"f": float(self.best.f[0]), "violation": float(self.best.violation[0])}
        row["evaluations"] = float(self.evaluations)
        self._columns = tuple(row)
        self._rows.extend(row.values())

    def _table(self) -> np.ndarray:
        """Return the history as an array (generations, columns)."""
        width = len(self._columns)
        return np.array(self._rows).reshape(len(self._rows or ()) // width if width else 0, width)

    # --- plain data -------------------------------------------------------------------------------------------------

    def snapshot(self) -> SearchesSnapshot:
        """Return the search as plain data, at any moment."""
        index = {id(strand): k for k, strand in enumerate(self._strands)}
        places = [(NOBODY if strand is None else index[id(strand)], row) for strand, row, _ in self._out.values()]
        points = [x for _, _, x in self._out.values()]
        return SearchesSnapshot(
            runs=tuple(strand.run.snapshot() for strand in self._strands),
            strands=tuple(strand.snapshot(self.counts or (0, 0)) for strand in self._strands),
            budget=self.budget,
            begun=self._begun,
            asked=self._asked,
            requests=self.requests,
            evaluations=self.evaluations,
            failed=self.failed,
            best=self.best,
            numbers=np.array(list(self._out), np.int64),
            places=np.array(places, np.int64).reshape(-1, 2),
            x=np.array(points, float).reshape(-1, self.leading.task.dimension),
            number=self._number,
            injected=self._injected,
            due=self._due,
            guest=NOBODY if self._guest is None else index[id(self._guest)],
            looked=self._looked,
            converged=self._converged,
            columns=self._columns,
            rows=None if self._rows is None else self._table(),
        )

    @classmethod
    def restored(cls, snapshot: SearchesSnapshot, runs: Sequence[Run]) -> Searches:
        """Return the search of a snapshot, with its runs, which continues with the same bits as the original."""
        searches = cls.__new__(cls)
        searches._strands = [Strand(run) for run in runs]
        for strand, stored in zip(searches._strands, snapshot.strands, strict=True):
            strand.restore(stored)
        places = zip(snapshot.numbers.tolist(), snapshot.places.tolist(), snapshot.x, strict=True)
        searches._out = {
            number: (None if place == NOBODY else searches._strands[place], row, x.copy())
            for number, (place, row), x in places
        }
        searches.budget, searches._number = snapshot.budget, snapshot.number
        searches._begun, searches._asked, searches.requests = snapshot.begun, snapshot.asked, snapshot.requests
        searches.evaluations, searches.failed, searches.best = snapshot.evaluations, snapshot.failed, snapshot.best
        searches._injected, searches._looked, searches._due = snapshot.injected, snapshot.looked, snapshot.due
        searches._guest = None if snapshot.guest == NOBODY else searches._strands[snapshot.guest]
        searches._converged, searches._columns = snapshot.converged, snapshot.columns
        searches._rows = None if snapshot.rows is None else array("d", snapshot.rows.ravel())
        return searches
