"""Methods, rules and suites of a user's own, given in four ways: as an object, a name, FILE.py:NAME, an entry point."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import own_code
import pytest

import ppsde
from ppsde.arrays import order
from ppsde.cli import main
from ppsde.lookup import code_digest, from_file, imported_files, origin_of, place_in, roots_in
from ppsde.parts.rules import Feasibility, ranking
from ppsde.suites import SUITES

BOUNDS = [(-5, 5)] * 2


def fun(x: np.ndarray) -> Any:
    return float((x**2).sum()), [1 - x[0], 0.5 - x[1]], []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files of a user, in which the test runs; what it loads is removed again."""
    own_code.written(tmp_path)
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    held = [(table, set(table)) for table in (ppsde.ALGORITHMS, ppsde.RULES, SUITES)]
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]
    for table, names in held:
        for name in set(table) - names:
            del table[name]
        table._ready.clear()


def solved(method: Any, rule: Any = "feasibility", **more: Any) -> Any:
    options = {"rule": rule, "size": 8}
    return ppsde.minimize(fun, BOUNDS, method=method, options=options, max_evaluations=400, rng=1, **more)


# --- the four ways ---------------------------------------------------------------------------------------------------


def test_a_method_and_a_rule_given_in_four_ways_are_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_code.installed(folder)
    monkeypatch.syspath_prepend(str(folder))
    by_file = solved("walk.py:Walk", "weighed.py:Weighed(first=7.0)")
    Walk, Weighed = from_file(place_in("walk.py:Walk")), from_file(place_in("weighed.py:Weighed"))
    ppsde.ALGORITHMS["mine"], ppsde.RULES["my-rule"] = Walk, Weighed
    ways = [
        (Walk, Weighed(first=7.0)),
        (Walk(), Weighed(first=7.0)),
        ("mine", "my-rule(first=7.0)"),
        ("random-walk", "weighed(first=7.0)"),
    ]
    for method, rule in ways:
        result = solved(method, rule)
        assert result.x.tolist() == by_file.x.tolist() and result.nfev == 400
        optimizer = ppsde.Optimizer(
            BOUNDS, method=method, options={"rule": rule, "size": 8}, n_ineq=2, max_evaluations=400, rng=1
        )
        while not optimizer.done:
            x = optimizer.ask()
            f, g, _ = zip(*map(fun, x), strict=True)
            optimizer.tell(f, g=np.array(g))
        assert optimizer.result.x.tolist() == by_file.x.tolist()
    assert solved(Walk, Weighed(first=0.1)).x.tolist() != by_file.x.tolist()


def test_a_suite_given_in_four_ways_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_code.installed(folder)
    monkeypatch.syspath_prepend(str(folder))
    suite = from_file(place_in("little.py:SUITE"))
    ppsde.suites.SUITES["tiny"] = suite
    for given in (suite, "tiny", "little.py:SUITE", "little"):
        assert ppsde.suites.get(given).names == ("corner",)
    assert "tiny" in SUITES and "little" in SUITES and SUITES.package_of("little") == "walkers 1.2"


def test_the_command_knows_all_of_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own_code.installed(folder)
    monkeypatch.syspath_prepend(str(folder))
    common = ["--max-evaluations", "300", "--seed", "1", "--quiet"]
    found = []
    for problem, method, rule in (
        ("little.py:SUITE:corner", "walk.py:Walk", "weighed.py:Weighed(first=3)"),
        ("little:corner", "random-walk", "weighed(first=3)"),
    ):
        assert main(["solve", problem, "--method", method, "--option", f"rule={rule}", *common]) == 0
        found.append(capsys.readouterr().out.partition("\n\n  ")[0])
    assert found[0] == found[1]
    for kind, name in (("algorithms", "random-walk"), ("rules", "weighed"), ("suites", "little")):
        assert main(["list", kind]) == 0
        assert any(line.startswith(name) for line in capsys.readouterr().out.splitlines())
        assert main(["list", kind, "--json"]) == 0
        (entry,) = [one for one in json.loads(capsys.readouterr().out) if one["name"] == name]
        assert entry["package"] == "walkers 1.2" and entry["error"] is None
    assert main(["list", "problems", "little.py:SUITE", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["upper"] == [5, 5]


def test_a_name_that_is_given_back_is_the_packages_again() -> None:
    before = ppsde.ALGORITHMS["jde"]
    ppsde.ALGORITHMS["jde"] = ppsde.ALGORITHMS["shade"]
    assert ppsde.ALGORITHMS.added("jde") is ppsde.ALGORITHMS["jde"] is ppsde.ALGORITHMS["shade"]
    ppsde.ALGORITHMS["jde"] = before
    assert ppsde.ALGORITHMS.added("jde") is None and ppsde.ALGORITHMS["jde"] is before


# --- wrong input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("pps-dee", "unknown method 'pps-dee'; expected one of "),
        ("nowhere.py:Walk", "there is no file 'nowhere.py'"),
        ("walk.py:Wolk", "walk.py has no 'Wolk'; did you mean 'Walk'?"),
        ("walk.py:FACTOR", "method 'walk.py:FACTOR' must be an algorithm, a dataclass with start, generation, answer"),
        ("walk.py:State", "method 'walk.py:State' must have a default for every setting: "),
        ("broken.py:Walk", "broken.py cannot be loaded: ZeroDivisionError: division by zero (line 1)"),
        ("nowhere:Walk", "'nowhere:Walk' is neither FILE.py:NAME nor a name that can be imported: No module named"),
        (3, "method of type int must be an algorithm"),
        (None, "method of type NoneType must be an algorithm"),
        (
            "torn",
            "method 'torn', entry point gone:Thing, cannot be loaded: ModuleNotFoundError: No module named 'gone'",
        ),
        ("twice", "method 'twice' is an entry point of several packages: broken, other"),
    ],
)
def test_a_method_that_is_none_is_one_sentence(
    method: Any, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    own_code.installed(folder, "broken", "[ppsde.algorithms]\ntorn = gone:Thing\ntwice = walk:Walk\n")
    own_code.installed(folder, "other", "[ppsde.algorithms]\ntwice = walk:Other\n")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ValueError) as error:
        ppsde.minimize(fun, BOUNDS, method=method, max_evaluations=100)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_a_broken_entry_point_stops_no_listing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own_code.installed(folder, "broken", "[ppsde.algorithms]\ntorn = gone:Thing\n[ppsde.suites]\nbad = walk:Walk\n")
    monkeypatch.syspath_prepend(str(folder))
    assert main(["list", "algorithms"]) == 0
    assert "torn" in (out := capsys.readouterr().out) and "cannot be loaded" in out and "pps-sqp" in out
    assert main(["list", "suites", "--json"]) == 0
    found = {one["name"]: one["error"] for one in json.loads(capsys.readouterr().out)}
    assert found["cec2017"] is None and "must be a ppsde.suites.Suite" in found["bad"]


def test_a_broken_entry_point_stops_no_checkpoint_and_no_plan(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ppsde.experiments import Plan

    own_code.installed(folder, "broken", "[ppsde.algorithms]\ntorn = gone:Thing\n")
    monkeypatch.syspath_prepend(str(folder))
    solved("walk.py:Walk", checkpoint="a.ck", callback=stop)
    assert ppsde.resume("a.ck", fun, method="walk.py:Walk").nfev == 400
    assert Plan([ppsde.ALGORITHMS["jde"]], suite="engineering").contenders[0].method == "jde"


def test_a_name_of_this_package_goes_before_an_entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_code.installed(folder, "rival", "[ppsde.algorithms]\njde = walk:Walk\n")
    monkeypatch.syspath_prepend(str(folder))
    assert type(ppsde.ALGORITHMS.find("jde")).__name__ == "JDE" and ppsde.ALGORITHMS.package_of("jde") is None


# --- resuming --------------------------------------------------------------------------------------------------------


def stop(result: Any) -> bool:
    return bool(result.nfev > 100)


def test_a_run_of_ones_own_method_and_rule_is_resumed_with_them(folder: Path) -> None:
    whole = solved("walk.py:Walk", "weighed.py:Weighed")
    solved("walk.py:Walk", "weighed.py:Weighed", checkpoint="a.ck", callback=stop)
    with pytest.raises(ppsde.CheckpointError, match=r"not in ppsde.ALGORITHMS: pass it again as `method`"):
        ppsde.resume("a.ck", fun)
    with pytest.raises(ppsde.CheckpointError, match=r"it is of the algorithm 'walk.Walk'; got"):
        ppsde.resume("a.ck", fun, method="jde")
    with pytest.raises(ppsde.CheckpointError, match="an algorithm with another 'rule'"):
        ppsde.resume("a.ck", fun, method="walk.py:Walk", options={"rule": "epsilon"})
    again = ppsde.resume("a.ck", fun, method="walk.py:Walk")
    assert again.x.tolist() == whole.x.tolist() and again.nfev == whole.nfev


@pytest.mark.parametrize("rule", ["weighed.py:Weighed(first=3.0)", "object"])
def test_a_run_with_ones_own_rule_is_resumed_with_it(rule: Any, folder: Path) -> None:
    Weighed = from_file(place_in("weighed.py:Weighed"))
    given = Weighed(first=3.0) if rule == "object" else rule
    more: dict[str, Any] = {"method": "jde", "options": {"rule": given}, "max_evaluations": 300, "rng": 1}
    whole = ppsde.minimize(fun, BOUNDS, **more)
    ppsde.minimize(fun, BOUNDS, **more, checkpoint="a.ck", callback=stop)
    with pytest.raises(ppsde.CheckpointError, match=r"is not in ppsde.RULES: pass it again|is no class of this algor"):
        ppsde.resume("a.ck", fun)
    again = ppsde.resume("a.ck", fun, options={"rule": given})
    assert again.x.tolist() == whole.x.tolist() and again.nfev == whole.nfev


def test_a_checkpoint_that_names_a_file_does_not_execute_it(folder: Path) -> None:
    (folder / "spy.py").write_text(own_code.RULE)
    more: dict[str, Any] = {"method": "jde", "options": {"rule": "spy.py:Weighed"}, "max_evaluations": 300, "rng": 1}
    ppsde.minimize(fun, BOUNDS, **more, checkpoint="a.ck", callback=stop)
    (folder / "spy.py").write_text("from pathlib import Path\nPath('executed').touch()\n")
    with pytest.raises(ppsde.CheckpointError):
        ppsde.resume("a.ck", fun)
    assert not (folder / "executed").exists()


def test_threads_that_load_a_file_at_once_get_it_whole(folder: Path) -> None:
    Path("slow.py").write_text("import time\n\ntime.sleep(0.3)\n\n\nclass Mine:\n    pass\n")
    begin = Barrier(4)

    def load(_: int) -> Any:
        begin.wait()
        place = place_in("slow.py:Mine")
        assert place is not None
        return from_file(place)

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(load, range(4)))) == 1


# --- rules that see single constraints -------------------------------------------------------------------------------


def with_rule() -> list[str]:
    return [name for name in ppsde.ALGORITHMS if hasattr(ppsde.ALGORITHMS[name], "rule")]


WRONG_INSIDE = {
    "return 1 / 0": r"rule 'Wrong' fails: ZeroDivisionError: division by zero \(line 7\)",
    "return points.fitness": r"rule 'Wrong' fails: AttributeError: .* 'fitness' \(line 7\)",
    "return points.f": r"its `keys` must return two arrays \(\d+,\) for \d+ points; got an array \(\d+,\)",
    "return 0.0, points.f": r"two arrays \(\d+,\) for \d+ points; got \(float, an array \(\d+,\)\)",
    "return None": r"two arrays \(\d+,\) for \d+ points; got NoneType",
    "return points.f + float('nan'), points.f": "its `keys` must be numbers; one of the two is NaN for every point",
}


@pytest.mark.parametrize("method", ["pps-sqp", "pps-de", "jde", "shade"])
@pytest.mark.parametrize("wrong", WRONG_INSIDE)
def test_a_rule_that_is_wrong_inside_is_one_sentence(
    wrong: str, method: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Wrong:\n    def keys(self, points):\n"
    Path("wrong.py").write_text(f"{code}        {wrong}\n")
    with pytest.raises(ValueError) as raised:
        ppsde.minimize(fun, BOUNDS, method=method, options={"rule": "wrong.py:Wrong"}, max_evaluations=400, rng=1)
    assert re.search(f"^(?s:.*){WRONG_INSIDE[wrong]}$", str(raised.value))
    argv = ["solve", "engineering:three-bar-truss", "--method", method, "--option", "rule=wrong.py:Wrong", "--quiet"]
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert error.startswith("ppsde: error: rule 'Wrong'") and error.count("\n") == 1


WRONG_TECHNIQUES: dict[str, tuple[Any, str]] = {
    "rule": (5, "rule 'Wrong' fails: AttributeError: 'int' object has no attribute 'keys'"),
    "rank": (np.arange(3), r"its `rank` must return the rows 0 to \d+ in some order; got array\(\[0, 1, 2\]\)"),
    "after": (None, "its `after` must return a technique; got NoneType"),
}


@pytest.mark.parametrize("name", WRONG_TECHNIQUES)
def test_a_technique_that_is_wrong_inside_is_one_sentence(name: str) -> None:
    returned, said = WRONG_TECHNIQUES[name]
    right: dict[str, Any] = {
        "rule": lambda self, population, elapsed, rng: Feasibility(),
        "rank": lambda self, rule, population, rng: np.arange(population.size),
        "after": lambda self, population, elapsed: self,
    }
    common: dict[str, Any] = {"method": "jde", "max_evaluations": 300, "rng": 1}
    assert ppsde.minimize(fun, BOUNDS, options={"rule": type("Right", (), right)()}, **common).nfev == 300
    wrong = type("Wrong", (), {**right, name: lambda self, *_: returned})()
    with pytest.raises(ValueError, match=said):
        ppsde.minimize(fun, BOUNDS, options={"rule": wrong}, **common)


WRONG_WHEN_COMPILED: dict[str, tuple[Any, str]] = {
    "rule": (lambda self, *_: 1 / 0, r"rule 'Wrong' fails: ZeroDivisionError: division by zero \(line \d+\)"),
    "rank": (lambda self, *_: [] if _[1].f[0] > 0 else None, r"rule 'Wrong' fails: Tracer\w+: [^\n]* \(line \d+\)"),
    "after": (lambda self, *_: None, "rule 'Wrong': its `after` must return a technique; got NoneType"),
    "keys": (lambda self, _: 1 / 0, r"rule 'Wrong' fails: ZeroDivisionError: division by zero \(line \d+\)"),
}


@pytest.mark.parametrize("name", WRONG_WHEN_COMPILED)
def test_a_rule_that_is_wrong_inside_a_compiled_program_is_one_sentence(name: str) -> None:
    pytest.importorskip("jax")
    method, said = WRONG_WHEN_COMPILED[name]
    right = {} if name == "keys" else {key: getattr(Feasible, key) for key in ("rule", "rank", "after")}
    wrong = type("Wrong", (), {"__module__": __name__, **right, name: method})()
    problem = ppsde.Problem(lambda x: (x**2).sum(), BOUNDS)
    common: dict[str, Any] = {"method": "jde", "runs": 2, "max_evaluations": 300}
    assert (ppsde.solve_batch(problem, options={"rule": Feasible()}, **common).evaluations == 300).all()
    with pytest.raises(ValueError) as error:
        ppsde.solve_batch(problem, options={"rule": wrong}, **common)
    assert re.fullmatch(said, str(error.value))


def test_a_rule_that_is_no_dataclass_runs_on_the_host_and_is_refused_by_name_where_it_is_compiled() -> None:
    pytest.importorskip("jax")
    plain = type("Plain", (), {"__module__": __name__, "keys": lambda self, points: (points.violation, points.f)})()
    common: dict[str, Any] = {"method": "jde", "options": {"rule": plain}, "max_evaluations": 300}
    problem = ppsde.Problem(lambda x: (x**2).sum(), BOUNDS)
    assert ppsde.minimize(problem, **common).nfev == 300
    with pytest.raises(
        ValueError, match=r"^state\.handling\.always cannot be compiled: Plain is neither numbers nor a "
    ):
        ppsde.solve_batch(problem, runs=2, **common)


WRONG_NUMBERS: dict[str, tuple[Any, str]] = {
    "keys": (
        lambda self, points: (points.f * np.nan, points.f),
        "keys` must be numbers; one of the two is NaN for every point",
    ),
    "rank": (
        lambda self, rule, population, rng: 0 * order(population.f, population.f),
        "rank` must return the rows 0 to 7 in some order; got array([0, 0, 0, 0, 0, 0, 0, 0])",
    ),
}


@pytest.mark.parametrize("name", WRONG_NUMBERS)
def test_wrong_numbers_of_a_rule_are_refused_before_a_compiled_program_runs(name: str) -> None:
    jax = pytest.importorskip("jax")
    method, said = WRONG_NUMBERS[name]
    right = {} if name == "keys" else {key: getattr(Feasible, key) for key in ("rule", "after")}
    rule = dataclass(frozen=True)(type("Wrong", (), {"__module__": __name__, **right, name: method}))()
    problem = ppsde.Problem(jax.jit(lambda x: ((x**2).sum(), 1 - x[:1], x[:0])), BOUNDS)
    common: dict[str, Any] = {"method": "jde", "options": {"rule": rule}, "max_evaluations": 300}
    for call in (lambda: ppsde.solve_batch(problem, runs=2, **common), lambda: ppsde.minimize(problem, **common)):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == f"rule 'Wrong': its `{said}"


@dataclass(frozen=True)
class Feasible:
    """A technique of one's own, which draws numbers."""

    def rule(self, population: Any, elapsed: Any, rng: Any) -> Feasibility:
        rng.uniform(2)
        return Feasibility()

    def rank(self, rule: Any, population: Any, rng: Any) -> Any:
        return ranking(rule, population)

    def after(self, population: Any, elapsed: Any) -> Feasible:
        return self


def test_a_function_that_cannot_make_its_rule_is_one_sentence() -> None:
    def broken(xp: Any) -> Any:
        raise RuntimeError("no rule today")

    with pytest.raises(ValueError, match=r"^rule 'broken' is not possible: RuntimeError: no rule today \(line \d+\)$"):
        ppsde.minimize(fun, BOUNDS, method="jde", options={"rule": broken})


@pytest.mark.parametrize("method", with_rule())
def test_every_method_with_a_rule_shows_it_single_constraints(method: str, folder: Path) -> None:
    seen: list[tuple[int, int]] = []

    class Watching:
        def keys(self, points: Any) -> Any:
            seen.append((points.g.shape[1], points.h.shape[1]))
            return points.violation, points.f

    own = ppsde.minimize(
        lambda x: (x.sum(), [1 - x[0], 2 - x[1]], [x[0] - x[1]]),
        [(-5, 5)] * 3,
        method=method,
        options={"rule": Watching()},
        max_evaluations=1500,
        rng=1,
        tol=0,
    )
    assert set(seen) == {(2, 1)} and own.nfev == 1500


def test_a_rule_that_reads_constraints_is_compiled_and_gets_the_tolerance_of_the_problem(folder: Path) -> None:
    pytest.importorskip("jax")
    Weighed = from_file(place_in("weighed.py:Weighed"))

    def values(x: Any) -> Any:
        return x[:, 0] + x[:, 1], 1 - x[:, :1] * x[:, 1:], x[:, 1:] - x[:, :1]

    problem = ppsde.Problem(values, [(0.0, 5.0)] * 2, n_ineq=1, n_eq=1, vectorized=True, tolerance=0.5)
    options = {"rule": Weighed, "population_size": 12}
    batch = ppsde.solve_batch(problem, method="jde", options=options, runs=2, max_evaluations=600)
    assert batch.feasible.all() and abs(batch.x[:, 0] - batch.x[:, 1]).max() <= 0.5
    assert abs(batch.x[:, 0] - batch.x[:, 1]).max() > 1e-3, "the tolerance of the problem was not used"


# --- the content of code ---------------------------------------------------------------------------------------------


def test_the_digest_of_code_covers_what_is_imported_from_its_folder(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    files = {
        "a.py": "import b\nimport numpy\ndef f():\n    from pack.inner import thing\n",
        "b.py": "import importlib\nc = importlib.import_module('c')\n",
        "c.py": "",
        "unused.py": "",
        "pack/__init__.py": "",
        "pack/inner.py": "from . import side\nfrom .deep import thing\n",
        "pack/side.py": "",
        "pack/deep.py": "thing = 1\n",
        "pack/other.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = {file.relative_to(tmp_path).as_posix() for file in imported_files(tmp_path / "a.py", [str(tmp_path)])}
    assert found == set(files) - {"unused.py", "pack/other.py"}
    before = code_digest(tmp_path / "a.py")
    for name in files:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text + "# changed\n")
        assert (code_digest(tmp_path / "a.py") != before) == (name in found), name
        (tmp_path / name).write_text(text)
    assert code_digest(tmp_path / "a.py") == before


def test_a_file_that_imports_nothing_of_its_own_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    import hashlib

    (tmp_path / "a.py").write_text("import json\nimport numpy as np\n")
    assert code_digest(tmp_path / "a.py") == hashlib.sha256((tmp_path / "a.py").read_bytes()).hexdigest()


def test_the_same_code_in_another_folder_has_the_same_digest(tmp_path: Path) -> None:
    digests = []
    for name in ("here", "there"):
        (tmp_path / name / "problems").mkdir(parents=True)
        (tmp_path / name / "problems" / "a.py").write_text("import shared_by_all\n")
        (tmp_path / name / "shared_by_all.py").write_text("")
        digests.append(code_digest(tmp_path / name / "problems" / "a.py", roots_in(tmp_path / name)))
    assert digests[0] == digests[1] != code_digest(tmp_path / "here" / "problems" / "a.py")


def test_this_package_inside_the_folder_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import ppsde\nfrom ppsde.problem import Problem\n")
    above = Path(ppsde.__file__).parents[1]
    assert [file.name for file in imported_files(tmp_path / "a.py", [str(above)])] == ["a.py"]


def test_installed_packages_inside_the_folder_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / ".venv" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "thirdparty.py").write_text("")
    (tmp_path / "a.py").write_text("import thirdparty\n")
    monkeypatch.syspath_prepend(str(site))
    assert [file.name for file in imported_files(tmp_path / "a.py", roots_in(tmp_path))] == ["a.py"]


def test_an_object_is_found_by_its_file_or_not_at_all(folder: Path) -> None:
    class Local:
        pass

    with pytest.raises(ValueError, match="method X cannot be found by other processes: it must stand in a file"):
        origin_of(Local, "method X")
    Walk = from_file(place_in("walk.py:Walk"))
    assert origin_of(Walk, "method") == f"{(folder / 'walk.py').resolve()}:Walk"
