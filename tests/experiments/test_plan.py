"""Plans: what they may say, and the words for what they may not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ppsde.experiments import Plan
from ppsde.suites import SUITES

FULL = """
suite = "cec2017"
problems = ["C01", "C05"]
dimensions = [10, 30]
instance = 2
runs = 7
budget_per_variable = 1000
seed = 11
record = 50
engine = "host"

[[algorithms]]
name = "wide"
method = "pps-de"
options = { pbest = 8 }

[[algorithms]]
method = "pps-de-published"
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    return file


def test_a_plan_is_read_key_by_key(tmp_path: Path) -> None:
    plan = Plan.read(written(tmp_path, FULL))
    assert [(c.name, c.method, c.options) for c in plan.contenders] == [
        ("wide", "pps-de", {"pbest": 8}),
        ("pps-de-published", "pps-de-published", {}),
    ]
    assert [str(source) for source in plan.sources] == ["cec2017:C01", "cec2017:C05"]
    assert (plan.dimensions, plan.instance, plan.runs, plan.seed, plan.record) == ([10, 30], 2, 7, 11, 50)
    assert plan.budget_of(plan.sources[0], 30) == 30_000


def test_changes_take_the_place_of_what_the_file_says(tmp_path: Path) -> None:
    plan = Plan.read(written(tmp_path, FULL), runs=3, algorithms=["pps-de"])
    assert plan.runs == 3 and [c.name for c in plan.contenders] == ["pps-de"]


def test_without_names_all_problems_of_the_suite_are_meant_and_its_budget() -> None:
    plan = Plan(["pps-de"], suite="cec2017")
    assert len(plan.sources) == 28 and plan.budget_of(plan.sources[3], 50) == 1_000_000


def test_problems_of_several_suites_and_files_may_stand_together(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("problem = None\n")
    plan = Plan(["pps-de"], suite="cec2006", problems=["g01", "cec2017:C02", "mine.py:problem"], folder=tmp_path)
    assert [source.short for source in plan.sources] == ["g01", "C02", "mine.py:problem"]
    assert plan.budget_of(plan.sources[0], 13) == 500_000 and plan.budget_of(plan.sources[2], 3) == 60_000


def test_every_setting_is_spelt_out_and_whole_numbers_stand_for_real_ones() -> None:
    plan = Plan([{"method": "pps-de", "options": {"cp": 3}}], suite="engineering")
    settings = plan.contenders[0].settings()
    assert settings["cp"] == 3.0 and isinstance(settings["cp"], float)
    assert settings["pbest"] == 5 and isinstance(settings["pbest"], int), "there 5 is a count and 5.0 a share"
    assert {"memory_size", "repair", "population_size"} <= set(settings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "algorithms must be given"),
        ('algorithms = ["pps-de"]', "problems or suite must be given"),
        ('algorithms = "pps-de"\nsuite = "cec2017"', "algorithms must be a list of methods"),
        ('algorithms = ["nonsense"]\nsuite = "cec2017"', "unknown method 'nonsense'"),
        ('algorithms = ["pps-de", "pps-de"]\nsuite = "cec2017"', "'pps-de' is given twice"),
        (
            'algorithms = ["pps-de", {name = "b", method = "pps-de", options = {pbest = 5}}]\nsuite = "cec2017"',
            "'pps-de' and 'b' are the same",
        ),
        ('algorithms = [{method = "pps-de", options = {colour = 1}}]\nsuite = "cec2017"', "unknown option 'colour'"),
        ('algorithms = [{method = "pps-de", options = {memory_size = 0}}]\nsuite = "cec2017"', "memory_size"),
        ('algorithms = [{method = "pps-de", label = "x"}]\nsuite = "cec2017"', "unknown key 'label'"),
        (
            'algorithms = [{name = "x"}]\nsuite = "cec2017"',
            "method of an algorithm must be a name, FILE.py:NAME or an algorithm; got None",
        ),
        ('algorithms = [{method = "pps-de", name = " "}]\nsuite = "cec2017"', "name of an algorithm must be text"),
        ('algorithms = [{method = "pps-de", options = 3}]\nsuite = "cec2017"', "options of 'pps-de' must be a table"),
        ('algorithms = ["pps-de"]\nsuite = "cec1999"', f"unknown suite 'cec1999'; expected one of {', '.join(SUITES)}"),
        ('algorithms = ["pps-de"]\nproblems = ["C01"]', "needs a suite"),
        ('algorithms = ["pps-de"]\nproblems = "C01"\nsuite = "cec2017"', "problems must be a list"),
        ('algorithms = ["pps-de"]\nproblems = ["C99"]\nsuite = "cec2017"', "has no 'C99'"),
        ('algorithms = ["pps-de"]\nproblems = ["C01", "C01"]\nsuite = "cec2017"', "'C01' is given twice"),
        ('algorithms = ["pps-de"]\nproblems = ["nowhere.py:p"]', "there is no file"),
        ('algorithms = ["pps-de"]\nproblems = ["nowhere.txt:p"]', "neither a .py file nor a suite"),
        ('algorithms = ["pps-de"]\nproblems = [3]', "got 3"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nruns = "many"', "runs must be an int >= 1"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nruns = 0', "runs must be an int >= 1 and <= 4294967296; got 0"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nbudget = 2.5', "budget must be an int >= 1; got 2.5"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nbudget = 1\nbudget_per_variable = 1', "must not both be given"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nseed = -1', "seed must be an int >= 0"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nrecord = true', "record must be an int >= 1; got True"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\ndimensions = 10', "dimensions must be a list"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\ndimensions = [10, 10]', "dimensions must differ"),
        (
            'algorithms = ["pps-de"]\nsuite = "cec2017"\ninstance = "first"',
            "instance must be 'official' or an int >= 1",
        ),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\nengine = "steam"', "engine must be one of auto, host, compiled"),
        ('algorithms = ["pps-de"]\nsuite = "cec2017"\ndevice = "abacus"', "device must be one of cpu, gpu"),
        (
            'algorithms = ["pps-de"]\nsuite = "cec2017"\neval_timeout = 0',
            "eval_timeout must be a number of seconds > 0; got 0",
        ),
        (
            'algorithms = ["pps-de"]\nsuite = "cec2017"\neval_timeout = 1\nengine = "compiled"',
            "eval_timeout must not be given with engine 'compiled'",
        ),
        (
            'algorithms = ["pps-de"]\nsuite = "cec2017"\ncolour = 1',
            "unknown key 'colour'; a plan has algorithms, suite",
        ),
        ("algorithms = [", "plan.toml"),
    ],
)
def test_what_a_plan_may_not_say_is_refused_by_key_and_value(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:
        Plan.read(written(tmp_path, text))
    assert words in str(caught.value) and str(tmp_path / "plan.toml") in str(caught.value)


def test_the_plan_in_the_documents_is_one() -> None:
    page = Path(__file__).parents[2] / "docs" / "experiments.md"
    (text,) = re.findall(r"^```toml\n(.*?)^```\n", page.read_text(encoding="utf-8"), re.M | re.S)
    plan = Plan.of(tomllib.loads(text))
    assert [c.name for c in plan.contenders] == ["pps-de", "wide"] and len(plan.sources) == 3 and plan.runs == 25
