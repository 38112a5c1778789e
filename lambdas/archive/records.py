"""The kinds of lines in an archive, and the objects that they hold."""

from dataclasses import dataclass
from typing import Any

from lambdas.archive.file_format import END, HEADER
from lambdas.registry import ApiKey, Participant, PhaseRecord
from lambdas.task_loader import SentencePair
from lambdas.tokens import KeyRing
from leaderboard.families import Role
from leaderboard.metrics.bleu import BleuStatistics
from task.rounds import Round, Run

# Kinds in the order of the file; rounds follow their run. Keys are last, so that no participant can play before
# everything else is restored.
SECTIONS = [HEADER, "phase", "participant", "role", "ring", "run", "text", "key", END]

FIELD_TYPES: dict[str, dict[str, type]] = {
    HEADER: {"format": str, "version": int, "made_at": int, "texts": bool, "keys": bool},
    "phase": {
        "name": str,
        "repeatable": bool,
        "layout": list,
        "perturbation": str,
        "seed": int,
        "block_size": int,
        "fingerprint": str,
        "runs": int,
        "state": str,
        "checkpoints": list,
    },
    "participant": {"name": str, "created_at": int, "disabled": bool, "formerly": object},
    "role": {"participant": str, "system": str, "kind": str, "family": object},
    "ring": {"secrets": dict},
    "run": {
        "id": str,
        "participant": str,
        "phase": str,
        "system": str,
        "attempt": int,
        "opened_at": int,
        "key": int,
    },
    "round": {
        "index": int,
        "translation": str,
        "shown": float,
        "clean": float,
        "statistics": list,
        "shown_ticks": int,
        "clean_ticks": int,
        "committed_at": int,
    },
    "text": {"phase": str, "source": str, "reference": str},
    "key": {"digest": str, "participant": str, "created_at": int, "revoked": bool},
    END: {"lines": int, "sha256": str},
}
# The fields of a round whose names in the file differ from those of ``task.rounds.Round``.
_ROUND_ATTRIBUTES = {
    "shown": "observed_reward",
    "clean": "true_reward",
    "shown_ticks": "observed_ticks",
    "clean_ticks": "true_ticks",
}
_MAX_COUNT = 2**31  # of n-grams, exclusive: statistics are packed as 32-bit integers


@dataclass(frozen=True, slots=True)
class Header:
    """When an archive was made, and whether it contains texts and keys."""

    made_at: int
    texts: bool
    keys: bool


@dataclass(frozen=True, slots=True)
class ArchivedPhase:
    """A phase, and the checkpoints by which its text is recognised."""

    record: PhaseRecord
    checkpoints: list[str]


@dataclass(frozen=True, slots=True)
class ArchivedPair:
    """A sentence pair of a phase."""

    phase: str
    pair: SentencePair


@dataclass(frozen=True, slots=True)
class Trailer:
    """The number of lines before the last one, and their checksum."""

    lines: int
    sha256: str


Record = Header | ArchivedPhase | Participant | Role | Run | Round | ArchivedPair | KeyRing | ApiKey | Trailer


def check_fields(kind: str, fields: Any) -> None:
    """Raise an error unless a line has exactly the fields of its kind, with their types, and no number over 64 bits."""
    types = FIELD_TYPES[kind]
    if not isinstance(fields, dict) or fields.keys() != types.keys():
        raise ValueError
    for name, value in fields.items():
        if types[name] is not object and type(value) is not types[name]:
            raise TypeError
        if type(value) is int and not 0 <= value < 2**63:
            raise OverflowError


def from_round(played: Round) -> dict[str, Any]:
    """Return the fields of a round. Its run is not among them: it is on the line before the run's first round."""
    counts = BleuStatistics.from_bytes(played.statistics)
    fields = {name: getattr(played, _ROUND_ATTRIBUTES.get(name, name)) for name in FIELD_TYPES["round"]}
    return {**fields, "statistics": [*counts.matches, *counts.candidates, counts.reference_length]}


def to_round(run: Run, fields: dict[str, Any]) -> Round:
    """Return the round that a line holds; raise ValueError if its statistics are impossible."""
    m1, m2, m3, m4, c1, c2, c3, c4, reference_length = fields["statistics"]
    counts = BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length)
    pairs = zip(counts.matches, counts.candidates, strict=True)
    if not all(type(count) is int for count in fields["statistics"]):
        raise ValueError
    if not all(0 <= matches <= candidates < _MAX_COUNT for matches, candidates in pairs):
        raise ValueError
    if not 0 <= reference_length < _MAX_COUNT:
        raise ValueError
    attributes = {_ROUND_ATTRIBUTES.get(name, name): value for name, value in fields.items()}
    return Round(run, **{**attributes, "statistics": counts.to_bytes()})
