"""What a statistical model is made of and how it searches."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self

from learners.errors import SnapshotError


class Kind(StrEnum):
    """The two decoders; one model serves both."""

    HIERO = "hiero"  # rules with gaps, by span
    PHRASES = "phrases"  # plain phrases, from left to right, with jumps


@dataclass(frozen=True, kw_only=True)
class SmtRecipe:
    """The limits of training and search."""

    order: int = 4  # of the language model: longer histories hardly recur in small text
    iterations: int = 5  # of expectation maximisation for word alignment, as fast_align does by default
    longest: int = 150  # tokens of both sides of a pair; longer ones align badly
    phrase_length: int = 5  # source words of a plain phrase
    singleton_length: int = 3  # longer phrases seen once are most of a table, and are hardly ever seen again
    target_length: int = 8  # words on the target side of a rule
    span: int = 10  # source words under a gapped rule; beyond, parts are glued together in order
    symbols: int = 5  # words and gaps on the source side of a gapped rule (Chiang 2007)
    gapped_minimum: int = 2  # occurrences of a gapped rule: without it, their number explodes
    most_gapped: int = 4_000_000  # gapped rules; the minimum rises until there are no more
    translations: int = 20  # of one source side, the most frequent
    pop_limit: int = 100  # hypotheses per cell: with 30 phrases score worse, with 600 hardly any better
    distortion: int = 6  # source words that a jump may pass over, as in Moses

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        """The recipe that a model file tells of."""
        if set(values) != {field.name for field in fields(cls)}:
            raise SnapshotError("the model file was written by another version of banditmt")
        return cls(**values)
