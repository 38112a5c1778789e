"""A run of a study, and what can be told of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lambdas.phases import Layout
from leaderboard.metrics.bleu import corpus_bleu, statistics, total
from learners.journal import Entry
from simulator.competition import Contestant


@dataclass(frozen=True)
class Played:
    """A finished run, beside the references that it never saw."""

    contestant: Contestant
    entries: Sequence[Entry]
    references: Sequence[str]
    layout: Layout

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        return np.array([entry.reward for entry in self.entries])

    def held_out(self, number: int) -> tuple[float, float]:
        """Corpus BLEU and length ratio of a held-out pass."""
        places = [k for k in range(self.layout.total) if self.layout.place(k).held_out_pass == number]
        counts = total(statistics(self.entries[k].translation, self.references[k]) for k in places)
        return corpus_bleu(counts), counts.candidates[0] / counts.reference_length

    def by_novelty(self) -> tuple[float, float]:
        """Mean reward on sources seen for the first time, and on repeats."""
        first: dict[str, int] = {}
        for entry in self.entries:
            first.setdefault(entry.source, entry.index)
        fresh = np.array([first[entry.source] == entry.index for entry in self.entries])
        rewards = self.rewards
        return float(rewards[fresh].mean()), float(rewards[~fresh].mean())
