"""Translations that a search or a sample returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Hypothesis:
    """One translation: its tokens, its text and its log-probability."""

    source_ids: list[int]  # as the model read them: truncated, the end symbol last
    ids: list[int]  # the end symbol last, unless the maximum length was reached
    text: str  # unknown tokens replaced; never empty
    log_probability: float  # of ids, under the distribution that they were decoded from (tempered for a sample)
    is_fallback: bool = field(default=False, kw_only=True)  # the ids have no text, so that another text replaces it


@dataclass(frozen=True)
class Sample(Hypothesis):
    """A translation that was sampled, with what learning from it needs."""

    temperature: float
    attention: Floats | None = field(default=None, kw_only=True)  # [target, source]; None if it was not kept
    trace: object = None  # what the accelerated engine computed while sampling; None when torch sampled
    # With which the text was sampled, as the probability of its tokens, end symbol included. Other tokens can have the
    # same text; their probability is not added, because they cannot be enumerated. None if nothing was sampled (at a
    # temperature that is greedy), or if the text is not that of the tokens (a fallback, a truncated text).
    text_log_probability: float | None = field(default=None, kw_only=True)
