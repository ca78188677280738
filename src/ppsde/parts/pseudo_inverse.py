"""The pseudo-inverse of Moore and Penrose, with an absolute limit below which a singular value counts as none."""

from __future__ import annotations

from ..arrays import Array, namespace

LEAST_SINGULAR_VALUE = 1e-12


def pseudo_inverse(matrices: Array) -> Array:
    """The pseudo-inverses (.., n, m) of finite matrices (.., m, n).

    Examples
    --------
    >>> import numpy as np
    >>> pseudo_inverse(np.array([[0.0, 2.0], [0.0, 1e-13]])).round(3)
    array([[0. , 0. ],
           [0.5, 0. ]])
    """
    xp = namespace(matrices)
    U, s, Vt = xp.linalg.svd(matrices, full_matrices=False)
    counts = s > LEAST_SINGULAR_VALUE
    inverted = xp.where(counts, 1.0 / xp.where(counts, s, 1.0), 0.0)
    return xp.swapaxes(Vt, -1, -2) @ (inverted[..., :, None] * xp.swapaxes(U, -1, -2))
