"""Which systems with a network learn? ``make study-learning`` plays them on a fresh synthetic task."""

from pathlib import Path

from benchmarks.studies.study import Study, carry_out
from learners.systems import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-learning"),
    systems=[name for name in SYSTEMS if not name.startswith(("SMT", "LIMSI"))],
    static="BNMT-static",
    oracle="BNMT-oracle",
    departments=3,  # as many as a network that is trained in minutes can know the words of
)


if __name__ == "__main__":
    carry_out(STUDY)
