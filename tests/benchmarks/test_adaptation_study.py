"""The study of adaptation: its tables, and what is held out for reliability."""

import pytest

from benchmarks.studies.adaptation import NETWORKS, SHUFFLED, Outputs, Stream, translate_held_out
from benchmarks.studies.adaptation_tables import PUBLISHED, PUBLISHED_SLOPES, StudyTexts, held_out_references, report
from learners.contract import Feedback, Learner, Sentence

REFERENCES = [f"the word{number} and the word{number // 2}" for number in range(24)]


class LastSeen(Learner):
    """Proposes the last post-edit that it has seen: it forgets everything before."""

    def __init__(self):
        self.last = "nothing"

    def propose(self, sentence: Sentence) -> str:
        return f"{self.last} for {sentence.source}"

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        self.last = feedback.post_edit or ""


def texts(perfect):
    """Return outputs that are the references for some systems, and wrong for the others."""
    wrong = ["wrong"] * len(REFERENCES)
    held_out, _ = held_out_references(REFERENCES)
    return StudyTexts(
        references=REFERENCES,
        shuffled_references=REFERENCES,
        networks={name: REFERENCES if name in perfect else wrong for name in NETWORKS},
        statistical={name: REFERENCES if name in perfect else wrong for name in SHUFFLED},
        reliability={"ADAPT-full": {"baseline": ["wrong"] * len(held_out), "adapted": held_out, "final": held_out}},
        subwords=str.upper,
    )


def test_the_tables_have_a_row_for_each_system_beside_the_papers_numbers():
    tables = report([texts({"ADAPT-full"}), texts({"ADAPT-full"})], "en", set(), "tiny")
    assert tables.startswith("Size of this study: tiny.")
    rows = [line.split(" | ") for line in tables.splitlines() if line.startswith("| ADAPT-full")]
    scores, *_, reliability = rows
    assert scores[1].startswith("100.0 (+100.0; ")
    assert scores[3].startswith("0.0 (-100.0; ")  # TER
    assert scores[-1] == "47.0 / 55.9 / 44.0 / 35.8 / 55.0 / 41.6 |"
    assert reliability == ["| ADAPT-full", "+100.0", "+0.0", "0.0 of 6 |"]
    for name in (*PUBLISHED, *PUBLISHED_SLOPES):
        assert f"| {name} |" in tables


def test_the_last_third_of_each_part_is_held_out():
    found, parts = held_out_references([str(number) for number in range(20)])
    assert found == ["3", "7", "10", "13", "16", "19"]  # parts of 4, 4, 3, 3, 3 and 3
    assert parts == [f"part {number}" for number in range(1, 7)]


def test_held_out_parts_are_translated_before_with_and_after_all_adaptation():
    stream = Stream([(f"s{number}", f"t{number}") for number in range(18)])
    found = translate_held_out(LastSeen, stream)
    assert found["baseline"] == [f"nothing for s{number}" for number in (2, 5, 8, 11, 14, 17)]
    assert found["adapted"] == [f"t{number - 1} for s{number}" for number in (2, 5, 8, 11, 14, 17)]
    assert found["final"] == [f"t16 for s{number}" for number in (2, 5, 8, 11, 14, 17)]


def test_a_shuffled_stream_has_the_same_rounds():
    stream = Stream([(f"s{number}", f"t{number}") for number in range(18)])
    assert sorted(stream.shuffled().pairs) == sorted(stream.pairs)
    assert stream.shuffled().pairs == stream.shuffled().pairs != stream.pairs


def test_outputs_are_made_once(tmp_path):
    outputs = Outputs(tmp_path)
    assert outputs.get("a/b", lambda: ["one"]) == ["one"]
    assert outputs.get("a/b", lambda: pytest.fail("played again")) == ["one"]
