"""What a search or a sample comes back with."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Hypothesis:
    """One translation: its tokens, its text, and how the model came to it."""

    source_ids: list[int]  # as the model read them: cut at the bound, the end symbol last
    ids: list[int]  # with the end symbol last, unless the length bound was hit
    text: str  # unknowns replaced; never empty
    log_probability: float  # of ids, from the distribution that they were drawn from (tempered for a sample)
    verbatim: bool = field(default=True, kw_only=True)  # is text that of ids? Where they have none, it stands in


@dataclass(frozen=True)
class Sample(Hypothesis):
    """A translation drawn at random, with what learning from it needs."""

    temperature: float
    features: Floats  # what the encoder made of the source, one vector: input to a value baseline
    trace: object = None  # the accelerated engine's memory of the draw; None when torch drew
