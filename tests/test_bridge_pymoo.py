"""Our methods as an algorithm of pymoo: pymoo's own loop, terminations, callback, history and display."""

import copy

import numpy as np
import pytest

import ppsde

pytest.importorskip("pymoo", reason="pymoo is not installed")
from pymoo.core.callback import Callback
from pymoo.core.problem import ElementwiseProblem, Problem
from pymoo.core.variable import Integer, Real
from pymoo.optimize import minimize
from pymoo.problems import get_problem
from pymoo.termination import get_termination

from ppsde.bridges import PymooAlgorithm

G06 = -6961.81388


class Disc(Problem):
    """x0 + x1 on a disc, at most sqrt(2) from the origin, and on a line."""

    def __init__(self, **more):
        super().__init__(n_var=2, n_obj=1, n_ieq_constr=1, n_eq_constr=1, xl=-2.0, xu=2.0, **more)
        self.calls = 0

    def _evaluate(self, x, out, *args, **kwargs):
        self.calls += len(x)
        out["F"] = x.sum(axis=1)
        out["G"] = (x**2).sum(axis=1) - 2
        out["H"] = x[:, 0] - x[:, 1]


def test_a_problem_of_pymoo_is_solved_by_pymoos_minimize():
    result = minimize(get_problem("g6"), PymooAlgorithm(), ("n_eval", 3000), seed=1)
    assert result.F[0] == pytest.approx(G06, abs=1e-2) and (result.G <= 0).all()
    assert result.algorithm.evaluator.n_eval <= 3000


@pytest.mark.parametrize("method", ["pps-de", "lshade44"])
def test_the_budget_of_the_termination_is_the_budget_of_the_method(method):
    problem = Disc()
    result = minimize(problem, PymooAlgorithm(method), ("n_eval", 777), seed=1)
    assert result.algorithm.evaluator.n_eval == problem.calls == 777


def test_it_is_the_run_of_our_own_minimize():
    theirs = minimize(Disc(), PymooAlgorithm("pps-de"), ("n_eval", 400), seed=5, return_least_infeasible=True)
    ours = ppsde.minimize(ppsde.from_pymoo(Disc()), method="pps-de", max_evaluations=400, rng=np.random.default_rng(5))
    assert np.array_equal(theirs.X, ours.x) and theirs.F[0] == ours.fun


def test_terminations_callback_history_and_display_are_pymoos(capsys):
    class Count(Callback):
        def notify(self, algorithm):
            self.data.setdefault("best", []).append(algorithm.opt[0].F[0])

    result = minimize(
        Disc(), PymooAlgorithm("jde"), get_termination("n_gen", 12), seed=1, callback=Count(), save_history=True,
        verbose=True,
    )  # fmt: skip
    assert result.algorithm.n_iter - 1 == len(result.history) == len(result.algorithm.callback.data["best"]) == 12
    violations = [entry.opt[0].CV[0] for entry in result.history]
    assert violations == sorted(violations, reverse=True)  # the best never gets worse
    assert "n_eval" in capsys.readouterr().out


def test_an_entry_of_the_history_can_be_continued_to_the_same_end():
    whole = minimize(get_problem("g6"), PymooAlgorithm("jde"), ("n_eval", 900), seed=1, save_history=True).algorithm
    half = copy.deepcopy(whole.history[2])
    half.callback, half.display, half.history = Callback(), lambda algorithm: None, []
    half.n_iter += 1  # pymoo stores an entry before it counts it
    half.finalize = lambda: None
    while half.has_next():
        half.next()
    assert np.array_equal(half.opt[0].X, whole.opt[0].X)


def test_it_ends_when_the_method_has_converged():
    result = minimize(Disc(), PymooAlgorithm(max_evaluations=100_000), ("n_gen", 100_000), seed=1)
    assert result.algorithm.evaluator.n_eval < 5000 and result.F[0] == pytest.approx(-2, abs=2e-4)


def test_ask_and_tell_of_pymoo_work():
    algorithm = PymooAlgorithm("jde")
    algorithm.setup(Disc(), termination=("n_gen", 3), seed=1)
    while algorithm.has_next():
        infills = algorithm.ask()
        algorithm.evaluator.eval(algorithm.problem, infills)
        algorithm.tell(infills=infills)
    assert algorithm.result().pop is not None and algorithm.evaluator.n_eval == 300


def test_integer_and_mixed_variables_reach_the_problem_as_they_are():
    class Mixed(ElementwiseProblem):
        def __init__(self):
            super().__init__(vars={"n": Integer(bounds=(0, 9)), "x": Real(bounds=(-2.0, 2.0))}, n_obj=1)

        def _evaluate(self, x, out, *args, **kwargs):
            assert type(x["n"]) is int
            out["F"] = (x["n"] - 3.4) ** 2 + (x["x"] - 0.5) ** 2

    result = minimize(Mixed(), PymooAlgorithm("jde"), ("n_eval", 1500), seed=1)
    assert result.X["n"] == 3 and result.X["x"] == pytest.approx(0.5, abs=1e-2)

    class Whole(Problem):
        def __init__(self):
            super().__init__(n_var=3, n_obj=1, xl=0, xu=9, vtype=int)

        def _evaluate(self, x, out, *args, **kwargs):
            assert x.dtype == int
            out["F"] = ((x - 3.4) ** 2).sum(axis=1)

    result = minimize(Whole(), PymooAlgorithm("jde"), ("n_eval", 1500), seed=1)
    assert result.X.tolist() == [3, 3, 3]


def test_values_that_are_nan_are_never_the_optimum():
    class Holes(Problem):
        def __init__(self):
            super().__init__(n_var=2, n_obj=1, xl=-1.0, xu=1.0)

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"] = np.where(x[:, 0] < 0, np.nan, (x**2).sum(axis=1))

    result = minimize(Holes(), PymooAlgorithm("jde"), ("n_eval", 600), seed=1)
    assert result.X[0] >= 0 and result.F[0] < 1e-2


def test_without_a_feasible_point_pymoo_reports_none_or_the_least_infeasible():
    class Never(Disc):
        def _evaluate(self, x, out, *args, **kwargs):
            super()._evaluate(x, out)
            out["G"] = out["G"] + 9

    assert minimize(Never(), PymooAlgorithm("jde"), ("n_eval", 300), seed=1).X is None
    least = minimize(Never(), PymooAlgorithm("jde"), ("n_eval", 600), seed=1, return_least_infeasible=True)
    assert least.CV[0] == pytest.approx(7, abs=0.5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PymooAlgorithm("jdee"), "jdee"),
        (lambda: PymooAlgorithm("jde", options={"size": 3}), "size"),
        (lambda: minimize(get_problem("zdt1"), PymooAlgorithm(), ("n_gen", 2)), "one objective .* has 2"),
        (lambda: minimize(Disc(), PymooAlgorithm(max_evaluations=0), ("n_gen", 2)), "max_evaluations must be"),
        (lambda: minimize(Problem(n_var=2, n_obj=1), PymooAlgorithm(), ("n_gen", 2)), "bounds must be given"),
    ],
)
def test_bad_input_is_one_clear_sentence(make, words):
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_budget_that_is_none_is_refused_at_once():
    with pytest.raises(ValueError, match="max_evaluations must be an int >= 1; got 0"):
        PymooAlgorithm(max_evaluations=0)
