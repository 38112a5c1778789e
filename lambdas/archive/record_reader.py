"""Reads the records of an archive, and refuses those that no store could have held.

Every record is checked: its types and names, its place in the file, that it is no duplicate, that layouts, checkpoints
and attempts have the numbers that the service would have counted, that the sums of a run add up, that rewards follow
from their statistics, and that texts are those of their phase. An archive that passes can be restored.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from lambdas.archive.file_format import END, HEADER, ArchiveError, Line, read_lines
from lambdas.archive.records import (
    SECTIONS,
    ArchivedPair,
    ArchivedPhase,
    Header,
    Record,
    Trailer,
    check_fields,
    to_round,
)
from lambdas.audit.discrepancies import is_close, sequence_problem
from lambdas.errors import OrganiserError, ServiceError
from lambdas.phase_record import PhaseRecord
from lambdas.registry import ApiKey, Participant
from lambdas.sentences import MAX_BLOCK_SIZE
from lambdas.service import check_translation
from lambdas.task_loader import SentencePair, check_fingerprint, checkpoint_count
from lambdas.task_record import TaskRecord
from lambdas.tokens import MAX_KEYS, KeyRing
from lambdas.withdrawals import Withdrawal
from leaderboard.families import Role, RoleKind
from leaderboard.metrics import bleu
from leaderboard.metrics.post_edit import PostEditStatistics
from leaderboard.profiles import SystemProfile, TeamProfile
from task.feedback import SENTENCE_BLEU
from task.layout import LayoutError
from task.limits import is_log_probability
from task.names import is_name, is_run_id, run_id
from task.rounds import Round, Run

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)

Fields = dict[str, Any]


class LedgerError(OrganiserError):
    """A round does not follow from the rounds before it, or contradicts itself."""


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of an archive in the order of the file.

    Raises:
        ArchiveError: The file is not a complete and unchanged archive, or has an impossible record.
    """
    yield from _RecordReader(path).read(read_lines(path))


def check_rounds(record: PhaseRecord, run: Run, rounds: Iterable[Round]) -> Iterator[Round]:
    """Yield the rounds of a run; raise LedgerError at the first that does not follow from those before it."""
    before: Round | None = None
    for played in rounds:
        problem = _round_problem(record, played) or sequence_problem(played, before, record.phase.layout.total)
        if problem:
            raise LedgerError(f"run {run.id}, round {played.index:,}: {problem}")
        yield played
        before = played


def _round_problem(record: PhaseRecord, played: Round) -> str | None:
    """Return what is wrong with a round by itself, or None."""
    if not (0 <= played.observed_reward <= 1 and 0 <= played.true_reward <= 1):
        return "a reward lies between 0 and 1"
    if problem := _statistics_problem(record, played):
        return problem
    if not record.feedback.has_noise and played.observed_reward != played.true_reward:
        return "the observed reward is not the true reward, but this phase has no feedback noise"
    try:
        check_translation(played.translation)
    except ServiceError as refused:
        return refused.message
    if played.log_probability is not None and not is_log_probability(played.log_probability):
        return "the log-probability is not a finite number of at most 0"
    if record.feedback.shows_post_edits != (played.post_edit is not None):
        return "a round has a post-edit if, and only if, its phase shows them"
    return None


def _statistics_problem(record: PhaseRecord, played: Round) -> str | None:
    """Return what is wrong with the statistics of a round, or None."""
    try:
        if record.feedback.shows_post_edits:
            counts = PostEditStatistics.from_bytes(played.statistics).bleu
        else:
            counts = bleu.BleuStatistics.from_bytes(played.statistics)
    except ValueError as failure:
        return str(failure)
    if record.feedback.metric is not SENTENCE_BLEU:
        return None  # only the translation and the reference tell the score
    earned = bleu.sentence_score(counts)
    if not is_close(played.true_reward, earned):
        return f"the true reward is {played.true_reward}, but its statistics give {earned}"
    return None


class _RecordReader:
    """Reads the lines of one archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line_number = 0
        self._has_texts = self._has_keys = False  # according to the header
        self._phases: dict[str, PhaseRecord] = {}
        self._participants: set[str] = set()
        self._erased: set[str] = set()  # the participants among them whose names were erased
        self._run_phases: dict[str, str] = {}  # by run
        self._attempts: Counter[tuple[str, str, str]] = Counter()  # by participant, phase and system
        self._seen: set[object] = set()

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """Yield all records; every error names the line that it was found at."""
        try:
            yield from self._read_sections(lines)
        except ArchiveError:
            raise
        except (OrganiserError, LayoutError) as refused:
            raise self._error(str(refused)) from None
        except (LookupError, TypeError, ValueError, OverflowError):
            raise self._error("a field is missing, unknown or invalid") from None

    def _read_sections(self, lines: Iterable[Line]) -> Iterator[Record]:
        last = -1
        readers = {"text": self._read_texts, "run": self._read_runs}
        for section, group in groupby(self._check_lines(lines), key=lambda line: _section_of(line.kind)):
            place = SECTIONS.index(section)
            if place <= last:
                raise self._error(f"a {section} is out of order")
            last = place
            self._check_against_header(section)
            yield from readers.get(section, self._read_single_lines)(group)

    def _check_against_header(self, section: str) -> None:
        """Raise an error unless the archive contains texts and keys exactly if its header says so."""
        if section in ("text", "ring", "key") and not (self._has_texts if section == "text" else self._has_keys):
            raise self._error(f"a {section}, although the header says that there is none")
        if section == END:
            missing = {("text", phase) for phase in self._phases if self._has_texts} - self._seen
            if missing or (self._has_keys and ("ring", "") not in self._seen):
                raise self._error("texts or keys are missing, although the header says that they are there")

    def _check_lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            self._line_number = line.number
            check_fields(line.kind, line.fields)
            yield line

    def _read_single_lines(self, lines: Iterable[Line]) -> Iterator[Record]:
        """Yield the records of lines that can be read one by one."""
        readers: dict[str, Callable[[Fields], Record]] = {
            HEADER: self._read_header,
            "task": self._read_task,
            "phase": self._read_phase,
            "participant": self._read_participant,
            "role": self._read_role,
            "team": self._read_team,
            "system": self._read_system,
            "ring": self._read_key_ring,
            "withdrawal": self._read_withdrawal,
            "key": self._read_api_key,
            END: lambda fields: Trailer(**fields),
        }
        for line in lines:
            yield readers[line.kind](line.fields)

    def _read_header(self, fields: Fields) -> Header:
        self._has_texts, self._has_keys = fields["texts"], fields["keys"]
        return Header(fields["made_at"], fields["texts"], fields["keys"])

    def _read_task(self, fields: Fields) -> TaskRecord:
        record = TaskRecord.from_document(fields)
        files = record.out_of_domain.values()
        has_valid_texts = all(type(text) is str for text in record.convention)
        has_valid_sizes = all(type(size) is int and size >= 0 for each in files for size in (each.lines, each.bytes))
        if not (has_valid_texts and has_valid_sizes and all(_SHA256.fullmatch(each.sha256) for each in files)):
            raise self._error("the task has an invalid text convention, size or hash")
        self._check_new("task", "")
        return record

    def _read_phase(self, fields: Fields) -> ArchivedPhase:
        checkpoints = fields.pop("checkpoints")
        record = PhaseRecord.from_document(fields)
        name = record.phase.name
        has_valid_sizes = 0 < record.block_size <= MAX_BLOCK_SIZE and all(type(n) is int for n in fields["layout"])
        has_valid_hashes = all(_SHA256.fullmatch(each) for each in (*checkpoints, record.fingerprint))
        if not (is_name(name) and has_valid_sizes and has_valid_hashes):
            raise self._error("the phase has an invalid name, size or hash")
        if checkpoints[-1:] != [record.fingerprint]:
            raise self._error(f"the checkpoints of phase {name} do not end with its fingerprint")
        if len(checkpoints) != checkpoint_count(record):
            raise self._error(
                f"phase {name} has {len(checkpoints):,} checkpoints, but {record.phase.layout.distinct:,} distinct "
                f"sentences have {checkpoint_count(record):,}"
            )
        if not _is_schedule(fields.get("schedule")):
            raise self._error(f"the schedule of phase {name} is not two times")
        self._check_new("phase", name)
        self._phases[name] = record
        return ArchivedPhase(record, checkpoints)

    def _read_participant(self, fields: Fields) -> Participant:
        participant = Participant.from_document(fields)
        if not is_name(participant.name):
            raise self._error("the name of the participant is invalid")
        if participant.erased_name_hash is not None and not _SHA256.fullmatch(participant.erased_name_hash):
            raise self._error("the hash of the erased name is invalid")
        self._check_new("participant", participant.name)
        self._participants.add(participant.name)
        if participant.erased_name_hash is not None:
            self._erased.add(participant.name)
        return participant

    def _read_role(self, fields: Fields) -> Role:
        role = Role(fields["participant"], fields["system"], RoleKind(fields["kind"]), fields["family"])
        self._check_participant(role.participant)
        if not (is_name(role.system) and (role.family is None or is_name(role.family))):
            raise self._error("the name of the system or of its family is invalid")
        self._check_new("role", (role.participant, role.system))
        return role

    def _read_team(self, fields: Fields) -> TeamProfile:
        profile = TeamProfile(**fields)
        self._check_participant(profile.participant)
        self._check_new("team", profile.participant)
        return profile

    def _read_system(self, fields: Fields) -> SystemProfile:
        profile = SystemProfile(**fields)
        self._check_participant(profile.participant)
        if not is_name(profile.system):
            raise self._error("the name of the system is invalid")
        self._check_new("system", (profile.participant, profile.system))
        return profile

    def _read_withdrawal(self, fields: Fields) -> Withdrawal:
        decision = Withdrawal(**fields)
        if self._run_phases.get(decision.run) != decision.phase:
            raise self._error(f"a withdrawal of run {decision.run!r}, which is not in the archive, or of another phase")
        self._check_new("withdrawal", decision.run)
        return decision

    def _read_key_ring(self, fields: Fields) -> KeyRing:
        secrets: dict[str, str] = fields["secrets"]
        numbers = {str(number) for number in range(1, MAX_KEYS + 1)}  # spelled one way, so that no number comes twice
        is_valid = all(number in numbers and _SHA256.fullmatch(secret) for number, secret in secrets.items())
        if not (secrets and is_valid):
            raise self._error("the token keys are missing or invalid")
        self._check_new("ring", "")
        return KeyRing.from_document(fields)

    def _read_api_key(self, fields: Fields) -> ApiKey:
        key = ApiKey(**fields)
        self._check_participant(key.participant)
        if not _SHA256.fullmatch(key.digest):
            raise self._error("the hash of the API key is invalid")
        self._check_new("key", key.digest)
        return key

    def _read_runs(self, lines: Iterable[Line]) -> Iterator[Record]:
        """Yield runs, each followed by its rounds."""
        run: Run | None = None
        for kind, group in groupby(lines, key=lambda line: line.kind):
            if kind == "run":
                for line in group:
                    run = self._read_run(line.fields)
                    yield run
            elif run is None:
                raise self._error("a round without a run before it")
            else:
                rounds = (to_round(run, line.fields) for line in group)
                yield from check_rounds(self._phases[run.phase], run, rounds)

    def _read_run(self, fields: Fields) -> Run:
        run = Run(**fields)
        self._check_participant(run.participant)
        if run.phase not in self._phases:
            raise self._error(f"a run of phase {run.phase!r}, which is not in the archive")
        has_valid_numbers = run.attempt >= 1 and 1 <= run.key <= MAX_KEYS
        if not (is_run_id(run.id) and is_name(run.system) and has_valid_numbers):
            raise self._error("the run has an invalid id, system, attempt or key")
        self._check_new("run", run.id)
        self._check_new("attempt", (run.participant, run.phase, run.system, run.attempt))
        self._check_attempt(run)
        self._run_phases[run.id] = run.phase
        return run

    def _check_attempt(self, run: Run) -> None:
        """Raise an error unless a run has the number and the id that the service gave it.

        The ids of an erased participant are hashes of the name that it had, so they cannot be recomputed.
        """
        system = run.participant, run.phase, run.system
        self._attempts[system] += 1
        if run.attempt != self._attempts[system]:
            raise self._error(f"attempt {run.attempt:,} of a system, but it is number {self._attempts[system]:,}")
        is_erased = run.participant in self._erased
        if not is_erased and run.id != run_id(*system, run.attempt):
            raise self._error(f"the id of run {run.id} is not that of its participant, phase, system and attempt")

    def _read_texts(self, lines: Iterable[Line]) -> Iterator[Record]:
        for name, group in groupby(lines, key=lambda line: line.fields["phase"]):
            if name not in self._phases:
                raise self._error(f"a text of phase {name!r}, which is not in the archive")
            self._check_new("text", name)
            for pair in check_fingerprint(self._phases[name], _sentence_pairs(group)):
                yield ArchivedPair(name, pair)

    def _check_participant(self, participant: str) -> None:
        if participant not in self._participants:
            raise self._error(f"participant {participant!r} is not in the archive")

    def _check_new(self, kind: str, name: object) -> None:
        if (kind, name) in self._seen:
            raise self._error(f"a duplicate {kind}")
        self._seen.add((kind, name))

    def _error(self, problem: str) -> ArchiveError:
        return ArchiveError(f"{self._path}, line {self._line_number:,}: {problem}")


def _section_of(kind: str) -> str:
    return "run" if kind == "round" else kind


def _is_schedule(schedule: Any) -> bool:
    """Return whether a value is no schedule, or a list of two times, each of which may be missing."""
    if schedule is None:
        return True
    is_pair = isinstance(schedule, list) and len(schedule) == 2
    return is_pair and all(time is None or (type(time) is int and 0 <= time < 2**63) for time in schedule)


def _sentence_pairs(lines: Iterable[Line]) -> Iterator[SentencePair]:
    """Yield the pairs of a text. Documents are numbered: their ids are not in the archive, only positions are."""
    document = 0
    for line in lines:
        source, reference, position = line.fields["source"], line.fields["reference"], line.fields.get("position")
        if position is None:
            yield source, reference
            continue
        document += position == 0
        yield source, reference, str(document)
