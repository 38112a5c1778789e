"""The journal: entries come back, a partial line is dropped, and damage is reported with its line."""

import json
import re

import pytest

from learners.contract import Feedback, Sentence
from learners.errors import ResumeError
from learners.journal import Journal, JournalEntry

ENTRIES = [
    JournalEntry(0, "größe xl", "size xl", 0.5),
    JournalEntry(1, 'ein "test"', "a\u2028test", 1.0),
    JournalEntry(2, "x", "y", 0.1),
    JournalEntry(3, "wo", "where", 0.0, document="d1", position=0, post_edit="whither", log_probability=-1.5),
    JournalEntry(4, "hier", "here", 1.0, document="d1", position=1, log_probability=-0.0),
]


@pytest.fixture
def path(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        for entry in ENTRIES:
            journal.write(entry)
    return tmp_path / "journal.jsonl"


def test_entries_are_written_and_read(path):
    with Journal(path) as journal:
        assert list(journal.entries()) == ENTRIES


def test_a_partial_line_is_dropped_and_can_be_written_again(path):
    path.write_bytes(path.read_bytes()[:-4])
    with Journal(path) as journal:
        assert list(journal.entries()) == ENTRIES[:-1]
        journal.write(ENTRIES[-1])
        assert list(journal.entries()) == ENTRIES


def test_a_new_journal_is_empty(tmp_path):
    with Journal(tmp_path / "new") as journal:
        assert list(journal.entries()) == []


def test_a_line_has_only_the_values_that_there_are(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == '{"index": 0, "source": "größe xl", "translation": "size xl", "reward": 0.5}'
    assert lines[3] == (
        '{"index": 3, "source": "wo", "translation": "where", "reward": 0.0, '
        '"document": "d1", "position": 0, "post_edit": "whither", "log_probability": -1.5}'
    )


def test_an_entry_has_the_sentence_and_the_feedback_that_the_learner_received():
    assert (ENTRIES[0].sentence, ENTRIES[0].feedback) == (Sentence("größe xl"), Feedback(0.5))
    assert (ENTRIES[3].sentence, ENTRIES[3].feedback) == (Sentence("wo", "d1", 0), Feedback(0.0, "whither"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nonsense\n", ":1 is not a line of a journal"),
        ('{"index": 0}\n', ":1 is not a line of a journal"),
        ("[1]\n", ":1 is not a line of a journal"),
    ],
)
def test_a_file_that_is_not_a_journal_is_refused(text, complaint, tmp_path):
    path = tmp_path / "journal"
    path.write_text(text)
    with Journal(path) as journal, pytest.raises(ResumeError, match=complaint):
        list(journal.entries())


def line(**changed):
    values = {"index": 1, "source": "x", "translation": "y", "reward": 0.5} | changed
    return json.dumps(values).encode() + b"\n"


@pytest.mark.parametrize(
    "damaged",
    [
        b"\xff\xfe\n",
        line().replace(b'"x"', b'"\xc3"'),
        line().replace(b'"x"', b'"\r"'),
        line(index="1"),
        line(index=1.0),
        line(index=None),
        line(index=True),
        line(source=5),
        line(source=None),
        line(translation=["y"]),
        line(reward=float("nan")),
        line(reward=float("inf")),
        line(reward="x"),
        line(reward=True),
        line(reward=-0.1),
        line(reward=1.1),
        line(reward=10**400),
        line(document=7),
        line(document=None),
        line(position="0"),
        line(position=True),
        line(post_edit=["y"]),
        line(log_probability="-1"),
        line(log_probability=True),
        line(log_probability=0.1),
        line(log_probability=float("nan")),
        line(log_probability=float("-inf")),
        line(log_probability=-(10**400)),
        line(colour="red"),
    ],
)
def test_a_damaged_line_is_refused_with_its_file_and_number(damaged, path):
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] + damaged)
    with (
        Journal(path) as journal,
        pytest.raises(ResumeError, match=f"^{re.escape(str(path))}:2 is not a line of a journal$"),
    ):
        list(journal.entries())


@pytest.mark.parametrize("reward", [0, 1, 0.0, 1.0])
def test_the_lowest_and_the_highest_reward_are_valid(reward, path):
    path.write_bytes(line(reward=reward))
    with Journal(path) as journal:
        assert list(journal.entries()) == [JournalEntry(1, "x", "y", reward)]


def test_a_missing_round_is_refused(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    with Journal(path) as journal, pytest.raises(ResumeError, match=":2 is round 2, but round 1 comes next"):
        list(journal.entries())
