"""The last quarter of a run, and the mark of runs that earn more while corpus BLEU falls."""

import random

import pytest

from leaderboard.families import Role, RoleKind
from leaderboard.metrics.bleu import corpus_bleu, count_ngram_matches, sentence_score, sum_statistics
from leaderboard.table import make_board
from tests.leaderboard.boards import (
    MARKED_TOTAL,
    NOW,
    degraded,
    dev_phase,
    mixed_references,
    post_edit_board,
)
from tests.leaderboard.boards import (
    mixed_summary as summary,
)

STATIC = Role("acme", "X-static", RoleKind.BASELINE)


def rows(*summaries, roles=(STATIC,)):
    phase = dev_phase(total=MARKED_TOTAL)
    return {row.system: row for row in make_board(phase, summaries, roles, now=NOW).rows}


BASELINE = summary("X-static", 0.5, 0.8, late_only=False)


class TestMark:
    def test_more_reward_with_lower_corpus_bleu_is_marked(self):
        row = rows(BASELINE, summary("X-short", 1.0, 0.6))["X-short"]
        difference = row.last_quarter.difference
        assert (difference.baseline, difference.rounds) == ("acme/X-static/1", 100)
        assert difference.reward > 0.2
        assert difference.interval[0] < difference.corpus_bleu < difference.interval[1] < 0
        assert difference.reward_up_bleu_down is True
        assert row.is_marked

    @pytest.mark.parametrize(
        ("short", "long"), [(1.0, 0.95), (0.2, 0.6), (0.2, 0.9)], ids=["both up", "both down", "reward down, BLEU up"]
    )
    def test_other_runs_are_not(self, short, long):
        row = rows(BASELINE, summary("X-other", short, long))["X-other"]
        assert row.last_quarter.difference.reward_up_bleu_down is False
        assert not row.is_marked

    def test_a_difference_that_may_be_chance_is_not_marked(self):
        marks = []
        for seed in range(2, 22):
            difference = rows(BASELINE, summary("X-x", 0.55, 0.79, seed=seed))["X-x"].last_quarter.difference
            if difference.reward > 0 > difference.corpus_bleu:
                assert difference.interval[0] < difference.corpus_bleu < difference.interval[1]
                marks.append(difference.reward_up_bleu_down)
        assert len(marks) >= 3
        assert not any(marks)

    def test_only_the_last_quarter_counts(self):
        """Half of the words are right at first, in short and in long sentences: fewer than in those of the baseline."""
        row = rows(BASELINE, summary("X-late", 0.5, 0.8))["X-late"]
        assert row.measures["bleu"].value < BASELINE.record.total.corpus_bleu - 10
        assert abs(row.last_quarter.difference.corpus_bleu) < 10
        assert not row.is_marked

    def test_without_a_baseline_there_is_nothing_to_compare_with(self):
        row = rows(summary("X-short", 1.0, 0.6), roles=())["X-short"]
        assert (row.last_quarter.difference, row.is_marked, row.reward_gain) == (None, False, None)
        assert rows(BASELINE)["X-static"].last_quarter.difference is None

    def test_an_unfinished_run_is_compared_over_the_blocks_that_it_has_played(self):
        difference = rows(BASELINE, summary("X-short", 1.0, 0.6, rounds=361))["X-short"].last_quarter.difference
        assert (difference.rounds, difference.reward_up_bleu_down) == (60, True)

    def test_too_few_blocks_cannot_tell(self):
        difference = rows(BASELINE, summary("X-short", 1.0, 0.4, rounds=318))["X-short"].last_quarter.difference
        assert (difference.rounds, difference.interval, difference.reward_up_bleu_down) == (18, None, None)

    def test_in_a_post_edit_phase(self):
        found = {row.system: row.last_quarter for row in post_edit_board().rows}
        assert found["BNMT-full"].difference.corpus_bleu > 10
        assert found["ELM"] is None, "it has not got there"


class TestNumbers:
    def test_of_the_last_quarter_and_of_all_rounds(self):
        played = summary("X", 0.9, 0.7)
        row = rows(played)["X"]
        rng, counted = random.Random(1), []
        for index, reference in enumerate(mixed_references()):
            right = 0.5 if index < 300 else 0.9 if len(reference.split()) == 2 else 0.7
            counted.append(count_ngram_matches(degraded(reference, right, rng), reference))
        late = sum_statistics(counted[300:])
        assert row.measures["bleu"].value == corpus_bleu(sum_statistics(counted))
        assert row.last_quarter.corpus_bleu == corpus_bleu(late)
        assert row.last_quarter.rounds == 100
        assert row.last_quarter.mean_reward == pytest.approx(sum(map(sentence_score, counted[300:])) / 100)
        assert row.last_quarter.length_ratio == late.hypothesis_length / late.reference_length

    @pytest.mark.parametrize("rounds", [299, 300])
    def test_nothing_before_its_first_round(self, rounds):
        assert rows(summary("X", 0.9, 0.7, rounds=rounds))["X"].last_quarter is None

    def test_its_first_round(self):
        assert rows(summary("X", 0.9, 0.7, rounds=301))["X"].last_quarter.rounds == 1
