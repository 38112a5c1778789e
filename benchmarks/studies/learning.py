"""Which systems with a network learn? ``make study-learning`` plays them on a fresh synthetic task."""

from pathlib import Path

from benchmarks.studies.study import Study, carry_out
from benchmarks.studies.table import ComparisonSystems
from learners.systems.registry import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-learning"),
    systems=[name for name in SYSTEMS if not name.startswith(("SMT", "LIMSI"))],
    measured_against=ComparisonSystems("BNMT-static", "BNMT-oracle", "BNMT-control"),
    task_seed=2026,  # nothing was tuned, nor even looked at, on this stream before
    departments=3,  # as many as a network that is trained in minutes can know the words of
)


if __name__ == "__main__":
    carry_out(STUDY)
