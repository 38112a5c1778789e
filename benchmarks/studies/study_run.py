"""A run of a study: what each round earned and how the held-out passes went, which is all that its table is made of.

It fits into a small file.
"""

import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from leaderboard.metrics.bleu import corpus_bleu, count_ngram_matches, sum_statistics
from learners.journal import JournalEntry
from simulator.competition import RunSpec
from task.layout import Layout

SUFFIX = ".json.gz"  # of the file of a run
DECIMALS = 4  # of rewards: a table has no more, and a file of a run becomes four times smaller


@dataclass(frozen=True)
class HeldOutPass:
    """How a held-out pass went."""

    bleu: float  # of the corpus
    length_ratio: float


@dataclass(frozen=True)
class StudyRun:
    """A finished run."""

    spec: RunSpec
    rewards: npt.NDArray[np.float64]
    passes: Sequence[HeldOutPass]

    @classmethod
    def from_journal(
        cls, spec: RunSpec, entries: Sequence[JournalEntry], references: Sequence[str], layout: Layout
    ) -> Self:
        """What was proposed, beside the references that the system never saw."""

        def held_out(number: int) -> HeldOutPass:
            rounds = layout.rounds_of_pass(number)
            counts = sum_statistics(count_ngram_matches(entries[k].translation, references[k]) for k in rounds)
            return HeldOutPass(corpus_bleu(counts), counts.candidates[0] / counts.reference_length)

        rewards = np.array([entry.reward for entry in entries]).round(DECIMALS)
        return cls(spec, rewards, [held_out(number) for number in range(layout.blocks)])

    def by_novelty(self, sources: Sequence[str]) -> tuple[float, float]:
        """Mean reward on sources seen for the first time, and on repeats."""
        first: dict[str, int] = {}
        for place, source in enumerate(sources):
            first.setdefault(source, place)
        fresh = np.array([first[source] == place for place, source in enumerate(sources)])
        return float(self.rewards[fresh].mean()), float(self.rewards[~fresh].mean())

    def write(self, path: Path) -> None:
        """Into a file; the same run makes the same file."""
        values = {
            "contestant": asdict(self.spec),
            "passes": [asdict(each) for each in self.passes],
            "rewards": self.rewards.tolist(),
        }
        path.write_bytes(gzip.compress(json.dumps(values).encode(), mtime=0))

    @classmethod
    def read(cls, path: Path) -> Self:
        """What ``write`` wrote, under the name of its run."""
        try:
            values = json.loads(gzip.decompress(path.read_bytes()))
            passes = [HeldOutPass(**each) for each in values["passes"]]
            run = cls(RunSpec(**values["contestant"]), np.array(values["rewards"], dtype=float), passes)
            if f"{run.spec.label}{SUFFIX}" != path.name:
                raise ValueError(f"it is {run.spec.label}")
        except (EOFError, OSError, ValueError, LookupError, TypeError, zlib.error) as damage:
            raise SystemExit(f"{path} is no run of a study ({damage}): remove it, and it is played again") from None
        return run
