"""ADAPT-fixed: adapts tensors that were chosen once, on a development stream (Wuebker et al. 2018)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from learners.adaptation.gains import GroupGains, fill_budget
from learners.adaptation.neural import AdaptationConfig, TensorAdaptation
from learners.adaptation.parameters import AdaptedParameters
from learners.contract import Feedback, Sentence
from learners.errors import LearnerError, SnapshotError
from learners.nmt.batches import Pair
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot

KIND = "fixed choice 1"
SOURCE_EMBEDDING = "source_embedding.weight"
BUDGET_SHARE = 0.25  # of the parameters outside embeddings: 2 of 7.9 million in Simianer et al. 2019, section 5.1


@dataclass(frozen=True)
class FixedChoice:
    """The tensors outside embeddings that adapt, and how they were chosen."""

    base: str  # the SHA-256 of the base model's parameters
    tensors: tuple[str, ...]
    budget: int  # parameters
    pairs: int  # of the development stream

    def save(self, path: Path) -> None:
        values = {"kind": KIND, "base": self.base, "tensors": list(self.tensors)}
        Snapshot(values=values | {"budget": self.budget, "pairs": self.pairs}).write(path)

    @classmethod
    def load(cls, path: Path) -> "FixedChoice":
        """Read what ``save`` wrote; raise SnapshotError for any other file."""
        values = Snapshot.read(path).values
        if values.get("kind") != KIND:
            raise SnapshotError(f"{path} does not hold a choice of tensors")
        return cls(values["base"], tuple(values["tensors"]), values["budget"], values["pairs"])


def choose_tensors(translator: Translator, stream: Sequence[Pair], config: AdaptationConfig) -> FixedChoice:
    """Choose the tensors that gain most while the whole model adapts to a development stream, within the budget."""
    parameters = AdaptedParameters(translator)
    learner = _MeasuringAdaptation(parameters, config, list(parameters.tensors))
    for source, target in stream:
        learner.update(Sentence(source), "", Feedback(0.0, target))
    gains = learner.gains.tensors
    sizes = {name: parameters.tensors[name].numel() for name in gains}
    budget = int(BUDGET_SHARE * sum(sizes.values()))
    chosen = set(fill_budget(gains, sizes, budget))
    parameters.apply(None)
    return FixedChoice(parameters.base, tuple(name for name in gains if name in chosen), budget, len(stream))


class _MeasuringAdaptation(TensorAdaptation):
    """Adapts everything, and adds up what each tensor gains."""

    def __init__(self, parameters: AdaptedParameters, config: AdaptationConfig, trained: Sequence[str]) -> None:
        super().__init__(parameters, config, trained)
        self.gains = GroupGains(parameters.tensors, parameters.tables)

    def _regularise(self, parameters: AdaptedParameters, gradients: Sequence[Tensor], factors: Sequence[float]) -> None:  # noqa: ARG002
        self.gains.add(self._trained, gradients, factors)


def fixed_adaptation(parameters: AdaptedParameters, choice: FixedChoice, config: AdaptationConfig) -> TensorAdaptation:
    """Return ADAPT-fixed: adapts the chosen tensors and the source embeddings, of which few rows move.

    Raises:
        LearnerError: The choice was made for another base model.
    """
    if choice.base != parameters.base:
        raise LearnerError(
            "the tensors of ADAPT-fixed were chosen for another base model: remove the choice, and pretrain again"
        )
    return TensorAdaptation(parameters, config, [SOURCE_EMBEDDING, *choice.tensors])
