"""What the systems of the study of adaptation achieve with the base models of one seed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.studies.adaptation_runs import parts_of
from leaderboard.evaluation.comparison import Evaluation, evaluate
from leaderboard.evaluation.documents import ADAPTED, BASELINE, FINAL, score_documents
from leaderboard.evaluation.learning import LearningCurve, learning_curves
from leaderboard.evaluation.measures import bleu_measure, recall_measures, sentence_bleu_measure, ter_measure
from leaderboard.metrics.bootstrap import Difference
from leaderboard.metrics.learning_curve import CurveModel, LearningCurveError
from leaderboard.metrics.reliability import Reliability

NONE, FULL, LASSO, BIAS = "ADAPT-none", "ADAPT-full", "ADAPT-lasso", "ADAPT-bias"
ADAPTING = "SMT-ADAPTING"
RECALLED = (NONE, FULL, LASSO)  # the systems of Tables 3 and 4 of Simianer et al. 2019

Texts = Mapping[str, Sequence[str]]  # by system


class HeldOutTexts(NamedTuple):
    """The held-out parts of rounds as a system translates them before, with and after all adaptation."""

    outputs: Texts
    references: Sequence[str]  # of all rounds


@dataclass(frozen=True)
class SeedTexts:
    """What the systems of one base-model seed have translated."""

    references: Sequence[str]  # of the networks' rounds
    shuffled_references: Sequence[str]  # of the rounds of SMT systems, which are more
    networks: Texts  # in natural order; the first does not learn
    statistical: Texts  # in random order; the first does not learn
    reliability: Mapping[str, HeldOutTexts]  # by system
    subwords: Callable[[str], str]  # returns a text as the base model reads it


@dataclass(frozen=True)
class HeldOut:
    """Backward reliability of a system: the scores of its parts, and the differences over all of them."""

    parts: Reliability
    gain: Difference | None  # of BLEU, adapted minus baseline; None if there are too few sentences
    drift: Difference | None  # final minus adapted


@dataclass(frozen=True)
class SeedResults:
    """All scores of one base-model seed."""

    words: Evaluation  # of networks: BLEU, SBLEU, TER, R0, R1, R0+1
    novel: Evaluation  # recall of words that the training text lacks
    subwords: Evaluation  # recall of subwords
    statistical: Evaluation  # BLEU and TER
    slopes: Mapping[CurveModel, Mapping[str, LearningCurve]]  # of TER; empty if there are too few blocks
    reliability: Mapping[str, HeldOut]


def measure(texts: SeedTexts, language: str, known: Collection[str]) -> SeedResults:
    """Score all systems; ``known`` are the words of the training text."""
    recalled = {name: texts.networks[name] for name in RECALLED}
    split = {name: [texts.subwords(line) for line in lines] for name, lines in recalled.items()}
    scores = [bleu_measure(), sentence_bleu_measure(), ter_measure(), *recall_measures(language)]
    return SeedResults(
        evaluate(texts.networks, texts.references, scores),
        evaluate(recalled, texts.references, recall_measures(language, known=known)),
        evaluate(split, [texts.subwords(line) for line in texts.references], recall_measures(None)),
        evaluate(texts.statistical, texts.shuffled_references, [bleu_measure(), ter_measure()]),
        {model: _curves(texts, model) for model in CurveModel},
        {name: measure_held_out(found) for name, found in texts.reliability.items()},
    )


def _curves(texts: SeedTexts, model: CurveModel) -> Mapping[str, LearningCurve]:
    try:
        return learning_curves(texts.statistical, texts.shuffled_references, model=model)
    except LearningCurveError:
        return {}


def measure_held_out(texts: HeldOutTexts) -> HeldOut:
    """Return backward reliability."""
    found, references = texts
    parts = parts_of(len(references))
    wanted = [references[place] for _, places in parts for place in places]
    names = [f"part {number}" for number, (_, places) in enumerate(parts, start=1) for _ in places]

    def difference(first: str, second: str) -> Difference | None:
        compared = {first: found[first], second: found[second]}
        return evaluate(compared, wanted, [bleu_measure()]).scores[second][0].difference

    return HeldOut(
        score_documents(found, wanted, names, bleu_measure()),
        difference(BASELINE, ADAPTED),
        difference(ADAPTED, FINAL),
    )
