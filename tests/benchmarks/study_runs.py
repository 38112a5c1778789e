"""Runs of a study, made by hand."""

from benchmarks.studies.comparison import Comparison
from benchmarks.studies.study_run import StudyRun
from learners.journal import JournalEntry
from learners.systems.bnmt import FAMILY
from simulator.competition import RunSpec
from task.layout import Layout

LAYOUT = Layout(blocks=2, block=2, gap=8)  # HHFFFFFFFFHH
SOURCES = list("abcaadefghab")
REFERENCES = ["w x y z v"] * 12
RIGHT, NEARLY_RIGHT, TWICE_AS_LONG = "w x y z v", "w x y z u", "w x y z v w x y z v"


def study_run(system, rewards, translations, *, seed=1, references=REFERENCES, layout=LAYOUT, sources=SOURCES):
    rows = zip(sources, translations, rewards, strict=True)
    entries = [
        JournalEntry(index, source, translation, reward) for index, (source, translation, reward) in enumerate(rows)
    ]
    return StudyRun.from_journal(RunSpec(system, seed), entries, references, layout)


STATIC = study_run("BNMT-static", [0.2] * 12, [NEARLY_RIGHT] * 12)
ORACLE = study_run("BNMT-oracle", [0.8] * 12, [RIGHT] * 12)
REWARDS = [0.2] * 3 + [0.5] * 2 + [0.2] * 5 + [0.5] * 2  # more for what it has seen before
LEARNER = study_run("BNMT-EL", REWARDS, [NEARLY_RIGHT] * 10 + [TWICE_AS_LONG] * 2)


def compare(*runs):
    return Comparison(runs, FAMILY)
