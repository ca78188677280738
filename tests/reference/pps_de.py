"""PPS-DE as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

It follows the publication's pseudocode (arXiv 1812.06381) with plain lists and loops, adds the cycles of the library's
default, shares no formula with the library, and knows every setting of it. It asks a stream for the same draws in the
same order as the fast version, so that both, fed alike, must walk the same way. Ranks count from 0, the best first.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .literal_run import LiteralRun
from .single_points import Point, anywhere, in_order

RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST = 0, 1, 2
STRATEGIES = (RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST)
PUSH = "push"  # the rule that looks at the objective alone; any other rule is a number, its epsilon
FEASIBILITY = 0.0  # the epsilon of the feasibility rule

RuleOf = Any  # PUSH, or an epsilon


@dataclass
class Trial:
    point: Point
    target: int
    strategy: int
    F: float
    CR: float


class ReferencePPSDE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size or max(5 * self.d, 40)
        self.T = math.floor(self.NP / 2 + 0.5)
        self.G_max = self.max_evaluations // (3 * self.T + (self.NP - self.T))

        shortness = min(1.0, self.G_max / 2000)  # 2000 generations: the publication's budget
        self.push_share = settings.push_limit * shortness**settings.push_growth
        self.made = 0  # generations, in all cycles
        self.seen: list[Point] = []  # the least violating points of the cycle, one per place of the bottom half
        self.cycle = 0
        self.begin_cycle()

    def begin_cycle(self) -> None:
        """Nothing is known yet but the population and how much of the budget is left."""
        H = self.settings.memory_size
        self.G = 0  # generations of this cycle
        self.G_left = self.G_max - self.made  # that this cycle may have
        self.closing_generation = self.settings.closes * self.G_left
        self.idle = 0  # generations without progress since epsilon is 0 or tells nobody apart
        self.record_f = self.record_phi = math.inf  # the best point when there was progress last
        self.pull = False
        self.eps = 0.0
        self.eps_0 = 0.0
        self.G_switch = 0
        self.hist: list[float] = []  # the value of generation g is hist[g - 1]
        self.wins: list[list[int]] = []  # of generation g, wins[g - 1]
        self.rates = [1 / 3, 1 / 3, 1 / 3]
        self.M_F = [[0.5] * H for _ in STRATEGIES]
        self.M_CR = [[0.5] * H for _ in STRATEGIES]
        self.k = [0 for _ in STRATEGIES]

    # 2. Initialise

    def start(self, rng: Any) -> None:
        self.population = in_order(self.points_anywhere(self.NP, rng))  # and so it stays
        self.seen = self.population[: self.NP - self.T]
        self.nearest = self.population[0]  # the least violating point of the run, until one is feasible

    # 3. One generation

    def generation(self, rng: Any) -> None:
        patience = self.settings.patience
        anew = patience > 0 and self.idle >= patience and self.G_max - self.made > patience
        if anew:
            self.cycle += 1
            self.begin_cycle()
            self.seen = [Point(p.x) for p in self.seen]
            self.population = [Point(p.x) for p in self.population]
        reseeding = self.settings.reseed and self.cycle % 2 == 1
        at_the_end = self.G_max - self.made <= self.settings.rescue * self.G_max
        rescuing = at_the_end and 0 < self.nearest.phi < math.inf
        self.G += 1
        self.made += 1
        pulled_before = self.pull
        self.stage_and_epsilon()  # 3.1
        stage_rule: RuleOf = self.eps if self.pull else PUSH
        parents = list(self.population)  # 3.2: ranks 0 .. T-1 are the top half, T .. NP-1 the bottom half

        # 3.3-3.5 Top: three trials per target, strategy after strategy; the best one competes.
        trials = self.trials([(i, s) for s in STRATEGIES for i in range(self.T)], anew, rng, rescuing)
        picked = self.pick(trials, self.rule(self.settings.pick, stage_rule))
        self.wins.append([sum(1 for t in picked if t.strategy == s and not t.point.failed) for s in STRATEGIES])

        # 3.6-3.7 Bottom: one trial per target, with a strategy drawn by its rate.
        self.rates = self.strategy_rates()
        u_strategy = rng.uniform(self.NP - self.T)
        wanted = [(self.T + i, draw_by_rate(float(u_strategy[i]), self.rates)) for i in range(self.NP - self.T)]
        bottom_trials = self.trials(wanted, anew, rng)

        # 3.8 Replacement; a new cycle has parents without values and takes whatever has some.
        bottom_rule = self.rule(self.settings.bottom_survival, stage_rule)
        for i in range(self.T):
            if accepts(stage_rule, picked[i].point, parents[i]):
                self.population[i] = picked[i].point
        for trial in bottom_trials:
            if accepts(bottom_rule, trial.point, parents[trial.target]):
                self.population[trial.target] = trial.point

        # 3.9 Success sets: every trial against its target as it was before the replacement.
        teachers = trials if self.settings.teachers == "every-trial" else picked
        success_rule = self.rule(self.settings.success, stage_rule)
        successes: list[tuple[Trial, float]] = []
        for trial in [*teachers, *bottom_trials]:
            if math.isnan(trial.F):
                continue  # not made by a strategy
            D_func = gain(success_rule, trial.point, parents[trial.target])
            if D_func > 0:
                successes.append((trial, D_func))

        if reseeding and self.pull and not pulled_before:
            self.population[self.T :] = self.seen
        if reseeding and not self.pull:
            for place in range(self.NP - self.T):
                in_place = [trials[s * self.T + place].point for s in STRATEGIES] + [bottom_trials[place].point]
                self.seen[place] = in_order([self.seen[place], *in_place])[0]
        for made in (trials, bottom_trials):
            if self.nearest.phi > 0:
                self.nearest = in_order([self.nearest, *(trial.point for trial in made)])[0]
        self.population = in_order(self.population)  # 3.10
        self.memories(successes)  # 3.11
        self.notice_progress()

    def notice_progress(self) -> None:
        """By a millionth of the violation, or without more of that by a billionth of the objective."""
        best = self.population[0]
        closer = fallen(best.phi, self.record_phi, 1e-6)
        lower = best.phi <= self.record_phi and fallen(best.f, self.record_f, 1e-9)
        progress = closer or lower
        if progress:
            self.record_phi, self.record_f = best.phi, best.f
        known = [p.phi for p in self.population if not p.failed]
        alike = bool(known) and min(known) > 0 and max(known) <= min(known) * (1 + 1e-9)
        over = self.pull and (self.eps == 0 or alike)
        self.idle = self.idle + 1 if over and not progress else 0

    # 3.1 Stage and epsilon

    def stage_and_epsilon(self) -> None:
        S, G, L = self.settings, self.G, self.settings.switch_window
        f_min = min(p.f for p in self.population) if S.stagnation_of == "minimum" else self.population[0].f
        self.hist.append(f_min)
        if self.closing_generation <= G:
            self.pull, self.eps = True, 0.0
            return
        stagnates = False
        if len(self.hist) > L:
            old = self.hist[G - L - 1]
            if math.isfinite(old) and math.isfinite(f_min):
                stagnates = (old - f_min) / max(abs(old), S.switch_guard) <= S.switch_threshold
        if not self.pull and (stagnates or max(self.push_share * self.G_left, 1) < G):
            self.pull = True
            self.G_switch = G
            self.eps_0 = self.eps = max((p.phi for p in self.population if not p.failed), default=0.0)
        if self.pull:
            if S.pull_length > 0:
                elapsed = (G - self.G_switch) / max(S.pull_length * self.G_max, 1)
            else:
                elapsed = G / max(self.closing_generation, 1)
            to_go = (1 - elapsed) ** S.cp if elapsed < 1 else (1.0 if S.cp == 0 else 0.0)
            rf = sum(1 for p in self.population if p.phi == 0) / self.NP
            if S.schedule == "quantile":  # the violation below which a shrinking share of the population lies
                place = min(math.floor(S.theta * self.NP * to_go), self.NP - 1)
                self.eps = min(self.population[place].phi, sys.float_info.max) if elapsed < 1 else 0.0
            elif S.schedule == "improved" and rf < S.alpha:
                self.eps = (1 - S.tau) * self.eps
            else:
                self.eps = self.eps_0 * to_go

    # 3.3 and 3.4 Parameters and trial vectors

    def trials(
        self, targets_and_strategies: list[tuple[int, int]], anew: bool, rng: Any, rescuing: bool = False
    ) -> list[Trial]:
        """A trial each; in the first generation of a new cycle, points from anywhere in the box in their places.

        To rescue a run that has no feasible point, points around its least violating one in the places of the first
        strategy: as far as a tenth of the box the first of them, and nearly a hundred-millionth of it the last.
        """
        S, m = self.settings, len(targets_and_strategies)
        u_cross = rng.uniform(m, self.d)
        u = rng.uniform(5, m)
        u_parents = rng.uniform(3, m)
        z = rng.normal(m)
        u_repair = rng.uniform(m, self.d) if S.repair == "resample" else [None] * m

        made = []
        for t in range(m):
            i, s = targets_and_strategies[t]
            if rescuing and s == RAND:
                near = []
                for j in range(self.d):
                    step = (self.upper[j] - self.lower[j]) * 10.0 ** -(1 + 7 * t / self.T)
                    near.append(self.nearest.x[j] + step * (2 * float(u_cross[t, j]) - 1))
                    near[j] = min(max(near[j], self.lower[j]), self.upper[j])
                made.append(Trial(self.judge(near), i, s, math.nan, math.nan))
                continue
            if anew:
                fresh = self.judge(anywhere(u_cross[t], self.lower, self.upper))
                made.append(Trial(fresh, i, s, math.nan, math.nan))
                continue
            u_cell, u_F, u_best, u_kept, u_K = (float(v) for v in u[:, t])
            cell = math.floor(u_cell * S.memory_size)
            F = positive_cauchy(self.M_F[s][cell], u_F)
            CR = min(max(self.M_CR[s][cell] + 0.1 * float(z[t]), 0.0), 1.0)
            v = self.mutant(i, s, F, u_best, u_K, [float(w) for w in u_parents[:, t]])
            x_i = self.population[i].x
            j_rand = math.floor(u_kept * self.d)
            y = []
            for j in range(self.d):
                crossed = s != CURRENT_TO_RAND or S.current_to_rand_crossover
                y.append(v[j] if not crossed or float(u_cross[t, j]) <= CR or j == j_rand else x_i[j])
            made.append(Trial(self.judge(self.in_box(S.repair, y, x_i, u_repair[t])), i, s, F, CR))
        return made

    def mutant(self, i: int, s: int, F: float, u_best: float, u_K: float, u: list[float]) -> list[float]:
        p = self.settings.pbest
        count = p if isinstance(p, int) else max(2, round(p * self.NP))
        r1, r2, r3 = three_parents(self.settings.parents, self.NP, i, s, count, u_best, u)
        x_i, x1, x2, x3 = (self.population[r].x for r in (i, r1, r2, r3))
        K = u_K if s == CURRENT_TO_RAND and self.settings.K == "random" else F
        if s == RAND:
            return [x1[j] + F * (x2[j] - x3[j]) for j in range(self.d)]
        return [x_i[j] + K * (x1[j] - x_i[j]) + F * (x2[j] - x3[j]) for j in range(self.d)]

    # 3.5 The pick among the trials of the top half

    def pick(self, trials: list[Trial], rule: RuleOf) -> list[Trial]:
        if self.settings.pick_from == "all":
            return ranked(trials, rule)[: self.T]
        picked = []
        for i in range(self.T):
            best = trials[i]
            for s in STRATEGIES[1:]:
                rival = trials[s * self.T + i]
                if strictly_better(rule, rival.point, best.point):
                    best = rival
            picked.append(best)
        return picked

    # 3.6 Strategy rates

    def strategy_rates(self) -> list[float]:
        window = self.settings.strategy_window
        recent = [sum(wins[s] for wins in self.wins[-window:]) for s in STRATEGIES]
        if len(self.wins) <= window or sum(recent) == 0:
            return [1 / 3, 1 / 3, 1 / 3]
        return [recent[s] / sum(recent) for s in STRATEGIES]

    # 3.11 Memories

    def memories(self, successes: list[tuple[Trial, float]]) -> None:
        for s in STRATEGIES:
            mine = [(trial, D_func) for trial, D_func in successes if trial.strategy == s]
            if not mine:
                continue
            total = sum(D_func for _, D_func in mine)
            w = [D_func / total for _, D_func in mine]
            F = [trial.F for trial, _ in mine]
            CR = [trial.CR for trial, _ in mine]
            wFF = sum(w[t] * F[t] ** 2 for t in range(len(mine)))
            wF = sum(w[t] * F[t] for t in range(len(mine)))
            self.M_F[s][self.k[s]] = wFF / wF
            self.M_CR[s][self.k[s]] = sum(w[t] * CR[t] for t in range(len(mine)))
            self.k[s] = (self.k[s] + 1) % self.settings.memory_size

    # Which rule a setting names

    def rule(self, setting: str, stage_rule: RuleOf) -> RuleOf:
        return stage_rule if setting == "stage" else FEASIBILITY


# Comparisons (3.8, 3.9): y the trial, x the parent. A point without values is worse than any other.


def f_decides(rule: RuleOf, y: Point, x: Point) -> bool:
    return bool(rule == PUSH or (y.phi <= rule and x.phi <= rule) or y.phi == x.phi)


def accepts(rule: RuleOf, y: Point, x: Point) -> bool:
    if y.failed or x.failed:
        return not y.failed
    return y.f <= x.f if f_decides(rule, y, x) else y.phi < x.phi


def strictly_better(rule: RuleOf, y: Point, x: Point) -> bool:
    if y.failed or x.failed:
        return x.failed and not y.failed
    return y.f < x.f if f_decides(rule, y, x) else y.phi < x.phi


def gain(rule: RuleOf, y: Point, x: Point) -> float:
    if x.failed or not strictly_better(rule, y, x):
        return 0.0
    amount = x.f - y.f if f_decides(rule, y, x) else x.phi - y.phi
    return amount if math.isfinite(amount) else 0.0


def fallen(new: float, old: float, share: float) -> bool:
    return new < (old if old == math.inf else old - share * abs(old))


def ranked(trials: list[Trial], rule: RuleOf) -> list[Trial]:
    """Insertion sort, best first; a trial passes only those that it is strictly better than."""
    result: list[Trial] = []
    for trial in trials:
        place = len(result)
        while place > 0 and strictly_better(rule, trial.point, result[place - 1].point):
            place -= 1
        result.insert(place, trial)
    return result


# Draws, each from one uniform number by inverse distribution


def three_parents(
    scheme: str, NP: int, i: int, s: int, count: int, u_best: float, u: list[float]
) -> tuple[int, int, int]:
    """Three ranks, different from each other and from i. For current-to-pbest the first is one of the `count` best."""
    alike = [1] * NP
    if scheme == "ranked-top":  # rank r = 1, 2, .. counts NP - r, only the top half
        weights = [NP - (r + 1) if r < math.floor(NP / 2 + 0.5) else 0 for r in range(NP)]
    elif scheme == "ranked-rand" and s == RAND:  # the same over all ranks
        weights = [NP - (r + 1) for r in range(NP)]
    else:
        weights = alike
    if s == CURRENT_TO_PBEST:
        r1 = draw_index(u_best, [1 if r < count else 0 for r in range(NP)], {i})
    else:
        r1 = draw_index(u[0], weights, {i})
    r2 = draw_index(u[1], weights, {i, r1})
    r3 = draw_index(u[2], alike, {i, r1, r2})
    if scheme == "best-of-three" and s == RAND:  # the best changes places with the first
        if r2 < r1 and r2 < r3:
            r1, r2 = r2, r1
        elif r3 < r1 and r3 < r2:
            r1, r3 = r3, r1
    return r1, r2, r3


def draw_index(u: float, weights: list[int], forbidden: set[int]) -> int:
    """An allowed index, by weight: cumulate the weights in rising order until floor(u * total) is passed."""
    allowed = [(r, weights[r]) for r in range(len(weights)) if r not in forbidden]
    goal = math.floor(u * sum(weight for _, weight in allowed))
    passed = 0
    for r, weight in allowed:
        passed += weight
        if passed > goal:
            return r
    raise AssertionError("no allowed index has weight")


def draw_by_rate(u: float, rates: list[float]) -> int:
    passed = 0.0
    for s in STRATEGIES[:-1]:
        passed += rates[s]
        if u < passed:
            return s
    return STRATEGIES[-1]


def positive_cauchy(location: float, u: float) -> float:
    """A Cauchy number of scale 0.1 that is positive, and 1 where it is more; the larger u, the smaller.

    NumPy's arctan and tan, as Python's may differ in the last bit: among few members a trial can be its target but for
    rounding, and that must be a success for both versions or for neither.
    """
    below_zero = 0.5 + float(np.arctan((0.0 - location) / 0.1)) / math.pi
    p = 1.0 - u * (1.0 - below_zero)
    F = location + 0.1 * float(np.tan(math.pi * (p - 0.5)))
    return min(max(F, sys.float_info.min), 1.0)
