"""Expected loss in context: a context-aware translator learns from the reward of each sentence by itself.

As BNMT-EL-VALUE, it samples at a low temperature, and compares each reward with what the source is expected to earn. It
does without replay: an experience in context is a whole group of sentences. The reward says nothing of consistency with
the lines before; ``benchmarks.studies.context`` measures what such feedback does to it.
"""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.neural import MAX_NORM_GROWTH
from learners.bandit.optimiser import l2_norm
from learners.context.examples import Example
from learners.context.playing import DocumentContext
from learners.context.translator import ContextTranslator
from learners.contract import Feedback, Sentence
from learners.settings import check_bounds
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ContextExpectedLossConfig(GradientConfig):
    """How the learner explores and steps."""

    temperature: float = 0.3  # of samples
    batch: int = 8  # rounds with the same parameters before a step along their mean gradient
    negative_advantage_weight: float = 0.3  # a failure says less about what would be better than a success

    def __post_init__(self) -> None:
        check_bounds(self, temperature=(0.01, None), batch=(1, None), negative_advantage_weight=(0, None))


@dataclass(frozen=True, slots=True)
class ContextExperience:
    """What was sampled in a round, and how much to learn from it."""

    example: Example
    output: list[int]  # tokens, those of the context included
    weight: float


class ContextExpectedLossLearner(GradientLearner):
    """CONTEXT-concat-EL-VALUE and CONTEXT-cadec-EL-VALUE.

    What cannot be learned from is translated by beam search: of CADec, a sentence without context, which is the frozen
    base model's.
    """

    snapshot_version: ClassVar[int] = 1

    def __init__(
        self,
        translator: ContextTranslator,
        config: ContextExpectedLossConfig,
        control_variate: ControlVariate,
        *,
        seed: int,
    ) -> None:
        vector = translator.parameters.vector
        super().__init__(vector, config, control_variate, seed=seed, max_norm=MAX_NORM_GROWTH * l2_norm([vector]))
        self._translator, self._config = translator, config
        self._context = DocumentContext()
        self._sampled: tuple[Example, list[int]] | None = None
        self._experiences: list[ContextExperience] = []  # since the last step

    def propose(self, sentence: Sentence) -> str:
        example = self._context.example(sentence)
        self._sampled = None
        if self._translator.learns_from(example):
            generator = torch.Generator(self._translator.device).manual_seed(int(self._rng.integers(2**62)))
            output, text = self._translator.sample(example, self._config.temperature, generator)
            if text:
                self._sampled = example, output
                return text
        return self._translator.translate([example])[0]

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        super().update(sentence, translation, feedback)
        self._context.add(sentence, translation, feedback)

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the example has it)
        config = self._config
        if self._sampled and advantage:
            weight = advantage if advantage > 0 else config.negative_advantage_weight * advantage
            self._experiences.append(ContextExperience(*self._sampled, weight))
        if self._round % config.batch:
            return
        if self._experiences:
            weights = torch.tensor([each.weight for each in self._experiences]) / config.batch
            losses = self._translator.output_losses(
                [each.example for each in self._experiences],
                [each.output for each in self._experiences],
                temperature=config.temperature,
            )
            (weights.to(losses) * losses).sum().backward()
        self._experiences = []
        self._optimiser.step()

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("context", self._context.save())
        snapshot.put("experiences", Snapshot(values={"rounds": [asdict(each) for each in self._experiences]}))
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._context.load(snapshot.part("context"))
        self._experiences = [_from_values(each) for each in snapshot.part("experiences").values["rounds"]]


def _from_values(values: dict[str, Any]) -> ContextExperience:
    example = values["example"]
    context = tuple((source, target) for source, target in example["context"])
    return ContextExperience(Example(example["source"], context), values["output"], values["weight"])
