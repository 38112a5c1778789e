"""The expected score of the best possible output."""

from corpora.synth import CorpusGenerator
from leaderboard.metrics.bleu import sentence_bleu


def test_the_ceiling_is_reproducible_and_below_one():
    ceiling = CorpusGenerator(1).ceiling("training", sentence_bleu, 150)
    assert 0.6 < ceiling < 0.95
    assert ceiling == CorpusGenerator(1).ceiling("training", sentence_bleu, 150)
