"""One round of expected-loss learning with a batch of one, by three implementations of the same arithmetic.

naive        torch; every step runs the model on the whole prefix again and keeps the graph; Adam parameter by parameter
torch        encode once, sample without gradients, one teacher-forced pass, fused Adam on all parameters as one vector
accelerated  the compiled engine that samples from, differentiates and optimises the GRU

All get the same parameters, sources and random numbers before each round, and must sample the same tokens and compute
the same gradients. The floor is the time in which this machine moves the bytes that a round has to move: every decoder
step reads the decoder, learning reads all parameters and updates all gradients, Adam reads four vectors and writes
three. The memory bandwidth is measured here, on vectors of the model's size.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from learners.bandit.optimiser import clipping_factor
from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import MODEL_CONFIGS, ModelConfig
from learners.nmt.decoding import max_output_length, sample
from learners.nmt.engine import Engine
from learners.nmt.engine.adam import EngineAdam
from learners.nmt.gru import GruModel
from learners.nmt.model import TranslationModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.processor import denormals_as_zero
from learners.nmt.translator import new_model
from learners.nmt.vocabulary import BOS, EOS

ROUNDS = 25
REPEATS = 4  # of each round; the fastest counts, since noise on a shared machine only slows down
VOCABULARY = MODEL_CONFIGS["gru-small"].vocabulary_size
SOURCE_LENGTH = 12  # subwords of a typical sentence of the task
ADVANTAGE = 0.1
LEARNING_RATE = 1e-5  # of Adam
CPU = torch.device("cpu")
PARTS = ("encode", "decode", "backward", "optimiser")


@dataclass
class Measurement:
    """The result and the time of one implementation in one round."""

    ids: list[int]
    gradient: torch.Tensor
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


class LapTimer:
    """Measures the parts of a round in processor time, which other processes on the machine do not affect."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, part: str) -> None:
        now = time.process_time()
        self.seconds[part] = now - self._last
        self._last = now


def measurement(ids: list[int], gradient: torch.Tensor, timer: LapTimer) -> Measurement:
    """Return what was measured; clipping counts as optimising, copying the gradient for comparison does not count."""
    seconds = {part: time for part, time in timer.seconds.items() if part in PARTS}
    seconds["optimiser"] += timer.seconds["clip"]
    return Measurement(ids, gradient, seconds)


class Naive:
    """The simplest implementation."""

    def __init__(self, model: TranslationModel) -> None:
        self.model = model
        self._optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, foreach=False, fused=False)

    def parameters(self) -> torch.Tensor:
        return torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()

    def set_parameters(self, vector: torch.Tensor) -> None:
        torch.nn.utils.vector_to_parameters(vector.clone(), self.model.parameters())

    def run_round(self, source: list[int], uniforms: np.ndarray) -> Measurement:
        timer = LapTimer()
        ids: list[int] = []
        total = torch.zeros(())
        for position in range(max_output_length(len(source))):
            logits = self.model(pad([source], CPU), torch.tensor([[BOS, *ids]]))[0, -1]
            cumulative = logits.detach().softmax(0).double().cumsum(0)
            token = int(torch.searchsorted(cumulative, uniforms[position] * cumulative[-1], right=True))
            total = total + logits.log_softmax(0)[token]
            ids.append(token)
            if token == EOS:
                break
        timer.lap("decode")
        self._optimiser.zero_grad()
        (-ADVANTAGE * total).backward()
        timer.lap("backward")
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        timer.lap("clip")
        gradient = torch.cat([_gradient(parameter).reshape(-1) for parameter in self.model.parameters()])
        timer.lap("(copy)")
        self._optimiser.step()
        timer.lap("optimiser")
        return measurement(ids, gradient, timer)


class Flat:
    """The common part of the two fast implementations: one vector of parameters and its optimiser."""

    def __init__(self, model: TranslationModel) -> None:
        self.model = model
        self.flat = FlatParameters(model)
        self._optimiser = torch.optim.Adam([self.flat.vector], lr=LEARNING_RATE, fused=True)

    def parameters(self) -> torch.Tensor:
        return self.flat.vector.detach().clone()

    def set_parameters(self, vector: torch.Tensor) -> None:
        self.flat.vector.data.copy_(vector)

    def step(self, ids: list[int], timer: LapTimer) -> Measurement:
        self.flat.clip_gradient(1.0)
        timer.lap("clip")
        gradient = self.flat.gradient.clone()
        timer.lap("(copy)")
        self._optimiser.step()
        self.flat.zero_gradient()
        timer.lap("optimiser")
        return measurement(ids, gradient, timer)


class Torch(Flat):
    """The fastest implementation in torch without compilation."""

    def run_round(self, source: list[int], uniforms: np.ndarray) -> Measurement:
        timer = LapTimer()
        with torch.no_grad():
            self.model.encode(pad([source], CPU))
        timer.lap("encode")
        ids = sample(self.model, pad([source], CPU), 1.0, uniforms).ids
        timer.lap("decode")
        timer.seconds["decode"] -= timer.seconds["encode"]  # sampling encodes, too
        targets = pad([ids], CPU)
        logits = self.model(pad([source], CPU), shift_right(targets))[0]
        (-ADVANTAGE * logits.log_softmax(-1).gather(1, targets.T).sum()).backward()
        timer.lap("backward")
        return self.step(ids, timer)


class Accelerated(Flat):
    """The compiled engine."""

    def __init__(self, model: GruModel) -> None:
        super().__init__(model)
        self._engine = Engine(model)
        self._adam = EngineAdam([self.flat.vector], lr=LEARNING_RATE)

    def run_round(self, source: list[int], uniforms: np.ndarray) -> Measurement:
        timer = LapTimer()
        encoded = self._engine.encode(source)
        timer.lap("encode")
        sampled, trace = self._engine.decode(encoded, 1.0, uniforms)
        timer.lap("decode")
        self._engine.backward(trace, np.full(len(sampled.ids), ADVANTAGE), 0.0)
        timer.lap("backward")
        factor = clipping_factor(self._adam.gradient_norm(), 1.0)
        timer.lap("clip")
        gradient = factor * self.flat.gradient
        timer.lap("(copy)")
        self._adam.scaled_step(factor)
        timer.lap("optimiser")
        return measurement(sampled.ids, gradient, timer)


Implementation = Naive | Torch | Accelerated


def _gradient(parameter: torch.nn.Parameter) -> torch.Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def untrained_model(config: ModelConfig) -> TranslationModel:
    """Return an untrained model that ends a sentence after a dozen tokens on average, as a trained model does."""
    model = new_model(config, VOCABULARY, VOCABULARY, seed=1).eval()
    if not isinstance(model, GruModel):  # its initial logits are large: make it nearly uniform, too
        model.source_embedding.weight.data *= 0.02
    model.output_bias.data[EOS] = np.log(VOCABULARY / SOURCE_LENGTH)
    return model


def fastest_of(
    implementation: Implementation, parameters: torch.Tensor, source: list[int], uniforms: np.ndarray
) -> Measurement:
    rounds = []
    for _ in range(REPEATS):
        implementation.set_parameters(parameters)
        rounds.append(implementation.run_round(source, uniforms))
    return min(rounds, key=lambda measured: measured.total)


def measure(implementations: Sequence[Implementation]) -> tuple[list[list[Measurement]], list[int]]:
    """Return the measurements by implementation, and the lengths of the translations."""
    rng = np.random.default_rng(7)
    parameters = implementations[0].parameters()
    for implementation in implementations:  # warm-up; the engine compiles
        implementation.set_parameters(parameters)
        implementation.run_round([EOS], rng.random(max_output_length(1)))
    measured: list[list[Measurement]] = [[] for _ in implementations]
    for _ in range(ROUNDS):
        source = [*rng.integers(4, VOCABULARY, SOURCE_LENGTH - 1).tolist(), EOS]
        uniforms = rng.random(max_output_length(len(source)))
        for rounds, implementation in zip(measured, implementations, strict=True):
            rounds.append(fastest_of(implementation, parameters, source, uniforms))
        parameters = implementations[-1].parameters()
    return measured, [len(one.ids) for one in measured[0]]


def bandwidth(size: int) -> float:
    """Return the bytes per second, read and written, of copies among five vectors, as many as Adam uses."""
    vectors = [torch.ones(size) for _ in range(5)]
    best = np.inf
    for _ in range(60):
        start = time.process_time()
        for place in range(5):
            vectors[place].copy_(vectors[place - 1])
        best = min(best, (time.process_time() - start) / 5)
    return 2 * vectors[0].nbytes / best


def minimum_bytes(model: TranslationModel, length: int) -> int:
    """Return the bytes that a round with a translation of this length has to move."""
    everything = sum(parameter.numel() for parameter in model.parameters())
    stepwise = sum(
        parameter.numel() for name, parameter in model.named_parameters() if name.startswith(("decoder", "combine"))
    )
    stepwise += VOCABULARY * (model.target_embedding.weight.shape[1] + 1)
    encoder = sum(parameter.numel() for name, parameter in model.named_parameters() if name.startswith("encoder"))
    learning = everything + 2 * everything  # read parameters, read and write gradients
    optimising = everything + 7 * everything + everything  # the norm; Adam; zeroing the gradient
    return 4 * (encoder + length * stepwise + learning + optimising)


def report(name: str, config: ModelConfig, kinds: Sequence[Callable[[TranslationModel], Implementation]]) -> None:
    implementations = [kind(untrained_model(config)) for kind in kinds]
    measured, lengths = measure(implementations)
    speed = bandwidth(implementations[0].parameters().numel())
    floor = float(np.mean([minimum_bytes(implementations[0].model, length) for length in lengths])) / speed
    print(
        f"{name}: {implementations[0].parameters().numel():,} parameters, {ROUNDS} rounds, {SOURCE_LENGTH} source and "
        f"{np.mean(lengths):.1f} target tokens on average"
    )
    print(f"  {'ms per round':14}{'total':>8}" + "".join(f"{part:>11}" for part in PARTS) + "   x naive   x floor")
    naive = float(np.mean([one.total for one in measured[0]]))
    for implementation, rounds in zip(implementations, measured, strict=True):
        total = float(np.mean([one.total for one in rounds]))
        parts = [1e3 * float(np.mean([one.seconds.get(part, 0.0) for one in rounds])) for part in PARTS]
        print(
            f"  {type(implementation).__name__.lower():14}{1e3 * total:8.2f}"
            + "".join(f"{part:11.2f}" for part in parts)
            + f"{naive / total:10.1f}{total / floor:10.1f}"
        )
    print(f"  {'floor':14}{1e3 * floor:8.2f}   from bytes moved at {speed / 1e9:.1f} GB/s")
    same = all(len({tuple(one.ids) for one in rounds}) == 1 for rounds in zip(*measured, strict=True))
    apart = max(
        float((one.gradient - other.gradient).abs().max())
        for rounds in measured[1:]
        for one, other in zip(measured[0], rounds, strict=True)
    )
    print(f"  same tokens sampled in every round: {same}; largest difference of gradients: {apart:.1e}")


def main() -> None:
    with denormals_as_zero():
        report("GRU (the default model)", MODEL_CONFIGS["gru-small"], [Naive, Torch, Accelerated])  # type: ignore[list-item]
        report("Transformer", MODEL_CONFIGS["transformer-small"], [Naive, Torch])


if __name__ == "__main__":
    main()
