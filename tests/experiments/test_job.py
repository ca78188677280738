"""Jobs: what makes one, what makes two of them different, and how runs are put into blocks."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from experiments.studies import a_job

from ppsde import ALGORITHMS
from ppsde.experiments import Plan
from ppsde.experiments.job import Job
from ppsde.experiments.plan import block_size, expanded


def test_the_id_is_the_digest_of_everything_in_one_spelling() -> None:
    job = a_job(settings={"tau": 0.1, "pbest": 5, "names": ["b", "a"]}, instance="official")
    spelt = (
        '{"budget":1000,"device":"cpu","dimension":10,"engine":"host","instance":"official","method":"pps-de",'
        '"problem":{"name":"C01","suite":"cec2017","version":"2024"},"record":20,"runs":[0,1],"seed":0,'
        '"settings":{"names":["b","a"],"pbest":5,"tau":0.1}}'
    )
    assert job.content == spelt
    assert job.id == hashlib.sha256(spelt.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"method": "pps-de-published"},
        {"settings": {"pbest": 6}},
        {"settings": {"pbest": 5, "new": 0}},
        {"problem": {"suite": "cec2017", "name": "C02", "version": "2024"}},
        {"problem": {"suite": "cec2017", "name": "C01", "version": "2025"}},
        {"dimension": 11},
        {"instance": 2},
        {"seed": 1},
        {"runs": (0, 2)},
        {"budget": 1001},
        {"record": 21},
        {"engine": "compiled"},
        {"device": "gpu"},
        {"eval_timeout": 2.0},
    ],
    ids=str,
)
def test_whatever_can_change_a_result_changes_the_id(change: dict) -> None:
    changed = a_job(**change)
    assert changed.id != a_job().id
    assert (changed.cell == a_job().cell) == ("runs" in change)


def test_a_job_is_read_back_from_its_text_and_nothing_else_is() -> None:
    job = a_job()
    again = Job.from_content(job.content)
    assert again.id == job.id and again.runs == (0, 1) and str(again) == str(job)
    limited = a_job(eval_timeout=2.5)
    assert Job.from_content(limited.content).eval_timeout == 2.5
    for wrong in (
        "{}",
        "[]",
        "3",
        job.content.replace('"runs":[0,1]', '"runs":[]'),
        job.content.replace('"runs":[0,1]', '"runs":[-1]'),
        job.content.replace('"dimension":10', '"dimension":"10"'),
        job.content.replace(":", ": ", 1),
        job.content.replace('"suite":"cec2017",', ""),
        limited.content.replace('"eval_timeout":2.5', '"eval_timeout":"2.5"'),
        limited.content.replace('"eval_timeout":2.5', '"eval_timeout":-2.5'),
        limited.content.replace('"eval_timeout":2.5', '"eval_timeout":null'),
    ):
        with pytest.raises(ValueError):
            Job.from_content(wrong)


def test_a_job_makes_the_algorithm_that_was_planned() -> None:
    plan = Plan([{"method": "pps-de-published", "options": {"pbest": 8}}], suite="engineering", engine="host")
    algorithm = expanded(plan)[0].job.algorithm()
    assert algorithm.pbest == 8 and algorithm.schedule == "improved"


@pytest.mark.parametrize("method", ALGORITHMS)
def test_every_algorithm_survives_being_spelt_out(method: str) -> None:
    plan = Plan([method], problems=["engineering:welded-beam"], runs=1, engine="host")
    (one,) = expanded(plan)
    assert Job.from_content(one.job.content).algorithm() == ALGORITHMS[method]


def test_a_plan_becomes_every_combination_once() -> None:
    plan = Plan(
        ["pps-de", "pps-de-published"],
        suite="cec2017",
        problems=["C02", "C01"],
        dimensions=[4, 3],
        instance=1,
        runs=2,
        budget_per_variable=10,
        engine="host",
    )
    planned = expanded(plan)
    assert len({one.job.id for one in planned}) == len(planned) == 16
    assert [(one.label, one.job.problem_name, one.job.dimension, one.job.runs) for one in planned[:4]] == [
        ("pps-de", "C02", 3, (0,)),
        ("pps-de", "C02", 3, (1,)),
        ("pps-de", "C01", 3, (0,)),
        ("pps-de", "C01", 3, (1,)),
    ]
    assert {(one.job.dimension, one.job.budget) for one in planned} == {(3, 30), (4, 40)}
    assert {one.job.instance for one in planned} == {1}


def test_more_runs_leave_the_jobs_of_fewer_as_they_are() -> None:
    few, many = (
        {one.job.id for one in expanded(Plan(["pps-de"], suite="engineering", runs=runs, engine="host"))}
        for runs in (3, 5)
    )
    assert few < many


def test_blocks_are_short_where_runs_are_long() -> None:
    assert [block_size("compiled", "cpu", budget) for budget in (1000, 200_000, 600_000, 2_000_000)] == [25, 5, 1, 1]


def test_a_file_is_known_by_its_content_not_by_its_folder(tmp_path: Path) -> None:
    text = "import ppsde\nproblem = ppsde.Problem(lambda x: x[0], [(0, 1)] * 3)\n"
    ids = []
    for folder, content in (("a", text), ("b", text), ("c", text + "# changed\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(content)
        planned = expanded(Plan(["pps-de"], problems=["mine.py:problem"], runs=1, folder=tmp_path / folder))
        assert planned[0].job.dimension == 3 and planned[0].job.engine == "host"
        ids.append(planned[0].job.id)
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problems": ["cec2006:g01"], "dimensions": [13]}, "dimensions must not be given for suite 'cec2006'"),
        ({"problems": ["cec2006:g01"], "instance": 1}, "instance must not be given"),
        ({"problems": ["mine.py:problem"], "dimensions": [2]}, "a problem of a file has its own"),
        ({"problems": ["mine.py:problem"], "instance": 1}, "a problem of a file has none"),
        ({"problems": ["mine.py:absent"]}, "has no 'absent'; it has problem"),
        ({"problems": ["mine.py:number"]}, "its type is int"),
        ({"problems": ["mine.py:broken"]}, "RuntimeError: no luck (line 5)"),
        ({"problems": ["wrong.py:problem"]}, "ZeroDivisionError: division by zero (line 1)"),
        ({"problems": ["mine.py:problem"], "engine": "compiled"}, "takes one point at a time"),
        ({"problems": ["cec2017:C01"], "dimensions": [1]}, "dimension must be an int >= 2"),
    ],
)
def test_what_cannot_be_planned_is_refused_before_anything_runs(changes: dict, words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import ppsde\nproblem = ppsde.Problem(lambda x: x[0], [(0, 1)])\nnumber = 3\n"
        "def broken():\n    raise RuntimeError('no luck')\n"
    )
    (tmp_path / "wrong.py").write_text("1 / 0\n")
    with pytest.raises(ValueError) as caught:
        expanded(Plan(["pps-de"], runs=1, folder=tmp_path, **changes))
    assert words in str(caught.value)
