"""Networks that learn from post-edits: ADAPT-full, ADAPT-top and ADAPT-bias."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from learners.adaptation.offsets import Offsets
from learners.adaptation.parameters import AdaptedParameters, UserOffsets
from learners.adaptation.post_edits import post_edit_of
from learners.adaptation.updates import BiasObjective, Objective, TensorObjective, UpdateConfig, learn
from learners.contract import Feedback, Learner, Sentence
from learners.errors import LearnerError, SnapshotError
from learners.nmt.batches import pad, shift_right
from learners.nmt.model import TranslationModel
from learners.nmt.transformer import TransformerModel
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

OUTPUT_BIAS = "output_bias"


@dataclass(frozen=True, kw_only=True)
class AdaptationConfig(UpdateConfig):
    """How a network learns from post-edits, and how it translates meanwhile."""

    beam: int = 1  # 1 is greedy


class NeuralAdaptation(Learner):
    """Translates with the base model and a user's offsets, and learns the offsets from the user's post-edits.

    Several learners can share one base model: each applies its offsets when it is called.
    """

    snapshot_version: ClassVar[int] = 1  # of a class; changes when older snapshots can no longer be loaded

    def __init__(self, parameters: AdaptedParameters, config: AdaptationConfig) -> None:
        self._user = UserOffsets(parameters)
        self._translator = parameters.translator
        self._config = config
        self._rounds = 0  # completed
        self._updates = 0  # in all rounds

    @property
    def offsets(self) -> Offsets:
        """What the post-edits have taught so far."""
        return self._user.packed()

    def propose(self, sentence: Sentence) -> str:
        self._user.activate()
        if self._config.beam == 1:
            return self._translator.greedy(sentence.source).text
        return self._translator.beam(sentence.source, self._config.beam).text

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        post_edit = post_edit_of(feedback)
        if post_edit.strip():  # an empty one teaches nothing
            parameters, device = self._user.activate(), self._translator.model.device
            source = pad([self._translator.encode_source(sentence.source)], device)  # [1, source]
            target = pad([self._translator.encode_target(post_edit)], device)  # [1, target]
            self._updates += learn(self._objective(parameters, source, target), self._config)
        self._rounds += 1

    @abstractmethod
    def _objective(self, parameters: AdaptedParameters, source: Tensor, target: Tensor) -> Objective:
        """Return the loss of a post-edit [1, target] of a source [1, source], and how it is lowered."""

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            values={
                "kind": self._kind(),
                "config": to_stored(self._config),
                "rounds": self._rounds,
                "updates": self._updates,
            }
        )
        snapshot.put("offsets", self.offsets.snapshot())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != self._kind():
            raise SnapshotError(f"the snapshot is of {kind}, not of {self._kind()}")
        if (theirs := snapshot.values["config"]) != (own := to_stored(self._config)):
            raise SnapshotError(f"the snapshot is of the configuration {theirs}, not of {own}")
        self._user.replace(Offsets.from_snapshot(snapshot.part("offsets")))
        self._rounds, self._updates = snapshot.values["rounds"], snapshot.values["updates"]

    def _kind(self) -> str:
        return f"{type(self).__name__} {self.snapshot_version}"


class TensorAdaptation(NeuralAdaptation):
    """Adapts some tensors of the network, or all of them."""

    def __init__(self, parameters: AdaptedParameters, config: AdaptationConfig, trained: Sequence[str]) -> None:
        """Create a learner before its first round; ``trained`` names the tensors that it adapts."""
        super().__init__(parameters, config)
        self._trained = list(trained)

    def _objective(self, parameters: AdaptedParameters, source: Tensor, target: Tensor) -> Objective:
        model, previous = self._translator.model, shift_right(target)

        def token_losses() -> Tensor:
            return F.cross_entropy(model(source, previous)[0], target[0], reduction="none")

        offsets = [parameters.offsets[name] for name in self._trained]

        def apply(gradients: Sequence[Tensor], factors: Sequence[float]) -> None:
            for offset, gradient, factor in zip(offsets, gradients, factors, strict=True):
                offset.sub_(gradient, alpha=self._config.learning_rate * factor)
            self._regularise(parameters, gradients, factors)
            parameters.refresh(self._trained)

        return TensorObjective(token_losses, [parameters.tensors[name] for name in self._trained], apply, self._config)

    def _regularise(self, parameters: AdaptedParameters, gradients: Sequence[Tensor], factors: Sequence[float]) -> None:
        """Change the offsets after a step, given its gradients and the factors that clipped them."""


class BiasAdaptation(NeuralAdaptation):
    """ADAPT-bias: adapts a second bias of the output layer only (Michel and Neubig 2018).

    The sum of both biases is all that the network sees, so that the second one is the offset of the first one.
    """

    def _objective(self, parameters: AdaptedParameters, source: Tensor, target: Tensor) -> Objective:
        model = self._translator.model
        with torch.no_grad():
            logits = model(source, shift_right(target))[0]  # [target, vocabulary], with the present bias
        return _RefreshedBias(parameters, logits, target[0], self._config)


class _RefreshedBias(BiasObjective):
    """A bias that is an offset of the model's."""

    def __init__(self, parameters: AdaptedParameters, logits: Tensor, targets: Tensor, config: UpdateConfig) -> None:
        offset = parameters.offsets[OUTPUT_BIAS]
        super().__init__(logits - offset, targets, offset, config)
        self._parameters = parameters

    def step(self) -> None:
        super().step()
        self._parameters.refresh([OUTPUT_BIAS])


def full_adaptation(parameters: AdaptedParameters, config: AdaptationConfig) -> TensorAdaptation:
    """Return ADAPT-full: adapts every tensor."""
    return TensorAdaptation(parameters, config, list(parameters.tensors))


def top_adaptation(parameters: AdaptedParameters, config: AdaptationConfig) -> TensorAdaptation:
    """Return ADAPT-top: adapts the topmost layer of the encoder and of the decoder, with their layer norms.

    Raises:
        LearnerError: The network is no Transformer.
    """
    return TensorAdaptation(parameters, config, top_tensors(parameters.translator.model, parameters.tensors))


def top_tensors(model: TranslationModel, tensors: Mapping[str, Any]) -> list[str]:
    """Return the names of the tensors in the topmost layers of encoder and decoder."""
    if not isinstance(model, TransformerModel):
        raise LearnerError("only a Transformer has topmost layers: adapt all tensors of other networks")
    tops = (f"encoder.{len(model.encoder) - 1}.", f"decoder.{len(model.decoder) - 1}.")
    return [name for name in tensors if name.startswith(tops)]
