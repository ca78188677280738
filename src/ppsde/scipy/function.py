"""SciPy's objective as this library calls one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Function:
    """The function with its arguments, rows (S, N) turned into SciPy's columns (N, S)."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], vectorized: bool) -> None:
        self._func, self._args, self.vectorized = func, args, vectorized

    def __call__(self, x: np.ndarray) -> Any:
        return self._func(x.T if self.vectorized else x, *self._args)

    def value(self, x: np.ndarray) -> float:
        """The value of one point."""
        value = np.asarray(self._func(x[:, None] if self.vectorized else x, *self._args))
        if np.iscomplexobj(value):
            raise ValueError(f"the objective must be real; got complex: {value!r}")
        return float(value.reshape(()))
