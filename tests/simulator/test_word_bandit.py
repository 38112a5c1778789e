"""The learner that the README lets a newcomer copy: where its candidates are from, and what it learns."""

import gzip
from importlib import import_module

from banditmt_client import Sentence
from learners.contract import Feedback

example = import_module("examples.word_bandit")


def write_text(folder):
    pairs = [("rot haus", "red house"), ("rot auto", "red car"), ("blau haus", "blue house"), ("blau auto", "blue car")]
    for language, side in (("de", 0), ("en", 1)):
        with gzip.open(folder / f"out-of-domain.{language}.gz", "wt") as file:
            file.writelines(f"{pair[side]}\n" for pair in pairs)


def test_candidates_are_the_words_that_occur_together_most(tmp_path):
    write_text(tmp_path)
    assert {word: found[0] for word, found in example.likely_translations(tmp_path, 2).items()} == {
        "rot": "red", "haus": "house", "auto": "car", "blau": "blue",
    }  # fmt: skip
    assert example.likely_translations(tmp_path, 2)["rot"] == ["red", "house"], (
        "ties are broken by the alphabet, last first"
    )


def test_it_begins_with_the_most_likely_and_changes_to_what_earns_more(tmp_path):
    write_text(tmp_path)
    learner = example.WordBandit(example.Config(task=str(tmp_path), candidates=2, exploration=0.0, prior_rounds=1))
    sentence = Sentence("1", 0, 2, "rot")
    assert learner.propose(sentence) == "red"
    learner.update(sentence, "red", Feedback(0.0))
    assert learner.propose(sentence) == "house"
    learner.update(sentence, "house", Feedback(0.9))
    assert learner.propose(sentence) == "house"
    assert learner.propose(Sentence("2", 1, 2, "unbekannt")) == "unbekannt"
