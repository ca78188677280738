"""Imports point downwards, algorithms hardly know each other, and `import ppsde` stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ppsde

PACKAGE = Path(ppsde.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# Bottom up: a module or folder may import what comes before it in this list, and itself, but nothing that follows.
LAYERS = (
    "arrays",
    "checks",
    "display",
    "files",
    "lookup",
    "streams",
    "population",
    "problem",
    "algorithm",
    "parts",
    "algorithms",
    "evaluation",
    "engines",
    "checkpoints",
    "request",
    "result",
    "optimizer",
    "batch",
    "minimize",
    "scipy",
    "bridges",
    "published",
    "suites",
    "experiments",
    "stats",
    "reports",
    "commands",
    "cli",
    "testing",
    "__main__",
)

# Those that may import less than all that lies under them.
NARROW = {
    "suites": {"checks", "arrays", "files", "lookup", "population", "problem", "suites"},
    "stats": {"stats"},
}

# Algorithms that contain another one whole, as one of their searches.
CONTAINS = {"pps_sqp.py": {"pps_de"}}

HEAVY = ("scipy", "jax", "rich", "matplotlib", "cloudpickle", "distributed", "multiprocessing")

FILES = sorted(PACKAGE.rglob("*.py"))


def dotted(file: Path) -> tuple[str, ...]:
    """('parts', 'memory') for ppsde/parts/memory.py, ('parts',) for ppsde/parts/__init__.py, () for the package."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(file: Path) -> list[tuple[int, tuple[str, ...]]]:
    """What a file imports from this package, anywhere in it: line, and the module as `dotted` writes it."""
    module = dotted(file)
    package = module if file.name == "__init__.py" else module[:-1]
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, tuple(alias.name.split("."))) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = ("ppsde", *package[: len(package) - (node.level - 1)], *base)
            found += [(node.lineno, (*base, alias.name)) for alias in node.names]
    return [(line, target[1:]) for line, target in found if target[0] == "ppsde"]


def is_number_of_the_version(target: tuple[str, ...]) -> bool:
    return target == ("__version__",)


def test_imports_are_found_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests below could pass by seeing nothing."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "parts").mkdir()
    file = tmp_path / "parts" / "some.py"
    file.write_text(
        "import numpy\nimport ppsde.engines.run\nfrom ..arrays import Array\nfrom .memory import Memory\n"
        "from .. import suites\ndef later():\n    from ppsde.minimize import minimize\n"
    )
    assert sorted(target for _, target in imported(file)) == [
        ("arrays", "Array"),
        ("engines", "run"),
        ("minimize", "minimize"),
        ("parts", "memory", "Memory"),
        ("suites",),
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_downwards(file: Path) -> None:
    module = dotted(file)
    if not module:
        return  # the package itself gathers the public names of all layers
    layer = module[0]
    assert layer in LAYERS, f"{layer!r} has no layer yet: add it to LAYERS in {Path(__file__).name}, after what it uses"
    may = NARROW.get(layer, set(LAYERS[: LAYERS.index(layer) + 1]))
    for line, target in imported(file):
        if is_number_of_the_version(target):
            continue
        assert target, f"{file.name}:{line} imports the whole package"
        assert target[0] in may, f"{file.name}:{line} imports {target[0]!r}, which does not lie under {layer!r}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_module_gives_one_name_to_two_constants(file: Path) -> None:
    """The second would replace the first in functions above it too."""
    targets = [
        target
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    names = [name.id for target in targets for name in ast.walk(target) if type(name) is ast.Name]
    stored = [name for name in names if name.isupper()]
    assert sorted(set(stored)) == sorted(stored)


@pytest.mark.parametrize("file", sorted((PACKAGE / "algorithms").glob("[!_]*.py")), ids=lambda file: file.name)
def test_no_algorithm_imports_another_but_one_that_it_contains(file: Path) -> None:
    others = {target[1] for _, target in imported(file) if target[0] == "algorithms"}
    may = CONTAINS.get(file.name, set())
    assert others == may, f"{file.name} imports {others - may}; what two algorithms share belongs in parts"


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = f"import sys, ppsde; print(*[name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_every_file_on_the_page_of_architecture_exists() -> None:
    named = set(re.findall(r"(?<![\w/.:*])(?:[a-z]\w*/)*\w+\.py\b(?!:)", PAGE))
    inside = {name for file in FILES for name in (str(file.relative_to(PACKAGE)), file.name)}
    assert len(named) > 60
    assert not [name for name in named if name not in inside and not (ROOT / name).is_file()]
    folders = set(re.findall(r"`([a-z]+(?:/[a-z]+)*)/`", PAGE))
    assert not [name for name in folders if not (PACKAGE / name).is_dir() and not (ROOT / name).is_dir()]


def test_every_module_and_folder_of_the_package_is_on_the_page_of_architecture() -> None:
    _, _, section = PAGE.partition("## What lives where")
    table = section.partition("## ")[0]
    for layer in LAYERS:
        assert f"`{layer}/`" in table or f"`{layer}.py`" in table, layer


def test_every_step_on_the_page_of_architecture_has_its_name_in_its_file() -> None:
    steps = re.findall(r"^\| [^|`]*(?:`[^|`]*`[^|`]*)* \| `(\S+\.py)` \| (`.*`) \|$", PAGE, re.M)
    assert len(steps) > 20
    for file, names in steps:
        text = (PACKAGE / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(?:class |def |){name}\b", text, re.M), f"{file} has no {name}"


def test_every_name_in_the_drawings_is_in_its_file() -> None:
    drawings = "".join(re.findall(r"^```text\n(.*?)^```", PAGE.partition("## Which file")[0], re.M | re.S))
    drawn = re.findall(r"([\w/]+\.py) ([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)", drawings)
    assert len(drawn) > 20
    for file, names in drawn:
        text = (PACKAGE / file).read_text(encoding="utf-8")
        for name in names.split(", "):
            assert re.search(rf"^(?:class |def ){name}\b", text, re.M), f"{file} has no {name}"


def test_the_order_of_layers_on_the_page_of_architecture_is_the_one_tested_here() -> None:
    block = re.findall(r"^```text\n(arrays .*?)^```", PAGE, re.M | re.S)[0]
    assert tuple(name for line in block.splitlines() for name in line.partition("#")[0].split()) == LAYERS
