"""Ordinary values come back from a snapshot with their types; others are refused by name."""

import hashlib
import random
import re
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from learners.errors import SnapshotError
from learners.snapshot import MAGIC, MAGIC_2, Snapshot

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.integers() | st.text() | st.tuples(st.text(), st.integers()) | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(KEYS, inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, st.integers()).map(Counter)
        | st.lists(inner).map(lambda items: deque(items, maxlen=3))
    ),
    max_leaves=20,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "snapshot"


def stored(value, path):
    """Return a value that was written and read again."""
    Snapshot(values={"value": value}).write(path)
    return Snapshot.read(path).values["value"]


@given(value=VALUES)
def test_nested_values_come_back_with_their_types(value, tmp_path_factory):
    back = stored(value, tmp_path_factory.mktemp("values") / "snapshot")
    assert back == value
    assert repr(back) == repr(value)  # also tells 1 from True and from 1.0


@pytest.mark.parametrize(
    "value",
    [
        {"\x00type": "tuple", "items": []},
        {1: "a", "1": "b"},
        {("rot", 0): [0.5]},
        deque([1, 2], maxlen=2),
        pytest.param({1, 2, ("a", 3)}, id="a set"),  # whose repr differs from process to process
        Counter({"b": 2, "a": 1}),
        defaultdict(float, {"rot": 0.25}),
        defaultdict(list),
        OrderedDict(b=1, a=2),
        np.float32(0.1),
        np.float64(0.1),
        np.int64(7),
        np.bool_(True),
    ],
    ids=repr,
)
def test_a_value_that_json_does_not_have_comes_back(value, path):
    back = stored(value, path)
    assert (type(back), back) == (type(value), value)
    assert list(back) == list(value) if isinstance(value, dict) else True
    assert getattr(back, "maxlen", None) == getattr(value, "maxlen", None)
    assert getattr(back, "default_factory", None) == getattr(value, "default_factory", None)


def test_an_array_in_a_list_comes_back_and_can_be_changed(path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    [back, zero] = stored([array, np.zeros(0, dtype=np.int64)], path)
    np.testing.assert_array_equal(back, array, strict=True)
    np.testing.assert_array_equal(zero, np.zeros(0, dtype=np.int64), strict=True)
    back[0, 0] = 5


def test_arrays_by_name_and_arrays_in_values_do_not_mix(path):
    Snapshot({"0": np.ones(2)}, {"array": np.zeros(3)}).write(path)
    back = Snapshot.read(path)
    assert (list(back.arrays), back.arrays["0"].tolist(), back.values["array"].tolist()) == (["0"], [1, 1], [0, 0, 0])


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_tensor_comes_back(requires_grad, path):
    back = stored({"w": torch.tensor([1.5, 2.5], requires_grad=requires_grad)}, path)["w"]
    assert (back.tolist(), back.dtype, back.requires_grad) == ([1.5, 2.5], torch.float32, requires_grad)


def test_a_random_generator_continues_its_sequence(path):
    rng = random.Random(3)
    rng.gauss(0, 1)  # the second number of a pair is kept for the next call
    back = stored([rng], path)[0]
    assert [back.gauss(0, 1) for _ in range(4)] == [rng.gauss(0, 1) for _ in range(4)]


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_a_numpy_generator_continues_its_sequence(name, path):
    rng = np.random.Generator(getattr(np.random, name)(3))
    rng.integers(5, dtype=np.int32)  # half of a 64-bit number is kept for the next call
    back = stored(rng, path)
    assert back.integers(1000, size=9, dtype=np.int32).tolist() == rng.integers(1000, size=9, dtype=np.int32).tolist()


class Colour(StrEnum):
    RED = "red"


HOLDS = (
    "keep plain values (numbers, text, lists, dicts, numpy arrays, torch tensors, random generators), "
    "or define save and load"
)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (Path("x"), f"is a pathlib.PosixPath, which a snapshot cannot hold: {HOLDS}"),
        (Colour.RED, f"is a tests.learners.test_value_encoding.Colour, which a snapshot cannot hold: {HOLDS}"),
        (ChainMap(), f"is a collections.ChainMap, which a snapshot cannot hold: {HOLDS}"),
        (torch.nn.Linear(1, 1), f"is a torch.nn.modules.linear.Linear, which a snapshot cannot hold: {HOLDS}"),
        (random.SystemRandom(), f"is a random.SystemRandom, which a snapshot cannot hold: {HOLDS}"),
        (torch.ones(1, dtype=torch.bfloat16), f"is a tensor of torch.bfloat16, which a snapshot cannot hold: {HOLDS}"),
        (torch.ones(1, requires_grad=True) * 2, "is a tensor with a gradient graph, which a snapshot cannot hold"),
        (np.array(["text"]), "is an array of <U4, but a snapshot holds arrays of numbers only"),
        (float("inf"), "is inf, but a snapshot holds only finite numbers: has it diverged?"),
    ],
)
def test_another_value_is_refused_by_name(value, complaint, path):
    with pytest.raises(SnapshotError) as refused:
        stored({"a": [value]}, path)
    assert str(refused.value).startswith(f"values['value']['a'][0] {complaint}")
    assert "\n" not in str(refused.value)
    assert not path.exists()


def test_a_defaultdict_of_a_function_is_refused(path):
    with pytest.raises(SnapshotError, match=r"^values\['value'\] is a defaultdict of <function .*>, which a snapshot"):
        stored(defaultdict(lambda: 0.5), path)


def shared(kind):
    if kind == "view":
        array = np.zeros(3)
        return [array, array[:1]]
    if kind == "tensor view":
        tensor = torch.zeros(3)
        return [tensor, tensor[1:]]
    if kind == "cycle":
        values: list[object] = []
        values.append(values)
        return [values]
    value = {"list": [1], "random": random.Random()}[kind]
    return [value, value]


@pytest.mark.parametrize("kind", ["list", "random", "view", "tensor view", "cycle"])
def test_what_would_come_back_as_two_is_refused(kind, path):
    """A change of one would no longer be a change of the other."""
    complaint = (
        r"^values\['value'\]\[\d\].* and values\['value'\]\[0\] are one object, or share memory: copy one of them$"
    )
    with pytest.raises(SnapshotError, match=complaint):
        stored(shared(kind), path)


def test_a_number_of_thousands_of_digits_is_refused(path):
    with pytest.raises(SnapshotError, match=r"^a snapshot cannot hold these values: Exceeds the limit"):
        stored(10**5_000, path)


def test_endless_nesting_is_refused(path):
    value: list[object] = []
    for _ in range(5_000):
        value = [value]
    with pytest.raises(SnapshotError, match=r"^a snapshot cannot hold values that are nested so deeply$"):
        stored(value, path)


def test_plain_values_are_written_as_in_version_1(path):
    """Seed models are known by the digests of their files."""
    arrays: dict[str, np.ndarray] = {
        "w": np.arange(3, dtype=np.float32),
        "turned": np.arange(6.0).reshape(2, 3).T,
    }
    Snapshot(arrays, {"n": 1, "name": "größe", "nested": {"list": [1, None, 0.5, True]}}).write(path)
    digest = "d26b93b35af810f98d487be4416ab6ab4cf06aba89080e762767964bc2dd4584"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert path.read_bytes().startswith(MAGIC)
    Snapshot(values={"pair": (1, 2)}).write(path)
    assert path.read_bytes().startswith(MAGIC_2)


def forge(path, header):
    body = len(header).to_bytes(8, "little") + header
    path.write_bytes(MAGIC_2 + hashlib.sha256(body).digest() + body)


@pytest.mark.parametrize(
    "value",
    [
        '{"\\u0000type": "function", "code": "x"}',
        '{"\\u0000type": [], "items": []}',
        '{"\\u0000type": "tuple"}',
        '{"\\u0000type": "dict", "items": [1]}',
        '{"\\u0000type": "defaultdict", "items": [], "factory": "exec"}',
        '{"\\u0000type": "array", "array": 0}',
        '{"\\u0000type": "random", "state": []}',
        '{"\\u0000type": "random", "state": [3, [1], null]}',
        '{"\\u0000type": "generator", "state": {"bit_generator": "seed"}}',
        '{"\\u0000type": "generator", "state": {"bit_generator": "PCG64"}}',
        "[" * 100_000,
    ],
)
def test_a_forged_value_is_refused(value, path):
    forge(path, f'{{"arrays": [], "value_arrays": [], "values": {{"a": {value}}}}}'.encode())
    with pytest.raises(SnapshotError, match="has the checksum of a snapshot, but not its content"):
        Snapshot.read(path)


def test_a_tensor_of_a_device_that_is_missing_is_refused(path):
    tag = '{"\\u0000type": "tensor", "array": 0, "device": "cuda:99", "requires_grad": false}'
    header = f'{{"arrays": [], "value_arrays": [["", "<f4", [0]]], "values": {{"a": {tag}}}}}'
    forge(path, header.encode())
    with pytest.raises(SnapshotError, match=re.escape("has a tensor on cuda:99, which this machine lacks")):
        Snapshot.read(path)
