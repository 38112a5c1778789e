"""Do log-linear weights learn from rewards? ``make study-smt`` plays the statistical systems and orders them.

A synthetic task is made unless there is one to be told with ``--task``, such as Debian's (``banditmt corpus debian``);
each task wants a ``--folder`` of its own.
"""

from pathlib import Path

from benchmarks.studies.study import Study, carry_out
from benchmarks.studies.table import ComparisonSystems, means, ordering
from learners.systems.registry import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-smt"),
    systems=["copy-source", *(name for name in SYSTEMS if name.startswith(("SMT", "LIMSI")))],
    measured_against=ComparisonSystems("SMT-static", "SMT-oracle"),
)
# Mean reward over the training phase: cumulative rewards of Table 3, per round.
PUBLISHED = {
    "SMT-oracle": 0.3849,
    "SMT-static": 0.1769,
    "SMT-EL-CV-ADAM": 0.1738,
    "SMT-EL-CV-ADADELTA": 0.1652,
    "SMT-SZO-CV-ADAM": 0.1606,
    "copy-source": 0.0497,
}


if __name__ == "__main__":
    found = means(carry_out(STUDY))
    print(f"\nthe paper: {ordering({name: PUBLISHED[name] for name in PUBLISHED if name in found})}")
    print(f"here: {ordering({name: found[name] for name in found if name in PUBLISHED})}")
