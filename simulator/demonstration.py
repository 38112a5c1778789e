"""What a demonstration shows: which systems are done, and what each learner gained on the model it started from."""

from collections.abc import Sequence
from dataclasses import dataclass

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store
from leaderboard.metrics.bootstrap import Difference
from leaderboard.table import Row, Status


@dataclass(frozen=True)
class Lesson:
    """What a learner gained, and a sentence about it."""

    row: Row
    gain: Difference  # per round, against the system that does not learn

    def __str__(self) -> str:
        change = f"{self.gain.mean:+.4f} per round, 95 % interval {self.gain.low:+.4f} to {self.gain.high:+.4f}"
        if not self.gain.significant:
            return f"{self.row.system} made no difference that so few rounds could show ({change})."
        if self.gain.mean < 0:
            return f"{self.row.system} paid more for trying things out than it won by them ({change})."
        share = "" if self.row.gap_closed is None else f"; {self.row.gap_closed:.0%} of the way to the oracle"
        return f"{self.row.system} learned ({change}{share})."


def finished_rows(store: Store, phase: str, participant: str) -> dict[str, Row]:
    """A participant's systems that have played the whole phase; none when the phase is not there yet."""
    record, scoreboard = Registry(store).phase(phase), Scoreboard(store)
    if record is None:
        return {}
    scoreboard.catch_up(record)
    own = (row for row in scoreboard.board(record).rows if row.participant == participant)
    return {row.system: row for row in own if row.status is Status.FINISHED}


def lessons(store: Store, phase: str, participant: str, static: str, learners: Sequence[str]) -> list[Lesson]:
    """What each learner of a participant gained on a system that does not learn, best first; all must have finished."""
    from leaderboard.metrics.significance import paired_block_bootstrap  # numpy takes a moment to load

    rows = finished_rows(store, phase, participant)
    rewards = {name: [played.true_reward for played in store.rounds(rows[name].run)] for name in (static, *learners)}
    gains = {name: paired_block_bootstrap(rewards[name], rewards[static]) for name in learners}
    return [Lesson(rows[name], gains[name]) for name in sorted(learners, key=lambda name: -gains[name].mean)]
