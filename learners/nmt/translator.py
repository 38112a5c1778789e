"""A model with its vocabularies: text in, text out, and gradients for learners."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from learners.contract import PLACEHOLDER, truncate_to_limit
from learners.errors import SnapshotError
from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import ModelConfig
from learners.nmt.decoding import (
    DecodedSequence,
    beam_k_best,
    beam_search,
    greedy_decode,
    max_output_length,
    sample,
)
from learners.nmt.engine import Engine, Trace, cache_folder
from learners.nmt.engine.compilation import ensure_compiled
from learners.nmt.ensemble import Ensemble
from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats, Hypothesis, Sample
from learners.nmt.model import TranslationModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.transformer import TransformerModel
from learners.nmt.vocabulary import EOS, SubwordVocabulary, Vocabulary, WordVocabulary, to_text
from learners.segmentation.compounds import CompoundSplitter
from learners.snapshot import Snapshot
from learners.stored_names import from_stored, to_stored
from learners.temperature import MIN_TEMPERATURE

TokenWeights = float | Sequence[float] | Floats  # one number for the whole translation, or one for each token
FILE_KIND = "translator 1"  # changes when an older file can no longer be read
VOCABULARIES: dict[str, type[SubwordVocabulary | WordVocabulary]] = {"bpe": SubwordVocabulary, "word": WordVocabulary}
MODELS: dict[str, type[TranslationModel]] = {"gru": GruModel, "transformer": TransformerModel}


def default_device() -> torch.device:
    """Return the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def new_model(config: ModelConfig, source_size: int, target_size: int, *, seed: int = 0) -> TranslationModel:
    """Return an untrained model; the same seed gives the same one."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return MODELS[config.architecture](config, source_size, target_size)


class Translator:
    """Translates sentences, samples translations, and computes gradients of weighted samples.

    A round of learning is three calls::

        sample = translator.sample(source, temperature, rng)
        translator.backward(sample, advantage)              # adds to the gradient
        optimiser.step(); translator.zero_gradient()        # optimiser = torch.optim.Adam([translator.vector], ...)
    """

    def __init__(
        self,
        config: ModelConfig,
        model: TranslationModel,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        *,
        ensemble_members: Sequence[TranslationModel] = (),
        lexicon: Mapping[str, str] | None = None,
        training_steps: int | None = None,
        splitter: CompoundSplitter | None = None,
        device: torch.device | None = None,
    ) -> None:
        """Move the model to the device, and its parameters into one vector.

        Args:
            config: Configuration of the model.
            model: The model that translates and learns.
            source_vocabulary: Tokens of the source language.
            target_vocabulary: Tokens of the target language; the same object if the vocabulary is joint.
            ensemble_members: Further models, whose probabilities beam search averages with the model's.
            lexicon: Translations of words, for those that the model predicts as unknown (Jean et al. 2015).
            training_steps: The number of steps that the model was trained for; None if it is unknown.
            splitter: Splits the words of sources before the vocabulary does; None if they stay whole.
            device: The GPU if there is one, else the CPU, by default.
        """
        device = device or default_device()
        self.config = config
        self.model = model.to(device).eval()  # .train() switches dropout on, for backward and log_probabilities only
        self.parameters = FlatParameters(self.model)
        self.ensemble_members = [member.to(device).eval() for member in ensemble_members]
        self.source_vocabulary = source_vocabulary
        self.target_vocabulary = target_vocabulary
        self.lexicon = dict(lexicon or {})
        self.training_steps = training_steps
        self.splitter = splitter
        self.accelerated = True  # use the compiled engine where there is one, else torch
        self._engine: Engine | None = None
        if isinstance(self.model, GruModel) and device.type == "cpu":
            ensure_compiled(cache_folder())
            self._engine = Engine(self.model)

    @property
    def vector(self) -> nn.Parameter:
        """All parameters as one vector; ``vector.grad`` holds the gradient."""
        return self.parameters.vector

    def zero_gradient(self) -> None:
        self.parameters.zero_gradient()

    def encode_source(self, source: str) -> list[int]:
        """Return the source as the model reads it: truncated to the configured length, the end symbol last."""
        return self._encode_source(source)[0]

    def encode_target(self, target: str) -> list[int]:
        """Return a target as the model learns it: truncated to the configured length, the end symbol last."""
        return [*self.target_vocabulary.encode(target)[0][: self.config.max_target - 1], EOS]

    def greedy(self, source: str) -> Hypothesis:
        """Translate greedily: the most probable token at each step."""
        ids, pieces = self._encode_source(source)
        return self._hypothesis(self._greedy_decode(ids)[0], source, ids, pieces)

    def beam(self, source: str, size: int) -> Hypothesis:
        """Translate with beam search by the model and its ensemble members, scores normalised by length."""
        ids, pieces = self._encode_source(source)
        ensemble = Ensemble([self.model, *self.ensemble_members])
        with _without_dropout(self.model):
            decoded = beam_search(ensemble, pad([ids], self.model.device), size)
        return self._hypothesis(decoded, source, ids, pieces)

    def k_best(self, source: str, size: int) -> list[Hypothesis]:
        """Return the translations that beam search finishes, best first, each text once; the first is ``beam``'s."""
        ids, pieces = self._encode_source(source)
        ensemble = Ensemble([self.model, *self.ensemble_members])
        with _without_dropout(self.model):
            decoded = beam_k_best(ensemble, pad([ids], self.model.device), size)
        found: dict[str, Hypothesis] = {}
        for hypothesis in (self._hypothesis(one, source, ids, pieces) for one in decoded):
            found.setdefault(hypothesis.text, hypothesis)
        return list(found.values())

    def sample(self, source: str, temperature: float, rng: np.random.Generator) -> Sample:
        """Sample a translation from the tempered distribution, without dropout; greedily below ``MIN_TEMPERATURE``.

        A sample that has no text gets the text of the greedy translation, as in the task's systems. It is marked as a
        fallback: its tokens are still those that were sampled, and the reward of the text is not theirs.
        """
        ids, pieces = self._encode_source(source)
        uniforms = rng.random(max_output_length(len(ids)))
        is_greedy = temperature < MIN_TEMPERATURE
        if is_greedy:
            temperature = 1.0
            decoded, trace = self._greedy_decode(ids)
        else:
            decoded, trace = self._sample(ids, temperature, uniforms)
        whole = self._to_text(decoded, source, ids, pieces)
        text = truncate_to_limit(whole) or self.greedy(source).text
        return Sample(
            ids,
            decoded.ids,
            text,
            decoded.log_probability,
            temperature,
            trace,
            attention=decoded.attention,
            is_fallback=not whole,
            text_log_probability=None if is_greedy or text != whole else min(decoded.log_probability, 0.0),
        )

    def backward(self, sample: Sample, weight: TokenWeights, *, entropy: float = 0.0) -> None:
        """Add the gradient of ``-sum_t weight_t log p_t(y_t) - entropy * sum_t H(p_t)`` at the sample's temperature.

        The parameters must be those that the sample was drawn with.
        """
        weights = np.ones(len(sample.ids)) * np.asarray(weight)
        if self._engine and isinstance(sample.trace, Trace):
            trace = sample.trace
            if self.model.training:
                trace = self._engine.forward(sample.source_ids, sample.ids, sample.temperature, self.model.dropout.p)
            self._engine.backward(trace, weights, entropy)
        else:
            self.loss(sample, weights, entropy=entropy).backward()

    def backward_likelihood(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], weights: Sequence[TokenWeights]
    ) -> None:
        """Add the gradient of ``-sum_i weight_i log p(target_i | source_i)``, whatever produced the targets.

        A weight is one number for a whole target, or one for each of its tokens.
        """
        by_token = [np.ones(len(target)) * np.asarray(weight) for target, weight in zip(targets, weights, strict=True)]
        if self._engine and self.accelerated:
            dropout = self.model.dropout.p if self.model.training else 0.0
            for source, target, weight in zip(sources, targets, by_token, strict=True):
                trace = self._engine.forward(source, target, 1.0, dropout)
                self._engine.backward(trace, weight, 0.0)
        else:
            found = self.log_probabilities(sources, targets)
            padded = found.new_zeros(found.shape)
            for row, weight in zip(padded, by_token, strict=True):
                row[: len(weight)] = torch.from_numpy(weight)
            (-(found * padded).sum()).backward()

    def loss(self, sample: Sample, weight: TokenWeights, *, entropy: float = 0.0) -> Tensor:
        """Return the loss whose gradient ``backward`` adds, with torch's graph."""
        device = self.model.device
        targets = pad([sample.ids], device)
        logits = self.model(pad([sample.source_ids], device), shift_right(targets))[0] / sample.temperature
        log_probabilities = logits.log_softmax(-1)  # [target, vocabulary]
        chosen = log_probabilities.gather(1, targets.T)[:, 0]  # [target]
        weights = torch.as_tensor(np.broadcast_to(weight, len(sample.ids)).copy(), dtype=chosen.dtype, device=device)
        loss = -(weights * chosen).sum()
        return loss + entropy * (log_probabilities.exp() * log_probabilities).sum() if entropy else loss

    def log_probabilities(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], temperature: float = 1.0
    ) -> Tensor:
        """Return token log-probabilities [batch, target] with torch's graph; exactly 0 after a target's end."""
        padded = pad(targets, self.model.device)
        logits = self.model(pad(sources, self.model.device), shift_right(padded))
        chosen = (logits / temperature).log_softmax(-1).gather(2, padded.unsqueeze(2))[:, :, 0]
        lengths = torch.tensor([len(target) for target in targets], device=chosen.device)
        inside = torch.arange(chosen.shape[1], device=chosen.device) < lengths.unsqueeze(1)
        return chosen.masked_fill(~inside, 0.0)

    def token_log_probabilities(self, sample: Sample) -> Floats:
        """Return the log-probabilities of a sample's tokens under the model itself, at temperature 1."""
        if isinstance(sample.trace, Trace):
            tempered = sample.trace.decoder.probabilities.astype(np.float64)
            scores = sample.temperature * np.log(np.maximum(tempered, 1e-300))
            highest = scores.max(1, keepdims=True)
            normaliser = highest[:, 0] + np.log(np.exp(scores - highest).sum(1))
            found: Floats = scores[np.arange(len(sample.ids)), sample.ids] - normaliser
            return found
        with torch.no_grad(), _without_dropout(self.model):
            return self.log_probabilities([sample.source_ids], [sample.ids])[0].cpu().numpy().astype(np.float64)

    def save(self, path: Path) -> None:
        """Write model, configuration and vocabularies to one file."""
        self.snapshot().write(path)

    @classmethod
    def load(cls, path: Path, *, device: torch.device | None = None) -> Self:
        """Read what ``save`` wrote; raise SnapshotError for any other file."""
        snapshot = Snapshot.read(path)
        try:
            return cls.from_snapshot(snapshot, device=device)
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except KeyError as missing:
            raise SnapshotError(f"{path}: the model file has no {missing}") from None
        # What a configuration or torch raises if values do not fit together.
        except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:
            message = " ".join(str(error).split())
            raise SnapshotError(f"{path}: the model file does not fit together ({message})") from None

    def snapshot(self) -> Snapshot:
        """Return everything that ``from_snapshot`` needs."""
        values: dict[str, Any] = {
            "kind": FILE_KIND,
            "recipe": to_stored(self.config),
            "companions": len(self.ensemble_members),
            "lexicon": self.lexicon,
        }
        if self.training_steps is not None:
            values["steps"] = self.training_steps
        if self.splitter:
            values["splitter"] = self.splitter.to_values()
        arrays = {"source_vocabulary": self.source_vocabulary.packed()}
        if self.target_vocabulary is not self.source_vocabulary:
            arrays["target_vocabulary"] = self.target_vocabulary.packed()
        if self.splitter:
            arrays |= self.splitter.to_arrays()
        models = [self.model, *self.ensemble_members]
        for name, model in zip(_stored_model_names(len(self.ensemble_members)), models, strict=True):
            arrays |= {f"{name}.{key}": tensor.detach().cpu().numpy() for key, tensor in model.named_parameters()}
        return Snapshot(arrays, values)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, *, device: torch.device | None = None) -> Self:
        """Return the translator that ``snapshot`` was taken of."""
        if snapshot.values.get("kind") != FILE_KIND:
            raise SnapshotError("this is not the snapshot of a translator")
        config = from_stored(ModelConfig, snapshot.values["recipe"])
        if "source_vocabulary" not in snapshot.arrays:
            raise SnapshotError("the model file has no vocabulary")
        vocabulary = VOCABULARIES[config.vocabulary]
        source = vocabulary.unpack(snapshot.arrays["source_vocabulary"])
        joint = "target_vocabulary" not in snapshot.arrays
        target = source if joint else vocabulary.unpack(snapshot.arrays["target_vocabulary"])
        models = [
            _read_model(name, snapshot, config, [source.size, target.size])
            for name in _stored_model_names(snapshot.values["companions"])
        ]
        return cls(
            config,
            models[0],
            source,
            target,
            ensemble_members=models[1:],
            lexicon=dict(snapshot.values["lexicon"]),
            training_steps=snapshot.values.get("steps"),  # earlier versions did not write it
            splitter=CompoundSplitter.from_stored(snapshot.values.get("splitter"), snapshot.arrays),
            device=device,
        )

    def _encode_source(self, source: str) -> tuple[list[int], list[str]]:
        """Return the token ids with the end symbol, and the tokens as strings without it."""
        text = self.splitter.split(source).text if self.splitter else source
        ids, pieces = self.source_vocabulary.encode(text)
        limit = self.config.max_source - 1
        return [*ids[:limit], EOS], pieces[:limit]

    def _greedy_decode(self, ids: list[int]) -> tuple[DecodedSequence, Trace | None]:
        if self._engine and self.accelerated:
            return self._engine.greedy_decode(ids)
        with _without_dropout(self.model):
            return greedy_decode(self.model, pad([ids], self.model.device)), None

    def _sample(self, ids: list[int], temperature: float, uniforms: Floats) -> tuple[DecodedSequence, Trace | None]:
        if self._engine and self.accelerated:
            return self._engine.sample(ids, temperature, uniforms)
        with _without_dropout(self.model):
            return sample(self.model, pad([ids], self.model.device), temperature, uniforms), None

    def _hypothesis(self, decoded: DecodedSequence, source: str, ids: list[int], pieces: list[str]) -> Hypothesis:
        own = self._to_text(decoded, source, ids, pieces)
        text = truncate_to_limit(own or source.strip()) or PLACEHOLDER
        return Hypothesis(ids, decoded.ids, text, decoded.log_probability, is_fallback=not own)

    def _to_text(self, decoded: DecodedSequence, source: str, ids: list[int], pieces: list[str]) -> str:
        text = to_text(decoded.ids, self.target_vocabulary, decoded.attention, (ids, pieces), self.lexicon)
        return self.splitter.split(source).rejoin(text) if self.splitter else text


@contextmanager
def _without_dropout(model: nn.Module) -> Iterator[None]:
    training = model.training
    if training:
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()


def _stored_model_names(ensemble_members: int) -> list[str]:
    """Return the names of the model and of the ensemble members in a model file."""
    return ["model", *(f"companion{number}" for number in range(ensemble_members))]


def _read_model(name: str, snapshot: Snapshot, config: ModelConfig, sizes: list[int]) -> TranslationModel:
    model = new_model(config, *sizes)
    parameters = {f"{name}.{key}": parameter for key, parameter in model.named_parameters()}
    shapes = {key: array.shape for key, array in snapshot.arrays.items() if key.startswith(f"{name}.")}
    if shapes != {key: tuple(parameter.shape) for key, parameter in parameters.items()}:
        raise SnapshotError(f"the tensors of {name!r} do not fit its configuration {config.name!r}")
    for key, parameter in parameters.items():
        parameter.data = torch.from_numpy(snapshot.arrays[key])
    return model
