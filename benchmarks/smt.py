"""The speed of the statistical decoders, compared with the same code uncompiled in the same run.

Also prints the time of training per 100,000 sentence pairs, that of word alignment compared with sil-thot's fast_align,
and the peak memory. Times are CPU seconds, of all threads together; training also prints the seconds that elapsed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from thot.alignment import FastAlignModel

from benchmarks.harness.memory import peak_megabytes
from benchmarks.harness.searched_lists import LIST_LENGTH, SearchedLists
from corpora.synth import CorpusGenerator
from leaderboard.metrics.bleu import sentence_bleu
from learners.contract import Feedback, Sentence
from learners.smt.configs import DecoderKind
from learners.smt.fast_align import ITERATIONS, FastAlign
from learners.smt.reranking_learners import ImputationConfig, ImputingLearner
from learners.smt.translator import SmtTranslator

TRAINING_PAIRS = 5_000
SOURCE_TOKENS = 7  # the average of the task
SENTENCES = 200
INTERPRETED_SENTENCES = 2  # uncompiled code is slow
IMPUTATION_REPETITIONS = 3  # of all sources, of which the fastest counts
POP_LIMITS = (30, 100, 600)
COMPARED_POP_LIMIT = 30  # of the comparison with uncompiled code


def sources(count: int) -> list[str]:
    """Return product titles and descriptions of exactly ``SOURCE_TOKENS`` tokens."""
    found: list[str] = []
    for source, _ in CorpusGenerator(1).in_domain("training", 40 * count):
        if len(source.split()) == SOURCE_TOKENS and source not in found:
            found.append(source)
        if len(found) == count:
            break
    return found


class StageTimer:
    """A receiver of training reports that measures how long each stage takes."""

    def __init__(self) -> None:
        self._start = time.process_time()
        self._name = "preparing"
        self.seconds: list[tuple[str, float]] = []

    def __call__(self, line: str) -> None:
        now = time.process_time()
        self.seconds.append((self._name, now - self._start))
        self._start, self._name = now, line.split()[0]


def train(count: int, path: Path) -> None:
    """Train a model on synthetic out-of-domain pairs, save it, and print times and sizes."""
    pairs = list(CorpusGenerator(1).out_of_domain(count))
    SmtTranslator.train(pairs[:200]).save(path)  # compiles, so that compilation is not measured
    stages, began = StageTimer(), time.perf_counter()
    translator = SmtTranslator.train(pairs, report=stages)
    elapsed = time.perf_counter() - began
    translator.save(path)
    tokens = np.mean([len(source.split()) for source, _ in pairs])
    print(
        f"training on {count:,} pairs of {tokens:.0f} source tokens: {len(translator.model.grammar.rule_count):,} rules"
    )
    for name, seconds in stages.seconds[1:]:
        print(f"  {name:12}{seconds * 100_000 / count:8.0f} s per 100,000 pairs")
    total = sum(seconds for _, seconds in stages.seconds)
    print(
        f"  {'all':12}{total * 100_000 / count:8.0f} s per 100,000 pairs; "
        f"{elapsed * 100_000 / count:.0f} s elapsed, with {os.cpu_count()} processors"
    )
    compare_aligners(pairs)
    peak = peak_megabytes(resource.RUSAGE_SELF)
    start = time.process_time()
    SmtTranslator.load(path)
    loading = time.process_time() - start
    print(f"  peak memory {peak:,.0f} MB; model file {path.stat().st_size / 1e6:,.0f} MB, mapped in {loading:.2f} s")


def compare_aligners(pairs: Sequence[tuple[str, str]]) -> None:
    """Print the time of word alignment in both directions, ours and that of sil-thot."""
    split = [(source.split(), target.split()) for source, target in pairs]
    start = time.process_time()
    FastAlign(split).links()
    ours = time.process_time() - start
    start = time.process_time()
    for turned in (split, [(target, source) for source, target in split]):
        align_with_thot(turned)
    theirs = time.process_time() - start
    scale = 100_000 / len(pairs)
    print(f"  word alignment {ours * scale:.0f} s, sil-thot {theirs * scale:.0f} s: {theirs / ours:.1f} times as fast")


def align_with_thot(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
    model = FastAlignModel()
    for source, target in pairs:
        model.add_sentence_pair(source, target)
    model.start_training()
    for _ in range(ITERATIONS):
        model.train()
    model.end_training()
    model.get_best_alignments([source for source, _ in pairs], [target for _, target in pairs])


Operation = Callable[[SmtTranslator, str], object]


def decode(translator: SmtTranslator, source: str) -> object:
    return translator.forest(source, translator.weights).best(translator.weights)


def list_candidates(translator: SmtTranslator, source: str) -> object:
    """Decode, and extract a list of the length that learners use."""
    return translator.forest(source, translator.weights).k_best(translator.weights, LIST_LENGTH)


def learn(translator: SmtTranslator, source: str) -> object:
    """Do what an expected-loss learner does in a round."""
    forest = translator.forest(source, translator.weights)
    sampled = forest.sample(translator.weights, np.random.default_rng(1))
    forest.log_probability(sampled.translation, translator.weights)
    return forest.expectation(translator.weights)


def imputation_milliseconds(translator: SmtTranslator, texts: Sequence[str]) -> float:
    """Return the time of a round of SMT-IMPUTE apart from search: scoring, decoding, imputing, learning."""
    searched = SearchedLists(translator)
    lists = [searched.forest(text, searched.weights).k_best(searched.weights, LIST_LENGTH) for text in texts]
    references = [listed[len(listed) // 2].translation for listed in lists]  # neither the best nor the worst
    learner = ImputingLearner(searched, ImputationConfig(candidates=LIST_LENGTH), seed=1)

    def play() -> float:
        start = time.process_time()
        for text, reference in zip(texts, references, strict=True):
            sentence = Sentence(text)
            translation = learner.propose(sentence)
            learner.update(sentence, translation, Feedback(sentence_bleu(translation, reference)))
        return 1_000 * (time.process_time() - start) / len(texts)

    play()  # compiles
    return min(play() for _ in range(IMPUTATION_REPETITIONS))


def speed(translator: SmtTranslator, texts: Sequence[str], operation: Operation) -> float:
    """Return sentences per second."""
    start = time.process_time()
    for text in texts:
        operation(translator, text)
    return len(texts) / (time.process_time() - start)


def load_with_pop_limit(path: Path, kind: DecoderKind, pop_limit: int) -> SmtTranslator:
    translator = SmtTranslator.load(path, kind)
    translator.config = replace(translator.config, pop_limit=pop_limit)
    return translator


def interpreted_speed(path: Path, kind: DecoderKind) -> float:
    """Return sentences per second of the same code uncompiled, measured in its own process."""
    arguments = [sys.executable, "-m", "benchmarks.smt", "--interpreted", str(path), kind]
    done = subprocess.run(
        arguments, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def print_interpreted_speed(path: Path, kind: DecoderKind) -> None:
    """Print sentences per second, for a process that runs without the compiler."""
    warnings.simplefilter("ignore", RuntimeWarning)  # hashes overflow on purpose
    translator = load_with_pop_limit(path, kind, COMPARED_POP_LIMIT)
    translator.forest("", translator.weights)
    print(speed(translator, sources(INTERPRETED_SENTENCES), decode))


def compare(path: Path) -> None:
    """Print the speed of both decoders at several pop limits."""
    texts = sources(SENTENCES)
    print(f"{len(texts)} sources of {SOURCE_TOKENS} tokens; sentences per second on one core")
    columns = ("pop limit", "decode", "+ sample, E", "60-best", "60-best/1-best", "best score", "x interpreted")
    print(f"  {'decoder':8}" + "".join(f"{column:>{max(14, len(column) + 2)}}" for column in columns))
    for kind in DecoderKind:
        uncompiled = interpreted_speed(path, kind)
        for pop_limit in POP_LIMITS:
            translator = load_with_pop_limit(path, kind, pop_limit)
            decode(translator, texts[0])
            decoded, learned = (speed(translator, texts, operation) for operation in (decode, learn))
            ranked = speed(translator, texts, list_candidates)
            forests = [translator.forest(text, translator.weights) for text in texts]
            score = np.mean([forest.best(translator.weights).features @ translator.weights for forest in forests])
            ratio = f"{decoded / uncompiled:14.0f}" if pop_limit == COMPARED_POP_LIMIT else ""
            print(f"  {kind:8}{pop_limit:14}{decoded:14.0f}{learned:14.0f}{ranked:14.0f}", end="")
            print(f"{decoded / ranked:16.2f}{score:14.3f}{ratio}")
    translator = load_with_pop_limit(path, DecoderKind.HIERO, POP_LIMITS[1])
    took = imputation_milliseconds(translator, texts)
    searched = 1_000 / speed(translator, texts, list_candidates)
    print(f"a round of SMT-IMPUTE apart from search: {took:.2f} ms; its search: {searched:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=TRAINING_PAIRS, help="synthetic sentence pairs to train on")
    parser.add_argument("--interpreted", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.interpreted:
        print_interpreted_speed(Path(chosen.interpreted[0]), DecoderKind(chosen.interpreted[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.smt"
        train(chosen.pairs, path)
        compare(path)


if __name__ == "__main__":
    main()
