"""Settings of every test run."""

import compileall
import gc
import os
import sys
from collections.abc import Generator
from contextlib import nullcontext, suppress
from pathlib import Path

import compiled_programs
import pytest
from hypothesis import settings

os.environ.setdefault("PPSDE_CACHE", "")  # tests keep no compiled programs in the user's folder
compiled_programs.use(compiled_programs.FOLDER)

# Tests run side by side on all cores: threads of the libraries of linear algebra would only wait for one another, and
# wait busily. Read when NumPy is imported, so set before; the processes that tests start have it too.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# How long an example takes tells of the machine alone; and the same examples each time, so that nothing fails by
# chance. `--hypothesis-profile explore` looks for new ones: what it finds becomes an `@example`.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=5_000)
settings.load_profile("same")

# Even where Python is told to store no bytecode, that of this package and of its tests is stored: reading it takes half
# the time. Files that tests write are another matter.
stores_none = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# Looking for garbage takes a tenth of the time: not while tests are collected, later not among what was collected then
# (`gc.freeze`), and not after every 700 new objects.
gc.disable()
gc.set_threshold(20_000)

# The longest first, so that no process is left alone with them at the end.
LONGEST = ("test_contract", "test_batch", "test_side_by_side", "test_solutions", "test_two_namespaces", "test_backend")


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: tests that wait, for other processes or for a time to pass, leave a core idle."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # before the workers of xdist are started
        compiled_programs.tidy(compiled_programs.FOLDER)
        # Once, and not in each of the many processes that tests start.
        compileall.compile_dir(Path(__file__).parents[1] / "src", quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    with compiled_programs.optimised() if item.get_closest_marker("slow") else nullcontext():
        return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    sys.dont_write_bytecode = stores_none
    with suppress(ImportError):  # it is optional
        import cloudpickle

        # Functions of tests are sent to workers whole. Else each worker would import the test's file, and with it
        # pytest, which takes as long as all the rest of its start.
        for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
            cloudpickle.register_pickle_by_value(module)
    if "jax" in sys.modules:  # not imported for tests that do not need it
        compiled_programs.quicken()
    gc.freeze()
    gc.enable()
