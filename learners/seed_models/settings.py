"""Build settings: how large the networks of a model store are, their architecture, and what they read."""

from dataclasses import dataclass
from enum import StrEnum


class Size(StrEnum):
    """How large the networks are."""

    TINY = "tiny"  # for tests: learns next to nothing, in seconds
    SMALL = "small"  # under a million parameters: minutes on a CPU
    PAPER = "paper"  # as published: days on a CPU, hours on a GPU


class Architecture(StrEnum):
    """The architecture of the networks."""

    GRU = "gru"  # the task's, and the one with a compiled engine for the CPU
    TRANSFORMER = "transformer"


@dataclass(frozen=True)
class BuildSettings:
    """The settings of all networks in a model store."""

    size: Size = Size.SMALL
    architecture: Architecture = Architecture.GRU
    split: bool = False  # compounds and hyphenated words of the source in parts, as the SMT-SPLIT systems read them
