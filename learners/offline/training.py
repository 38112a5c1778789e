"""Offline training: follow the gradient of an estimator over a log, in minibatches, as far as held-out rounds agree.

A tenth of the sources of the log is held out. Before the first step and every so many steps, the estimator itself says
what the policy would earn on them; the parameters with the highest estimate are the result, those of the seed model
included. Training ends after its last epoch, or where the estimate has not risen for a while.

Every random choice is a function of the seed and the step, so that an interrupted training resumes exactly.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.errors import SnapshotError
from learners.offline.batch_reader import BatchReader, PreparedRound
from learners.offline.estimators import Method, estimate
from learners.offline.logged_round import LogError, LoggedRound, batches, split_by_source, with_probability
from learners.offline.policies import Policy, PolicyConfig
from learners.offline.reward_model import RewardModel, RewardModelConfig
from learners.settings import check_bounds
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

SNAPSHOT_KIND = "offline training 1"  # changes when an older snapshot can no longer be read
MIN_CUT = 1.0  # a smaller largest weight would cut those of the logging policy itself
READ_AT_ONCE = 128  # rounds whose probabilities are computed together


@dataclass(frozen=True, kw_only=True)
class OfflineConfig:
    """How a policy is trained on a log."""

    policy: PolicyConfig = field(default_factory=PolicyConfig)
    reward_model: RewardModelConfig = field(default_factory=RewardModelConfig)
    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(learning_rate=1e-4))
    batch: int = 64  # rounds per step; reweighting within a small batch says little
    epochs: int = 5  # passes over the log, at most
    validate_every: int = 100  # steps
    patience: int = 5  # validations in a row without a higher estimate, after which training ends
    held_out: float = 0.1  # share of the sources that are not trained on
    max_held_out: int = 2_000  # rounds of them that a validation looks at: the first of the log
    max_weight: float = 10.0  # of IPS, SNIPS and DR: one rare translation would outweigh all others

    def __post_init__(self) -> None:
        check_bounds(self, batch=(1, None), epochs=(1, None), validate_every=(1, None), patience=(1, None))
        check_bounds(self, held_out=(0, 1), max_held_out=(2, None), max_weight=(MIN_CUT, None))


@dataclass(frozen=True, slots=True)
class Validation:
    """What the estimator says of the policy on the held-out rounds."""

    step: int
    steps: int  # the maximum
    value: float  # estimated reward per round
    seed_value: float  # the same of the seed model
    best: float

    @property
    def status(self) -> str:
        """One line for a user."""
        return f"estimated reward {self.value:.4f}, best {self.best:.4f}, seed model {self.seed_value:.4f}"


@dataclass(frozen=True, slots=True)
class OfflineResult:
    """What a training used, and what its estimator says of the result."""

    method: Method
    rounds: int  # trained on
    held_out: int
    without_probability: int  # rounds that were left out because their probability is not known
    unreachable: int  # rounds that were left out because the policy cannot produce their translation
    steps: int
    best_step: int  # 0: the seed model stays as it is
    seed_value: float
    value: float
    explained: float | None  # share of the variance of rewards that the reward model explains, if there is one


Watch = Callable[[Validation], None]


def train_offline(
    policy: Policy,
    method: Method,
    rounds: Sequence[LoggedRound],
    config: OfflineConfig | None = None,
    *,
    seed: int = 0,
    folder: Path | None = None,
    watch: Watch = lambda _: None,
) -> OfflineResult:
    """Train a policy on a log; it ends with the parameters of the highest held-out estimate.

    Args:
        policy: The policy; its parameters are changed in place.
        method: The estimator.
        rounds: The log.
        config: How to train.
        seed: Of the split, the order of the rounds, and all samples.
        folder: Where a snapshot is kept. A later call with the same arguments resumes from it.
        watch: Called after each validation.

    Raises:
        LogError: The log has too few rounds that the method can use.
        SnapshotError: The folder holds a snapshot of another training.
        DivergedError: The parameters are no longer finite.
    """
    training = _OfflineTraining(policy, method, rounds, config or OfflineConfig(), seed)
    snapshot = folder / "offline" if folder else None
    if snapshot and snapshot.exists():
        training.load(Snapshot.read(snapshot), snapshot)
    elif snapshot:
        snapshot.parent.mkdir(parents=True, exist_ok=True)
    for validation in training.run():
        if snapshot:
            training.save().write(snapshot)
        watch(validation)
    return training.finish()


class _OfflineTraining:
    """The state of a training: everything that a snapshot holds."""

    def __init__(
        self, policy: Policy, method: Method, rounds: Sequence[LoggedRound], config: OfflineConfig, seed: int
    ) -> None:
        usable = with_probability(rounds) if method.needs_propensities else list(rounds)
        if not usable:
            raise LogError(_no_rounds_message(method, len(rounds)))
        training, held_out = split_by_source(usable, config.held_out, seed=seed)
        model = RewardModel.fit(training, config.reward_model, seed=seed) if method.needs_reward_model else None
        self._policy, self._method, self._config, self._seed = policy, method, config, seed
        self._reader = BatchReader(policy, model, method.needs_propensities, config.max_weight)
        self._rounds = self._reader.prepare(training)
        self._held_out = self._reader.prepare(held_out)[: config.max_held_out]
        if min(len(self._rounds), len(self._held_out)) < 2:
            raise LogError(
                f"{method} can use {len(self._rounds):,} rounds of the log, and {len(self._held_out):,} held-out ones: "
                "it needs at least two of each, and of more sources"
            )
        self._left_out = (len(rounds) - len(usable), len(training) - len(self._rounds))
        self._identity = self._describe(usable)
        self._optimiser = Optimiser([policy.vector], config.optimiser)
        self._step = 0
        self._log_normaliser = 0.0
        self._values: list[float] = []  # of all validations
        self._best, self._best_step = policy.vector.detach().clone(), 0

    @property
    def _steps_per_epoch(self) -> int:
        return math.ceil(len(self._rounds) / self._config.batch)

    @property
    def _max_steps(self) -> int:
        return self._config.epochs * self._steps_per_epoch

    @property
    def _finished(self) -> bool:
        since_best = len(self._values) - 1 - self._values.index(max(self._values))
        return self._step >= self._max_steps or since_best >= self._config.patience

    def run(self) -> Iterator[Validation]:
        """Train to the end; yield each validation once it is part of the state."""
        if not self._values:
            yield self._validate()
        while not self._finished:
            self._advance()
            yield self._validate()

    def _advance(self) -> None:
        """Take the steps up to the next validation, or to the end of the epoch."""
        epoch, first = divmod(self._step, self._steps_per_epoch)
        if first == 0 and self._method is Method.OSL:
            self._log_normaliser = self._log_mean_probability()
        order = np.random.default_rng([self._seed, epoch]).permutation(len(self._rounds)).tolist()
        for indices in list(batches(order, self._config.batch))[first:]:
            self._update([self._rounds[index] for index in indices])
            self._step += 1
            if self._step % self._config.validate_every == 0:
                return

    def _update(self, rounds: Sequence[PreparedRound]) -> None:
        """Take one step along the gradient of the estimator on these rounds."""
        self._policy.zero_gradient()
        batch = self._reader.read(rounds, self._rng(1 + self._step), log_normaliser=self._log_normaliser)
        (-estimate(self._method, batch)).backward()
        self._optimiser.step()

    def _log_mean_probability(self) -> float:
        """Return the log of the mean probability of all logged translations, under the current parameters."""
        with torch.no_grad():
            parts = [
                self._policy.log_probabilities([each.prepared for each in self._rounds[start : start + READ_AT_ONCE]])
                for start in range(0, len(self._rounds), READ_AT_ONCE)
            ]
        return float(torch.cat(parts).logsumexp(0)) - math.log(len(self._rounds))

    def _validate(self) -> Validation:
        """Estimate the reward on the held-out rounds, and remember the parameters if they are the best."""
        # One-step-late reweighting is a way to take steps: its own value depends on when it was normalised last.
        method = Method.DPM_R if self._method is Method.OSL else self._method
        batch = self._reader.read_all(self._held_out, READ_AT_ONCE, self._rng(0))
        value = float(estimate(method, batch))
        if not self._values or value > max(self._values):
            self._best, self._best_step = self._policy.vector.detach().clone(), self._step
        self._values.append(value)
        return Validation(self._step, self._max_steps, value, self._values[0], max(self._values))

    def _rng(self, step: int) -> np.random.Generator:
        """Return the generator of a step's samples; 0 is that of all validations, so that they can be compared."""
        return np.random.default_rng([self._seed, self._config.epochs, step])

    def finish(self) -> OfflineResult:
        """Give the policy its best parameters."""
        with torch.no_grad():
            self._policy.vector.copy_(self._best)
        self._policy.zero_gradient()
        model = self._reader.reward_model
        return OfflineResult(
            self._method,
            len(self._rounds),
            len(self._held_out),
            *self._left_out,
            self._step,
            self._best_step,
            self._values[0],
            max(self._values),
            None if model is None else model.explained,
        )

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            {"vector": self._policy.vector.detach().cpu().numpy().copy(), "best": self._best.cpu().numpy()},
            {
                "about": self._identity,
                "step": self._step,
                "best_step": self._best_step,
                "values": self._values,
                "log_normaliser": self._log_normaliser,
            },
        )
        snapshot.put("optimiser", self._optimiser.save())
        return snapshot

    def load(self, snapshot: Snapshot, path: Path) -> None:
        if snapshot.values.get("about") != self._identity:
            raise SnapshotError(f"{path} is a snapshot of another training: remove it, or train with its arguments")
        self._step, self._best_step = snapshot.values["step"], snapshot.values["best_step"]
        self._values, self._log_normaliser = list(snapshot.values["values"]), snapshot.values["log_normaliser"]
        vector = self._policy.vector
        with torch.no_grad():
            vector.copy_(torch.from_numpy(snapshot.arrays["vector"]))
        self._best = torch.from_numpy(snapshot.arrays["best"]).to(vector.device)
        self._optimiser.load(snapshot.part("optimiser"))

    def _describe(self, rounds: Sequence[LoggedRound]) -> dict[str, Any]:
        """Return what a snapshot must agree on."""
        return {
            "kind": SNAPSHOT_KIND,
            "method": self._method.value,
            "config": to_stored(self._config),
            "seed": self._seed,
            "log": hashlib.sha256(repr(rounds).encode()).hexdigest(),
            "beginning": hashlib.sha256(self._policy.vector.detach().cpu().numpy().tobytes()).hexdigest(),
        }


def _no_rounds_message(method: Method, rounds: int) -> str:
    if not rounds:
        return "the log has no rounds to learn from"
    others = ", ".join(other for other in Method if not other.needs_propensities)
    return f"{method} needs log_probability, which no row of the log has: a deterministic log fits {others}"
