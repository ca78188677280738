"""Our methods as a user-defined algorithm of pygmo: alone, in islands, with integers."""

import numpy as np
import pytest

import ppsde
from ppsde.bridges import PygmoAlgorithm

pygmo = pytest.importorskip("pygmo", reason="pygmo is not installed")


def population(problem, size=20):
    return pygmo.population(problem, size, seed=3)


def test_it_finds_the_optimum_and_counts_its_evaluations():
    before = population(pygmo.problem(pygmo.cec2006(6)))
    after = pygmo.algorithm(PygmoAlgorithm(max_evaluations=2000, seed=1)).evolve(before)
    assert after.champion_f[0] == pytest.approx(-6961.81388, abs=1e-2) and (after.champion_f[1:] <= 0).all()
    assert 20 < after.problem.get_fevals() <= 2020
    assert len(np.unique(after.get_x(), axis=0)) == 20
    for x, f in zip(after.get_x(), after.get_f(), strict=True):
        assert np.array_equal(after.problem.fitness(x), f)


def test_evolving_again_goes_on_from_what_is_known_and_never_gets_worse():
    algorithm = pygmo.algorithm(PygmoAlgorithm("lshade44", max_evaluations=200, seed=1))
    there = population(pygmo.problem(pygmo.rosenbrock(5)))
    values = [there.champion_f[0]]
    for _ in range(4):
        there = algorithm.evolve(there)
        values.append(there.champion_f[0])
    assert values == sorted(values, reverse=True) and values[-1] < values[0]
    assert there.problem.get_fevals() == 20 + 4 * 200


def test_the_same_seed_gives_the_same_population():
    def evolved(seed):
        algorithm = pygmo.algorithm(PygmoAlgorithm("jde", max_evaluations=300))
        algorithm.set_seed(seed)
        return algorithm.evolve(population(pygmo.problem(pygmo.ackley(3)))).get_x()

    assert np.array_equal(evolved(4), evolved(4)) and not np.array_equal(evolved(4), evolved(5))
    name = pygmo.algorithm(PygmoAlgorithm("jde", options={"F": 0.7}))
    assert name.get_name() == "ppsde: jde" and "F=0.7" in name.get_extra_info() and name.has_set_seed()


def test_equalities_and_integers_are_pygmos():
    problem = ppsde.Problem(
        lambda x: ((x[0] - 2.6) ** 2 + x[1] ** 2, [], [x[0] + x[1] - 2.5]),
        [(0, 5), (-3, 3)],
        integrality=[1, 0],
        tolerance=1e-3,
    )
    algorithm = pygmo.algorithm(PygmoAlgorithm("lshade44", max_evaluations=3000, seed=1))
    after = algorithm.evolve(population(ppsde.to_pygmo(problem)))
    assert after.champion_x == pytest.approx([-0.5, 3.0], abs=2e-3) and after.champion_x[1] == 3
    assert after.problem.feasibility_f(after.champion_f)


@pytest.mark.slow  # starts processes that import everything
def test_an_archipelago_of_islands_evolves_with_it():
    problem = pygmo.problem(pygmo.cec2006(8))
    archipelago = pygmo.archipelago(
        n=2, algo=PygmoAlgorithm(max_evaluations=500, seed=1), prob=problem, pop_size=10, seed=2
    )
    try:
        archipelago.evolve(2)
        archipelago.wait_check()
        assert min(f[0] for f in archipelago.get_champions_f()) == pytest.approx(-0.095825, abs=1e-5)
    finally:
        pygmo.mp_island.shutdown_pool()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PygmoAlgorithm("jdee"), "jdee"),
        (lambda: PygmoAlgorithm(max_evaluations=0), "max_evaluations must be"),
        (lambda: PygmoAlgorithm(seed=-1), "rng must be an int >= 0"),
        (lambda: PygmoAlgorithm().evolve(population(pygmo.problem(pygmo.zdt(1)))), "one objective .* ZDT1 has 2"),
    ],
)
def test_bad_input_is_one_clear_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_problem_that_raises_loses_nothing_of_the_population():
    class Broken:
        def fitness(self, x):
            if Broken.on:
                raise RuntimeError("the mesh collapsed")
            return [x[0]]

        def get_bounds(self):
            return [0.0], [1.0]

    Broken.on = False
    before = population(pygmo.problem(Broken()))
    kept = before.get_x().copy()
    Broken.on = True
    with pytest.raises(Exception, match="the mesh collapsed"):
        pygmo.algorithm(PygmoAlgorithm(seed=1)).evolve(before)
    assert np.array_equal(before.get_x(), kept)


def test_the_seed_may_be_called_rng():
    def evolved(**given):
        return PygmoAlgorithm("jde", max_evaluations=100, **given).evolve(population(pygmo.problem(pygmo.ackley(3))))

    assert np.array_equal(evolved(rng=7).get_x(), evolved(seed=7).get_x())
    assert not np.array_equal(evolved(rng=8).get_x(), evolved(rng=7).get_x())
    with pytest.raises(ValueError, match="rng and seed are two words for one thing; give rng alone"):
        PygmoAlgorithm(rng=7, seed=7)
