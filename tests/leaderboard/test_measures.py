"""The measures of a board beside reward: by published numbers, with intervals, for every kind of phase."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.families import Role, RoleKind
from leaderboard.metrics.adaptation import NO_COUNTS
from leaderboard.metrics.bleu import BleuStatistics
from leaderboard.metrics.learning_curve import Block, CurveModel, fit_blocks
from leaderboard.metrics.packing import pack_counts
from leaderboard.metrics.post_edit import PostEditStatistics
from leaderboard.rows import HeldOutBlock
from leaderboard.summaries import Summary
from leaderboard.table import make_board
from task.layout import Layout
from task.rounds import RoundResult
from tests.leaderboard import boards
from tests.leaderboard.boards import NOW, dev_phase, identity, post_edit_phase
from tests.leaderboard.metrics.test_adaptation import ADAPTED, REFERENCES, STATIC, packed_rounds

NO_BLEU = BleuStatistics((0, 0, 0, 0), (1, 0, 0, 0), 1).to_bytes()
NAMES = ["bleu", "sbleu", "ter", "r0", "r1", "r0_1", "slope", "slope_cumulative"]


@cache
def post_edit_board():
    return boards.post_edit_board()


def by_system(board):
    return {row.system: row for row in board.rows}


def post_edit_run(system, statistics):
    """Return a finished run with these packed statistics."""
    total = len(statistics)
    rounds = [RoundResult(index, 0.5, packed, NOW) for index, packed in enumerate(statistics)]
    return Summary.begin(identity(system), total, post_edits=True).fold(rounds, Layout.plain(total))


def bandit_run(system, rewards, layout=None):
    rounds = [RoundResult(index, reward, NO_BLEU, NOW) for index, reward in enumerate(rewards)]
    return Summary.begin(identity(system), len(rewards)).fold(rounds, layout or Layout.plain(len(rewards)))


def row_of(phase, summary):
    """Return the row of a board with one run."""
    [row] = make_board(phase, [summary], now=NOW).rows
    return row


def edits_only(edits, words):
    """Return the statistics of a round of so many edits and reference words, and nothing else."""
    return pack_counts([0] * 9 + [edits, words] + [0] * 4)


class TestPaperExample:
    """Figure 1 of Simianer et al. 2019: "the" is the only stop word."""

    @pytest.fixture
    def rows(self):
        texts = {"static": STATIC, "adapted": ADAPTED}
        runs = [post_edit_run(system, packed_rounds(mine, REFERENCES)) for system, mine in texts.items()]
        roles = [Role("acme", "static", RoleKind.BASELINE)]
        return by_system(make_board(post_edit_phase(total=2), runs, roles, now=NOW))

    def test_recall(self, rows):
        found = {system: [row.measures[name].value for name in ("r0", "r1", "r0_1")] for system, row in rows.items()}
        assert found == {"static": [50.0, 50.0, 50.0], "adapted": [50.0, 100.0, pytest.approx(400 / 6)]}

    def test_two_rounds_are_too_few_for_an_interval_or_a_slope(self, rows):
        estimates = rows["adapted"].measures
        assert [estimates[name].interval for name in ("bleu", "sbleu", "ter", "r0")] == [None] * 4
        assert (estimates["slope"], estimates["slope_cumulative"]) == (None, None)


class TestDifferenceToTheBaseline:
    """The example twice over: later on, only woman and man have exactly one earlier reference."""

    def test_recall_along_the_run(self):
        texts = {"static": STATIC * 2, "adapted": ADAPTED * 2}
        runs = [post_edit_run(system, packed_rounds(mine, REFERENCES * 2)) for system, mine in texts.items()]
        roles = [Role("acme", "static", RoleKind.BASELINE)]
        rows = by_system(make_board(post_edit_phase(total=4), runs, roles, now=NOW))
        assert rows["adapted"].baseline == rows["static"].run
        curves = {system: row.adaptation.curves for system, row in rows.items()}
        assert {system: each["r1"] for system, each in curves.items()} == {"static": [50.0], "adapted": [75.0]}
        assert {system: each["r0"] for system, each in curves.items()} == {"static": [50.0], "adapted": [50.0]}


class TestPercentageSlope:
    """Errors of 60 x^-0.05 in blocks x = 1 to 10: S is 96.5936, and 97.7278 for the cumulative average."""

    errors = tuple(0.6 * block**-0.05 for block in range(1, 11))

    def test_of_ter_in_a_post_edit_phase(self):
        words = 10**9
        statistics = [edits_only(round(words * error), words) for error in self.errors for _ in range(4)]
        row = row_of(post_edit_phase(total=40), post_edit_run("x", statistics))
        estimates = row.measures
        assert estimates["slope"].value == pytest.approx(96.5936, abs=1e-4)
        assert estimates["slope_cumulative"].value == pytest.approx(97.7278, abs=1e-4)
        curve = row.adaptation.ter["unit"]
        assert curve.errors == pytest.approx([100 * error for error in self.errors], abs=0.0051)
        assert (curve.first, curve.exponent) == (pytest.approx(60), pytest.approx(-0.05))

    def test_of_lost_reward_in_a_bandit_phase(self):
        rewards = [1 - error for error in self.errors for _ in range(4)]
        row = row_of(dev_phase(total=40), bandit_run("x", rewards))
        assert row.measures["slope"].value == pytest.approx(96.5936, abs=1e-4)
        assert row.adaptation is None
        assert list(row.measures) == ["slope", "bleu"]

    def test_a_constant_error_is_neither_learned_nor_forgotten(self):
        row = row_of(dev_phase(total=80), bandit_run("x", [0.25] * 80))
        assert row.measures["slope"].value == pytest.approx(100)
        assert row.measures["slope"].interval == pytest.approx((100, 100))

    @pytest.mark.parametrize(
        "rewards",
        [[1.0] * 80, [0.5] + [1.0] * 79, [0.5] * 39],
        ids=["no errors", "one block with errors", "nine complete blocks"],
    )
    def test_a_curve_that_cannot_be_fitted_has_no_slope(self, rewards):
        row = row_of(dev_phase(total=len(rewards)), bandit_run("x", rewards))
        assert row.measures["slope"] is None

    def test_blocks_without_errors_leave_no_interval(self):
        rewards = [0.5] * 76 + [1.0] * 4
        row = row_of(dev_phase(total=80), bandit_run("x", rewards))
        assert row.measures["slope"].interval is None
        assert row.measures["slope"].value == pytest.approx(100)

    def test_learning_standing_still_and_forgetting(self):
        rows = by_system(post_edit_board())
        learns, stands, forgets = (
            rows[name].measures["slope"] for name in ("BNMT-full", "BNMT-static", "SMT-forgetful")
        )
        assert learns.interval[1] < 100
        assert stands.interval[0] < 100 < stands.interval[1]
        assert forgets.interval[0] > 100

    def test_a_board_fits_the_same_curve_as_an_evaluation(self):
        adaptation = boards.post_edit_summaries()[2].record.adaptation
        sums = [NO_COUNTS, *(adaptation.samples[end] for end in range(20, 1_001, 20))]
        counts = [after.minus(before) for before, after in pairwise(sums)]
        blocks = [Block(each.edits, each.edited_length) for each in counts]
        row = by_system(post_edit_board())["BNMT-full"]
        for name, model in (("slope", CurveModel.UNIT), ("slope_cumulative", CurveModel.CUMULATIVE)):
            wanted = fit_blocks(blocks, model)
            assert row.measures[name].value == pytest.approx(wanted.percentage)
            assert row.measures[name].interval == pytest.approx(wanted.interval, abs=1.5)


class TestPostEditBoard:
    @pytest.fixture
    def board(self):
        return post_edit_board()

    def test_every_measure_has_a_direction_and_a_signature(self, board):
        assert [(each.label, each.better, each.signature) for each in board.measures] == [
            ("BLEU", "higher", "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|v:1"),
            ("SBLEU", "higher", "SBLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:add-one-higher|v:1"),
            ("TER", "lower", "TER|nrefs:1|case:mixed|tok:none|norm:no|punct:yes|asian:no|v:1"),
            *(
                (
                    label,
                    "higher",
                    "R|k:0-1|words:content|stop:en/iso-0.7.1|scope:all|nrefs:1|case:mixed|tok:none|v:1",
                )
                for label in ("R0", "R1", "R0+1")
            ),
            ("S", "lower", "S|error:ter|model:unit|block:20r|fit:log-log|v:1"),
            ("S cum.", "lower", "S|error:ter|model:cumulative|block:20r|fit:log-log|v:1"),
        ]
        assert (board.feedback, board.block) == ("post-edit", 20)
        assert set(board.signatures) == {
            *("reward", "corpus_bleu", "interval", "sbleu", "ter", "recall", "slope", "slope_cumulative"),
            *("measure_interval", "slope_interval"),
        }

    def test_a_language_without_stop_words_counts_every_word(self):
        board = make_board(post_edit_phase(language=""), [], now=NOW)
        assert board.signatures["recall"] == ("R|k:0-1|words:any|stop:none|scope:all|nrefs:1|case:mixed|tok:none|v:1")

    def test_every_run_has_every_measure_with_an_interval_around_it(self, board):
        for row in board.rows:
            assert list(row.measures) == NAMES
            if row.system == "CEDAR":
                continue
            for name, estimate in row.measures.items():
                assert estimate.interval[0] < estimate.value < estimate.interval[1], (row.system, name)

    def test_a_run_of_few_blocks_has_no_intervals_yet(self, board):
        estimates = by_system(board)["CEDAR"].measures
        assert {estimates[name].interval for name in NAMES[:6]} == {None}
        assert estimates["slope"] is None

    def test_values_are_those_of_all_rounds(self, board):
        for summary in boards.post_edit_summaries():
            estimates = by_system(board)[summary.identity.system].measures
            counts = summary.record.adaptation.total
            assert {name: estimates[name].value for name in NAMES[:6]} == {
                name: getattr(counts, name) for name in NAMES[:6]
            }

    def test_adaptation_pays_off_in_repeated_words(self, board):
        rows = by_system(board)
        static, full = rows["BNMT-static"].measures, rows["BNMT-full"].measures
        assert full["r1"].interval[0] > static["r1"].interval[1]
        assert full["r1"].value - full["r0"].value > 10

    def test_curves_are_cumulative_and_end_with_the_values(self, board):
        for row in board.rows:
            for name in ("bleu", "r0", "r1", "r0_1"):
                curve = row.adaptation.curves[name]
                assert len(curve) == row.rounds // 20
                if row.status == "finished":
                    assert curve[-1] == pytest.approx(row.measures[name].value, abs=0.0051)

    def test_ter_by_block_and_of_all_blocks_so_far(self, board):
        for row in board.rows:
            curves = row.adaptation.ter
            assert [len(curves[model].errors) for model in ("unit", "cumulative")] == [row.rounds // 20] * 2
            assert curves["unit"].errors[0] == curves["cumulative"].errors[0]
            if row.status == "finished":
                assert curves["cumulative"].errors[-1] == pytest.approx(row.measures["ter"].value, abs=0.0051)

    def test_a_run_is_compared_with_the_baseline_of_its_family_or_the_best(self, board):
        rows = by_system(board)
        assert {row.baseline for row in board.rows if row.role == "contestant"} == {rows["BNMT-static"].run}
        assert rows["copy-source"].baseline == rows["copy-source"].run
        roles = [*boards.ORGANISER_ROLES, Role("uni-x", "SMT-memory", RoleKind.BASELINE)]
        other = by_system(make_board(post_edit_phase(), boards.post_edit_summaries(), roles, now=NOW))
        assert other["SMT-forgetful"].baseline == rows["SMT-memory"].run
        assert other["BNMT-full"].baseline == rows["BNMT-static"].run
        without = make_board(post_edit_phase(), boards.post_edit_summaries(), now=NOW)
        assert {row.baseline for row in without.rows} == {None}

    def test_json(self, board):
        found = json.loads(json.dumps(board.as_dict()))
        row = found["rows"][0]
        assert set(row["measures"]["ter"]) == {"value", "interval", "covers"}
        assert set(row["adaptation"]["curves"]) == {"bleu", "r0", "r1", "r0_1"}
        assert set(row["adaptation"]["ter"]["unit"]) == {"errors", "first", "exponent"}
        assert found["measures"][2] == {
            "name": "ter",
            "label": "TER",
            "meaning": "Edits per hundred reference words",
            "better": "lower",
            "signature": "TER|nrefs:1|case:mixed|tok:none|norm:no|punct:yes|asian:no|v:1",
        }

    def test_a_finished_run_whose_last_block_is_short(self):
        total = 410  # blocks of 3 rounds, coarse blocks of 12, and 2 rounds at the end
        statistics = [played.statistics for played in boards.post_edit_rounds(total, start=0.5)]
        row = row_of(post_edit_phase(total=total), post_edit_run("x", statistics))
        edits, words = (
            sum(column)
            for column in zip(*(PostEditStatistics.from_bytes(each).ter for each in statistics), strict=True)
        )
        assert len(row.adaptation.ter["unit"].errors) == 34
        estimate = row.measures["ter"]
        assert estimate.value == 100 * edits / words
        assert estimate.interval[0] < estimate.value < estimate.interval[1]

    def test_the_interval_of_an_unfinished_run_is_around_all_of_its_rounds(self):
        statistics = [edits_only(10, 100)] * 40 + [edits_only(100, 100)] * 3  # the last three are no complete block
        estimate = row_of(post_edit_phase(total=80), post_edit_run("x", statistics)).measures["ter"]
        assert estimate.value == pytest.approx(100 * 700 / 4_300)
        assert estimate.interval == pytest.approx((estimate.value, estimate.value))


class TestRareWords:
    """Eighty rounds in twenty blocks: some resamples of blocks have no word that occurred before."""

    @pytest.mark.parametrize(
        ("blocks_with_words", "interval"),
        [(5, (0.0, 100.0)), (1, None)],
        ids=["enough blocks have such words", "an interval would rest on one block"],
    )
    def test_the_interval_of_r1_rests_on_resamples_that_have_such_words(self, blocks_with_words, interval):
        rounds = [(number % 4 == 0 and number // 4 < blocks_with_words, number) for number in range(80)]
        statistics = [
            pack_counts([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, wanted and number % 8 == 0, 1, wanted])
            for wanted, number in rounds
        ]
        row = row_of(post_edit_phase(total=80), post_edit_run("x", statistics))
        estimates = row.measures
        assert estimates["r1"].value == 100 * ((blocks_with_words + 1) // 2) / blocks_with_words
        assert estimates["r1"].interval == interval
        assert estimates["r0"].interval == (100.0, 100.0)


class TestSecrecy:
    """While a phase is open, no measure depends on where the held-out passes lie."""

    @settings(max_examples=25)
    @given(
        st.lists(st.floats(0, 1), min_size=60, max_size=60),
        st.sampled_from([(2, 1, 58), (3, 10, 15), (6, 5, 6), (7, 6, 3)]),
    )
    def test_measures_of_equal_rewards_are_equal_wherever_passes_lie(self, rewards, places):
        layout = Layout(*places)
        assert layout.total == 60
        hidden = HeldOutBlock(0, 0, [])
        boards_of = [
            make_board(replace(dev_phase(total=60), held_out=hidden), [bandit_run("x", rewards, each)], now=NOW)
            for each in (layout, Layout.plain(60))
        ]
        known, other = ([row.as_dict() for row in board.rows] for board in boards_of)
        assert known == other

    def test_the_slope_follows_from_the_curve_that_everybody_sees(self):
        """S is fitted to blocks whose ends are points of the curve, so it adds nothing to what the curve says."""
        board = boards.dev_board()
        rounds = range(board.block, board.total + 1, board.block)
        assert set(rounds) <= set(board.checkpoints)
        for row in board.rows:
            reward = dict(zip(board.checkpoints, row.curve, strict=False))
            ends = [end for end in rounds if end <= row.rounds]
            blocks = [
                Block(board.block - (reward[end] - reward.get(end - board.block, 0)), board.block) for end in ends
            ]
            estimate = row.measures["slope"]
            if len(ends) >= 10:
                assert estimate.value == pytest.approx(
                    fit_blocks(blocks, CurveModel.UNIT, resamples=2).percentage, abs=1e-3
                )
