"""The regret of a run while it is played: how far it is behind an oracle that has played before."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lambdas.phase_record import PhaseRecord
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store, open_store
from leaderboard.families import Families, RoleKind, Roles
from leaderboard.metrics.online import cumulative_rewards
from leaderboard.summaries import RunIdentity, Summary

if TYPE_CHECKING:
    from simulator.competition import Competition


@dataclass(frozen=True)
class BaselineRun:
    """The run of an oracle: its cumulative reward after each round."""

    cumulative_rewards: Sequence[float]

    def regret(self, rounds: int, reward: float) -> float | None:
        """Return the regret per round of a run with this cumulative reward.

        None before the first round, and for more rounds than the oracle has played.
        """
        if not 0 < rounds <= len(self.cumulative_rewards):
            return None
        return (self.cumulative_rewards[rounds - 1] - reward) / rounds


def local_baseline_runs(competition: "Competition", systems: Sequence[str]) -> dict[str, BaselineRun]:
    """Return the baseline runs of a competition on a local store.

    There are none for other stores and services: reading a ledger in the cloud costs money.
    """
    if competition.address or not competition.store.startswith("sqlite:"):
        return {}
    store = open_store(competition.store)
    try:
        return baseline_runs(store, competition.phase, competition.participant, systems)
    finally:
        store.close()


def baseline_runs(store: Store, phase: str, participant: str, systems: Sequence[str]) -> dict[str, BaselineRun]:
    """Return, for each system that has an oracle, the run of the oracle that the leaderboard compares it with.

    There are none where feedback is noisy: observed rewards cannot be compared with the oracle's true rewards.
    """
    record = Registry(store).phase(phase)
    if record is None or record.feedback.has_noise:
        return {}
    families, total = _families(store, record), record.phase.layout.total
    newcomers = {name: Summary.begin(RunIdentity("", participant, phase, name, 1, 0), total) for name in systems}
    chosen = {name: oracle.identity.run for name, new in newcomers.items() if (oracle := families.oracle(new))}
    runs = {run: BaselineRun(_cumulative_rewards(store, run)) for run in set(chosen.values())}
    return {name: runs[run] for name, run in chosen.items()}


def _families(store: Store, record: PhaseRecord) -> Families:
    """Return the families of a phase, reading no more of the ledger than the new rounds of oracles."""
    registry, scoreboard = Registry(store), Scoreboard(store)
    stored = registry.roles()
    roles = Roles(stored)
    for run in registry.runs(record.phase.name):
        if roles.of(run.participant, run.system).kind is RoleKind.ORACLE:
            scoreboard.catch_up_run(record, run)
    return Families(scoreboard.summaries(record), stored, record.phase.layout.total)


def _cumulative_rewards(store: Store, run: str) -> Sequence[float]:
    return array("d", cumulative_rewards(result.true_reward for result in store.results(run)))
