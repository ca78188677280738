"""Runs the tests with several versions of Python, and with the oldest and newest NumPy, SciPy and JAX of each.

    python tests/versions/environments.py [--folder .versions] [--python 3.11 ...] [--write] [-- ARGUMENTS OF PYTEST]

`make test-versions` does so. Interpreters are looked for as pythonX.Y; a missing one is asked of `uv`, if that is
installed, and left out otherwise. Without arguments for pytest it runs a part: the searches, resuming, files of older
versions, and studies. With --write the record of the documents gets what was found; rows of other environments stay.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# The oldest that pyproject.toml allows, or the first with wheels for that Python.
OLDEST = {
    "3.11": ("numpy==1.26.0", "scipy==1.11.1", "jax==0.4.35", "jaxlib==0.4.35"),
    "3.12": ("numpy==1.26.0", "scipy==1.11.2", "jax==0.4.35", "jaxlib==0.4.35"),
    "3.13": ("numpy==2.1.0", "scipy==1.14.1", "jax==0.4.35", "jaxlib==0.4.35"),
    "3.14": ("numpy==2.3.2", "scipy==1.16.1", "jax==0.8.0", "jaxlib==0.8.0"),
}
NEWEST = ("numpy", "scipy", "jax")
TOOLS = ("pytest>=8", "hypothesis>=6.100", "cloudpickle>=3", "threadpoolctl>=3", "rich>=13")
PART = ("test_minimize.py", "test_resume.py", "test_backend.py", "test_pool.py", "versions", "experiments")
SHOWN = ("numpy", "scipy", "jax")
RECORD = ROOT / "docs" / "measured" / "versions.json"


def interpreter(version: str) -> str | None:
    """Return a Python of that version, or None."""
    candidates = [shutil.which(f"python{version}")]
    if shutil.which("uv"):
        subprocess.run(["uv", "python", "install", version], capture_output=True)
        found = subprocess.run(["uv", "python", "find", version], capture_output=True, text=True)
        candidates.append(found.stdout.strip() or None)
    for path in filter(None, candidates):
        question = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(question, capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def environment(folder: Path, python: str, packages: tuple[str, ...]) -> Path:
    """Return the Python of a virtual environment with these packages, made if there is none."""
    inside = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        wheels = ["--only-binary", "numpy,scipy,jaxlib"]
        subprocess.run([inside, "-m", "pip", "install", "--quiet", *wheels, *packages, *TOOLS], check=True)
        (folder / "complete").touch()
    return inside


def tested(python: Path, arguments: list[str]) -> dict[str, Any]:
    """Return the versions, the last line of a test run, and the tests that went wrong."""
    code = f"import sys, importlib.metadata as m; print(sys.version.split()[0], *(m.version(p) for p in {SHOWN!r}))"
    versions = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing"]
    return {
        **dict(zip(("Python", "NumPy", "SciPy", "JAX"), versions, strict=True)),
        "tests": lines[-1].partition(" in ")[0],
        "wrong": [line for line in lines if line.startswith(("FAILED", "ERROR"))],
        "status": done.returncode,
    }


def write(name: str, found: dict[str, Any]) -> None:
    """Put what was found in an environment into the record, of which the documents have a table."""
    rows = json.loads(RECORD.read_text(encoding="utf-8"))["values"] if RECORD.exists() else {}
    rows[name] = {key: found[key] for key in ("Python", "NumPy", "SciPy", "JAX", "tests")}
    record = {
        "command": "python tests/versions/environments.py --write",
        "machine": f"{os.cpu_count()} cores",
        "methods": {},
        "values": dict(sorted(rows.items())),
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / ".versions", help="where the environments are made")
    parser.add_argument("--python", action="append", choices=OLDEST, help="may be repeated (default: all)")
    parser.add_argument("--only", choices=("oldest", "newest"))
    parser.add_argument("--write", action="store_true", help="put it into the record of the documents")
    parser.add_argument("arguments", nargs="*", help="of pytest")
    given = parser.parse_args()
    arguments = given.arguments or [str(ROOT / "tests" / name) for name in PART]
    wrong = False
    for version in given.python or OLDEST:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not found here, left out", flush=True)
            continue
        for name, packages in (("oldest", OLDEST[version]), ("newest", NEWEST)):
            if given.only in (None, name):
                try:
                    made = environment(given.folder / f"{version}-{name}", python, packages)
                except subprocess.CalledProcessError as error:
                    print(f"Python {version}, {name}: {error}", flush=True)
                    wrong = True
                    continue
                found = tested(made, arguments)
                wrong |= found["status"] != 0
                print(f"{version}, {name}:", found, flush=True)
                if given.write:
                    write(f"{version} {name}", found)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
