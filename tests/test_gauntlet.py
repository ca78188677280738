"""The gauntlet: this library passes every job, and the rules tell a good answer from a bad one."""

import re
from pathlib import Path

import numpy as np
import pytest

import ppsde
from benchmarks.gauntlet.__main__ import (
    attempt,
    keep,
    main,
    metered,
    program_of,
    programs,
    reached,
    table,
    text,
    verdict_on,
    versions,
)
from benchmarks.gauntlet.jobs import (
    JOBS,
    Attempt,
    Meter,
    Verdict,
    beside_the_gap,
    lampinen_1,
    lampinen_1_limits,
    lampinen_4,
    lampinen_4_limits,
    ring_sums,
    sphere,
)
from benchmarks.gauntlet.libraries import LIBRARIES
from benchmarks.records import load, values_of

SOURCE = Path(ppsde.__file__).parents[1]


LONG = ("toy-e-evaluations", "L1", "L4", "study")


@pytest.mark.parametrize("job", [pytest.param(job, marks=[pytest.mark.slow] * (job in LONG)) for job in JOBS])
def test_this_library_passes(job):
    verdict = verdict_on(job, "ppsde")
    assert verdict.passed, verdict.words


@pytest.mark.parametrize(
    "library",
    ["cma", *(pytest.param(name, marks=pytest.mark.slow) for name in ("slsqp", "pygmo", "pymoo", "nevergrad"))],
)
def test_a_library_called_as_its_best_user_would_solves_two_equalities(library):
    """pycma was failed for its mean, 1e-10 outside the tolerance, while its best feasible point is fine."""
    if versions()[library] is None:
        pytest.skip(f"{library} is not installed")
    verdict = verdict_on("toy-e", library)
    assert verdict.passed, verdict.words


@pytest.mark.parametrize("library", ["pygmo", "pymoo"])
def test_a_library_called_as_its_best_user_would_survives_a_constraint_that_is_nan(library):
    """pygmo was failed for its local searches, while its harmony search ends at the best point."""
    if versions()[library] is None:
        pytest.skip(f"{library} is not installed")
    verdict = verdict_on("nan-constraint", library)
    assert verdict.passed, verdict.words


def test_the_known_optima_are_those_of_the_rules():
    first = 0.5 * (1 + 0.4142)  # any point of the curve x1 = 1 - x0, x2 = 0.5 / x0
    assert np.allclose(ring_sums([first, 1 - first, 0.5 / first]), 0)
    x0 = np.linspace(0.3, 3, 100_001)
    assert ((x0**2) + (1 - x0) ** 2 + (0.5 / x0) ** 2).min() == pytest.approx(1.0674, abs=1e-4)
    assert beside_the_gap([0.0, 1.0]) == 5.0 and sphere([3.0, 4.0]) == 25.0
    for name, f, limits in (("g01", lampinen_1, lampinen_1_limits), ("g10", lampinen_4, lampinen_4_limits)):
        problem = ppsde.suites.get("cec2006").problem(name)
        x = problem.optimum.x
        assert f(x) == pytest.approx(problem.optimum.value) and max(limits(x)) < 1e-6
        other = (problem.lower + problem.upper) / 2
        g = problem.evaluate(other[None])[1][0]
        assert f(other) == pytest.approx(problem.evaluate(other[None])[0][0])
        assert (np.sign(limits(other)) == np.sign(g)).all()
        task = JOBS["L1" if name == "g01" else "L4"].task
        assert (task.low, task.high) == (tuple(problem.lower), tuple(problem.upper))


GOOD = (0.7, 0.3, 0.5 / 0.7)  # feasible, f = 1.0902


def judged(job, *runs):
    return JOBS[job].judge([run if isinstance(run, Attempt) else Attempt("answered", x=run) for run in runs])


@pytest.mark.parametrize(
    ("job", "runs", "passed", "words"),
    [
        ("toy-e", [GOOD], False, "f = 1.0902 (1 of 1 seeds)"),
        ("toy-e", [(0.0, 0.0, 0.0)], False, "infeasible point, |h| = 1 "),
        ("toy-e", [Attempt("answered", x=None)], False, "no point returned"),
        ("toy-e", [Attempt("answered", x=GOOD, success=True)], False, "`success=True`"),
        ("nan-constraint", [(0.0, 1.0)], True, "ok"),
        ("nan-constraint", [(-2.0, 0.0)], False, "the NaN point is returned"),
        ("nan-constraint", [(0.0, 0.5)], False, "infeasible point, g = 0.5"),
        ("nan-constraint", [(3.0, 0.0)], False, "stuck at 25"),
        ("nan-objective", [(1.0, 0.0)], True, "ok"),
        ("nan-objective", [(-1.0, 0.0)], False, "`fun=nan`"),
        ("raises", [Attempt("raised", "RuntimeError: no")], False, "run lost: RuntimeError: no"),
        ("raises", [(1.0, 0.01)], True, "ok"),
        ("complex", [(0.0, 0.0)], False, "imaginary part dropped"),
        ("complex", [Attempt("raised", "TypeError: must be real, not complex")], True, "refused"),
        ("complex", [Attempt("raised", "ValueError: x")], False, "does not say complex"),
        ("segfault", [Attempt("hung")], False, "hangs"),
        ("segfault", [Attempt("died", "killed by SIGSEGV")], False, "run lost: killed by SIGSEGV"),
        ("segfault", [Attempt("not offered")], False, "not offered"),
        ("count", [Attempt("answered", x=(0.0,), nfev=167, points=7500)], False, "167 for 7,500"),
        ("count", [Attempt("answered", x=(0.0,), nfev=7500, points=7500)], True, "7,500 for 7,500"),
        ("bounds", [(0.0, 0.0)], False, "silently accepted"),
        ("bounds", [Attempt("raised", "AssertionError: ")], False, "empty AssertionError"),
        ("bounds", [Attempt("raised", "ValueError: low", points=3)], False, "refused after 3 evaluations"),
        ("bounds", [Attempt("raised", "ValueError: low")], True, "refused"),
        ("toy-e", [Attempt("answered", x=GOOD, points=900)], False, "f = 1.0902 (1 of 1 seeds), 900 evaluations"),
        ("toy-e-evaluations", [Attempt("answered", solved_after=k) for k in (9, 5, 7000)], True, "5, 9, 7,000"),
        ("toy-e-evaluations", [Attempt("answered", points=60_000)], False, "no point returned"),
        ("toy-e-evaluations", [Attempt("answered", x=GOOD, points=60_000)], False, "never, in 60,000"),
        (
            "toy-e-evaluations",
            [Attempt("answered", solved_after=5, points=9), Attempt("hung", points=70)],
            False,
            "5; else never, in 70",
        ),
        ("L1", [(1.0,) * 9 + (3.0,) * 3 + (1.0,)], True, "f = -15 (1 of 1 seeds)"),
        ("L1", [(1.0,) * 9 + (3.1,) * 3 + (1.0,)], False, "infeasible point, g = 0.2"),
        ("L1", [Attempt("answered", x=(0.0,) * 13, success=True, points=7)], False, "f = 0, `success=True` (1 of 1 s"),
        ("fork", [Attempt("answered", x=(1.0, 0.0), leaked=True)], False, "a second process goes on with the search"),
        ("fork", [(1.0, 0.0)], True, "ok"),
        ("study", [Attempt("not offered")], False, "not offered"),
        ("study", [Attempt("answered", success=True, nfev=150)], True, "150 evaluations of 3,600 made twice"),
        ("study", [Attempt("answered", success=True, nfev=1800)], False, "1800 evaluations of 3,600 made twice"),
        ("study", [Attempt("answered", success=False, nfev=0)], False, "other results"),
    ],
)
def test_the_rules(job, runs, passed, words):
    verdict = judged(job, *runs)
    assert verdict.passed is passed and words in verdict.words


def test_one_bad_seed_is_enough_to_fail():
    x0 = np.linspace(0.3, 3, 1_000_001)
    best = x0[np.argmin(x0**2 + (1 - x0) ** 2 + (0.5 / x0) ** 2)]
    fine = (best, 1 - best - 5e-5, 0.49995 / best)  # the tolerance is used, as it may be
    assert judged("toy-e", fine, fine, fine) == Verdict(True, "f = 1.0673 (3 of 3 seeds)")
    assert judged("toy-e", fine, GOOD, fine) == Verdict(False, "f = 1.0902 (1 of 3 seeds)")
    lost = judged("toy-e", GOOD, Attempt("hung"), GOOD)
    assert lost == Verdict(False, "f = 1.0902; hangs (3 of 3 seeds)")


def test_a_run_whose_time_is_up_is_killed_and_this_library_failing_is_an_exit_status_of_1(capsys):
    assert attempt("toy-e", "ppsde", 1, 0.05).ended == "hung"
    assert main(["--library", "ppsde", "--job", "bounds", "--patience", "0.001"]) == 1
    assert "| lower > upper | **fail**: hangs |" in capsys.readouterr().out


def test_the_table_has_a_column_for_every_library_and_says_which_are_not_installed(capsys):
    assert main(["--library", "ppsde", "--job", "count"]) == 0
    shown = capsys.readouterr().out.splitlines()[2]
    assert re.fullmatch(r"\| `nfev` with vectorised objective \| pass: (\d+) for \1 \|", shown), shown
    found = {("bounds", "ppsde"): Verdict(True, "refused"), ("bounds", "scipy"): Verdict(False, "a | b " + "x" * 150)}
    lines = table(found, {"ppsde": "1.0", "scipy": "2.0", "cma": None}, ["bounds"]).splitlines()
    assert lines[0] == "| job | ppsde 1.0 | scipy DE 2.0 | cma |"
    assert lines[2].startswith("| lower > upper | pass: refused | **fail**: a \\| b xxx")
    assert lines[2].endswith("xxx... | not installed |")
    assert set(versions()) == set(LIBRARIES) and versions()["ppsde"] and versions()["scipy"]


def test_the_runs_are_found_from_any_working_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    monkeypatch.chdir(tmp_path)
    assert attempt("bounds", "ppsde", 1, 60.0).ended == "raised"


def test_an_evaluation_is_counted_once_however_many_functions_it_calls():
    task = JOBS["toy-e"].task
    meter = Meter(task.solved)
    counted = metered(task, meter)
    best = np.array([0.7718, 0.2282, 0.6478])
    for x in (np.zeros(3), np.ones(3), best, np.zeros(3)):
        counted.h(x)
        if x.any():
            counted.f(x)
    assert (meter.calls, meter.evaluations, meter.solved_after) == ({"h": 4, "f": 2}, 4, 3)


def test_verdicts_are_stored_one_by_one_and_shown_as_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.records.FOLDER", tmp_path)
    keep("raises", "scipy", Verdict(False, "run lost"), "2.0")
    keep("raises", "ppsde", Verdict(True, "ok"), "1.0")
    keep("bounds", "ppsde", Verdict(True, "refused"), "1.0")
    keep("bounds", "ppsde", Verdict(False, "hangs"), "1.1")
    lines = text(values_of("gauntlet")).splitlines()
    assert lines[0] == "| job | ppsde 1.1 | scipy DE 2.0 |"
    assert lines[2] == f"| {JOBS['raises'].title} | pass: ok | **fail**: run lost |"
    assert lines[3] == f"| {JOBS['bounds'].title} | **fail**: hangs | not installed |"
    assert lines[-1] == f"- {JOBS['bounds'].title}: {JOBS['bounds'].rule}."
    assert load("gauntlet")["program"]["raises"] == {name: program_of("raises", name) for name in ("scipy", "ppsde")}


def test_what_the_page_says_of_others_that_do_better_is_in_the_table():
    said = "SLSQP and pycma need far fewer evaluations for L1, and end sooner on Toy E; pygmo needs fewer for L1, too."
    page = " ".join((SOURCE.parent / "docs" / "trust.md").read_text(encoding="utf-8").split())
    assert said in page
    verdicts = values_of("gauntlet")["verdicts"]
    spent = {
        (job, library): int(words.split(" evaluations")[0].split()[-1].replace(",", ""))
        for job in ("L1", "toy-e")
        for library, (_, words) in verdicts[job].items()
    }  # by the longest run
    for library in ("slsqp", "cma"):
        assert 3 * spent["L1", library] < spent["L1", "ppsde"] and spent["toy-e", library] < spent["toy-e", "ppsde"]
    assert spent["L1", "pygmo"] < spent["L1", "ppsde"]


def test_no_verdict_of_the_documents_is_older_than_its_job_or_the_caller_of_its_library():
    """`--job JOB --library LIBRARY --patience 2 --write` measures again those that are; or, where a change touches
    nothing that is measured, `python docs/measured.py --same gauntlet`."""
    record = load("gauntlet")
    assert record["program"] == programs(record["values"])


def test_a_verdict_rests_on_what_its_entry_in_a_table_calls_and_on_nothing_else(tmp_path):
    file = tmp_path / "jobs.py"
    code = "LIMIT = 1\ndef judge(x): return x < LIMIT\ndef other(x): return x\nJOBS = {'a': judge, 'b': other}\n"
    file.write_text(code)
    before = {key: reached(file, "JOBS", key) for key in "ab"}
    assert "LIMIT = 1" in before["a"] and "other" not in before["a"]
    file.write_text(code.replace("LIMIT = 1", "LIMIT = 2"))
    assert [reached(file, "JOBS", key) == before[key] for key in "ab"] == [False, True]


def test_the_documents_have_a_verdict_for_every_job_and_this_library_passes_all():
    verdicts = values_of("gauntlet")["verdicts"]
    assert set(verdicts) == set(JOBS)
    assert [job for job, by_library in verdicts.items() if not by_library["ppsde"][0]] == []
