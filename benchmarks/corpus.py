"""Making a synthetic task on one and on two processes, and our cleaning against plain sacremoses on as many.

Prints pairs per second, peak memory and ratios, each with its bound; a broken one makes the exit code 1. ``--full``
makes the task at the size of the original (1,297,974 training rounds and a million out-of-domain pairs) instead of a
small one, which takes some minutes.
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

from corpora.cleaning import CHUNK_SIZE, CleaningCounts, CleaningSettings, clean_all, point_decimals, pretokenise
from corpora.non_printing import drop_non_printing
from corpora.parallel import ordered_map
from corpora.scales import SCALES, Scale, ScaleName
from corpora.synth import CorpusGenerator
from corpora.synthesis import LANGUAGES, synthesise_task
from corpora.task import Pair
from task.limits import MAX_OUT_OF_DOMAIN_TOKENS

PROCESSES = 2
SMALL = replace(SCALES[ScaleName.DEMO], departments=None)  # of the whole shop
CLEANED_BY_US = 40_000  # pairs; enough that starting two processes hardly counts
CLEANED_BY_RIVAL = 8_000
MEMORY = 600  # megabytes that all processes together may take
SETTINGS = CleaningSettings(*LANGUAGES, MAX_OUT_OF_DOMAIN_TOKENS)


def megabytes(whose: int) -> float:
    """Peak memory of this process, or of the largest of its children."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whose).ru_maxrss * unit / 1e6


def generate(scale: Scale, processes: int) -> float:
    """Pairs per second of writing a whole task."""
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        synthesise_task(Path(directory) / "task", scale, processes=processes)
        return scale.lines / (time.perf_counter() - start)


def raw_pairs(count: int) -> list[Pair]:
    """Text as it might come in: capitals, closed-up punctuation, typographic quotes and dashes."""
    generator = CorpusGenerator(1)
    half = count // 2
    clean = itertools.chain(generator.in_domain("training", half), generator.out_of_domain(count - half))
    return [Pair(_dirty(source), _dirty(target), str(number)) for number, (source, target) in enumerate(clean)]


def _dirty(text: str) -> str:
    for spaced, closed in ((" ,", ","), (" .", "."), (" :", ":"), (" - ", " – "), ("( ", "("), (" )", ")")):
        text = text.replace(spaced, closed)
    return text[:1].upper() + text[1:]


@cache
def _tools(language: str) -> tuple[MosesPunctNormalizer, MosesTokenizer]:
    return MosesPunctNormalizer(language, pre_replace_unicode_punct=True), MosesTokenizer(language)


def plain_sacremoses(pairs: list[Pair]) -> list[tuple[str, ...]]:
    """The same steps with sacremoses as it is."""
    cleaned = []
    for pair in pairs:
        sides = []
        for text, language in zip(pair[:2], LANGUAGES, strict=True):
            normaliser, tokeniser = _tools(language)
            text = pretokenise(normaliser.normalize(drop_non_printing(text)).lower(), language)
            sides.append(point_decimals(" ".join(tokeniser.tokenize(text, escape=False))))
        cleaned.append(tuple(sides))
    return cleaned


def in_parallel(pairs: list[Pair]) -> list[tuple[str, ...]]:
    """Plain sacremoses on as many processes as ours."""
    return list(itertools.chain.from_iterable(ordered_map(plain_sacremoses, pieces(pairs), processes=PROCESSES)))


def pieces(pairs: list[Pair]) -> Iterator[list[Pair]]:
    return (pairs[start : start + CHUNK_SIZE] for start in range(0, len(pairs), CHUNK_SIZE))


class Bounds:
    """What has been promised, and whether all of it was kept."""

    def __init__(self) -> None:
        self.all_kept = True

    def verdict(self, is_kept: bool) -> str:
        self.all_kept = self.all_kept and is_kept
        return "kept" if is_kept else "BROKEN"


def compare_cleaning(bounds: Bounds) -> None:
    pairs = raw_pairs(CLEANED_BY_US)
    start = time.perf_counter()
    counts = CleaningCounts()
    cleaned = {pair.document: pair[:2] for pair in clean_all(pairs, SETTINGS, counts, processes=PROCESSES)}
    ours = len(pairs) / (time.perf_counter() - start)
    sample = pairs[:: len(pairs) // CLEANED_BY_RIVAL]
    start = time.perf_counter()
    expected = in_parallel(sample)
    theirs = len(expected) / (time.perf_counter() - start)
    kept = [
        (cleaned[raw.document], rival) for raw, rival in zip(sample, expected, strict=True) if raw.document in cleaned
    ]
    different = sum(1 for mine, rival in kept if mine != rival)
    print(f"cleaning, {PROCESSES} processes           {ours:10,.0f} pairs/s")
    print(f"plain sacremoses, {PROCESSES} processes   {theirs:10,.0f} pairs/s")
    print(f"ratio                           {ours / theirs:10.1f}   {bounds.verdict(ours >= theirs)}: at least 1")
    print(f"of {len(kept):,} pairs that the filters kept, {different:,} differ   {bounds.verdict(not different)}: none")


def main() -> int:
    bounds = Bounds()
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="generate at the size of the original task")
    scale = SCALES[ScaleName.FULL] if options.parse_args().full else SMALL
    print(f"a task of {scale.lines:,} lines")
    several = generate(scale, PROCESSES)
    memory = megabytes(resource.RUSAGE_SELF) + PROCESSES * megabytes(resource.RUSAGE_CHILDREN)
    print(
        f"generating, {PROCESSES} processes         {several:10,.0f} pairs/s, {scale.lines / several / 60:.1f} minutes"
    )
    print(f"peak memory                     {memory:10,.0f} MB  {bounds.verdict(memory < MEMORY)}: under {MEMORY} MB")
    if scale is SMALL:
        one = generate(scale, 1)
        print(f"generating, 1 process           {one:10,.0f} pairs/s")
        print(f"ratio                           {several / one:10.1f}")
    compare_cleaning(bounds)
    return 0 if bounds.all_kept else 1


if __name__ == "__main__":
    sys.exit(main())
