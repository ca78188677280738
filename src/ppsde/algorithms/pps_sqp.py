"""prototype stage"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace, when
from ..parts.sizing import first_points, inside
from ..parts.sqp import SQP, LocalSearch
from ..population import Population, search_violation, choose, best_of_two, better_rows
from ..streams import Stream
from .pps_de import PPSDE

import os
GENS = int(os.environ.get('GENS','500'))
LEAST_NP = int(os.environ.get('LEAST_NP','20'))
LEAST_TRUST = float(os.environ.get('LEAST_TRUST','0.2'))
FALL_TRUST = float(os.environ.get('FALL_TRUST','0.85'))
KINDS = 'mrhc'
PATTERN = os.environ.get('PATTERN', 'mhmr')
CROSS_RADIUS = float(os.environ.get('CROSS_RADIUS','0.1'))
REMEMBERED = 128
import os
APART = 0.01
APART_FIRST = float(os.environ.get('APART_FIRST','0.1'))
HOP_FROM = float(os.environ.get('HOP_FROM','100'))
SAME_END = float(os.environ.get('SAME_END','0.002'))


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array
    de: Any
    scales: Array
    filled: Array
    search: LocalSearch
    origin: Population
    tried: Array  # (REMEMBERED, d)
    searches: Array
    spent_de: Array
    spent_local: Array
    best: Population
    credit: Array
    trust: Array
    gained: Array


@dataclass(frozen=True)
class PPSSQP:
    needs_constraint_values: ClassVar[bool] = True
    share: float = 0.0
    burst: float = 0.3
    difference: float = 1e-7
    base: Any = field(default_factory=PPSDE)

    def _size(self, task):
        most = max(5 * task.dimension, 40)
        return int(np.clip(min(task.max_evaluations // 10, max(task.max_evaluations // GENS, LEAST_NP)), 8, most))

    def _rate(self, used, trust, task):
        """share of evaluations for local searches now"""
        xp = namespace(trust)
        early = 100.0 * task.dimension
        late = xp.maximum(used / early, 1.0)
        return xp.where(used <= early, 0.9, 0.9 * trust * late**-0.25)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        xp = np if type(task.lower) is np.ndarray else namespace(task.lower)
        n, d = self._size(task), task.dimension
        x = first_points(task, n, rng)
        xp = namespace(x)
        known = len(task.x0) if task.x0 is not None else min(n, max(1, task.max_evaluations // 4))
        points = yield Ask(x, xp.arange(n) < known)
        c = constraint_sizes(points)
        points_n = normalised(points, c, task)
        population = points_n.sorted()
        inner = replace(self.base, population_size=n)._begin(
            population, population.take(slice(0, n // 2)), population.take(slice(0, 1)), xp.asarray(0), xp.asarray(0)
        )
        best = population.take(slice(0, 1))
        search = replace(LocalSearch.begin(best, task), over=~xp.asarray(False))
        return State(
            population=points,
            generation=xp.asarray(0),
            de=inner,
            scales=c,
            filled=xp.asarray(known == n),
            search=search,
            origin=best,
            tried=xp.full((REMEMBERED, d), np.inf),
            searches=xp.asarray(0),
            spent_de=xp.asarray(known),
            spent_local=xp.asarray(0),
            best=best,
            credit=xp.asarray(0.0),
            trust=xp.asarray(1.0),
            gained=xp.asarray(False),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        xp = namespace(state.population.f)
        d = task.dimension
        used = state.spent_local + state.spent_de
        credit, trust = state.credit, state.trust
        r = self._rate(used, trust, task)
        width = xp.where(task.upper > task.lower, task.upper - task.lower, 1.0)
        de, search, tried, searches = state.de, state.search, state.tried, state.searches
        scales, filled = state.scales, state.filled
        sl, sg, origin = state.spent_local, state.spent_de, state.origin
        pick = rng.uniform(1)[0]

        behind = (credit > 0.0) | (used < self.burst * 0.9 * 100.0 * d)
        # begin a search
        u, which, how = rng.uniform(4), rng.uniform(d), rng.uniform(d)
        begins = search.over & behind
        if xp is not np or begins:
            population = de.population
            U = (population.x - task.lower) / width
            distance = xp.abs(U[:, None, :] - tried[None]).max(axis=2).min(axis=1)
            far = (distance > APART_FIRST) & population.valid
            far = xp.where(far.any(), far, (distance > APART) & population.valid)
            rows = population.size
            count = far.sum()
            first = xp.argmax(far)
            place = xp.searchsorted(xp.cumsum(far), xp.floor(pick * count) + 1.0)
            kind = xp.asarray([KINDS.index(c) for c in PATTERN])[searches % len(PATTERN)]
            kind = xp.where((kind > 1) & (used < HOP_FROM * d), 0, kind)
            kind = xp.where((count == 0) & (kind < 2), 2, kind)
            kind = xp.where((searches < 2) & (kind == 3), 2, kind)
            k = xp.where(kind == 0, first, xp.minimum(place, rows - 1))
            member = population.take(k[None])
            best_u = (state.best.x[0] - task.lower) / width
            scale = 10.0 ** (-2.0 + 1.5 * u[0])
            forced = xp.arange(d) == xp.floor(u[1] * d)
            hop = best_u + scale * (2.0 * how - 1.0) * ((which < 0.5 * u[3] ** 2) | forced)
            n_ends = xp.minimum(searches, REMEMBERED // 2)
            end = tried[2 * xp.floor(u[2] * n_ends).astype(int) + 1]
            cross = xp.where((which < 0.5 * u[3]) | forced, end, best_u)
            made = xp.clip(task.lower + width * xp.where(kind == 2, hop, cross), task.lower, task.upper)
            fresh = yield Ask(made[None], xp.broadcast_to(begins & (kind > 1), (1,)))
            sl = sl + fresh.valid.sum()
            fresh = normalised(fresh, scales, task)
            member = choose((kind > 1)[None], fresh, member)
            radius = xp.where(kind == 2, xp.maximum(scale, 0.05), 0.5)
            radius = xp.where(kind == 3, CROSS_RADIUS, radius)
            begins = begins & member.valid[0]
            search = when(begins, lambda: LocalSearch.begin(member, task, radius), search)
            origin = when(begins, lambda: member, origin)
        local = ~search.over
        if xp is not np or local:
            before = search
            used = []
            step = SQP(self.difference).step(search, task, local)
            request = next(step)
            while True:
                points = yield request
                points = renormalised(points, scales, task)
                sl = sl + points.valid.sum()
                try:
                    request = step.send(points)
                except StopIteration as end:
                    search = end.value
                    break
            ends_u = tried[1::2]
            here = (search.point.x[0] - task.lower) / width
            close = (xp.abs(ends_u - here).max(axis=1) < SAME_END).any()
            best_known = state.best
            leads = (search.best.violation[0] < best_known.violation[0]) | ((search.best.violation[0] == best_known.violation[0]) & (search.best.f[0] < best_known.f[0]))
            aborted = local & close & ~leads & ~search.over
            search = replace(search, over=search.over | aborted)
            ends = local & search.over
            bk = state.best
            better_ = (search.best.violation[0] < bk.violation[0] * (1 - 1e-6)) | ((search.best.violation[0] <= bk.violation[0]) & (search.best.f[0] < bk.f[0] - 1e-6 * xp.abs(bk.f[0])))
            gained = state.gained | (local & better_)
            trust = xp.where(ends, xp.where(gained, xp.minimum(1.0, 2.0 * trust), xp.maximum(LEAST_TRUST, FALL_TRUST * trust)), trust)
            gained = gained & ~ends
            ub = (search.best.x[0] - task.lower) / width
            us = (origin.x[0] - task.lower) / width
            at = xp.arange(REMEMBERED)[:, None]
            new = xp.where(at == 2 * searches % REMEMBERED, us, xp.where((at == (2 * searches + 1) % REMEMBERED) & ~aborted, ub, tried))
            tried = xp.where(ends, new, tried)
            searches = searches + ends
        if xp is not np or not local:
            global_ = ~local
            missing = ~filled & global_
            pts = yield Ask(de.population.x, ~de.population.valid & missing)
            if xp is not np or missing:
                merged = choose(pts.valid, pts, de.population)
                sg = sg + pts.valid.sum()
                scales = xp.where(missing, constraint_sizes(merged), scales)
                merged = normalised(merged, scales, task)
                population = merged.sorted()
                de = when(missing, lambda: replace(de, population=population, seen=population.take(slice(0, population.size // 2)), nearest=population.take(slice(0, 1))), de)
                filled = filled | missing
            base = replace(self.base, population_size=de.population.size)
            left = (task.max_evaluations - used) * (1.0 - r) / base.evaluations(de.population.size)
            coroutine = base.planned(de, task, rng, xp.floor(de.generation + left))
            request = next(coroutine)
            while True:
                points = yield Ask(request, xp.broadcast_to(global_ & ~missing, request.shape[:1]))
                sg = sg + points.valid.sum()
                points = renormalised(points, scales, task)
                try:
                    request = coroutine.send(points)
                except StopIteration as end:
                    new = end.value
                    break
            de = when(global_ & ~missing, lambda: new, de)
        raw = raw_of(de.population, task)
        if xp is np and not local:
            gained = state.gained
        credit = credit - (sl - state.spent_local) + (sg - state.spent_de) * r / (1.0 - r)
        best = better_rows(better_rows(state.best, search.best), de.population.take(slice(0, 1)))
        return State(raw, state.generation + 1, de, scales, filled, search, origin, tried, searches, sg, sl, best, credit, trust, gained)

    def answer(self, state, best_member):
        return best_member

    def watch(self, state):
        return {"local": state.spent_local, "global": state.spent_de, "searches": state.searches, "trust": state.trust}


def constraint_sizes(points):
    xp = namespace(points.f)
    c = xp.abs(xp.concatenate([points.g, points.h], axis=1))
    c = xp.where(points.valid[:, None], c, np.nan)
    if not c.shape[1]:
        return xp.zeros(0)
    size = xp.nanmedian(c, axis=0)
    return xp.where(size > 0, size, 1.0)


def normalised(points, scales, task):
    xp = namespace(points.f)
    p = points.g.shape[1]
    t = task.tolerance
    v = (xp.maximum(points.g, 0.0) / scales[:p]).sum(axis=1) + (xp.maximum(xp.abs(points.h) - t, 0.0) / scales[p:]).sum(axis=1)
    return replace(points, violation=xp.where(points.valid, v, np.inf))


renormalised = normalised


def raw_of(points, task):
    xp = namespace(points.f)
    return replace(points, violation=xp.where(points.valid, search_violation(points.g, points.h, task.tolerance), np.inf))
