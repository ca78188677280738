"""Our methods as a sampler of Optuna: Optuna's own checks of samplers, constraints, failures, parallel trials."""

import numpy as np
import pytest

import ppsde

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
TrialState = optuna.trial.TrialState
OptunaSampler = ppsde.bridges.OptunaSampler

try:
    from optuna.testing import pytest_samplers as checks
except ImportError:
    checks = None


@pytest.fixture(autouse=True)
def quiet():
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def study_of(**settings):
    direction = settings.pop("direction", "minimize")
    return optuna.create_study(sampler=OptunaSampler(seed=1, **settings), direction=direction)


def cost(trial):
    """x^2 + n^2 where x + n >= 1: 1 at (0, 1) and (1, 0)."""
    x, n = trial.suggest_float("x", -5, 5), trial.suggest_int("n", -5, 5)
    trial.set_user_attr("constraints", [1 - x - n])
    return x**2 + n**2


def stored(trial):
    return trial.user_attrs["constraints"]


if checks is not None:

    class TestOptunasOwnChecks(
        checks.BasicSamplerTestCase, checks.RelativeSamplerTestCase, checks.SingleOnlySamplerTestCase
    ):
        @pytest.fixture
        def sampler(self):
            return lambda: OptunaSampler("jde", seed=1)


def test_constraints_are_met_and_stored_where_optuna_looks_for_them():
    study = study_of(n_trials=150, constraints_func=stored)
    study.optimize(cost, n_trials=150)
    best = study.best_trial
    assert best.value == pytest.approx(1, abs=1e-2) and best.user_attrs["constraints"][0] <= 0
    assert [trial.system_attrs["constraints"] for trial in study.trials] == [
        (trial.user_attrs["constraints"][0],) for trial in study.trials
    ]


def test_constraints_set_on_the_trial_are_used():
    if not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("this Optuna has no set_constraint")

    def objective(trial):
        value = cost(trial)
        trial.set_constraint("enough", trial.user_attrs["constraints"][0])
        return value

    named, listed = study_of(method="jde"), study_of(method="jde", constraints_func=stored)
    named.optimize(objective, n_trials=230)
    listed.optimize(cost, n_trials=230)
    assert [trial.params for trial in named.trials] == [trial.params for trial in listed.trials]


def test_maximising_is_minimising_the_negative():
    down, up = study_of(method="jde"), study_of(method="jde", direction="maximize")
    down.optimize(cost, n_trials=210)
    up.optimize(lambda trial: -cost(trial), n_trials=210)
    assert [trial.params for trial in down.trials] == [trial.params for trial in up.trials]


def test_every_kind_of_parameter_keeps_to_its_values():
    study = study_of(method="jde", options={"population_size": 10})

    def objective(trial):
        rate = trial.suggest_float("rate", 1e-6, 1.0, log=True)
        width = trial.suggest_int("width", 8, 512, log=True)
        layers = trial.suggest_int("layers", 1, 9, step=2)
        drop = trial.suggest_float("drop", 0.0, 0.5, step=0.1)
        kind = trial.suggest_categorical("kind", ["adam", "sgd", None])
        assert 1e-6 <= rate <= 1 and width in range(8, 513) and layers in (1, 3, 5, 7, 9)
        assert round(drop * 10) / 10 == pytest.approx(drop) and type(width) is type(layers) is int
        penalty = {"adam": 0, "sgd": 1, None: 2}[kind]
        return (np.log10(rate) + 3) ** 2 + (width - 100) ** 2 / 1e4 + (layers - 5) ** 2 + drop + penalty

    study.optimize(objective, n_trials=400)
    best = study.best_params
    assert best["kind"] == "adam" and best["layers"] == 5 and best["drop"] == 0.0 and study.best_value < 0.1


def test_trials_that_fail_or_are_pruned_do_not_stop_the_search():
    study = study_of(method="jde", options={"population_size": 10})

    def objective(trial):
        x = trial.suggest_float("x", -5, 5)
        if x < -3:
            raise RuntimeError("the mesh collapsed")
        if x > 2:
            raise optuna.TrialPruned
        return x**2

    study.optimize(objective, n_trials=150, catch=RuntimeError)
    states = {trial.state for trial in study.trials}
    assert states == {TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED} and study.best_value < 1e-2


def test_trials_in_threads_share_the_search():
    study = study_of(method="jde", options={"population_size": 8})
    study.optimize(cost, n_trials=160, n_jobs=4)
    assert len(study.trials) == 160 and study.best_value < 0.5


def test_trials_that_begin_while_others_run_are_points_of_the_search(monkeypatch):
    study = study_of(method="jde", options={"population_size": 8}, constraints_func=stored)
    study.optimize(cost, n_trials=1)
    monkeypatch.setattr(OptunaSampler, "sample_independent", None)  # no parameter is random
    for _ in range(10):
        trials = [study.ask() for _ in range(20)]
        values = [cost(trial) for trial in trials]
        for trial, value in list(zip(trials, values, strict=True))[::-1]:
            study.tell(trial, value)
    assert len({tuple(trial.params.values()) for trial in study.trials}) > 190
    assert study.best_value < 2 and study.best_trial.user_attrs["constraints"][0] <= 0


def test_the_search_knows_a_trial_with_parameters_of_the_users_own():
    study = study_of(method="sqp", constraints_func=stored)
    study.optimize(cost, n_trials=3)
    study.enqueue_trial({"x": 0.001, "n": 1})
    study.optimize(cost, n_trials=30)
    near = [trial for trial in study.trials[4:] if abs(trial.params["x"] - 0.001) < 1e-2 and trial.params["n"] == 1]
    assert near and study.best_value < 1.01


def test_trials_that_never_come_back_do_not_stop_the_search():
    study = study_of(method="jde", options={"population_size": 8})
    study.optimize(cost, n_trials=3)
    for _ in range(3):
        cost(study.ask())
    study.optimize(cost, n_trials=150)
    assert study.best_value < 0.5 and sum(trial.state == TrialState.RUNNING for trial in study.trials) == 3


def test_a_study_that_is_continued_knows_its_trials():
    first = study_of(method="jde", n_trials=300, options={"population_size": 10})
    first.optimize(cost, n_trials=100)
    sampler = OptunaSampler("jde", seed=2, options={"population_size": 10})
    again = optuna.create_study(sampler=sampler)
    again.add_trials(first.trials)
    again.optimize(cost, n_trials=12)
    later = [trial.value for trial in again.trials[100:]]
    assert np.median(later) < np.median([trial.value for trial in first.trials[:12]])
    assert not any(trial.params == old.params for trial in again.trials[100:] for old in first.trials)


def test_when_a_search_is_over_another_begins():
    study = study_of(method="jde", n_trials=20, options={"population_size": 10})
    study.optimize(cost, n_trials=70)
    assert len({tuple(trial.params.values()) for trial in study.trials}) > 60


def test_a_trial_with_parameters_of_the_users_own_leaves_its_point_to_the_next():
    def values(enqueued):
        study = study_of(method="jde", options={"population_size": 10})
        study.optimize(cost, n_trials=5)
        if enqueued:
            study.enqueue_trial({"x": 0.25, "n": 2})
        study.optimize(cost, n_trials=20)
        return [trial.params for trial in study.trials]

    plain, with_one = values(False), values(True)
    assert with_one[5] == {"x": 0.25, "n": 2}
    assert with_one[6:] == plain[5:24]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "jdee"}, "jdee"),
        ({"n_trials": 0}, "n_trials must be"),
        ({"constraints_func": 3}, "constraints_func must be callable; got int"),
        ({"options": {"size": 3}}, "size"),
    ],
)
def test_bad_settings_are_one_clear_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        OptunaSampler(**settings)


def test_bad_constraints_are_named_and_no_trial_is_lost():
    study = study_of(method="jde", constraints_func=lambda trial: [0.0] * (1 + (trial.number == 6)))
    with pytest.raises(ValueError, match="trial 6 has 2 constraints; those before had 1"):
        study.optimize(cost, n_trials=20)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 7
    study.optimize(cost, n_trials=3)
    assert len(study.trials) == 10
    study = study_of(method="jde", constraints_func=lambda trial: None)
    with pytest.raises(ValueError, match="must return numbers; for trial 0 it returned None"):
        study.optimize(cost, n_trials=2)
    study = study_of(method="jde", constraints_func=lambda trial: [np.nan])
    with pytest.raises(ValueError, match="must return numbers"):
        study.optimize(cost, n_trials=2)


def test_a_study_with_two_objectives_is_refused():
    study = optuna.create_study(sampler=OptunaSampler(), directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match="studies with one objective; this one has 2"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=1)


def test_the_seed_may_be_called_rng():
    def values(**given):
        study = optuna.create_study(sampler=OptunaSampler("jde", **given))
        study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=5)
        return [trial.value for trial in study.trials]

    assert values(rng=7) == values(seed=7) != values(rng=8)
    with pytest.raises(ValueError, match="rng and seed are two words for one thing; give rng alone"):
        OptunaSampler(rng=7, seed=7)
