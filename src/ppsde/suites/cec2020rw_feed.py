"""The formulas of RC51 to RC57 of the CEC2020 real-world suite: rations of cattle, by amounts of feeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, namespace
from ..problem import FGH
from .cec2020rw_machines import TINY
from .cec2020rw_processes import times

Data = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class BeefRation:
    """Price of a ration for beef cattle (RC51 to RC54), with seven quantities in ranges and one given."""

    feeds: np.ndarray  # (7, 59): price, given quantity, a share, four amounts
    limits: np.ndarray  # (7, 2)
    given: float

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        price, given, share, amount1, amount2, amount3, amount4 = times(x, self.feeds.T).T
        total = xp.sum(x, axis=1)
        total = xp.where(total == 0, TINY, total)  # no feed has no shares
        first, last = xp.sum(x[:, :17], axis=1), xp.sum(x[:, 33:], axis=1)
        quantities = [amount2, amount1, amount3, amount4, first / total, share / total, last]
        g = [
            part
            for quantity, (low, high) in zip(quantities, self.limits, strict=True)
            for part in (low - quantity, quantity - high)
        ]
        return price, xp.stack(g, axis=1), (given - self.given)[:, None]


@dataclass(frozen=True, eq=False)
class DairyRation:
    """Price of a ration for dairy cattle (RC55 to RC57), with six quantities given."""

    price: np.ndarray  # (64,)
    quantities: np.ndarray  # (6, 64), of each feed
    given: np.ndarray  # (6,)

    def __call__(self, x: Array) -> FGH:
        return times(x, self.price[:, None])[:, 0], x[:, :0], times(x, self.quantities.T) - self.given


BEEF_CASES = {
    1: (
        ((1.09, 2.17), (4.87, 5.2), (0.043, 0.086), (0.023, 0.046), (0.295, 0.36), (0.3, 0.4712), (9.2, 11.5)),
        6.9,
    ),
    2: (
        ((1.28, 2.56), (7.3, 7.81), (0.005, 0.094), (0.031, 0.062), (0.2, 0.24), (0.3, 0.4), (9.8, 16.4)),
        9.8,
    ),
    3: (
        ((1.17, 2.34), (6.94, 7.43), (0.038, 0.076), (0.034, 0.068), (0.085, 0.111), (0.25, 0.4), (11.6, 14.5)),
        8.7,
    ),
    4: (
        ((0.56, 1.12), (3.23, 3.46), (0.018, 0.036), (0.0116, 0.04), (0.25, 0.9), (0.3, 0.4384), (7.47, 9.34)),
        5.6,
    ),
}
DAIRY_CASES = {
    1: (25.67, 0.0218, 0.062, 0.034, 0.021, 0.999),
    2: (65.24, 0.066, 0.159, 0.103, 0.052, 2.644),
    3: (30.05, 0.0259, 0.077, 0.096, 0.025, 1.214),
}


def beef_ration(data: Data, case: int) -> BeefRation:
    limits, given = BEEF_CASES[case]
    return BeefRation(data["RM_feed"], np.array(limits), given)


def dairy_ration(data: Data, case: int) -> DairyRation:
    feeds = data["RM_dairy"]
    quantities = np.concatenate([feeds[[11, 1, 2, 12, 13]], feeds[1:11].sum(axis=0, keepdims=True)])
    return DairyRation(feeds[0], quantities, np.array(DAIRY_CASES[case]))
