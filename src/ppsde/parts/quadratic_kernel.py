"""The elastic quadratic program on a GPU: a kernel that solves each program of a batch by itself, to its own end.

Otherwise a batch makes as many rounds as its slowest program, each of some fifty small kernels. The formulas are those
of `ElasticProgram`; here are the operations that the compiler of kernels (Pallas with Triton) does not have, in terms
of sums and selections. Numbers of variables and constraints are padded to the same power of two: added variables stay
at 0, where they are from the start, and added constraints are empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas.triton import CompilerParams

from ..arrays import Array
from .quadratic import RIDGE, ElasticProgram

WARPS = 4  # groups of 32 threads that work on a program


def solved(program: ElasticProgram, needed: Array | bool, **options: Any) -> tuple[Array, Array]:
    """The solution (n,) and the multipliers (m,) of a program, as `ElasticProgram.solve` returns them."""
    m, n = program.A.shape
    size = padded_size(m, n)
    more, rows = (0, size - n), (0, size - m)
    arguments = (
        jnp.pad(program.B, (more, more)) + jnp.diag((jnp.arange(size) >= n).astype(float)),
        jnp.pad(program.c, more),
        jnp.pad(program.A, (rows, more)),
        jnp.pad(program.b, rows),
        jnp.reshape(program.penalty, 1),
        jnp.pad(program.lower, more, constant_values=-1.0),
        jnp.pad(program.upper, more, constant_values=1.0),
        jnp.reshape(jnp.asarray(needed, jnp.int32), 1),
    )

    def kernel(*places: Any) -> None:
        *fields, needed, d, multipliers = places
        B, c, A, b, penalty, lower, upper = (field[:] for field in fields)
        padded = Padded(Matrix(B), c, Matrix(A), b, jnp.sum(penalty), lower, upper, (m, n))
        d[:], multipliers[:] = padded.by_rounds(needed[0] > 0)

    result = jax.ShapeDtypeStruct((size,), program.c.dtype)
    options = options or {"compiler_params": CompilerParams(num_warps=WARPS)}
    d, multipliers = pallas.pallas_call(kernel, out_shape=(result, result), **options)(*arguments)
    return d[:n], multipliers[:m]


def padded_size(m: int, n: int) -> int:
    """The power of two, at least 16, that m constraints and n variables are padded to."""
    return max(16, 1 << (max(m, n) - 1).bit_length())


@dataclass(frozen=True)
class Matrix:
    """A square matrix in a kernel, to be multiplied by vectors."""

    entries: Array
    summed: int = 1  # the axis of the columns, or of the rows in the transposed matrix

    @property
    def T(self) -> Matrix:
        return Matrix(self.entries, 1 - self.summed)

    def __matmul__(self, x: Array) -> Array:
        return jnp.sum(self.entries * jnp.expand_dims(x, 1 - self.summed), axis=self.summed)


@dataclass(frozen=True)
class Padded(ElasticProgram):
    """A program in a kernel: its y, z and their changes are four rows, of slacks, room, lower and upper distances."""

    shape: tuple[int, int]  # numbers of constraints and variables that are not padding

    def _parts(self, values: Array) -> tuple[Array, Array, Array, Array]:
        row = places(values, 0)
        first, second, third, fourth = (jnp.sum(jnp.where(row == k, values, 0.0), axis=0) for k in range(4))
        return first, second, third, fourth

    def _joined(self, *parts: Array) -> Array:
        rows = [jnp.broadcast_to(part[None, :], (4, part.shape[0])) for part in parts]
        row = places(rows[0], 0)
        return jnp.where(row < 2, jnp.where(row == 0, rows[0], rows[1]), jnp.where(row == 2, rows[2], rows[3]))

    def _inner(self, first: Array, second: Array) -> Array:
        m, n = self.shape
        real = places(first, 1) < jnp.where(places(first, 0) < 2, m, n)
        return jnp.sum(jnp.where(real, first * second, 0.0))

    def _count(self) -> int:
        return 2 * sum(self.shape)

    def _solver(self, weight: Array, diagonal: Array) -> Callable[[Array], Array]:
        m, n = self.shape
        A, B = self.A.entries, self.B.entries
        i, j, one = places(B, 0), places(B, 1), places(weight, 0)

        def with_row(k: Array, K: Array) -> Array:
            row = jnp.sum(jnp.where(i == k, A, 0.0), axis=0)
            return K + row[:, None] * (row * picked(weight, k))[None, :]

        def eliminated(k: Array, K: Array) -> Array:
            """K without the k-th variable in the equations below; the rows that make it so are where K becomes 0."""
            row = jnp.sum(jnp.where(i == k, K, 0.0), axis=0)
            pivot = picked(row, k)
            share = jnp.where(one > k, row, 0.0) / jnp.where(pivot > 0.0, pivot, jnp.nan)  # K is symmetric
            left = jnp.where((i > k) & (j == k), 0.0, K)
            return left - share[:, None] * jnp.where(one == k, 1.0, row)[None, :]

        def picked(values: Array, k: Array) -> Array:
            return jnp.sum(jnp.where(one == k, values, 0.0))

        K = repeated(m, with_row, B)
        old = jnp.sum(jnp.where(i == j, K, 0.0), axis=1)
        K = K + jnp.where(i == j, (diagonal + RIDGE * (1.0 + jnp.abs(old)))[:, None], 0.0)
        K = repeated(n, eliminated, K)
        pivots = jnp.sum(jnp.where(i == j, K, 0.0), axis=1)
        L = Matrix(jnp.where(i > j, K, jnp.where(i == j, 1.0, 0.0)))  # L K L' has the pivots on its diagonal, else 0
        return lambda b: L.T @ ((L @ b) / pivots)


def repeated(count: int, step: Callable[[Array, Array], Array], start: Array) -> Array:
    return jax.lax.fori_loop(np.int32(0), np.int32(count), step, start)


def places(values: Array, axis: int) -> Array:
    """The index of each of the values along an axis."""
    return jax.lax.broadcasted_iota(jnp.int32, values.shape, axis)
