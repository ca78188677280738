"""Addressed random numbers: their law, the same bits at the same address, nothing in common between addresses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import LEVEL, p_of_law

from ppsde.arrays import bits
from ppsde.streams import Dealt, JaxStream, NumpyStream, Tape, root_key, seed_from

SIZE = 20_000


def test_the_numpy_stream_is_philox_keyed_by_seed_and_run_with_the_address_in_the_counter() -> None:
    key, counter = np.array([2**64 - 1, 7], np.uint64), np.array([0, 0, 3, 5], np.uint64)
    plain = np.random.Generator(np.random.Philox(key=key, counter=counter))
    stream = NumpyStream(2**64 - 1, 7, generation=5, attempt=3)
    assert bits(stream.uniform(9)) == bits(plain.random(9))
    assert bits(stream.normal(9)) == bits(plain.standard_normal(9))


def double_precision() -> AbstractContextManager[Any]:
    jax = pytest.importorskip("jax")
    if hasattr(jax, "enable_x64"):
        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context
    from jax.experimental import enable_x64  # type: ignore[attr-defined]

    older: AbstractContextManager[Any] = enable_x64()
    return older


@pytest.fixture(params=["numpy", "jax"])
def stream_at(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes the stream at (seed, run, generation), of each backend."""
    if request.param == "numpy":
        yield NumpyStream
    else:
        with double_precision():
            yield JaxStream.at


def test_uniform_numbers_are_uniform(stream_at: Any) -> None:
    u = np.asarray(stream_at(1, 2, 3).uniform(SIZE))
    assert u.dtype == np.float64
    assert u.min() >= 0 and u.max() < 1
    assert p_of_law(u, lambda q: q) > LEVEL


def test_normal_numbers_are_standard_normal(stream_at: Any) -> None:
    z = np.asarray(stream_at(1, 2, 3).normal(SIZE))
    assert z.dtype == np.float64
    assert p_of_law(z, stats.norm.cdf) > LEVEL
    assert p_of_law(z, stats.norm(0, 1.1).cdf) < LEVEL


def test_numbers_use_the_whole_precision(stream_at: Any) -> None:
    u = np.asarray(stream_at(1).uniform(1000))
    assert (u != u.astype(np.float32)).sum() > 990


def test_shapes_are_as_asked(stream_at: Any) -> None:
    stream = stream_at(1)
    assert [stream.uniform(3, 4).shape, stream.normal(5).shape, stream.uniform().shape] == [(3, 4), (5,), ()]


def test_the_same_address_gives_the_same_bits(stream_at: Any) -> None:
    first, second = stream_at(7, 3, 11), stream_at(7, 3, 11)
    for law, shape in [("uniform", (2, 5)), ("normal", (4,)), ("uniform", (3,))]:
        assert bits(getattr(first, law)(*shape)) == bits(getattr(second, law)(*shape))


def test_streams_made_earlier_or_used_more_do_not_matter(stream_at: Any) -> None:
    expected = bits(stream_at(7, 3, 12).uniform(5))
    other = stream_at(7, 3, 11)
    later = stream_at(7, 3, 12)
    other.uniform(1000)
    assert bits(later.uniform(5)) == expected


def test_numbers_of_different_addresses_are_unrelated(stream_at: Any) -> None:
    addresses = list(itertools.product([0, 1, 2], [0, 1, 2], [0, 1, 2]))
    draws = np.array([np.asarray(stream_at(*address).uniform(2000)) for address in addresses])
    assert len(np.unique(draws)) == draws.size
    correlations = np.corrcoef(draws)[np.triu_indices(len(addresses), 1)]
    # Of unrelated numbers, normal with deviation 1 / sqrt(2000); 351 pairs, so the largest lies below 4.5 of those.
    assert np.abs(correlations).max() * np.sqrt(2000) < 4.5
    assert p_of_law(correlations * np.sqrt(2000), stats.norm.cdf) > LEVEL


def test_calls_of_one_stream_are_unrelated(stream_at: Any) -> None:
    stream = stream_at(5, 0, 1)
    draws = np.array([np.asarray(stream.uniform(2000)) for _ in range(12)])
    correlations = np.corrcoef(draws)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() * np.sqrt(2000) < 4.5


def test_first_numbers_over_seeds_runs_and_generations_are_uniform(stream_at: Any) -> None:
    """A weak generator shows when only the first number of each address is taken."""
    for vary in range(3):
        first = []
        for k in range(400):
            address = [9, 0, 0]
            address[vary] = k
            first.append(float(stream_at(*address).uniform()))
        assert p_of_law(np.array(first), lambda q: q) > LEVEL


def test_a_seed_and_a_run_cannot_be_mistaken_for_each_other(stream_at: Any) -> None:
    seen = {bits(stream_at(*address).uniform(2)) for address in [(0, 1, 0), (1, 0, 0), (0, 0, 1), (2**63 - 1, 0, 0)]}
    assert len(seen) == 4


def test_large_seeds_and_another_attempt_are_addresses_too() -> None:
    seen = {
        bits(NumpyStream(*address).uniform(2))
        for address in [(2**64 - 1, 0, 0, 0), (2**64 - 1, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)]
    }
    assert len(seen) == 5
    attempts = np.array([NumpyStream(0, 0, 3, attempt).uniform(1000) for attempt in range(3)])
    assert len(np.unique(attempts)) == attempts.size, "no attempt is another one moved on"


def test_every_bit_of_a_seed_counts_in_jax_too() -> None:
    seeds = [0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    with double_precision():
        seen = {bits(JaxStream.at(seed).uniform(2)) for seed in seeds}
        again = {bits(JaxStream.at(seed).uniform(2)) for seed in seeds}
    assert len(seen) == len(seeds) and again == seen


def test_a_seed_means_the_same_whatever_the_precision_of_jax() -> None:
    """So that a key made outside the scope of double precision is not another one."""
    jax = pytest.importorskip("jax")
    seed = 2**63 + 5
    with double_precision():
        inside = np.asarray(jax.random.key_data(root_key(seed)))
    assert inside.tolist() == np.asarray(jax.random.key_data(root_key(seed))).tolist()


def test_a_tape_replays_what_it_recorded_and_refuses_another_shape() -> None:
    tape = Tape.record(NumpyStream(1))
    given = [tape.uniform(2, 3), tape.normal(4)]
    plain = NumpyStream(1)
    assert [bits(values) for values in given] == [bits(plain.uniform(2, 3)), bits(plain.normal(4))]
    replayed = Tape(tape.draws)
    assert bits(replayed.uniform(2, 3)) == bits(given[0])
    with pytest.raises(ValueError, match=r"the tape holds draws of shape \(4,\) here; \(5,\) was asked for"):
        replayed.normal(5)


def test_dealt_numbers_come_in_order_each_law_by_itself(stream_at: Any) -> None:
    drawn = stream_at(1)
    uniform, normal = drawn.uniform(9), drawn.normal(4)
    dealt = Dealt(uniform, normal)
    first, z, second, single = dealt.uniform(2, 3), dealt.normal(4), dealt.uniform(2), dealt.uniform()
    assert [v.shape for v in (first, z, second, single)] == [(2, 3), (4,), (2,), ()]
    assert bits(first) + bits(second) + bits(single) == bits(uniform) and bits(z) == bits(normal)


def test_more_numbers_than_were_dealt_are_refused() -> None:
    dealt = Dealt(np.arange(5.0), np.arange(2.0))
    assert dealt.uniform(0, 3).shape == (0, 3) and dealt.normal(2).tolist() == [0, 1]
    with pytest.raises(ValueError, match="6 uniform numbers are asked for, but only 5 are left"):
        dealt.uniform(2, 3)
    with pytest.raises(ValueError, match="1 normal numbers are asked for, but only 0 are left"):
        dealt.normal(1)
    assert dealt.uniform(5).tolist() == [0, 1, 2, 3, 4], "a refusal deals nothing"


def test_a_seed_is_made_from_what_users_pass() -> None:
    assert seed_from(7) == 7
    assert seed_from(np.int64(7)) == 7
    assert seed_from(2**64 - 1) == 2**64 - 1
    assert 0 <= seed_from(2**64) < 2**64
    assert seed_from(2**64) == seed_from(2**64) != seed_from(2**64 + 1)
    assert seed_from(np.random.SeedSequence(3)) == seed_from(np.random.SeedSequence(3))
    assert seed_from(np.random.default_rng(3)) == seed_from(np.random.default_rng(3))
    generator = np.random.default_rng(3)
    assert seed_from(generator) != seed_from(generator), "a generator moves on"
    assert seed_from(None) != seed_from(None)


@pytest.mark.parametrize("rng", [-1, 1.5, "seven", True])
def test_what_cannot_be_a_seed_is_refused(rng: Any) -> None:
    with pytest.raises(ValueError, match="rng must be"):
        seed_from(rng)
