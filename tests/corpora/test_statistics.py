"""The statistics of Sokolov et al. 2017, section 2, computed by hand for a few pairs."""

import math
from collections import Counter

import pytest

from corpora.statistics import PAPER_VALUES, CorpusStatistics, LengthStatistics, measure_task, out_of_tolerance
from corpora.task import Pair, Task, TaskWriter, in_served_order, write_pairs
from task.description import OUT_OF_DOMAIN
from task.layout import Layout
from tests.corpora.tasks import description

IN_DOMAIN = [
    Pair("rot", "red"),
    Pair("rot", "red"),  # a duplicate on both sides
    Pair("rot", "crimson"),  # another target
    Pair("nylon seil xk-77", "nylon rope xk-77"),
    Pair("blau , gr. xl", "blue , size xl"),
]
NEWS = [Pair("das rot , das blau gr. seil", "the red , the blue rope size"), Pair("ein nylon", "a nylon rope")]


def exact_copies(hypothesis: str, reference: str) -> float:
    return float(hypothesis.split()[0] == reference.split()[0])


def write(path, news=NEWS) -> Task:
    with TaskWriter(path, description()) as writer:
        layout = Layout(blocks=2, block=1, gap=4)  # the first pair is served twice
        pairs = in_served_order(IN_DOMAIN, layout, "dev")
        writer.add("dev", write_pairs(writer.directory, "dev", ("de", "en"), pairs), layout)
        if news:
            writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), news))
    return Task.open(path)


def test_length_statistics():
    lengths = LengthStatistics.of(Counter([1, 1, 1, 3, 4]))
    assert lengths == LengthStatistics(mean=2.0, deviation=math.sqrt(1.6), median=1, longest=4)
    assert math.isnan(LengthStatistics.of(Counter()).mean)


def test_the_statistics_of_a_small_task(tmp_path):
    found = measure_task(write(tmp_path / "task"), exact_copies)
    assert found == CorpusStatistics(
        in_domain_pairs=5,
        out_of_domain_pairs=2,
        in_domain=LengthStatistics(mean=2.0, deviation=math.sqrt(1.6), median=1, longest=4),
        out_of_domain=LengthStatistics(mean=4.5, deviation=2.5, median=2, longest=7),
        duplicates=1 / 5,
        served_duplicates=2 / 6,  # and the second pass of the held-out block
        several_targets=1 / 3,
        source_oov=2 / 10,  # xk-77 and xl
        target_oov=3 / 10,  # crimson, xk-77 and xl
        copy_score=1 / 5,
        source_vocabulary=8,
        target_vocabulary=9,
    )


def test_repetitions_are_counted_within_their_phase(tmp_path):
    with TaskWriter(tmp_path / "task", description()) as writer:
        for part in ("dev", "mock"):
            files = write_pairs(writer.directory, part, ("de", "en"), IN_DOMAIN)
            writer.add(part, files, Layout.plain(len(IN_DOMAIN)))
    found = measure_task(Task.open(tmp_path / "task"), exact_copies)
    assert (found.in_domain_pairs, found.duplicates, found.several_targets) == (10, 2 / 10, 2 / 6)


def test_statistics_of_a_missing_out_of_domain_side_are_nan(tmp_path):
    found = measure_task(write(tmp_path / "task", news=[]), exact_copies)
    assert found.out_of_domain_pairs == 0
    assert math.isnan(found.source_oov)
    assert math.isnan(found.out_of_domain.longest)
    assert math.isnan(found.out_of_domain.median)
    assert not [name for name in out_of_tolerance(found) if name.startswith(("source_oov", "out_of_domain"))]


def test_numbers_out_of_tolerance_are_named(tmp_path):
    found = measure_task(write(tmp_path / "task"), exact_copies)
    assert "duplicates" in out_of_tolerance(found)
    assert "in_domain_longest" not in out_of_tolerance(found)


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("in_domain_mean", 6.3, 6.29),
        ("in_domain_median", 7, 6),
        ("in_domain_longest", 25, 26),
        ("out_of_domain_mean", 24.5, 24.6),
        ("duplicates", 0.125, 0.126),
        ("several_targets", 0.03, 0.029),
        ("source_oov", 0.07, 0.071),
        ("target_oov", 0.013, 0.012),
        ("copy_score", 0.06, 0.061),
    ],
)
def test_accepted_ranges_include_their_bounds(name, inside, outside):
    assert PAPER_VALUES[name].accepts(inside)
    assert not PAPER_VALUES[name].accepts(outside)


def test_every_value_of_the_paper_is_measured(tmp_path):
    assert set(measure_task(write(tmp_path / "task"), exact_copies).flat()) >= set(PAPER_VALUES)
