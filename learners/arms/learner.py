"""ARMS: in each round, one of several systems is chosen, translates, and learns.

A member sees only the rounds in which it is played: it proposes, receives the feedback and learns as if there were no
other rounds. The choice learns from the reward of every round.
"""

from collections.abc import Mapping

import numpy as np

from learners.arms.choosers import Chooser
from learners.contract import Feedback, Learner, Proposal, Sentence, as_proposal, check_reward
from learners.errors import SnapshotError
from learners.snapshot import Snapshot

SNAPSHOT_KIND = "ARMS 1"


class ArmsLearner(Learner):
    """Plays one of its members in each round, and learns which of them earns most."""

    def __init__(self, members: Mapping[str, Learner], chooser: Chooser, *, seed: int) -> None:
        self._members = dict(members)
        self._names = list(members)
        self._chooser = chooser
        self._rng = np.random.default_rng(seed)
        self._plays = dict.fromkeys(members, 0)
        self._arm = 0

    @property
    def plays(self) -> Mapping[str, int]:
        """The number of rounds in which each member was played."""
        return self._plays

    def propose(self, sentence: Sentence) -> str | Proposal:
        self._arm = self._chooser.choose(sentence.source, self._rng)
        proposed = self._members[self._names[self._arm]].propose(sentence)
        # Where the choice is random, its probability is not known, and neither is that of the translation.
        return as_proposal(proposed).translation if self._chooser.is_random else proposed

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        name = self._names[self._arm]
        self._chooser.observe(self._arm, sentence.source, check_reward(feedback.reward))
        self._members[name].update(sentence, translation, feedback)
        self._plays[name] += 1

    def measurements(self) -> dict[str, float]:
        """Return the share of rounds in which each member was played, and what the members measure."""
        rounds = max(1, sum(self._plays.values()))
        found = {f"share.{name}": plays / rounds for name, plays in self._plays.items()}
        for name, member in self._members.items():
            found |= {f"{name}.{key}": value for key, value in member.measurements().items()}
        return found

    def save(self) -> Snapshot:
        state = {"kind": SNAPSHOT_KIND, "plays": dict(self._plays), "rng": self._rng.bit_generator.state}
        snapshot = Snapshot(values=state)
        snapshot.put("chooser", self._chooser.save())
        for name, member in self._members.items():
            snapshot.put(f"member {name}", member.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        kind, plays = snapshot.values.get("kind"), snapshot.values.get("plays")
        if kind != SNAPSHOT_KIND or plays is None or list(plays) != self._names:
            raise SnapshotError(f"the snapshot is not one of {SNAPSHOT_KIND} with {', '.join(self._names)}")
        self._plays = dict(plays)
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._chooser.load(snapshot.part("chooser"))
        for name, member in self._members.items():
            member.load(snapshot.part(f"member {name}"))
