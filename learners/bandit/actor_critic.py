"""Advantage actor-critic: a critic says what each prefix of a sample is worth, and the actor learns how it differed.

UMD-reinforce and UMD-reinforce2 of the task (Sokolov et al. 2017, section 5.3). The paper has one paragraph: it names
Bahdanau et al. 2017 and Ranzato et al. 2016, and does not describe the systems, which did not finish their runs. So
these are reconstructions, after what the same group published on bandit feedback (Nguyen et al. 2017). Decided here:

- The critic reads the source and the tokens so far; its encoder-decoder starts as a copy of the actor's, and is
  pre-trained on samples of out-of-domain sources, whose references are known.
- The reward is that of the whole translation at every position. Advantages are those before the critic's step.
- The actor samples at temperature 1 and steps after every round, as the task's other neural learners do.
- UMD-reinforce2 is the system with the schedule of MIXER, whose cross-entropy runs on out-of-domain text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.critic import Critic, squared_error, token_advantages
from learners.bandit.gradient import GradientConfig
from learners.bandit.mixer import MixerSchedule
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.nmt.batches import EncodedPair, Pair, pad
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.translator import Translator
from learners.settings import check_bounds
from learners.snapshot import Snapshot
from learners.temperature import MIN_TEMPERATURE


@dataclass(frozen=True, kw_only=True)
class ActorCriticConfig(GradientConfig):
    """How the actor samples, and how both step."""

    critic: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(learning_rate=1e-4))
    temperature: float = 1.0  # of the samples: lower ones cost less reward, and say less

    def __post_init__(self) -> None:
        check_bounds(self, temperature=(MIN_TEMPERATURE, None))


@dataclass(frozen=True, kw_only=True)
class MixedActorCriticConfig(ActorCriticConfig):
    """The same, with cross-entropy on out-of-domain text at first."""

    mixer: MixerSchedule = field(default_factory=MixerSchedule)


class ActorCriticLearner(NeuralLearner):
    """UMD-reinforce: policy gradient with the advantage of each token."""

    def __init__(self, translator: Translator, critic: Critic, config: ActorCriticConfig, *, seed: int) -> None:
        super().__init__(translator, config, NoControlVariate(), seed=seed)
        self._critic, self._temperature = critic, config.temperature
        self._critic_optimiser = Optimiser(list(critic.parameters()), config.critic)
        self._sample: Sample | None = None

    def _explore(self, source: str) -> Hypothesis:
        self._sample = self._translator.sample(source, self._temperature, self._rng)
        return self._sample

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the sample holds the source)
        sample, reward = self._sample, advantage  # without a control variate, both are the same
        assert sample is not None, "a reward follows a proposal"
        if not sample.is_fallback:  # the reward of a fallback is not that of these tokens
            self._translator.backward(sample, self._token_weights(sample, reward))
        self._add_cross_entropy()
        self._optimiser.step()

    def _token_weights(self, sample: Sample, reward: float) -> list[float]:
        """Return the advantage of each token, and let the critic learn from the reward."""
        device = self._critic.body.device
        values = self._critic(pad([sample.source_ids], device), pad([sample.ids], device))
        self._critic_optimiser.zero_gradients()
        everywhere = torch.ones_like(values, dtype=torch.bool)
        squared_error(values, values.new_tensor([reward]), everywhere).backward()
        self._critic_optimiser.step()
        weights: list[float] = token_advantages(reward, values[0]).tolist()
        return weights

    def _add_cross_entropy(self) -> None:
        """Add the gradient of other text to that of the sample: none here."""

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("critic", self._critic.save_parameters())
        snapshot.put("critic optimiser", self._critic_optimiser.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._critic.load_parameters(snapshot.part("critic"))
        self._critic_optimiser.load(snapshot.part("critic optimiser"))


class MixedActorCriticLearner(ActorCriticLearner):
    """UMD-reinforce2: cross-entropy of out-of-domain text for the first tokens, policy gradient for the others."""

    def __init__(
        self,
        translator: Translator,
        critic: Critic,
        pairs: Sequence[Pair],
        config: MixedActorCriticConfig,
        *,
        seed: int,
    ) -> None:
        super().__init__(translator, critic, config, seed=seed)
        self._mixer = config.mixer
        max_words = translator.config.max_training_words
        self._pairs = [pair for pair in pairs if len(pair[0].split()) <= max_words] or list(pairs)

    def _token_weights(self, sample: Sample, reward: float) -> list[float]:
        first = self._mixer.tokens_at(self._round)
        return [0.0 if place < first else weight for place, weight in enumerate(super()._token_weights(sample, reward))]

    def _add_cross_entropy(self) -> None:
        tokens, translator = self._mixer.tokens_at(self._round), self._translator
        if not tokens:
            return
        drawn = [self._encode(int(place)) for place in self._rng.integers(len(self._pairs), size=self._mixer.pairs)]
        log_probabilities = translator.log_probabilities(
            [source for source, _ in drawn], [target for _, target in drawn]
        )
        (-log_probabilities[:, :tokens].sum() / len(drawn)).backward()

    def _encode(self, place: int) -> EncodedPair:
        source, target = self._pairs[place]
        return self._translator.encode_source(source), self._translator.encode_target(target)
