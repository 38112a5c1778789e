"""The k-best oracle proposes the best candidate, by the references of its rounds."""

import pytest

from leaderboard.metrics.bleu import sentence_bleu
from learners.errors import ReferencesError, SnapshotError
from learners.oracles.k_best import KBestOracle, neural_k_best_oracle, statistical_k_best_oracle
from learners.snapshot import Snapshot
from learners.systems.registry import find_system
from tests.learners import tiny
from tests.learners.rounds import propose, update
from tests.learners.smt.list_translator import ListTranslator, random_lists

ROUNDS = tiny.sentences(12, seed=5)
CANDIDATES = {"rot": ["red", "scarlet", "crimson"], "blau": ["blue", "blue", "navy"]}
TWICE = tiny.references([("rot", "crimson"), ("rot", "scarlet"), ("blau", "azure")])


def play(oracle, pairs):
    proposed = []
    for source, _ in pairs:
        proposed.append(propose(oracle, source))
        update(oracle, source, proposed[-1], 0.5)
    return proposed


def oracle():
    return KBestOracle(CANDIDATES.__getitem__, TWICE)


def test_it_proposes_the_best_candidate_of_the_round_and_the_first_of_equals():
    assert play(oracle(), [("rot", ""), ("rot", ""), ("blau", "")]) == ["crimson", "scarlet", "blue"]


def test_it_is_resumed_in_its_round(tmp_path):
    first, second = oracle(), oracle()
    play(first, [("rot", "")])
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, [("rot", ""), ("blau", "")]) == ["scarlet", "blue"]


def test_references_of_another_task_are_refused():
    with pytest.raises(
        ReferencesError, match="round 0 of phase dev serves 'blau', but the references have 'rot' there"
    ):
        propose(oracle(), "blau")


def test_a_snapshot_of_another_system_is_refused():
    with pytest.raises(SnapshotError, match="the snapshot is of LIMSI 1, not of KBestOracle 1"):
        oracle().load(Snapshot(values={"kind": "LIMSI 1"}))


@pytest.mark.parametrize("k", [1, 3, 50])
def test_the_statistical_oracle_is_the_best_of_the_k_best_by_brute_force(k):
    sources = [f"s{number}" for number in range(20)]
    translator = ListTranslator(random_lists(sources))
    pairs = [(source, translator.lists[source][-1].translation) for source in sources]
    played = play(statistical_k_best_oracle(translator, tiny.references(pairs), k, seed=1), pairs)
    for (source, reference), proposed in zip(pairs, played, strict=True):
        ranked = sorted(translator.lists[source], key=lambda one: -(one.features @ translator.weights))
        best = max(sentence_bleu(one.translation, reference) for one in ranked[:k])
        assert sentence_bleu(proposed, reference) == best
    if k == 50:
        assert played == [reference for _, reference in pairs]


def test_the_neural_oracle_is_never_below_greedy_decoding_or_the_beam():
    translator = tiny.translator()
    oracle = neural_k_best_oracle(translator, tiny.references(ROUNDS), 5, seed=1)
    gains = []
    for (source, reference), proposed in zip(ROUNDS, play(oracle, ROUNDS), strict=True):
        candidates = [translator.greedy(source).text, *(one.text for one in translator.k_best(source, 5))]
        assert sentence_bleu(proposed, reference) == max(sentence_bleu(text, reference) for text in candidates)
        gains.append(sentence_bleu(proposed, reference) - sentence_bleu(translator.beam(source, 5).text, reference))
    assert min(gains) == 0
    assert max(gains) > 0.1


@pytest.mark.parametrize("family", ["SMT", "BNMT"])
def test_the_registered_oracle_is_never_below_the_static_system(family, store):
    static, best = (
        find_system(f"{family}-{kind}").new_learner(store, 1, "dev") for kind in ("static", "k-best-oracle")
    )
    for (_, reference), *played in zip(tiny.ROUNDS, play(static, tiny.ROUNDS), play(best, tiny.ROUNDS), strict=True):
        earned = [sentence_bleu(text, reference) for text in played]
        assert earned[0] <= earned[1]
