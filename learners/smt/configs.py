"""Settings of a statistical model: limits of training and of search."""

from dataclasses import dataclass
from enum import StrEnum


class DecoderKind(StrEnum):
    """The two decoders; one model serves both. Model files store the values."""

    HIERO = "hiero"  # hierarchical rules with gaps, in a CKY chart (Chiang 2007)
    PHRASE_BASED = "phrases"  # contiguous phrases, left to right, with reordering (Koehn et al. 2003)


@dataclass(frozen=True, kw_only=True)
class SmtConfig:
    """The limits of training and search. Model files store them under the names in ``learners.stored_names``."""

    lm_order: int = 4  # longer n-grams hardly recur in small text
    alignment_iterations: int = 5  # of EM, the default of fast_align
    max_pair_length: int = 150  # tokens of both sides together; longer pairs align badly
    max_phrase_length: int = 5  # source words of a contiguous phrase
    max_singleton_length: int = 3  # longer phrases seen once are most of the table, and hardly ever match again
    max_target_length: int = 8  # words on the target side of a rule
    max_span: int = 10  # source words under a gapped rule; beyond it, parts are glued together in order
    max_source_symbols: int = 5  # words and gaps on the source side of a gapped rule (Chiang 2007)
    min_gapped_count: int = 2  # occurrences of a gapped rule: without a minimum, their number explodes
    max_gapped_rules: int = 4_000_000  # the minimum count rises until there are no more
    table_limit: int = 20  # translations kept for each source side, the most frequent ones
    pop_limit: int = 100  # hypotheses per cell: 30 gives the phrase-based decoder worse scores, 600 hardly better ones
    distortion_limit: int = 6  # source words that a jump may cross, the default of Moses
