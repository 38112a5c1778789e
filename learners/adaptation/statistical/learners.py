"""The systems of Bertoldi et al. 2012: SMT-BG, SMT-ADAPTING, SMT-FG-FAIR and SMT-FG-UNFAIR.

A stream is cut into blocks of about a thousand source words. A block is translated with the foreground models of all
blocks before it, and nothing is translated twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from learners.adaptation.post_edits import post_edit_of
from learners.adaptation.statistical.model import Background
from learners.adaptation.statistical.translator import AdaptingTranslator, Models
from learners.contract import PLACEHOLDER, Feedback, Learner, Sentence, StaticSystem, truncate_to_limit
from learners.errors import SnapshotError
from learners.references import PhaseReferences
from learners.settings import FIXED
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class AdaptingConfig:
    """When and with which weights foreground models translate."""

    models: Models = field(default=Models.BOTH, metadata=FIXED)
    block_words: int = 1_000  # source words after which the foreground is estimated again, at the end of a sentence
    foreground_share: float = 1.0  # weights of the foreground's features, as a share of the background's


class BackgroundSmt(StaticSystem):
    """SMT-BG: the background system as it was trained."""

    def __init__(self, background: Background) -> None:
        self._translator = AdaptingTranslator(background, Models.BACKGROUND)

    def propose(self, sentence: Sentence) -> str:
        return _proposal(self._translator, sentence)


def _proposal(translator: AdaptingTranslator, sentence: Sentence) -> str:
    return truncate_to_limit(translator.translate(sentence.source)).strip() or PLACEHOLDER


class AdaptingSmt(Learner):
    """Estimates its foreground models after each block of post-edits."""

    kind = "AdaptingSmt 1"  # of snapshots

    def __init__(self, background: Background, config: AdaptingConfig) -> None:
        self._background = background
        self._config = config
        self._translator = AdaptingTranslator(background, config.models, config.foreground_share)
        self._pairs: list[Pair] = []  # all sources and post-edits
        self._blocks: list[int] = []  # the end of each block in them

    def propose(self, sentence: Sentence) -> str:
        return _proposal(self._translator, sentence)

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        self._pairs.append((sentence.source, post_edit_of(feedback)))
        block = self._pairs[self._begin :]
        if ends_block([source for source, _ in block], self._config.block_words):
            self._end_block(block)

    @property
    def _begin(self) -> int:
        """The beginning of the current block."""
        return self._blocks[-1] if self._blocks else 0

    def _end_block(self, block: list[Pair]) -> None:
        self._translator.foreground.add(block)
        self._blocks.append(len(self._pairs))

    def save(self) -> Snapshot:
        """Return the post-edits: the models are a function of them and of the blocks."""
        return Snapshot(
            values={
                "kind": self.kind,
                "config": to_stored(self._config),
                "pairs": [list(pair) for pair in self._pairs],
                "blocks": list(self._blocks),
            }
        )

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != self.kind:
            raise SnapshotError(f"the snapshot is of {kind}, not of {self.kind}")
        if (theirs := snapshot.values["config"]) != (own := to_stored(self._config)):
            raise SnapshotError(f"the snapshot is of the configuration {theirs}, not of {own}")
        config = self._config
        self._translator = AdaptingTranslator(self._background, config.models, config.foreground_share)
        pairs = [(source, target) for source, target in snapshot.values["pairs"]]
        self._pairs, self._blocks = [], []
        for end in snapshot.values["blocks"]:
            self._pairs = pairs[:end]
            self._end_block(pairs[self._begin : end])
        self._pairs = pairs


class UnfairSmt(AdaptingSmt):
    """SMT-FG-UNFAIR: an oracle whose foreground has seen the block that it translates, as well as all before it."""

    kind = "UnfairSmt 1"

    def __init__(self, background: Background, references: PhaseReferences, config: AdaptingConfig) -> None:
        super().__init__(background, config)
        self._references = references
        self._rounds = 0  # completed
        self._see_next_block()

    def _see_next_block(self) -> None:
        """Add the block that comes next: all rounds until it ends."""
        begin = end = len(self._pairs)
        sources = self._references.sources
        while end < len(sources) and not ends_block(sources[begin:end], self._config.block_words):
            end += 1
        if end > begin:
            block = list(zip(sources[begin:end], self._references.references[begin:end], strict=True))
            self._pairs += block
            self._end_block(block)

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        self._references.reference(self._rounds, sentence.source)  # raises an error if they are of another task
        self._rounds += 1
        if self._rounds == len(self._pairs):
            self._see_next_block()

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.values["rounds"] = self._rounds
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._rounds = snapshot.values["rounds"]


def ends_block(sources: Sequence[str], words: int) -> bool:
    """Return whether these sources are a whole block."""
    return sum(len(source.split()) for source in sources) >= words
