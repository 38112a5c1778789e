"""The kinds of lines in an archive, and the objects that they hold."""

from dataclasses import asdict, dataclass
from typing import Any

from lambdas.archive.file_format import END, HEADER
from lambdas.phase_record import PhaseRecord
from lambdas.registry import ApiKey, Participant
from lambdas.task_loader import SentencePair
from lambdas.task_record import TaskRecord
from lambdas.tokens import KeyRing
from lambdas.withdrawals import Withdrawal
from leaderboard.families import Role
from leaderboard.metrics.packing import pack_counts
from leaderboard.metrics.post_edit import all_counts, bleu_counts
from leaderboard.profiles import SystemProfile, TeamProfile
from task.rounds import LINK_BYTES, Round, Run

# Kinds in the order of the file; rounds follow their run. Keys are last, so that no participant can play before
# everything else is restored. Since version 2: task, team, system, withdrawal.
SECTIONS = [
    HEADER,
    "task",
    "phase",
    "participant",
    "role",
    "team",
    "system",
    "ring",
    "run",
    "withdrawal",
    "text",
    "key",
    END,
]

FIELD_TYPES: dict[str, dict[str, type]] = {
    HEADER: {"format": str, "version": int, "made_at": int, "texts": bool, "keys": bool},
    "task": {
        "source": str,
        "target": str,
        "title": str,
        "contact": str,
        "out_of_domain_url": str,
        "licence": str,
        "text": dict,
        "out_of_domain": dict,
    },
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
    "team": {"participant": str},
    "system": {"participant": str, "system": str},
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
    "withdrawal": {"run": str, "phase": str, "withdrawn": bool, "why": str, "decided_at": int},
    "text": {"phase": str, "source": str, "reference": str},
    "key": {"digest": str, "participant": str, "created_at": int, "revoked": bool},
    END: {"lines": int, "sha256": str},
}
# Fields since version 2, which a line may leave out.
OPTIONAL_FIELD_TYPES: dict[str, dict[str, type]] = {
    "phase": {"feedback": str, "metric": str, "documents": bool, "language": str, "schedule": object},
    "team": {"display_name": str, "affiliation": str, "url": str},
    "system": {"description": str, "link": str, "consistency": dict},
    "round": {"log_probability": float, "post_edit": str, "link": str},
    "text": {"position": int},
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


Record = (
    Header
    | TaskRecord
    | ArchivedPhase
    | Participant
    | Role
    | TeamProfile
    | SystemProfile
    | KeyRing
    | Run
    | Round
    | Withdrawal
    | ArchivedPair
    | ApiKey
    | Trailer
)


def check_fields(kind: str, fields: Any) -> None:
    """Raise an error unless a line has exactly the fields of its kind, with their types, and no number over 64 bits."""
    required = FIELD_TYPES[kind]
    types = required | OPTIONAL_FIELD_TYPES.get(kind, {})
    if not isinstance(fields, dict) or not required.keys() <= fields.keys() <= types.keys():
        raise ValueError
    for name, value in fields.items():
        if types[name] is not object and type(value) is not types[name]:
            raise TypeError
        if type(value) is int and not 0 <= value < 2**63:
            raise OverflowError


def from_profile(profile: TeamProfile | SystemProfile) -> dict[str, Any]:
    """Return the fields of a profile, without the entries that it does not have."""
    return {name: text for name, text in asdict(profile).items() if text is not None}


def from_round(played: Round) -> dict[str, Any]:
    """Return the fields of a round. Its run is not among them: it is on the line before the run's first round."""
    fields = {name: getattr(played, _ROUND_ATTRIBUTES.get(name, name)) for name in FIELD_TYPES["round"]}
    more = {
        "log_probability": played.log_probability,
        "post_edit": played.post_edit,
        "link": played.link.hex() or None,
    }
    known = {name: value for name, value in more.items() if value is not None}
    return {**fields, **known, "statistics": all_counts(played.statistics)}


def to_round(run: Run, fields: dict[str, Any]) -> Round:
    """Return the round that a line holds; raise ValueError if its statistics or its link are impossible."""
    counts = fields["statistics"]
    if not all(type(count) is int and 0 <= count < _MAX_COUNT for count in counts):
        raise ValueError
    packed = pack_counts(counts)
    bleu = bleu_counts(packed)
    if not all(matches <= candidates for matches, candidates in zip(bleu.matches, bleu.candidates, strict=True)):
        raise ValueError
    link = bytes.fromhex(fields.get("link", ""))
    if "link" in fields and len(link) != LINK_BYTES:
        raise ValueError
    attributes = {_ROUND_ATTRIBUTES.get(name, name): value for name, value in fields.items()}
    return Round(run, **{**attributes, "statistics": packed, "link": link})
