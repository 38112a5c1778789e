"""The critic of the UMD-reinforce systems, pre-trained on samples of sources whose references are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.metrics.bleu import sentence_bleu
from learners.bandit.critic import Critic
from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.errors import SnapshotError
from learners.nmt.batches import Pair
from learners.nmt.configs import ModelConfig
from learners.nmt.hypothesis import Sample
from learners.nmt.translator import Translator
from learners.seed_models.neural import NeuralSeedModel
from learners.seed_models.progress import TrainingStage
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.seed_models.settings import Size
from learners.snapshot import Snapshot
from learners.stored_names import from_stored, to_stored

KIND = "critic 1"
STEPS = {Size.TINY: 10, Size.SMALL: 500, Size.PAPER: 10_000}
BATCH = 16  # samples per step
OPTIMISER = OptimiserConfig(learning_rate=1e-3)  # as in Nguyen et al. 2017
REPORT_EVERY = 50  # steps


@dataclass(frozen=True, kw_only=True, eq=False)
class CriticSeedModel(SeedModel[Critic]):
    """A critic that has learned what samples of the seed model earn. An interrupted training starts again."""

    actor: NeuralSeedModel

    @property
    def requires(self) -> tuple[SeedModel[Any], ...]:
        return (self.actor,)

    def train(self, job: TrainingJob) -> Critic:
        translator = job.load(self.actor)
        critic = Critic.like(translator)
        max_words = translator.config.max_training_words
        pairs = [pair for pair in job.texts.out_of_domain if len(pair[0].split()) <= max_words]
        steps, rng = STEPS[job.settings.size], np.random.default_rng(job.pretraining.seed)
        optimiser = Optimiser(list(critic.parameters()), OPTIMISER)
        for step in range(steps):
            chosen = [pairs[int(place)] for place in rng.integers(len(pairs), size=BATCH)]
            loss = _step(critic, translator, optimiser, chosen, rng)
            if step % REPORT_EVERY == 0:
                job.report(TrainingStage(f"squared error {loss:.4f}", step, steps))
        return critic

    def save(self, model: Critic, path: Path) -> None:
        snapshot = model.save_parameters()
        snapshot.values |= {"kind": KIND, "config": to_stored(model.config), "sizes": list(model.sizes)}
        snapshot.write(path)

    def load(self, path: Path) -> Critic:
        snapshot = Snapshot.read(path)
        if snapshot.values.get("kind") != KIND:
            raise SnapshotError(f"{path} does not hold a critic")
        try:
            critic = Critic(from_stored(ModelConfig, snapshot.values["config"]), *snapshot.values["sizes"])
            critic.load_parameters(snapshot)
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except (KeyError, TypeError, ValueError, RuntimeError):
            raise SnapshotError(f"{path} lacks a part of a critic") from None
        return critic


def _step(
    critic: Critic,
    translator: Translator,
    optimiser: Optimiser,
    pairs: Sequence[Pair],
    rng: np.random.Generator,
) -> float:
    """Let the critic learn from samples of these sources, and return its squared error before."""
    samples = [translator.sample(source, 1.0, rng) for source, _ in pairs]
    rewards = [_reward(sample, reference) for sample, (_, reference) in zip(samples, pairs, strict=True)]
    loss = critic.loss([sample.source_ids for sample in samples], [sample.ids for sample in samples], rewards)
    optimiser.zero_gradients()
    loss.backward()
    optimiser.step()
    return loss.item()


def _reward(sample: Sample, reference: str) -> float:
    return sentence_bleu(sample.text, reference)
