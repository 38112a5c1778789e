"""A model with its vocabularies: text in, text out, and gradients for learners."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from learners.contract import PLACEHOLDER, truncate_to_limit
from learners.errors import SnapshotError
from learners.nmt.batches import padded, previous
from learners.nmt.configs import ModelConfig
from learners.nmt.decoding import Drawn, beam_search, check_finite, draw, length_bound
from learners.nmt.engine import Engine, Trace
from learners.nmt.engine import cache as compiled_code
from learners.nmt.engine.compilation import ensure_compiled
from learners.nmt.ensemble import Ensemble
from learners.nmt.gru import GruModel
from learners.nmt.hypothesis import Floats, Hypothesis, Sample
from learners.nmt.model import TranslationModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.transformer import TransformerModel
from learners.nmt.vocabulary import EOS, SubwordVocabulary, Vocabulary, WordVocabulary, spell
from learners.snapshot import Snapshot
from learners.stored_names import from_stored, to_stored
from learners.temperature import MIN_TEMPERATURE

Weights = float | Sequence[float] | Floats  # one number for the whole translation, or one per token
KIND = "translator 1"  # changes when an older file can no longer be read
VOCABULARIES: dict[str, type[SubwordVocabulary | WordVocabulary]] = {"bpe": SubwordVocabulary, "word": WordVocabulary}
MODELS: dict[str, type[TranslationModel]] = {"gru": GruModel, "transformer": TransformerModel}


def default_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def new_model(config: ModelConfig, source_size: int, target_size: int, *, seed: int = 0) -> TranslationModel:
    """An untrained model; the same seed gives the same one."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return MODELS[config.architecture](config, source_size, target_size)


class Translator:
    """Translates sentences, samples translations, and learns from weights on what it sampled.

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
        device: torch.device | None = None,
    ) -> None:
        """``ensemble_members`` vote with the model in beam search; ``lexicon`` translates unknown words (card B9)."""
        device = device or default_device()
        self.config = config
        self.model = model.to(device).eval()  # .train() switches dropout on, for backward and log_probabilities only
        self.parameters = FlatParameters(self.model)
        self.ensemble_members = [companion.to(device).eval() for companion in ensemble_members]
        self.source_vocabulary = source_vocabulary
        self.target_vocabulary = target_vocabulary
        self.lexicon = dict(lexicon or {})
        self.accelerated = True  # draw and learn with the engine, where there is one; else with torch
        self._engine: Engine | None = None
        if isinstance(self.model, GruModel) and device.type == "cpu":
            ensure_compiled(compiled_code())
            self._engine = Engine(self.model)

    @property
    def vector(self) -> nn.Parameter:
        """All parameters as one vector; ``vector.grad`` holds the gradient."""
        return self.parameters.vector

    def zero_gradient(self) -> None:
        self.parameters.zero_gradient()

    def encode_source(self, source: str) -> list[int]:
        """The source as the model reads it: cut at the config's bound, the end symbol last."""
        return self._read(source)[0]

    def encode_target(self, target: str) -> list[int]:
        """A target as the model learns it: cut at the config's bound, the end symbol last."""
        return [*self.target_vocabulary.encode(target)[0][: self.config.max_target - 1], EOS]

    def greedy(self, source: str) -> Hypothesis:
        """The translation of most probable tokens."""
        ids, pieces = self._read(source)
        drawn, _ = self._draw(ids, 1.0, None)
        return self._hypothesis(drawn, source, ids, pieces)

    def ensemble(self) -> Ensemble:
        """The model and its ensemble_members, as they are now."""
        return Ensemble([self.model, *self.ensemble_members])

    def beam(self, source: str, size: int, ensemble: Ensemble | None = None) -> Hypothesis:
        """The best translation that beam search finds, probabilities normalised by length.

        Whoever does not learn forms the ``ensemble`` once.
        """
        ids, pieces = self._read(source)
        with _without_dropout(self.model):
            drawn = beam_search(ensemble or self.ensemble(), padded([ids], self.model.device), size)
        return self._hypothesis(drawn, source, ids, pieces)

    def sample(self, source: str, temperature: float, rng: np.random.Generator) -> Sample:
        """A translation drawn from the tempered distribution, without dropout; greedy below ``MIN_TEMPERATURE``.

        A sample without any text is answered with the greedy translation, as the task's systems did. It says so, since
        its tokens stay what was sampled: the reward of the answer is not theirs.
        """
        ids, pieces = self._read(source)
        uniforms = rng.random(length_bound(len(ids)))
        cold = temperature < MIN_TEMPERATURE
        drawn, trace = self._draw(ids, 1.0 if cold else temperature, None if cold else uniforms)
        written = self._written(drawn, ids, pieces)
        return Sample(
            ids,
            drawn.ids,
            written or self.greedy(source).text,
            drawn.log_probability,
            1.0 if cold else temperature,
            drawn.features,
            trace,
            verbatim=bool(written),
        )

    def backward(self, sample: Sample, weight: Weights, *, entropy: float = 0.0) -> None:
        """Add the gradient of ``-sum_t weight_t log p_t(y_t) - entropy * sum_t H(p_t)`` at the sample's temperature.

        Parameters must be those that the sample was drawn with.
        """
        weights = np.ones(len(sample.ids)) * np.asarray(weight)
        if self._engine and isinstance(sample.trace, Trace):
            trace = sample.trace
            if self.model.training:
                trace = self._engine.follow(sample.source_ids, sample.ids, sample.temperature, self.model.dropout.p)
            self._engine.backward(trace, weights, entropy)
        else:
            self.loss(sample, weights, entropy=entropy).backward()

    def imitate(self, sources: Sequence[list[int]], targets: Sequence[list[int]], weights: Sequence[float]) -> None:
        """Add the gradient of ``-sum_i weight_i log p(target_i | source_i)``, of translations drawn at any time."""
        if self._engine and self.accelerated:
            dropout = self.model.dropout.p if self.model.training else 0.0
            for source, target, weight in zip(sources, targets, weights, strict=True):
                trace = self._engine.follow(source, target, 1.0, dropout)
                self._engine.backward(trace, np.full(len(target), weight), 0.0)
        else:
            each = self.log_probabilities(sources, targets).sum(1)
            (-each @ each.new_tensor(weights)).backward()

    def loss(self, sample: Sample, weight: Weights, *, entropy: float = 0.0) -> Tensor:
        """What ``backward`` differentiates, with torch's graph."""
        device = self.model.device
        targets = padded([sample.ids], device)
        logits = self.model(padded([sample.source_ids], device), previous(targets))[0] / sample.temperature
        every = logits.log_softmax(-1)
        chosen = every.gather(1, targets.T)[:, 0]
        weights = torch.as_tensor(np.broadcast_to(weight, len(sample.ids)).copy(), dtype=chosen.dtype, device=device)
        loss = -(weights * chosen).sum()
        return loss + entropy * (every.exp() * every).sum() if entropy else loss

    def log_probabilities(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], temperature: float = 1.0
    ) -> Tensor:
        """Token log-probabilities [batch, longest target] with graph; exactly 0 after each target's end."""
        padded_targets = padded(targets, self.model.device)
        logits = self.model(padded(sources, self.model.device), previous(padded_targets))
        every = (logits / temperature).log_softmax(-1)
        chosen = every.gather(2, padded_targets.unsqueeze(2))[:, :, 0]
        lengths = torch.tensor([len(target) for target in targets], device=chosen.device)
        inside = torch.arange(chosen.shape[1], device=chosen.device) < lengths.unsqueeze(1)
        return chosen.masked_fill(~inside, 0.0)

    def save(self, path: Path) -> None:
        """Write model, config and vocabularies as one file."""
        self.snapshot().write(path)

    @classmethod
    def load(cls, path: Path, *, device: torch.device | None = None) -> Self:
        """Read what ``save`` wrote; anything else is a ``SnapshotError``."""
        snapshot = Snapshot.read(path)
        try:
            return cls.from_snapshot(snapshot, device=device)
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except KeyError as missing:
            raise SnapshotError(f"{path}: the model file has no {missing}") from None
        # What a config or torch says of values that do not fit.
        except (TypeError, ValueError, ArithmeticError, RuntimeError) as misfit:
            said = " ".join(str(misfit).split())
            raise SnapshotError(f"{path}: the model file does not fit together ({said})") from None

    def snapshot(self) -> Snapshot:
        """Everything that ``from_snapshot`` needs."""
        values = {
            "kind": KIND,
            "recipe": to_stored(self.config),
            "companions": len(self.ensemble_members),
            "lexicon": self.lexicon,
        }
        arrays = {"source_vocabulary": self.source_vocabulary.packed()}
        if self.target_vocabulary is not self.source_vocabulary:
            arrays["target_vocabulary"] = self.target_vocabulary.packed()
        for name, model in zip(_names(len(self.ensemble_members)), [self.model, *self.ensemble_members], strict=True):
            arrays |= {f"{name}.{key}": tensor.detach().cpu().numpy() for key, tensor in model.named_parameters()}
        return Snapshot(arrays, values)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, *, device: torch.device | None = None) -> Self:
        """The translator that ``snapshot`` was taken of."""
        if snapshot.values.get("kind") != KIND:
            raise SnapshotError("this is a snapshot of something else than a translator")
        config = from_stored(ModelConfig, snapshot.values["recipe"])
        if "source_vocabulary" not in snapshot.arrays:
            raise SnapshotError("the model file has no vocabulary")
        vocabulary = VOCABULARIES[config.vocabulary]
        source = vocabulary.unpack(snapshot.arrays["source_vocabulary"])
        joint = "target_vocabulary" not in snapshot.arrays
        target = source if joint else vocabulary.unpack(snapshot.arrays["target_vocabulary"])
        models = [
            _read_model(name, snapshot, config, [source.size, target.size])
            for name in _names(snapshot.values["companions"])
        ]
        lexicon = dict(snapshot.values["lexicon"])
        return cls(config, models[0], source, target, ensemble_members=models[1:], lexicon=lexicon, device=device)

    def _read(self, source: str) -> tuple[list[int], list[str]]:
        """Token numbers with the end symbol, and the tokens as written without it."""
        ids, pieces = self.source_vocabulary.encode(source)
        bound = self.config.max_source - 1
        return [*ids[:bound], EOS], pieces[:bound]

    def _draw(self, ids: list[int], temperature: float, uniforms: Floats | None) -> tuple[Drawn, object]:
        trace: object = None
        if self._engine and self.accelerated:
            drawn, trace = self._engine.draw(ids, temperature, uniforms)
        else:
            with _without_dropout(self.model):
                drawn = draw(self.model, padded([ids], self.model.device), temperature, uniforms)
        check_finite(drawn.log_probability)
        return drawn, trace

    def _hypothesis(self, drawn: Drawn, source: str, ids: list[int], pieces: list[str]) -> Hypothesis:
        written = self._written(drawn, ids, pieces)
        text = written or truncate_to_limit(source.strip()) or PLACEHOLDER
        return Hypothesis(ids, drawn.ids, text, drawn.log_probability, verbatim=bool(written))

    def _written(self, drawn: Drawn, ids: list[int], pieces: list[str]) -> str:
        return truncate_to_limit(spell(drawn.ids, self.target_vocabulary, drawn.attention, (ids, pieces), self.lexicon))


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


def _names(ensemble_members: int) -> list[str]:
    return ["model", *(f"companion{number}" for number in range(ensemble_members))]


def _read_model(name: str, snapshot: Snapshot, config: ModelConfig, sizes: list[int]) -> TranslationModel:
    model = new_model(config, *sizes)
    parameters = {f"{name}.{key}": parameter for key, parameter in model.named_parameters()}
    shapes = {key: array.shape for key, array in snapshot.arrays.items() if key.startswith(f"{name}.")}
    if shapes != {key: tuple(parameter.shape) for key, parameter in parameters.items()}:
        raise SnapshotError(f"the tensors of {name!r} do not fit its config {config.name!r}")
    for key, parameter in parameters.items():
        parameter.data = torch.from_numpy(snapshot.arrays[key])
    return model
