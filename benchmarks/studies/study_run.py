"""A finished run of a study: the reward of each round, the quality of each held-out pass and of blocks of rounds.

A study's tables follow from these, and they fit into a small file.
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

from benchmarks.studies.text_statistics import TextStatistics, block_statistics, last_quarter_blocks
from leaderboard.metrics.online import last_quarter_start
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
class RunPart:
    """Some rounds of a run in a row."""

    rewards: npt.NDArray[np.float64]
    blocks: Sequence[TextStatistics]  # empty if the run was saved before its translations were counted

    @property
    def text(self) -> TextStatistics | None:
        """The statistics of all translations together; None if they are not known."""
        return TextStatistics.total(self.blocks) if self.blocks else None


@dataclass(frozen=True)
class StudyRun:
    """A finished run."""

    spec: RunSpec
    passes: Sequence[HeldOutPass]
    whole: RunPart

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        return self.whole.rewards

    @property
    def last_quarter(self) -> RunPart:
        start = last_quarter_start(len(self.rewards))
        return RunPart(self.rewards[start:], last_quarter_blocks(self.whole.blocks))

    @classmethod
    def from_journal(
        cls, spec: RunSpec, entries: Sequence[JournalEntry], references: Sequence[str], layout: Layout
    ) -> Self:
        """Return the run of a journal; translations are scored with references that the system never saw."""

        def score_pass(number: int) -> HeldOutPass:
            rounds = layout.rounds_of_pass(number)
            text = TextStatistics.count(entries[rounds.start : rounds.stop], references[rounds.start : rounds.stop])
            return HeldOutPass(text.corpus_bleu, text.length_ratio)

        rewards = np.array([entry.reward for entry in entries]).round(REWARD_DECIMALS)
        passes = [score_pass(number) for number in range(layout.blocks)]
        return cls(spec, passes, RunPart(rewards, block_statistics(entries, references)))

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
            # The name that files have had from the beginning. A study plays systems as they are registered.
            "contestant": {"system": self.spec.system, "seed": self.spec.seed, "name": self.spec.name},
            "passes": [asdict(held_out) for held_out in self.passes],
            "rewards": self.rewards.tolist(),
            "blocks": [block.to_numbers() for block in self.whole.blocks],
        }
        write_bytes(path, gzip.compress(json.dumps(values).encode(), mtime=0))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote to a file that is named after its run."""
        try:
            values = json.loads(gzip.decompress(path.read_bytes()))
            passes = [HeldOutPass(**held_out) for held_out in values["passes"]]
            blocks = [TextStatistics.from_numbers(numbers) for numbers in values.get("blocks", [])]
            rewards = np.array(values["rewards"], dtype=float)
            run = cls(RunSpec(**values["contestant"]), passes, RunPart(rewards, blocks))
            if f"{run.spec.label}{FILE_SUFFIX}" != path.name:
                raise ValueError(f"it is {run.spec.label}")
        except (EOFError, OSError, ValueError, LookupError, TypeError, zlib.error) as damage:
            raise SystemExit(
                f"{path} is not a run of a study ({damage}): remove it, and the run is played again"
            ) from None
        return run
