"""docs/own-learner.md: its learners run as printed, and resume exactly wherever they are killed."""

import re
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import banditmt_client
from banditmt_client import Client
from learners.contract import Learner
from learners.loop import play
from learners.seed_models.store import ModelStore
from learners.settings import list_settings
from learners.snapshot import Snapshot
from learners.systems.registry import find_system
from tests.client_sdk.fake_service import FakeConnection, FakeService

DOCUMENT = (Path(__file__).parents[2] / "docs" / "own-learner.md").read_text()
PROGRAM, MEMORY, METHODS, OUTSIDE = re.findall(r"^ *```python\n(.*?)^ *```", DOCUMENT, re.MULTILINE | re.DOTALL)
SENTENCES = [f"größe {number % 5} rot" for number in range(20)]
CANDIDATES = {"rot": ["red", "rot"], "größe": ["size", "greatness"]}


class Killed(BaseException):
    """A SIGKILL as seen from inside: no handler runs."""


@pytest.fixture(scope="module")
def word_bandit():
    namespace: dict[str, type] = {}
    exec(PROGRAM.partition("\n\n\nwith Client")[0], namespace)
    return namespace["WordBandit"]


def open_run(service):
    return Client(connection=FakeConnection(service)).open_run(phase="dev", system="word-bandit")


def test_the_program_in_the_document_plays_a_run(tmp_path, monkeypatch, capsys):
    service = FakeService(SENTENCES)
    monkeypatch.setattr(banditmt_client, "Client", lambda: Client(connection=FakeConnection(service)))
    monkeypatch.chdir(tmp_path)
    exec(PROGRAM, {})
    assert len(service.ledger) == len(SENTENCES)
    assert capsys.readouterr().out == f"mean reward {sum(score for *_, score in service.ledger) / 20:.4f}\n"


@settings(deadline=None, max_examples=30)
@given(kills=st.lists(st.integers(0, 9), max_size=5), snapshot_every=st.integers(1, 9))
def test_a_learner_of_two_methods_resumes_exactly(kills, snapshot_every, word_bandit, tmp_path_factory):
    """A dictionary, a counter and a random generator survive by the default ``save`` and ``load``."""
    undisturbed, whole = word_bandit(CANDIDATES), FakeService(SENTENCES)
    play(undisturbed, open_run(whole), tmp_path_factory.mktemp("whole"))
    service, folder = FakeService(SENTENCES), tmp_path_factory.mktemp("killed")
    for rounds in kills:
        last = len(service.ledger) + rounds

        def kill(entry, last=last):
            if entry.index == last:
                raise Killed

        try:
            play(word_bandit(CANDIDATES), open_run(service), folder, snapshot_every=snapshot_every, watch=kill)
        except Killed:
            continue
    learner = word_bandit({}, seed=99) if (folder / "snapshot").exists() else word_bandit(CANDIDATES)
    play(learner, open_run(service), folder, snapshot_every=snapshot_every)
    assert service.ledger == whole.ledger
    state, expected = vars(learner), vars(undisturbed)
    assert (state.pop("rng").getstate(), state) == (expected.pop("rng").getstate(), expected)


def test_the_translation_memory_in_the_document_repeats_post_edits(tmp_path):
    namespace: dict[str, type] = {"Learner": Learner}
    exec(textwrap.dedent(MEMORY), namespace)
    sources = ["rot", "rot", "blau", "rot", "blau"]
    service = FakeService(sources, post_edits=["red", "crimson", "blue", "red", "blue"])
    play(namespace["TranslationMemory"](), open_run(service), tmp_path)
    assert [translation for _, translation, _ in service.ledger] == ["rot", "red", "blau", "crimson", "blue"]
    bandit = FakeService(sources)
    play(namespace["TranslationMemory"](), open_run(bandit), tmp_path / "bandit")
    assert [translation for _, translation, _ in bandit.ledger] == sources


def test_the_module_in_the_document_is_played_by_name(tmp_path, monkeypatch):
    (tmp_path / "first_words.py").write_text(OUTSIDE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    system = find_system("first_words:FirstWords").with_settings({"words": "2"})
    (setting,) = list_settings(system.config)
    assert (setting.text, setting.why) == ("2", "of the source that are proposed: the rest is cut off")
    service = FakeService(["rot und blau", "rot"])
    play(system.new_learner(ModelStore(tmp_path), 1), open_run(service), tmp_path / "run")
    assert [translation for _, translation, _ in service.ledger] == ["rot und", "rot"]


def test_the_methods_in_the_document_store_a_network(tmp_path):
    namespace = {"Snapshot": Snapshot, "Learner": Learner}
    exec(f"class Own(Learner):\n{METHODS}", namespace)
    own = namespace["Own"]

    class NetworkLearner(own):  # type: ignore[misc, valid-type]
        def __init__(self, value):
            self.network, self.rng = torch.nn.Linear(2, 1), value
            torch.nn.init.constant_(self.network.weight, value)

        def propose(self, sentence):
            return sentence.source

        def update(self, sentence, translation, feedback):
            pass

    NetworkLearner(5).save().write(tmp_path / "snapshot")
    learner = NetworkLearner(7)
    learner.load(Snapshot.read(tmp_path / "snapshot"))
    assert (learner.rng, learner.network.weight.tolist()) == (5, [[5.0, 5.0]])
