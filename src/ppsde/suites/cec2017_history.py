"""Two defective versions of the suite that published tables rest on; for reproducing those tables and nothing else.

`2016-matlab-batch`: the organisers' MATLAB code of 2016 with a whole population passed in one call. The chain term of
C18 and C27 is taken from the first row for every row, so a point's value depends on what it is evaluated with.

`2016-cpp`: the organisers' C++ code of 2016. C15 and C24 lack the absolute value, so their optimum is -5 pi / 4. The
equality of C09 pairs each odd-numbered component with the even-numbered one after it, from the second pair on:
h = sum over k = 2 .. D/2 of (y_{2k-1}^2 - y_{2k})^2. Two public copies of that code agree on this. A remark left in the
corrected code of 2024 gives the last pair as k = D/2 - 1; the code that people ran is followed here, not the remark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..arrays import Array
from .cec2017_formulas import Values, chain, on_chain, on_shells

CURRENT = "2024"  # the organisers' corrections of September 2024, on which MATLAB and C++ agree


def c18_chain_of_the_first_row(y: Array) -> Values:
    return on_chain(chain(y)[:1], y)


def c09_pairs_across(y: Array) -> Values:
    even = y[..., 1::2]
    odd = y[..., 0::2][..., : even.shape[-1]]
    link = (odd * odd - even)[..., 1:]
    return y.max(-1), (even.prod(-1),), ((link * link).sum(-1),)


def c15_without_absolute_value(y: Array) -> Values:
    return on_shells(y.max(-1), y)


# Version -> formulas that differ from the current ones, by the problem that gives the formula its name.
HISTORICAL: Mapping[str, Mapping[str, Callable[..., Values]]] = {
    "2016-matlab-batch": {"C18": c18_chain_of_the_first_row, "C27": c18_chain_of_the_first_row},
    "2016-cpp": {
        "C09": c09_pairs_across,
        "C15": c15_without_absolute_value,
        "C24": c15_without_absolute_value,
    },
}
VERSIONS = (CURRENT, *HISTORICAL)
