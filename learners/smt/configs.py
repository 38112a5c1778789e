"""Settings of a statistical model: limits of training and of search."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self

from learners.errors import SnapshotError


class DecoderKind(StrEnum):
    """The two decoders; one model serves both. Model files store the values."""

    HIERO = "hiero"  # hierarchical rules with gaps, in a CKY chart (Chiang 2007)
    PHRASE_BASED = "phrases"  # contiguous phrases, left to right, with reordering (Koehn et al. 2003)


@dataclass(frozen=True, kw_only=True)
class SmtConfig:
    """The limits of training and search."""

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

    def to_file(self) -> dict[str, int]:
        """Return the settings under the names that model files use."""
        return {_NAMES_IN_FILES.get(field.name, field.name): getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_file(cls, values: dict[str, Any]) -> Self:
        """Return the settings that a model file holds.

        Raises:
            SnapshotError: the file was written by a version with other settings.
        """
        names = {_NAMES_IN_FILES.get(field.name, field.name): field.name for field in fields(cls)}
        if set(values) != set(names):
            raise SnapshotError("the model file was written by another version of banditmt")
        return cls(**{names[name]: value for name, value in values.items()})


# Model files keep the names that the settings had when format "smt 2" was defined.
_NAMES_IN_FILES = {
    "lm_order": "order",
    "alignment_iterations": "iterations",
    "max_pair_length": "longest",
    "max_phrase_length": "phrase_length",
    "max_singleton_length": "singleton_length",
    "max_target_length": "target_length",
    "max_span": "span",
    "max_source_symbols": "symbols",
    "min_gapped_count": "gapped_minimum",
    "max_gapped_rules": "most_gapped",
    "table_limit": "translations",
    "distortion_limit": "distortion",
}
