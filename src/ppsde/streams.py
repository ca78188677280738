"""Random numbers addressed by (seed, run, generation): there is no generator state to save or to lose.

A stream has the random numbers of one generation of one run. An algorithm uses only two methods, `uniform` and
`normal`; formulas in `parts/` make every other distribution from these, so that recorded numbers can be replayed with
any backend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from .arrays import Array

_WORD = 2**64


class Stream(Protocol):
    """A source of random numbers for one generation."""

    def uniform(self, *shape: int) -> Array:
        """Return uniform numbers in [0, 1)."""

    def normal(self, *shape: int) -> Array:
        """Return standard normal numbers."""


class _Key(ISeedSequence):
    """A key of Philox, passed as a seed: with `key=`, NumPy would first read entropy from the system and not use it."""

    def __init__(self, *words: int) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return np.array(self._words, dtype)


class NumpyStream:
    """NumPy's Philox, keyed by seed and run, with the generation (and the attempt at it) in the counter.

    A generation can draw 2**128 blocks before it reaches the numbers of the next attempt or generation.
    """

    def __init__(self, seed: int, run: int = 0, generation: int = 0, attempt: int = 0) -> None:
        key: Any = _Key(seed, run)  # NumPy accepts any ISeedSequence, but its annotations do not say so
        bits = np.random.Philox(key, counter=np.array([0, 0, attempt, generation], np.uint64))
        generator = np.random.Generator(bits)
        self.uniform = lambda *shape: generator.random(shape)
        self.normal = lambda *shape: generator.standard_normal(shape)


class JaxStream:
    """JAX's counter-based generator: a key folded with run, generation, and the number of the call."""

    def __init__(self, key: Array, generation: Array | int = 0) -> None:
        import jax

        self._random = jax.random
        self._key = jax.random.fold_in(key, generation)
        self._calls = 0

    @classmethod
    def at(cls, seed: int, run: Array | int = 0, generation: Array | int = 0) -> JaxStream:
        """Return the stream of a seed, run and generation."""
        import jax

        return cls(jax.random.fold_in(root_key(seed), run), generation)

    def _next(self) -> Array:
        self._calls += 1
        return self._random.fold_in(self._key, self._calls)

    def uniform(self, *shape: int) -> Array:
        """Return uniform numbers in [0, 1)."""
        return self._random.uniform(self._next(), shape, dtype="float64")

    def normal(self, *shape: int) -> Array:
        """Return standard normal numbers."""
        return self._random.normal(self._next(), shape, dtype="float64")


class Dealt:
    """A stream of numbers that were drawn before: uniform ones (k,) and standard normal ones (m,), in order.

    For an algorithm that draws as many numbers in every generation, whichever part of them it uses. Where they do not
    suffice, numbers come from the stream `more`, if there is one.
    """

    def __init__(self, uniform: Array, normal: Array, more: Stream | None = None) -> None:
        self._left = {"uniform": uniform, "normal": normal}
        self._more = more

    def uniform(self, *shape: int) -> Array:
        """Return the next uniform numbers."""
        return self._next("uniform", shape)

    def normal(self, *shape: int) -> Array:
        """Return the next standard normal numbers."""
        return self._next("normal", shape)

    def _next(self, law: str, shape: tuple[int, ...]) -> Array:
        count, left = math.prod(shape), self._left[law]
        if count > left.shape[0]:
            if self._more is not None:
                return getattr(self._more, law)(*shape)
            raise ValueError(f"{count} {law} numbers are asked for, but only {left.shape[0]} are left")
        self._left[law] = left[count:]
        return left[:count].reshape(shape)


def root_key(seed: int) -> Array:
    """Return the JAX key of a 64-bit seed; it depends on all bits of the seed."""
    import jax

    return jax.random.fold_in(jax.random.key(seed >> 32), seed & 0xFFFFFFFF)


class Tape:
    """Random numbers recorded once and replayed in order, for two backends or an algorithm and its literal version.

    Examples
    --------
    >>> tape = Tape.record(NumpyStream(seed=1))
    >>> first = tape.uniform(2)
    >>> again = Tape(tape.draws).uniform(2)
    >>> bool((first == again).all())
    True
    """

    def __init__(self, draws: Sequence[np.ndarray], convert: Any = np.asarray) -> None:
        self.draws = list(draws)
        self._source: Stream | None = None
        self._position = 0
        self._convert = convert

    @classmethod
    def record(cls, source: Stream) -> Tape:
        """Return a tape that draws from `source` and records the numbers."""
        tape = cls([])
        tape._source = source
        return tape

    def uniform(self, *shape: int) -> Array:
        """Return the next numbers, uniform in [0, 1) if they are recorded now."""
        return self._next("uniform", shape)

    def normal(self, *shape: int) -> Array:
        """Return the next numbers, standard normal if they are recorded now."""
        return self._next("normal", shape)

    def _next(self, law: str, shape: tuple[int, ...]) -> Array:
        if self._source is not None:
            self.draws.append(getattr(self._source, law)(*shape))
        values = self.draws[self._position]
        self._position += 1
        if values.shape != shape:
            raise ValueError(f"the tape holds draws of shape {values.shape} here; {shape} was asked for")
        return self._convert(values)


def seed_from(rng: Any) -> int:
    """Return a 64-bit seed from a user's `rng`: None, an int, a SeedSequence or a Generator."""
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer | np.random.Generator | np.random.SeedSequence):
        raise ValueError(f"rng must be None, an int >= 0, a SeedSequence or a Generator; got {rng!r}")
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, _WORD - 1, dtype=np.uint64, endpoint=True))
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1, np.uint64)[0])
    if rng < 0:
        raise ValueError(f"rng must be an int >= 0; got {rng}")
    return int(rng) if rng < _WORD else int(np.random.SeedSequence(int(rng)).generate_state(1, np.uint64)[0])
