"""Generating a synthetic task in one and in two processes, and cleaning against plain sacremoses in two processes.

Prints pairs per second, peak memory and ratios, each bound with whether it is met. The exit code is 1 if one is missed.
``--full`` generates a task of the size of WMT 2017 (1,297,974 training rounds and a million out-of-domain pairs), which
takes some minutes.
"""

import argparse
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.memory import peak_megabytes
from corpora.cleaning import CHUNK_SIZE, CleaningCounts, CleaningSettings, clean_all, point_decimals, pretokenise
from corpora.non_printing import drop_non_printing
from corpora.parallel import ordered_map
from corpora.scales import SCALES, Scale, ScaleName
from corpora.synth import CorpusGenerator
from corpora.synthesis import LANGUAGES, synthesise_task
from corpora.task import Pair
from task.limits import MAX_OUT_OF_DOMAIN_TOKENS

PROCESSES = 2
SMALL_SCALE = replace(SCALES[ScaleName.DEMO], departments=None)  # of the whole shop
CLEANED_PAIRS = 40_000  # enough that the start of two processes hardly counts
RIVAL_PAIRS = 8_000  # a sample of them, for sacremoses
MAX_MEGABYTES = 600  # of all processes together
SETTINGS = CleaningSettings(*LANGUAGES, MAX_OUT_OF_DOMAIN_TOKENS)


def generate(scale: Scale, processes: int) -> float:
    """Generate a task and return the pairs per second."""
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        synthesise_task(Path(directory) / "task", scale, processes=processes)
        return scale.lines / (time.perf_counter() - start)


def raw_pairs(count: int) -> list[Pair]:
    """Return uncleaned text: capitals, punctuation attached to words, typographic dashes."""
    generator = CorpusGenerator(1)
    half = count // 2
    clean = itertools.chain(generator.in_domain("training", half), generator.out_of_domain(count - half))
    return [
        Pair(_undo_cleaning(source), _undo_cleaning(target), str(number))
        for number, (source, target) in enumerate(clean)
    ]


def _undo_cleaning(text: str) -> str:
    for spaced, closed in ((" ,", ","), (" .", "."), (" :", ":"), (" - ", " – "), ("( ", "("), (" )", ")")):
        text = text.replace(spaced, closed)
    return text[:1].upper() + text[1:]


@cache
def _tools(language: str) -> tuple[MosesPunctNormalizer, MosesTokenizer]:
    return MosesPunctNormalizer(language, pre_replace_unicode_punct=True), MosesTokenizer(language)


def plain_sacremoses(pairs: list[Pair]) -> list[tuple[str, ...]]:
    """Clean pairs with the same steps and unchanged sacremoses."""
    cleaned = []
    for pair in pairs:
        sides = []
        for text, language in zip(pair[:2], LANGUAGES, strict=True):
            normaliser, tokeniser = _tools(language)
            text = pretokenise(normaliser.normalize(drop_non_printing(text)).lower(), language)
            sides.append(point_decimals(" ".join(tokeniser.tokenize(text, escape=False))))
        cleaned.append(tuple(sides))
    return cleaned


def plain_sacremoses_in_parallel(pairs: list[Pair]) -> list[tuple[str, ...]]:
    """Clean pairs with unchanged sacremoses in as many processes."""
    return list(itertools.chain.from_iterable(ordered_map(plain_sacremoses, chunks(pairs), processes=PROCESSES)))


def chunks(pairs: list[Pair]) -> Iterator[list[Pair]]:
    return (pairs[start : start + CHUNK_SIZE] for start in range(0, len(pairs), CHUNK_SIZE))


def compare_cleaning(bounds: Bounds) -> None:
    """Clean the same pairs with ours and with sacremoses, and print the rates and how many differ."""
    pairs = raw_pairs(CLEANED_PAIRS)
    start = time.perf_counter()
    counts = CleaningCounts()
    cleaned = {pair.document: pair[:2] for pair in clean_all(pairs, SETTINGS, counts, processes=PROCESSES)}
    ours = len(pairs) / (time.perf_counter() - start)
    sample = pairs[:: len(pairs) // RIVAL_PAIRS]
    start = time.perf_counter()
    expected = plain_sacremoses_in_parallel(sample)
    theirs = len(expected) / (time.perf_counter() - start)
    kept = [
        (cleaned[raw.document], rival) for raw, rival in zip(sample, expected, strict=True) if raw.document in cleaned
    ]
    different = sum(1 for mine, rival in kept if mine != rival)
    print(f"cleaning, {PROCESSES} processes           {ours:10,.0f} pairs/s")
    print(f"plain sacremoses, {PROCESSES} processes   {theirs:10,.0f} pairs/s")
    print(f"ratio                           {ours / theirs:10.1f}   {bounds.check(ours >= theirs)}: at least 1")
    print(f"of {len(kept):,} pairs that the filters kept, {different:,} differ   {bounds.check(not different)}: none")


def main() -> int:
    bounds = Bounds()
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="generate a task of the size of WMT 2017")
    scale = SCALES[ScaleName.FULL] if options.parse_args().full else SMALL_SCALE
    print(f"a task of {scale.lines:,} lines")
    several = generate(scale, PROCESSES)
    memory = peak_megabytes() + PROCESSES * peak_megabytes(resource.RUSAGE_CHILDREN)
    print(
        f"generating, {PROCESSES} processes         {several:10,.0f} pairs/s, {scale.lines / several / 60:.1f} minutes"
    )
    verdict = bounds.check(memory < MAX_MEGABYTES)
    print(f"peak memory                     {memory:10,.0f} MB  {verdict}: under {MAX_MEGABYTES} MB")
    if scale is SMALL_SCALE:
        one = generate(scale, 1)
        print(f"generating, 1 process           {one:10,.0f} pairs/s")
        print(f"ratio                           {several / one:10.1f}")
    compare_cleaning(bounds)
    return 0 if bounds.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
