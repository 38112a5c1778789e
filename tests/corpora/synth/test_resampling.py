"""The shares of lengths, duplicates and several targets hold for any candidates."""

from itertools import islice

import pytest

from corpora.synth.random_stream import RandomStream
from corpora.synth.resampling import Resampler
from corpora.synth.shop import LENGTH_SHARES, ProductLine


def candidates(distinct: int, alternatives: bool = True):
    """Yield lines with the right shares of lengths; with few distinct ones, sources repeat."""
    rng = RandomStream("candidates")
    sizes = list(LENGTH_SHARES)
    while True:
        size = rng.choice(sizes) if rng.chance(0.4) else ("s" if rng.chance(0.56) else "l")
        number = rng.below(distinct)
        yield ProductLine(f"{size} quelle {number}", f"target {number % 7}", "other" if alternatives else "", size)


@pytest.mark.parametrize("distinct", [30_000, 10_000_000])
def test_duplicates_and_sources_with_several_targets_have_their_shares(distinct):
    pairs = list(islice(Resampler(RandomStream(1)).stream(candidates(distinct)), 10_000))
    seen: set[tuple[str, str]] = set()
    targets: dict[str, set[str]] = {}
    repeats = 0
    for source, target, *_ in pairs:
        repeats += (source, target) in seen
        seen.add((source, target))
        targets.setdefault(source, set()).add(target)
    assert repeats / len(pairs) == pytest.approx(0.11, abs=0.003)
    assert sum(len(several) > 1 for several in targets.values()) / len(targets) == pytest.approx(0.04, abs=0.003)


def test_lengths_keep_their_shares_although_short_lines_repeat():
    def short_ones_repeat():
        for number, line in enumerate(candidates(10_000_000)):
            yield line._replace(german=f"s {number % 1500}", english="x") if line.length_class == "s" else line

    pairs = list(islice(Resampler(RandomStream(1)).stream(short_ones_repeat()), 3000))
    assert sum(source.startswith("s ") for source, *_ in pairs) / len(pairs) == pytest.approx(
        LENGTH_SHARES["s"], abs=0.06
    )


def test_a_stream_without_some_lengths_does_not_dry_up():
    long_ones = (line for line in candidates(10_000_000) if line.length_class in ("l", "x"))
    assert len(list(islice(Resampler(RandomStream(1)).stream(long_ones), 300))) == 300


def test_without_alternatives_no_source_has_several_targets():
    pairs = list(islice(Resampler(RandomStream(1)).stream(candidates(10_000_000, alternatives=False)), 2000))
    assert len({line.german for line in pairs}) == len({(line.german, line.english) for line in pairs})
