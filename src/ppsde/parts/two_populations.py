"""Two populations that shrink together, the latest points and the best ones (CL-SRDE, RDEx).

Stanovov, Semenkin, CL-SRDE, an entry of the CEC 2024 competition. A trial that is not worse than its target overwrites
the oldest point of the front, whichever that is, so the front moves on even where the target stays. The best of all
accepted trials and of the former best are the top.

The programs make one trial after the other, and each sees those accepted before it. Here a round of trials is made in
blocks, a request each: within a block no trial sees another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..arrays import Array, namespace, order, places
from ..population import Population, choose, forgotten, join
from .archive import last_sent
from .epsilon import violation_at
from .indices import best_index, geometric_rank, linear_rank, uniform_index
from .rules import Epsilon, Points, accepts, ranking
from .sizing import shrunk


@dataclass(frozen=True)
class FrontAndTop:
    """The two populations, n rows each, of which the first `size` are alive."""

    front: Population  # the latest points, a ring in no order
    top: Population  # the best points, best first by the rule of the generation that made them
    next: Array  # the row of the front to overwrite
    size: Array

    def ranked(self, rule: Epsilon) -> Ranks:
        """The ranks of both populations under a rule."""
        front, top = ranking(rule, self.front), ranking(rule, self.top)
        return Ranks(front, top, places(front), places(top), self.size)

    def joined(self) -> Array:
        """The x of the front, then those of the top (2 n, d)."""
        return namespace(self.front.x).concatenate([self.front.x, self.top.x])

    def written(self, trials: Population, accepted: Array) -> FrontAndTop:
        """The populations after a block: the accepted (m,) of m trials overwrite points of the front in turn."""
        xp = namespace(self.front.f)
        n = self.front.size
        place_of = (self.next + xp.cumsum(accepted) - 1) % self.size
        row, written = last_sent(xp.where(accepted, place_of, n), n)
        front = choose(written, trials.take(row), self.front)
        return replace(self, front=front, next=(self.next + accepted.sum()) % self.size)

    def ended(self, rule: Epsilon, accepted: Population, size: Array) -> FrontAndTop:
        """The populations after a round, whose accepted trials join the top, down to `size` points each.

        Rows of `accepted` without values do not count. The worst by the rule leave.
        """
        xp = namespace(self.front.f)
        n = self.front.size
        stays = places(ranking(rule, self.front)) < size
        both = join(self.top, accepted)
        return replace(
            self,
            front=shrunk(self.front.take(order(~stays, xp.arange(n))), size),
            top=shrunk(both.take(ranking(rule, both)[:n]), size),
            next=self.next % size,
            size=size,
        )


@dataclass(frozen=True)
class Round:
    """A round of as many trials as the front has points, made block by block: what holds in all of it, and its trials.

    Epsilon and the top stay as they are in a round; the front moves with each block. Of the n rows of trials the first
    `made` are in use.
    """

    epsilon: Array
    elapsed: Array  # the share of the budget used at its beginning
    f: Array  # (n,), the objectives of the front at its beginning
    feasible: Array  # the share of feasible points in the front at its beginning
    made: Array
    accepted: Population  # the trials that were accepted; the other rows have no values
    F: Array  # (n,)
    CR: Array  # (n,), the share of components that came from the mutant
    gain: Array  # (n,)
    success: Array  # (n,) bool, accepted in place of a target that has values

    @classmethod
    def begun(cls, front: Population, elapsed: Array, theta: float, closes: float) -> Round:
        """A round without trials; epsilon is a quantile of the front's violations, 0 from `closes` on."""
        xp = namespace(front.f)
        level = violation_at(front, theta, elapsed, 2.0)
        nothing = xp.zeros_like(front.f)
        return cls(
            epsilon=xp.where(elapsed < closes, level, 0.0),
            elapsed=elapsed,
            f=front.f,
            feasible=xp.asarray(front.feasible_share),
            made=xp.asarray(0),
            accepted=forgotten(front),
            F=nothing,
            CR=nothing,
            gain=nothing,
            success=nothing > 0,
        )

    def with_block(
        self, count: Array, trials: Population, accepted: Array, F: Array, CR: Array, gain: Array, success: Array
    ) -> Round:
        """The round with a block of m trials, of which the first `count` were made; arrays (m,)."""
        xp = namespace(F)
        behind = xp.arange(self.F.shape[0]) - self.made
        new = (behind >= 0) & (behind < count)
        row = xp.clip(behind, 0, F.shape[0] - 1)
        return replace(
            self,
            made=self.made + count,
            accepted=choose(new & accepted[row], trials.take(row), self.accepted),
            F=xp.where(new, F[row], self.F),
            CR=xp.where(new, CR[row], self.CR),
            gain=xp.where(new, gain[row], self.gain),
            success=xp.where(new, success[row], self.success),
        )


def block_of(size: Array, made: Array, blocks: int) -> Array:
    """The number of trials in the next block of a round."""
    xp = namespace(size)
    return xp.minimum((size + blocks - 1) // blocks, size - made)


@dataclass(frozen=True)
class Ranks:
    """The rows of both populations by rank and the ranks by row, (n,) each.

    Rows of the two populations are drawn so that their numbers differ, though equal numbers are different points: the
    programs do so.
    """

    front: Array
    top: Array
    in_front: Array
    in_top: Array
    size: Array

    def pressed(self, u: Array, i: Array, best: Array, pressure: float) -> tuple[Array, Array, Array]:
        """Rows pbest of the top, r1 of the front and r2 of the top (m,) for the targets i (m,); u (3, m) uniform.

        pbest is one of the `best` first of the top, r1 has weight exp(-pressure rank / size), r2 is any one.
        """
        pbest = self.top[best_index(u[0], best, self.in_top[i])]
        r1 = self.front[geometric_rank(u[1], self.size, pressure, self.in_front[pbest])]
        r2 = self.top[uniform_index(u[2], self.size, self.in_top[pbest], self.in_top[r1])]
        return pbest, r1, r2

    def linear(self, u: Array, i: Array, best: Array) -> tuple[Array, Array, Array]:
        """The same with weights size - rank, pbest among the `best` first."""
        pbest = self.top[linear_rank(u[0], self.size, best, self.in_top[i])]
        r1 = self.front[linear_rank(u[1], self.size, self.size, self.in_front[pbest])]
        r2 = self.top[linear_rank(u[2], self.size, self.size, self.in_top[pbest], self.in_top[r1])]
        return pbest, r1, r2

    def anyone(self, u: Array, i: Array) -> tuple[Array, Array, Array]:
        """Rows a of the top, b of the front and c of the top (m,), none with the number of another or of i."""
        a = self.top[uniform_index(u[0], self.size, self.in_top[i])]
        b = self.front[uniform_index(u[1], self.size, self.in_front[i], self.in_front[a])]
        c = self.top[uniform_index(u[2], self.size, self.in_top[i], self.in_top[a], self.in_top[b])]
        return a, b, c


def improvement(rule: Epsilon, trials: Points, parents: Points) -> Array:
    """The weight of each accepted trial: by how much f fell, or the violation beyond epsilon if f rose; else 0.

    f counts where the trial is feasible by epsilon, or where the two violate alike, and f did not rise.
    """
    xp = namespace(trials.f)
    new, old = rule.keys(trials), rule.keys(parents)
    by_f = ((new[0] == 0) | (new[0] == old[0])) & (new[1] <= old[1])
    amount = xp.where(by_f, old[1] - new[1], old[0] - new[0])
    return xp.where(accepts(rule, trials, parents) & (amount < float("inf")), amount, 0.0)
