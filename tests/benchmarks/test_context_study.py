"""The study of context: it resumes, refuses a folder of other options, and its tables count what was measured."""

import json

import pytest

from benchmarks.studies.context import MODELS, main
from benchmarks.studies.context_tables import (
    BANDITS,
    BASELINE,
    CADEC_NAMES,
    Measured,
    bandit_findings,
    findings,
    report,
)
from corpora.dialogue.generator import DialogueGenerator

OPTIONS = ["--pairs", "150", "--lines", "8", "--groups", "6", "--size", "tiny", "--steps", "1", "--seeds", "1"]
OPTIONS += ["--rounds", "9", "--processes", "1"]


def measured(deixis, cohesion, ellipsis, bleu=30.0):
    half = {"1": [deixis, 100]}
    return Measured(
        bleu,
        {
            "deixis_test": half,
            "lex_cohesion_test": {"1": [cohesion, 50], "2": [0, 50]},
            "ellipsis_infl": {"None": [ellipsis, 100]},
            "ellipsis_vp": {"None": [ellipsis, 100]},
        },
    )


SEED = {
    BASELINE: measured(50, 46, 20),
    "CONTEXT-concat": measured(80, 46, 70),
    "CONTEXT-s-hier-to-2.tied": measured(60, 46, 25),
    **{name: measured(80 - 10 * p, 46 + 4 * p, 70, bleu=31.5) for p, name in CADEC_NAMES.items()},
    "CONTEXT-concat-EL-VALUE": measured(75, 46, 70, bleu=32.0),
    "CONTEXT-cadec-EL-VALUE": measured(80, 48, 70, bleu=31.0),
}


def test_accuracy_is_counted_over_groups_not_over_distances():
    one = Measured(0.0, {"deixis_test": {"1": [3, 4], "2": [0, 1]}})
    assert one.accuracy("deixis_test") == 60.0
    assert one.accuracy("deixis_test", "1") == 75.0
    assert one.accuracy("deixis_test", "3") is None


def test_findings_say_for_each_seed_what_holds():
    assert list(findings([SEED]).values()) == [[True], [True], [True], [True], [False], [True], [True]]
    same = dict.fromkeys(SEED, measured(50, 46, 20))
    assert list(findings([SEED, same]).values())[1:4] == [[True, False]] * 3


def test_what_rewards_change_is_counted_by_seed():
    assert list(bandit_findings([SEED, SEED]).values()) == [[True] * 2, [True] * 2, [False] * 2, [False] * 2]
    lines = report([SEED], "tiny").splitlines()
    assert "| CONTEXT-concat | 30.0 | 80.0 | 46.0 | 70.0 | 70.0 |" in lines
    assert "| CONTEXT-concat-EL-VALUE | 32.0 | 75.0 | 46.0 | 70.0 | 70.0 |" in lines


def test_the_tables_have_the_published_numbers_beside_ours():
    lines = report([SEED, SEED], "tiny").splitlines()
    assert "| CONTEXT-concat | 30.0 ± 0.0 (31.6) | 70.0 ± 0.0 (76.2) | 70.0 ± 0.0 (76.6) |" in lines
    assert "| CONTEXT-concat | 80.0 ± 0.0 (83.5) | 80.0 ± 0.0 (88.8) | - (85.6) | - (76.4) |" in lines
    assert "| CONTEXT-static | 46.0 ± 0.0 (45.9) | 92.0 ± 0.0 (46.1) | 0.0 ± 0.0 (45.9) | - (45.4) |" in lines
    assert any(line.endswith("half of deixis: 2 of 2") for line in lines)


def test_the_study_resumes_and_refuses_a_folder_of_other_options(tmp_path, capsys, monkeypatch):
    few = {name: groups[:6] for name, groups in DialogueGenerator(2019).contrastive_sets().items()}
    monkeypatch.setattr(DialogueGenerator, "contrastive_sets", lambda _: few)  # making them takes seconds
    for module in ("learners.context.training", "benchmarks.studies.context"):  # untrained models decode at length
        monkeypatch.setattr(f"{module}.document_bleu", lambda *_arguments, **_options: 30.0)
    command = [*OPTIONS, "--folder", str(tmp_path / "study"), "--out", str(tmp_path / "out")]
    main(command)
    assert capsys.readouterr().out.count(": measured") == len(MODELS) + len(BANDITS) == 9
    found = json.loads((tmp_path / "out" / "measured.json").read_text())
    assert set(found[0]) == {*MODELS, *BANDITS}
    assert sum(total for _, total in found[0][BASELINE]["right"]["deixis_test"].values()) == 6
    assert "lex_cohesion_dev" in (tmp_path / "out" / "curve.svg").read_text()
    (tmp_path / "study" / "s1" / f"{CADEC_NAMES[0.75]}.json").unlink()
    main(command)
    assert capsys.readouterr().out.count(": measured") == 1
    with pytest.raises(SystemExit, match="was begun with"):
        main([*command, "--pairs", "160"])
