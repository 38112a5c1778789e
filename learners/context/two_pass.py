"""The two-pass translator: a draft from a frozen model without context, corrected by CADec in context.

While it is trained, the translations of the context are references. The draft is a corrupted reference with probability
p, else a sample of the base model: drafts that are always samples teach CADec to distrust them, drafts that are always
references teach it to copy (Voita et al. 2019, sections 5.1 and 6.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from learners.context.cadec import CadecDecoder, Memory, with_distances
from learners.context.concatenation import SentenceTranslator
from learners.context.examples import Example
from learners.context.search import Sources, beam_search_batch, sample_batch
from learners.context.translator import BEAM, ContextTranslator
from learners.errors import SnapshotError
from learners.nmt.batches import pad, shift_right
from learners.nmt.model import token_mask
from learners.nmt.vocabulary import EOS, SPECIALS
from learners.snapshot import Snapshot
from learners.stored_names import from_stored, to_stored

DRAFT_CACHE = 65_536  # drafts of the base model, which never change


@dataclass(frozen=True, kw_only=True)
class DraftConfig:
    """How drafts are made in training."""

    corruption_probability: float = 0.5  # p: the share of drafts that are corrupted references, not samples
    corruption: float = 0.2  # the share of tokens that a corrupted reference has at random
    temperature: float = 0.5  # of samples; the paper's code, not the paper, says which
    sample_corruption: float = 0.1  # the share of random tokens in samples, as in the paper's code


def corrupt(ids: list[int], share: float, vocabulary_size: int, rng: np.random.Generator) -> list[int]:
    """Replace each token with this probability by a random one, but never the first and the last."""
    replaced = rng.random(len(ids)) < share
    random_ids = rng.integers(len(SPECIALS), vocabulary_size, len(ids))
    return [
        int(random_ids[place]) if replaced[place] and 0 < place < len(ids) - 1 else token
        for place, token in enumerate(ids)
    ]


class TwoPassTranslator(ContextTranslator):
    """CADec with its base model."""

    kind: ClassVar[str] = "cadec"

    def __init__(self, base: SentenceTranslator, decoder: CadecDecoder, drafts: DraftConfig | None = None) -> None:
        super().__init__(base.config, base.vocabulary, decoder.to(base.device))
        self.base = base
        self.drafts = drafts or DraftConfig()
        self._decoder = decoder
        self._drafts: dict[str, list[int]] = {}

    @classmethod
    def new(cls, base: SentenceTranslator, drafts: DraftConfig, *, seed: int) -> "TwoPassTranslator":
        """Return an untrained CADec on a trained base model."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            decoder = CadecDecoder(base.config, base.translator.model.target_embedding.weight)
        return cls(base, decoder, drafts)

    @property
    def decoder(self) -> CadecDecoder:
        return self._decoder

    def encode(self, examples: Sequence[Example], rng: np.random.Generator | None = None) -> Sources:
        drafts = self._beam_drafts(examples) if rng is None else self._training_drafts(examples, rng)
        with torch.no_grad():
            sources, targets, lengths = self.memories(examples, drafts)
        return Sources(self._decoder.attend_to(sources, targets), lengths)

    def memories(self, examples: Sequence[Example], drafts: Sequence[list[int]]) -> tuple[Memory, Memory, list[int]]:
        """Return the base model's states of all sources and of all translations, and the lengths of the sources."""
        rows: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}  # each pair of sentences once
        places: list[tuple[int, int, int]] = []  # example, distance and row
        for number, (example, draft) in enumerate(zip(examples, drafts, strict=True)):
            context = example.limited(self.max_context).context[::-1]
            sentences = [(self._ids(example.source), draft)]
            sentences += [(self._ids(source), self._ids(target)) for source, target in context]
            for distance, (source_ids, target_ids) in enumerate(sentences):
                row = rows.setdefault((tuple(source_ids), tuple(target_ids)), len(rows))
                places.append((number, distance, row))
        model = self.base.translator.model
        sources = pad([source for source, _ in rows], self.device)
        targets = pad([target for _, target in rows], self.device)
        encoded = model.encode(sources)
        decoded = model.hidden_states(encoded, shift_right(targets))
        translations = torch.cat([model.target_embedding(targets), decoded], -1)
        return (
            with_distances(*_by_example(encoded.states, token_mask(sources), places)),
            with_distances(*_by_example(translations, token_mask(targets), places)),
            [len(self._ids(example.source)) for example in examples],
        )

    def learns_from(self, example: Example) -> bool:
        return bool(example.context)

    def translate(self, examples: Sequence[Example], *, beam: int = BEAM) -> list[str]:
        """Translate in two passes; without context, the draft is the translation."""
        in_context = [example for example in examples if example.context]
        alone = [example for example in examples if not example.context]
        second = iter(super().translate(in_context, beam=beam))
        first = iter(self.base.translate(alone, beam=beam))
        return [next(second if example.context else first) for example in examples]

    def sentence_losses(self, examples: Sequence[Example]) -> list[float]:
        """Return the losses of the second pass; without context, those of the first."""
        second = iter(super().sentence_losses([example for example in examples if example.context]))
        first = iter(self.base.sentence_losses([example for example in examples if not example.context]))
        return [next(second if example.context else first) for example in examples]

    def _beam_drafts(self, examples: Sequence[Example]) -> list[list[int]]:
        """Return the base model's translations by beam search."""
        missing = sorted({example.source for example in examples} - self._drafts.keys())
        if missing:
            if len(self._drafts) + len(missing) > DRAFT_CACHE:
                self._drafts.clear()
                missing = sorted({example.source for example in examples})
            encoded = self.base.encode([Example(source) for source in missing])
            found = beam_search_batch(self.base.decoder, encoded, BEAM)
            self._drafts |= {source: _ended(ids) for source, ids in zip(missing, found, strict=True)}
        return [self._drafts[example.source] for example in examples]

    def _training_drafts(self, examples: Sequence[Example], rng: np.random.Generator) -> list[list[int]]:
        """Return corrupted references and samples, each example's choice independent of the others."""
        config, size = self.drafts, self.vocabulary.size
        from_reference = rng.random(len(examples)) < config.corruption_probability
        generator = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
        sampled = [example for example, corrupted in zip(examples, from_reference, strict=True) if not corrupted]
        samples = iter(
            sample_batch(self.base.decoder, self.base.encode(sampled), config.temperature, generator) if sampled else []
        )
        return [
            corrupt(self._ids(example.target), config.corruption, size, rng)
            if corrupted
            else corrupt(next(samples)[: self.config.max_target], config.sample_corruption, size, rng)
            for example, corrupted in zip(examples, from_reference, strict=True)
        ]

    def snapshot(self) -> Snapshot:
        values: dict[str, Any] = {"kind": self.kind, "drafts": to_stored(self.drafts)}
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self._decoder.named_parameters()}
        snapshot = Snapshot({f"decoder.{name}": array for name, array in arrays.items()}, values)
        snapshot.put("base", self.base.snapshot())
        return snapshot

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> "TwoPassTranslator":
        base = SentenceTranslator.from_snapshot(snapshot.part("base"))
        translator = cls.new(base, from_stored(DraftConfig, snapshot.values["drafts"]), seed=0)
        for name, parameter in translator.decoder.named_parameters():
            stored = snapshot.arrays.get(f"decoder.{name}")
            if stored is None or stored.shape != tuple(parameter.shape):
                raise SnapshotError("the tensors of CADec do not fit its base model")
            parameter.data.copy_(torch.from_numpy(stored))
        return translator


def _by_example(states: Tensor, mask: Tensor, places: Sequence[tuple[int, int, int]]) -> tuple[Tensor, Tensor]:
    """Put rows [rows, tokens, width] at their places [examples, sentences, tokens, width]; the rest is masked."""
    example, distance, row = torch.tensor(places, device=states.device).T
    shape = [1 + max(numbers) for numbers in list(zip(*places, strict=True))[:2]]
    all_states = states.new_zeros(*shape, *states.shape[1:])
    all_masks = mask.new_zeros(*shape, mask.shape[1])
    all_states[example, distance] = states[row]
    all_masks[example, distance] = mask[row]
    return all_states, all_masks


def _ended(ids: list[int]) -> list[int]:
    """Return a draft with its end symbol: it may be that the search stopped at its limit."""
    return ids if ids and ids[-1] == EOS else [*ids, EOS]
