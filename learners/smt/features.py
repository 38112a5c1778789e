"""The fourteen features of the log-linear model.

The first twelve have the names of cdec's dense features. Logarithms are to base 10, and of probabilities themselves, so
that more is better (cdec writes most of them with the opposite sign). Counts are those of the whole training text; cdec
counts in a sample of 300 occurrences. The last two come from Hiero and Moses: the number of rules of a derivation, and
how far it departs from the order of the source.
"""

from typing import NamedTuple


class FeatureIndex(NamedTuple):
    """The position of each feature in a feature vector."""

    EgivenFCoherent: int = 0  # log probability of a rule's target side given its source side
    SampleCountF: int = 1  # log of 1 + occurrences of the source side
    CountEF: int = 2  # log of 1 + occurrences of the rule
    MaxLexFgivenE: int = 3  # log probability of the source words, each given its most probable partner in the target
    MaxLexEgivenF: int = 4  # the same of the target words, given the source
    IsSingletonF: int = 5  # rules whose source side was seen once
    IsSingletonFE: int = 6  # rules that were seen once
    Glue: int = 7  # spans that were concatenated by the glue rule
    WordPenalty: int = 8  # minus the number of words
    PassThrough: int = 9  # source words copied because no rule translates them
    LanguageModel: int = 10  # log probability of the translation
    LanguageModel_OOV: int = 11  # words that the language model does not know
    RuleCount: int = 12  # rules that translate something
    Reordering: int = 13  # minus the source words jumped over; in Hiero, minus the rules that swap their gaps


FEATURES = FeatureIndex._fields
FEATURE = FeatureIndex()
