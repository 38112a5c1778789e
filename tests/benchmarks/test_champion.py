"""The study of the champion plays learners on lists that are searched once, and rewards them as the service does."""

import pytest

from benchmarks.harness.searched_lists import SearchedLists
from benchmarks.studies.champion import STREAMS, SYSTEMS
from benchmarks.studies.in_process import play_rounds
from leaderboard.metrics.bleu import sentence_bleu
from learners.baselines import CopySource
from learners.systems.registry import SYSTEMS as REGISTERED
from tests.learners.smt.toy_language import sentences, translator


def test_all_systems_of_the_study_exist_and_have_their_controls():
    assert set(SYSTEMS) <= set(REGISTERED)
    controls = {REGISTERED[name].control for name in SYSTEMS if REGISTERED[name].learns} - {"SMT-k-best-sampling"}
    assert controls <= set(SYSTEMS)


def test_settings_were_tuned_on_one_draw_and_one_shop_only():
    assert [stream.name for stream in STREAMS if stream.is_tuned_on] == ["debian-4711", "shop-31"]
    assert [stream.name for stream in STREAMS if not stream.is_tuned_on] == ["debian-999", "shop-2017", "shop-555"]


def test_searched_lists_are_those_of_a_search():
    searcher = translator()
    lists = SearchedLists(searcher)
    for source in sentences(5):
        found = searcher.forest(source, searcher.weights).k_best(searcher.weights, 5)
        listed = lists.forest(source, lists.weights).k_best(lists.weights, 5)
        assert [one.translation for one in listed] == [one.translation for one in found]
        assert lists.forest(source, lists.weights).best(lists.weights).translation == found[0].translation


def test_rounds_are_rewarded_as_by_the_service():
    pairs = [("a b c", "a b d"), ("x", "y")]
    entries = play_rounds(CopySource(), pairs)
    assert [entry.translation for entry in entries] == ["a b c", "x"]
    assert [entry.reward for entry in entries] == pytest.approx(
        [sentence_bleu(source, reference) for source, reference in pairs], abs=1e-12
    )
