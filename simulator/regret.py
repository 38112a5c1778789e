"""How far behind its oracle a run is while it is played, where the oracle has played before."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from lambdas.registry import PhaseRecord, Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store
from leaderboard.families import Families, RoleKind
from leaderboard.metrics.online import cumulative_rewards
from leaderboard.summaries import RunIdentity, Summary


@dataclass(frozen=True)
class BaselineRun:
    """What an oracle had earned after each of its rounds."""

    earned: Sequence[float]

    def regret(self, rounds: int, reward: float) -> float | None:
        """Of a run that has earned so much, per round; unknown before the first round, and where no oracle has been."""
        return (self.earned[rounds - 1] - reward) / rounds if 0 < rounds <= len(self.earned) else None


def baseline_runs(store: Store, phase: str, participant: str, systems: Sequence[str]) -> dict[str, BaselineRun]:
    """Of each system that has an oracle, the one by which the leaderboard measures it.

    There are none where feedback is perturbed: what players are told cannot be compared with the accounts.
    """
    record = Registry(store).phase(phase)
    if record is None or record.feedback.has_noise:
        return {}
    families, total = _families(store, record), record.phase.layout.total
    newcomers = {name: Summary.begin(RunIdentity("", participant, phase, name, 1, 0), total) for name in systems}
    chosen = {name: oracle.identity.run for name, new in newcomers.items() if (oracle := families.oracle(new))}
    read = {run: BaselineRun(_earned(store, run)) for run in set(chosen.values())}
    return {name: read[run] for name, run in chosen.items()}


def _families(store: Store, record: PhaseRecord) -> Families:
    """The families of a phase; of the ledger no more is read than the rounds of oracles that are new."""
    registry, scoreboard = Registry(store), Scoreboard(store)
    roles = registry.roles()
    oracles = {(role.participant, role.system) for role in roles if role.kind is RoleKind.ORACLE}
    for run in registry.runs(record.phase.name):
        if (run.participant, run.system) in oracles:
            scoreboard.catch_up_run(record, run)
    return Families(scoreboard.summaries(record), roles, record.phase.layout.total)


def _earned(store: Store, run: str) -> Sequence[float]:
    return array("d", cumulative_rewards(result.true_reward for result in store.results(run)))
