"""Which neural systems learn? ``make study-learning`` plays them on a fresh synthetic task."""

from pathlib import Path

from benchmarks.studies.study import Study, run_study
from learners.systems import bnmt
from learners.systems.registry import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-learning"),
    systems=["copy-source", "word-for-word", *(name for name in SYSTEMS if name.startswith(("WMT16", "WNMT", "BNMT")))],
    family=bnmt.FAMILY,
    task_seed=2026,  # nothing was tuned on this task
    departments=3,  # a network that is trained in minutes can learn the words of three
)


if __name__ == "__main__":
    run_study(STUDY)
