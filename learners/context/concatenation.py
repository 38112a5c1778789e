"""The Transformer without context, and CONCAT: one Transformer that reads and writes a whole group of sentences.

CONCAT joins the sentences with a separator on both sides. It translates the context again, and keeps what follows the
last separator (Voita et al. 2019, section 6.1).
"""

from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np

from learners.context.examples import Example
from learners.context.scoring import ContextDecoder
from learners.context.search import Sources
from learners.context.translator import ContextTranslator, split_at_separator
from learners.nmt.batches import pad
from learners.nmt.configs import ModelConfig
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import EOS, SubwordVocabulary
from learners.snapshot import Snapshot


class SentenceTranslator(ContextTranslator):
    """The baseline: a Transformer that sees nothing but the sentence."""

    kind: ClassVar[str] = "sentence"
    max_context: ClassVar[int] = 0

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.config, self.vocabulary = translator.config, cast(SubwordVocabulary, translator.target_vocabulary)
        self.trained, self.parameters = translator.model, translator.parameters
        self._encoded = {}

    @classmethod
    def new(cls, config: ModelConfig, vocabulary: SubwordVocabulary, *, seed: int) -> "SentenceTranslator":
        """Return an untrained one."""
        model = new_model(config, vocabulary.size, vocabulary.size, seed=seed)
        return cls(Translator(config, model, vocabulary, vocabulary))

    @property
    def decoder(self) -> ContextDecoder:
        return cast(ContextDecoder, self.translator.model)

    def encode(self, examples: Sequence[Example], rng: np.random.Generator | None = None) -> Sources:  # noqa: ARG002
        rows = [self.source_ids(example) for example in examples]
        return Sources(self.translator.model.encode(pad(rows, self.device)), [len(row) for row in rows])

    def source_ids(self, example: Example) -> list[int]:
        """Return what the encoder reads."""
        return self.translator.encode_source(example.source)

    def target_ids(self, example: Example) -> tuple[list[int], int]:
        return self.translator.encode_target(example.target), 0

    def snapshot(self) -> Snapshot:
        snapshot = Snapshot(values={"kind": self.kind})
        snapshot.put("model", self.translator.snapshot())
        return snapshot

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> "SentenceTranslator":
        return cls(Translator.from_snapshot(snapshot.part("model")))


class ConcatTranslator(SentenceTranslator):
    """CONCAT: the same Transformer on groups of up to four sentences. Its vocabulary has a separator."""

    kind: ClassVar[str] = "concat"
    max_context: ClassVar[int] = 3

    def source_ids(self, example: Example) -> list[int]:
        context = example.limited(self.max_context).context
        return self._join([*(source for source, _ in context), example.source])

    def target_ids(self, example: Example) -> tuple[list[int], int]:
        context = example.limited(self.max_context).context
        ids = self._join([*(target for _, target in context), example.target])
        return ids, len(ids) - len(self._ids(example.target))

    def current_ids(self, ids: list[int]) -> list[int]:
        return split_at_separator(ids, self.vocabulary.separator)

    def cost(self, example: Example) -> int:
        """Return the length of the longer side: both hold the whole group."""
        context = example.limited(self.max_context).context
        sides = zip(*context, (example.source, example.target), strict=True)
        return max(sum(len(text.split()) + 1 for text in side) for side in sides)

    def _join(self, sentences: Sequence[str]) -> list[int]:
        """Return the tokens of sentences with separators between them, the end symbol last."""
        ids: list[int] = []
        for sentence in sentences:
            ids += [*self._ids(sentence)[:-1], self.vocabulary.separator]
        return [*ids[:-1], EOS]
