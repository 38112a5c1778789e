"""Summaries: they do not depend on how rounds are batched, are small as documents, and refuse damaged ones."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.metrics.adaptation import AdaptationRecord
from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.metrics.online import GapError
from leaderboard.summaries import RunIdentity, Summary, SummaryError, block_length
from task.layout import Layout
from task.rounds import RoundResult
from tests.leaderboard.boards import (
    LAYOUT,
    POST_EDIT_TOTAL,
    TOTAL,
    identity,
    post_edit_rounds,
    random_rounds,
    summary,
)

ROUNDS = list(random_rounds(600, start=0.3, end=0.8))
BEGUN = Summary.begin(identity("x"), TOTAL)
WHOLE = BEGUN.fold(ROUNDS, LAYOUT)

POST_EDIT_ROUNDS = list(post_edit_rounds(POST_EDIT_TOTAL, start=0.5, end=0.8, memory=0.3))
POST_EDIT_BEGUN = Summary.begin(identity("x"), POST_EDIT_TOTAL, post_edits=True)
POST_EDIT_LAYOUT = Layout.plain(POST_EDIT_TOTAL)
POST_EDIT_WHOLE = POST_EDIT_BEGUN.fold(POST_EDIT_ROUNDS, POST_EDIT_LAYOUT)
ADAPTATION = POST_EDIT_WHOLE.record.adaptation or AdaptationRecord()

COUNTS = count_ngram_matches("a b", "a b").to_bytes()


def small(rewards, total=None):
    rounds = [RoundResult(k, reward, COUNTS, 1_000 + 500 * k) for k, reward in enumerate(rewards)]
    total = total or len(rewards)
    return Summary.begin(identity("x"), total).fold(rounds, Layout.plain(total))


class TestFolding:
    @settings(max_examples=40)
    @given(st.lists(st.tuples(st.integers(0, 600), st.integers(0, 300)), max_size=8))
    def test_any_batches_that_leave_no_gap_give_the_same_summary(self, batches):
        found = BEGUN
        for start, size in [*batches, (0, 600)]:
            if start <= found.rounds:
                found = found.fold(ROUNDS[start : start + size], LAYOUT)
        assert found == WHOLE

    def test_a_gap_is_refused_and_nothing_is_lost(self):
        part = BEGUN.fold(ROUNDS[:100], LAYOUT)
        with pytest.raises(GapError, match="round 101 follows 100 rounds"):
            part.fold(ROUNDS[101:], LAYOUT)
        assert part.fold(ROUNDS[100:], LAYOUT) == WHOLE

    def test_activity_and_speed(self):
        found = small([0.1, 0.2, 0.3])
        assert (found.record.first_at, found.record.last_at, found.speed) == (1_000, 2_000, 2.0)
        assert small([0.1]).speed is None
        assert BEGUN.speed is None

    def test_held_out_passes_are_kept_apart(self):
        assert WHOLE.record.passes[0].rounds == 70
        assert set(WHOLE.record.passes) == {0}

    def test_the_curve_ends_at_the_last_round(self):
        assert dict(small([0.1, 0.2]).curve) == {1: 10**11, 2: 3 * 10**11}
        assert WHOLE.curve[600] == WHOLE.record.total.ticks


class TestFoldingPostEdits:
    @settings(max_examples=40)
    @given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 500)), max_size=8))
    def test_any_batches_that_leave_no_gap_give_the_same_summary(self, batches):
        found = POST_EDIT_BEGUN
        for start, size in [*batches, (0, 1_000)]:
            if start <= found.rounds:
                found = found.fold(POST_EDIT_ROUNDS[start : start + size], POST_EDIT_LAYOUT)
        assert found == POST_EDIT_WHOLE

    def test_counts_are_sampled_at_the_ends_of_coarse_blocks(self):
        samples = ADAPTATION.samples
        assert sorted(samples) == list(range(20, 1_001, 20))
        assert samples[1_000] == ADAPTATION.total
        assert [samples[k].rounds for k in sorted(samples)] == sorted(samples)

    def test_the_counts_of_bleu_are_those_of_the_tally(self):
        total, counts = POST_EDIT_WHOLE.record.total, ADAPTATION.total
        assert (counts.bleu, counts.rounds) == (total.corpus_bleu, total.rounds)

    def test_rounds_of_a_bandit_phase_do_not_fit(self):
        with pytest.raises(ValueError, match="not packed statistics of a post-edit"):
            POST_EDIT_BEGUN.fold(ROUNDS[:1], POST_EDIT_LAYOUT)
        with pytest.raises(ValueError, match="not packed BLEU statistics"):
            BEGUN.fold(POST_EDIT_ROUNDS[:1], LAYOUT)


class TestBlocks:
    @pytest.mark.parametrize(("total", "length"), [(1, 1), (200, 1), (201, 2), (40_000, 200), (1_297_974, 6_490)])
    def test_a_phase_has_at_most_two_hundred_blocks(self, total, length):
        assert block_length(total) == length

    def test_a_finished_run_ends_with_a_short_block(self):
        blocks = small([0.1] * 401).blocks(401)
        assert (len(blocks.rounds), blocks.rounds[0], blocks.rounds[-1]) == (134, 3, 2)
        assert sum(blocks.earned) == small([0.1] * 401).record.total.ticks

    def test_an_unfinished_run_has_complete_blocks_only(self):
        blocks = small([0.1] * 100, total=401).blocks(401)
        assert blocks.rounds == (3,) * 33


class TestDocuments:
    @pytest.mark.parametrize("rounds", [0, 1, 7, 600])
    def test_a_summary_reads_as_it_was_written(self, rounds):
        found = BEGUN.fold(ROUNDS[:rounds], LAYOUT)
        assert Summary.from_document(json.loads(json.dumps(found.as_document()))) == found

    def test_a_finished_run(self):
        found = summary("x", start=0.5)
        assert Summary.from_document(found.as_document()) == found

    @pytest.mark.parametrize("rounds", [0, 1, 7, 600, 1_000])
    def test_a_summary_of_a_post_edit_phase_reads_as_it_was_written(self, rounds):
        found = POST_EDIT_BEGUN.fold(POST_EDIT_ROUNDS[:rounds], POST_EDIT_LAYOUT)
        assert Summary.from_document(json.loads(json.dumps(found.as_document()))) == found

    def test_only_a_post_edit_phase_has_counts_of_adaptation(self):
        assert set(POST_EDIT_WHOLE.as_document()) - set(WHOLE.as_document()) == {"adaptation"}
        assert set(WHOLE.as_document()) == {
            *("version", "run", "participant", "phase", "system", "attempt", "opened_at"),
            *("block", "total", "passes", "curve", "first_at", "last_at", "late"),
        }

    def test_a_summary_of_version_1_can_be_shown_but_not_continued(self):
        finished = summary("x", start=0.5)
        document = finished.as_document()
        del document["late"]
        tallies = {"total": document["total"][:11], "passes": [packed[:12] for packed in document["passes"]]}
        read = Summary.from_document({**document, **tallies, "version": 1})
        assert (read.is_current, Summary.from_document(finished.as_document()).is_current) == (False, True)
        assert (read.rounds, read.curve, read.record.total.corpus_bleu) == (
            finished.rounds,
            finished.curve,
            finished.record.total.corpus_bleu,
        )
        assert (read.record.last_quarter(TOTAL), read.record.total.single_word_share) == (None, None)

    def test_many_rounds_of_a_post_edit_phase_fit_into_some_kilobytes(self):
        pool, rng = [each.statistics for each in POST_EDIT_ROUNDS], random.Random(0)
        many = (RoundResult(k, 0.5, rng.choice(pool), 0) for k in range(100_000))
        found = Summary.begin(identity("x"), 100_000, post_edits=True).fold(many, Layout.plain(100_000))
        assert len(json.dumps(found.as_document())) < 20_000

    def test_a_million_rounds_fit_into_a_few_kilobytes(self):
        rng = random.Random(0)
        pool = [RoundResult(0, rng.random(), COUNTS, 0) for _ in range(1_000)]
        million = (pool[k % 1_000]._replace(index=k) for k in range(1_000_000))
        found = Summary.begin(identity("x"), 1_000_000).fold(million, Layout.plain(1_000_000))
        assert len(json.dumps(found.as_document())) < 16_000

    @pytest.mark.parametrize(
        "damage",
        [
            {"version": 3},
            {"late": [1, "?"]},
            {"late": None},
            {"curve": "?"},
            {"curve": ""},
            {"total": [1, 2]},
            {"total": None},
            {"passes": [[0]]},
            {"block": 7},
            {"run": []},
            {"system": None},
            {"attempt": "1"},
            {"total": [10**30, *WHOLE.as_document()["total"][1:]]},  # more blocks than any memory holds
        ],
    )
    def test_what_is_not_a_summary_is_refused(self, damage):
        with pytest.raises(SummaryError, match="rebuild the board"):
            Summary.from_document({**WHOLE.as_document(), **damage})
        with pytest.raises(SummaryError):
            Summary.from_document({})

    @pytest.mark.parametrize("damage", [{"adaptation": "?"}, {"adaptation": ""}, {"adaptation": 7}, {"block": 7}])
    def test_damaged_counts_of_adaptation_are_refused(self, damage):
        with pytest.raises(SummaryError, match="rebuild the board"):
            Summary.from_document({**POST_EDIT_WHOLE.as_document(), **damage})

    def test_any_name_reads_as_it_was_written(self):
        hostile = RunIdentity("r", "<script>", "dev", "\u202e🦄", 1, 0)
        found = Summary.begin(hostile, 10)
        assert Summary.from_document(json.loads(json.dumps(found.as_document()))) == found
