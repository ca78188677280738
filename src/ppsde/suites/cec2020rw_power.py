"""The formulas of RC34 to RC50 of the CEC2020 real-world suite: power grids, a wind farm, and inverters.

Grids are computed in real numbers: a voltage is its real part and its imaginary part. All quantities are per unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, namespace
from ..problem import FGH
from .cec2020rw_machines import TINY
from .cec2020rw_processes import times
from .engineering_formulas import away_from_zero

Data = Mapping[str, np.ndarray]
Parts = tuple[Array, Array]  # real and imaginary parts, each (n, buses)


def drawn_current(power: Parts, voltage: Parts) -> Parts:
    """Return the current conj(S / V) of a power S; at a voltage of 0, where it has no value, a large one or 0."""
    (p, q), (real, imaginary) = power, voltage
    size = namespace(real).maximum(real**2 + imaginary**2, TINY)
    return (p * real + q * imaginary) / size, (p * imaginary - q * real) / size


def spread(values: Array, buses: np.ndarray, n_buses: int) -> Array:
    """Return values (n, k) at k of the buses, 0 at the others (n, n_buses); `buses` count from 1."""
    return times(values, np.eye(n_buses)[buses - 1])


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid of constant admittances, with the buses whose voltages are given: bus 1, or the phases 1 to 3."""

    conductance: np.ndarray  # (buses, buses)
    susceptance: np.ndarray  # (buses, buses)
    given: np.ndarray  # (k,), complex voltages of the first buses

    def voltage(self, x: Array) -> Parts:
        """Return the voltages of all buses, those not given from the first columns."""
        xp = namespace(x)
        free = len(self.conductance) - len(self.given)
        fixed = xp.ones((len(x), 1))
        real = xp.concatenate([fixed * self.given.real, x[:, :free]], axis=1)
        imaginary = xp.concatenate([fixed * self.given.imag, x[:, free : 2 * free]], axis=1)
        return real, imaginary

    def current(self, voltage: Parts) -> Parts:
        """Return the currents Y V."""
        real, imaginary = voltage
        g, b = self.conductance.T, self.susceptance.T
        return times(real, g) - times(imaginary, b), times(real, b) + times(imaginary, g)


ONE = np.ones(1)
PHASES = np.exp(2j * np.pi / 3 * np.array([0, 2, 1]))


@dataclass(frozen=True, eq=False)
class Loads:
    """Loads that depend on the voltage by powers: size (|V| / reference) ^ exponent."""

    size: np.ndarray  # (2, buses): active, reactive
    reference: np.ndarray  # (2, buses)
    exponent: np.ndarray  # (2, buses)

    def at(self, voltage: Parts) -> Parts:
        """Return the active and reactive loads."""
        modulus = namespace(voltage[0]).sqrt(voltage[0] ** 2 + voltage[1] ** 2)
        active, reactive = (self.size[k] * (modulus / self.reference[k]) ** self.exponent[k] for k in (0, 1))
        return active, reactive


def grid_of(data: Data, name: str, given: np.ndarray = ONE) -> Grid:
    """Return the grid of admittances PS1, PS2 or PS11."""
    return Grid(data[f"{name}_G"], data[f"{name}_B"], given)


def loads_of(data: Data) -> Loads:
    """Return the loads of the microgrid of 38 buses."""
    active, reactive = data["PS2_P"].T, data["PS2_Q"].T
    return Loads(*(np.stack([active[k], reactive[k]]) for k in (0, 4, 5)))


@dataclass(frozen=True, eq=False)
class PowerFlow:
    """A grid with powers at its buses as variables: voltages, powers, then generators.

    Equalities: currents (real, then imaginary), active powers, reactive powers, of the buses not given.
    """

    grid: Grid
    generators: np.ndarray  # their buses, from 1
    with_reactive: bool  # whether generators have reactive power too

    def flows(self, x: Array) -> tuple[Parts, Parts, Parts, Parts]:
        """Return voltages and currents of all buses, powers of those not given, and generation of all."""
        buses = len(self.grid.conductance)
        free, count = buses - len(self.grid.given), len(self.generators)
        voltage = self.grid.voltage(x)
        power = x[:, 2 * free : 3 * free], x[:, 3 * free : 4 * free]
        active = spread(x[:, 4 * free : 4 * free + count], self.generators, buses)
        reactive = spread(x[:, 4 * free + count :], self.generators, buses) if self.with_reactive else active * 0
        return voltage, self.grid.current(voltage), power, (active, reactive)

    def mismatches(self, x: Array, loads: Parts) -> tuple[Array, Parts, Parts, Parts]:
        """Return the equalities, and currents, powers and generation, for given loads (buses,) or (n, buses)."""
        xp = namespace(x)
        voltage, current, power, generation = self.flows(x)
        k = len(self.grid.given)
        drawn = drawn_current(power, (voltage[0][:, k:], voltage[1][:, k:]))
        h = [current[j][:, k:] - drawn[j] for j in (0, 1)]
        h += [power[j] - generation[j][:, k:] + loads[j][..., k:] for j in (0, 1)]
        return xp.concatenate(h, axis=1), current, power, generation


@dataclass(frozen=True, eq=False)
class PhaseBalancing:
    """Unbalance of the currents of three phases, by sizes of single-phase generators (RC34)."""

    flow: PowerFlow
    loads: tuple[np.ndarray, np.ndarray]  # (buses,), already negated: the data counts what is drawn as negative

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        h, (real, imaginary), _, _ = self.flow.mismatches(x, self.loads)
        f = 0
        for turned in (np.ones(3), PHASES):  # zero and negative sequence
            a = xp.sum(real[:, :3] * turned.real - imaginary[:, :3] * turned.imag, axis=1)
            b = xp.sum(real[:, :3] * turned.imag + imaginary[:, :3] * turned.real, axis=1)
            f = f + xp.sqrt(a**2 + b**2)
        return f, x[:, :0], h


def phase_balancing(data: Data) -> PhaseBalancing:
    generators = np.array([9, 16, 21, 24, 30])
    return PhaseBalancing(PowerFlow(grid_of(data, "PS1", PHASES), generators, True), (-data["PS1_P"], -data["PS1_Q"]))


DISTRIBUTED = np.arange(34, 39)  # buses of the generators of the microgrid


@dataclass(frozen=True, eq=False)
class GeneratorSizing:
    """Losses of a microgrid of 38 buses, by sizes of five generators (RC35), also of capacitors (RC36)."""

    flow: PowerFlow
    loads: Loads

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        h, (real, imaginary), (p, q), _ = self.flow.mismatches(x, self.loads.at(self.flow.grid.voltage(x)))
        f = real[:, 0] + xp.sum(p, axis=1)
        if self.flow.with_reactive:
            f = 0.5 * f + 0.5 * (xp.sum(q, axis=1) - imaginary[:, 0])
        return f, x[:, :0], h


def generator_sizing(data: Data) -> GeneratorSizing:
    return GeneratorSizing(PowerFlow(grid_of(data, "PS2"), DISTRIBUTED, False), loads_of(data))


def generator_and_capacitor_sizing(data: Data) -> GeneratorSizing:
    return GeneratorSizing(PowerFlow(grid_of(data, "PS2"), DISTRIBUTED, True), loads_of(data))


GENERATORS = np.array([2, 13, 22, 23, 27])
COST_LINEAR = np.array([2, 1.75, 1, 3.25, 3, 3])  # of bus 1 and the generators
COST_SQUARE = np.array([0.02, 0.0175, 0.0625, 0.00834, 0.025, 0.0025])


@dataclass(frozen=True, eq=False)
class OptimalPowerFlow:
    """Losses of a grid of 30 buses (RC37), cost of its fuel (RC38), or cost and 0.75 times the losses (RC39)."""

    flow: PowerFlow
    loads: tuple[np.ndarray, np.ndarray]  # (buses,)
    objective: str  # "loss", "cost" or "both"

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        h, (real, _), (p, _), (active, _) = self.flow.mismatches(x, self.loads)
        slack = real[:, :1]  # power of bus 1, whose voltage is 1
        if self.objective == "loss":
            return slack[:, 0] + xp.sum(p, axis=1), x[:, :0], h
        made = xp.concatenate([slack, active[:, GENERATORS - 1]], axis=1)
        f = xp.sum(COST_LINEAR * made + COST_SQUARE * made**2, axis=1)
        if self.objective == "both":
            f = f + 0.75 * (xp.sum(made, axis=1) - np.sum(self.loads[0]))
        return f, x[:, :0], h


def _power_flow(data: Data, objective: str) -> OptimalPowerFlow:
    flow = PowerFlow(grid_of(data, "PS11"), GENERATORS, True)
    return OptimalPowerFlow(flow, (data["PS11_P"], data["PS11_Q"]), objective)


def power_flow_loss(data: Data) -> OptimalPowerFlow:
    return _power_flow(data, "loss")


def power_flow_cost(data: Data) -> OptimalPowerFlow:
    return _power_flow(data, "cost")


def power_flow_cost_and_loss(data: Data) -> OptimalPowerFlow:
    return _power_flow(data, "both")


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines between buses whose reactances grow with the frequency."""

    table: np.ndarray  # (lines, 6): from, to (both counted from 1), resistance, reactance, ground, tap

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last bus of each line, as matrices (buses, lines) of 0 and 1."""
        first, last = self.table[:, :2].astype(int).T
        buses = np.arange(1, max(first.max(), last.max()) + 1)
        return (buses[:, None] == first).astype(float), (buses[:, None] == last).astype(float)

    def current(self, voltage: Parts, frequency: Array) -> Parts:
        """Return the currents of all buses at frequencies (n,)."""
        resistance, reactance, ground, tap = self.table[:, 2:].T
        x = reactance * frequency[:, None]
        size = resistance**2 + x**2
        g, b = resistance / size, -x / size  # (n, lines)
        first, last = self.ends
        (r1, i1), (r2, i2) = (tuple(times(part, end) for part in voltage) for end in (first, last))
        # Bus "from" sees y / tap^2 and the ground, bus "to" sees y and the ground; -y / tap joins them.
        start_real = (g * r1 - b * i1) / tap**2 - ground * i1 - (g * r2 - b * i2) / tap
        start_imaginary = (g * i1 + b * r1) / tap**2 + ground * r1 - (g * i2 + b * r2) / tap
        end_real = (g * r2 - b * i2) - ground * i2 - (g * r1 - b * i1) / tap
        end_imaginary = (g * i2 + b * r2) + ground * r2 - (g * i1 + b * r1) / tap
        return (
            times(start_real, first.T) + times(end_real, last.T),
            times(start_imaginary, first.T) + times(end_imaginary, last.T),
        )


ACTIVE_DROOPS = 1 / np.array([5.102e-3, 1.502e-3, 4.506e-3, 2.253e-3, 2.253e-3])
REACTIVE_DROOPS = 1 / np.array([0.05, 0.03, 0.05, 0.01, 0.1])


@dataclass(frozen=True, eq=False)
class IslandedMicrogrid:
    """A microgrid of 38 buses without a main grid: its power flow (RC40), or its losses by droops (RC42, RC43)."""

    lines: Lines
    loads: Loads
    objective: str  # "flow", "active" or "both"

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        first = x[:, 75:76] + 1e-5
        real = xp.concatenate([first, x[:, :37]], axis=1)
        imaginary = xp.concatenate([first * 0, x[:, 37:74]], axis=1)
        frequency = x[:, 74]
        if self.objective == "flow":
            active, reactive = (spread(d[None], DISTRIBUTED, 38) for d in (ACTIVE_DROOPS, REACTIVE_DROOPS))
        else:
            active, reactive = (spread(d, DISTRIBUTED, 38) for d in (x[:, 76:81], x[:, 81:86]))
        load_p, load_q = self.loads.at((real, imaginary))
        p = active * (1 - frequency[:, None]) - load_p
        q = reactive * (1 - xp.sqrt(real**2 + imaginary**2)) - load_q
        current = self.lines.current((real, imaginary), frequency)
        drawn = drawn_current((p, q), (real, imaginary))
        h = xp.concatenate([current[0] - drawn[0], current[1] - drawn[1]], axis=1)
        if self.objective == "flow":
            return mismatch(p, q, (real, imaginary), current), x[:, :0], h
        f = xp.sum(p, axis=1)
        return (0.5 * (xp.sum(q, axis=1) + f) if self.objective == "both" else f), x[:, :0], h


def mismatch(p: Array, q: Array, voltage: Parts, current: Parts) -> Array:
    """Return the sum over the buses of squared differences between powers and those of voltage and current."""
    xp = namespace(p)
    (a, b), (c, d) = voltage, current
    return xp.sum((p - (a * c + b * d)) ** 2, axis=1) + xp.sum((q - (b * c - a * d)) ** 2, axis=1)


def islanded_flow(data: Data) -> IslandedMicrogrid:
    return IslandedMicrogrid(Lines(data["PS14_linedata"]), loads_of(data), "flow")


def droop_active(data: Data) -> IslandedMicrogrid:
    return IslandedMicrogrid(Lines(data["PS14_linedata"]), loads_of(data), "active")


def droop_both(data: Data) -> IslandedMicrogrid:
    return IslandedMicrogrid(Lines(data["PS14_linedata"]), loads_of(data), "both")


@dataclass(frozen=True, eq=False)
class ConnectedMicrogrid:
    """Power flow of a microgrid of 38 buses at a main grid (RC41), with five generators of 0.2 + 0.18 i."""

    grid: Grid
    loads: Loads

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        voltage = self.grid.voltage(x)
        current = self.grid.current(voltage)
        load_p, load_q = self.loads.at(voltage)
        made = np.isin(np.arange(1, 39), DISTRIBUTED).astype(float)
        p, q = (0.2 * made - load_p)[:, 1:], (0.18 * made - load_q)[:, 1:]
        free, into = ((part[0][:, 1:], part[1][:, 1:]) for part in (voltage, current))
        drawn = drawn_current((p, q), free)
        h = xp.concatenate([into[0] - drawn[0], into[1] - drawn[1]], axis=1)
        return mismatch(p, q, free, into), x[:, :0], h


def connected_flow(data: Data) -> ConnectedMicrogrid:
    return ConnectedMicrogrid(grid_of(data, "PS2"), loads_of(data))


# --- a wind farm ----------------------------------------------------------------------------------------------------

TURBINES = 15
TURBINE_RADIUS, WAKE_GROWTH, WAKE_STRENGTH = 40.0, 0.01, 1 - math.sqrt(0.2)
WIND_DIRECTIONS = np.radians(7.5 + 15 * np.arange(24))
WIND_SCALES = np.array(
    [7, 5, 5, 5, 5, 4, 5, 6, 7, 7, 8, 9.5, 10, 8.5, 8.5, 6.5, 4.6, 2.6, 8, 5, 6.4, 5.2, 4.5, 3.9]
)  # of Weibull distributions of shape 2
WIND_SHARES = np.array(
    [
        *(0.0003, 0.0072, 0.0237, 0.0242, 0.0222, 0.0301, 0.0397, 0.0268, 0.0626, 0.0801, 0.1025, 0.1445),
        *(0.1909, 0.1162, 0.0793, 0.0082, 0.0041, 0.0008, 0.0010, 0.0005, 0.0013, 0.0031, 0.0085, 0.0222),
    ]
)
WIND_SPEEDS = np.append(3.5 + 0.3 * np.arange(36), 25.0)  # steps of 0.3 up to the rated speed 14, then the greatest
_MIDDLES = 0.5 * (WIND_SPEEDS[:35] + WIND_SPEEDS[1:36])
WIND_POWERS = np.append(1500 * np.exp(_MIDDLES - 7.5) / (5 + np.exp(_MIDDLES - 7.5)), 1500.0)  # kW between speeds
FARM_PAIRS = np.triu_indices(TURBINES - 1, 1)  # the last turbine is in no pair, as in the organisers' code


def wind_farm(x: Array) -> FGH:
    """Power of 15 turbines in each other's wakes, negated (Wang et al. 2017); all but the last must be 200 m apart."""
    xp = namespace(x)
    across, up = x[:, 0::2], x[:, 1::2]
    east = across[:, :, None] - across[:, None, :]  # (n, turbine behind, turbine before)
    north = up[:, :, None] - up[:, None, :]
    east, north = east[:, None], north[:, None]  # (n, 1, 15, 15)
    along = np.cos(WIND_DIRECTIONS)[:, None, None] * east + np.sin(WIND_DIRECTIONS)[:, None, None] * north
    aside = xp.sqrt(xp.maximum(east**2 + north**2 - along**2, 0.0))
    behind = (along > 0) & (along * WAKE_GROWTH + TURBINE_RADIUS > aside - TURBINE_RADIUS)
    lost = xp.where(behind, (WAKE_STRENGTH / (1 + WAKE_GROWTH * along / TURBINE_RADIUS) ** 2) ** 2, 0.0)
    slowed = 1 - xp.sqrt(xp.sum(lost, axis=3))  # (n, 24, 15)
    scale = away_from_zero(WIND_SCALES[:, None] * slowed, TINY ** (1 / 2))
    beyond = xp.exp(-((WIND_SPEEDS / scale[..., None]) ** 2))  # probability of faster wind (n, 24, 15, 37)
    power = xp.sum(WIND_POWERS * (beyond[..., :-1] - beyond[..., 1:]), axis=3)
    f = -xp.sum(WIND_SHARES * xp.sum(power, axis=2), axis=1)
    first, second = FARM_PAIRS
    apart = xp.sqrt((across[:, first] - across[:, second]) ** 2 + (up[:, first] - up[:, second]) ** 2)
    return f, 5 * TURBINE_RADIUS - apart, x[:, :0]


# --- inverters ------------------------------------------------------------------------------------------------------

HARMONICS = np.array(
    [
        *(5.0, 7, 11, 13, 17, 19, 23, 25, 29, 31, 35, 37, 41, 43, 47, 49, 53, 55, 59, 61),
        *(65, 67, 71, 73, 77, 79, 83, 85, 91, 95, 97),
    ]
)


@dataclass(frozen=True)
class Inverter:
    """Distortion of a multilevel inverter by its switching angles in degrees (Rathore et al. 2010), RC45 to RC50."""

    switches: str  # + and -, the direction of each
    sources: int  # half of one less than the number of levels
    modulation: float

    def __call__(self, x: Array) -> FGH:
        xp = namespace(x)
        sign = np.where(np.array(list(self.switches)) == "+", 1.0, -1.0)
        waves = xp.sum(sign * xp.cos(HARMONICS[:, None] * x[:, None, :] * math.pi / 180), axis=2)
        distortion = xp.sqrt(xp.sum(waves**2 / HARMONICS**4, axis=1)) / math.sqrt(np.sum(1 / HARMONICS**4))
        fundamental = xp.sum(sign * xp.cos(x * math.pi / 180), axis=1) - self.sources * self.modulation
        return distortion / self.sources, x[:, :-1] - x[:, 1:] + 1e-6, fundamental[:, None]


INVERTERS = {
    3: Inverter("+-" * 12 + "+", 1, 0.32),
    5: Inverter("+-++-+-+--+-++-+-+--+-++-", 2, 0.32),
    7: Inverter("+-+++---++--+++---++--+++", 3, 0.36),
    9: Inverter("++++-+---+--++++-+---+--++++-+", 4, 0.32),
    11: Inverter("+-+++---++++--+---++++-++--+--", 5, 0.3333),
    13: Inverter("+++-+-+-++++----+-+-++++---+-+", 6, 0.32),
}
