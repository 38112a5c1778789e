"""The study of offline learning: it runs as a whole, resumes, and its tables say what was measured."""

import pytest

from benchmarks.studies import offline
from benchmarks.studies.offline_tables import (
    EvaluatedRun,
    OfflineRun,
    TextResults,
    arms_table,
    best_single,
    findings,
    off_policy_table,
    offline_table,
    selection_table,
)
from learners.offline.estimators import Method
from learners.offline.evaluation import Estimate, OffPolicyEvaluation
from learners.systems.registry import SYSTEMS
from simulator.competition import play_run
from task.layout import Layout
from tests.benchmarks.study_runs import NEARLY_RIGHT, REFERENCES, SOURCES, study_run
from tests.simulator import small_task

REWARDS = [0.2, 0.4] * 24


def run(system, gain=0.0, seed=1):
    """Return a run of 48 rounds that earned this much more than 0.3 per round."""
    rewards = [reward + gain for reward in REWARDS]
    text = {"references": REFERENCES * 4, "sources": SOURCES * 4, "layout": Layout.plain(len(REWARDS))}
    return study_run(system, rewards, [NEARLY_RIGHT] * len(REWARDS), seed=seed, **text)


def estimate(value):
    return Estimate(value, value - 0.02, value + 0.02)


def evaluation(ips, snips, direct):
    """Return an evaluation whose doubly robust estimate is that of the reward model."""
    by_propensity = None if ips is None else estimate(ips)
    return OffPolicyEvaluation(100, 0.3, 50, 40.0, by_propensity, estimate(snips), estimate(direct), estimate(direct))


SINGLE = {
    "BNMT-static": [run("BNMT-static")],
    "BNMT-control": [run("BNMT-control", 0.01)],
    "BNMT-EL-VALUE": [run("BNMT-EL-VALUE", 0.1), run("BNMT-EL-VALUE", 0.2, seed=2)],
}
RESULTS = TextResults(
    "shop",
    ["BNMT-EL-VALUE"],
    later=SINGLE,
    earlier=SINGLE,
    offline={
        ("BNMT-EL-VALUE", Method.SNIPS): [
            OfflineRun(run("OFFLINE-SNIPS", gain, seed), 0.5, is_copy=False) for seed, gain in ((1, 0.2), (2, 0.3))
        ],
        ("BNMT-static", Method.DPM): [OfflineRun(run("OFFLINE-DPM", -0.1), 0.3, is_copy=False)],
        ("BNMT-static", Method.DPM_R): [OfflineRun(run("OFFLINE-DPM-R"), 0.4, is_copy=True)],
    },
    evaluated=[
        EvaluatedRun("BNMT-EL-VALUE", "OFFLINE-SNIPS", 0.5, evaluation(0.51, 0.53, 0.4)),
        EvaluatedRun("BNMT-EL-VALUE", "OFFLINE-SNIPS", 0.5, evaluation(0.47, 0.51, 0.4)),
        EvaluatedRun("BNMT-static", "OFFLINE-DPM", 0.2, evaluation(None, 0.3, 0.21)),
    ],
    shares={0.4: run("UMD-domain-adaptation", 0.03), 0.1: run("UMD-domain-adaptation", -0.02)},
    arms={"ARMS-UCB1": [run("ARMS-UCB1", 0.147)], "ARMS-LINEAR": [run("ARMS-LINEAR", 0.1)]},
    plays={"ARMS-UCB1": {"BNMT-static": 0.25, "BNMT-EL-VALUE": 0.75}, "ARMS-LINEAR": {"BNMT-static": 1.0}},
)


def rows(table):
    """Return the cells of a table by the first two of each row."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {tuple(each[:2]): each for each in cells}


def test_offline_systems_are_compared_with_the_seed_model_their_logger_and_online_learners():
    found = rows(offline_table(RESULTS))
    _, _, reward, over_static, over_logger, over_online, estimate, copies, *_ = found["OFFLINE-SNIPS", "BNMT-EL-VALUE"]
    assert reward == "0.5500 ± 0.0707"
    assert over_static == "+0.2500 (+0.2500 to +0.2500)"
    assert over_logger == over_online == "+0.1000 (+0.1000 to +0.1000)"  # each seed with its own
    assert (estimate, copies) == ("0.5000", "0 of 2")
    assert found["OFFLINE-DPM-R", "BNMT-static"][7] == "1 of 1"
    assert found["BNMT-EL-VALUE", ""][2] == "0.4500 ± 0.0707"


def test_findings_say_which_estimators_help_with_which_log():
    assert findings(RESULTS) == [
        "trained on the log of BNMT-EL-VALUE, significantly more than BNMT-static earn OFFLINE-SNIPS, "
        "significantly less none, of 1",
        "trained on the log of BNMT-static, significantly more than BNMT-static earn none, "
        "significantly less OFFLINE-DPM, of 2",
    ]


def test_estimates_are_compared_with_what_was_earned():
    found = rows(off_policy_table(RESULTS))
    assert found["BNMT-EL-VALUE", "OFFLINE-SNIPS"][2:] == [
        "0.5000",
        "-0.0100 (1 of 2)",
        "+0.0200 (1 of 2)",
        "-0.1000 (0 of 2)",
        "-0.1000 (0 of 2)",
        "40",
    ]
    assert found["BNMT-EL-VALUE", "mean absolute error"][3:5] == ["0.0200", "0.0200"]
    assert found["BNMT-static", "OFFLINE-DPM"][3] == ""  # a deterministic log has no propensities


def test_the_shares_of_selected_text_are_in_order():
    found = rows(selection_table(RESULTS))
    assert list(found)[2:] == [
        ("BNMT-static", ""),
        ("BNMT-control", ""),
        ("UMD-domain-adaptation", "0.1"),
        ("UMD-domain-adaptation", "0.4"),
    ]
    assert found["UMD-domain-adaptation", "0.4"][4] == "+0.0200 (+0.0200 to +0.0200)"


def test_arms_are_compared_with_the_best_single_system():
    assert best_single(RESULTS) == "BNMT-EL-VALUE"
    lines = arms_table(RESULTS).splitlines()
    assert lines[2].startswith("| ARMS-UCB1 | 0.4470 | -0.0030 (")  # minus the mean of two seeds
    assert "| yes | BNMT-static 25 %, BNMT-EL-VALUE 75 % |" in lines[2]
    assert "| no | BNMT-static 100 % |" in lines[3]


def test_all_systems_of_the_study_exist():
    names = {*offline.STATIC_SYSTEMS, *offline.LEARNERS, *offline.MEMBERS, *offline.ARMS, *offline.EVALUATED}
    assert names <= set(SYSTEMS)
    assert set(offline.MEMBERS) <= {*offline.STATIC_SYSTEMS, *offline.LEARNERS}


@pytest.fixture
def small_study(monkeypatch, tmp_path):
    """A study of one text, with few systems, that plays in this process; return its command."""
    (tmp_path / "study" / "shop").mkdir(parents=True)
    layouts = {**small_task.LAYOUTS, "dev": Layout.plain(150)}
    small_task.write_task(tmp_path / "study" / "shop" / "task", layouts=layouts)
    for name, value in {
        "STATIC_SYSTEMS": ("BNMT-static", "BNMT-control"),
        "LEARNERS": ("BNMT-EL-VALUE",),
        "EVALUATED": ("BNMT-static", "BNMT-control"),
        "MEMBERS": ("BNMT-control", "BNMT-EL-VALUE"),
        "ARMS": ("ARMS-THOMPSON",),
        "SHARES": (0.5,),
        "compete": lambda competition, specs, **_options: [play_run(competition, spec) for spec in specs],
    }.items():
        monkeypatch.setattr(offline, name, value)
    sizes = ["--rounds", "70", "--later", "80", "--arms-rounds", "40", "--seeds", "1", "--size", "tiny"]
    effort = ["--steps", "60", "--epochs", "1", "--methods", "snips", "dpm-r"]
    folders = ["--folder", tmp_path / "study", "--out", tmp_path / "out"]
    return [str(word) for word in ["shop", *sizes, *effort, *folders]]


def test_the_study_runs_as_a_whole_and_resumes(small_study, tmp_path, capsys):
    offline.main(small_study)
    first = capsys.readouterr().out
    table = (tmp_path / "out" / "table.md").read_text()
    assert first.endswith(table)
    assert [first.count(f"outputs/{part}/") for part in ("offline", "later", "off-policy", "arms")] == [3, 4, 6, 1]
    for row in ("| OFFLINE-SNIPS | BNMT-EL-VALUE |", "| OFFLINE-DPM-R | BNMT-static |", "| ARMS-THOMPSON |"):
        assert row in table
    assert "| OFFLINE-SNIPS | BNMT-static |" not in table  # it needs probabilities
    assert "BNMT-control" in (tmp_path / "out" / "selection.svg").read_text()
    saved = {path.name for path in (tmp_path / "out" / "shop" / "runs").iterdir()}
    assert "OFFLINE-DPM-R-of-BNMT-static.s1.json.gz" in saved
    assert len(saved) == 3 + 3 + 1 + 1

    (tmp_path / "study" / "shop" / "outputs" / "arms" / "ARMS-THOMPSON.s1.json").unlink()
    offline.main(small_study)
    second = capsys.readouterr().out
    assert second.count("outputs/") == 1
    assert second.endswith(table)
    with pytest.raises(SystemExit, match="was begun with"):
        offline.main([*small_study, "--epochs", "2"])


def test_a_task_that_is_too_short_is_refused(small_study):
    with pytest.raises(SystemExit, match="has 150 rounds of dev, but the study needs 180"):
        offline.main([*small_study, "--rounds", "100"])


def test_an_unknown_text_is_refused(capsys):
    with pytest.raises(SystemExit):
        offline.main(["novel"])
    assert "there is no text novel: there are shop and debian" in capsys.readouterr().err
