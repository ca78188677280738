"""Problems from and to pymoo and pygmo. The tests that need these libraries run where they are installed."""

import sys

import numpy as np
import pytest

import ppsde
from ppsde.bridges import PygmoProblem


def point(x):
    return x[0] + 2 * x[1], [x[0] ** 2 + x[1] ** 2 - 1, x[0] - 3], [x[0] - x[1]]


POINTS = np.array([[0.5, -1.0], [2.0, 2.0], [0.0, 0.25]])
PROBLEM = ppsde.Problem(point, [(-2, 2), (-3, 3)], name="tilted", tolerance=1e-3)
UNCONSTRAINED = ppsde.Problem(lambda x: (x**2).sum(axis=1), [(-2, 2)] * 3, vectorized=True)


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymoo", None)
    monkeypatch.setitem(sys.modules, "pymoo.core.problem", None)
    monkeypatch.setitem(sys.modules, "pygmo", None)
    with pytest.raises(ImportError, match="to_pygmo needs pygmo; install it with: pip install pygmo"):
        ppsde.to_pygmo(PROBLEM)
    with pytest.raises(ImportError):
        ppsde.to_pymoo(PROBLEM)


def test_what_is_no_pymoo_problem_is_refused():
    with pytest.raises(ValueError, match="expected a pymoo problem; got int"):
        ppsde.from_pymoo(3)


def test_pygmo_gets_the_objective_then_equalities_then_inequalities():
    there = PygmoProblem(PROBLEM)
    assert (there.get_nec(), there.get_nic(), there.get_name()) == (1, 2, "tilted")
    assert np.array_equal(there.get_bounds(), [[-2, -3], [2, 3]])
    assert np.array_equal(there.fitness([0.5, -1.0]), [-1.5, 1.5, 0.25, -2.5])
    assert np.array_equal(there.batch_fitness(POINTS.ravel()), np.ravel([there.fitness(x) for x in POINTS]))
    assert np.array_equal(PygmoProblem(UNCONSTRAINED).fitness([1.0, 1.0, 2.0]), [6.0])
    with pytest.raises(ValueError, match="expected a ppsde Problem; got int"):
        PygmoProblem(3)


def test_a_problem_that_says_how_many_constraints_it_has_is_not_evaluated():
    def never(x):
        raise AssertionError("evaluated")

    there = PygmoProblem(ppsde.Problem(never, [(0, 1)], n_ineq=2, n_eq=1))
    assert (there.get_nec(), there.get_nic()) == (1, 2)


def test_pygmo_solves_ours():
    pygmo = pytest.importorskip("pygmo")
    there = ppsde.to_pygmo(PROBLEM)
    assert np.array_equal(there.c_tol, [1e-3, 0.0, 0.0])
    assert there.feasibility_x([-0.5, -0.5]) and not there.feasibility_x([-0.5, -0.51])
    plain = pygmo.population(ppsde.to_pygmo(UNCONSTRAINED), size=20, seed=1)
    assert pygmo.algorithm(pygmo.sade(gen=100, seed=1)).evolve(plain).champion_f[0] < 1e-3


def test_pymoo_gets_the_same_values_and_gives_them_back():
    pytest.importorskip("pymoo")
    there = ppsde.to_pymoo(PROBLEM)
    f, g, h = PROBLEM.evaluate(POINTS)
    F, G, H = there.evaluate(POINTS)
    assert np.array_equal(F[:, 0], f) and np.array_equal(G, g) and np.array_equal(H, h)
    assert there.name() == "tilted" and np.array_equal(there.bounds(), [[-2, -3], [2, 3]])
    back = ppsde.from_pymoo(there)
    assert (back.name, back.n_ineq, back.n_eq, back.dimension) == ("tilted", 2, 1, 2)
    for mine, theirs in zip((f, g, h), back.evaluate(POINTS), strict=True):
        assert np.array_equal(mine, theirs)
    assert ppsde.to_pymoo(UNCONSTRAINED).evaluate(np.ones((2, 3))).tolist() == [[3.0], [3.0]]


def test_a_problem_of_pymoo_is_solved():
    problems = pytest.importorskip("pymoo.problems")
    problem = ppsde.from_pymoo(problems.get_problem("g6"))
    result = ppsde.minimize(problem, max_evaluations=20_000, rng=1)
    assert result.feasible and result.fun == pytest.approx(-6961.81388, abs=1.0)


def test_an_elementwise_problem_of_pymoo_is_taken_too():
    core = pytest.importorskip("pymoo.core.problem")

    class One(core.ElementwiseProblem):
        def __init__(self):
            super().__init__(n_var=2, n_obj=1, n_ieq_constr=1, xl=0.0, xu=1.0)

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"], out["G"] = x.sum(), [0.5 - x[0]]

    f, g, h = ppsde.from_pymoo(One()).evaluate([[0.25, 0.5], [1.0, 1.0]])
    assert f.tolist() == [0.75, 2.0] and g.tolist() == [[0.25], [-0.5]] and h.shape == (2, 0)


def test_problems_of_pymoo_that_cannot_be_taken_are_named():
    core = pytest.importorskip("pymoo.core.problem")
    variable = pytest.importorskip("pymoo.core.variable")
    for problem, words in (
        (core.Problem(n_var=2, n_obj=2, xl=0.0, xu=1.0), "one objective"),
        (core.Problem(n_var=2, n_obj=1, xl=0, xu=1, vtype=int), "only real variables"),
        (core.Problem(vars={"a": variable.Choice(options=[1, 2])}, n_obj=1), "only real variables"),
        (core.Problem(n_var=2, n_obj=1), "bounds must be given"),
    ):
        with pytest.raises(ValueError, match=words):
            ppsde.from_pymoo(problem)
