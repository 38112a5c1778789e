"""A finished run of a study: the reward of each round and the quality of each held-out pass.

A study's table follows from these, and they fit into a small file.
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
from task.atomic_files import write_bytes
from task.layout import Layout

FILE_SUFFIX = ".json.gz"
REWARD_DECIMALS = 4  # as many as a table shows; the files are four times smaller for it


@dataclass(frozen=True)
class HeldOutPass:
    """The quality of one held-out pass."""

    bleu: float  # corpus BLEU
    length_ratio: float  # proposed tokens per reference token


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
        """Return the run of a journal; held-out passes are scored with references that the system never saw."""

        def score_pass(number: int) -> HeldOutPass:
            rounds = layout.rounds_of_pass(number)
            counts = sum_statistics(count_ngram_matches(entries[k].translation, references[k]) for k in rounds)
            return HeldOutPass(corpus_bleu(counts), counts.candidates[0] / counts.reference_length)

        rewards = np.array([entry.reward for entry in entries]).round(REWARD_DECIMALS)
        return cls(spec, rewards, [score_pass(number) for number in range(layout.blocks)])

    def means_by_novelty(self, sources: Sequence[str]) -> tuple[float, float]:
        """Return the mean reward on sources that occur for the first time, and on repeated ones."""
        first: dict[str, int] = {}
        for index, source in enumerate(sources):
            first.setdefault(source, index)
        is_new = np.array([first[source] == index for index, source in enumerate(sources)])
        return float(self.rewards[is_new].mean()), float(self.rewards[~is_new].mean())

    def write(self, path: Path) -> None:
        """Write the run to a file; the same run gives the same bytes."""
        values = {
            "contestant": asdict(self.spec),  # the name that files have had from the beginning
            "passes": [asdict(held_out) for held_out in self.passes],
            "rewards": self.rewards.tolist(),
        }
        write_bytes(path, gzip.compress(json.dumps(values).encode(), mtime=0))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote to a file that is named after its run."""
        try:
            values = json.loads(gzip.decompress(path.read_bytes()))
            passes = [HeldOutPass(**held_out) for held_out in values["passes"]]
            run = cls(RunSpec(**values["contestant"]), np.array(values["rewards"], dtype=float), passes)
            if f"{run.spec.label}{FILE_SUFFIX}" != path.name:
                raise ValueError(f"it is {run.spec.label}")
        except (EOFError, OSError, ValueError, LookupError, TypeError, zlib.error) as damage:
            raise SystemExit(
                f"{path} is not a run of a study ({damage}): remove it, and the run is played again"
            ) from None
        return run
