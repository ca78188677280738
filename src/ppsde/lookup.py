"""Things by name: tables that users extend, FILE.py:NAME, entry points of installed packages; and the code behind them.

An algorithm, a suite or a rule can be given as an object, as a name in its table, as FILE.py:NAME, or as the name of an
entry point. `Table.find` understands all four.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

MOST_NAMES = 40  # listed in an error message
_KEPT = "_ppsde_file_"  # begins the names of modules made from files that stay loaded
_loading = threading.RLock()  # so that no thread gets a file that another has executed half


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the known name that is most like a word, and nothing if none is.

    Examples
    --------
    >>> did_you_mean("pps-dee", ["jade", "pps-de"])
    "; did you mean 'pps-de'?"
    >>> did_you_mean("other", ["jade", "pps-de"])
    ''
    """
    names = {name.lower(): name for name in known}
    found = get_close_matches(str(word).lower(), names, n=1, cutoff=0.6)
    return f"; did you mean {names[found[0]]!r}?" if found else ""


class Place(NamedTuple):
    """A thing of a file: FILE.py:NAME."""

    path: Path
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"

    @property
    def short(self) -> str:
        """The place without the folder of the file."""
        return f"{self.path.name}:{self.name}"


def place_in(text: Any) -> Place | None:
    """Return the place that a text names; None if it does not have the form FILE.py:NAME.

    Examples
    --------
    >>> place_in("methods/mine.py:MyDE").short
    'mine.py:MyDE'
    """
    if not isinstance(text, str):
        return None
    file, colon, name = text.rpartition(":")
    return Place(Path(file), name) if colon and file.endswith(".py") and name else None


class Table(MutableMapping[str, Any]):
    """A mapping from names to things of one kind, to which users add their own.

    It has the things of the package, those added in this process, and the entry points of installed packages. A thing
    is imported when it is first looked up: most programs use few. A name of the package or of this process goes before
    an entry point of the same name.

    Parameters
    ----------
    kind : str
        The word for one of the things, such as 'method'.
    group : str
        The group of entry points.
    places : mapping
        For each name of the package "MODULE:WHAT", a module of `package` and a name in it; or the thing itself.
    package : str
    checked : callable
        `checked(thing, what)` returns a thing in the form that the table has; ValueError, beginning with the text
        `what`, if it is none.

    Examples
    --------
    >>> table = Table("number", "ppsde.numbers", {"pi": "math:pi"}, "", lambda thing, what: float(thing))
    >>> table["two"] = 2
    >>> list(table), table["two"], table.find(3)
    (['pi', 'two'], 2.0, 3.0)
    >>> table.find("tow")
    Traceback (most recent call last):
        ...
    ValueError: unknown number 'tow'; expected one of pi, two, or FILE.py:NAME; did you mean 'two'?
    """

    def __init__(
        self,
        kind: str,
        group: str,
        places: Mapping[str, Any],
        package: str,
        checked: Callable[[Any, str], Any],
    ) -> None:
        self._kind, self._group, self._package, self._checked = kind, group, package, checked
        self._held: dict[str, Any] = dict(places)  # as given
        self._own = dict(places)
        self._ready: dict[str, Any] = {}  # as returned, of those that were looked up
        self._original: dict[str, Any] = {}  # of the package, of those that were looked up

    def __getitem__(self, name: str) -> Any:
        if name not in self._ready:
            thing, what = self._raw(name)
            self._ready[name] = self._checked(thing, what)
            if self.added(name) is None:
                self._original[name] = self._ready[name]
        return self._ready[name]

    def __setitem__(self, name: str, thing: Any) -> None:
        if not isinstance(name, str) or not name or ":" in name or "(" in name:
            raise ValueError(f"the name of a {self._kind} must be a text without ':' and '('; got {name!r}")
        ready = self.find(thing) if isinstance(thing, str) else self._checked(thing, f"{self._kind} {name!r}")
        again = name in self._own and ready is self._original.get(name)  # the package's own is put back
        self._held[name], self._ready[name] = self._own[name] if again else thing, ready

    def __delitem__(self, name: str) -> None:
        del self._held[name]
        self._ready.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._held or (isinstance(name, str) and name in self._entry_points())  # without making it

    def __iter__(self) -> Iterator[str]:
        return iter([*self._held, *(name for name in self._entry_points() if name not in self._held)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<{self._kind}s: {', '.join(self)}>"

    def find(self, thing: Any) -> Any:
        """Return the thing of a name or of FILE.py:NAME, or the object that was given; ValueError if there is none."""
        if not isinstance(thing, str):
            return self._checked(thing, f"{self._kind} {_shown(thing)}")
        place = place_in(thing)
        if place is not None:
            return self._checked(from_file(place), f"{self._kind} {thing!r}")
        if ":" in thing and thing not in self:
            return self._checked(_from_module(thing), f"{self._kind} {thing!r}")
        if thing not in self:
            known = list(self)
            listed = ", ".join(known) if len(known) <= MOST_NAMES else f"{known[0]} .. {known[-1]}"
            hint = did_you_mean(thing, known)
            raise ValueError(f"unknown {self._kind} {thing!r}; expected one of {listed}, or FILE.py:NAME{hint}")
        return self[thing]

    def added(self, name: str) -> Any:
        """Return the thing that was given a name in this process; None if the name is another's."""
        held = self._held.get(name)
        return None if held is self._own.get(name) else held

    def package_of(self, name: str) -> str | None:
        """Return name and version of the installed package whose entry point this is; None if it is none."""
        if name in self._held or name not in (found := self._entry_points()):
            return None
        distribution = found[name][0].dist
        return "unknown" if distribution is None else f"{distribution.name} {distribution.version}"

    def known(self) -> Iterator[tuple[str, Any]]:
        """Yield name and thing of all that can be loaded: a broken package of someone else stops nothing here."""
        for name in self:
            try:
                thing = self[name]
            except ValueError:
                continue
            yield name, thing

    def _entry_points(self) -> Mapping[str, list[Any]]:
        folders = tuple((folder, _changed(folder)) for folder in sys.path)
        return _entry_points_of(self._group, folders)

    def _raw(self, name: str) -> tuple[Any, str]:
        """Return the thing of a name, not checked, and what to call it in messages."""
        what = f"{self._kind} {name!r}"
        if name in self._held:
            held = self._held[name]
            if not isinstance(held, str):
                return held, what
            module, _, attribute = held.partition(":")
            return getattr(importlib.import_module(f"{self._package}.{module}".lstrip(".")), attribute), what
        entries = self._entry_points().get(name, [])
        if not entries:
            raise KeyError(name)
        if len(entries) > 1:
            owners = ", ".join(sorted(entry.dist.name if entry.dist else entry.value for entry in entries))
            raise ValueError(f"{what} is an entry point of several packages: {owners}")
        what = f"{what}, entry point {entries[0].value},"
        try:
            return entries[0].load(), what
        except Exception as error:  # of a package that someone else has written
            raise ValueError(f"{what} cannot be loaded: {in_words(error)}") from error


def _changed(folder: str) -> int:
    try:
        return Path(folder or ".").stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _entry_points_of(group: str, folders: tuple[tuple[str, int], ...]) -> Mapping[str, list[Any]]:
    """Return the entry points of a group by name; `folders` is `sys.path`, with the time of the last change of each."""
    from importlib.metadata import entry_points

    found: dict[str, list[Any]] = {}
    for entry in entry_points(group=group):
        if entry.value not in (other.value for other in found.get(entry.name, [])):
            found.setdefault(entry.name, []).append(entry)
    return found


def _shown(thing: Any) -> str:
    return f"of type {type(thing).__name__}" if not isinstance(thing, type) else thing.__name__


def _from_module(text: str) -> Any:
    """Return the thing that MODULE:NAME names, in a module that can be imported."""
    module, _, name = text.rpartition(":")
    try:
        return _named(importlib.import_module(module), name, module)
    except ImportError as error:
        raise ValueError(f"{text!r} is neither FILE.py:NAME nor a name that can be imported: {error}") from None


# --- files ------------------------------------------------------------------------------------------------------------


def from_file(place: Place) -> Any:
    """Return the thing of that name in a file, which stays loaded; another content of the file is another module.

    Modules beside the file can be imported by it, now and later.
    """
    path = place.path.expanduser().resolve()
    _check_file(place.path)
    key = hashlib.sha256(str(path).encode() + b"\0" + path.read_bytes()).hexdigest()[:16]
    name = f"{_KEPT}{path.stem}_{key}"
    with _loading:
        if name not in sys.modules:
            with importable(path.parent):
                execute(path, name, place.path)
            if str(path.parent) not in sys.path:
                sys.path.append(str(path.parent))
    return _named(sys.modules[name], place.name, str(place.path))


def is_of_a_file(module: str) -> bool:
    """Return whether a module of that name was loaded by `from_file`."""
    return module.startswith(_KEPT)


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Make the modules of a folder importable inside the block, before all others."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def execute(path: Path, name: str, shown: Path) -> ModuleType:
    """Execute a file as a module of that name; ValueError, with the path as `shown`, if it raises."""
    _check_file(shown)
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # always so for a name that ends in .py
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise ValueError(f"{shown} cannot be loaded: {in_words(error, path)}") from error
    return module


def _check_file(path: Path) -> None:
    if not path.expanduser().is_file():
        raise ValueError(f"there is no file {str(path)!r}")


def _named(module: ModuleType, name: str, where: str) -> Any:
    if not hasattr(module, name):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise ValueError(f"{where} has no {name!r}{did_you_mean(name, public)}")
    return getattr(module, name)


def in_words(error: BaseException, path: Path | None = None) -> str:
    """Return the error, its first line, and, where known, the line of the file it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and Path(frame.filename).resolve() == path.resolve()]
    where = f" (line {lines[-1]})" if lines else ""
    said, _, _ = str(error).partition("\n")  # those of JAX are a page
    return f"{type(error).__name__}: {said}{where}"


# --- where an object comes from ---------------------------------------------------------------------------------------


def origin_of(thing: Any, what: str) -> str:
    """Return FILE.py:NAME, or MODULE:NAME if its module is part of a package, by which another process finds a thing.

    The thing is a class, a function, or the value of a global variable that stands beside its function (the `fun` of a
    problem, the `build` of a suite) or in the program. ValueError if it cannot be found by a name.
    """
    functions = [getattr(thing, name, None) for name in ("fun", "build")]
    candidates = [getattr(one, "__module__", None) for one in (thing, *functions)]
    for candidate in dict.fromkeys([*candidates, "__main__"]):
        module = sys.modules.get(str(candidate))
        names = [key for key, value in vars(module).items() if value is thing] if module is not None else []
        if module is None or not names:
            continue
        name = getattr(thing, "__name__", names[0])
        name = name if name in names else names[0]
        package = getattr(getattr(module, "__spec__", None), "parent", None)
        if package:
            return f"{candidate}:{name}"
        file = getattr(module, "__file__", None)
        if file is not None and str(file).endswith(".py"):
            return f"{Path(file).resolve()}:{name}"
    raise ValueError(
        f"{what} cannot be found by other processes: it must stand in a file, under a name of its own "
        "(not in a notebook, a function or another class)"
    )


# --- the content of code ----------------------------------------------------------------------------------------------


def roots_in(folder: Path) -> tuple[str, ...]:
    """Return the folders that modules of a project are imported from: the project's, and those of `sys.path` inside."""
    inside = folder.resolve()
    found = [str(inside)]
    for entry in sys.path:
        path = Path(entry or ".").resolve()
        if path.is_relative_to(inside) and not _installed(path) and str(path) not in found:
            found.append(str(path))
    return tuple(found)


def code_digest(path: Path, roots: Sequence[str] = (), package: str = "") -> str:
    """Return the SHA-256 of a file and of everything that it imports from its folder or from `roots`.

    A file that imports nothing from there has the digest of its bytes. Imports are read from the source, also those
    inside functions, so the code is not executed. A file that is read in another way does not count. `package` is that
    of the file, if it is part of one.
    """
    path = path.resolve()
    parts = tuple(package.split(".")) if package else ()
    above = path.parents[len(parts)]  # the folder that the package, or else the file, is in
    found = imported_files(path, [str(above), *roots], parts)
    digests = {_relative(file, path.parent): hashlib.sha256(file.read_bytes()).hexdigest() for file in found}
    if len(digests) == 1:
        return next(iter(digests.values()))
    listed = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def _relative(file: Path, folder: Path) -> str:
    """Return the name of a file seen from a folder, so that the same project elsewhere has the same digest."""
    up = 0
    while not file.is_relative_to(folder) and folder != folder.parent:
        folder, up = folder.parent, up + 1
    return "../" * up + file.relative_to(folder).as_posix()


def imported_files(path: Path, roots: Sequence[str], package: tuple[str, ...] = ()) -> list[Path]:
    """Return a file and those that it imports from the folders `roots`, directly or through others."""
    importlib.invalidate_caches()
    found: dict[Path, tuple[str, ...]] = {path: package}  # with the package that each belongs to
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file.suffix != ".py":
            continue
        for name in _imports(file, found[file]):
            for module, inside in _resolved(name, roots):
                if module not in found:
                    found[module] = inside
                    waiting.append(module)
    return list(found)


def _imports(file: Path, package: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the modules that the source of a file imports anywhere, each as the parts of its name."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # it cannot be loaded either
        return []
    found: list[tuple[str, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = (*package[: len(package) - (node.level - 1)], *base)
            found += [(*base, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                found.append(tuple(node.args[0].value.lstrip(".").split(".")))
    return found


def _resolved(name: tuple[str, ...], roots: Sequence[str]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the files of a module and of the packages it is in, each with its package, as far as `roots` have them."""
    search: Sequence[str] = roots
    if name[0] == __package__:
        return  # this package is known by its version and by the settings of its methods
    for k, part in enumerate(name):
        spec: ModuleSpec | None = PathFinder.find_spec(part, list(search))
        if spec is None:
            return
        if spec.origin is not None and spec.has_location:
            file = Path(spec.origin).resolve()
            if _installed(file):
                return
            is_package = spec.submodule_search_locations is not None
            yield file, name[: k + 1] if is_package else name[:k]
        if spec.submodule_search_locations is None:
            return
        search = list(spec.submodule_search_locations)


def _installed(path: Path) -> bool:
    """Return whether a path belongs to an installation, such as a virtual environment inside a project."""
    library = Path(sysconfig.get_paths()["stdlib"]).resolve()
    return "site-packages" in path.parts or "dist-packages" in path.parts or path.is_relative_to(library)
