"""CL-SRDE: differential evolution whose scale factor follows the success rate, with two populations.

Stanovov, Semenkin, CL-SRDE, second in the CEC 2024 competition on constrained problems: the authors' program and
report.

Each round draws targets from the front, the latest accepted points. A trial is DE/current-to-pbest/1/bin: pbest
comes from the top, the best points; the first difference point is a good one of the front, the second any one of the
top. Epsilon is a quantile of the front's violations, so it does not depend on the scale of the constraints. F is drawn
around a power of the share of trials that succeeded in the round before; CR around a memory of the share of
components that really came from mutants.

Deviations (the program does / we do / because)
  order of trials          one after the other, each sees those accepted before it / in `blocks` 10 a round, each sees
                           those of the blocks before it / one request per block; with 1 C03 ends twice as high
  violation                a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance /
                           one measure for all methods
  size                     rounded down / to the nearest / one formula for all methods
  top while shrinking      the last successes of the generation are left out / all take part / a slip
  pointer beyond the end   writes one point nowhere / goes to the first row / a slip
  only ties succeed        0 / 0 / they weigh alike / no NaN
  redrawing                F until it fits / by inverse distribution / the same law
  base of the mutant       the report prints r1, the program has the target / the target / the printed results
  answer                   a record that can prefer infeasible points / the best member / a slip
  budget                   overshot by less than a generation / met exactly / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/cl_srde.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, gather, namespace, seldom
from ..checks import check_count, check_range
from ..parts.indices import place
from ..parts.memory import Memory, clipped_normal, truncated_normal
from ..parts.repairs import midpoint
from ..parts.rules import Epsilon, accepts
from ..parts.sizing import alive, elapsed_share, first_points, linear_size
from ..parts.two_populations import FrontAndTop, Round, block_of, improvement
from ..parts.variation import current_to_pbest_1, from_mutant
from ..population import Population
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
    memory: Memory  # of CR; the means of F are stored as in the program, but F is not drawn from them


@dataclass(frozen=True)
class CLSRDE:
    """Settings of CL-SRDE.

    Parameters
    ----------
    population_size
        N_init, the number of points in each population at the start.
    final_size
        N_min, the number of points at the end of the budget.
    memory_size
        H, the number of cells in the memory of CR.
    first_CR
        Content of the memory of CR at the start.
    pbest
        pbest is one of this share of the top, at least two.
    rank_pressure
        k: the first difference point has weight exp(-k rank / N).
    success_power
        F is drawn around the success rate to this power.
    theta
        Share of the front that epsilon admits at the start.
    closes
        Share of the budget after which epsilon is 0.
    blocks
        Number of blocks in which a round of N trials is made; trials of a block do not see each other.
    """

    population_size: int = 600
    final_size: int = 4
    memory_size: int = 5
    first_CR: float = 1.0
    pbest: float = 0.3
    rank_pressure: float = 7.0
    success_power: float = 1 / 3
    theta: float = 0.8
    closes: float = 0.8
    blocks: int = 10

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size", "blocks")
        check_range(self, 0.0, 1.0, "first_CR", "pbest", "theta", "closes")
        check_range(self, 0.01, 10.0, "success_power")
        check_range(self, 0.01, 100.0, "rank_pressure")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
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
            memory=Memory.fresh(1, self.memory_size, xp, CR=self.first_CR),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        both, size = FrontAndTop(state.front, state.population, state.next, state.size), state.size
        n, d = both.front.x.shape
        m = -(-n // self.blocks)
        xp = namespace(both.front.f)
        rule = Epsilon(state.round.epsilon)
        count = block_of(size, state.round.made, self.blocks)

        # Step 2: trials of random targets.
        u_target, u_cell, u_F, u_certain = rng.uniform(4, m)
        i = place(u_target, size)
        best = xp.maximum((self.pbest * size).astype(int), 2)
        pbest, r1, r2 = both.ranked(rule).pressed(rng.uniform(3, m), i, best, self.rank_pressure)
        F = truncated_normal(state.success_rate**self.success_power, u_F, 0.05)
        CR = clipped_normal(state.memory.CR[0][place(u_cell, self.memory_size)], rng.normal(m))
        parents = both.front.scores(i)
        x = gather(both.front.x, i)
        mutants = current_to_pbest_1(both.joined(), i, n + pbest, r1, n + r2, F)
        mutants = midpoint(mutants, task.lower, task.upper, x, u_F)
        crossed = from_mutant(CR, rng.uniform(m, d), place(u_certain, d))
        trials = yield Ask(xp.where(crossed, mutants, x), alive(m, count))

        # Step 3: acceptance; the improvement weighs the share of components that came from the mutant.
        accepted = accepts(rule, trials, parents)
        success = accepted & parents.valid
        gains = xp.where(success, improvement(rule, trials, parents), 0.0)
        later = both.written(trials, accepted)
        made = state.round.with_block(count, trials, accepted, F, crossed.sum(axis=1) / d, gains, success)
        going = State(
            population=state.population,
            generation=state.generation + 1,
            evaluations=state.evaluations + count,
            front=later.front,
            next=later.next,
            size=size,
            success_rate=state.success_rate,
            round=made,
            memory=state.memory,
        )

        # Step 4, after a round: the memory learns, both populations shrink.
        return seldom(made.made >= size, lambda: self._ended(going, task), going)

    def _ended(self, state: State, task: Task) -> State:
        """The state after a round, with a new one begun."""
        xp = namespace(state.front.f)
        both, done = FrontAndTop(state.front, state.population, state.next, state.size), state.round
        elapsed = elapsed_share(state.evaluations, task)
        fewer = linear_size(self.population_size, self.final_size, elapsed)
        after = both.ended(Epsilon(done.epsilon), done.accepted, fewer)
        strategy = xp.zeros(done.F.shape[0], dtype=int)
        return replace(
            state,
            population=after.top,
            front=after.front,
            next=after.next,
            size=after.size,
            success_rate=done.accepted.valid.sum() / state.size,
            round=Round.begun(after.front, elapsed, self.theta, self.closes),
            memory=state.memory.learn(
                strategy, done.F, done.CR, done.gain, ties=done.success, lehmer_CR=True, rate=0.5
            ),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"size": state.size, "success_rate": state.success_rate}
