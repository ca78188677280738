"""`OptunaSampler`: the methods of this library for Optuna's studies with one objective, with or without constraints."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ..algorithms import DEFAULT, make
from ..checks import check_int, either
from ..population import TOLERANCE, Population, evaluated
from ..problem.variables import Variables
from ..streams import seed_from
from .search import Search

CONSTRAINTS = "constraints"  # the system attribute in which Optuna has the values of `constraints_func`
SpaceOf = Mapping[str, BaseDistribution]


class OptunaSampler(BaseSampler):
    """A sampler for `optuna.create_study(sampler=...)`.

    Trials get points of a search that never waits: where one has to, as with `n_jobs`, another begins beside it, as in
    `minimize(..., asynchronous=True)`. Trials that fail or are pruned have no values for it, those that never come back
    do not stop it, and those with parameters of the user's own are known to it. When a search is over, another begins
    with the best trials. Finished trials of a study that is continued are known from the beginning.

    Random are the parameters of the first trial, and those that not all trials have. Processes that share a study
    search each for itself.

    Parameters
    ----------
    method : str
        One of `ppsde.ALGORITHMS`.
    n_trials : int
        How many trials the method plans for; a study may have more or fewer.
    constraints_func : callable, optional
        Gets a finished trial and returns its constraints, each feasible if <= 0, as for Optuna's own samplers. Without
        it, the constraints are those that a trial was given by `set_constraint`, where Optuna has that.
    rng, seed : None, int, SeedSequence or Generator
        Two words for one thing; `seed` is Optuna's.
    options : mapping, optional
        Settings of the method, by name.
    """

    def __init__(
        self,
        method: str = DEFAULT,
        *,
        n_trials: int = 1000,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        rng: Any = None,
        seed: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        make(method, options)  # an error now, if there is one
        if constraints_func is not None and not callable(constraints_func):
            raise ValueError(f"constraints_func must be callable; got {type(constraints_func).__name__}")
        self._method, self._options = method, options
        self._n_trials = check_int("n_trials", n_trials, 1)
        self._constraints_func = constraints_func
        self._seed, self._searches = seed_from(either(rng, seed)), 0
        self._random = RandomSampler(seed=self._seed % 2**32)
        self._intersection = IntersectionSearchSpace()
        self._trials: Trials | None = None
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        """Draw other random parameters from now on."""
        self._random.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters that all trials have, without those with a single value."""
        check_one_direction(study)
        with self._lock:
            space = self._intersection.calculate(study)
        return {name: distribution for name, distribution in space.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameters of the next point that the method asks for."""
        check_one_direction(study)
        if not search_space:
            return {}
        with self._lock:
            if self._trials is None or self._trials.over or self._trials.space.kinds != search_space:
                self._trials = self._begin(study, search_space)
            return self._trials.give(trial.number)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a random value of one parameter."""
        check_one_direction(study)
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Store the constraints of a trial, and its values for the search."""
        f, g = np.nan, np.empty(0)
        if state == TrialState.COMPLETE and values is not None:
            f = values[0] * sign_of(study)
            if self._constraints_func is not None:
                g = _checked(self._constraints_func(trial), trial)
                study._storage.set_trial_system_attr(trial._trial_id, CONSTRAINTS, tuple(g.tolist()))
            else:
                g = constraints_of(trial)
        with self._lock:
            if self._trials is not None:
                self._trials.take(trial, f, g)

    def _begin(self, study: Study, search_space: SpaceOf) -> Trials:
        """Return a new search, with the best trials of the study as known points."""
        space = Space(search_space)
        self._searches += 1
        seed = np.random.SeedSequence([self._seed, self._searches])
        known = known_trials(study, space)

        def search(n_ineq: int) -> Search:
            fits = known is not None and known.g.shape[1] == n_ineq
            return Search(
                space.variables,
                method=self._method,
                options=self._options,
                max_evaluations=self._n_trials,
                seed=seed,
                counts=(n_ineq, 0),
                tolerance=TOLERANCE,
                known=known if fits else None,
            )

        return Trials(space, search, None if known is None else known.g.shape[1])


class Space:
    """The parameters of a study as variables of a search, and the conversion both ways."""

    def __init__(self, kinds: SpaceOf) -> None:
        self.kinds = dict(kinds)
        table = [_as_variable(kind) for kind in kinds.values()]
        lower, upper, integer, log = (np.array(column) for column in zip(*table, strict=True))
        self.variables = Variables(lower, upper, integer, log)

    def params(self, x: np.ndarray) -> dict[str, Any]:
        """Return the parameters of a point (d,)."""
        return {name: _value(kind, float(v)) for (name, kind), v in zip(self.kinds.items(), x, strict=True)}

    def point(self, params: Mapping[str, Any]) -> np.ndarray | None:
        """Return the point (d,) of parameters; None if one is missing or not inside the bounds."""
        try:
            x = np.array([_position(kind, params[name]) for name, kind in self.kinds.items()])
        except (KeyError, ValueError):
            return None
        inside = (x >= self.variables.lower) & (x <= self.variables.upper)
        return x if inside.all() else None


def _by_step(kind: BaseDistribution) -> bool:
    """Return whether a parameter is known by the number of its step or choice."""
    if isinstance(kind, CategoricalDistribution):
        return True
    if isinstance(kind, IntDistribution):
        return not kind.log and kind.step != 1
    return isinstance(kind, FloatDistribution) and kind.step is not None


def _as_variable(kind: BaseDistribution) -> tuple[float, float, bool, bool]:
    """Return lower and upper bound, whether it is an integer, and whether it is searched in its logarithm."""
    if isinstance(kind, CategoricalDistribution):
        return 0.0, len(kind.choices) - 1.0, True, False
    assert isinstance(kind, FloatDistribution | IntDistribution)
    if _by_step(kind):
        return 0.0, float(round((kind.high - kind.low) / (kind.step or 1))), True, False
    return float(kind.low), float(kind.high), isinstance(kind, IntDistribution), bool(kind.log)


def _value(kind: BaseDistribution, position: float) -> Any:
    if isinstance(kind, CategoricalDistribution):
        return kind.choices[int(position)]
    assert isinstance(kind, FloatDistribution | IntDistribution)
    number = kind.low + position * (kind.step or 1) if _by_step(kind) else position
    return int(number) if isinstance(kind, IntDistribution) else float(min(number, kind.high))


def _position(kind: BaseDistribution, value: Any) -> float:
    if isinstance(kind, CategoricalDistribution):
        return float(kind.to_internal_repr(value))
    assert isinstance(kind, FloatDistribution | IntDistribution)
    return float(round((value - kind.low) / (kind.step or 1))) if _by_step(kind) else float(value)


class Trials:
    """A search whose points are given to trials one by one, and which gets the values of each when it is back.

    How many constraints there are may be known only when the first trial is back. Until then the search is one without
    constraints: with the same seed, the first points are the same.
    """

    def __init__(self, space: Space, search: Callable[[int], Search], n_ineq: int | None) -> None:
        self.space, self._new_search, self._n_ineq = space, search, n_ineq
        self._search = search(n_ineq or 0)
        self._asked = 0
        self._waiting: list[np.ndarray] = []  # points that a trial got but did not try
        self._given: dict[int, np.ndarray] = {}  # points that trials try, by number of the trial
        self._failed: list[np.ndarray] = []  # before the number of constraints was known
        self._empty = False  # the search gives out no more points

    @property
    def over(self) -> bool:
        """Whether the search wants no more points."""
        return self._search.done or self._empty

    def give(self, trial: int) -> dict[str, Any]:
        """Return the parameters of the next point, for the trial of that number; none if the search has no more."""
        if not self._waiting:
            x = self._search.take()
            if x is None:
                self._empty = True
                return {}
            self._asked += 1
            self._waiting.append(x)
        x = self._given[trial] = self._waiting.pop(0)
        return self.space.params(self._search.to_user(x))

    def take(self, trial: FrozenTrial, f: float, g: np.ndarray) -> None:
        """Tell the search the values of a trial, f = NaN if it has none."""
        x = self._given.pop(trial.number, None)
        if x is None:
            return
        params = self.space.params(self._search.to_user(x))
        if any(trial.params.get(name, value) != value for name, value in params.items()):
            self._waiting.insert(0, x)  # the user fixed parameters of this trial
            own = self.space.point(trial.params)
            if own is None or not np.isfinite(f):
                return
            x = self._search.to_search(own)
        self._tell(trial, x, f, g)

    def _tell(self, trial: FrozenTrial, x: np.ndarray, f: float, g: np.ndarray) -> None:
        if not np.isfinite(f):
            f = np.nan
        elif self._n_ineq is None:
            self._begin_with(len(g))
        elif len(g) != self._n_ineq:
            self._search.answer(x, np.nan, g)
            raise ValueError(f"trial {trial.number} has {len(g)} constraints; those before had {self._n_ineq}")
        if self._n_ineq is None:
            self._failed.append(x)
        else:
            self._search.answer(x, f, g)

    def _begin_with(self, n_ineq: int) -> None:
        """Begin the search again, as one with so many constraints, and give out the same points."""
        self._n_ineq = n_ineq
        self._search = self._new_search(n_ineq)
        for _ in range(self._asked):
            self._search.take()
        for x in self._failed:
            self._search.answer(x, np.nan, np.empty(0))


def known_trials(study: Study, space: Space) -> Population | None:
    """Return the finished trials of a study as points with values; None if there is none."""
    rows = []
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        x = space.point(trial.params)
        if x is not None and trial.value is not None:
            rows.append((x, trial.value * sign_of(study), constraints_of(trial)))
    if not rows:
        return None
    count = len(rows[-1][2])
    points, f, g = zip(*(row for row in rows if len(row[2]) == count), strict=True)
    return evaluated(np.array(points), np.array(f), np.array(g), np.empty((len(f), 0)), TOLERANCE)


def constraints_of(trial: FrozenTrial) -> np.ndarray:
    """Return the constraints that a trial has (k,), in the order of their names."""
    named = getattr(trial, "constraints", None)
    if named is None:  # an Optuna without `set_constraint`
        return np.array(trial.system_attrs.get(CONSTRAINTS, ()), float)
    keys = sorted(named, key=lambda key: (not key.isdigit(), int(key) if key.isdigit() else 0, key))
    return np.array([named[key] for key in keys], float)


def _checked(values: Any, trial: FrozenTrial) -> np.ndarray:
    try:
        constraints = np.asarray(values, float).reshape(-1)
    except (TypeError, ValueError):
        constraints = np.array([np.nan])
    if np.isnan(constraints).any():
        raise ValueError(f"constraints_func must return numbers; for trial {trial.number} it returned {values!r}")
    return constraints


def sign_of(study: Study) -> float:
    """Return -1 for a study that is maximised, else 1."""
    return -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0


def check_one_direction(study: Study) -> None:
    """Raise ValueError unless a study has one objective."""
    if len(study.directions) != 1:
        raise ValueError(f"OptunaSampler is for studies with one objective; this one has {len(study.directions)}")
