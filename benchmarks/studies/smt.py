"""Do log-linear weights learn from rewards? ``make study-smt`` plays the statistical systems and ranks them.

The task is synthetic by default; ``--task`` names another, such as Debian's (``banditmt corpus debian``). Each task
needs its own ``--folder``.
"""

from pathlib import Path

from benchmarks.studies.comparison import mean_rewards, ranking
from benchmarks.studies.published import MEAN_REWARDS
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


if __name__ == "__main__":
    found = mean_rewards(run_study(STUDY))
    print(f"\nthe paper: {ranking({name: MEAN_REWARDS[name] for name in MEAN_REWARDS if name in found})}")
    print(f"here: {ranking({name: found[name] for name in found if name in MEAN_REWARDS})}")
