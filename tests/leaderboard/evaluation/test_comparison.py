"""Several systems on the same references: scores, intervals, paired differences, and curves of differences."""

import random

import pytest

from leaderboard.evaluation.comparison import EvaluationError, difference_curves, evaluate
from leaderboard.evaluation.measures import bleu_measure, recall_measures, sentence_bleu_measure, ter_measure

REFERENCES = ["the terrier bites the woman", "the man bites the terrier"]
SYSTEMS = {
    "static": ["the dog bites the lady", "the dog bites the man"],
    "adapted": ["the dog bites the lady", "the terrier bites the man"],
}


def made_up(sentences=400, seed=1):
    """References, a weak system, and one that is right somewhat more often."""
    rng = random.Random(seed)
    references, weak, strong = [], [], []
    for _ in range(sentences):
        reference = [f"w{int(60 * rng.random() ** 2)}" for _ in range(rng.randint(3, 12))]
        references.append(" ".join(reference))
        weak.append(" ".join(word if rng.random() < 0.5 else "x" for word in reference))
        strong.append(" ".join(word if rng.random() < 0.6 else "x" for word in reference))
    return references, weak, strong


def known(value):
    """A value that a score has in these tests, though it may have none."""
    assert value is not None
    return value


def test_recall_of_the_figure_of_simianer_et_al():
    evaluation = evaluate(SYSTEMS, REFERENCES, recall_measures(None))
    assert [measure.name for measure in evaluation.measures] == ["R0", "R1", "R0+1"]
    static, adapted = ([score.value for score in evaluation.scores[name]] for name in ("static", "adapted"))
    assert static == [pytest.approx(100 * 3 / 5), pytest.approx(100 * 2 / 3), pytest.approx(100 * 5 / 8)]
    assert adapted[1] == 100.0


def test_measures_say_which_direction_is_better():
    measures = [bleu_measure(), sentence_bleu_measure(), ter_measure(), *recall_measures("en")]
    assert [measure.higher_is_better for measure in measures] == [True, True, False, True, True, True]


def test_one_measure_for_each_number_of_repetitions_and_one_for_all_up_to_each():
    names = [measure.name for measure in recall_measures("de", max_repetitions=2)]
    assert names == ["R0", "R1", "R2", "R0+1", "R0+1+2"]
    assert [measure.name for measure in recall_measures("de", max_repetitions=1)] == ["R0", "R1", "R0+1"]
    assert [measure.name for measure in recall_measures("de", max_repetitions=0)] == ["R0"]


def test_a_better_system_is_told_from_a_weaker_one():
    references, weak, strong = made_up()
    evaluation = evaluate({"weak": weak, "strong": strong}, references, [ter_measure(), bleu_measure()])
    ter, bleu = evaluation.scores["strong"]
    assert known(ter.difference).high < 0 < known(bleu.difference).low
    assert known(ter.difference).mean == pytest.approx(known(ter.value) - known(evaluation.scores["weak"][0].value))
    low, high = known(ter.interval)
    assert low < known(ter.value) < high


def test_a_system_does_not_differ_from_itself():
    references, weak, _ = made_up()
    scores = evaluate({"one": weak, "other": weak}, references, [bleu_measure()]).scores
    difference = known(scores["other"][0].difference)
    assert (difference.mean, difference.low, difference.high) == (0, 0, 0)
    assert not difference.significant


def test_a_paired_interval_is_narrower_than_two_unpaired_ones():
    references, weak, _ = made_up()
    almost = [*weak[:-40], *references[-40:]]
    evaluation = evaluate({"weak": weak, "almost": almost}, references, [bleu_measure()])
    (first,), (second,) = evaluation.scores.values()
    widths = [high - low for low, high in map(known, (first.interval, second.interval))]
    assert known(second.difference).high - known(second.difference).low < sum(widths)


def test_few_sentences_get_no_interval():
    scores = evaluate(SYSTEMS, REFERENCES, [ter_measure()]).scores
    assert (scores["adapted"][0].interval, scores["adapted"][0].difference) == (None, None)


def test_what_nobody_can_be_measured_on_has_no_score():
    score = evaluate({"one": ["a"]}, ["the"], recall_measures("en")).scores["one"]
    assert [each.value for each in score] == [None, None, None]


def repeated_words(sentences, repetitions):
    """References of words that are new, but for some sentences that repeat the word of the one before."""
    words = [f"w{number - (number in repetitions)}" for number in range(sentences)]
    return words, [word if number % 2 else "x" for number, word in enumerate(words)]


def test_an_interval_rests_on_the_resamples_that_have_anything_to_measure():
    references, hypotheses = repeated_words(25, repetitions={4, 9, 14, 19})  # 25 blocks, of which 4 have a word for R1
    evaluation = evaluate({"one": hypotheses, "other": references}, references, recall_measures(None))
    r1 = evaluation.scores["one"][1]
    assert (r1.value, r1.interval) == (50.0, (0.0, 100.0))
    assert known(evaluation.scores["other"][1].difference).mean == 50.0
    assert evaluation.notes == ()


def test_an_interval_that_would_rest_on_one_block_is_left_out_and_the_notes_say_so():
    references, hypotheses = repeated_words(25, repetitions={9})
    evaluation = evaluate({"one": hypotheses, "other": references}, references, recall_measures(None))
    assert [score.interval is None for score in evaluation.scores["one"]] == [False, True, False]
    assert [score.difference is None for score in evaluation.scores["other"]] == [False, True, False]
    assert evaluation.notes == ("no interval of R1: too few sentences have such words",)


def test_notes_say_why_there_is_no_score_or_no_interval_at_all():
    nothing = evaluate({"one": ["a"]}, ["the"], recall_measures("en"))
    assert nothing.notes == ("no R0, R1, R0+1: the references have no such words",)
    few = evaluate(SYSTEMS, REFERENCES, [ter_measure(), bleu_measure()])
    assert few.notes == ("no intervals: they need at least 10 sentences, and there are 2",)


def test_a_difference_curve_scores_all_sentences_up_to_each():
    r1 = recall_measures(None)[1]
    assert difference_curves(SYSTEMS, REFERENCES, r1) == {"adapted": [(2, pytest.approx(100 / 3))]}


@pytest.mark.parametrize(
    ("systems", "references", "complaint"),
    [
        ({}, ["a"], "there is nothing to evaluate"),
        ({"one": []}, [], "there is nothing to evaluate"),
        ({"one": ["a"]}, ["a", "b"], "one has 1 sentences, but the references have 2"),
        ({"one": ["a", "b"]}, ["a", " "], "reference 2 is empty"),
    ],
)
def test_texts_that_do_not_belong_together_are_refused(systems, references, complaint):
    with pytest.raises(EvaluationError, match=complaint):
        evaluate(systems, references, [ter_measure()])
