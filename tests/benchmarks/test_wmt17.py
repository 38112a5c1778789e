"""The competition of WMT 2017 again: its sizes, its systems, what is measured, and its page."""

import re
import sys
from unittest.mock import patch

import pytest

from benchmarks.studies import wmt17
from benchmarks.studies.published import MEAN_REWARDS, TABLE_3
from benchmarks.studies.replay import PhaseReplay, Replay
from benchmarks.studies.wmt17_claims import CLAIMS, Verdict
from benchmarks.studies.wmt17_page import COMPETITION_FILE, write_page
from leaderboard.families import HOUSE_PARTICIPANT, RoleKind
from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.rows import BoardPhase, HeldOutBlock
from leaderboard.summaries import RunIdentity, Summary
from learners.systems.registry import SYSTEMS
from simulator.competition import RunSpec
from task.layout import Layout
from task.phases import DEV, TRAINING
from task.rounds import RoundResult

LAYOUTS = {"dev": Layout(4, 2, 8), "training": Layout(12, 2, 8)}  # 32 and 112 rounds
RIGHT = count_ngram_matches("a b c d e", "a b c d e").to_bytes()
SHORT = count_ngram_matches("a b c d", "a b c d e").to_bytes()  # costs corpus BLEU


def summary(phase, system, reward, *, gain=0.0, rounds=None, translations=lambda share: RIGHT):
    """Return a run that earns this reward, and this gain more after half of the rounds; even rounds earn more."""
    layout = LAYOUTS[phase]
    results = [
        RoundResult(
            k, reward + (k % 2) / 100 + (gain if 2 * k >= layout.total else 0), translations(k / layout.total), k
        )
        for k in range(layout.total if rounds is None else rounds)
    ]
    identity = RunIdentity(f"{phase}-{system}", HOUSE_PARTICIPANT, phase, system, 1, 0)
    return Summary.begin(identity, layout.total).fold(results, layout)


def phase_replay(phase, *summaries):
    layout = LAYOUTS[phase]
    return PhaseReplay(BoardPhase(phase, "open", layout.total, HeldOutBlock.of(layout), ""), summaries)


def like_the_paper(phase):
    """Return runs that earn what the paper says."""
    gains = {"BNMT-EL": 0.02}
    return [
        summary(phase, name, mean - gains.get(name, 0) / 2, gain=gains.get(name, 0))
        for name, mean in MEAN_REWARDS.items()
    ]


@pytest.fixture(scope="module")
def replay():
    training = [*like_the_paper("training"), summary("training", "LIMSI-UCB1", 0.18, rounds=30)]
    training += [summary("training", name, 0.17) for name in ("BNMT-sampling-T1", "SMT-SPLIT-static")]
    training += [summary("training", name, 0.3) for name in ("CHAMPION", "CHAMPION.s2")]
    return Replay(
        {"rounds": 112, "steps": None},
        "a digest of a task",
        {"bnmt": "a1"},
        {"dev": phase_replay("dev", *like_the_paper("dev")), "training": phase_replay("training", *training)},
        {"UMD-reinforce, training": "it diverged"},
    )


def test_every_system_of_the_paper_is_played_with_its_control():
    assert set(wmt17.STUDY.systems) <= set(SYSTEMS)
    assert {SYSTEMS[name].control for name in wmt17.STUDY.systems} - {None} <= set(wmt17.STUDY.systems)
    assert len(TABLE_3) == 13
    assert MEAN_REWARDS["BNMT-EL"] == pytest.approx(0.1831, abs=5e-5)


def test_a_competition_of_the_papers_size_has_the_papers_phases():
    scale = wmt17.scale_of(1_297_974, 1_000_000)
    assert (scale.dev, scale.training) == (DEV.layout, TRAINING.layout)


@pytest.mark.parametrize(
    ("rounds", "dev", "training"),
    [
        (40_000, Layout(4, 70, 1_240), Layout(12, 400, 3_200)),
        (40_004, Layout(4, 70, 1_240), Layout(12, 400, 3_200)),  # the nearest that can be divided
        (1_200, Layout(4, 2, 37), Layout(12, 12, 96)),
        (20, Layout(4, 1, 1), Layout(12, 1, 1)),  # the smallest
    ],
)
def test_other_sizes_have_as_many_passes(rounds, dev, training):
    scale = wmt17.scale_of(rounds, 20)
    assert (scale.dev, scale.training) == (dev, training)


def test_annealing_starts_at_the_same_share_of_the_rounds():
    names = ["BNMT-EL", "WNMT-sampling", "BNMT-EL-VALUE", "SMT-static"]
    el, sampling, *others = wmt17.scaled_specs(names, 1, 40_000)
    assert el == RunSpec("BNMT-EL", settings=(("schedule.start", "21572"),))
    assert el.label == "BNMT-EL"
    assert sampling.settings == (("start", "21572"),)
    assert others == [RunSpec("BNMT-EL-VALUE"), RunSpec("SMT-static")]
    assert wmt17.scaled_specs(["BNMT-EL"], 2, 1_297_974) == [RunSpec("BNMT-EL"), RunSpec("BNMT-EL", 2, "BNMT-EL.s2")]


def verdicts(dev, training):
    return {claim.statement: claim.measure(dev, training).verdict for claim in CLAIMS}


def test_runs_that_earn_what_the_paper_says_agree_with_what_it_says_of_rewards(replay):
    found = verdicts(*replay.phases.values())
    by_reward = {claim.statement for claim in CLAIMS if claim.where in ("Table 3", "section 6")}
    assert {found[statement] for statement in by_reward} == {Verdict.AGREES}
    assert found["BNMT-EL and UMD-reinforce2 get close to UMD-domain-adaptation"] is Verdict.AGREES
    assert found["in training, BNMT-EL catches up under sentence BLEU"] is Verdict.AGREES
    assert found["most of the learning happens in the first 100,000 rounds"] is Verdict.DISAGREES  # it was at half time


def test_runs_in_reverse_order_do_not_agree():
    means = sorted(MEAN_REWARDS.values())
    order = sorted(MEAN_REWARDS, key=MEAN_REWARDS.__getitem__, reverse=True)
    training = phase_replay("training", *map(summary, ["training"] * 13, order, means))
    found = verdicts(phase_replay("dev"), training)
    assert found["UMD-domain-adaptation is the best system that is no oracle"] is Verdict.DISAGREES
    assert found["BNMT-EL outperforms BNMT-static"] is Verdict.DISAGREES
    assert found["in development, BNMT-EL catches up under corpus BLEU"] is Verdict.NOT_PLAYED


def test_an_oracle_that_is_only_a_little_better_does_not_agree():
    runs = [summary("training", "BNMT-oracle", 0.25), summary("training", "UMD-domain-adaptation", 0.2)]
    found = verdicts(phase_replay("dev"), phase_replay("training", *runs))
    assert found["the oracles earn far more than all others"] is Verdict.DISAGREES


def test_equal_runs_decide_nothing():
    training = phase_replay("training", summary("training", "BNMT-EL", 0.2), summary("training", "BNMT-static", 0.2))
    assert verdicts(phase_replay("dev"), training)["BNMT-EL outperforms BNMT-static"] is Verdict.OPEN


def test_corpus_and_sentence_bleu_can_part():
    shorter = summary("training", "BNMT-EL", 0.1, gain=0.2, translations=lambda share: RIGHT if share < 0.5 else SHORT)
    found = verdicts(phase_replay("dev"), phase_replay("training", shorter, summary("training", "BNMT-static", 0.1)))
    assert found["corpus BLEU sometimes falls while sentence BLEU rises"] is Verdict.AGREES
    assert found["in training, static systems are always ahead under corpus BLEU"] is Verdict.AGREES


def test_the_control_of_a_learner_is_no_baseline(replay):
    roles = {row.system: row.role for row in replay.phases["training"].board.rows}
    assert roles["SMT-SPLIT-static"] is roles["BNMT-sampling-T1"] is RoleKind.CONTROL
    assert roles["SMT-static"] is roles["WMT16-static"] is RoleKind.BASELINE
    drawn = [row.system for row in replay.phases["training"].drawn("SMT", with_oracle=False).rows]
    assert set(drawn) == {
        "CHAMPION",
        "SMT-static",
        "SMT-EL-CV-ADADELTA",
        "SMT-EL-CV-ADAM",
        "SMT-SZO-CV-ADAM",
        "LIMSI-UCB1",
    }


def test_the_page_has_the_table_the_figures_and_what_is_missing(replay, tmp_path):
    replay.write(tmp_path / COMPETITION_FILE)
    page = write_page(tmp_path).read_text()
    assert "| BNMT-EL | 237,663.0 | 0.1831 | 4 | 21.1 | 0.1881 |" in page
    assert re.search(r"\| CHAMPION \| ours \|  \|  \| 34\.2 \| 0\.3050 \| ±0\.0\d+ \|", page)
    assert "- 13 systems, all: Spearman's rho 1.00 (1.00 to 1.00 over sentences); Kendall's tau 1.00 (" in page
    assert "- 11 systems, without the oracles: Spearman's rho 1.00" in page
    assert re.search(r"\| BNMT-EL \| \+0\.0120 \(.*\) \| -0\.0011 \(.*\) \| \+0\.0131 \(", page)
    assert "- LIMSI-UCB1, training: 30 of 112 rounds" in page
    assert "- UMD-reinforce, training: it diverged" in page
    assert "| LIMSI-UCB1-SELECT | did not finish |  |  |  |  |  |  |" in page
    assert "- not begun, dev: UMD-reinforce, UMD-reinforce2, LIMSI-UCB1, " in page
    drawn = {path.name for path in tmp_path.glob("*.svg")}
    assert drawn == {f"figure-{number}-{kind}.svg" for number in (1, 2, 3) for kind in ("neural", "statistical")}
    assert all(f"({name})" in page for name in drawn)


def test_a_damaged_file_is_refused(replay, tmp_path):
    path = tmp_path / COMPETITION_FILE
    replay.write(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SystemExit, match=r"competition\.json\.gz is not a replayed competition .*: play it again"):
        write_page(tmp_path)


def test_the_command_plays_both_phases_and_writes_the_page(tmp_path, capsys):
    """With the one system that needs no training."""
    options = ["--folder", str(tmp_path / "study"), "--out", str(tmp_path / "page"), "--systems", "copy-source"]
    with patch.object(sys, "argv", ["wmt17", *options, "--rounds", "240", "--out-of-domain", "20"]):
        wmt17.main()
    assert "copy-source: finished, 244 rounds" in capsys.readouterr().out
    page = (tmp_path / "page" / "page.md").read_text()
    assert "The training phase has 244 rounds, 0.0% of the paper's 1,297,974, and 12 passes over 2 held-out" in page
    assert re.search(r"\| copy-source \| 64,481\.8 \| 0\.0497 \| 1 \| \d", page)
