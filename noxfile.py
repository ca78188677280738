"""Tests with every Python that the package supports, by nox: `nox`, or `nox -s tests-3.12`."""

from __future__ import annotations

import nox

nox.options.sessions = ["tests"]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], venv_backend="venv")
def tests(session: nox.Session) -> None:
    """Run the tests in an environment of that version; `nox -- -m slow` passes arguments on to pytest."""
    session.install("--editable", ".[dev,jax,cli,report,pool,dask,parquet]")
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(venv_backend="venv")
def package(session: nox.Session) -> None:
    """Build the package and install it in clean environments."""
    session.install("build", "mypy")
    session.run("bash", ".ci/package", external=True, env={"PYTHON": "python"})
