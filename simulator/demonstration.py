"""The results of a demonstration: which systems have finished, and what each learner gained over its seed model."""

from collections.abc import Sequence
from dataclasses import dataclass

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store
from leaderboard.metrics.bootstrap import Difference
from leaderboard.rows import Row, RowStatus


@dataclass(frozen=True)
class LearnerGain:
    """What a learner gained per round over a system that does not learn; as a string, a sentence about it."""

    row: Row
    gain: Difference

    def __str__(self) -> str:
        change = f"{self.gain.mean:+z.4f} per round, 95 % interval {self.gain.low:+z.4f} to {self.gain.high:+z.4f}"
        if not self.gain.significant:
            return f"{self.row.system} made no difference that can be measured in so few rounds ({change})."
        if self.gain.mean < 0:
            return f"{self.row.system} lost: exploration cost more reward than learning gained ({change})."
        share = "" if self.row.gap_closed is None else f"; {100 * self.row.gap_closed:.1f} % of the gap to the oracle"
        return f"{self.row.system} learned ({change}{share})."


def finished_rows(store: Store, phase: str, participant: str) -> dict[str, Row]:
    """Return the leaderboard rows of a participant's finished runs by system; none if the phase is not loaded yet."""
    record, scoreboard = Registry(store).phase(phase), Scoreboard(store)
    if record is None:
        return {}
    scoreboard.catch_up(record)
    own = (row for row in scoreboard.board(record).rows if row.participant == participant)
    return {row.system: row for row in own if row.status is RowStatus.FINISHED}


def learner_gains(
    store: Store, phase: str, participant: str, static: str, learners: Sequence[str]
) -> list[LearnerGain]:
    """Return what each of a participant's learners gained over a static system, largest gain first.

    The static system and all learners must have finished the phase.
    """
    from leaderboard.metrics.significance import paired_block_bootstrap  # numpy takes a moment to load

    rows = finished_rows(store, phase, participant)
    rewards = {name: [played.true_reward for played in store.rounds(rows[name].run)] for name in (static, *learners)}
    gains = {name: paired_block_bootstrap(rewards[name], rewards[static]) for name in learners}
    return [LearnerGain(rows[name], gains[name]) for name in sorted(learners, key=lambda name: -gains[name].mean)]
