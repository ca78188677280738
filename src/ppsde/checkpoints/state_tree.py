"""Runs as plain data for a file, and back: arrays by name, and a description of plain JSON that puts them together.

A run is a tree of dataclasses. Each leaf is restored as it was: an array, a NumPy number or a Python one, of the same
type and with the same bits. A description contains names of classes but no code: it is rebuilt from classes that the
caller passes, and a tree of other classes cannot be stored. Data from a file are checked before they become a run.
"""

from __future__ import annotations

import sys
import typing
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithm import Algorithm, Ask, Task
from ..algorithms import ALGORITHMS
from ..engines.run import Run, Snapshot
from ..engines.searches import ALONE, EARLY, LATE, NOBODY, Searches, SearchesSnapshot, StrandSnapshot
from ..lookup import is_of_a_file, place_in
from ..parts.handling import RULES, handling_of, parsed
from ..population import Population, checked_tolerance, evaluated, join
from ..streams import NumpyStream
from .state_file import LARGEST_FILE, CheckpointError, CheckpointWarning

DEEPEST = 50  # levels of a tree
MOVED = {"ppsde.algorithms.emages.Level": "ppsde.parts.epsilon.Level"}  # classes of 0.1, and where they are now
_NUMBERS: dict[str, type] = {"float": float, "complex": complex}  # stored as arrays: JSON has no NaN and no -0.0


def flatten(tree: Any, name: str, arrays: dict[str, np.ndarray], classes: Mapping[str, type], depth: int = 0) -> Any:
    """Return the description of a tree; its numbers are added to `arrays` under names that begin with `name`."""
    if depth > DEEPEST:
        raise CheckpointError(f"{name} cannot be stored: it is nested deeper than {DEEPEST}")
    kind = type(tree)
    if tree is None or kind in (bool, str):
        return tree
    if kind is int:
        return {"int": str(tree)}
    if kind in (tuple, list):
        return {kind.__name__: [flatten(v, f"{name}[{k}]", arrays, classes, depth + 1) for k, v in enumerate(tree)]}
    if is_dataclass(kind):
        if classes.get(class_name(kind)) is not kind:
            raise CheckpointError(f"{name} cannot be stored: its declared type does not include {class_name(kind)}")
        named = [(field.name, getattr(tree, field.name)) for field in fields(kind)]
        described = {n: flatten(v, f"{name}.{n}", arrays, classes, depth + 1) for n, v in named}
        return {"class": class_name(kind), "fields": described}
    form = "array" if kind is np.ndarray else "number" if isinstance(tree, np.generic) else kind.__name__
    if form not in ("array", "number", *_NUMBERS):
        raise CheckpointError(f"{name} cannot be stored: {kind.__name__} is neither numbers, text nor a dataclass")
    arrays[name] = np.asarray(tree)
    return {form: name}


def rebuild(description: Any, arrays: Mapping[str, np.ndarray], classes: Mapping[str, type], depth: int = 0) -> Any:
    """Return the tree of a description; `classes` are those that it may contain, by name."""
    if depth > DEEPEST:
        raise CheckpointError(f"a description is nested deeper than {DEEPEST}")
    if description is None or isinstance(description, bool | str):
        return description
    if not isinstance(description, dict):
        raise CheckpointError(f"a description cannot be a {type(description).__name__}")
    if set(description) == {"class", "fields"}:
        return _object(description["class"], description["fields"], arrays, classes, depth)
    if len(description) != 1:
        raise CheckpointError("a description must have exactly one entry")
    ((form, value),) = description.items()
    if form in ("tuple", "list") and isinstance(value, list):
        parts = [rebuild(part, arrays, classes, depth + 1) for part in value]
        return tuple(parts) if form == "tuple" else parts
    if not isinstance(value, str):
        raise CheckpointError(f"a description holds {ascii(form)[:80]} of a {type(value).__name__}")
    if form == "int":
        return _int(value)
    if form not in ("array", "number", *_NUMBERS):
        raise CheckpointError(f"a description holds {ascii(form)[:80]}, which is no form of a value")
    if value not in arrays:
        raise CheckpointError(f"there is no array {value[:80]!a}")
    array = arrays[value]
    if form == "array":
        return array
    if array.ndim:
        raise CheckpointError(f"{value[:80]!a} must be one number; it has shape {array.shape}")
    return array[()] if form == "number" else _python_number(array, _NUMBERS[form])


def class_name(kind: type) -> str:
    """Return the name of a class in descriptions; of one in a file, FILE.py:NAME, the file's name counts."""
    module = kind.__module__
    if is_of_a_file(module):
        module = Path(str(sys.modules[module].__file__)).stem
    return f"{module}.{kind.__qualname__}"


def classes_within(roots: Iterable[Any]) -> dict[str, type]:
    """Return the dataclasses that trees may contain, by name: those of `roots` (objects or classes) and their fields.

    The classes of a field are found from its declared type and, in an object, also from its value.
    """
    found: dict[str, type] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        kind = thing if isinstance(thing, type) else type(thing)
        if isinstance(thing, tuple | list):
            waiting += thing
        elif is_dataclass(kind):
            if not isinstance(thing, type):
                waiting += [getattr(thing, field.name) for field in fields(kind)]
            if class_name(kind) not in found:
                found[class_name(kind)] = kind
                waiting += _declared(kind)
    return found


@cache
def _declared(kind: Any) -> list[type]:
    """Return the dataclasses in the declared types of a dataclass's fields, such as A and B of `A | tuple[B, ...]`."""
    try:
        waiting = list(typing.get_type_hints(kind).values())
    except (NameError, TypeError, AttributeError):  # types declared with names that only type checkers import
        return []
    classes = []
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint) if typing.get_origin(hint) is not typing.Literal else ()
        if isinstance(hint, type) and is_dataclass(hint):
            classes.append(hint)
    return classes


def _object(name: Any, parts: Any, arrays: Mapping[str, np.ndarray], classes: Mapping[str, type], depth: int) -> Any:
    kind: Any = classes.get(MOVED.get(name, name)) if isinstance(name, str) else None
    if kind is None:
        raise CheckpointError(f"{ascii(name)[:120]} is no class of this algorithm")
    names = [field.name for field in fields(kind)]
    if not isinstance(parts, dict) or set(parts) != set(names):
        raise CheckpointError(f"{name} must have the fields {', '.join(names)}")
    tree = object.__new__(kind)
    for field in names:  # directly: `__init__` and `__post_init__` might change the values
        object.__setattr__(tree, field, rebuild(parts[field], arrays, classes, depth + 1))
    return tree


def _int(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or str(number) != text:
        raise CheckpointError(f"{text[:80]!a} is no whole number")
    return number


def _python_number(array: np.ndarray, kind: type) -> Any:
    if array.dtype != kind:
        raise CheckpointError(f"a {kind.__name__} must be stored as {np.dtype(kind)}; got {array.dtype}")
    return array.item()


_WORD = 2**64
_REQUESTS = 1000  # requests of a first population, at most


def described(snapshot: Snapshot, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return a snapshot as plain JSON; its arrays are added to `arrays`."""
    algorithm: Any = snapshot.algorithm
    name = _name_of(algorithm)
    settings = {field.name: getattr(algorithm, field.name) for field in fields(algorithm)}
    known = classes_within([algorithm if name is None else ALGORITHMS[name], settings.get("rule")])
    alone = replace(snapshot, algorithm=None)  # type: ignore[arg-type]
    return {
        "made_with": _made_with(),
        "algorithm": {
            "name": name,
            "class": class_name(type(algorithm)),
            "settings": {key: flatten(value, f"settings.{key}", arrays, known) for key, value in settings.items()},
        },
        "run": flatten(alone, "run", arrays, _classes(algorithm, name)),
    }


def restored(
    content: Any, arrays: Mapping[str, np.ndarray], method: Any = None, options: Mapping[str, Any] | None = None
) -> Run:
    """Return the run of a description, ready to continue; `CheckpointError` if it cannot be one.

    An algorithm of `ppsde.ALGORITHMS` is created with the stored settings. Any other must be passed as `method`, an
    object with the settings that it had, and a rule that is not in `ppsde.RULES` as one of `options`: nothing in a
    description is executed. A run of another version, whose state its method cannot use any more, begins again with
    its points.
    """
    if not isinstance(content, dict) or not {"made_with", "algorithm", "run"} <= set(content):
        raise CheckpointError("it does not describe a run")
    made_with, same_version = content["made_with"], _is_of_this_version(content)
    algorithm = _algorithm(content["algorithm"], arrays, method, options or {}, same_version)
    try:
        run = _continued(rebuild(content["run"], arrays, _classes(algorithm, _name_of(algorithm))), algorithm)
    except CheckpointError as error:
        if same_version:
            raise
        run = _begun_again(content["run"], arrays, algorithm, error)
        warnings.warn(
            f"the checkpoint was made with {ascii(made_with)[:200]}, and its method has changed since: it begins "
            "again, with the points of its last population, the best point found and the evaluations that are left",
            CheckpointWarning,
            stacklevel=2,
        )
        return run
    _compare_versions(made_with)
    return run


def _continued(snapshot: Any, algorithm: Any) -> Run:
    """Return the run of a snapshot from a file; `CheckpointError` if it cannot be one."""
    _check(snapshot)
    size = getattr(algorithm, "population_size", None)
    if isinstance(size, int) and size * len(snapshot.task.lower) > LARGEST_FILE // 8:
        raise CheckpointError(f"a population of {size} points is larger than any that a checkpoint can hold")
    try:
        run = Run.restored(replace(snapshot, algorithm=algorithm))
        fits = snapshot.state is None or run.recorded_columns(run.state) == snapshot.columns
    except Exception as error:  # an algorithm may raise anything for a state that it never makes itself
        raise CheckpointError(f"the run cannot go on from here: {type(error).__name__}: {error}") from error
    if not fits:
        raise CheckpointError("the columns of its history are not those of its method")
    return run


def _begun_again(description: Any, arrays: Mapping[str, np.ndarray], algorithm: Any, why: CheckpointError) -> Run:
    """Return a new run with the points and counters of a description whose state does not fit; `why` says so.

    Generations are counted on, so that its random numbers are not once more those of the first run. Values that the old
    one was supplied with since its last generation are lost: the points that they belong to are not stored.
    """
    try:
        stored, population = description["fields"], description["fields"]["state"]["fields"]["population"]
    except (KeyError, TypeError):
        raise why from None
    nothing: dict[str, Any] = {"state": None, "given": {"tuple": []}, "columns": {"tuple": []}, "rows": None}
    classes = classes_within([Snapshot, Task, Population])
    snapshot = rebuild({**description, "fields": {**stored, **nothing}}, arrays, classes)
    if not isinstance(snapshot, Snapshot):
        raise why
    snapshot = replace(snapshot, rows=np.empty((0, 0)))
    _check(snapshot)
    points, best = rebuild(population, arrays, classes), snapshot.best
    counts = None if best is None else (best.g.shape[1], best.h.shape[1])
    _check_points(points, "state.population", len(snapshot.task.lower), None, counts)
    if best is not None and points is not None:
        others = points.take(points.valid & (points.x != best.x).any(axis=1)).sorted()
        known = join(best, others).take(slice(0, points.size))  # no more than a first population has room for
        task = replace(snapshot.task, x0=known.x)
        snapshot = replace(snapshot, task=task, x0_values=(known.f, known.g, known.h))
    run = _continued(snapshot, algorithm)
    run.begun_again = True
    return run


def described_searches(snapshot: SearchesSnapshot, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return several runs on one budget as plain JSON: the first as a run, and beside it all else."""
    first, *others = snapshot.runs
    content = described(first, arrays)
    algorithm: Any = first.algorithm
    alone = tuple(replace(other, algorithm=None) for other in others)  # type: ignore[arg-type]
    classes = {**_classes(algorithm, _name_of(algorithm)), **_SHARED}
    return {**content, "searches": flatten(replace(snapshot, runs=alone), "searches", arrays, classes)}


def restored_searches(
    content: Any, arrays: Mapping[str, np.ndarray], method: Any = None, options: Mapping[str, Any] | None = None
) -> Searches:
    """Return the runs of a description by `described_searches`; `CheckpointError` if they cannot be some.

    A description of a single run, as in files of 0.1, is that of a search with one run.
    """
    first = restored(content, arrays, method, options)
    if "searches" not in content and not _is_of_this_version(content):
        return Searches.continuing(first)
    if first.begun_again:
        return _searches_begun_again(first, content["searches"], arrays)
    classes = {**_classes(first.algorithm, _name_of(first.algorithm)), **_SHARED}
    snapshot = rebuild(content.get("searches"), arrays, classes)
    if not isinstance(snapshot, SearchesSnapshot) or type(snapshot.runs) is not tuple:
        raise CheckpointError("it does not describe several runs")
    runs = [first]
    for other in snapshot.runs:
        _check(other)
        try:
            runs.append(Run.restored(replace(other, algorithm=first.algorithm)))
        except Exception as error:
            raise CheckpointError(f"a run cannot go on from here: {type(error).__name__}: {error}") from error
    _check_searches(snapshot, runs)
    return Searches.restored(snapshot, runs)


def _searches_begun_again(first: Run, description: Any, arrays: Mapping[str, np.ndarray]) -> Searches:
    """Return a search with this run alone, and with the counters and the best point of a description."""
    names = ("budget", "begun", "asked", "requests", "evaluations", "failed", "number", "best")
    try:
        kept = {name: rebuild(description["fields"][name], arrays, _SHARED) for name in names}
    except (KeyError, TypeError):
        raise CheckpointError("it does not describe several runs") from None
    fresh = replace(Searches.continuing(first).snapshot(), **kept)
    _check_searches(fresh, [first])
    return Searches.restored(fresh, [first])


def _made_with() -> dict[str, str]:
    from .. import __version__

    return {"ppsde": __version__, "numpy": np.__version__}


def _is_of_this_version(content: dict[str, Any]) -> bool:
    made_with = content["made_with"]
    return isinstance(made_with, dict) and made_with.get("ppsde") == _made_with()["ppsde"]


def _compare_versions(made_with: Any) -> None:
    now = _made_with()
    if made_with != now:
        warnings.warn(
            f"the checkpoint was made with {ascii(made_with)[:200]}, this is {now}: "
            "the run goes on, but perhaps not to the same bits",
            stacklevel=2,
        )


def _name_of(algorithm: Any) -> str | None:
    """Return the name of the algorithm, or of one that has only other settings; None if it is not in the table."""
    same = [name for name, known in ALGORITHMS.known() if type(known) is type(algorithm)]
    equal = [name for name in same if ALGORITHMS[name] == algorithm]
    return next(iter(equal or same), None)


def _algorithm(
    content: Any, arrays: Mapping[str, np.ndarray], method: Any, options: Mapping[str, Any], same_version: bool
) -> Any:
    if not isinstance(content, dict) or set(content) != {"name", "class", "settings"}:
        raise CheckpointError("it does not describe an algorithm")
    name, kind, described = content["name"], content["class"], content["settings"]
    known_name = name if isinstance(name, str) and name in ALGORITHMS else None
    if method is None and known_name is None:
        raise CheckpointError(
            f"the algorithm {ascii(name or kind)[:120]} is not in ppsde.ALGORITHMS: pass it again as `method`"
        )
    template = ALGORITHMS[known_name] if method is None and known_name is not None else ALGORITHMS.find(method)
    if kind != class_name(type(template)):
        raise CheckpointError(f"it is of the algorithm {ascii(kind)[:120]}; got {class_name(type(template))}")
    known = [field.name for field in fields(template)]
    new = set(known) - set(described) if isinstance(described, dict) else set()  # they have their defaults
    if not isinstance(described, dict) or not set(described) <= set(known) or (new and same_version):
        raise CheckpointError(f"the algorithm has other settings now: {', '.join(known)}")
    classes = classes_within([template, *options.values()])
    settings = {key: rebuild(value, arrays, classes) for key, value in described.items()}
    for key, value in options.items():
        if key not in settings or not _same(settings[key], value):
            raise CheckpointError(f"it is of an algorithm with another {ascii(key)[:80]}: {settings.get(key)!a}"[:300])
    rule = settings.get("rule")
    if "rule" not in options and method is None and isinstance(rule, str) and not _is_known(rule):
        raise CheckpointError(f"its rule {rule[:120]!a} is not in ppsde.RULES: pass it again, as one of `options`")
    try:
        made = replace(template, **{**settings, **options})
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"its settings are not possible: {error}") from None
    if method is not None and not isinstance(method, str | type) and made != method:
        raise CheckpointError(f"it is of an algorithm with other settings: {made}; got {method}")
    return made


def _same(stored: Any, given: Any) -> bool:
    """Return whether a setting is the stored one; of a rule in a file, the folder of the file does not matter."""
    first, second = (_without_folder(value) for value in (stored, given))
    return bool(first == second)


def _without_folder(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name, bracket, rest = value.partition("(")
    place = place_in(name)
    return value if place is None else f"{place.short}{bracket}{rest}"


def _is_known(rule: str) -> bool:
    try:
        return parsed(rule)[0] in RULES
    except ValueError:
        return False


def _classes(algorithm: Any, name: str | None) -> dict[str, type]:
    """Return the classes that a state of the algorithm may contain, found by running its `start`, not from the file.

    An algorithm of the table is started with its default settings, on a made-up box and values: the settings in a file
    could ask for a population of any size. Of its settings, only the rule decides which classes there are. A rule of
    the user's is made but not used, because it may expect the constraints of the user's problem.
    """
    rule = getattr(algorithm, "rule", None)
    known = rule is None or (isinstance(rule, str) and _is_known(rule))
    found = _classes_of(algorithm if known else replace(algorithm, rule="feasibility")) if name is None else None
    if name is not None:
        found = _classes_by_name(name, rule if known else None)
    return dict(found or {}) if known else {**(found or {}), **classes_within([handling_of(rule)])}


@cache
def _classes_by_name(name: str, rule: str | None) -> dict[str, type]:
    algorithm = ALGORITHMS[name]
    return _classes_of(algorithm if rule is None else replace(algorithm, rule=rule))


def _classes_of(algorithm: Algorithm) -> dict[str, type]:
    return classes_within([Snapshot, Task, Population, _first_state(algorithm)])


def _first_state(algorithm: Algorithm) -> Any:
    coroutine = algorithm.start(Task(np.zeros(2), np.ones(2), 10**6), NumpyStream(0))
    points: Any = None
    with np.errstate(all="ignore"):
        for _ in range(_REQUESTS):
            try:
                request = coroutine.send(points)
            except StopIteration as end:
                return end.value
            x = request.x if isinstance(request, Ask) else request
            none = np.empty((len(x), 0))
            points = evaluated(x, x.sum(axis=1), none, none, 0.0)
    raise CheckpointError(f"the first population took more than {_REQUESTS} requests")


def _check(snapshot: Any) -> None:
    """Raise `CheckpointError` if no run could have made this snapshot, as far as can be seen without the algorithm."""
    if not isinstance(snapshot, Snapshot) or not isinstance(snapshot.task, Task):
        raise CheckpointError("it does not describe a run")
    for name in ("seed", "run", "generation", "attempt", "requests", "evaluations", "failed"):
        value = getattr(snapshot, name)
        if type(value) is not int or not 0 <= value < _WORD:
            raise CheckpointError(f"{name} must be a whole number from 0 to 2**64 - 1")
    task = snapshot.task
    try:
        for tolerance in np.atleast_1d(snapshot.tolerance).tolist():
            checked_tolerance(tolerance)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    if not _is_array(task.lower, (None,)) or not _is_array(task.upper, task.lower.shape) or not len(task.lower):
        raise CheckpointError("the box must have a lower and an upper limit for each variable")
    if not np.all((task.lower <= task.upper) & (np.abs(task.lower) < np.inf) & (np.abs(task.upper) < np.inf)):
        raise CheckpointError("the limits of the box must be finite, and none below the other")
    if type(task.max_evaluations) is not int or task.max_evaluations < 1:
        raise CheckpointError("the budget must be a whole number >= 1")
    d, x0 = len(task.lower), task.x0
    if x0 is not None and not (_is_array(x0, (None, d)) and np.all((x0 >= task.lower) & (x0 <= task.upper))):
        raise CheckpointError(f"x0 must be points of {d} variables inside the box")
    if type(task.tol) is not float or not 0 <= task.tol < np.inf:
        raise CheckpointError("tol must be a finite number >= 0")
    if snapshot.target is not None and not (type(snapshot.target) is float and snapshot.target > -np.inf):
        raise CheckpointError("the target must be a number")
    counts = None
    if snapshot.x0_values is not None:
        counts = _check_values(snapshot.x0_values, 0 if x0 is None else len(x0))
    counts = _check_points(snapshot.best, "best", d, 1, counts)
    counts = _check_points(snapshot.best_member, "best_member", d, 1, counts)
    if snapshot.state is not None:
        _check_points(getattr(snapshot.state, "population", False), "state.population", d, None, counts)
    columns, rows = snapshot.columns, snapshot.rows
    if type(columns) is not tuple or not all(isinstance(name, str) for name in columns):
        raise CheckpointError("the columns of the history must be names")
    if not _is_array(rows, (None, len(columns))) or (len(rows) > 0) != (snapshot.state is not None):
        raise CheckpointError("the history does not fit the state")
    for values in snapshot.given if type(snapshot.given) is tuple else (None,):
        _check_values(values, None)


_SHARED = {class_name(kind): kind for kind in (SearchesSnapshot, StrandSnapshot, Population)}


def _check_searches(snapshot: SearchesSnapshot, runs: list[Run]) -> None:
    """Raise `CheckpointError` if no search could have made this snapshot, as far as can be seen."""
    for name in ("budget", "begun", "asked", "requests", "evaluations", "failed", "number"):
        value = getattr(snapshot, name)
        if type(value) is not int or not 0 <= value < _WORD:
            raise CheckpointError(f"{name} must be a whole number from 0 to 2**64 - 1")
    d = runs[0].task.dimension
    if any(run.task.dimension != d for run in runs) or not (
        type(snapshot.looked) is type(snapshot.due) is type(snapshot.converged) is bool
    ):
        raise CheckpointError("its runs do not belong together")
    if type(snapshot.guest) is not int or not NOBODY <= snapshot.guest < len(runs):
        raise CheckpointError("the run that began with the user's points is none of its runs")
    counts = _check_points(snapshot.best, "best", d, 1, None)
    _check_points(snapshot.injected, "injected", d, None, counts)
    if type(snapshot.strands) is not tuple or len(snapshot.strands) != len(runs):
        raise CheckpointError("it must have the answers to each run")
    sizes = [0 if run.wanted is None else len(run.wanted) for run in runs]
    for strand, n in zip(snapshot.strands, sizes, strict=True):
        if not isinstance(strand, StrandSnapshot) or type(strand.waited) is not int or strand.waited < 0:
            raise CheckpointError("it must have the answers to each run")
        for mask in (strand.given, strand.known):
            if type(mask) is not np.ndarray or mask.dtype != bool or mask.shape != (n,):
                raise CheckpointError("the answers do not fit the points that a run asked for")
        _check_values((strand.f, strand.g, strand.h), n)
        _check_values((strand.early_f, strand.early_g, strand.early_h), len(np.atleast_1d(strand.early_x)))
        if type(strand.looked_ahead) is not bool or not all(
            _is_array(x, (None, d)) for x in (strand.ahead, strand.early_x)
        ):
            raise CheckpointError("the points that a run may want do not fit it")
    numbers, places, k = snapshot.numbers, snapshot.places, np.size(snapshot.numbers)
    for array, shape in ((numbers, (k,)), (places, (k, 2))):
        if type(array) is not np.ndarray or array.dtype != np.int64 or array.shape != shape:
            raise CheckpointError("the points that are out must have numbers and places")
    if not _is_array(snapshot.x, (k, d)) or len(set(numbers.tolist())) != k or not np.all(numbers < snapshot.asked):
        raise CheckpointError("the points that are out do not fit their numbers")
    for place, row in places.tolist():
        of_nobody = place == NOBODY and row in (LATE, ALONE)
        if not of_nobody and not (0 <= place < len(runs) and (row == EARLY or 0 <= row < sizes[place])):
            raise CheckpointError("a point that is out belongs to no run")
    columns, rows = snapshot.columns, snapshot.rows
    if type(columns) is not tuple or not all(isinstance(name, str) for name in columns):
        raise CheckpointError("the columns of the history must be names")
    if rows is not None and not _is_array(rows, (None, len(columns))):
        raise CheckpointError("the history does not fit its columns")


def _check_values(values: Any, n: int | None) -> tuple[int, int]:
    """Check shapes and types of the values of n points, or of any number; return their numbers of constraints."""
    if type(values) is not tuple or len(values) != 3:
        raise CheckpointError("supplied values must be f, g and h")
    f, g, h = values
    if not _is_array(f, (n,)) or not _is_array(g, (len(f), None)) or not _is_array(h, (len(f), None)):
        raise CheckpointError("supplied values must be arrays f (n,), g (n, p) and h (n, q)")
    return g.shape[1], h.shape[1]


def _check_points(
    points: Any, name: str, d: int, size: int | None, counts: tuple[int, int] | None
) -> tuple[int, int] | None:
    """Check shapes and types of points of d variables; return their numbers of constraints."""
    if points is None:
        return counts
    if not isinstance(points, Population) or not _is_array(points.x, (size, d)):
        raise CheckpointError(f"{name} must be points of {d} variables")
    n = len(points.x)
    p, q = counts or (None, None)
    values = _is_array(points.f, (n,)) and _is_array(points.violation, (n,))
    if n == 0 or not values or not _is_array(points.g, (n, p)) or not _is_array(points.h, (n, q)):
        raise CheckpointError(f"{name} must be points with values of fitting shapes")
    return points.g.shape[1], points.h.shape[1]


def _is_array(value: Any, shape: tuple[int | None, ...]) -> bool:
    """Return whether a value is an array of 64-bit floats of that shape; None stands for any length."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.ndim != len(shape):
        return False
    return all(wanted is None or wanted == got for wanted, got in zip(shape, value.shape, strict=True))
