"""`minimize(backend=...)`: the same call on the host and as one program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ppsde

jax = pytest.importorskip("jax")

BOX = [(-5.0, 5.0)] * 3
QUICK: dict[str, Any] = {"method": "jde", "max_evaluations": 3001, "rng": 4}  # the method that compiles in least time


def fun(x: Any) -> Any:
    """The sum of squares beyond a plane, on a second plane."""
    return (x**2).sum(), [1.0 - x[0]], [x[1] - x[2] - 0.5]


def test_a_compiled_search_finds_what_the_host_finds() -> None:
    compiled = ppsde.minimize(fun, BOX, backend="jax", method="jde", max_evaluations=20_000, rng=4)
    host = ppsde.minimize(fun, BOX, backend="numpy", method="jde", max_evaluations=20_000, rng=4)
    assert compiled.success and host.success
    assert compiled.fun == pytest.approx(host.fun, abs=1e-3) and compiled.fun == pytest.approx(1.125, abs=2e-3)
    assert set(compiled) == set(host), "the same fields"
    assert compiled.nfev == 20_000 and compiled.nit == host.nit
    assert compiled.history["evaluations"][-1] == 20_000 and set(compiled.history) == set(host.history)
    assert compiled.population.x.shape == host.population.x.shape
    f, g, h = fun(compiled.x)
    assert compiled.fun == pytest.approx(f, rel=1e-12)
    assert compiled.constr_violation == {"g[0]": max(g[0], 0.0), "h[0]": max(abs(h[0]) - 1e-4, 0.0)}
    assert "feasible" in str(compiled)


def test_a_jitted_function_is_compiled_by_itself_and_anything_else_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ppsde import minimize as module  # noqa: F401

    calls = []
    original = sys.modules["ppsde.minimize"]._compiled
    monkeypatch.setattr(sys.modules["ppsde.minimize"], "_compiled", lambda *a: calls.append(1) or original(*a))
    jitted = jax.jit(lambda x: (x**2).sum())
    ppsde.minimize(jitted, BOX, method="jde", max_evaluations=200, rng=1)  # the quickest to compile
    assert len(calls) == 1
    ppsde.minimize(fun, BOX, max_evaluations=200, rng=1)
    ppsde.minimize(jitted, BOX, max_evaluations=200, rng=1, backend="numpy")
    ppsde.minimize(jitted, BOX, max_evaluations=200, rng=1, callback=lambda result: None)
    assert len(calls) == 1


def test_the_same_seed_gives_the_same_bits_and_first_points_are_used() -> None:
    first, again = (ppsde.minimize(fun, BOX, backend="jax", x0=[1.0, 0.25, -0.25], **QUICK) for _ in range(2))
    assert first.x.tobytes() == again.x.tobytes()
    assert first.history["f"][0] <= 1.125 + 1e-12, "x0 is the optimum"
    other = ppsde.minimize(fun, BOX, backend="jax", **{**QUICK, "rng": 5})
    assert other.x.tobytes() != first.x.tobytes()


def test_failures_are_counted_and_never_best() -> None:
    def half(x: Any) -> Any:
        return jax.numpy.where(x[0] < 0, jax.numpy.nan, (x**2).sum())

    result = ppsde.minimize(half, BOX, backend="jax", **QUICK)
    assert result.success and result.x[0] >= 0 and 0 < result.n_failed < 3001
    nothing = ppsde.minimize(lambda x: x.sum() * np.nan, BOX, backend="jax", **{**QUICK, "max_evaluations": 300})
    assert not nothing.success and np.isnan(nothing.fun) and nothing.n_failed == 300


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"backend": "torch"}, "backend must be one of 'auto', 'numpy', 'jax'; got 'torch'"),
        ({"backend": "jax", "callback": print}, "does not support callback"),
        ({"backend": "jax", "workers": 2}, "does not support workers"),
        (
            {"backend": "jax", "max_time": 5.0, "integrality": True},
            "max_time, integrality, log, choices or open bounds",
        ),
    ],
)
def test_what_a_program_cannot_do_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as caught:
        ppsde.minimize(fun, BOX, **QUICK, **arguments)
    assert words in str(caught.value)
