"""Do log-linear weights learn from rewards? ``make study-smt`` plays the statistical systems and ranks them.

The task is synthetic by default; ``--task`` names another, such as Debian's (``banditmt corpus debian``). Each task
needs its own ``--folder``.
"""

from pathlib import Path

from benchmarks.studies.comparison import mean_rewards, ranking
from benchmarks.studies.study import Study, run_study
from learners.systems import smt
from learners.systems.registry import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-smt"),
    systems=[
        "copy-source",
        *(
            name
            for name, system in SYSTEMS.items()
            if name.startswith(("SMT", "LIMSI")) and not system.needs_post_edits
        ),
    ],
    family=smt.FAMILY,
)
# Mean reward per round of the training phase, from the cumulative rewards in Sokolov et al. 2017, Table 3.
PUBLISHED = {
    "SMT-oracle": 0.3849,
    "SMT-static": 0.1769,
    "SMT-EL-CV-ADAM": 0.1738,
    "SMT-EL-CV-ADADELTA": 0.1652,
    "SMT-SZO-CV-ADAM": 0.1606,
    "copy-source": 0.0497,
}


if __name__ == "__main__":
    found = mean_rewards(run_study(STUDY))
    print(f"\nthe paper: {ranking({name: PUBLISHED[name] for name in PUBLISHED if name in found})}")
    print(f"here: {ranking({name: found[name] for name in found if name in PUBLISHED})}")
