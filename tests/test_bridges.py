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


def test_algorithms_and_samplers_name_the_library_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymoo", None)
    monkeypatch.setitem(sys.modules, "pygmo", None)
    monkeypatch.setitem(sys.modules, "optuna", None)
    for call, library in (
        (lambda: ppsde.bridges.PymooAlgorithm, "pymoo"),
        (lambda: ppsde.bridges.OptunaSampler, "optuna"),
        (lambda: ppsde.from_pymoo(3), "pymoo"),
        (lambda: ppsde.from_pygmo(3), "pygmo"),
    ):
        with pytest.raises(ImportError, match=f"needs {library}; install it with: pip install {library}"):
            call()
    with pytest.raises(AttributeError, match="no attribute 'PyMoo'"):
        _ = ppsde.bridges.PyMoo


def test_what_is_no_problem_of_theirs_is_refused():
    pytest.importorskip("pymoo")
    with pytest.raises(ValueError, match="expected a pymoo problem; got int"):
        ppsde.from_pymoo(3)
    with pytest.raises(ValueError, match="expected a ppsde Problem; got int"):
        ppsde.to_pymoo(3)
    pytest.importorskip("pygmo")
    with pytest.raises(ValueError, match="expected a pygmo problem; got int"):
        ppsde.from_pygmo(3)


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
    result = ppsde.minimize(problem, max_evaluations=2000, rng=1)
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
        (core.Problem(n_var=2, n_obj=1, xl=0, xu=1, vtype=str), "variables must be float, int or bool"),
        (core.Problem(vars={"a": variable.Variable()}, n_obj=1), "Real, Integer, Binary or Choice; Problem has"),
        (core.Problem(vars={"a": variable.Real()}, n_obj=1), "bounds must be given; Problem has none for 'a'"),
        (core.Problem(n_var=2, n_obj=1), "bounds must be given"),
    ):
        with pytest.raises(ValueError, match=words):
            ppsde.from_pymoo(problem)


WHOLE = ppsde.Problem(
    lambda x: (((x - [2.6, -0.3, 1.2]) ** 2).sum(), [x[0] + x[1] - 4], []),
    [(0.2, 5.5), (-1, 1), (-4, 4)],
    integrality=[1, 0, 1],
    name="whole",
)


def test_a_problem_with_integers_is_solved_in_integers():
    result = ppsde.minimize(WHOLE, max_evaluations=2000, method="jde", rng=1)
    assert result.x == pytest.approx([3.0, -0.3, 1.0], abs=1e-2) and result.x[0] == 3 and result.x[2] == 1


def test_a_problem_with_allowed_values_is_not_converted():
    chosen = ppsde.Problem(lambda x: x[0], [(0, 5)], choices={0: [1, 2, 5]}, name="chosen")
    for convert in (ppsde.to_pygmo, ppsde.to_pymoo, PygmoProblem):
        pytest.importorskip({"to_pygmo": "pygmo", "to_pymoo": "pymoo"}.get(convert.__name__, "numpy"))
        with pytest.raises(ValueError, match="chosen has variables with allowed values"):
            convert(chosen)


def test_a_problem_without_bounds_is_not_converted():
    pytest.importorskip("pymoo")
    for convert in (ppsde.bridges.PygmoProblem, ppsde.to_pymoo):
        with pytest.raises(ValueError, match="without bounds"):
            convert(ppsde.Problem(lambda x: x[0] ** 2, [(0, None)]))


def test_integers_travel_to_pygmo_and_back():
    there = PygmoProblem(WHOLE)
    assert there.order.tolist() == [1, 0, 2] and there.get_nix() == 2
    assert np.array_equal(there.get_bounds(), [[-1, 1, -4], [1, 5, 4]])
    assert there.fitness([-0.3, 2.6, 1.2]).tolist() == pytest.approx([0.0, -1.7])
    pytest.importorskip("pygmo")
    back = ppsde.from_pygmo(ppsde.to_pygmo(WHOLE))
    assert np.asarray(back.integrality).tolist() == [False, True, True]
    assert ppsde.minimize(back, max_evaluations=2000, method="jde", rng=1).x == pytest.approx(
        [-0.3, 3.0, 1.0], abs=1e-2
    )


def test_integers_travel_to_pymoo_and_back():
    pytest.importorskip("pymoo")
    there = ppsde.to_pymoo(WHOLE)
    kinds = [type(kind).__name__ for kind in there.vars.values()]
    assert kinds == ["Integer", "Real", "Integer"] and there.vars["x0"].bounds == (1, 5)
    back = ppsde.from_pymoo(there)
    assert np.asarray(back.integrality).tolist() == [True, False, True]
    assert ppsde.minimize(back, max_evaluations=2000, method="jde", rng=1).x == pytest.approx(
        [3.0, -0.3, 1.0], abs=1e-2
    )
    tried = []
    every = ppsde.to_pymoo(ppsde.Problem(lambda x: tried.append(x) or x.sum(), [(0.5, 8.5)] * 2, integrality=True))
    assert every.vtype is int and np.all(ppsde.from_pymoo(every).integrality)
    assert (every.xl.tolist(), every.xu.tolist()) == ([1, 1], [8, 8])
    assert np.array_equal(tried, [[5, 5]]), "the function gets whole numbers, also to count its constraints"


def test_choices_and_switches_of_pymoo_are_numbers_here():
    core, kinds = pytest.importorskip("pymoo.core.problem"), pytest.importorskip("pymoo.core.variable")

    class Mixed(core.ElementwiseProblem):
        def __init__(self):
            variables = {
                "material": kinds.Choice(options=["oak", "steel", "tin"]),
                "hollow": kinds.Binary(),
                "length": kinds.Real(bounds=(-2.0, 2.0)),
            }
            super().__init__(vars=variables, n_obj=1)

        def _evaluate(self, x, out, *args, **kwargs):
            assert type(x["hollow"]) is bool and type(x["length"]) is float
            out["F"] = {"oak": 2, "steel": 1, "tin": 3}[x["material"]] + (not x["hollow"]) + x["length"] ** 2

    problem = ppsde.from_pymoo(Mixed())
    assert problem.lower.tolist() == [0, 0, -2] and problem.upper.tolist() == [2, 1, 2]
    assert ppsde.minimize(problem, max_evaluations=2000, method="jde", rng=1).x == pytest.approx([1, 1, 0], abs=1e-2)


def test_a_problem_of_pygmo_has_its_values_and_its_tolerance():
    pygmo = pytest.importorskip("pygmo")
    there = ppsde.to_pygmo(PROBLEM)
    back = ppsde.from_pygmo(there)
    assert (back.name, back.n_ineq, back.n_eq, back.tolerance) == ("tilted", 2, 1, 1e-3)
    for mine, theirs in zip(PROBLEM.evaluate(POINTS), back.evaluate(POINTS), strict=True):
        assert np.array_equal(mine, theirs)
    assert ppsde.from_pygmo(pygmo.cec2006(13)).tolerance == 1e-4  # where pygmo's is 0
    assert ppsde.from_pygmo(pygmo.cec2006(13), tolerance=1e-6).tolerance == 1e-6
    with pytest.raises(ValueError, match="one objective can be solved; ZDT1 has 2"):
        ppsde.from_pygmo(pygmo.zdt(1))
    solved = ppsde.minimize(ppsde.from_pygmo(pygmo.cec2006(6)), max_evaluations=3000, rng=1)
    assert solved.feasible and solved.fun == pytest.approx(-6961.81388, abs=1e-2)
