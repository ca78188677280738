"""RDEx-CSOP, first in the CEC 2025 competition on constrained problems, and RDE26-CSOP, first in that of 2026.

Tao and others, RDEx, an entry of the CEC 2025 competition, and RDE26-CSOP, one of the CEC 2026 competition: their
programs. The reports describe operators that the programs do not have (a choice of operators by softmax, DE/rand/2).

RDEx is CL-SRDE with three additions. Late in the run a second strategy competes: three members are ordered by f, and
the target is pulled to the best of them along the difference of the other two; how often it is used follows its share
of the improvement of f. Components that crossover leaves to the target are, in some trials, drawn from a Cauchy law
around it. F of the second strategy comes from a memory too. RDE26 is the same program with about 40 constants searched
again and one more addition, a race: while most points are feasible, the best targets get a second trial, and the better
of the two goes on.

Deviations (the programs do / we do / because)
  order of trials          one after the other, each sees those accepted before it / in `blocks` 10 a round, each sees
                           those of the blocks before it / one request per block; with 1 C03 ends twice as high
  violation                a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance /
                           one measure for all methods
  feasible in the race     a mean violation below 1e-4 / violation 0 / likewise
  Cauchy components        left where they fall, out of the box too (RDEx) / repaired like the others / RDE26 does so
  their scale              in the units of the variables / likewise / the competition's boxes are alike; elsewhere
                           `perturbation_scale` should follow the box
  share of the budget      looked at before each trial / before each block / one request per block
  size                     rounded down / to the nearest / one formula for all methods
  top while shrinking      the last successes of the generation are left out / all take part / a slip
  pointer beyond the end   writes one point nowhere / goes to the first row / a slip
  only ties succeed        0 / 0 / they weigh alike / no NaN
  floors of CR             early in the run, for the second strategy, which is used late only / none / they never act
  redrawing                F until it fits / by inverse distribution / the same laws
  answer                   a record that can prefer infeasible points / the best member / a slip
  budget                   overshot by less than a generation / met exactly / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/rdex.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, ascending, gather, namespace, seldom
from ..checks import check_count, check_range
from ..parts.archive import last_sent
from ..parts.indices import best_index, place
from ..parts.memory import Memory, clipped_normal, truncated_cauchy, truncated_normal
from ..parts.repairs import part_way
from ..parts.rules import Epsilon, accepts
from ..parts.sizing import alive, elapsed_share, first_points, linear_size
from ..parts.two_populations import FrontAndTop, Ranks, Round, block_of, improvement
from ..parts.variation import from_mutant, guided
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # the top: the best points, best first once there were successes
    generation: Array  # how many blocks of trials were made
    evaluations: Array
    front: Population  # the latest points; of both populations the first `size` rows are alive
    next: Array  # the row of the front to overwrite
    size: Array
    success_rate: Array
    round: Round
    memory: Memory
    ordering: Ordering


@dataclass(frozen=True)
class Ordering:
    """The probability of the ordered strategy, and the last trial of each row of the front, however long ago."""

    rate: Array
    f: Array  # (n,), the objective of that trial
    ordered: Array  # (n,) bool, whether it was made by the ordered strategy


@dataclass(frozen=True)
class RDEx:
    """Settings of RDEx.

    Parameters
    ----------
    population_size
        N_init, the number of points in each population at the start; `size_per_variable` D if None.
    size_per_variable
        N_init by the number of variables, if `population_size` is None.
    final_size
        N_min, the number of points at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR.
    first_F
        Content of the memory of F at the start.
    first_CR
        Content of the memory of CR at the start.
    learning_rate
        Share of the new mean in a cell of the memories; the rest is its old content.
    success_power
        F is drawn around the success rate to this power.
    F_scale
        Scale of the Cauchy law of F in the ordered strategy.
    CR_deviation
        Standard deviation of CR around a cell of its memory.
    pbest
        pbest is one of this share of the top, at least two.
    rank_pressure
        k: the first difference point has weight exp(-k rank / N).
    theta
        Share of the front that epsilon admits at the start.
    closes
        Share of the budget after which epsilon is 0.
    ordered_after
        Share of the budget before which the ordered strategy is not used.
    first_ordered_rate
        Probability of the ordered strategy where its share of the improvement is not known.
    ordered_pbest
        pbest of the ordered strategy is one of this share of the top, at least two.
    ordered_pbest_decay
        Part of `ordered_pbest` that is lost until the end of the budget.
    ordered_F
        Location of F in the ordered strategy where no cell of the memory is drawn.
    ordered_CR
        Mean of CR in the ordered strategy where no cell of the memory is drawn.
    perturbation
        Probability that the components of a trial that are not crossed are drawn from a Cauchy law.
    perturbation_scale
        Scale of that law, in the units of the variables.
    repair_share
        Components out of bounds are set this share of the way from the target to the bound.
    race_top
        The race: targets among this share of the front get a second trial; 0 is no race.
    race_until
        Share of the budget after which there is no race.
    race_feasible
        There is a race while more than this share of the front is feasible.
    race_pbest
        pbest of the second trial is one of this share of the front.
    race_pull
        Factor of F in the pull to pbest of the second trial.
    race_difference
        Factor of F in the difference of the second trial.
    race_CR_least
        Least CR of the second trial.
    race_CR_most
        Largest CR of the second trial.
    blocks
        Number of blocks in which a round of N trials is made; trials of a block do not see each other.
    """

    population_size: int | None = None
    size_per_variable: float = 10.0
    final_size: int = 4
    memory_size: int = 5
    first_F: float = 0.3
    first_CR: float = 1.0
    learning_rate: float = 0.5
    success_power: float = 1 / 3
    F_scale: float = 0.1
    CR_deviation: float = 0.1
    pbest: float = 0.3
    rank_pressure: float = 7.0
    theta: float = 0.8
    closes: float = 0.8
    ordered_after: float = 0.9
    first_ordered_rate: float = 0.7
    ordered_pbest: float = 0.17
    ordered_pbest_decay: float = 0.5
    ordered_F: float = 0.4
    ordered_CR: float = 0.9
    perturbation: float = 0.2
    perturbation_scale: float = 0.1
    repair_share: float = 0.5
    race_top: float = 0.0
    race_until: float = 0.76
    race_feasible: float = 0.48
    race_pbest: float = 0.27
    race_pull: float = 0.62
    race_difference: float = 1.16
    race_CR_least: float = 0.26
    race_CR_most: float = 0.85
    blocks: int = 10

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_range(self, 0.1, 1000.0, "size_per_variable")
        check_count(self, 1, "memory_size", "blocks")
        check_range(self, 0.0, 1.0, "first_F", "first_CR", "ordered_F", "ordered_CR", "CR_deviation")
        check_range(self, 0.0, 1.0, "pbest", "theta", "closes", "ordered_after", "first_ordered_rate")
        check_range(self, 0.0, 1.0, "ordered_pbest", "ordered_pbest_decay", "perturbation", "repair_share")
        check_range(self, 0.0, 1.0, "race_top", "race_until", "race_feasible", "race_pbest")
        check_range(self, 0.0, 1.0, "race_CR_least", "race_CR_most")
        check_range(self, 0.01, 1.0, "learning_rate", "F_scale")
        check_range(self, 0.01, 10.0, "success_power")
        check_range(self, 0.01, 100.0, "rank_pressure")
        check_range(self, 0.0, 10.0, "race_pull", "race_difference")
        check_range(self, 0.0, 1e300, "perturbation_scale")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size or max(int(self.size_per_variable * task.dimension), self.final_size)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            front=points,
            next=xp.asarray(0),
            size=xp.asarray(n),
            success_rate=xp.asarray(0.5),
            round=Round.begun(points, elapsed_share(xp.asarray(n), task), self.theta, self.closes),  # step 1: epsilon
            memory=Memory.fresh(1, self.memory_size, xp, F=self.first_F, CR=self.first_CR),
            ordering=Ordering(xp.asarray(self.first_ordered_rate), points.f, xp.zeros(n, dtype=bool)),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        both, size = FrontAndTop(state.front, state.population, state.next, state.size), state.size
        front = both.front
        n, d = front.x.shape
        m = -(-n // self.blocks)
        xp = namespace(front.f)
        elapsed = elapsed_share(state.evaluations, task)
        rule = Epsilon(state.round.epsilon)
        ranks = both.ranked(rule)
        count = block_of(size, state.round.made, self.blocks)
        wanted = alive(m, count)

        # Steps 2 to 4: a trial for each of `count` random targets, by one of two strategies.
        u_target, u_strategy, u_cell, u_second_cell, u_F, u_certain, u_perturb = rng.uniform(7, m)
        i = place(u_target, size)
        parents, x = front.scores(i), gather(front.x, i)
        ordered = (elapsed >= self.ordered_after) & (u_strategy < state.ordering.rate)
        F, CR = self._parameters(state, ordered, u_cell, u_second_cell, u_F, rng.normal(m))
        guide, plus, minus = self._members(both, ranks, ordered, i, rng.uniform(3, m), state.round.elapsed)
        mutants = guided(both.joined(), i, guide, plus, minus, F, F)
        crossed = from_mutant(CR, rng.uniform(m, d), place(u_certain, d))
        around = x + self.perturbation_scale * xp.tan(xp.pi * (rng.uniform(m, d) - 0.5))
        others = xp.where((u_perturb < self.perturbation)[:, None], around, x)
        made = part_way(xp.where(crossed, mutants, others), task.lower, task.upper, x, self.repair_share)
        share = crossed.sum(axis=1) / d
        evaluations = state.evaluations + count
        if self.race_top > 0:  # step 5
            racing = wanted & self._races(state.round, ranks, i, elapsed)
            second, second_share = self._second_trials(both, ranks, i, F, CR, task, rng)
            points = yield Ask(xp.concatenate([made, second]), xp.concatenate([wanted, racing]))
            first, rival = points.take(slice(0, m)), points.take(slice(m, 2 * m))
            wins = racing & accepts(rule, rival, first)
            trials, share = choose(wins, rival, first), xp.where(wins, second_share, share)
            evaluations = evaluations + racing.sum()
        else:
            trials = yield Ask(made, wanted)

        # Step 6: acceptance; the improvement weighs F and the share of components that came from the mutant.
        accepted = accepts(rule, trials, parents)
        success = accepted & parents.valid
        gains = xp.where(success, improvement(rule, trials, parents), 0.0)
        later = both.written(trials, accepted)
        row, written = last_sent(xp.where(wanted, i, n), n)
        going = State(
            population=state.population,
            generation=state.generation + 1,
            evaluations=evaluations,
            front=later.front,
            next=later.next,
            size=size,
            success_rate=state.success_rate,
            round=state.round.with_block(count, trials, accepted, F, share, gains, success),
            memory=state.memory,
            ordering=Ordering(
                rate=state.ordering.rate,
                f=xp.where(written, trials.f[row], state.ordering.f),
                ordered=xp.where(written, ordered[row], state.ordering.ordered),
            ),
        )
        return seldom(going.round.made >= size, lambda: self._ended(going, task), going)

    def _ended(self, state: State, task: Task) -> State:
        """The state after a round, with a new one begun."""
        xp = namespace(state.front.f)
        both, done = FrontAndTop(state.front, state.population, state.next, state.size), state.round
        n = both.front.size
        elapsed = elapsed_share(state.evaluations, task)

        # Steps 7 and 8: the rate of the ordered strategy; the memories learn; both populations shrink.
        fewer = linear_size(n, self.final_size, elapsed)
        after = both.ended(Epsilon(done.epsilon), done.accepted, fewer)
        strategy, rate = xp.zeros(n, dtype=int), self.learning_rate
        return replace(
            state,
            population=after.top,
            front=after.front,
            next=after.next,
            size=after.size,
            success_rate=done.accepted.valid.sum() / state.size,
            round=Round.begun(after.front, elapsed, self.theta, self.closes),
            memory=state.memory.learn(
                strategy, done.F, done.CR, done.gain, ties=done.success, lehmer_CR=True, rate=rate
            ),
            ordering=self._next_ordering(done.f, alive(n, state.size), state.ordering),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"size": state.size, "success_rate": state.success_rate, "ordered_rate": state.ordering.rate}

    def _parameters(
        self, state: State, ordered: Array, u_cell: Array, u_second_cell: Array, u_F: Array, z: Array
    ) -> tuple[Array, Array]:
        """F and CR (n,): step 2, around the success rate and a cell; step 3, around one of H + 1 cells."""
        xp = namespace(z)
        H = self.memory_size
        cells_F = xp.concatenate([state.memory.F[0], xp.asarray([self.ordered_F])])
        cells_CR = xp.concatenate([state.memory.CR[0], xp.asarray([self.ordered_CR])])
        cell = xp.where(ordered, place(u_second_cell, H + 1), place(u_cell, H))
        plain = truncated_normal(state.success_rate**self.success_power, u_F, 0.05)
        F = xp.where(ordered, truncated_cauchy(cells_F[cell], u_F, self.F_scale), plain)
        return F, clipped_normal(cells_CR[cell], z, self.CR_deviation)

    def _members(
        self, both: FrontAndTop, ranks: Ranks, ordered: Array, i: Array, u: Array, elapsed: Array
    ) -> tuple[Array, Array, Array]:
        """Guide, plus and minus (n,), rows of the joined populations; of the ordered strategy the best, second, worst.

        Step 3 orders its three members by f alone; of equal ones pbest comes first, then the member of the front.
        """
        xp = namespace(i)
        n = both.front.size
        best = xp.maximum((self.pbest * ranks.size).astype(int), 2)
        few = self.ordered_pbest * ranks.size * (1 - self.ordered_pbest_decay * elapsed)
        plain = ranks.pressed(u, i, best, self.rank_pressure)
        chosen = ranks.linear(u, i, xp.maximum(few.astype(int), 2))
        a, b, c = chosen[0] + n, chosen[1], chosen[2] + n
        f = xp.concatenate([both.front.f, both.top.f])
        three = xp.stack([a, b, c])
        rows = xp.take_along_axis(three, ascending(f[three], axis=0), axis=0)
        guide, plus, minus = (xp.where(ordered, rows[k], plain[k] + (0 if k == 1 else n)) for k in range(3))
        return guide, plus, minus

    def _races(self, begun: Round, ranks: Ranks, i: Array, elapsed: Array) -> Array:
        """Whether each target (n,) is good enough for a second trial, at a time when there are some."""
        xp = namespace(i)
        best = xp.maximum((self.race_top * ranks.size + 0.5).astype(int), 1)
        open_now = (elapsed < self.race_until) & (begun.feasible > self.race_feasible)
        return open_now & (ranks.in_front[i] < best)

    def _second_trials(
        self, both: FrontAndTop, ranks: Ranks, i: Array, F: Array, CR: Array, task: Task, rng: Stream
    ) -> tuple[Array, Array]:
        """Trials x_i + p F (x_pbest - x_i) + q F (x_a - x_c), crossed; and their shares of components of the mutant."""
        xp = namespace(i)
        (n, d), m = both.front.x.shape, i.shape[0]
        u = rng.uniform(5, m)
        a, b, c = ranks.anyone(u[:3], i)
        best = xp.minimum(xp.maximum((self.race_pbest * ranks.size + 0.5).astype(int), 1), ranks.size)
        alone = (best == 1) & (ranks.in_front[i] == 0)  # the only best one is the target: any other takes its place
        pbest = xp.where(alone, b, ranks.front[best_index(u[3], best, ranks.in_front[i])])
        x = gather(both.front.x, i)
        mutants = guided(both.joined(), i, pbest, n + a, n + c, self.race_difference * F, self.race_pull * F)
        crossed = from_mutant(xp.clip(CR, self.race_CR_least, self.race_CR_most), rng.uniform(m, d), place(u[4], d))
        second = part_way(xp.where(crossed, mutants, x), task.lower, task.upper, x, self.repair_share)
        return second, crossed.sum(axis=1) / d

    def _next_ordering(self, f: Array, alive: Array, last: Ordering) -> Ordering:
        """The same with a new rate: the ordered strategy's share of the improvement of f, or the first one."""
        xp = namespace(f)
        fell = alive & (last.f <= f) & (f < float("inf"))
        improved = xp.where(fell, f - last.f, 0.0)
        by_ordered, by_plain = (xp.where(mask, improved, 0.0).sum() for mask in (last.ordered, ~last.ordered))
        known = (by_ordered > 0) & (by_plain > 0)
        share = by_ordered / (by_ordered + by_plain + ~known)
        return replace(last, rate=xp.where(known, share, self.first_ordered_rate))


RDE26 = RDEx(
    size_per_variable=9.98,
    memory_size=11,
    first_F=0.63,
    first_CR=0.94,
    learning_rate=0.35,
    success_power=0.4,
    F_scale=0.14,
    CR_deviation=0.09,
    pbest=0.5,
    rank_pressure=13.98,
    closes=0.75,
    ordered_after=0.71,
    first_ordered_rate=0.91,
    ordered_pbest=0.4,
    ordered_pbest_decay=0.35,
    ordered_F=0.43,
    ordered_CR=0.63,
    perturbation=0.55,
    perturbation_scale=0.3,
    repair_share=0.21,
    race_top=0.08,
)
