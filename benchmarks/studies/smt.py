"""Do log-linear weights learn from rewards? ``make study-smt`` plays the statistical systems and orders them.

A synthetic task is made unless there is one to be told with ``--task``, such as Debian's (``banditmt corpus debian``);
each task wants a ``--folder`` of its own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.studies.played import Played
from benchmarks.studies.study import Study, carry_out
from learners.systems import SYSTEMS

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-smt"),
    systems=["copy-source", *(name for name in SYSTEMS if name.startswith(("SMT", "LIMSI")))],
    static="SMT-static",
    oracle="SMT-oracle",
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


def means(runs: Sequence[Played]) -> dict[str, float]:
    """The mean reward of each system over its seeds."""
    rewards: dict[str, list[float]] = {}
    for run in runs:
        rewards.setdefault(run.contestant.system, []).append(float(run.rewards.mean()))
    return {system: float(np.mean(each)) for system, each in rewards.items()}


def ordering(rewards: Mapping[str, float]) -> str:
    """Systems from best to worst."""
    ranked = sorted(rewards.items(), key=lambda item: -item[1])
    return " > ".join(f"{system} {reward:.4f}" for system, reward in ranked)


if __name__ == "__main__":
    found = means(carry_out(STUDY))
    print(f"\nthe paper: {ordering({name: PUBLISHED[name] for name in PUBLISHED if name in found})}")
    print(f"here: {ordering({name: found[name] for name in found if name in PUBLISHED})}")
    print(f"all here: {ordering(found)}")
