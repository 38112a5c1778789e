"""One round of expected-loss learning, batch of one, by three implementations of the same arithmetic.

naive        torch; every step runs the model on the whole prefix again and keeps the graph; Adam parameter by parameter
torch        encode once, draw without gradient, one teacher-forced pass, fused Adam on all parameters as one vector
accelerated  the compiled engine that draws and differentiates the GRU, with the same fused Adam

All get the same parameters, sources and random numbers before each round, and must draw the same tokens and arrive at
the same gradients. The floor is the time in which this machine moves the bytes that a round cannot avoid moving: every
decoder step reads the decoder, learning reads all parameters and updates all gradients, Adam reads four and writes
three vectors. Its bandwidth is measured here, on vectors of the model's size.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from learners.nmt.batches import padded, previous
from learners.nmt.configs import MODEL_CONFIGS, ModelConfig
from learners.nmt.decoding import draw, length_bound
from learners.nmt.engine import Engine
from learners.nmt.gru import GruModel
from learners.nmt.model import TranslationModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.processor import denormals_as_zero
from learners.nmt.translator import new_model
from learners.nmt.vocabulary import BOS, EOS

ROUNDS = 25
REPEATS = 4  # of each round; the best counts, since noise on a shared machine only ever slows down
VOCABULARY = MODEL_CONFIGS["gru-small"].vocabulary_size
SOURCE_LENGTH = 12  # subwords of a typical sentence of the task
ADVANTAGE = 0.1
RATE = 1e-5  # of Adam
CPU = torch.device("cpu")
PARTS = ("encode", "decode", "backward", "optimiser")


@dataclass
class Round:
    """What one implementation made of one round."""

    ids: list[int]
    gradient: torch.Tensor
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


class Clock:
    """Splits a round into its parts, by processor time: what neighbours on a shared machine take does not count."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, part: str) -> None:
        now = time.process_time()
        self.seconds[part] = now - self._last
        self._last = now


class Naive:
    """What one writes first."""

    def __init__(self, model: TranslationModel) -> None:
        self.model = model
        self._optimiser = torch.optim.Adam(model.parameters(), lr=RATE, foreach=False, fused=False)

    def parameters(self) -> torch.Tensor:
        return torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()

    def set_parameters(self, vector: torch.Tensor) -> None:
        torch.nn.utils.vector_to_parameters(vector.clone(), self.model.parameters())

    def play(self, source: list[int], uniforms: np.ndarray) -> Round:
        clock = Clock()
        ids: list[int] = []
        total = torch.zeros(())
        for position in range(length_bound(len(source))):
            logits = self.model(padded([source], CPU), torch.tensor([[BOS, *ids]]))[0, -1]
            cumulative = logits.detach().softmax(0).double().cumsum(0)
            token = int(torch.searchsorted(cumulative, uniforms[position] * cumulative[-1], right=True))
            total = total + logits.log_softmax(0)[token]
            ids.append(token)
            if token == EOS:
                break
        clock.lap("decode")
        self._optimiser.zero_grad()
        (-ADVANTAGE * total).backward()
        clock.lap("backward")
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        clock.lap("clip")
        gradient = torch.cat([_gradient(parameter).reshape(-1) for parameter in self.model.parameters()])
        clock.lap("(copy)")
        self._optimiser.step()
        clock.lap("optimiser")
        clock.seconds["optimiser"] += clock.seconds.pop("clip")
        del clock.seconds["(copy)"]
        return Round(ids, gradient, clock.seconds)


class Flat:
    """What the two good implementations share: the one vector and its optimiser."""

    def __init__(self, model: TranslationModel) -> None:
        self.model = model
        self.flat = FlatParameters(model)
        self._optimiser = torch.optim.Adam([self.flat.vector], lr=RATE, fused=True)

    def parameters(self) -> torch.Tensor:
        return self.flat.vector.detach().clone()

    def set_parameters(self, vector: torch.Tensor) -> None:
        self.flat.vector.data.copy_(vector)

    def step(self, ids: list[int], clock: Clock) -> Round:
        self.flat.clip_gradient(1.0)
        clock.lap("clip")
        gradient = self.flat.gradient.clone()
        clock.lap("(copy)")
        self._optimiser.step()
        self.flat.zero_gradient()
        clock.lap("optimiser")
        clock.seconds["optimiser"] += clock.seconds.pop("clip")
        del clock.seconds["(copy)"]
        return Round(ids, gradient, clock.seconds)


class Torch(Flat):
    """The best that torch does without compiling."""

    def play(self, source: list[int], uniforms: np.ndarray) -> Round:
        clock = Clock()
        with torch.no_grad():
            self.model.encode(padded([source], CPU))
        clock.lap("encode")
        ids = draw(self.model, padded([source], CPU), 1.0, uniforms).ids
        clock.lap("decode")
        clock.seconds["decode"] -= clock.seconds["encode"]  # drawing encodes, too
        targets = padded([ids], CPU)
        logits = self.model(padded([source], CPU), previous(targets))[0]
        (-ADVANTAGE * logits.log_softmax(-1).gather(1, targets.T).sum()).backward()
        clock.lap("backward")
        return self.step(ids, clock)


class Accelerated(Flat):
    """The compiled engine."""

    def __init__(self, model: GruModel) -> None:
        super().__init__(model)
        self._engine = Engine(model)

    def play(self, source: list[int], uniforms: np.ndarray) -> Round:
        clock = Clock()
        encoded = self._engine.encode(source)
        clock.lap("encode")
        drawn, trace = self._engine.decode(encoded, 1.0, uniforms)
        clock.lap("decode")
        self._engine.backward(trace, np.full(len(drawn.ids), ADVANTAGE), 0.0)
        clock.lap("backward")
        return self.step(drawn.ids, clock)


Contender = Naive | Torch | Accelerated


def _gradient(parameter: torch.nn.Parameter) -> torch.Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def fresh(config: ModelConfig) -> TranslationModel:
    """An untrained model that ends a sentence after a dozen tokens on average, as a trained one would."""
    model = new_model(config, VOCABULARY, VOCABULARY, seed=1).eval()
    if not isinstance(model, GruModel):  # its logits start out large: let it be nearly uniform, too
        model.source_embedding.weight.data *= 0.02
    model.output_bias.data[EOS] = np.log(VOCABULARY / SOURCE_LENGTH)
    return model


def best_of(contender: Contender, parameters: torch.Tensor, source: list[int], uniforms: np.ndarray) -> Round:
    rounds = []
    for _ in range(REPEATS):
        contender.set_parameters(parameters)
        rounds.append(contender.play(source, uniforms))
    return min(rounds, key=lambda played: played.total)


def compete(contenders: Sequence[Contender]) -> tuple[list[list[Round]], list[int]]:
    """Rounds by contender, and the lengths of the translations."""
    rng = np.random.default_rng(7)
    parameters = contenders[0].parameters()
    for contender in contenders:  # everybody warms up, and the engine compiles
        contender.set_parameters(parameters)
        contender.play([EOS], rng.random(length_bound(1)))
    played: list[list[Round]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        source = [*rng.integers(4, VOCABULARY, SOURCE_LENGTH - 1).tolist(), EOS]
        uniforms = rng.random(length_bound(len(source)))
        for rounds, contender in zip(played, contenders, strict=True):
            rounds.append(best_of(contender, parameters, source, uniforms))
        parameters = contenders[-1].parameters()
    return played, [len(one.ids) for one in played[0]]


def bandwidth(size: int) -> float:
    """Bytes per second, read and written, by copies within a set of five vectors such as Adam's."""
    vectors = [torch.ones(size) for _ in range(5)]
    best = np.inf
    for _ in range(60):
        start = time.process_time()
        for place in range(5):
            vectors[place].copy_(vectors[place - 1])
        best = min(best, (time.process_time() - start) / 5)
    return 2 * vectors[0].nbytes / best


def least_bytes(model: TranslationModel, length: int) -> int:
    """What a round with a translation of that length has to move."""
    everything = sum(parameter.numel() for parameter in model.parameters())
    stepwise = sum(
        parameter.numel() for name, parameter in model.named_parameters() if name.startswith(("decoder", "combine"))
    )
    stepwise += VOCABULARY * (model.target_embedding.weight.shape[1] + 1)
    encoder = sum(parameter.numel() for name, parameter in model.named_parameters() if name.startswith("encoder"))
    learning = everything + 2 * everything  # read parameters, read and write gradients
    optimising = everything + 7 * everything + everything  # the norm; Adam; clearing the gradient
    return 4 * (encoder + length * stepwise + learning + optimising)


def report(name: str, config: ModelConfig, kinds: Sequence[Callable[[TranslationModel], Contender]]) -> None:
    contenders = [kind(fresh(config)) for kind in kinds]
    played, lengths = compete(contenders)
    speed = bandwidth(contenders[0].parameters().numel())
    floor = float(np.mean([least_bytes(contenders[0].model, length) for length in lengths])) / speed
    print(
        f"{name}: {contenders[0].parameters().numel():,} parameters, {ROUNDS} rounds, {SOURCE_LENGTH} source and "
        f"{np.mean(lengths):.1f} target tokens on average"
    )
    print(f"  {'ms per round':14}{'total':>8}" + "".join(f"{part:>11}" for part in PARTS) + "   x naive   x floor")
    naive = float(np.mean([one.total for one in played[0]]))
    for contender, rounds in zip(contenders, played, strict=True):
        total = float(np.mean([one.total for one in rounds]))
        parts = [1e3 * float(np.mean([one.seconds.get(part, 0.0) for one in rounds])) for part in PARTS]
        print(
            f"  {type(contender).__name__.lower():14}{1e3 * total:8.2f}"
            + "".join(f"{part:11.2f}" for part in parts)
            + f"{naive / total:10.1f}{total / floor:10.1f}"
        )
    print(f"  {'floor':14}{1e3 * floor:8.2f}   from bytes moved at {speed / 1e9:.1f} GB/s")
    same = all(len({tuple(one.ids) for one in rounds}) == 1 for rounds in zip(*played, strict=True))
    apart = max(
        float((one.gradient - other.gradient).abs().max())
        for rounds in played[1:]
        for one, other in zip(played[0], rounds, strict=True)
    )
    print(f"  same tokens drawn in every round: {same}; largest difference of gradients: {apart:.1e}")


def main() -> None:
    with denormals_as_zero():
        report("GRU (the default config)", MODEL_CONFIGS["gru-small"], [Naive, Torch, Accelerated])  # type: ignore[list-item]
        report("Transformer", MODEL_CONFIGS["transformer-small"], [Naive, Torch])


if __name__ == "__main__":
    main()
