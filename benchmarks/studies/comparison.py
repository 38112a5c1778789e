"""The comparisons of a study: each run with the static system, its own control, the oracles and full information."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.studies.study_run import RunPart, StudyRun
from benchmarks.studies.text_statistics import corpus_bleu_difference
from leaderboard.last_quarter import MARK
from leaderboard.metrics.bootstrap import Difference
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.systems.registry import find_system
from learners.systems.system import Family


class Comparison:
    """The runs of a study, and what each is compared with: the systems of a family, and its own control.

    The family has a static system, and the runs have one of it.
    """

    def __init__(self, runs: Sequence[StudyRun], family: Family) -> None:
        assert family.static, "there is no study without a static system"
        self.runs, self.family = runs, family
        self._by_system: dict[str, list[StudyRun]] = {}
        for run in runs:
            self._by_system.setdefault(run.spec.system, []).append(run)
        self.static = self._by_system[family.static][0]
        self._gaps: dict[str, float | None] = {}

    def of_system(self, system: str) -> list[StudyRun]:
        """Return the runs of a system, one for each seed."""
        return self._by_system.get(system, [])

    def control(self, run: StudyRun) -> StudyRun | None:
        """Return the control of a learner: the same search, without learning, if possible with the same seed."""
        name = find_system(run.spec.system).control
        found = self.of_system(name) if name else []
        return next((one for one in found if one.spec.seed == run.spec.seed), found[0] if found else None)

    def gain(self, run: StudyRun, other: StudyRun | None) -> Difference | None:
        """Return the difference in reward to another run; None without another run."""
        return None if other is None or other is run else paired_block_bootstrap(run.rewards, other.rewards)

    def share(self, run: StudyRun, yardstick: str | None) -> float | None:
        """Return the gain of a run over the static system as a share of a yardstick's gain.

        None if the yardstick did not play, or does not earn significantly more than the static system.
        """
        if yardstick is None:
            return None
        if yardstick not in self._gaps:
            self._gaps[yardstick] = self._gap(yardstick)
        gap = self._gaps[yardstick]
        return None if gap is None else float(run.rewards.mean() - self.static.rewards.mean()) / gap

    def _gap(self, yardstick: str) -> float | None:
        runs = self.of_system(yardstick)
        if not runs:
            return None
        rewards = np.mean([run.rewards for run in runs], axis=0)
        difference = paired_block_bootstrap(rewards, self.static.rewards)
        return difference.mean if difference.low > 0 else None

    def compared_with(self, run: StudyRun) -> list[StudyRun]:
        """Return the runs that a run should surpass: its control, if it has one, and the static system."""
        others = {other.spec: other for other in (self.control(run), self.static) if other is not None}
        return [other for spec, other in others.items() if spec != run.spec]

    def late_bleu_gain(self, run: StudyRun) -> Difference | None:
        """Return the difference in corpus BLEU to the control, or else to the static system, in the last quarter."""
        others = self.compared_with(run)
        return corpus_bleu_difference(run.last_quarter.blocks, others[0].last_quarter.blocks) if others else None

    def marks(self, run: StudyRun) -> list[str]:
        """Return in words against which runs, and when, a run earned more with significantly lower corpus BLEU."""
        marks = []
        for other in self.compared_with(run):
            if _earns_more_with_lower_bleu(run.whole, other.whole):
                marks.append(f"{MARK} against {other.spec.system}")
            elif _earns_more_with_lower_bleu(run.last_quarter, other.last_quarter):
                marks.append(f"{MARK} against {other.spec.system} in the last quarter")
        return marks


def _earns_more_with_lower_bleu(run: RunPart, other: RunPart) -> bool:
    bleu = corpus_bleu_difference(run.blocks, other.blocks)
    return bleu is not None and bleu.high < 0 and float(run.rewards.mean()) > float(other.rewards.mean())


def mean_rewards(runs: Sequence[StudyRun]) -> dict[str, float]:
    """Return the mean reward of each system over its seeds."""
    rewards: dict[str, list[float]] = {}
    for run in runs:
        rewards.setdefault(run.spec.system, []).append(float(run.rewards.mean()))
    return {system: float(np.mean(each)) for system, each in rewards.items()}


def ranking(rewards: Mapping[str, float]) -> str:
    """Return the systems with their rewards, from best to worst."""
    ordered = sorted(rewards.items(), key=lambda item: -item[1])
    return " > ".join(f"{system} {reward:.4f}" for system, reward in ordered)
