"""The cost of learning from post-edits: networks against a plain fine-tuning step, foreground models against training.

For networks, the rival is the step that anybody writes in torch: a forward pass, a backward pass, clipping, SGD. Prints
CPU milliseconds per update for each method, and the bytes that it keeps for each user. For the adapting SMT, the rival
is training the foreground again from all blocks. Repetitions of all are measured in turn, and the median counts.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from benchmarks.harness.bounds import Bounds
from corpora.synth import CorpusGenerator
from learners.adaptation.fixed import choose_tensors, fixed_adaptation
from learners.adaptation.lasso import LassoAdaptation, LassoConfig
from learners.adaptation.neural import (
    AdaptationConfig,
    BiasAdaptation,
    NeuralAdaptation,
    full_adaptation,
    top_adaptation,
)
from learners.adaptation.parameters import AdaptedParameters
from learners.adaptation.statistical.model import Background, Foreground
from learners.contract import Feedback, Sentence
from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import TRANSFORMER_ADAPTATION_SMALL
from learners.nmt.pretraining import new_translator
from learners.nmt.translator import Translator

TRAINING_PAIRS = 2_000
UPDATES = 3  # on each post-edit: a model that was not trained never reaches the target perplexity
FULL_BOUND = 1.0  # times the milliseconds of plain fine-tuning, at most
BIAS_BOUND = 0.5
BLOCK_WORDS = 1_000
BLOCKS = 50
FOREGROUND_BOUND = 10.0  # times as fast as training from all blocks, at least

MIN_WORDS = 6  # of the post-edits of networks
STREAM = 12_000  # lines of the shop, enough for all blocks

Pair = tuple[str, str]


def _pairs(lines: Iterable[Sequence[str]]) -> list[Pair]:
    return [(line[0], line[1]) for line in lines]


@dataclass(frozen=True)
class PlainFineTuning:
    """A plain fine-tuning step in torch, repeated as often as the methods repeat theirs."""

    translator: Translator
    learning_rate: float = 1e-2

    def learn(self, pair: Pair) -> None:
        translator, model = self.translator, self.translator.model
        optimiser = torch.optim.SGD(model.parameters(), lr=self.learning_rate)
        source = pad([translator.encode_source(pair[0])], model.device)
        target = pad([translator.encode_target(pair[1])], model.device)
        for _ in range(UPDATES):
            optimiser.zero_grad()
            loss = F.cross_entropy(model(source, shift_right(target))[0], target[0], reduction="sum")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()


def learners(pairs: Sequence[Pair], base: Callable[[], Translator]) -> dict[str, NeuralAdaptation]:
    """Return a learner of each method, each with a base model of its own."""
    config = AdaptationConfig(max_updates=UPDATES)
    choice = choose_tensors(base(), pairs[:20], config)

    def parameters() -> AdaptedParameters:
        return AdaptedParameters(base())

    return {
        "full": full_adaptation(parameters(), config),
        "bias": BiasAdaptation(parameters(), AdaptationConfig(max_updates=UPDATES, learning_rate=1.0)),
        "top": top_adaptation(parameters(), config),
        "fixed": fixed_adaptation(parameters(), choice, config),
        "lasso": LassoAdaptation(parameters(), LassoConfig(max_updates=UPDATES)),
    }


def milliseconds(work: Callable[[Pair], object], pairs: Sequence[Pair]) -> float:
    """Return the CPU milliseconds per update."""
    start = time.process_time()
    for pair in pairs:
        work(pair)
    return 1_000 * (time.process_time() - start) / (UPDATES * len(pairs))


def measure_networks(pairs: Sequence[Pair], post_edits: Sequence[Pair], rounds: int, bounds: Bounds) -> None:
    """Print the cost of each method, and check it."""
    config = TRANSFORMER_ADAPTATION_SMALL
    snapshot = new_translator(config, pairs).snapshot()

    def base() -> Translator:
        return Translator.from_snapshot(snapshot)

    methods = learners(post_edits, base)

    def update(learner: NeuralAdaptation) -> Callable[[Pair], None]:
        return lambda pair: learner.update(Sentence(pair[0]), "", Feedback(0.0, pair[1]))

    plain = PlainFineTuning(base())
    work: dict[str, Callable[[Pair], None]] = {"plain fine-tuning": plain.learn}
    work |= {name: update(learner) for name, learner in methods.items()}
    times: dict[str, list[float]] = {name: [] for name in work}
    for repetition in range(rounds + 1):
        for name, one in work.items():
            taken = milliseconds(one, post_edits)
            if repetition:  # the first time, caches are cold
                times[name].append(taken)
    size = sum(tensor.numel() for tensor in plain.translator.model.parameters())
    print(
        f"{config.name}: {size:,} parameters; {len(post_edits)} post-edits, {UPDATES} updates each, median of {rounds}"
    )
    print(f"{'method':>20} {'ms/update':>10} {'ratio':>6} {'bytes per user':>15}")
    rival = statistics.median(times["plain fine-tuning"])
    limits = {"full": FULL_BOUND, "bias": BIAS_BOUND}
    for name, own in times.items():
        ratio = statistics.median(one / other for one, other in zip(own, times["plain fine-tuning"], strict=True))
        stored = f"{methods[name].offsets.nbytes:,}" if name in methods else f"{4 * size:,}"
        bound = f"  at most {limits[name]}: {bounds.check(ratio <= limits[name])}" if name in limits else ""
        print(f"{name:>20} {rival * ratio:10.2f} {ratio:6.2f} {stored:>15}{bound}")


def blocks_of(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return blocks of about ``BLOCK_WORDS`` source words."""
    blocks: list[list[Pair]] = [[]]
    for pair in pairs:
        if sum(len(source.split()) for source, _ in blocks[-1]) >= BLOCK_WORDS:
            blocks.append([])
        blocks[-1].append(pair)
    return blocks[:BLOCKS]


def measure_foreground(pairs: Sequence[Pair], bounds: Bounds) -> None:
    """Print the cost of the fiftieth block, against training from all fifty, and check it."""
    background = Background.train(pairs)
    blocks = blocks_of(_pairs(CorpusGenerator(2).in_domain("training", STREAM)))
    Foreground(background).add(blocks[0])  # compiles
    foreground, taken = Foreground(background), list[float]()
    for block in blocks:
        start = time.process_time()
        foreground.add(block)
        taken.append(time.process_time() - start)
    start = time.process_time()
    Foreground(background).add([pair for block in blocks for pair in block])
    whole = time.process_time() - start
    last = statistics.median(taken[-5:])
    print(f"\nforeground of SMT-ADAPTING: {len(blocks)} blocks of about {BLOCK_WORDS:,} source words")
    print(f"first blocks {1_000 * statistics.median(taken[:5]):.0f} ms, last blocks {1_000 * last:.0f} ms each")
    met = bounds.check(whole / last >= FOREGROUND_BOUND)
    print(
        f"training from all blocks {1_000 * whole:.0f} ms: {whole / last:.1f} times, at least {FOREGROUND_BOUND}: {met}"
    )


def main() -> None:
    """Measure, print, and exit with 1 if a bound was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--post-edits", type=int, default=20, help="post-edits per repetition")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions")
    options = parser.parse_args()
    pairs, bounds = _pairs(CorpusGenerator(1).out_of_domain(TRAINING_PAIRS)), Bounds()
    shop = _pairs(CorpusGenerator(1).in_domain("training", 200))
    post_edits = [pair for pair in shop if len(pair[0].split()) >= MIN_WORDS]
    measure_networks(pairs, post_edits[: options.post_edits], options.rounds, bounds)
    measure_foreground(pairs, bounds)
    sys.exit(0 if bounds.all_met else 1)


if __name__ == "__main__":
    main()
