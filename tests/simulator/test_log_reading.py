"""Reading a log: released ones, JSON lines of others, and what is refused."""

import gzip
import json

import pyarrow
import pytest
from pyarrow import parquet

from corpora.errors import InputError
from learners.offline.logged_round import LogError, LoggedRound
from simulator.feedback_log.reading import read_log

ROWS = [
    {"source": "rot", "translation": "red", "observed_reward": 0.5, "log_probability": -1.0, "system": "A", "run": "1"},
    {"source": "blau", "translation": "blue", "observed_reward": 1, "log_probability": None, "system": "B", "run": "2"},
]
READ = [LoggedRound("rot", "red", 0.5, -1.0, "A", "1"), LoggedRound("blau", "blue", 1.0, None, "B", "2")]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


def test_json_lines_are_read_gzipped_or_not(log, tmp_path):
    assert read_log(log) == READ
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert read_log(packed) == READ


def test_parquet_is_read(tmp_path):
    path = tmp_path / "log.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    assert read_log(path) == READ


def test_the_rounds_of_some_systems_can_be_chosen(log):
    assert read_log(log, ["B"]) == READ[1:]
    with pytest.raises(LogError, match=r"log\.jsonl has no rounds of C; its systems are A, B"):
        read_log(log, ["A", "C"])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "log.jsonl has no rounds"),
        (b"{}\n", "log.jsonl, row 1 has no source"),
        (b"{not json\n", "log.jsonl, row 1 is not JSON: a log has one object per line"),
        (b"[" * 100_000, "log.jsonl, row 1 is not JSON"),
        (b'"text"\n', "log.jsonl, row 1 is not a JSON object"),
        (json.dumps(ROWS[0]).encode() + b"\n\n", "log.jsonl, row 2 is not JSON"),
    ],
)
def test_a_wrong_file_is_refused_with_the_row(content, complaint, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(LogError, match=r"log\.jsonl") as refused:
        read_log(path)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", gzip.compress(b"x" * 1000, mtime=0)[:-4], b"x" * (2 << 20)])
def test_a_file_that_is_no_text_is_refused(content, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"log\.jsonl"):
        read_log(path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(LogError, match=r"log\.parquet cannot be read as Parquet"):
        read_log(path)
