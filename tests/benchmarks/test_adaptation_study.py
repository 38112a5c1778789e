"""The study of adaptation: what is held out for reliability, its tables and verdicts, and that it resumes."""

import json
from dataclasses import replace

import pytest

from benchmarks.studies import adaptation
from benchmarks.studies.adaptation_findings import FINDINGS, verdict
from benchmarks.studies.adaptation_results import (
    BIAS,
    FULL,
    LASSO,
    NONE,
    HeldOutTexts,
    SeedTexts,
    measure,
    measure_held_out,
)
from benchmarks.studies.adaptation_runs import (
    NETWORKS,
    STATISTICAL,
    StudySystem,
    parts_of,
    shuffled,
    translate_held_out,
)
from benchmarks.studies.adaptation_tables import PUBLISHED, PUBLISHED_SLOPES, StreamResults, report
from benchmarks.studies.outputs import Outputs
from learners.contract import Feedback, Learner, Sentence

REFERENCES = [f"the word{number} and the word{number // 2}" for number in range(240)]
WRONG = ["wrong"] * len(REFERENCES)
ROUNDS = [(f"s{number}", f"t{number}") for number in range(18)]


class LastSeen(Learner):
    """Proposes the last post-edit that it has seen: it forgets everything before."""

    def __init__(self):
        self.last = "nothing"

    def propose(self, sentence: Sentence) -> str:
        return f"{self.last} for {sentence.source}"

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        self.last = feedback.post_edit or ""


def held_out(texts):
    return [texts[place] for _, places in parts_of(len(texts)) for place in places]


def texts(perfect):
    """Return outputs that are the references for some systems, and wrong for the others."""
    before, after = held_out(WRONG), held_out(REFERENCES)
    return SeedTexts(
        references=REFERENCES,
        shuffled_references=REFERENCES,
        networks={one.name: REFERENCES if one.name in perfect else WRONG for one in NETWORKS.systems},
        statistical={one.name: REFERENCES if one.name in perfect else WRONG for one in STATISTICAL.systems},
        reliability={"SMT-ADAPTING": HeldOutTexts({"baseline": before, "adapted": after, "final": after}, REFERENCES)},
        subwords=str.upper,
    )


@pytest.fixture(scope="module")
def perfect_full():
    return measure(texts({"ADAPT-full", "SMT-ADAPTING"}), "en", {"word1"})


def test_the_tables_have_a_row_for_each_system_beside_the_papers_numbers(perfect_full):
    tables = report({"toy": StreamResults("a toy", [perfect_full, perfect_full])}, "tiny")
    assert tables.startswith("Size of this study: tiny.")
    rows = [line.split(" | ") for line in tables.splitlines() if line.startswith("| ADAPT-full |")]
    words, novel, subwords = rows
    assert words[1].startswith("100.0 (+100.0; ")
    assert words[3].startswith("0.0 (-100.0; ")  # TER
    assert words[-1] == "47.0 / 55.9 / 44.0 / 35.8 / 55.0 / 41.6 |"
    assert novel[-1] == "26.1 / 63.0 / 33.8 |"
    assert subwords[-1] == "40.4 / 54.6 / 45.4 |"
    assert "| SMT-ADAPTING | 0.0 | 100.0 | 100.0 | +100.0; +100.0 to +100.0 | +0.0; +0.0 to +0.0 | 0.0 of 6 |" in tables
    for name in (*PUBLISHED, *PUBLISHED_SLOPES):
        assert f"| {name} |" in tables


def test_verdicts_say_for_how_many_base_models_a_finding_holds(perfect_full):
    nothing = measure(texts(set()), "en", set())
    raises = FINDINGS["full raises R1"]
    assert verdict(raises, [perfect_full, perfect_full]) == "holds (2 of 2)"
    assert verdict(raises, [perfect_full, nothing]) == "mixed (1 of 2)"
    assert verdict(raises, [nothing]) == "does not hold (0 of 1)"
    assert verdict(FINDINGS["full lowers R0"], [perfect_full]) == "does not hold (0 of 1)"
    assert verdict(FINDINGS["lasso does not lose R0"], [perfect_full]) == "holds (1 of 1)"
    assert verdict(FINDINGS["the slope of SMT-BG is within 2 points of 100"], [nothing]) == "too short to say"


def test_a_study_too_short_for_intervals_says_so(perfect_full):
    short = replace(perfect_full, slopes={model: {} for model in perfect_full.slopes})
    assert verdict(FINDINGS["the slope of SMT-ADAPTING is below 100"], [short]) == "too short to say"


def test_the_last_third_of_each_part_is_held_out():
    assert held_out([str(number) for number in range(20)]) == ["2", "5", "9", "12", "15", "19"]  # parts of 3 and 4


def test_held_out_parts_are_translated_before_with_and_after_all_adaptation():
    found = translate_held_out(LastSeen, ROUNDS)
    places = (2, 5, 8, 11, 14, 17)
    assert found["baseline"] == [f"nothing for s{place}" for place in places]
    assert found["adapted"] == [f"t{place - 1} for s{place}" for place in places]
    assert found["final"] == [f"t16 for s{place}" for place in places]


def test_a_system_that_forgets_all_but_the_last_part_drifts():
    """Early parts are right after adapting to them, and wrong in the end."""
    right, parts = held_out(REFERENCES), parts_of(len(REFERENCES))
    last = len(parts[-1][1])
    final = ["wrong"] * (len(right) - last) + right[-last:]
    outputs = {"baseline": ["wrong"] * len(right), "adapted": right, "final": final}
    found = measure_held_out(HeldOutTexts(outputs, REFERENCES))
    assert found.parts.forgotten == ("part 1", "part 2", "part 3", "part 4", "part 5")
    assert found.drift
    assert found.gain
    assert found.drift.high < 0 < found.gain.low


def test_shuffled_rounds_are_the_same_rounds():
    assert sorted(shuffled(ROUNDS)) == sorted(ROUNDS)
    assert shuffled(ROUNDS) == shuffled(ROUNDS) != ROUNDS


def test_other_settings_are_part_of_a_name():
    assert StudySystem("ADAPT-full", (("learning_rate", "0.03"),)).name == "ADAPT-full+learning_rate-0.03"
    assert len({one.name for one in NETWORKS.systems}) == len(NETWORKS.systems)


def test_outputs_are_made_once(tmp_path):
    outputs = Outputs(tmp_path)
    assert outputs.get("a/b", lambda: ["one"]) == ["one"]
    assert outputs.get("a/b", lambda: pytest.fail("played again")) == ["one"]
    assert list(outputs.seconds()) == ["a/b"]


TINY = [
    "--rounds=18",
    "--smt-rounds=24",
    "--training-pairs=150",
    "--steps=4",
    "--size=tiny",
    "--seeds=1",
    "--processes=1",
]


def test_the_study_plays_its_tasks_and_resumes(tmp_path, capsys, monkeypatch):
    few = [StudySystem(name) for name in (NONE, BIAS, FULL, LASSO)]
    halves = {"networks": replace(NETWORKS, systems=few, reliability=()), "statistical": STATISTICAL}
    monkeypatch.setattr(adaptation, "HALVES", halves)
    given = [*TINY, "--folder", str(tmp_path / "study"), "--out", str(tmp_path / "out")]
    adaptation.main(given)
    whole = capsys.readouterr().out
    assert "shop, networks, seed 1: done; 1 of 2, about " in whole
    kept = sorted(path for path in (tmp_path / "study").rglob("*.json") if "s1" in path.parts)
    assert len(kept) == 2 + 4 + 4 + 1  # trainings, networks, SMT systems, reliability
    kept[0].unlink()
    kept[-1].unlink()
    monkeypatch.setattr(adaptation, "train_missing", lambda *_, **__: None)  # the models are still there
    adaptation.main(given)
    tables = (tmp_path / "out" / "table.md").read_text()
    assert tables.partition("CPU minutes")[0] in whole
    assert (tmp_path / "out" / "shop-reliability.svg").exists()
    assert json.loads((tmp_path / "study" / "options.json").read_text())["rounds"] == 18
    longer = [*TINY, "--rounds=25", "--folder", str(tmp_path / "longer"), "--tasks", str(tmp_path / "study/shop/task")]
    with pytest.raises(SystemExit, match="task has only 24 rounds: give fewer --rounds"):
        adaptation.main(longer)


def test_a_folder_of_another_scale_is_refused(tmp_path):
    (tmp_path / "options.json").write_text(json.dumps({"rounds": 7}))
    with pytest.raises(SystemExit, match="was begun with"):
        adaptation.main([*TINY, "--folder", str(tmp_path)])


def test_two_tasks_of_one_name_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="told apart by the names of their folders"):
        adaptation.main([*TINY, "--folder", str(tmp_path), "--tasks", str(tmp_path / "a" / "x"), str(tmp_path / "x")])
