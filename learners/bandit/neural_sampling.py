"""Sampling from a network without learning: the control of expected loss."""

from learners.bandit.schedule import AnnealingSchedule
from learners.contract import Proposal
from learners.nmt.translator import Translator
from learners.sampling_control import SamplingControl


class NeuralSampling(SamplingControl):
    """BNMT-sampling, BNMT-sampling-T1 and WNMT-sampling: samples at the temperatures of a learner's schedule."""

    def __init__(self, translator: Translator, schedule: AnnealingSchedule, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._translator = translator
        self._schedule = schedule

    def _sample(self, source: str, round_number: int) -> str | Proposal:
        if self._schedule.is_frozen(round_number):
            return self._translator.greedy(source).text
        sample = self._translator.sample(source, self._schedule.temperature_at(round_number), self._rng)
        return Proposal(sample.text, sample.text_log_probability)
