"""Studies of a user's own methods, rules, suites and problems; and jobs that are known by the content of their code."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import own_code
import pytest
from experiments.studies import contents

from ppsde.cli import main
from ppsde.experiments import Plan, Store
from ppsde.experiments.plan import expanded

PLAN: dict[str, Any] = {
    "algorithms": [{"method": "walk.py:Walk", "options": {"rule": "weighed.py:Weighed(first=3.0)"}}],
    "suite": "little.py:SUITE",
    "problems": ["corner", "mine.py:problem"],
    "runs": 1,
    "budget": 60,
    "engine": "host",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return own_code.written(tmp_path)


def ids(folder: Path, **changes: Any) -> list[str]:
    """The jobs of the plan, as another process would see them: helper modules are loaded afresh."""
    for name in ("helper", "limits", "walk", "mine", "weighed", "little"):
        sys.modules.pop(name, None)
    return [one.job.id for one in expanded(Plan(**{**PLAN, **changes}, folder=folder))]


@pytest.mark.parametrize(
    ("changed", "problems"),
    [
        ("walk.py", {"corner", "mine.py:problem"}),
        ("helper.py", {"corner", "mine.py:problem"}),
        ("weighed.py", {"corner", "mine.py:problem"}),
        ("little.py", {"corner"}),
        ("mine.py", {"mine.py:problem"}),
        ("limits.py", {"mine.py:problem"}),
        ("unrelated.py", set()),
    ],
)
def test_a_job_is_another_if_any_code_it_imports_has_changed(changed: str, problems: set[str], folder: Path) -> None:
    before = ids(folder)
    with (folder / changed).open("a") as file:
        file.write("\n# another content\n")
    after = ids(folder)
    names = [source.short for source in Plan(**PLAN, folder=folder).sources]
    assert {name for name, a, b in zip(names, before, after, strict=True) if a != b} == problems


def test_a_job_does_not_depend_on_where_the_files_are(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    own_code.written(moved)
    assert ids(folder) == ids(moved)


def test_a_study_runs_what_is_named_by_files_and_tells_it_apart_when_a_helper_changes(folder: Path) -> None:
    plan = folder / "plan.toml"
    plan.write_text(
        'algorithms = [{method = "walk.py:Walk", options = {rule = "weighed.py:Weighed(first=3.0)"}}, "jde"]\n'
        'suite = "little.py:SUITE"\nproblems = ["corner", "mine.py:problem"]\nruns = 2\nbudget = 60\nengine = "host"\n'
    )
    command = ["bench", "run", str(plan), "--store", "study.db", "--quiet", "--workers", "1"]
    assert main(command) == 0
    first = contents(Path("study.db"))
    assert len(first) == 8
    with Store("study.db") as store:
        found = {(run.algorithm, run.problem): run.job for run in store.results() if run.ok}
    job = found["walk.py:Walk", "corner"]
    assert job.settings["rule"] == "weighed.py:Weighed(first=3.0)" and set(job.code or {}) == {
        "walk.py:Walk",
        "weighed.py:Weighed",
    }
    assert found["jde", "corner"].code is None
    (folder / "limits.py").write_text("LIMIT = 2.0\n")
    sys.modules.pop("limits", None)
    assert main(command) == 0
    second = contents(Path("study.db"))
    assert len(second) == 12 and first.items() <= second.items(), "the runs on the old problem are kept apart"


OBJECTS = """
import sys
import ppsde
from little import SUITE
from mine import problem
from ppsde.algorithms.jde import JDE
from ppsde.experiments import Plan, run
from walk import Walk
from weighed import Weighed

ppsde.ALGORITHMS["my-walk"] = Walk(step=0.2)
ppsde.RULES["my-rule"] = Weighed
ppsde.suites.SUITES["tiny"] = SUITE

if __name__ == "__main__":
    algorithms = [Walk(rule=Weighed(first=2.0)), "my-walk", JDE(population_size=10)]
    algorithms += [{"method": Walk, "name": "named", "options": {"rule": "my-rule(first=5.0)"}}]
    plan = Plan(algorithms, suite=SUITE, problems=["corner", "tiny:corner"][:1] + [problem], runs=1, budget=60,
                engine="host")
    done = run(plan, "objects.db", workers=1)
    print(done.done, done.failed, *[c.name for c in plan.contenders], *[c.method for c in plan.contenders])
"""


def test_objects_and_names_of_the_process_take_part_in_a_study(folder: Path) -> None:
    (folder / "objects.py").write_text(OBJECTS)
    done = subprocess.run([sys.executable, "objects.py"], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    labels = "Walk my-walk JDE named walk.py:Walk walk.py:Walk jde walk.py:Walk"
    assert done.stdout.split() == ["8", "0", *labels.split()]


def test_entry_points_take_part_in_a_study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_code.installed(folder)
    monkeypatch.syspath_prepend(str(folder))
    options = {"rule": "weighed(first=2.0)"}
    plan = Plan([{"method": "random-walk", "options": options}], suite="little", runs=1, budget=60, engine="host")
    (one,) = expanded(plan)
    assert one.job.code == {"random-walk": "walkers 1.2", "weighed": "walkers 1.2"}
    assert one.job.problem == {"suite": "little", "name": "corner", "code": "walkers 1.2"}
    shutil.rmtree(folder / "walkers-1.2.dist-info")
    own_code.installed(folder, version="1.3")
    (other,) = expanded(Plan(**{**PLAN, "algorithms": plan.algorithms, "suite": "little", "problems": None}))
    assert other.job.id != one.job.id


def test_files_named_by_options_are_those_of_the_current_folder(folder: Path) -> None:
    (folder / "plans").mkdir()
    (folder / "plans" / "plan.toml").write_text('algorithms = ["jde"]\nsuite = "cec2006"\nruns = 1\nbudget = 60\n')
    argv = ["bench", "run", "plans/plan.toml", "--store", "s.db", "--quiet", "--workers", "1", "--engine", "host"]
    argv += ["--method", "walk.py:Walk", "--option", "rule=weighed.py:Weighed(first=2.0)"]
    assert main([*argv, "--problem", "little.py:SUITE:corner", "--problem", "mine.py:problem"]) == 0
    with Store("s.db") as store:
        found = [(run.algorithm, run.problem, run.ok) for run in store.results()]
    assert found == [("walk.py:Walk", "corner", True), ("walk.py:Walk", "mine.py:problem", True)]


class Nowhere:
    """No algorithm."""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithms": ["walk.py:Wolk"]}, "algorithm 'walk.py:Wolk': walk.py has no 'Wolk'; did you mean 'Walk'?"),
        ({"algorithms": ["gone.py:Walk"]}, "algorithm 'gone.py:Walk': there is no file "),
        ({"algorithms": [3]}, "method of an algorithm must be a name, FILE.py:NAME or an algorithm; got 3"),
        ({"algorithms": [Nowhere()]}, "algorithm 'Nowhere': method of type Nowhere must be an algorithm"),
        (
            {"algorithms": [{"method": "jde", "options": {"rule": "epsilom"}}]},
            "algorithm 'jde': unknown rule 'epsilom'",
        ),
        ({"algorithms": [{"method": "jde", "options": {"rule": "gone.py:R"}}]}, "algorithm 'jde': there is no file"),
        ({"algorithms": [{"method": "jde", "options": {"rool": "epsilon"}}]}, "algorithm 'jde': unknown option 'rool'"),
        ({"suite": "gone.py:SUITE"}, "there is no file"),
        (
            {"suite": "litle"},
            "unknown suite 'litle'; expected one of cec2017, cec2006, engineering, cec2020rw, or FILE.py:NAME",
        ),
        ({"suite": 3}, "suite of type int must be a ppsde.suites.Suite"),
        (
            {"problems": ["korner"]},
            "problems: suite 'little.py:SUITE' has no 'korner'; it has corner .. corner; did",
        ),
        ({"problems": ["little.py:SUITE:korner"]}, "problems: suite 'little.py:SUITE' has no 'korner'"),
        ({"problems": [3]}, "problems must be names, SUITE:NAME, FILE.py:NAME or Problems; got 3"),
    ],
)
def test_bad_names_in_a_plan_are_one_sentence(changes: dict[str, Any], message: str, folder: Path) -> None:
    with pytest.raises(ValueError) as error:
        Plan(**{**PLAN, **changes}, folder=folder)
    found = str(error.value).replace(f"{folder}/", "")
    assert found.startswith(message) and "\n" not in found


def test_a_problem_that_no_other_process_finds_is_refused(folder: Path) -> None:
    import ppsde

    lost = ppsde.Problem(lambda x: float(x.sum()), [(0, 1)], name="lost")
    with pytest.raises(ValueError, match="problem 'lost' cannot be found by other processes: it must stand in a file"):
        Plan(["jde"], problems=[lost])
