"""Making a synthetic task on one and on two processes, and our cleaning against plain sacremoses in one process.

Prints pairs per second and peak memory. ``--full`` makes the task at the size of the original (1,297,974 training
rounds and a million out-of-domain pairs) instead of a small one, which takes some minutes.
"""

import argparse
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer

from corpora.characters import drop_non_printing
from corpora.cleaning import OUT_OF_DOMAIN_TOKENS, Counts, Settings, clean_all, point_decimals, pretokenise
from corpora.description import Description
from corpora.synth import GENERATOR_VERSION, Generator
from corpora.synthesis import LANGUAGES, LICENCE, synthesise
from corpora.task import Pair
from lambdas.feedback import Feedback
from simulator.scales import SCALES, Scale, ScaleName

PROCESSES = 2
SMALL = SCALES[ScaleName.DEMO]
CLEANED_BY_US = 40_000  # pairs; enough that starting two processes hardly counts
CLEANED_BY_RIVAL = 2_000
SETTINGS = Settings(*LANGUAGES, OUT_OF_DOMAIN_TOKENS)


def megabytes(whose: int) -> float:
    """Peak memory of this process, or of the largest of its children."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whose).ru_maxrss * unit / 1e6


def generate(scale: Scale, processes: int) -> float:
    """Pairs per second of writing a whole task."""
    description = Description(*LANGUAGES, 1, f"synth {GENERATOR_VERSION}", LICENCE, "none", Feedback().signature)
    with tempfile.TemporaryDirectory() as aside:
        start = time.perf_counter()
        synthesise(Path(aside) / "task", description, scale.phases, scale.out_of_domain, Generator, processes=processes)
        return scale.lines / (time.perf_counter() - start)


def raw_pairs(count: int) -> list[Pair]:
    """Text as it might come in: capitals, closed-up punctuation, typographic quotes and dashes."""
    generator = Generator(1)
    half = count // 2
    clean = itertools.chain(generator.in_domain("training", half), generator.out_of_domain(count - half))
    return [Pair(_dirty(source), _dirty(target), str(number)) for number, (source, target) in enumerate(clean)]


def _dirty(text: str) -> str:
    for spaced, closed in ((" ,", ","), (" .", "."), (" :", ":"), (" - ", " – "), ("( ", "("), (" )", ")")):
        text = text.replace(spaced, closed)
    return text[:1].upper() + text[1:]


def plain_sacremoses(pairs: list[Pair]) -> Iterator[tuple[str, str]]:
    """The same steps with sacremoses as it is."""
    tools = [(MosesPunctNormalizer(lang, pre_replace_unicode_punct=True), MosesTokenizer(lang)) for lang in LANGUAGES]
    for pair in pairs:
        sides = []
        for text, language, (normaliser, tokeniser) in zip(pair[:2], LANGUAGES, tools, strict=True):
            text = pretokenise(normaliser.normalize(drop_non_printing(text)).lower(), language)
            sides.append(point_decimals(" ".join(tokeniser.tokenize(text, escape=False))))
        yield sides[0], sides[1]


def compare_cleaning() -> None:
    pairs = raw_pairs(CLEANED_BY_US)
    start = time.perf_counter()
    counts = Counts()
    cleaned = {pair.document: pair[:2] for pair in clean_all(pairs, SETTINGS, counts, processes=PROCESSES)}
    ours = len(pairs) / (time.perf_counter() - start)
    start = time.perf_counter()
    sample = pairs[:: len(pairs) // CLEANED_BY_RIVAL]
    expected = list(plain_sacremoses(sample))
    theirs = len(expected) / (time.perf_counter() - start)
    kept = [
        (cleaned[raw.document], rival) for raw, rival in zip(sample, expected, strict=True) if raw.document in cleaned
    ]
    different = sum(1 for mine, rival in kept if mine != rival)
    print(f"cleaning, {PROCESSES} processes           {ours:10,.0f} pairs/s")
    print(f"plain sacremoses, 1 process     {theirs:10,.0f} pairs/s")
    print(f"ratio                           {ours / theirs:10.1f}")
    print(f"of {len(kept):,} pairs that the filters kept, {different:,} differ")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="generate at the size of the original task")
    scale = SCALES[ScaleName.FULL] if options.parse_args().full else SMALL
    print(f"a task of {scale.lines:,} lines")
    several = generate(scale, PROCESSES)
    children = megabytes(resource.RUSAGE_CHILDREN)
    print(f"generating, {PROCESSES} processes         {several:10,.0f} pairs/s")
    print(f"peak memory                     {megabytes(resource.RUSAGE_SELF) + PROCESSES * children:10,.0f} MB at most")
    if scale is SMALL:
        one = generate(scale, 1)
        print(f"generating, 1 process           {one:10,.0f} pairs/s")
        print(f"ratio                           {several / one:10.1f}")
    compare_cleaning()


if __name__ == "__main__":
    main()
