"""What can be measured on translations and references: statistics of sentences, and a score of their sum."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from leaderboard.metrics import bleu
from leaderboard.metrics.recall import RecallCounter, content_words, every_token, recall_signature
from leaderboard.metrics.sentence_bleu import Smoothing, smoothed_bleu
from leaderboard.metrics.ter import SIGNATURE as TER_SIGNATURE
from leaderboard.metrics.ter import ter_statistics

Statistics = tuple[float, ...]  # of one sentence, or of many: they add up


@dataclass(frozen=True, slots=True)
class Measure:
    """A score of a corpus, in percent."""

    name: str
    signature: str
    higher_is_better: bool
    statistics: Callable[[Sequence[str], Sequence[str]], list[Statistics]]  # of hypotheses and references, in order
    score: Callable[[Sequence[float]], float | None]  # of summed statistics; None where nothing could be measured


def bleu_measure() -> Measure:
    """Return corpus BLEU."""

    def statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[Statistics]:
        counts = map(bleu.count_ngram_matches, hypotheses, references)
        return [(*each.matches, *each.candidates, each.reference_length) for each in counts]

    def score(sums: Sequence[float]) -> float | None:
        m1, m2, m3, m4, c1, c2, c3, c4, length = map(int, sums)
        return bleu.corpus_bleu(bleu.BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), length))

    return Measure("BLEU", bleu.CORPUS_SIGNATURE, True, statistics, score)


def sentence_bleu_measure(smoothing: Smoothing = Smoothing.ADD_ONE_HIGHER) -> Measure:
    """Return the mean of smoothed sentence BLEU."""

    def statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[Statistics]:
        counts = map(bleu.count_ngram_matches, hypotheses, references)
        return [(smoothed_bleu(each, smoothing), 1.0) for each in counts]

    return Measure("SBLEU", smoothing.signature, True, statistics, _percentage)


def ter_measure() -> Measure:
    """Return translation edit rate."""

    def statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[Statistics]:
        return list(map(ter_statistics, hypotheses, references))

    return Measure("TER", TER_SIGNATURE, False, statistics, _percentage)


def recall_measures(
    language: str | None, *, known: Collection[str] = frozenset(), max_repetitions: int = 1
) -> list[Measure]:
    """Return R0, R1, up to the highest number of repetitions, and then R0+1, R0+1+2, up to all of them together.

    Args:
        language: Whose stop words do not count; None to count every token, as for subwords.
        known: Words of the training text, which do not count.
        max_repetitions: The highest number of earlier references that is reported separately.

    Raises:
        UnknownLanguageError: There is no list of stop words for this language.
    """
    counts = every_token if language is None else content_words(language)
    signature = recall_signature(language, novel=bool(known), max_repetitions=max_repetitions)

    def measure(name: str, repetitions: Sequence[int]) -> Measure:
        def statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[Statistics]:
            counter = RecallCounter(counts, max_repetitions=max_repetitions, known=known)
            scored = map(counter.add, hypotheses, references)
            return [
                (sum(each.found[k] for k in repetitions), sum(each.wanted[k] for k in repetitions)) for each in scored
            ]

        return Measure(name, signature, True, statistics, _percentage)

    singles = [measure(f"R{number}", [number]) for number in range(max_repetitions + 1)]
    unions = [range(last + 1) for last in range(1, max_repetitions + 1)]
    return [*singles, *(measure("R" + "+".join(map(str, numbers)), numbers) for numbers in unions)]


def _percentage(sums: Sequence[float]) -> float | None:
    part, whole = sums
    return 100 * part / whole if whole else None
