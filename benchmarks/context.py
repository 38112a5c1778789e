"""Context-aware translation: contrastive scoring in batches and one by one, and decoding in one and two passes.

``python -m benchmarks.context``. The models are of the small size and untrained: the speed of scoring does not depend
on what they have learned. Their translations are longer than those of trained models, so that the speed of decoding is
a lower bound.
"""

import sys
import time
from collections.abc import Callable, Sequence

import torch

from benchmarks.harness.bounds import Bounds
from corpora.dialogue.generator import DialogueGenerator
from leaderboard.metrics.contrastive import ContrastiveGroup, parse_group
from learners.context.concatenation import ConcatTranslator, SentenceTranslator
from learners.context.examples import Example, candidates_of
from learners.context.hierarchical import HierarchicalTranslator
from learners.context.translator import ContextTranslator
from learners.context.two_pass import DraftConfig, TwoPassTranslator
from learners.nmt.vocabulary import SubwordVocabulary
from learners.seed_models.contextual import CONTEXT_NETWORKS
from learners.seed_models.settings import Size

TEST_SETS = ("deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp")
GROUPS = 30  # of each of the four test sets
ONE_BY_ONE = 40  # candidates; more would take minutes
SENTENCES = 40
MIN_RATIO = 5.0  # of scoring in batches to scoring one by one
REPEATS = 3


def main() -> None:
    """Print sentences per second, and the ratios that a batch is worth."""
    torch.set_num_threads(1)
    generator = DialogueGenerator(1)
    pairs = [(source, target) for source, target, _ in generator.out_of_domain(4_000)]
    sets = generator.contrastive_sets()
    groups = [parse_group(group) for name in TEST_SETS for group in sets[name][:GROUPS]]
    translators = _translators([text for pair in pairs for text in pair])
    print(f"{'system':<20} {'candidates/s':>12} {'one by one':>12} {'ratio':>7} {'sentences/s':>12}")
    ratios = {}
    for name, translator in translators.items():
        batched, single = _scoring(translator, groups)
        ratios[name] = batched / single
        decoding = _decoding(translator, groups)
        print(f"{name:<20} {batched:>12.0f} {single:>12.0f} {batched / single:>6.1f}x {decoding:>12.1f}")
    one, two = (_decoding(translators[name], groups) for name in ("CONTEXT-static", "CONTEXT-cadec"))
    print(f"two passes take {one / two:.1f} times as long as one")
    bounds = Bounds()
    verdict = bounds.check(min(ratios.values()) >= MIN_RATIO)
    print(f"contrastive scoring in batches against one by one: at least {MIN_RATIO:g}x: {verdict}")
    sys.exit(0 if bounds.all_met else 1)


def _translators(texts: Sequence[str]) -> dict[str, ContextTranslator]:
    config = CONTEXT_NETWORKS[Size.SMALL]
    plain = SubwordVocabulary.learn(texts, config.vocabulary_size)
    separated = SubwordVocabulary.learn(texts, config.vocabulary_size, separator=True)
    base = SentenceTranslator.new(config, plain, seed=1)
    return {
        "CONTEXT-static": base,
        "CONTEXT-concat": ConcatTranslator.new(config, separated, seed=1),
        "CONTEXT-s-hier": HierarchicalTranslator.new(config, separated, seed=1),
        "CONTEXT-cadec": TwoPassTranslator.new(base, DraftConfig(), seed=1),
    }


def _scoring(translator: ContextTranslator, groups: Sequence[ContrastiveGroup]) -> tuple[float, float]:
    """Return the candidates per second of scoring in batches and one by one. Drafts are made before: both need them.

    One by one, every candidate takes a whole forward pass of its own: source, context and all tokens of the target.
    """
    examples = candidates_of(groups)
    translator.sentence_losses(examples)
    batched = _best_rate(len(examples), lambda: translator.sentence_losses(examples))
    few = examples[:: len(examples) // ONE_BY_ONE]
    with torch.no_grad():
        return batched, _best_rate(len(few), lambda: [float(translator.loss([example])) for example in few])


def _decoding(translator: ContextTranslator, groups: Sequence[ContrastiveGroup]) -> float:
    """Return the sentences per second of beam search in batches."""
    examples = [Example(each.source, each.context) for each in candidates_of(groups)[:SENTENCES]]
    return _best_rate(len(examples), lambda: translator.translate(examples))


def _best_rate(count: int, run: Callable[[], object]) -> float:
    """Return how many items the fastest of a few runs takes in a second of processor time, on one thread."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return count / min(times)


if __name__ == "__main__":
    main()
