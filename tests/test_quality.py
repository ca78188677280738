"""The quality benchmark: its counter, its file of results, its measures and its errors."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import ppsde
from benchmarks.quality.__main__ import jobs_of, main, parser
from benchmarks.quality.generated import SUITE as GENERATED
from benchmarks.quality.peers import UnitBox, solve
from benchmarks.quality.problems import BudgetSpent, Counter, Variant, noise_of, problem_of
from benchmarks.quality.report import Study, harm, losses_by_stopping, ranks, share, table
from benchmarks.quality.runs import Job, complete, grouped, run, stored
from benchmarks.records import load

SMALL = ["--only=g06|g24", "--suites=cec2006", "--budgets=20", "--seeds=1", "--workers=1", "--peers=slsqp"]
JOB = Job("cec2006", "g06", None, None, 0.0, False, 100, "pps-de", False, 1)
BEST = -6961.813875574909  # of g06
PLAIN = Variant()


def counter_of(name, budget, variant=PLAIN):
    return Counter(problem_of("cec2006", name), budget, variant)


def test_the_counter_counts_rows_remembers_points_and_ends_at_the_budget():
    counter = counter_of("g24", 5)
    best = counter.original.optimum
    x = np.array([[1.0, 1.0], best.x, [2.0, 3.0]])
    counter.rows(x)
    counter.at(x[0])
    counter.at(x[0])
    assert counter.evaluations == 4 and counter.left == 1
    with pytest.raises(BudgetSpent):
        counter.rows(np.array([[0.0, 0.5], [3.0, 4.0]]))
    assert counter.evaluations == 5
    assert counter.at(x[0])[0] == -2.0
    with pytest.raises(BudgetSpent):
        counter.at(x[1])
    assert counter.violation == 0 and counter.f == best.value and np.array_equal(counter.x, best.x)


def test_a_point_that_is_a_little_infeasible_or_has_no_number_is_not_the_answer():
    values = {0.0: (1.0, 0.0), 0.25: (0.0, 1e-12), 0.5: (float("nan"), -1.0), 0.75: (-1.0, float("nan"))}
    problem = ppsde.Problem(lambda x: (values[x[0]][0], [values[x[0]][1]], []), [(0, 1)])
    counter = Counter(problem, 4, PLAIN)
    for at in (0.75, 0.5, 0.25, 0.0):
        counter.rows(np.array([[at]]))
    assert counter.x == [0.0] and counter.f == 1.0


def test_slopes_take_one_evaluation_per_variable_and_stay_in_the_box():
    box = UnitBox(counter_of("g24", 100))
    u = np.array([0.5, 1.0])  # x = (1.5, 4)
    slopes = box.slopes(u)
    assert box.counter.evaluations == 3
    assert np.allclose(slopes[0], [-3.0, -4.0], rtol=1e-6)  # f = -x1 - x2 on a box of widths 3 and 4
    assert box.slopes(u) is slopes and slopes[0].flags.c_contiguous


def test_a_peer_spends_the_budget_and_gets_no_more():
    counter = counter_of("g06", 200)
    assert solve("slsqp", counter, 1) == []
    assert counter.evaluations == 200 and counter.violation == 0
    assert counter.f == pytest.approx(BEST, rel=1e-8)


def test_noise_depends_on_the_point_alone_and_does_not_change_the_judgement():
    x = np.random.default_rng(1).random((20_000, 2))
    noise = noise_of(x)
    assert np.array_equal(noise_of(x[::-1]), noise[::-1]) and noise_of(np.array([[-0.0]])) == noise_of(np.zeros((1, 1)))
    assert abs(noise.mean()) < 0.02 and abs(noise.var() - 1 / 3) < 0.01 and np.abs(noise).max() <= 1
    counter = counter_of("g24", 1, Variant(noise=0.1))
    f = counter.rows(np.array([[1.0, 1.0]]))[0][0]
    assert f != -2.0 and f == pytest.approx(-2.0, rel=0.1) and counter.judged == -2.0


def test_stairs_round_down_by_a_thousandth_of_the_best_known_value():
    counter = counter_of("g24", 1, Variant(staircase=True))  # steps of 0.005508
    f = counter.rows(np.array([[1.0, 1.0]]))[0][0]
    assert f == counter.judged and -2.0 - 0.005508013272 < f <= -2.0
    assert f / 0.005508013271594775 == pytest.approx(-364)


def test_a_run_goes_on_where_it_stopped_and_a_damaged_last_line_is_dropped(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    assert main([*SMALL, "-o", str(path)]) == 0
    first = capsys.readouterr()
    assert "| cec2006 | 20 D | pps-sqp | 2 |" in first.out and "4 runs, 0 of them" in first.err
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 4
    path.write_text("".join(lines[:3]) + lines[3][:50])
    assert main([*SMALL, "-o", str(path)]) == 0
    again = capsys.readouterr()
    assert "4 runs, 3 of them" in again.err and len(stored(path)) == 4
    for name in ("f", "violation", "evaluations"):
        assert json.loads(path.read_text().splitlines()[3])[name] == json.loads(lines[3])[name]
    path.write_text("x\n" + lines[0])
    with pytest.raises(ValueError, match="line 1 is not a result"):
        stored(path)


@pytest.mark.parametrize(
    ("more", "kind"), [([], "quality"), (["--noise=1e-6"], "noise"), (["--staircase"], "staircase")]
)
def test_the_lines_of_each_budget_are_a_record(more, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.records.FOLDER", tmp_path)
    small = [
        "--only=g24",
        "--suites=cec2006",
        "--budgets",
        "20",
        "30",
        "--seeds=1",
        "--workers=1",
        "--peers",
        "--write",
    ]
    assert main([*small, *more, "--methods=jde", "-o", str(tmp_path / "runs.jsonl")]) == 0
    shown = capsys.readouterr().out
    for budget in ("20", "30"):
        record = load(f"{kind}-{budget}")
        assert [line[:4] for line in record["values"]] == [["cec2006", f"{budget} D", "jde", "1"]]
        assert record["command"].endswith(" ".join(["--write", *more, "--methods=jde"])), "no file of this machine"
        assert "| ".join(record["values"][0]).replace("| ", " | ") in shown and list(record["methods"]) == ["jde"]


def test_generated_problems_have_their_optimum_and_no_better_point() -> None:
    chance = np.random.default_rng(1)
    for name in GENERATED.names:
        for instance in (1, 2):
            problem = GENERATED.problem(name, instance=instance)
            best = problem.optimum
            f, g, h = problem.evaluate(best.x[None])
            assert f[0] == best.value and (g <= 0).all() and (np.abs(h) <= problem.tolerance).all(), name
            near = best.x + chance.normal(size=(400, problem.dimension)) * 10.0 ** chance.uniform(-3, 0, (400, 1))
            f, g, _ = problem.evaluate(np.clip(near, problem.lower, problem.upper))
            assert (f[(g <= 0).all(axis=1)] >= best.value).all(), name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "pps-dd"], "unknown method 'pps-dd'"),
        (["--methods", "pps-de:patient=3"], "unknown option 'patient'"),
        (["--peers", "slsqq"], "unknown peer 'slsqq'"),
        (["--suites", "cec2005"], "unknown suite 'cec2005'"),
        (["--only", "g99"], "no problem matches 'g99'"),
        (["--only", "g["], "not a regular expression"),
        (["--budgets", "0"], "--budgets must be at least 1; got 0"),
        (["--losses", "ude"], "'ude' is not run"),
        (["--methods", "--peers"], "nothing to run"),
        (["--staircase", "--suites", "cec2017"], "best known values"),
        (["--report"], "has none of these runs"),
        (["--compiled", "0"], "--compiled must be at least 1; got 0"),
        (["--compiled", "100", "--noise", "1e-6"], "--compiled must not be given with --noise"),
        (["--write", "--noise=1e-6", "--staircase"], "write must not be given with both noise and staircase"),
    ],
)
def test_a_wrong_name_is_an_error_of_one_line(arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "-o", str(tmp_path / "none.jsonl")])
    err = [line for line in capsys.readouterr().err.splitlines() if "is not installed" not in line]
    assert ended.value.code == 2 and len(err) == 1 and words in err[0]
    assert not (tmp_path / "none.jsonl").exists()


def test_options_of_a_method_change_its_runs():
    few = run(replace(JOB, solver="pps-de:population_size=10", multiple=20))
    assert few["evaluations"] == few["budget"] == 40 and few["f"] != run(replace(JOB, multiple=20))["f"]


def study(*runs):
    """Return a study of runs on g06 given as (solver, multiple, seed, error), or a violation as text."""
    rows = {}
    for solver, multiple, seed, error in runs:
        job = replace(JOB, solver=solver.removesuffix("!"), stopping=solver.endswith("!"), multiple=multiple, seed=seed)
        found = (0.0, float(error)) if isinstance(error, str) else (BEST + abs(BEST) * error, 0.0)
        rows[job] = asdict(job) | {"f": found[0], "violation": found[1], "evaluations": 100, "budget": 200}
        rows[job] |= {"seconds": 0.001, "errors": 0, "error": ""}
    return Study(rows)


def test_shares_and_ranks():
    found = study(("a", 1, 1, 1e-9), ("a", 1, 2, "0.5"), ("b", 1, 1, 0.0), ("b", 1, 2, "0.2"), ("c", 1, 1, 0.1))
    jobs = list(found.rows)
    assert [share(found, jobs[:2], level) for level in (np.inf, 1e-2)] == [50.0, 50.0]
    pair = [job for job in jobs if job.solver != "c"]
    assert ranks(found, pair) == {"a": 1.75, "b": 1.25}  # the first seed ties: both errors are below 1e-8
    assert ranks(found, jobs) == {"a": 1.5, "b": 1.5, "c": 3.0}  # of the one seed that all have
    assert "| cec2006 | 1 D | a | 2 | 50.0 | 50.0 | 50.0 | 50.0 | 1.50 | 0.25 | 50 | 10.0 |" in table(found)


def test_more_budget_that_hurts_is_found():
    found = study(("a", 1, 1, 1e-3), ("a", 10, 1, 1e-12), ("a", 100, 1, 1e-6), ("b", 1, 1, "1"), ("b", 10, 1, 0.1))
    ratio, problem, multiple = harm(found, list(found.rows), "a")[0]
    assert (round(ratio), problem, multiple) == (100, "g06", 100)
    assert harm(found, list(found.rows), "b") == []  # nothing feasible at the smaller budget


def test_stopping_is_compared_with_the_same_seed():
    found = study(("a", 1, 1, 0.0), ("a!", 1, 1, 1e-3), ("a", 1, 2, 0.1), ("a!", 1, 2, 0.1), ("a!", 1, 3, "1"))
    assert losses_by_stopping(found, list(found.rows), "a") == 50.0


def test_large_budgets_can_be_compiled_and_runs_of_one_program_get_the_values_of_their_own_problem(tmp_path):
    arguments = ["--only=g06|g24", "--suites=cec2006", "--budgets", "10", "20", "--seeds=2", "--peers", "--methods=jde"]
    jobs = jobs_of(parser().parse_args([*arguments, "--compiled=20"]))
    assert {job.multiple for job in jobs if job.compiled} == {20} == {job.multiple for job in jobs} - {10}
    compiled = [job for job in jobs if job.compiled]
    assert [len(group) for group in grouped(jobs)] == [1, 1, 1, 1, 4]  # g06 and g24 have two variables each
    rows = complete(tmp_path / "runs.jsonl", compiled, workers=1)
    for name in ("g06", "g24"):
        alone = ppsde.solve_batch(problem_of("cec2006", name), method="jde", runs=[1, 2], max_evaluations=40, tol=0)
        found = [row for job, row in rows.items() if job.problem == name]
        assert [row["f"] for row in found] == alone.f.tolist() and {row["evaluations"] for row in found} == {40}
        assert [row["violation"] for row in found] == alone.violation.tolist()
    assert stored(tmp_path / "runs.jsonl") == rows
