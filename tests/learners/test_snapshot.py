"""A snapshot is read as it was written, or refused."""

import hashlib
import re

import numpy as np
import pytest

from learners.errors import SnapshotError
from learners.snapshot import MAGIC, Snapshot


@pytest.fixture
def path(tmp_path):
    return tmp_path / "snapshot"


def test_arrays_and_values_are_written_and_read(path):
    arrays: dict[str, np.ndarray] = {
        "floats": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.array(7, dtype=np.int64),
        "nothing": np.zeros((0, 4)),
        "flags": np.array([True, False]),
        "turned": np.arange(6.0).reshape(2, 3).T,
    }
    values = {"baseline": 0.25, "big": 2**200, "name": "größe", "nested": {"list": [1, None]}}
    Snapshot(arrays, values).write(path)
    back = Snapshot.read(path)
    assert back.values == values
    assert list(back.arrays) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array, strict=True)


def test_arrays_that_were_read_can_be_changed(path):
    Snapshot({"a": np.zeros(2)}).write(path)
    Snapshot.read(path).arrays["a"][0] = 1


def test_a_new_snapshot_replaces_the_old_one(path):
    Snapshot(values={"n": 1}).write(path)
    Snapshot(values={"n": 2}).write(path)
    assert Snapshot.read(path).values == {"n": 2}
    assert [entry.name for entry in path.parent.iterdir()] == ["snapshot"]


@pytest.mark.parametrize("cut", [0, 5, 40, 100, -1])
def test_a_truncated_file_is_refused(cut, path):
    Snapshot({"a": np.arange(50.0)}).write(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SnapshotError):
        Snapshot.read(path)


@pytest.mark.parametrize("position", [30, 60, 90, -1])
def test_a_flipped_bit_is_refused(position, path):
    Snapshot({"a": np.arange(50.0)}).write(path)
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(SnapshotError, match="damaged or truncated"):
        Snapshot.read(path)


def test_a_pickle_is_refused(path):
    path.write_bytes(b"\x80\x04.")
    with pytest.raises(SnapshotError, match="is not a snapshot of this version"):
        Snapshot.read(path)


def test_arrays_of_objects_are_refused(path):
    with pytest.raises(SnapshotError, match="a is an array of object, but a snapshot holds arrays of numbers only"):
        Snapshot({"a": np.array([object()])}).write(path)
    assert not path.exists()


def test_a_failed_write_leaves_the_old_file(path):
    Snapshot(values={"n": 1}).write(path)
    with pytest.raises(
        SnapshotError,
        match=re.escape("values['n'] is nan, but a snapshot holds only finite numbers: has it diverged?"),
    ):
        Snapshot(values={"n": float("nan")}).write(path)
    assert Snapshot.read(path).values == {"n": 1}


def test_parts_are_added_and_returned():
    whole = Snapshot({"own": np.zeros(1)}, {"n": 1})
    whole.put("model", Snapshot({"w": np.ones(2)}, {"layers": 3}))
    whole.put("nothing", Snapshot())
    part = whole.part("model")
    assert part.values == {"layers": 3}
    assert list(part.arrays) == ["w"]
    assert whole.part("nothing") == Snapshot()


def test_a_missing_part_is_refused():
    with pytest.raises(SnapshotError, match="has no part 'model'"):
        Snapshot().part("model")


@pytest.mark.parametrize(
    "header",
    [
        b"no json",
        b"{}",
        b'{"arrays": 3, "values": {}}',
        b'{"arrays": [["a", "|O", [1]]], "values": {}}',
        b'{"arrays": [["a", "<f8", [1000000]]], "values": {}}',
        b'{"arrays": [["a", "<f8", [-1]]], "values": {}}',
        b'{"arrays": [], "values": [1]}',
        b'{"arrays": [], "values": {"a": ' + b"[" * 100_000,
        b'{"arrays": [["a", "(,)f4,f4", [1]]], "values": {}}',
    ],
)
def test_a_forged_file_is_refused(header, path):
    body = len(header).to_bytes(8, "little") + header
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)
    with pytest.raises(SnapshotError, match="has the checksum of a snapshot, but not its content"):
        Snapshot.read(path)
