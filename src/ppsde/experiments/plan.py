"""A plan: which algorithms run on which problems, how often and how long; and the jobs it consists of.

Problems come from a suite or from a Python file of the user's.
"""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..algorithms import label_of, make
from ..checks import check_seconds, takes_seed
from ..lookup import code_digest, did_you_mean, origin_of, place_in, roots_in
from ..problem import Problem
from ..suites import SUITES, get
from ..suites.named import from_file, from_suite, split_target
from .code import Named, code_in, code_of, found_here, method_of, rule_of
from .job import Job, plain
from .workers import why_not_traceable

ENGINES = ("auto", "host", "compiled")
DEVICES = ("cpu", "gpu")
LARGEST_SEED = 2**63 - 1
MOST_RUNS = 2**32
EVALUATIONS_PER_JOB = 1_000_000  # of compiled jobs on a CPU: a few seconds, which a kill may cost
LARGEST_BLOCK = 25  # runs in a job


@dataclass(frozen=True)
class Source:
    """The origin of a problem: `name` in a suite, or `name` in the file at `path`."""

    name: str
    suite: str | None = None  # as a job names it
    place: str | None = None  # of the suite, if it is found under another name on this machine
    path: str | None = None
    roots: tuple[str, ...] = ()  # folders whose modules belong to the study

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Source:
        """Return the source that `asdict` described, after JSON."""
        return cls(**{**data, "roots": tuple(data["roots"])})

    def __str__(self) -> str:
        return f"{self.suite or self.path}:{self.name}"

    @property
    def short(self) -> str:
        """The name in tables, without the folder of a file."""
        return self.name if self.path is None else f"{Path(self.path).name}:{self.name}"

    @property
    def named(self) -> Named:
        """The suite."""
        return Named(str(self.suite), self.place or str(self.suite))

    def identity(self, problem: Problem) -> dict[str, Any]:
        """Return what identifies the problem: suite, name and version, or name and content of its file.

        The content is that of everything the file imports from its folder and from those of the study.
        """
        if self.path is not None:
            content = code_digest(Path(self.path), self.roots)
            return {"file": Path(self.path).name, "name": self.name, "sha256": content}
        version, code = problem.properties.get("version"), code_of(self.named, SUITES, self.roots)
        found: dict[str, Any] = {"suite": self.suite, "name": self.name}
        if version is not None:
            found["version"] = version
        return found if code is None else {**found, "code": code}


def source_of(given: Any, suite: Named | None, folder: Path, roots: tuple[str, ...]) -> Source:
    """Return the source that a text names: NAME (in `suite`), SUITE:NAME or FILE.py:NAME; or that of a Problem.

    Files are relative to `folder`.
    """
    if isinstance(given, Problem):
        return _source_of_problem(given, roots)
    if not isinstance(given, str) or not given:
        raise ValueError(f"problems must be names, SUITE:NAME, FILE.py:NAME or Problems; got {given!r}")
    if ":" in given:
        try:
            place, file, name = split_target(given)
        except ValueError as error:
            raise ValueError(f"problems: {error}") from None
        if file is not None:
            path = folder / Path(file).expanduser()
            if not path.is_file():
                raise ValueError(f"problems: there is no file {str(path)!r}")
            return Source(name, path=str(path.resolve()), roots=roots)
        suite = Named.of(place, SUITES, folder, "suite")
    else:
        name = given
    if suite is None:
        raise ValueError(f"problems: {given!r} needs a suite: give suite, or write SUITE:NAME or FILE.py:NAME")
    names, name = get(suite.here).names, get(suite.here).official(name)
    if name not in names:
        hint = did_you_mean(name, names)
        raise ValueError(f"problems: suite {suite.text!r} has no {name!r}; it has {names[0]} .. {names[-1]}{hint}")
    return Source(name, suite=suite.text, place=suite.here if suite.here != suite.text else None, roots=roots)


def _source_of_problem(problem: Problem, roots: tuple[str, ...]) -> Source:
    place = place_in(origin_of(problem, f"problem {problem.name!r}"))
    if place is None:
        raise ValueError(f"problem {problem.name!r} must stand in a file that is not part of a package")
    return Source(place.name, path=str(place.path), roots=roots)


@contextmanager
def opened(source: Source, dimension: int | None = None, instance: int | str | None = None) -> Iterator[Problem]:
    """Give the problem. Inside, modules in the folder of its file can be imported."""
    if source.suite is not None:
        yield from_suite(source.named.here, source.name, dimension, instance)
        return
    if dimension is not None:
        raise ValueError(f"dimensions must not be given for {source.short}; a problem of a file has its own")
    if instance is not None:
        raise ValueError(f"instance must not be given for {source.short}; a problem of a file has none")
    assert source.path is not None
    with from_file(Path(source.path), source.name) as problem:
        yield problem


@dataclass(frozen=True)
class Contender:
    """An algorithm with its settings, under the label of the plan."""

    name: str
    method: str  # as a job names it
    options: Mapping[str, Any]
    places: Mapping[str, str]  # where the method, and a rule of its own, are on this machine

    def algorithm(self) -> Any:
        """Return the algorithm with its settings."""
        options = dict(self.options)
        if "rule" in options:
            options["rule"] = found_here(options["rule"], self.places)
        return make(found_here(self.method, self.places), options)

    def settings(self) -> dict[str, Any]:
        """Return all settings, also those left at their default: another default is another algorithm."""
        algorithm = self.algorithm()
        settings = {}
        for entry in fields(algorithm):
            given = self.options.get("rule") if entry.name == "rule" else None
            value = plain(given or getattr(algorithm, entry.name), f"setting {entry.name} of {self.method}")
            whole = isinstance(value, int) and not isinstance(value, bool)
            settings[entry.name] = float(value) if whole and entry.type in ("float", float) else value
        return settings


@dataclass(frozen=True)
class Plan:
    """A study before it is run. A plan in a TOML file has these names as keys, and `seed` for `rng`.

    Parameters
    ----------
    algorithms : sequence of str, algorithm or mapping
        Methods, or mappings with `method` and, optionally, `name` (the label in tables) and `options`. A method is a
        name, FILE.py:NAME, or an algorithm, an object or a class that stands in a file.
    suite : str or Suite, optional
        The suite of problems that are given by name alone: a name, FILE.py:NAME, or a suite that stands in a file.
    problems : sequence of str or Problem, optional
        Names of the suite's problems, SUITE:NAME, FILE.py:NAME, or Problems that stand in files; all of the suite if
        not given.
    dimensions : sequence of int, optional
        For suites whose problems have any dimension.
    instance : int or 'official', optional
        Of a suite's problems; by default the suite chooses.
    runs : int
        Runs of each algorithm on each problem, numbered from 0.
    budget, budget_per_variable : int, optional
        Evaluations per run, or per run and variable; by default the suite's, and 20000 per variable for a file.
    rng : int
        Seed of the study; each run has its own random numbers.
    record : int
        Number of points recorded along each run.
    engine : 'auto', 'host' or 'compiled'
        'auto' compiles the functions that JAX can trace, if JAX is installed.
    device : 'cpu' or 'gpu'
        For the compiled engine.
    eval_timeout : float, optional
        Seconds after which an evaluation is killed and counts as failed. All runs then use the host engine, each with
        a process of its own for its evaluations, which may also crash.
    folder : path
        The folder that files are relative to. A job is identified by the content of the files that it uses and of all
        that they import from their own folder and from this one.

    Examples
    --------
    >>> plan = Plan(["pps-de"], suite="engineering", problems=["welded-beam"], runs=3, budget=4000)
    >>> [str(source) for source in plan.sources], [c.name for c in plan.contenders]
    (['engineering:welded-beam'], ['pps-de'])
    """

    algorithms: Sequence[Any]
    suite: Any = None
    problems: Sequence[Any] | None = None
    dimensions: Sequence[int] | None = None
    instance: int | str | None = None
    runs: int = 25
    budget: int | None = None
    budget_per_variable: int | None = None
    rng: int = 0
    record: int = 200
    engine: str = "auto"
    device: str = "cpu"
    eval_timeout: float | None = None
    folder: str | os.PathLike[str] = "."
    contenders: tuple[Contender, ...] = field(init=False)
    sources: tuple[Source, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "contenders", _contenders(self.algorithms, Path(self.folder)))
        object.__setattr__(self, "sources", _sources(self.suite, self.problems, Path(self.folder)))
        for name in ("instance", "runs", "budget", "budget_per_variable", "rng", "record"):
            object.__setattr__(self, name, _whole(getattr(self, name)))
        if isinstance(self.dimensions, list | tuple):
            object.__setattr__(self, "dimensions", [_whole(d) for d in self.dimensions])
        _check_dimensions(self.dimensions)
        if self.instance is not None and self.instance != "official":
            _check_int("instance", self.instance, 1, "'official' or an int")
        _check_int("runs", self.runs, 1, most=MOST_RUNS)
        for name in ("budget", "budget_per_variable"):
            if getattr(self, name) is not None:
                _check_int(name, getattr(self, name), 1)
        if self.budget is not None and self.budget_per_variable is not None:
            raise ValueError("budget and budget_per_variable must not both be given")
        _check_int("the seed", self.rng, 0, most=LARGEST_SEED)
        _check_int("record", self.record, 1)
        for name, allowed in (("engine", ENGINES), ("device", DEVICES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        check_seconds("eval_timeout", self.eval_timeout)
        if self.eval_timeout is not None and self.engine == "compiled":
            raise ValueError("eval_timeout must not be given with engine 'compiled': a program cannot be interrupted")

    @property
    def seed(self) -> int:
        """The seed of the study."""
        return self.rng

    @classmethod
    def read(cls, path: str | os.PathLike[str], **changes: Any) -> Plan:
        """Return the plan in a TOML file; `changes` replace its keys."""
        file = Path(path)
        try:
            data = tomllib.loads(file.read_bytes().decode())
            if "rng" in data:
                warnings.warn(f"{path}: rng is called seed in a plan's file", stacklevel=2)
            return cls.of({**_with_seed(data), **_with_seed(changes)}, file.parent)
        except ValueError as error:  # also if it is not TOML or not text
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def of(cls, data: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Plan:
        """Return the plan that plain data describes."""
        keys = list(_with_seed({entry.name: None for entry in fields(cls) if entry.init and entry.name != "folder"}))
        data = _with_seed(data)
        for key in data:
            if key not in keys:
                raise ValueError(f"unknown key {key!r}; a plan has {', '.join(keys)}{did_you_mean(key, keys)}")
        if "algorithms" not in data:
            raise ValueError("algorithms must be given: a list of methods, or tables with method, name and options")
        return cls(**{"rng" if key == "seed" else key: value for key, value in data.items()}, folder=folder)

    def budget_of(self, source: Source, dimension: int) -> int:
        """Return the evaluations of one run on that problem."""
        if self.budget is not None:
            return self.budget
        if self.budget_per_variable is not None:
            return self.budget_per_variable * dimension
        if source.suite is not None:
            return get(source.named.here).budget(dimension)
        from ..request import EVALUATIONS_PER_VARIABLE

        return EVALUATIONS_PER_VARIABLE * dimension

    def as_data(self) -> dict[str, Any]:
        """Return the plan as plain data, for the store, without folders."""
        return {
            "algorithms": [{"name": c.name, "method": c.method, "settings": c.settings()} for c in self.contenders],
            "problems": [str(s) if s.path is None else s.short for s in self.sources],
            "dimensions": None if self.dimensions is None else list(self.dimensions),
            **{name: getattr(self, name) for name in ("instance", "runs", "budget", "budget_per_variable")},
            **{name: getattr(self, name) for name in ("seed", "record", "engine", "device", "eval_timeout")},
        }


Plan.__init__ = takes_seed(Plan.__init__)  # type: ignore[method-assign]


def _with_seed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data of a plan with `seed` for `rng`."""
    if "rng" in data and "seed" in data:
        raise ValueError("rng and seed are two words for one thing; give one of them")
    return {"seed" if key == "rng" else key: value for key, value in data.items()}


def _contenders(algorithms: Any, folder: Path) -> tuple[Contender, ...]:
    if isinstance(algorithms, str | Mapping) or not isinstance(algorithms, Sequence) or not algorithms:
        raise ValueError(f"algorithms must be a list of methods or of tables, at least one; got {algorithms!r}")
    found = tuple(_contender(one, folder) for one in algorithms)
    by_name: dict[str, Contender] = {}
    by_settings: dict[str, Contender] = {}
    for one in found:
        if one.name in by_name:
            raise ValueError(f"algorithms must have names of their own; {one.name!r} is given twice")
        by_name[one.name] = one
        places = sorted(one.places.items())
        twin = by_settings.setdefault(repr((one.method, sorted(one.settings().items()), places)), one)
        if twin is not one:
            raise ValueError(f"algorithms {twin.name!r} and {one.name!r} are the same: method and every setting agree")
    return found


def _contender(data: Any, folder: Path) -> Contender:
    if not isinstance(data, Mapping):
        data = {"method": data}
    for key in data:
        if key not in ("name", "method", "options"):
            raise ValueError(f"unknown key {key!r} of an algorithm; it has name, method and options")
    method, options = data.get("method"), data.get("options", {})
    if method is None or isinstance(method, bool | int | float | list):
        raise ValueError(f"method of an algorithm must be a name, FILE.py:NAME or an algorithm; got {method!r}")
    place = place_in(method)
    name = data.get("name", label_of(method) if place is None else place.short)
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"name of an algorithm must be text; got {name!r}")
    if not isinstance(options, Mapping):
        raise ValueError(f"options of {name!r} must be a table of settings; got {options!r}")
    try:
        named, settings = method_of(method, folder)
        places = {named.text: named.here}
        settings = {**settings, **options}
        if settings.get("rule") is not None:
            rule, parameters = rule_of(settings["rule"], folder)
            settings["rule"] = f"{rule.text}{parameters}"
            places[rule.text] = rule.here
        made = Contender(name, named.text, settings, {text: here for text, here in places.items() if text != here})
        made.algorithm()
    except (ValueError, TypeError) as error:
        raise ValueError(f"algorithm {name!r}: {error}") from None
    return made


def _sources(suite: Any, problems: Any, folder: Path) -> tuple[Source, ...]:
    roots = roots_in(folder)
    named = None if suite is None else Named.of(suite, SUITES, folder, f"suite {getattr(suite, 'name', suite)!r}")
    if problems is None:
        if named is None:
            raise ValueError("problems or suite must be given")
        problems = get(named.here).names
    if isinstance(problems, str) or not isinstance(problems, Sequence) or not problems:
        raise ValueError(f"problems must be a list of names, SUITE:NAME or FILE.py:NAME; got {problems!r}")
    sources = tuple(source_of(given, named, folder, roots) for given in problems)
    for source in sources:
        if [other.short for other in sources].count(source.short) > 1:
            raise ValueError(f"problems must differ in their names; {source.short!r} is given twice")
    return sources


def _check_dimensions(dimensions: Any) -> None:
    if dimensions is None:
        return
    if isinstance(dimensions, str) or not isinstance(dimensions, Sequence) or not dimensions:
        raise ValueError(f"dimensions must be a list of ints >= 1; got {dimensions!r}")
    for d in dimensions:
        _check_int("dimensions", d, 1, "a list of ints")
    if len(set(dimensions)) < len(dimensions):
        raise ValueError(f"dimensions must differ; got {list(dimensions)}")


def _whole(value: Any) -> Any:
    """Return a whole float, such as 1e4, as an int, and anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_int(name: str, value: Any, least: int, kind: str = "an int", most: int | None = None) -> None:
    wrong = isinstance(value, bool) or not isinstance(value, int) or value < least
    if wrong or (most is not None and value > most):
        upto = f" and <= {most}" if most is not None else ""
        raise ValueError(f"{name} must be {kind} >= {least}{upto}; got {value!r}")


# --- jobs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planned:
    """A job of a plan, with its label and the place of its problem on this machine."""

    label: str
    source: Source
    job: Job


def expanded(plan: Plan) -> list[Planned]:
    """Return the jobs of a plan; jobs that share a compiled program follow one another."""
    wanted = plan.engine if plan.eval_timeout is None else "host"
    cells = [
        (source, _looked_up(source, dimension, plan.instance, wanted))
        for source in plan.sources
        for dimension in _dimensions(plan, source)
    ]
    settings = {contender.name: contender.settings() for contender in plan.contenders}
    roots = roots_in(Path(plan.folder))
    planned = []
    for each in sorted({found.dimension for _, found in cells}):
        for contender in plan.contenders:
            on_host_only = getattr(contender.algorithm(), "host_only", None)
            code = code_in(contender.method, settings[contender.name].get("rule"), contender.places, roots) or None
            for source, found in cells:
                if found.dimension != each:
                    continue
                budget = plan.budget_of(source, found.dimension)
                engine = _engine(wanted, found.host_only or on_host_only, f"{contender.name} on {source.short}")
                device = plan.device if engine == "compiled" else "cpu"
                cell = Job(
                    method=contender.method,
                    settings=settings[contender.name],
                    problem=found.identity,
                    dimension=found.dimension,
                    instance=found.instance,
                    seed=plan.seed,
                    runs=(),
                    budget=budget,
                    record=plan.record,
                    engine=engine,
                    device=device,
                    eval_timeout=None if plan.eval_timeout is None else float(plan.eval_timeout),
                    code=code,
                    places=contender.places,
                )
                for runs in blocks(plan.runs, block_size(engine, device, budget)):
                    planned.append(Planned(contender.name, source, cell.with_runs(runs)))
    return planned


def block_size(engine: str, device: str, budget: int) -> int:
    """Return how many runs make a job. It does not depend on the number of runs, so that more can be added later.

    On the host a job is one run: a user's function may take hours. On a GPU runs are made side by side.

    Examples
    --------
    >>> block_size("host", "cpu", 1000), block_size("compiled", "cpu", 200_000), block_size("compiled", "gpu", 10**7)
    (1, 5, 25)
    """
    if engine == "host":
        return 1
    if device != "cpu":
        return LARGEST_BLOCK
    return max(1, min(LARGEST_BLOCK, EVALUATIONS_PER_JOB // budget))


def blocks(runs: int, size: int) -> list[tuple[int, ...]]:
    """Return the run numbers in blocks of that size, the last one perhaps smaller.

    Examples
    --------
    >>> blocks(5, 2)
    [(0, 1), (2, 3), (4,)]
    """
    return [tuple(range(first, min(first + size, runs))) for first in range(0, runs, size)]


def _dimensions(plan: Plan, source: Source) -> list[int | None]:
    if plan.dimensions is None:
        return [None]
    if source.suite is not None and not get(source.named.here).dimensions:
        raise ValueError(f"dimensions must not be given for suite {source.suite!r}; each of its problems has its own")
    return list(plan.dimensions)


@dataclass(frozen=True)
class _Found:
    """The facts about a problem that its jobs need."""

    identity: dict[str, Any]
    dimension: int
    instance: int | str | None
    host_only: str | None  # why it cannot be compiled


def _looked_up(source: Source, dimension: int | None, instance: int | str | None, wanted: str) -> _Found:
    with opened(source, dimension, instance) as problem:
        return _Found(
            identity=source.identity(problem),
            dimension=problem.dimension,
            instance=problem.properties.get("instance") if source.suite is not None else None,
            host_only=None if wanted == "host" else _cannot_be_compiled(source, problem, dimension, instance),
        )


def _engine(wanted: str, host_only: str | None, what: str) -> str:
    """Return the engine of a job: that of the plan, or, for 'auto', the compiled one if possible."""
    if wanted == "host":
        return "host"
    if host_only is None:
        return "compiled"
    if wanted == "compiled":
        raise ValueError(f"engine 'compiled' cannot run {what}: {host_only}")
    return "host"


def _cannot_be_compiled(
    source: Source, problem: Problem, dimension: int | None, instance: int | str | None
) -> str | None:
    if find_spec("jax") is None:
        return "JAX is not installed: pip install jax"
    if not problem.vectorized:
        return "its function takes one point at a time, not rows (vectorized=True)"
    if source.path is None and source.place is None and SUITES.package_of(str(source.suite)) is None:
        return None  # the suites of this package are written in array code
    return why_not_traceable(asdict(source), dimension, instance)
