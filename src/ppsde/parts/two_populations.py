"""Two populations that shrink together, the latest points and the best ones (CL-SRDE, RDEx).

Stanovov, Semenkin, CL-SRDE, an entry of the CEC 2024 competition. A trial that is not worse than its target overwrites
the oldest point of the front, whichever that is, so the front moves on even where the target stays. The best of all
accepted trials and of the former best are the top.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..arrays import Array, namespace, order
from ..population import Population, choose, forgotten, join
from .archive import last_sent
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
        xp = namespace(self.front.f)
        front, top = ranking(rule, self.front), ranking(rule, self.top)
        return Ranks(front, top, xp.argsort(front), xp.argsort(top), self.size)

    def joined(self) -> Array:
        """The x of the front, then those of the top (2 n, d)."""
        return namespace(self.front.x).concatenate([self.front.x, self.top.x])

    def after(self, rule: Epsilon, trials: Population, accepted: Array, size: Array) -> FrontAndTop:
        """The populations with the accepted (n,) trials, down to `size` points each: the worst by the rule leave."""
        xp = namespace(self.front.f)
        n = self.front.size
        place_of = (self.next + xp.cumsum(accepted) - 1) % self.size
        row, written = last_sent(xp.where(accepted, place_of, n), n)
        front = choose(written, trials.take(row), self.front)
        stays = xp.argsort(ranking(rule, front)) < size
        front = shrunk(front.take(order(~stays, xp.arange(n))), size)
        both = join(self.top, choose(accepted, trials, forgotten(trials)))
        return replace(
            self,
            front=front,
            top=shrunk(both.take(ranking(rule, both)[:n]), size),
            next=(self.next + accepted.sum()) % self.size % size,
            size=size,
        )


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
