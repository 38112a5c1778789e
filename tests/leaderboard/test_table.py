"""The table: ranks, groups, status, oracles and regret, and what is missing when data are few."""

import json

import pytest

from leaderboard.families import Role, RoleKind, default_role
from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.rows import BoardPhase, HeldOutBlock
from leaderboard.run_comparison import ABANDONED_AFTER_MS
from leaderboard.summaries import Summary
from leaderboard.table import make_board
from task.layout import Layout
from task.rounds import TICKS, RoundResult
from tests.leaderboard import boards
from tests.leaderboard.boards import NOW, ORGANISER_ROLES, dev_phase, dev_summaries, identity

COUNTS = count_ngram_matches("a b", "a c").to_bytes()


def phase(total, **changes):
    plain = {"name": "dev", "state": "open", "total": total, "held_out": HeldOutBlock(0, 0, []), "signature": "s"}
    return BoardPhase(**{**plain, **changes})


def run(system, rewards, *, participant="acme", attempt=1, total=None, at=NOW):
    """Return a run with exactly these rewards."""
    rounds = [RoundResult(k, reward, COUNTS, at + k) for k, reward in enumerate(rewards)]
    total = total or len(rewards)
    return Summary.begin(identity(system, participant, attempt), total).fold(rounds, Layout.plain(total))


def table(*runs, total=None, roles=(), **options):
    total = total or max(each.rounds for each in runs)
    return make_board(phase(total), runs, roles, **{"now": NOW, **options})


def by_system(board):
    return {row.system: row for row in board.rows}


@pytest.fixture(scope="module")
def board():
    return boards.dev_board()


class TestSampleBoard:
    def test_only_finished_contestants_are_ranked_and_grouped(self, board):
        assert [(row.rank, row.group, row.system) for row in board.rows if row.rank] == [
            (1, 1, "ELM-domain-adaptation"),
            (2, 2, "BNMT-EL"),
            (3, 2, "BNMT-EL-CV"),
            (4, 3, "SMT-EL-CV-ADAM"),
            (5, 4, "WNMT-EL"),
        ]
        assert all(row.group is None for row in board.rows if not row.rank)

    def test_unfinished_runs_come_last(self, board):
        assert [(row.system, row.status) for row in board.rows[-2:]] == [
            ("ELM-reinforce", "running"),
            ("CEDAR", "abandoned"),
        ]

    def test_families_determine_the_oracle(self, board):
        rows = by_system(board)
        assert {name: row.family for name, row in rows.items() if row.family == "SMT"} == {
            "SMT-oracle": "SMT",
            "SMT-static": "SMT",
            "SMT-EL-CV-ADAM": "SMT",
        }
        assert rows["ELM-domain-adaptation"].family == "BNMT"  # its family has no oracle, so the best one counts
        for name, row in rows.items():
            oracle = rows["SMT-oracle" if row.family == "SMT" else "BNMT-oracle"]
            assert row.regret.oracle == oracle.run
            if row.status == "finished":
                assert row.regret.value == pytest.approx(oracle.mean_reward - row.mean_reward), name
                assert row.regret.rounds == boards.TOTAL

    def test_regret_is_reported_against_every_oracle(self, board):
        rows = by_system(board)
        oracles = {rows["BNMT-oracle"].run, rows["SMT-oracle"].run}
        assert all(set(row.regrets) == oracles for row in board.rows)
        assert rows["SMT-oracle"].regrets[rows["BNMT-oracle"].run] == pytest.approx(
            rows["BNMT-oracle"].mean_reward - rows["SMT-oracle"].mean_reward
        )
        assert rows["BNMT-oracle"].regrets[rows["SMT-oracle"].run] < 0

    def test_gap_closed(self, board):
        rows = by_system(board)
        top, bottom = rows["SMT-oracle"].reward, rows["SMT-static"].reward
        learner = rows["SMT-EL-CV-ADAM"]
        assert learner.gap_closed == pytest.approx((learner.reward - bottom) / (top - bottom))
        assert (rows["SMT-oracle"].gap_closed, rows["BNMT-static"].gap_closed) == (1, 0)
        assert rows["copy-source"].gap_closed < 0

    def test_intervals_contain_their_means(self, board):
        for row in board.rows:
            assert row.interval[0] < row.mean_reward < row.interval[1]
            if row.role != "oracle":
                assert row.regret.interval[0] < row.regret.value < row.regret.interval[1]

    def test_curves_share_an_axis(self, board):
        assert board.checkpoints[:3] == [1, 2, 3]
        assert board.checkpoints[-1] == boards.TOTAL
        assert board.checkpoints == sorted(set(board.checkpoints))
        for row in board.rows:
            assert len(row.curve) == sum(k <= row.rounds for k in board.checkpoints)
            if row.status == "finished":
                assert row.curve[-1] == pytest.approx(row.reward, abs=1e-4)

    def test_held_out_passes(self, board):
        rows = by_system(board)
        assert [each.held_out_pass for each in rows["BNMT-EL"].passes] == [0, 1, 2, 3]
        assert [each.held_out_pass for each in rows["ELM-reinforce"].passes] == [0, 1]
        assert rows["BNMT-EL"].passes[-1].relative_sentence_bleu > 5
        assert board.held_out.ends == [70, 1_380, 2_690, 4_000]

    def test_signatures_and_times(self, board):
        assert board.signatures == {
            "reward": "sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1",
            "corpus_bleu": "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|v:1",
            "interval": "bootstrap|paired:yes|block:20|n:1000|conf:0.95|v:1",
            "slope": "S|error:1-reward|model:unit|block:80r|fit:log-log|v:1",
            "slope_interval": "bootstrap|residuals:yes|block:80|n:400|conf:0.95|v:1",
        }
        assert board.updated_at == max(row.last_at for row in board.rows)

    def test_json_does_not_depend_on_the_order_of_runs(self, board):
        turned = make_board(dev_phase(), dev_summaries()[::-1], ORGANISER_ROLES[::-1], now=NOW)
        as_text = json.dumps(board.as_dict())
        ours, theirs = json.loads(as_text), json.loads(json.dumps(turned.as_dict()))
        assert ours == theirs
        assert set(ours["rows"][0]["regret"]) == {"oracle", "rounds", "value", "interval", "covers"}

    def test_two_hundred_runs(self):
        crowd = boards.crowded_board(200)
        assert len(crowd.rows) == 200
        assert len(json.dumps(crowd.as_dict())) < 2_000_000


class TestRanks:
    def test_equal_rewards_share_a_rank(self):
        board = table(run("a", [0.5, 0.5]), run("b", [0.9, 0.1]), run("c", [0.1, 0.1]), run("d", [1, 1]))
        assert [(row.system, row.rank) for row in board.rows] == [("d", 1), ("a", 2), ("b", 2), ("c", 4)]

    def test_ties_are_ordered_by_time(self):
        board = table(run("late", [0.5], at=NOW + 5), run("early", [0.5], at=NOW))
        assert [row.system for row in board.rows] == ["early", "late"]

    def test_a_single_run(self):
        [row] = table(run("a", [0.5] * 50)).rows
        assert (row.rank, row.group, row.regret, row.regrets, row.gap_closed) == (1, 1, None, {}, None)
        assert row.interval == pytest.approx((0.5, 0.5))

    def test_empty_board(self):
        board = boards.empty_board()
        assert (board.rows, board.updated_at, board.checkpoints[-1]) == ([], None, boards.TOTAL)

    def test_a_run_without_rounds_is_left_out(self):
        assert table(run("a", [0.5]), run("idle", [], total=1)).rows[0].system == "a"

    def test_newest_finished_and_unfinished_run_of_each_system_are_shown(self):
        board = table(
            run("a", [0.9, 0.9], attempt=1),
            run("a", [0.5, 0.5], attempt=2),
            run("a", [0.7], attempt=3, total=2),
            run("a", [0.1, 0.1], participant="rival"),
        )
        assert [(row.participant, row.attempt, row.status, row.rank) for row in board.rows] == [
            ("acme", 2, "finished", 1),
            ("rival", 1, "finished", 2),
            ("acme", 3, "running", None),
        ]


class TestGroups:
    def test_a_significantly_worse_run_begins_a_group(self):
        same = [0.5, 0.6] * 50
        board = table(run("a", same), run("b", [reward - 0.1 for reward in same]), run("c", [0.2] * 100))
        assert [row.group for row in board.rows] == [1, 2, 3]

    def test_noise_does_not_begin_a_group(self):
        board = table(run("a", [0.9, 0.1] * 50), run("b", [0.1, 0.89] * 50))
        assert [row.group for row in board.rows] == [1, 1]

    def test_few_blocks_show_no_significance(self):
        board = table(run("a", [0.9] * 9), run("b", [0.1] * 9))
        assert [(row.group, row.interval) for row in board.rows] == [(1, None), (1, None)]


class TestStatus:
    @pytest.mark.parametrize(
        ("age", "state", "status"),
        [
            (0, "open", "running"),
            (ABANDONED_AFTER_MS - 1, "frozen", "running"),
            (ABANDONED_AFTER_MS + 1, "open", "abandoned"),
            (0, "closed", "abandoned"),
        ],
    )
    def test_status_of_an_unfinished_run(self, age, state, status):
        [row] = make_board(phase(10, state=state), [run("a", [0.5], total=10, at=NOW - age)], now=NOW).rows
        assert (row.status, row.rank, row.progress) == (status, None, 0.1)

    def test_a_finished_run_stays_finished(self):
        [row] = make_board(phase(1, state="closed"), [run("a", [0.5], at=NOW - 10**12)], now=NOW).rows
        assert row.status == "finished"


class TestOracles:
    oracle = Role("acme", "best", RoleKind.ORACLE)
    static = Role("acme", "static", RoleKind.BASELINE, "best")

    def test_regret_worked_out_by_hand(self):
        board = table(run("best", [1.0, 0.6, 0.5, 0.8]), run("x", [0.2, 0.6, 0.3, 0.9]), roles=[self.oracle])
        rows = by_system(board)
        assert rows["x"].regret.value == pytest.approx(0.225)
        assert [
            (a - b) / k for k, a, b in zip(board.checkpoints, rows["best"].curve, rows["x"].curve, strict=True)
        ] == pytest.approx([0.8, 0.4, 1 / 3, 0.225])

    def test_an_unfinished_oracle_is_compared_as_far_as_it_goes(self):
        board = table(run("best", [1.0, 0.6], total=4), run("x", [0.2, 0.6, 0.3, 0.9]), roles=[self.oracle])
        regret = by_system(board)["x"].regret
        assert (regret.rounds, regret.value) == (2, pytest.approx(0.4))

    def test_where_two_runs_share_no_end_the_last_common_checkpoint_is_taken(self):
        best, system = run("best", [1.0] * 997, total=5_000), run("x", [0.25] * 4_000, total=5_000)
        regret = by_system(table(best, system, total=5_000, roles=[self.oracle]))["x"].regret
        assert (regret.rounds, regret.value) == (992, pytest.approx(0.75))
        assert 992 in best.record.curve

    def test_a_finished_oracle_goes_before_a_better_unfinished_one(self):
        roles = [Role("acme", name, RoleKind.ORACLE, "best") for name in ("best", "other")]
        board = table(run("best", [0.5] * 4), run("other", [0.9], total=4), run("best-x", [0.1] * 4), roles=roles)
        assert by_system(board)["best-x"].regret.oracle == "acme/best/1"

    def test_best_baseline_defines_the_gap(self):
        roles = [self.oracle, self.static, Role("acme", "copy", RoleKind.BASELINE, "best")]
        runs = [run("best", [1.0]), run("static", [0.5]), run("copy", [0.1]), run("x", [0.75])]
        assert by_system(table(*runs, roles=roles))["x"].gap_closed == pytest.approx(0.5)

    def test_gap_of_zero_has_no_share(self):
        runs = [run("best", [0.5]), run("static", [0.5]), run("x", [0.75])]
        assert by_system(table(*runs, roles=[self.oracle, self.static]))["x"].gap_closed is None

    def test_no_gap_without_a_baseline(self):
        assert by_system(table(run("best", [0.5]), run("x", [0.1]), roles=[self.oracle]))["x"].gap_closed is None

    def test_another_participant_cannot_use_the_name_of_an_oracle(self):
        board = table(run("best", [0.5]), run("best", [0.9], participant="rival"), roles=[self.oracle])
        assert [(row.participant, row.role, row.rank) for row in board.rows] == [
            ("rival", "contestant", 1),
            ("acme", "oracle", None),
        ]

    def test_a_contestant_can_be_assigned_to_a_family(self):
        another, assigned = Role("acme", "SMT-oracle", RoleKind.ORACLE), Role("acme", "x", RoleKind.CONTESTANT, "SMT")
        roles = [self.oracle, another, assigned]
        rows = by_system(table(run("best", [0.9]), run("SMT-oracle", [0.5]), run("x", [0.1]), roles=roles))
        assert (rows["x"].family, rows["x"].rank, rows["x"].regret.oracle) == ("SMT", 1, "acme/SMT-oracle/1")


class TestGain:
    roles = (
        Role("acme", "X-oracle", RoleKind.ORACLE),
        Role("acme", "X-static", RoleKind.BASELINE),
        Role("acme", "X-full", RoleKind.FULL_INFORMATION),
    )

    def rows(self, *runs, roles=roles):
        known = [run("X-oracle", [1.0]), run("X-static", [0.5]), run("X-full", [0.7])]
        return by_system(table(*known, *runs, roles=roles))

    def test_in_reward_of_the_gap_and_of_full_information(self):
        row = self.rows(run("X-x", [0.65]))["X-x"]
        assert (row.reward_gain.baseline, row.reward_gain.rounds) == ("acme/X-static/1", 1)
        assert row.reward_gain.value == pytest.approx(0.15)
        assert row.gap_closed == pytest.approx(0.3)
        assert row.full_information_share == pytest.approx(0.75)

    def test_runs_for_comparison_have_no_rank(self):
        rows = self.rows(run("X-x", [0.65]))
        assert {system: row.rank for system, row in rows.items() if row.rank} == {"X-x": 1}
        assert (rows["X-static"].reward_gain, rows["X-static"].full_information_share) == (None, 0.0)
        assert rows["X-full"].full_information_share == 1.0

    def test_a_system_of_another_family_is_compared_with_the_best_full_information_run(self):
        assert self.rows(run("Y-y", [0.6]))["Y-y"].full_information_share == pytest.approx(0.5)

    @pytest.mark.parametrize("missing", ["X-static", "X-full"])
    def test_no_share_without_a_full_information_run_or_its_baseline(self, missing):
        roles = [role for role in self.roles if role.system != missing]
        assert self.rows(run("X-x", [0.65]), roles=roles)["X-x"].full_information_share is None

    def test_no_share_if_full_information_gained_nothing(self):
        runs = [run("X-static", [0.5]), run("X-full", [0.4]), run("X-x", [0.65])]
        assert by_system(table(*runs, roles=self.roles))["X-x"].full_information_share is None

    def test_an_interval_where_there_are_enough_blocks(self):
        runs = [run("X-static", [0.5, 0.4] * 20), run("X-x", [0.6, 0.9] * 20)]
        gain = by_system(table(*runs, roles=self.roles))["X-x"].reward_gain
        assert gain.interval[0] < gain.value < gain.interval[1]
        assert gain.value == pytest.approx(0.3)


class TestDefaultRoles:
    @pytest.mark.parametrize(
        ("system", "kind"),
        [
            ("SMT-oracle", RoleKind.ORACLE),
            ("SMT-k-best-oracle", RoleKind.K_BEST_ORACLE),
            ("SMT-static", RoleKind.BASELINE),
            ("copy-source", RoleKind.BASELINE),
            ("SMT-full-information.s2", RoleKind.FULL_INFORMATION),
            ("BNMT-sampling.s13", RoleKind.CONTROL),
            ("SMT-EL-CV-ADAM", RoleKind.CONTESTANT),
            ("SMT-oracle.better", RoleKind.CONTESTANT),
        ],
    )
    def test_by_the_names_of_our_own_systems(self, system, kind):
        assert default_role("banditmt", system).kind is kind

    def test_no_other_participant_gets_a_role_by_a_name(self):
        assert default_role("acme", "SMT-oracle").kind is RoleKind.CONTESTANT

    def test_a_board_without_any_command_of_the_organiser(self):
        ours = [run(name, [reward], participant="banditmt") for name, reward in (("X-oracle", 0.9), ("X-static", 0.5))]
        row = by_system(table(*ours, run("X-x", [0.6])))["X-x"]
        assert (row.rank, row.gap_closed) == (1, pytest.approx(0.25))

    def test_the_organiser_has_the_last_word(self):
        contestant = Role("banditmt", "X-static", RoleKind.CONTESTANT)
        board = table(run("X-static", [0.5], participant="banditmt"), roles=[contestant])
        assert (board.rows[0].role, board.rows[0].rank) == ("contestant", 1)


def test_totals_are_exact():
    tenth = run("a", [0.1] * 1_000)
    assert table(tenth).rows[0].reward == 100.0
    assert tenth.record.total.ticks == 100 * TICKS
