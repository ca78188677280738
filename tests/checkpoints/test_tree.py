"""Trees of dataclasses: every leaf comes back with its type and its bits, and nothing else can be made of a file."""

from __future__ import annotations

import struct
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsde.checkpoints import state_file
from ppsde.checkpoints.state_file import CheckpointError
from ppsde.checkpoints.state_tree import DEEPEST, class_name, classes_within, flatten, rebuild

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


@dataclass(frozen=True)
class Leaf:
    value: Any


@dataclass(frozen=True)
class Branch:
    left: Any
    right: Any
    made: Any = field(init=False, default=None)


@dataclass(frozen=True, slots=True)
class Slotted:
    one: Any


CLASSES = classes_within([Leaf, Branch, Slotted])


@st.composite
def arrays(draw: Any) -> np.ndarray:
    """Any bits in any of the types: NaN with payloads, -0.0, subnormal numbers; in either order and byte order."""
    dtype = np.dtype(draw(st.sampled_from("=<>")) + draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    size = int(np.prod(shape, dtype=int))
    if dtype.kind == "b":
        flat = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    else:
        flat = np.frombuffer(draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize)), dtype)
    return flat.reshape(shape, order=draw(st.sampled_from("CF")))


def a_float(eight_bytes: bytes) -> float:
    return float(struct.unpack("<d", eight_bytes)[0])


FLOATS = st.binary(min_size=8, max_size=8).map(a_float)
LEAVES = st.one_of(
    arrays(),
    arrays().filter(lambda array: array.ndim == 0).map(lambda array: array[()]),
    FLOATS,
    st.builds(complex, FLOATS, FLOATS),
    st.integers(),
    st.booleans(),
    st.text(max_size=5),
    st.none(),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Leaf, inner),
        st.builds(Branch, inner, inner),
        st.builds(Slotted, inner),
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def same(first: Any, second: Any) -> bool:
    """Whether both are the same to the last bit, types included."""
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, Leaf | Branch | Slotted):
        return all(same(getattr(first, name), getattr(second, name)) for name in first.__dataclass_fields__)
    if isinstance(first, np.ndarray):
        order = first.flags.c_contiguous == second.flags.c_contiguous
        return first.dtype == second.dtype and first.shape == second.shape and order and bits(first) == bits(second)
    return bits(first) == bits(second) if isinstance(first, np.generic | float | complex) else bool(first == second)


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


@settings(max_examples=100)
@given(tree=TREES)
def test_every_leaf_comes_back_bit_for_bit(tree: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "tree.ppsde"
    kept: dict[str, np.ndarray] = {}
    description = flatten(tree, "tree", kept, CLASSES)
    state_file.write(path, description, kept)
    found = state_file.read(path)
    assert same(rebuild(found.content, found.arrays, CLASSES), tree)


@pytest.mark.parametrize("number", [-0.0, np.float64(-0.0), a_float(bytes.fromhex("efbeadde0000f47f")), np.float32(1)])
def test_the_numbers_that_are_easily_lost(number: Any) -> None:
    kept: dict[str, np.ndarray] = {}
    back = rebuild(flatten(number, "n", kept, {}), kept, {})
    assert type(back) is type(number) and bits(back) == bits(number)


def test_arrays_are_named_by_where_they_stand() -> None:
    kept: dict[str, np.ndarray] = {}
    flatten(Branch((np.zeros(2), 1.0), Leaf(np.ones(3))), "state", kept, CLASSES)
    assert list(kept) == ["state.left[0]", "state.left[1]", "state.right.value"]


class Unknown:
    pass


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Unknown(), "tree.value cannot be stored: Unknown"),
        (len, "tree.value cannot be stored: builtin_function_or_method"),
        ({"a": 1}, "tree.value cannot be stored: dict"),
        (Pair(1, 2), "tree.value cannot be stored: Pair"),
        (b"bytes", "tree.value cannot be stored: bytes"),
    ],
)
def test_what_is_not_plain_is_refused_by_name(value: Any, words: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        flatten(Leaf(value), "tree", {}, CLASSES)
    assert words in str(caught.value)


def test_a_class_that_could_not_be_found_again_is_not_stored() -> None:
    with pytest.raises(CheckpointError, match=r"declared type does not include .*Leaf"):
        flatten(Branch(Leaf(1), None), "tree", {}, classes_within([Branch]))


@dataclass(frozen=True)
class Inner:
    value: float


@dataclass(frozen=True)
class Other:
    value: float


@dataclass(frozen=True)
class Outer:
    maybe: Inner | None
    several: tuple[Other, ...]
    held: Any


def test_classes_are_known_from_declared_types_and_from_what_is_held() -> None:
    assert set(classes_within([Outer])) == {class_name(kind) for kind in (Outer, Inner, Other)}
    held = Outer(None, (), [Leaf(Slotted(1))])
    assert set(classes_within([held])) == {class_name(kind) for kind in (Outer, Inner, Other, Leaf, Slotted)}


def deep(levels: int) -> Any:
    tree: Any = None
    for _ in range(levels):
        tree = (tree,)
    return tree


def test_depth_has_a_limit_in_both_directions() -> None:
    description = flatten(deep(DEEPEST), "tree", {}, {})
    assert rebuild(description, {}, {}) == deep(DEEPEST)
    with pytest.raises(CheckpointError, match="deeper"):
        flatten(deep(DEEPEST + 1), "tree", {}, {})
    with pytest.raises(CheckpointError, match="deeper"):
        rebuild({"tuple": [description]}, {}, {})


LEAF = class_name(Leaf)
HOSTILE = [
    1,
    1.5,
    [],
    {},
    {"array": "a", "number": "a"},
    {"array": 5},
    {"array": "missing"},
    {"array": ["a"]},
    {"number": "a"},
    {"float": "zero"},
    {"int": "1.5"},
    {"int": " 1"},
    {"int": "1_000"},
    {"int": 3},
    {"int": "9" * 5000},
    {"pickle": "gASVHgAAAA=="},
    {"eval": "1 + 1"},
    {"tuple": "abc"},
    {"tuple": {"0": None}},
    {"class": "os.system", "fields": {"command": "true"}},
    {"class": "builtins.eval", "fields": {}},
    {"class": "ppsde.population.Population", "fields": {}},
    {"class": [LEAF], "fields": {"value": None}},
    {"class": LEAF, "fields": {}},
    {"class": LEAF, "fields": {"value": None, "__class__": None}},
    {"class": LEAF, "fields": [["value", None]]},
    {"class": LEAF, "fields": {"value": {"class": "subprocess.Popen", "fields": {"args": "true"}}}},
]


@pytest.mark.parametrize("description", HOSTILE, ids=lambda description: repr(description)[:60])
def test_a_description_that_flatten_cannot_have_made_is_refused(description: Any) -> None:
    with pytest.raises(CheckpointError):
        rebuild(description, {"a": np.zeros(3), "zero": np.zeros((), int)}, CLASSES)
