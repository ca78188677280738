"""A local search for smooth problems: sequential quadratic programming with an L1 penalty and a trust region (SL1QP).

Fletcher, "Practical Methods of Optimization", 2nd edition, Wiley (1987), sections 12.4 and 14.4, with the damped update
of Powell (1978) and derivatives by differences. A `LocalSearch` is plain data, and one call of `step` does one trial:

  1  if the derivatives at the iterate are not known: ask for d differences, update B from the last move
  2  solve the elastic quadratic program of the model inside the trust region
  3  if its solution misses constraints that a larger penalty would meet: raise the penalty; no trial
  4  ask for the trial; if it disappoints, the next step tries once more with the constraints' curvature corrected
  5  accept it if the merit function falls; widen or narrow the trust region

Everything is computed in coordinates in which the box has width 1, with the objective and each constraint divided by
the size of its first gradient. Inequalities aim at a little inside, equalities at nearly all of their tolerance, so
that ends are feasible strictly. A variable on which nothing depends, such as one that is rounded, does not move.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
import os
from typing import Any

import numpy as np

from ..algorithm import Ask, Task
from ..arrays import Array, namespace, when
from ..population import Population, best_of_two, choose
from .quadratic import ElasticProgram

INSIDE = 1e-9  # the distance inside inequalities that is aimed at, scaled
FARTHEST_INSIDE = 1e-6
TINY = 1e-100
NEAR = 1e-4
TWO_QPS = bool(int(os.environ.get("TWO_QPS","0")))
EASE = float(os.environ.get("EASE","0.3"))
AGAIN = 0.1
RIDGE = 1e-10
AIM = 1.0 - 1e-5  # the share of an equality's tolerance that is aimed at
FIRST_PENALTY, LARGEST_PENALTY = 10.0, 1e8
FIRST_RADIUS, LEAST_RADIUS = 0.5, 1e-9  # of the trust region; the box has width 1
PATIENCE = 15.0  # cost of trials without progress after which a search ends

SLOW = float(os.environ.get("SLOW","1e-6"))
FADING = float(os.environ.get("FADING","0.3"))
COARSE = eval(os.environ.get("COARSE","(0.03,0.3)"))
DAMPED = float(os.environ.get("DAMPED","0.02"))  # least share of its old curvature that B retains along a move
LEAST_FALL = 1e-9  # of the merit function, relative, that counts as progress


@dataclass(frozen=True)
class Model:
    """Values and derivatives at the iterate, scaled: what the quadratic program is made of."""

    gradient: Array  # (d,), of f; not scaled
    jacobian: Array  # (m, d), of g, then h; not scaled
    B: Array  # (d, d), the approximate second derivatives of the Lagrangian
    f_scale: Array
    c_scale: Array  # (m,); inf for a constraint without gradient, which no step can change


@dataclass(frozen=True)
class LocalSearch:
    """A local search between two steps."""

    point: Population  # one row, the iterate
    best: Population  # one row, the best point of this search
    model: Model
    measured: Array  # bool: the model belongs to the iterate
    fresh: Array  # bool: no derivatives were ever measured
    first: Array  # bool: they were measured once
    reset: Array  # bool: B was reset, because the program had no use
    moved: Array  # (d,), the last move, with which B is updated
    multipliers: Array  # (m,)
    radius: Array
    penalty: Array
    correcting: Array  # bool: the next trial corrects the last one
    tried: Population  # one row, the last trial
    fall: Array  # of the merit function by that trial
    predicted: Array
    curvature: Array  # (m,), by how much that trial missed its linearised constraints
    lower: Array  # (d,), bounds of this search: those of the box, or walls that it met
    upper: Array
    jumped: Array  # bool: the last trial met a jump, though it was near
    idle: Array  # the cost of trials without progress
    inside: Array  # (m,), the distance inside each constraint that is aimed at, scaled
    over: Array  # bool

    @classmethod
    def begin(cls, point: Population, task: Task, radius: Any = FIRST_RADIUS) -> LocalSearch:
        """The search that begins at a point, one row."""
        xp: Any = namespace(point.f)
        d = point.x.shape[1]
        m = point.g.shape[1] + point.h.shape[1]
        no, zero = xp.asarray(False), xp.asarray(0.0)
        return cls(
            point=point,
            best=point,
            model=Model(xp.zeros(d), xp.zeros((m, d)), xp.eye(d), xp.asarray(1.0), xp.ones(m)),
            measured=no,
            fresh=~no,
            first=no,
            reset=no,
            moved=xp.zeros(d),
            multipliers=xp.zeros(m),
            radius=xp.asarray(radius),
            penalty=xp.asarray(FIRST_PENALTY),
            correcting=no,
            tried=point,
            fall=zero,
            predicted=zero,
            curvature=xp.zeros(m),
            lower=task.lower,
            upper=task.upper,
            jumped=no,
            idle=zero,
            inside=xp.full(m, INSIDE),
            over=~point.valid[0],
        )


@dataclass(frozen=True)
class SQP:
    """How a local search goes."""

    difference: float = 1e-7  # between the iterate and the probes of derivatives, in widths of the box
    radius: float = FIRST_RADIUS

    def step(self, search: LocalSearch, task: Task, wanted: Array) -> Generator[Ask, Population, LocalSearch]:
        """The search after one more trial, where `wanted` holds and it is not over; else as it was."""
        xp = namespace(search.point.f)
        begin, width = search, xp.where(task.upper > task.lower, task.upper - task.lower, 1.0)
        wanted = wanted & ~search.over

        # 1 Derivatives
        probing = wanted & ~search.measured
        x = probes(search.point.x[0], task, self.difference)
        measured = yield Ask(x, xp.broadcast_to(probing, x.shape[:1]))
        for reach in COARSE:
            flat = probing & (search.radius >= reach) & unchanged(measured, search.point)
            if xp is np and not flat.any():
                break
            coarse = yield Ask(probes(search.point.x[0], task, reach), flat)
            measured = choose(flat & coarse.valid, coarse, measured)
        search = when(probing, lambda: learnt(search, measured, width), search)
        wanted = wanted & ~search.over

        # 2 The quadratic program
        program = program_of(search, task, width)
        d, rows = program.solve(wanted)

        # 3 The penalty
        first = wanted & ~search.correcting
        missed, before = program.missed(d), program.missed(xp.zeros_like(d))
        at_limit = rows.max(initial=0.0) > 0.99 * search.penalty
        short = first & at_limit & (missed > 1e-8 + 0.1 * before)
        if TWO_QPS:
            dearer = replace(program, penalty=10.0 * program.penalty)
            short = short & (search.penalty < LARGEST_PENALTY)
            dearer_d, dearer_rows = when(short, lambda: dearer.solve(short), (d, rows))
            helps = short & (dearer.missed(dearer_d) < 0.9 * missed)
            d, rows = xp.where(helps, dearer_d, d), xp.where(helps, dearer_rows, rows)
            search = replace(search, penalty=xp.where(helps, dearer.penalty, search.penalty))
            program = replace(program, penalty=search.penalty)
            new_penalty = search.penalty
        else:
            easy = first & (rows.max(initial=0.0) < 0.1 * search.penalty)
            factor = xp.where(short, 10.0, xp.where(easy, EASE, 1.0))
            new_penalty = xp.clip(factor * search.penalty, FIRST_PENALTY, LARGEST_PENALTY)
        predicted = program.value(xp.zeros_like(d)) - program.value(d)
        search = when(wanted, lambda: replace(search, multipliers=folded(rows, search)), search)
        small = 1e-14 * xp.maximum(1.0, xp.abs(search.point.f[0] / search.model.f_scale))
        ended = first & ((xp.abs(d).max() < 1e-10) | ~(predicted >= small))
        hopeless = ended & ((xp.abs(d).max() < 1e-10) | search.reset)
        search = replace(
            search,
            over=search.over | hopeless,
            reset=search.reset | ended,
            model=when(ended, lambda: replace(search.model, B=xp.eye(d.shape[0])), search.model),
        )

        # 4, 5 The trial
        trying = wanted & ~ended
        trial = yield Ask(
            xp.clip(search.point.x + width * d, task.lower, task.upper), xp.broadcast_to(trying, (1,))
        )
        search = when(trying, lambda: judged(search, trial, d, predicted, task, width), search)
        search = when(first & ~search.correcting, lambda: replace(search, penalty=new_penalty), search)

        # 6 Walls
        sounding = trying & search.jumped
        if xp is not np or sounding:
            move = search.tried.x[0] - search.point.x[0]
            alone = search.point.x + xp.diag(move)
            sounded = yield Ask(xp.clip(alone, task.lower, task.upper), sounding & (move != 0.0))
            search = when(sounding, lambda: walled(search, sounded, move, task), search)
        return replace(search, over=search.over | (search.idle > PATIENCE) | (search.radius < LEAST_RADIUS))


def probes(x: Array, task: Task, difference: float) -> Array:
    """The d points (d, d) that differ from x (d,) in one component each, forward where the box allows it."""
    xp = namespace(x)
    step = xp.maximum(difference * (task.upper - task.lower), 1e-9 * xp.abs(x))
    forward = x + step
    moved = xp.where(forward <= task.upper, forward, xp.maximum(x - step, task.lower))
    return xp.where(xp.eye(x.shape[0], dtype=bool), moved[None, :], x[None, :])


def unchanged(measured: Population, point: Population) -> Array:
    """Where neither the objective nor a constraint differs from that of the point, one row."""
    return (measured.f == point.f) & (constraints(measured) == constraints(point)).all(axis=1)


def learnt(search: LocalSearch, measured: Population, width: Array) -> LocalSearch:
    """The search with the derivatives that the probes give, and B updated by the last move."""
    xp = namespace(search.point.f)
    point, old = search.point, search.model
    distance = (xp.diagonal(measured.x) - point.x[0]) / width
    counts = distance != 0.0
    per = xp.where(counts, 1.0 / xp.where(counts, distance, 1.0), 0.0)
    gradient = (measured.f - point.f[0]) * per
    jacobian = ((constraints(measured) - constraints(point)) * per[:, None]).T
    sound = measured.valid.all() & xp.isfinite(gradient).all() & xp.isfinite(jacobian).all()
    gradient, jacobian = xp.where(sound, gradient, 0.0), xp.where(sound, jacobian, 0.0)

    # Scales follow the size of the gradients, at once where they grow and slowly where they fall.
    steepest, size = xp.abs(jacobian).max(axis=1), xp.maximum(xp.abs(gradient).max(), TINY)
    f_scale = xp.where(search.fresh, size, xp.maximum(size, FADING * old.f_scale))
    unknown = search.fresh | ~(old.c_scale < np.inf)
    c_scale = xp.where(
        unknown, xp.where(steepest > 0.0, steepest, np.inf), xp.maximum(steepest, FADING * old.c_scale)
    )
    shrunk = xp.where(search.fresh, 1.0, old.f_scale / f_scale)
    multipliers = xp.where(unknown, 0.0, search.multipliers * shrunk * c_scale / old.c_scale)
    change = (gradient - old.gradient) / f_scale + multipliers @ ((jacobian - old.jacobian) / c_scale[:, None])
    B = when(search.fresh, lambda: old.B, updated(shrunk * old.B, search.moved, change, search.first))
    return replace(
        search,
        best=best_of_two(search.best, measured),
        model=Model(gradient, jacobian, B, f_scale, c_scale),
        measured=~xp.asarray(False),
        first=search.fresh,
        fresh=xp.asarray(False),
        over=~sound,
    )


def updated(B: Array, s: Array, y: Array, first: Array) -> Array:
    """B after a move s (d,) that changed the gradient by y (d,): the damped update of Powell; B is scaled at first."""
    xp = namespace(s)

    def damped(B: Array) -> tuple[Array, Array, Array, Array]:
        Bs = B @ s
        sBs, sy = s @ Bs, s @ y
        theta = xp.where(sy >= DAMPED * sBs, 1.0, (1.0 - DAMPED) * sBs / xp.where(sBs > sy, sBs - sy, 1.0))
        r = theta * y + (1.0 - theta) * Bs
        return Bs, sBs, r, s @ r

    _, _, r, sr = damped(B)
    factor = xp.clip(r @ r / xp.where(sr > 0.0, sr, 1.0), 1e-4, 1e4)
    B = xp.where(first & (sr > 0.0), B * factor, B)
    Bs, sBs, r, sr = damped(B)
    sound = (sBs > 1e-16) & (sr > 1e-14 * (s @ s)) & xp.isfinite(r).all()
    new = B - xp.outer(Bs, Bs) / xp.where(sound, sBs, 1.0) + xp.outer(r, r) / xp.where(sound, sr, 1.0)
    return xp.where(sound, new, B)


def program_of(search: LocalSearch, task: Task, width: Array) -> ElasticProgram:
    """The quadratic program at the iterate."""
    xp = namespace(search.point.f)
    model, x = search.model, search.point.x[0]
    p = search.point.g.shape[1]
    c = constraints(search.point)[0] / model.c_scale + xp.where(search.correcting, search.curvature, 0.0)
    upper = xp.where(task.upper > task.lower, search.upper, x + 1.0)
    lower = xp.where(task.upper > task.lower, search.lower, x - 1.0)
    J = model.jacobian / model.c_scale[:, None]
    return ElasticProgram(
        model.B + RIDGE * xp.diagonal(model.B).max() * xp.eye(x.shape[0]),
        model.gradient / model.f_scale,
        xp.concatenate([J, -J[p:]]),
        residuals(c, search, p, task),
        search.penalty,
        xp.maximum((lower - x) / width, -search.radius) - 1e-12,
        xp.minimum((upper - x) / width, search.radius) + 1e-12,
    )


def residuals(c: Array, search: LocalSearch, p: int, task: Task) -> Array:
    """What each row of the program must bring to 0 or below, from the scaled constraints c (m,): g, h and -h."""
    xp = namespace(c)
    model = search.model
    tolerance = xp.maximum(AIM * task.tolerance / model.c_scale[p:] - (search.inside[p:] - INSIDE), 0.0)
    counts = model.c_scale < np.inf
    g = xp.where(counts[:p], c[..., :p] + search.inside[:p], -1.0)
    up, down = c[..., p:] - tolerance, -c[..., p:] - tolerance
    return xp.concatenate([g, xp.where(counts[p:], up, -1.0), xp.where(counts[p:], down, -1.0)], axis=-1)


def folded(rows: Array, search: LocalSearch) -> Array:
    """The multipliers of the constraints (m,) from those of the program's rows."""
    p, q = search.point.g.shape[1], search.point.h.shape[1]
    xp = namespace(rows)
    return xp.concatenate([rows[:p], rows[p : p + q] - rows[p + q :]])


def merit(point: Population, search: LocalSearch, task: Task) -> Array:
    """f and the penalty of the constraints of one point, scaled."""
    return merits(point, search, task)[0]


def merits(points: Population, search: LocalSearch, task: Task) -> Array:
    """f and the penalty of the constraints of points (n,), scaled."""
    xp = namespace(points.f)
    model, p = search.model, points.g.shape[1]
    rows = residuals(constraints(points) / model.c_scale, search, p, task)
    return points.f / model.f_scale + search.penalty * xp.maximum(rows, 0.0).sum(axis=1)


def judged(
    search: LocalSearch,
    trial: Population,
    d: Array,
    predicted: Array,
    task: Task,
    width: Array,
) -> LocalSearch:
    """The search after its trial."""
    xp = namespace(search.point.f)
    known = trial.valid[0]
    value = merit(search.point, search, task)
    fall = xp.where(known, value - merit(trial, search, task), -np.inf)
    best = best_of_two(search.best, trial)

    # A trial that disappoints is corrected by the next one, unless there is nothing to correct.
    m = search.curvature.shape[0]
    disappoints = known & ~search.correcting & (fall < 0.1 * predicted) & (m > 0)
    curvature = (constraints(trial)[0] - constraints(search.point)[0] - search.model.jacobian @ d) / search.model.c_scale

    # Of a trial and its correction, the better one counts.
    second = search.correcting & (search.fall >= fall)
    trial = choose(second[None], search.tried, trial)
    fall = xp.where(second, search.fall, fall)
    predicted = xp.where(search.correcting, search.predicted, predicted)
    move = (trial.x[0] - search.point.x[0]) / width
    length = xp.abs(move).max()
    ratio = fall / xp.maximum(predicted, 1e-300)
    radius = xp.where(
        ratio < 0.1,
        0.3 * length,
        xp.where((ratio > 0.7) & (length > 0.9 * search.radius), xp.minimum(1.0, 2.0 * search.radius), search.radius),
    )
    radius = xp.where(fall == -np.inf, 0.25 * search.radius, radius)
    accepted = ratio > 1e-4
    size = xp.maximum(1.0, xp.abs(value))
    progress = fall > LEAST_FALL * size
    cost = xp.where(progress | ~accepted, 1.0, 4.0)
    jumped = ~accepted & (fall > -np.inf) & (fall < -10.0 * predicted) & (length < NEAR) & ~search.jumped
    outside = xp.concatenate([trial.g[0], xp.abs(trial.h[0]) - task.tolerance]) / search.model.c_scale
    near = ~progress & (outside > 0.0) & (outside < FARTHEST_INSIDE)  # at the end of a search, outside by rounding or so
    final = replace(
        search,
        reset=search.reset & ~progress,
        inside=xp.where(near, xp.minimum(10.0 * search.inside, FARTHEST_INSIDE), search.inside),
        point=choose(accepted[None], trial, search.point),
        best=best,
        measured=search.measured & ~accepted,
        moved=xp.where(accepted, move, search.moved),
        radius=radius,
        correcting=xp.asarray(False),
        tried=trial,
        fall=fall,
        jumped=jumped,
        idle=xp.where(fall > SLOW * size, 0.0, search.idle + cost),
    )
    correct = replace(
        search,
        best=best,
        correcting=~xp.asarray(False),
        tried=trial,
        fall=fall,
        predicted=predicted,
        curvature=xp.where(search.model.c_scale < np.inf, curvature, 0.0),
    )
    return when(disappoints, lambda: correct, final)


def walled(search: LocalSearch, sounded: Population, move: Array, task: Task) -> LocalSearch:
    """The search with a wall in front of each variable whose part of the move alone makes most of the jump."""
    xp = namespace(search.point.f)
    rise = merits(sounded, search, task) - merit(search.point, search, task)
    guilty = sounded.valid & (move != 0.0) & (rise > -0.5 * search.fall)
    x = search.point.x[0]
    return replace(
        search,
        lower=xp.where(guilty & (move < 0.0), x, search.lower),
        upper=xp.where(guilty & (move > 0.0), x, search.upper),
        radius=xp.where(guilty.any(), AGAIN, search.radius),
    )


def constraints(points: Population) -> Any:
    """All constraints (n, m), g then h."""
    return namespace(points.f).concatenate([points.g, points.h], axis=1)
