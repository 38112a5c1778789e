"""What an archive says: phases, participants, roles, runs with their rounds, and, where wished for, texts and keys.

Everything is looked at on its way, in and out: types, names, order, that nothing comes twice, that sums add up, that
scores follow from their statistics, and that texts are those of their phase. What passes can be restored.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lambdas.archive.lines import END, HEADER, ArchiveError, Line
from lambdas.audit import TOLERANCE
from lambdas.errors import OrganiserError, ServiceError
from lambdas.registry import ApiKey, Participant, PhaseRecord
from lambdas.service import check_translation
from lambdas.task_loader import SentencePair, check_fingerprint
from lambdas.tokens import MAX_KEYS, KeyRing
from leaderboard.families import Role, RoleKind
from leaderboard.metrics import bleu
from task.names import is_name, is_run_id
from task.rounds import Round, Run

# Kinds in the order in which they come. Keys are last: nobody can play before everything else is restored.
SECTIONS = [HEADER, "phase", "participant", "role", "ring", "run", "text", "key", END]

STEP = 1_000  # rounds between two reports of progress

_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS: dict[str, dict[str, type]] = {
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
_ROUND_FIELDS = {
    "shown": "observed_reward",
    "clean": "true_reward",
    "shown_ticks": "observed_ticks",
    "clean_ticks": "true_ticks",
}


class LedgerError(OrganiserError):
    """A round that does not follow from those before it."""


@dataclass(frozen=True, slots=True)
class Header:
    """When an archive was made, and what it has beside the ledger and the board."""

    made_at: int
    texts: bool
    keys: bool


@dataclass(frozen=True, slots=True)
class PhaseEntry:
    """A phase, and what its text is recognised by."""

    record: PhaseRecord
    checkpoints: list[str]


@dataclass(frozen=True, slots=True)
class Text:
    """A pair of a phase."""

    phase: str
    pair: SentencePair


@dataclass(frozen=True, slots=True)
class End:
    """What vouches for the lines before it."""

    lines: int
    sha256: str


Item = Header | PhaseEntry | Participant | Role | Run | Round | Text | KeyRing | ApiKey | End


def round_says(played: Round) -> dict[str, Any]:
    """A round as a line says it; its run is the one named before."""
    counts = bleu.BleuStatistics.from_bytes(played.statistics)
    fields = {name: getattr(played, _ROUND_FIELDS.get(name, name)) for name in _FIELDS["round"]}
    return {**fields, "statistics": [*counts.matches, *counts.candidates, counts.reference_length]}


def checked(record: PhaseRecord, run: Run, rounds: Iterable[Round]) -> Iterator[Round]:
    """The rounds of a run as they come; one that does not follow from those before it is refused."""
    earned = (0, 0)
    for position, played in enumerate(rounds):
        complaint = _complaint(record, position, played)
        if complaint is None:
            if played.ticks_before == earned:
                earned = played.ticks_after
                yield played
                continue
            complaint = "the sums are not those of the scores up to here"
        raise LedgerError(f"run {run.id}, round {played.index:,}: {complaint}")


def reported(rounds: Iterable[Round], progress: Callable[[int], None]) -> Iterator[Round]:
    """The rounds as they come, while ``progress`` is told of them by the thousand."""
    count = 0
    for count, played in enumerate(rounds, start=1):
        yield played
        if count % STEP == 0:
            progress(STEP)
    progress(count % STEP)


def _complaint(record: PhaseRecord, position: int, played: Round) -> str | None:
    """What is wrong with a round by itself."""
    if played.index != position or played.index >= record.phase.layout.total:
        return f"round {position:,} should come here" if played.index != position else "the phase has no such round"
    if not (0 <= played.observed_reward <= 1 and 0 <= played.true_reward <= 1):
        return "a score lies between 0 and 1"
    try:
        earned = bleu.sentence_score(bleu.BleuStatistics.from_bytes(played.statistics))
    except ValueError as failure:
        return str(failure)
    if not math.isclose(earned, played.true_reward, rel_tol=0, abs_tol=TOLERANCE):
        return f"the score is {played.true_reward}, but its statistics earn {earned}"
    if not record.feedback.has_noise and played.observed_reward != played.true_reward:
        return "the participant was told another score, although feedback is not perturbed in this phase"
    try:
        check_translation(played.translation)
    except ServiceError as refused:
        return refused.message
    return None


class Contents:
    """Reads the lines of one archive as what they stand for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = 0  # of the line that is looked at
        self._texts_due = self._keys_due = False
        self._phases: dict[str, PhaseRecord] = {}
        self._participants: set[str] = set()
        self._seen: set[object] = set()

    def items(self, lines: Iterable[Line]) -> Iterator[Item]:
        """Everything in its order. Whatever is wrong is told with the line it was found at."""
        try:
            yield from self._sections(lines)
        except ArchiveError:
            raise
        except OrganiserError as refused:
            raise self._wrong(str(refused)) from None
        except (LookupError, TypeError, ValueError, OverflowError):
            raise self._wrong("what it says cannot be") from None

    def _sections(self, lines: Iterable[Line]) -> Iterator[Item]:
        last = -1
        readers = {"text": self._texts, "run": self._runs}
        for section, group in groupby(self._counted(lines), key=lambda line: _section(line[1])):
            place = SECTIONS.index(section)
            if place <= last:
                raise self._wrong(f"a {section} does not belong here")
            last = place
            self._check_announced(section)
            yield from readers.get(section, self._ones)(group)

    def _check_announced(self, section: str) -> None:
        """The header tells what there is, and neither more nor less follows."""
        if section in ("text", "ring", "key") and not (self._texts_due if section == "text" else self._keys_due):
            raise self._wrong(f"a {section}, although the header announces none")
        if section == END:
            missing = {("text", phase) for phase in self._phases if self._texts_due} - self._seen
            if missing or (self._keys_due and ("ring", "") not in self._seen):
                raise self._wrong("what the header announces did not come")

    def _counted(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            self._number = line[0]
            _check_fields(line)
            yield line

    def _ones(self, lines: Iterable[Line]) -> Iterator[Item]:
        """Lines that stand for themselves."""
        read: dict[str, Callable[[dict[str, Any]], Item]] = {
            HEADER: self._header,
            "phase": self._phase,
            "participant": self._participant,
            "role": self._role,
            "ring": self._ring,
            "key": self._key,
            END: lambda says: End(**says),
        }
        for _, kind, says in lines:
            yield read[kind](says)

    def _header(self, says: dict[str, Any]) -> Header:
        self._texts_due, self._keys_due = says["texts"], says["keys"]
        return Header(says["made_at"], says["texts"], says["keys"])

    def _phase(self, says: dict[str, Any]) -> PhaseEntry:
        checkpoints = says.pop("checkpoints")
        record = PhaseRecord.from_document(says)
        name = record.phase.name
        sound = is_name(name) and record.block_size > 0 and record.runs >= 0
        whole = all(type(part) is int for part in says["layout"])
        if not (sound and whole and all(_HEX.fullmatch(each) for each in (*checkpoints, record.fingerprint))):
            raise self._wrong("no phase can be like this")
        if checkpoints[-1:] != [record.fingerprint]:
            raise self._wrong(f"the checkpoints of phase {name} do not lead to its fingerprint")
        self._once("phase", name)
        self._phases[name] = record
        return PhaseEntry(record, checkpoints)

    def _participant(self, says: dict[str, Any]) -> Participant:
        participant = Participant.from_document(says)
        if not is_name(participant.name):
            raise self._wrong("nobody can be called so")
        if participant.erased_name_hash is not None and not _HEX.fullmatch(participant.erased_name_hash):
            raise self._wrong("no hash of a name can be like this")
        self._once("participant", participant.name)
        self._participants.add(participant.name)
        return participant

    def _role(self, says: dict[str, Any]) -> Role:
        role = Role(says["participant"], says["system"], RoleKind(says["kind"]), says["family"])
        self._known(role.participant)
        if not (is_name(role.system) and (role.family is None or is_name(role.family))):
            raise self._wrong("no system or family can be called so")
        self._once("role", (role.participant, role.system))
        return role

    def _ring(self, says: dict[str, Any]) -> KeyRing:
        secrets: dict[str, str] = says["secrets"]
        numbers = {str(number) for number in range(1, MAX_KEYS + 1)}  # in one spelling: no key comes twice
        if not secrets or not all(number in numbers and _HEX.fullmatch(secret) for number, secret in secrets.items()):
            raise self._wrong("no token key can be like this")
        self._once("ring", "")
        return KeyRing({int(number): bytes.fromhex(secret) for number, secret in secrets.items()})

    def _key(self, says: dict[str, Any]) -> ApiKey:
        key = ApiKey(**says)
        self._known(key.participant)
        if not _HEX.fullmatch(key.digest):
            raise self._wrong("no hash of a key can be like this")
        self._once("key", key.digest)
        return key

    def _runs(self, lines: Iterable[Line]) -> Iterator[Item]:
        """Runs, each followed by its rounds."""
        run: Run | None = None
        for kind, group in groupby(lines, key=lambda line: line[1]):
            if kind == "run":
                for _, _, says in group:
                    run = self._run(says)
                    yield run
            elif run is None:
                raise self._wrong("a round without its run")
            else:
                rounds = (_to_round(run, says) for _, _, says in group)
                yield from checked(self._phases[run.phase], run, rounds)

    def _run(self, says: dict[str, Any]) -> Run:
        run = Run(**says)
        self._known(run.participant)
        if run.phase not in self._phases:
            raise self._wrong(f"a run of a phase {run.phase!r} that the archive does not have")
        if not (is_run_id(run.id) and is_name(run.system) and run.attempt >= 1 and 1 <= run.key <= 255):
            raise self._wrong("no run can be like this")
        self._once("run", run.id)
        self._once("attempt", (run.participant, run.phase, run.system, run.attempt))
        return run

    def _texts(self, lines: Iterable[Line]) -> Iterator[Item]:
        for name, group in groupby(lines, key=lambda line: line[2]["phase"]):
            if name not in self._phases:
                raise self._wrong(f"a text of a phase {name!r} that the archive does not have")
            self._once("text", name)
            pairs = ((says["source"], says["reference"]) for _, _, says in group)
            for pair in check_fingerprint(self._phases[name], pairs):
                yield Text(name, pair)

    def _known(self, participant: str) -> None:
        if participant not in self._participants:
            raise self._wrong(f"a participant {participant!r} that the archive does not have")

    def _once(self, kind: str, name: object) -> None:
        if (kind, name) in self._seen:
            raise self._wrong(f"this {kind} came before")
        self._seen.add((kind, name))

    def _wrong(self, complaint: str) -> ArchiveError:
        return ArchiveError(f"{self._path}, line {self._number:,}: {complaint}")


def _section(kind: str) -> str:
    return "run" if kind == "round" else kind


def _check_fields(line: Line) -> None:
    """Exactly the fields of its kind, of exactly their types, and no number beyond 64 bits."""
    _, kind, says = line
    wanted = _FIELDS[kind]
    if not isinstance(says, dict) or says.keys() != wanted.keys():
        raise ValueError
    for name, value in says.items():
        if wanted[name] is not object and type(value) is not wanted[name]:
            raise TypeError
        if type(value) is int and not 0 <= value < 2**63:
            raise OverflowError


def _to_round(run: Run, says: dict[str, Any]) -> Round:
    m1, m2, m3, m4, c1, c2, c3, c4, reference_length = says["statistics"]
    counts = bleu.BleuStatistics((m1, m2, m3, m4), (c1, c2, c3, c4), reference_length)
    pairs = zip(counts.matches, counts.candidates, strict=True)
    if not all(type(n) is int for n in says["statistics"]) or not all(0 <= m <= c < 2**31 for m, c in pairs):
        raise ValueError
    if not 0 <= reference_length < 2**31:
        raise ValueError
    fields = {_ROUND_FIELDS.get(name, name): value for name, value in says.items()}
    return Round(run, **{**fields, "statistics": counts.to_bytes()})
