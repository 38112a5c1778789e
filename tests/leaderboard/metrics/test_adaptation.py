"""The measures of adaptation of a run, by the example of Simianer et al. 2019, and against the measures on texts."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.adaptation import NO_COUNTS, AdaptationRecord, AdaptationSums
from leaderboard.metrics.bleu import corpus_bleu, count_ngram_matches, sum_statistics
from leaderboard.metrics.packing import pack_counts
from leaderboard.metrics.post_edit import post_edit_statistics
from leaderboard.metrics.recall import ConfirmedWords, any_word, count_recall, total_recall
from leaderboard.metrics.sentence_bleu import mean_sentence_bleu
from leaderboard.metrics.ter import ter_statistics, total_ter

REFERENCES = ["the terrier bites the woman", "the man bites the terrier"]
STATIC = ["the dog bites the lady", "the dog bites the man"]
ADAPTED = ["the dog bites the lady", "the terrier bites the man"]


def packed_rounds(translations, references, is_content_word=lambda word: word != "the"):
    confirmed = ConfirmedWords(is_content_word)
    return [
        post_edit_statistics(translation, reference, confirmed.add(reference))[1]
        for translation, reference in zip(translations, references, strict=True)
    ]


def summed(packed):
    sums = AdaptationSums(AdaptationRecord())
    for each in packed:
        sums.add(each)
        sums.sample()
    return sums.record()


class TestPaperExample:
    """Figure 1 of Simianer et al. 2019: "the" is the only stop word."""

    def test_recall_of_the_adapted_system(self):
        counts = summed(packed_rounds(ADAPTED, REFERENCES)).total
        assert (counts.found_new, counts.wanted_new) == (2, 4)
        assert (counts.found_repeated, counts.wanted_repeated) == (2, 2)
        assert (counts.r0, counts.r1, counts.r0_1) == (50.0, 100.0, pytest.approx(400 / 6))

    def test_recall_of_the_static_system(self):
        counts = summed(packed_rounds(STATIC, REFERENCES)).total
        assert (counts.r0, counts.r1, counts.r0_1) == (50.0, 50.0, 50.0)

    def test_edits(self):
        record = summed(packed_rounds(ADAPTED, REFERENCES))
        assert (record.samples[1].edits, record.samples[1].edited_length) == (2, 5)
        assert record.samples[1].ter == 40.0
        assert record.total.ter == 100 * record.total.edits / 10

    def test_a_measure_without_words_is_unknown(self):
        first = summed(packed_rounds(ADAPTED[:1], REFERENCES[:1])).total
        assert (first.r0, first.r1) == (pytest.approx(100 / 3), None)
        assert (NO_COUNTS.ter, NO_COUNTS.sbleu, NO_COUNTS.bleu) == (None, None, 0.0)


def random_texts(count, seed):
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(60)]
    references = [rng.choices(words, k=rng.randint(1, 12)) for _ in range(count)]
    translations = [[word if rng.random() < 0.7 else rng.choice(words) for word in each] for each in references]
    return [" ".join(each) for each in translations], [" ".join(each) for each in references]


def test_measures_of_a_run_are_those_of_its_texts():
    translations, references = random_texts(300, seed=1)
    counts = summed(packed_rounds(translations, references, any_word)).total
    bleu = [count_ngram_matches(*pair) for pair in zip(translations, references, strict=True)]
    confirmed = ConfirmedWords(any_word)
    recall = total_recall(
        count_recall(mine, confirmed.add(reference)) for mine, reference in zip(translations, references, strict=True)
    )
    assert counts.rounds == 300
    assert counts.bleu == pytest.approx(corpus_bleu(sum_statistics(bleu)), abs=1e-9)
    assert counts.sbleu == pytest.approx(mean_sentence_bleu(bleu), abs=1e-4)
    assert counts.ter == pytest.approx(total_ter(map(ter_statistics, translations, references)).score, abs=1e-9)
    assert (counts.r0, counts.r1, counts.r0_1) == (recall.recall(0), recall.recall(1), recall.recall(0, 1))


def test_the_difference_of_two_samples_is_the_rounds_between_them():
    translations, references = random_texts(20, seed=2)
    packed = packed_rounds(translations, references, any_word)
    record = summed(packed)
    assert record.samples[20].minus(record.samples[5]) == summed(packed[5:]).total


def test_long_sentences_have_counts_of_several_bytes():
    text = " ".join(f"w{number}" for number in range(300))
    [packed] = packed_rounds([text], [text])
    assert len(packed) > 15
    counts = summed([packed]).total
    assert (counts.matches_1, counts.candidates_4, counts.edits, counts.edited_length) == (300, 297, 0, 300)
    assert (counts.sbleu, counts.found_new) == (100.0, 300)


@pytest.mark.parametrize("damaged", [b"", bytes(9), bytes(16), bytes(14) + b"\x80"])
def test_other_statistics_are_refused(damaged):
    with pytest.raises(ValueError, match="not packed statistics of a post-edit"):
        AdaptationSums(AdaptationRecord()).add(damaged)


@given(st.lists(st.lists(st.integers(0, 300), min_size=15, max_size=15), max_size=12), st.integers(0, 12))
def test_sums_do_not_depend_on_batches(rounds, cut):
    packed = []
    for counts in rounds:
        matches = [min(pair) for pair in zip(counts[:4], counts[4:8], strict=True)]
        packed.append(pack_counts([*matches, *counts[4:]]))
    sums = AdaptationSums(summed(packed[:cut]))
    for each in packed[cut:]:
        sums.add(each)
        sums.sample()
    assert sums.record() == summed(packed)
