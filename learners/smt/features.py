"""The fourteen features of a log-linear model.

The first twelve bear the names of cdec's dense features; logarithms are to base 10, and of probabilities themselves, so
that more is better (cdec writes most of them with the opposite sign). Counts are those of the whole training text;
cdec counts in a sample of 300 occurrences. The last two are what Hiero and Moses have beside them: how many rules a
derivation has, and how far it departs from the order of the source.
"""

from typing import NamedTuple


class FeatureIndex(NamedTuple):
    """Where each feature is in a vector."""

    EgivenFCoherent: int = 0  # log probability of a rule's target side given its source side
    SampleCountF: int = 1  # log of 1 + occurrences of the source side
    CountEF: int = 2  # log of 1 + occurrences of the rule
    MaxLexFgivenE: int = 3  # log probability of the source words, each given its best partner in the target
    MaxLexEgivenF: int = 4  # and the other way round
    IsSingletonF: int = 5  # rules whose source side was seen once
    IsSingletonFE: int = 6  # rules that were seen once
    Glue: int = 7  # parts that were put side by side
    WordPenalty: int = 8  # minus the number of words
    PassThrough: int = 9  # source words that were copied, because nothing translates them
    LanguageModel: int = 10  # log probability of the translation
    LanguageModel_OOV: int = 11  # words that the language model does not know
    RuleCount: int = 12  # rules that translate something
    Reordering: int = 13  # minus the source words jumped over; in Hiero, minus the rules that swap their gaps


FEATURES = FeatureIndex._fields
FEATURE = FeatureIndex()
