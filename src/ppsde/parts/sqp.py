"""A local search for smooth problems: sequential quadratic programming with an L1 penalty and a trust region (SL1QP).

Fletcher, "Practical Methods of Optimization", 2nd edition, Wiley (1987), sections 12.4 and 14.4, with Powell's damped
update (1978) and derivatives by differences. `LocalSearch` is plain data between two steps; `step` makes one trial:

  1  if the derivatives at the iterate are not known, ask for d differences, one per variable, which shrink to a tenth
     as the moves do, so that a box far wider than the problem costs little accuracy; where neither the objective nor
     a constraint changes, and for the objective if it changes nowhere, as on a stair, ask for coarser ones; update B,
     the second derivatives, by the last move. The first time, one point more shows whether values are noisy; then ask
     for differences so wide, in the whole search, that noise and curvature make them equally wrong
  2  solve the elastic quadratic program of the model inside the trust region
  3  ask for its solution, the trial; if that disappoints, the next step tries once more, with the curvature of the
     constraints taken into account (second-order correction), and the better of the two counts
  4  move there if the merit function falls; widen or narrow the trust region. The model's error falls like the square
     of the distance from the iterate, but near a kink like the distance itself, and no trust region is narrow enough:
     where two refused trials show this, a move that is refused is from then on shortened along its own direction, and
     the region opens again after each move, as in a line search
  5  if the merit function jumped close to the iterate, find the variables that make the jump, one by one, and put a
     wall in front of them
  6  raise the penalty where constraints could not be met, lower it where their multipliers are small; a move that is
     being shortened is judged by the same penalty until the end

All is computed in coordinates in which the box has width 1, with the objective and each constraint divided by the size
of its gradient. Inequalities aim at a little inside, equalities at nearly all of their tolerance, so that ends are
strictly feasible. Coarse differences lead over the steps of rounded variables as long as the trust region is wide;
then these variables stand still, and the others are refined. A search that pushes ignores all constraints.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from ..algorithm import Ask, Task
from ..arrays import Array, namespace, when
from ..population import Population, best_of_two, choose, constraint_values
from .quadratic import ElasticProgram

DIFFERENCE = 1e-7  # between the iterate and the probes of its derivatives, in widths of the box
SHORT, LEAST_SHARE = 1e-3, 0.1  # a move below which differences shrink like it, to so much of them at least
ROUNDING = 8 * np.finfo(float).eps  # relative size of differences that are no noise
NOISY, NOISIEST = 10.0, 0.03  # noise counts if it wants differences so many times as large; the largest that it gets
COARSE = (0.03, 0.3)  # the same for variables on which nothing seems to depend
WIDER = (0.001, 0.03)  # the same for an objective that seems to depend on nothing
FIRST_RADIUS, LEAST_RADIUS = 0.5, 1e-9  # of the trust region
LEAST_PENALTY, FIRST_PENALTY, LARGEST_PENALTY = 0.1, 10.0, 1e8
INSIDE, FARTHEST_INSIDE = 1e-12, 1e-6  # the distance inside constraints that is aimed at, scaled: at first, at most
AIM = 1.0 - 1e-7  # the share of an equality's tolerance that is aimed at
FADING = 0.3  # the share of its last value that a scale retains at least
DAMPED = 0.2  # the share of its old curvature that B retains along a move at least
RIDGE = 1e-10  # relative size of the diagonal that keeps B regular
DISAPPOINTING, ACCEPTABLE, GOOD = 0.1, 1e-4, 0.7  # shares of the predicted fall
CURVED = 0.3  # the share of a disappointment that curvature of constraints must have made, to be corrected
STEEP = 10.0  # a rise of so many times the predicted fall is a jump,
NEARBY = 1e-4  # if it happens so close to the iterate
KINK = 1.4  # the power of the distance from the iterate like which the model's error falls at most, near a kink
SHORTENED = 6  # times that a move is shortened at most, before B is reset
OPEN = 5.0  # radius of the trust region after a move where there are kinks, in lengths of the move
AGAIN = 0.1  # radius of the trust region behind a new wall
SLOW, NO_FALL = 1e-6, 1e-12  # relative falls of the merit function that are slow, and that are none
PATIENCE = 15.0  # the cost of trials without progress after which a search ends
LEAST = 1e-300  # so that nothing is divided by zero


@dataclass(frozen=True)
class Model:
    """Derivatives at the iterate, and the scales by which they are divided."""

    gradient: Array  # (d,), of f
    jacobian: Array  # (m, d), of g, then h
    B: Array  # (d, d), about the second derivatives of the scaled Lagrangian
    f_scale: Array
    c_scale: Array  # (m,); inf for a constraint without gradient, which no step can change


@dataclass(frozen=True)
class LocalSearch:
    """A local search between two steps."""

    point: Population  # one row, the iterate
    best: Population  # one row, the best point of this search
    model: Model
    difference: Array  # between the iterate and the probes of its derivatives, in widths of the box
    measuring: Array  # bool: noise is measured with the first derivatives
    fresh: Array  # bool: no derivatives were measured yet
    known: Array  # bool: the model belongs to the iterate
    moved: Array  # (d,), the last move, by which B is updated
    multipliers: Array  # (m,)
    radius: Array  # of the trust region
    penalty: Array
    next_penalty: Array  # the same after the present move, other than `penalty` while that is being shortened
    inside: Array  # (m,), the distance inside each constraint that is aimed at
    lower: Array  # (d,), bounds of this search: those of the box, or walls
    upper: Array
    correcting: Array  # bool: the next trial corrects the last one
    tried: Population  # one row, the last trial
    fall: Array  # of the merit function, by that trial
    predicted: Array  # the same by the model
    curvature: Array  # (m,), by how much that trial missed its linearised constraints
    error: Array  # of the model, at the last trial from this iterate that was refused; 0 if there was none
    reach: Array  # the length of that trial's move
    kinked: Array  # bool: a kink was met
    shortened: Array  # how often the last move was shortened
    shorter: Array  # (d,), the next move, if it was
    jumped: Array  # bool: the merit function jumped at that trial, close to the iterate
    reset: Array  # bool: B was reset, because the program was of no use, and nothing was gained since
    pushing: Array  # bool: constraints are ignored
    idle: Array  # the cost of trials without progress
    steps: Array  # made so far
    over: Array  # bool

    @classmethod
    def begin(
        cls,
        point: Population,
        task: Task,
        radius: Array | float = FIRST_RADIUS,
        pushing: Array | bool = False,
        penalty: Array | float = FIRST_PENALTY,
        difference: Array | float = DIFFERENCE,
        measuring: Array | bool = True,
    ) -> LocalSearch:
        """The search that begins at a point, one row; it is over at once if the point has no values.

        If it is `measuring` noise, at the cost of one evaluation, its difference may become larger.
        """
        xp: Any = namespace(point.f)
        d, m = task.dimension, point.g.shape[1] + point.h.shape[1]
        no, zero = xp.asarray(False), xp.asarray(0.0)
        return cls(
            point=point,
            best=point,
            model=Model(xp.zeros(d), xp.zeros((m, d)), xp.eye(d), xp.asarray(1.0), xp.ones(m)),
            difference=xp.asarray(difference),
            measuring=xp.asarray(measuring),
            fresh=~no,
            known=no,
            moved=xp.zeros(d),
            multipliers=xp.zeros(m),
            radius=xp.asarray(radius),
            penalty=xp.asarray(penalty),
            next_penalty=xp.asarray(penalty),
            inside=xp.full(m, INSIDE),
            lower=xp.asarray(task.lower),
            upper=xp.asarray(task.upper),
            correcting=no,
            tried=point,
            fall=zero,
            predicted=zero,
            curvature=xp.zeros(m),
            error=zero,
            reach=zero,
            kinked=no,
            shortened=xp.asarray(0),
            shorter=xp.zeros(d),
            jumped=no,
            reset=no,
            pushing=xp.asarray(pushing),
            idle=zero,
            steps=xp.asarray(0),
            over=~point.valid[0],
        )


def step(search: LocalSearch, task: Task, wanted: Array) -> Generator[Ask, Population, LocalSearch]:
    """The search after one more trial if it is `wanted` (a single bool) and not over; else as it was.

    A sub-coroutine: `search = yield from step(..)`. It costs d + 1 evaluations after a move, else one; the first step
    one more where noise is measured, and d + 2 or 2 d + 2 more where there is some.
    """
    xp = namespace(search.point.f)
    width = widths(task)
    wanted = wanted & ~search.over

    # 1 Derivatives
    probing = wanted & ~search.known
    x = search.point.x[0]
    share = xp.clip(xp.abs(search.moved).max() / SHORT, LEAST_SHARE, 1.0)
    distance = search.difference * xp.where(search.fresh, 1.0, share)
    measured = yield Ask(probes(x, task, distance), xp.broadcast_to(probing, x.shape))
    of_f = measured
    measures = probing & search.fresh & search.measuring
    noise = xp.zeros(1 + search.multipliers.shape[0])
    if xp is not np or measures:
        noise = yield from measured_noise(search, measured, measures, distance, task)
    for coarse, wider in zip(COARSE, WIDER, strict=True):
        noisy = (noise > 0.0).any()
        if xp is not np or noisy:
            best_distance = distance_for(noise, measured, search.point, width)
            noisy = best_distance > NOISY * distance
            distance = xp.where(noisy, best_distance, distance)
        flat = probing & (search.radius >= coarse) & unchanged(measured, search.point)
        level = probing & (search.radius >= wider) & (of_f.f == search.point.f).all()
        if xp is np and not (noisy | flat | level).any():
            break  # NumPy can see that none is; JAX asks for no rows
        apart = xp.where(flat, coarse, xp.where(level, wider, distance))
        again = yield Ask(probes(x, task, apart), noisy | flat | level)
        measured = choose((noisy | flat) & again.valid, again, measured)
        of_f = choose((noisy | flat | level) & again.valid, again, of_f)
    search = replace(search, difference=xp.where(measures, distance, search.difference))
    search = when(probing, lambda: learnt(search, measured, of_f, width), search)
    wanted = wanted & ~search.over

    # 2 The quadratic program; it is of no use at the end of a search, unless that is outside of constraints by rounding
    program, shortened = program_of(search, task, width), search.shortened > 0
    solution, row_multipliers = program.solve(wanted & ~shortened)
    move = xp.where(shortened, search.shorter, solution)
    still = xp.zeros_like(move)
    missed, missed_now = program.missed(move), program.missed(still)
    predicted = program.value(still) - program.value(move)
    solved = wanted & ~shortened
    search = when(solved, lambda: replace(search, multipliers=by_constraint(row_multipliers, search.point)), search)
    first = solved & ~search.correcting
    size = xp.maximum(1.0, xp.abs(search.point.f[0] / search.model.f_scale))
    done = first & (xp.abs(move).max() < LEAST_RADIUS * 0.1)
    useless = first & ~done & ~(predicted >= 1e-14 * size)
    outside = outside_by_rounding(search.point, search, task) & (search.inside < FARTHEST_INSIDE)
    ending = done | (useless & search.reset)
    deeper = ending & outside.any()
    search = replace(
        search,
        inside=xp.where(deeper, farther_inside(search, outside), search.inside),
        over=search.over | (ending & ~deeper),
        reset=search.reset | useless,
        model=when(useless, lambda: replace(search.model, B=xp.eye(task.dimension)), search.model),
    )

    # 3, 4 The trial
    trying = wanted & ~done & ~useless
    trial_x = xp.clip(search.point.x + width * move, task.lower, task.upper)
    trial = yield Ask(trial_x, xp.broadcast_to(trying, (1,)))
    penalty = adapted_penalty(search.penalty, row_multipliers, missed, missed_now, search.inside.max(initial=0.0))
    search = when(trying, lambda: judged(search, trial, move, predicted, task, width), search)

    # 5 Walls
    jumped = trying & search.jumped & ~search.correcting
    if xp is not np or jumped:
        change = search.tried.x[0] - search.point.x[0]
        alone = xp.clip(search.point.x + xp.diag(change), task.lower, task.upper)
        parts = yield Ask(alone, jumped & (change != 0.0))
        search = when(jumped, lambda: walled(search, parts, change, task), search)

    # 6 The penalty
    next_penalty = xp.where(solved & ~search.correcting, penalty, search.next_penalty)
    penalty = xp.where(search.shortened > 0, search.penalty, next_penalty)
    return replace(
        search,
        penalty=penalty,
        next_penalty=next_penalty,
        error=xp.where(penalty == search.penalty, search.error, 0.0),  # errors of one merit function are compared
        steps=search.steps + wanted,
        over=search.over | (search.idle > PATIENCE) | (search.radius < LEAST_RADIUS),
    )


def widths(task: Task) -> Array:
    """The widths of the box (d,); 1 where it has none."""
    xp = namespace(task.lower)
    return xp.where(task.upper > task.lower, task.upper - task.lower, 1.0)


def probes(x: Array, task: Task, difference: Array | float) -> Array:
    """The d points (d, d) that differ from x (d,) in one variable each, forward where the box allows it."""
    xp = namespace(x)
    distance = xp.maximum(difference * (task.upper - task.lower), 1e-9 * xp.abs(x))
    forward = x + distance
    moved = xp.where(forward <= task.upper, forward, xp.maximum(x - distance, task.lower))
    return xp.where(xp.eye(x.shape[0], dtype=bool), moved[None, :], x[None, :])


def unchanged(measured: Population, point: Population) -> Array:
    """Where (n,) neither the objective nor a constraint differs from that of the point, one row."""
    return (measured.f == point.f) & (constraint_values(measured) == constraint_values(point)).all(axis=1)


def probed_changes(measured: Population, point: Population) -> Array:
    """By how much f and each constraint (d, 1 + m) of the probes (d rows) differ from those of the point, one row."""
    xp = namespace(point.f)
    of_f, of_c = measured.f - point.f, constraint_values(measured) - constraint_values(point)
    return xp.abs(xp.concatenate([of_f[:, None], of_c], axis=1))


def measured_noise(
    search: LocalSearch, measured: Population, wanted: Array, distance: Array, task: Task
) -> Generator[Ask, Population, Array]:
    """The noise of f and of each constraint (1 + m,), if it is `wanted` and matters at this distance of probes; else 0.

    The line on which it is measured goes through the probe (of d rows) that changes most values most.
    """
    xp = namespace(search.point.f)
    changes = probed_changes(measured, search.point)
    doubtful = wanted & measured.valid.all() & (changes > 0.0).any()
    of_most = (changes / xp.maximum(changes.max(axis=0), LEAST)).sum(axis=1).argmax()
    line = [search.point, measured.take(of_most[None])]
    space = line[1].x - search.point.x
    for steps in (2.0, 3.0):  # curvature may make a second difference large, but hardly a third one
        line.append((yield Ask(xp.clip(search.point.x + steps * space, task.lower, task.upper), doubtful[None])))
        noise = xp.where(doubtful, noise_at(line), 0.0)
        doubtful = doubtful & (distance_for(noise, measured, search.point, widths(task)) > NOISY * distance)
        if xp is np and not doubtful:
            break
    return xp.where(doubtful, noise, 0.0)


def noise_at(line: list[Population]) -> Array:
    """The noise of the objective and of each constraint (1 + m,), from points on a line, one row each, evenly spaced.

    It is their highest difference, over that of numbers of size 1. 0 where it is mere rounding of the values, or cannot
    be known, because values are missing or the spaces differ.
    """
    xp = namespace(line[0].f)
    values = [xp.concatenate([point.f, constraint_values(point)[0]]) for point in line]
    space = [xp.abs(b.x - a.x) for a, b in pairwise(line)]
    even = xp.stack([point.valid[0] for point in line]).all()
    for other in space[1:]:
        even = even & (xp.abs(other - space[0]) <= 1e-3 * space[0]).all()
    order, rounding = len(space), ROUNDING * xp.abs(xp.stack(values)).max(axis=0)
    for _ in range(order):
        values = [b - a for a, b in pairwise(values)]
    noise = xp.abs(values[0]) / np.sqrt(comb(2 * order, order))
    return xp.where(even & (noise > rounding) & (noise < np.inf), noise, 0.0)


def distance_for(noise: Array, measured: Population, point: Population, width: Array) -> Array:
    """The distance of probes, in widths, at which noise (1 + m,) and curvature make derivatives equally wrong.

    Curvature counts as large as the slopes that the probes (d rows) show. An inequality that no slope leads to its
    border needs no better derivative than one that would.
    """
    xp = namespace(noise)
    distance = xp.abs(xp.diagonal(measured.x) - point.x[0])[:, None] / width[:, None]
    counts = (distance > 0.0) & measured.valid[:, None]
    slopes = xp.where(counts, probed_changes(measured, point) / xp.where(counts, distance, 1.0), 0.0).max(axis=0)
    room = xp.concatenate([xp.zeros(1), -point.g[0], xp.zeros(point.h.shape[1])])
    sizes = xp.maximum(slopes, room)
    share = xp.where(sizes > 0.0, noise / xp.where(sizes > 0.0, sizes, 1.0), 0.0).max()
    return xp.minimum(2.0 * xp.sqrt(share), NOISIEST)


def learnt(search: LocalSearch, measured: Population, of_f: Population, width: Array) -> LocalSearch:
    """The search with the derivatives that the probes give, their scales, and B updated by the last move.

    Those of the constraints are by `measured`, those of the objective by `of_f` (d rows each).
    """
    xp = namespace(search.point.f)
    point, old = search.point, search.model

    def per_width(probed: Population) -> Array:
        distance = (xp.diagonal(probed.x) - point.x[0]) / width
        counts = distance != 0.0
        return xp.where(counts, 1.0 / xp.where(counts, distance, 1.0), 0.0)

    gradient = (of_f.f - point.f[0]) * per_width(of_f)
    jacobian = ((constraint_values(measured) - constraint_values(point)) * per_width(measured)[:, None]).T
    sound = (measured.valid & of_f.valid).all() & xp.isfinite(gradient).all() & xp.isfinite(jacobian).all()
    gradient, jacobian = xp.where(sound, gradient, 0.0), xp.where(sound, jacobian, 0.0)

    # Scales follow the sizes of gradients, at once where these grow and slowly where they fall.
    fresh = search.fresh
    steepest, slope = xp.abs(jacobian).max(axis=1), xp.maximum(xp.abs(gradient).max(), LEAST)
    f_scale = xp.where(fresh, slope, xp.maximum(slope, FADING * old.f_scale))
    unknown = fresh | ~(old.c_scale < np.inf)
    first_scale = xp.where(steepest > 0.0, steepest, np.inf)
    c_scale = xp.where(unknown, first_scale, xp.maximum(steepest, FADING * old.c_scale))
    unknown, c_scale = unknown | search.pushing, xp.where(search.pushing, np.inf, c_scale)

    # B is that of the Lagrangian with the last multipliers, in the new scales.
    ratio = xp.where(fresh, 1.0, old.f_scale / f_scale)
    growth = xp.where(unknown, 0.0, c_scale) / xp.where(unknown, 1.0, old.c_scale)
    multipliers = search.multipliers * ratio * growth
    change = (gradient - old.gradient) / f_scale + multipliers @ ((jacobian - old.jacobian) / c_scale[:, None])
    updated = damped_update(ratio * old.B, search.moved, change, search.kinked)
    # With more curvature than this no move is longer than the least radius: what made it is far away, or a jump.
    updated = xp.where(xp.diagonal(updated).max() < 1.0 / LEAST_RADIUS, updated, xp.eye(updated.shape[0]))
    return replace(
        search,
        best=best_of_two(best_of_two(search.best, measured), of_f),
        model=Model(gradient, jacobian, xp.where(fresh, old.B, updated), f_scale, c_scale),
        fresh=xp.zeros_like(fresh),
        known=~xp.asarray(False),
        over=~sound,
    )


def damped_update(B: Array, s: Array, y: Array, kinked: Array | bool = False) -> Array:
    """B after a move s (d,) that changed the gradient by y (d,).

    The update of Broyden, Fletcher, Goldfarb and Shanno, with y replaced by a mean of y and B s (Powell) where B would
    lose most of its curvature along s. Where B had too much curvature along s, it is believed to have too much along
    other directions too: all of it is first scaled down (Oren and Luenberger, Management Science 20, 1974), except
    where there are kinks, since B must learn the large curvature across these.
    """
    xp = namespace(s)
    Bs = B @ s
    sBs, sy = s @ Bs, s @ y
    theta = xp.where(sy >= DAMPED * sBs, 1.0, (1.0 - DAMPED) * sBs / xp.where(sBs > sy, sBs - sy, 1.0))
    r = theta * y + (1.0 - theta) * Bs
    sr = s @ r
    sound = (sBs > 1e-16) & (sr > 1e-14 * (s @ s)) & xp.isfinite(r).all()
    sBs, sr = xp.where(sound, sBs, 1.0), xp.where(sound, sr, 1.0)
    shrunk = xp.where(kinked, 1.0, xp.minimum(1.0, sr / sBs))
    new = shrunk * (B - xp.outer(Bs, Bs) / sBs) + xp.outer(r, r) / sr
    return xp.where(sound, new, B)


def program_of(search: LocalSearch, task: Task, width: Array) -> ElasticProgram:
    """The quadratic program at the iterate."""
    xp = namespace(search.point.f)
    model, x, p = search.model, search.point.x[0], search.point.g.shape[1]
    c = constraint_values(search.point)[0] / model.c_scale + xp.where(search.correcting, search.curvature, 0.0)
    free = task.upper > task.lower  # a fixed variable has no gradient, so it does not move
    lower, upper = xp.where(free, search.lower, x - 1.0), xp.where(free, search.upper, x + 1.0)
    J = model.jacobian / model.c_scale[:, None]
    return ElasticProgram(
        model.B + RIDGE * xp.diagonal(model.B).max() * xp.eye(task.dimension),
        model.gradient / model.f_scale,
        xp.concatenate([J, -J[p:]]),
        residuals(c, search, p, task),
        search.penalty,
        xp.maximum((lower - x) / width, -search.radius) - 1e-12,
        xp.minimum((upper - x) / width, search.radius) + 1e-12,
    )


def residuals(c: Array, search: LocalSearch, p: int, task: Task) -> Array:
    """The values that must be 0 or less (.., p + 2 q), for scaled constraints c (.., m): g, h, -h with their aims."""
    xp = namespace(c)
    scale = search.model.c_scale
    counts = scale < np.inf
    band = xp.maximum(AIM * task.tolerance / scale[p:] - (search.inside[p:] - INSIDE), 0.0)
    g = xp.where(counts[:p], c[..., :p] + search.inside[:p], -1.0)
    above, below = c[..., p:] - band, -c[..., p:] - band
    return xp.concatenate([g, xp.where(counts[p:], above, -1.0), xp.where(counts[p:], below, -1.0)], axis=-1)


def by_constraint(row_multipliers: Array, point: Population) -> Array:
    """The multipliers of the constraints (m,), from those of the rows of the program (p + 2 q,)."""
    p, q = point.g.shape[1], point.h.shape[1]
    h = row_multipliers[p : p + q] - row_multipliers[p + q :]
    return namespace(row_multipliers).concatenate([row_multipliers[:p], h])


def merits(points: Population, search: LocalSearch, task: Task) -> Array:
    """The merit function at points (n,): f and the penalty of the constraints, scaled."""
    xp = namespace(points.f)
    rows = residuals(constraint_values(points) / search.model.c_scale, search, points.g.shape[1], task)
    return points.f / search.model.f_scale + search.penalty * xp.maximum(rows, 0.0).sum(axis=1)


def adapted_penalty(penalty: Array, row_multipliers: Array, missed: Array, missed_now: Array, inside: Array) -> Array:
    """The penalty, raised if it held constraints back and they were missed, lowered if it is far above multipliers.

    Constraints are not missed by less than the distance `inside` that was aimed at.
    """
    xp = namespace(penalty)
    largest = row_multipliers.max(initial=0.0)
    short = (largest > 0.99 * penalty) & (missed > 1e-8 + inside + 0.1 * missed_now)
    factor = xp.where(short, 10.0, xp.where(largest < 0.1 * penalty, 0.3, 1.0))
    return xp.clip(factor * penalty, LEAST_PENALTY, LARGEST_PENALTY)


def judged(
    search: LocalSearch, trial: Population, move: Array, predicted: Array, task: Task, width: Array
) -> LocalSearch:
    """The search after a trial, one row, that the model made by `move` (d,) and from which it `predicted` a fall."""
    xp = namespace(search.point.f)
    model, p = search.model, search.point.g.shape[1]
    value = merits(search.point, search, task)[0]
    fall = xp.where(trial.valid[0], value - merits(trial, search, task)[0], -np.inf)
    best = best_of_two(search.best, trial)

    c = constraint_values(search.point)[0] / model.c_scale
    expected, found = c + (model.jacobian @ move) / model.c_scale, constraint_values(trial)[0] / model.c_scale
    curvature = xp.where(model.c_scale < np.inf, found - expected, 0.0)
    missed = [xp.maximum(residuals(values, search, p, task), 0.0).sum() for values in (expected, found)]
    by_curvature = search.penalty * (missed[1] - missed[0]) > CURVED * (predicted - fall)
    uncorrected = trial.valid[0] & ~search.correcting & (search.shortened == 0)
    disappoints = uncorrected & (fall < DISAPPOINTING * predicted) & by_curvature
    decided = _decided(search, trial, fall, predicted, value, best, task, width)
    correcting = replace(
        search,
        best=best,
        correcting=~search.correcting,
        tried=trial,
        fall=fall,
        predicted=predicted,
        curvature=curvature,
    )
    return when(disappoints, lambda: correcting, decided)


def _decided(
    search: LocalSearch,
    trial: Population,
    fall: Array,
    predicted: Array,
    value: Array,
    best: Population,
    task: Task,
    width: Array,
) -> LocalSearch:
    """The search after a trial that is not corrected any more: the iterate moves, or the trust region narrows."""
    xp = namespace(search.point.f)
    first, first_fall = (
        choose(search.correcting[None], search.tried, trial),
        xp.where(search.correcting, search.fall, fall),
    )
    first_counts = search.correcting & (search.fall >= fall)  # of a trial and its correction, the better one counts
    trial = choose(first_counts[None], search.tried, trial)
    fall = xp.where(first_counts, search.fall, fall)
    predicted = xp.where(search.correcting, search.predicted, predicted)
    move = (trial.x[0] - search.point.x[0]) / width
    length, ratio = xp.abs(move).max(), fall / xp.maximum(predicted, LEAST)

    wide = (ratio > GOOD) & (length > 0.9 * search.radius)
    radius = xp.where(wide, xp.minimum(1.0, 2.0 * search.radius), search.radius)
    radius = xp.where(ratio < DISAPPOINTING, 0.3 * length, radius)
    radius = xp.where(fall > -np.inf, radius, 0.25 * search.radius)  # a trial without values

    accepted = ratio > ACCEPTABLE
    refused = ~accepted & (fall > -np.inf)
    size = xp.maximum(1.0, xp.abs(value))
    promised = (predicted > SLOW * size) | (search.shortened > 0)
    error, reach = predicted - first_fall, xp.abs((first.x - search.point.x)[0] / width).max()
    nearer = (search.error > 0.0) & (reach < 0.99 * search.reach)
    share = xp.where(nearer, reach / xp.maximum(search.reach, LEAST), 1.0)
    kinked = search.kinked | (refused & promised & nearer & (error > search.error * share**KINK))
    shortens = refused & promised & kinked & (search.shortened < SHORTENED) & (length > 10.0 * LEAST_RADIUS)
    useless = refused & ~shortens & (search.shortened > 0)
    part = xp.clip(0.5 * predicted / xp.maximum(predicted - first_fall, LEAST), 0.1, 0.5)
    shorter = part * (first.x[0] - search.point.x[0]) / width
    forgotten = ~refused | useless
    radius = xp.where(shortens, search.radius, xp.where(useless, 0.3 * search.radius, radius))
    opened = xp.minimum(OPEN * length, FIRST_RADIUS)
    opened = xp.where(search.shortened > 0, opened, xp.maximum(radius, opened))
    radius = xp.where(accepted & kinked, opened, radius)

    progress = fall > NO_FALL * size
    cost = xp.where(progress | ~accepted, 1.0, 4.0)  # a move costs the derivatives too
    cost = xp.where(shortens, 0.0, xp.where(useless, 1.0 + SHORTENED, cost))  # shortening is paid for if it was in vain
    # Where constraints are met, a lower merit function alone, by being farther inside, is of no use.
    useful = ~trial.feasible[0] | (best.x != search.best.x).any()
    by_rounding = ~progress & outside_by_rounding(trial, search, task)
    jumped = ~accepted & (fall > -np.inf) & (fall < -STEEP * predicted) & (length < NEARBY) & ~search.jumped
    return replace(
        search,
        point=choose(accepted[None], trial, search.point),
        best=best,
        known=search.known & ~accepted,
        moved=xp.where(accepted, move, search.moved),
        radius=radius,
        inside=farther_inside(search, by_rounding),
        correcting=xp.zeros_like(search.correcting),
        tried=trial,
        fall=fall,
        error=xp.where(forgotten, 0.0, error),
        reach=xp.where(forgotten, 0.0, reach),
        kinked=kinked & ~useless,
        shortened=xp.where(shortens, search.shortened + 1, 0),
        shorter=shorter,
        jumped=jumped,
        model=when(useless, lambda: replace(search.model, B=xp.eye(task.dimension)), search.model),
        reset=(search.reset & ~progress) | useless,
        idle=xp.where((fall > SLOW * size) & useful, 0.0, search.idle + cost),
    )


def outside_by_rounding(point: Population, search: LocalSearch, task: Task) -> Array:
    """The constraints (m,) that a point, one row, misses by as little as a search can at its end."""
    xp = namespace(point.f)
    outside = xp.concatenate([point.g[0], xp.abs(point.h[0]) - task.tolerance]) / search.model.c_scale
    return (outside > 0.0) & (outside < FARTHEST_INSIDE)


def farther_inside(search: LocalSearch, which: Array) -> Array:
    """The distances inside constraints that are aimed at (m,), ten times as far for some of them (m,)."""
    xp = namespace(search.inside)
    return xp.where(which, xp.minimum(10.0 * search.inside, FARTHEST_INSIDE), search.inside)


def walled(search: LocalSearch, parts: Population, change: Array, task: Task) -> LocalSearch:
    """The search with walls before the variables whose change (d,) alone, `parts` (d rows), makes half of the jump."""
    xp = namespace(search.point.f)
    rise = merits(parts, search, task) - merits(search.point, search, task)[0]
    guilty = parts.valid & (change != 0.0) & (rise > -0.5 * search.fall)
    x = search.point.x[0]
    return replace(
        search,
        lower=xp.where(guilty & (change < 0.0), x, search.lower),
        upper=xp.where(guilty & (change > 0.0), x, search.upper),
        radius=xp.where(guilty.any(), AGAIN, search.radius),
        shortened=xp.where(guilty.any(), 0, search.shortened),
    )
