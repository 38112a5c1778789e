"""The protocol of the task, without HTTP: open a run, read the pending sentence, commit a translation, be told a score.

The rules (``docs/protocol.md`` tells how each is kept):

1. Sentence k+1 is not readable before round k is committed.
2. One feedback per sentence: the same translation sent again gets the same score, a different one is refused.
3. A score leaves only after its round is durable.
4. Held-out sentences look like any other; references never leave.
5. A participant reaches only its own runs.

A round is one conditional write and no read. Keys, participants, phases and token keys are remembered for
``STALENESS_SECONDS``: that is how long a revoked key or a closed phase may still work in a function that is warm. Runs
and blocks of sentences never change, and are remembered for as long as there is room.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from lambdas import errors
from lambdas.cache import Cache
from lambdas.library import Library
from lambdas.registry import Participant, PhaseRecord, PhaseState, Registry, api_key_digest, check_name
from lambdas.scoreboard import Scoreboard
from lambdas.scoring import Scorer
from lambdas.store.interface import Store
from lambdas.tokens import KeyRing, Position
from leaderboard.table import Board
from task.limits import MAX_TRANSLATION_CHARACTERS, has_undecoded_bytes, is_one_line
from task.names import is_name, is_run_id, run_id
from task.rounds import TICKS, Round, Run, RunProgress, to_ticks

STALENESS_SECONDS = 10.0
BOARD_SECONDS = 2.0  # how long a leaderboard is shown again before it is judged anew
MAX_OPENING_RACES = 50  # lost in a row before a client is asked to come back


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """Answer to opening a run."""

    run: str
    phase: str
    system: str
    index: int  # of the pending sentence
    total: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LastRound:
    """The round that was answered last, as it was answered."""

    id: str
    index: int
    source: str
    translation: str
    score: float


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run stands."""

    run: str
    phase: str
    system: str
    index: int
    total: int
    finished: bool
    cumulative_reward: float  # of the scores as they were shown
    last: LastRound | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that waits for its translation."""

    id: str
    index: int
    total: int
    source: str

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "index": self.index, "total": self.total, "source": self.source}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a translation earned, and the sentence that follows, if any."""

    score: float
    next: Sentence | None

    def as_dict(self) -> dict[str, Any]:
        return {"score": self.score, "next": self.next.as_dict() if self.next else None}


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase as participants see it."""

    phase: str
    state: str
    total: int
    repeatable: bool
    runs: int  # how many a participant may open

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_translation(translation: str) -> None:
    """A translation is one line of text with at least one token. It is kept as sent, and scored split on whitespace."""
    if len(translation) > MAX_TRANSLATION_CHARACTERS:
        raise errors.TooLargeError(f"a translation has at most {MAX_TRANSLATION_CHARACTERS:,} characters")
    if not is_one_line(translation):
        raise errors.InvalidTranslationError(
            "a translation is one line of text: control characters (line breaks and tabs too) and lone surrogates "
            "are refused"
        )
    if has_undecoded_bytes(translation):
        raise errors.InvalidTranslationError(
            "the translation has U+FFFD in it, which stands for bytes that were not UTF-8: send JSON in UTF-8, as "
            "application/json"
        )
    if not translation or translation.isspace():
        raise errors.InvalidTranslationError("the translation is empty; send the source if there is nothing better")


class Service:
    """The protocol over one store. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        staleness: float = STALENESS_SECONDS,
        streamed: bool = False,  # does a function follow the ledger's stream, so that this one need not?
    ) -> None:
        self._store, self._streamed = store, streamed
        self._registry = Registry(store, clock=clock)
        self._library = Library(store)
        self._scoreboard = Scoreboard(store, clock=clock)
        self._keys: Cache[str, Participant] = Cache(10_000, staleness)
        self._phases: Cache[str, PhaseRecord] = Cache(100, staleness)
        self._lists: Cache[str, list[PhaseRecord]] = Cache(1, staleness)
        self._rings: Cache[str, KeyRing] = Cache(1, staleness)
        self._runs: Cache[str, Run] = Cache(10_000)
        self._boards: Cache[tuple[str, str], Board] = Cache(20, min(staleness, BOARD_SECONDS))

    # the calls

    def authenticate(self, api_key: str | None) -> Participant:
        """Whose key this is."""
        digest = api_key_digest(api_key) if api_key else None
        participant = self._keys.get(digest, self._holder) if digest else None
        if participant is None:
            raise errors.InvalidKeyError
        return participant

    def phases(self) -> list[PhaseInfo]:
        """What the task consists of, shortest phase first. Anybody may ask at any rate, so this is remembered too."""
        records = self._lists.get("phases", lambda _: self._registry.phases()) or []
        return [
            PhaseInfo(
                record.phase.name, record.state.value, record.phase.layout.total, record.phase.repeatable, record.runs
            )
            for record in records
        ]

    def open_run(self, participant: Participant, phase: str, system: str) -> OpenedRun:
        """Open a run of this system, or return its unfinished one."""
        check_name(system, "system")
        if not is_name(phase):
            raise errors.PhaseNotFoundError
        for _ in range(MAX_OPENING_RACES):
            claims = self._registry.claims(participant.name, phase)
            record = self._playable(phase)
            earlier = [run for run in claims if run.system == system]
            if earlier and (unfinished := self._resume(earlier[-1], record)):
                return unfinished
            run = self._new_run(participant, record, system, claims, attempt=len(earlier) + 1)
            # even a run that was claimed just now may be finished, if its earlier claim was lost: the ledger decides
            if self._registry.claim(run, ordinal=len(claims)) and (begun := self._resume(run, record)):
                return begun
        raise errors.UnavailableError

    def run(self, participant: Participant, run: str) -> RunState:
        """Progress, cumulative reward, and the last round as it was answered."""
        progress = self._progress(participant, run)
        record = self._phase(progress.run.phase)
        last, total = progress.last, record.phase.layout.total
        return RunState(
            run,
            record.phase.name,
            progress.run.system,
            progress.pending,
            total,
            finished=progress.pending == total,
            cumulative_reward=last.observed_ticks / TICKS if last else 0.0,
            last=self._last(record, last) if last else None,
        )

    def sentence(self, participant: Participant, run: str) -> Sentence:
        """The pending sentence: the same one until it is answered."""
        progress = self._progress(participant, run)
        record = self._phase(progress.run.phase)
        if progress.pending == record.phase.layout.total:
            raise errors.RunFinishedError
        return self._sentence(record, progress.run, _position_after(progress.last))

    def translate(self, participant: Participant, run: str, id: str, translation: str) -> Answer:  # noqa: A002
        """Commit a round and tell its score; the same again is answered alike."""
        check_translation(translation)
        opened = self._own_run(participant, run)
        record = self._phase(opened.phase)
        position = self._read_token(opened, id)
        closed = record.state is PhaseState.CLOSED  # nothing new then; what was committed is still answered
        played = None if closed else self._score(record, opened, position, translation)
        if played is None or not self._store.append(played):
            played = self._committed(record, run, position.index)
            if played.translation != translation:
                raise errors.TranslationConflictError
        following = _position_after(played)
        is_last = following.index == record.phase.layout.total
        return Answer(played.observed_reward, None if is_last else self._sentence(record, opened, following))

    def leaderboard(self, viewer: Participant | None, phase: str) -> Board:
        """The leaderboard of a phase, as far as the viewer may see it; no key is needed for what is public."""
        record = self._phase(phase) if is_name(phase) else None
        if record is None:
            raise errors.PhaseNotFoundError
        seen_by = viewer.name if viewer and not record.phase.repeatable else ""

        def judge(_: tuple[str, str]) -> Board:
            if not self._streamed:
                self._scoreboard.catch_up(record)
            return self._scoreboard.board_for(record, viewer)

        board = self._boards.get((phase, seen_by), judge)
        assert board is not None, "there is always a board, if only an empty one"
        return board

    # what may be remembered

    def _holder(self, digest: str) -> Participant | None:
        key = self._registry.key(digest)
        participant = self._registry.participant(key.participant) if key and not key.revoked else None
        return participant if participant and not participant.disabled else None

    def _phase(self, name: str) -> PhaseRecord:
        record = self._phases.get(name, self._registry.phase)
        if record is None:
            raise errors.PhaseNotFoundError
        return record

    def _ring(self, *, fresh: bool = False) -> KeyRing:
        if fresh:
            self._rings.invalidate("ring")
        ring = self._rings.get("ring", self._load_ring)
        assert ring is not None, "a registry always has a ring"
        return ring

    def _load_ring(self, _: str) -> KeyRing:
        return self._registry.key_ring()

    def _own_run(self, participant: Participant, run: str) -> Run:
        opened = self._runs.get(run, self._store.opening) if is_run_id(run) else None
        if opened is None or opened.participant != participant.name:
            raise errors.RunNotFoundError
        return opened

    # the steps

    def _progress(self, participant: Participant, run: str) -> RunProgress:
        progress = self._store.progress(run) if is_run_id(run) else None
        if progress is None or progress.run.participant != participant.name:
            raise errors.RunNotFoundError
        return progress

    def _playable(self, phase: str) -> PhaseRecord:
        """A phase that is not closed. Not from the cache: a run begins seldom, and only while its phase is open."""
        record = self._registry.phase(phase)
        if record is None:
            raise errors.PhaseNotFoundError
        if record.state is PhaseState.CLOSED:
            raise errors.PhaseClosedError
        return record

    def _resume(self, run: Run, record: PhaseRecord) -> OpenedRun | None:
        """Where a claimed run stands, or None if it is finished and another may follow.

        A run without an opening, because it is new or its opening was lost in a crash, is opened now.
        """
        progress = self._store.progress(run.id)
        if progress is None:
            self._store.open_run(run)
            progress = RunProgress(run, None)
        if progress.pending < record.phase.layout.total:
            return _opened(progress.run, progress.pending, record)
        if not record.phase.repeatable:
            raise errors.AlreadyPlayedError(run.id)
        return None

    def _new_run(
        self, participant: Participant, record: PhaseRecord, system: str, claims: list[Run], attempt: int
    ) -> Run:
        if record.state is not PhaseState.OPEN:
            raise errors.PhaseClosedError(
                "this phase is frozen: runs that were begun can be finished, but no new ones begun"
            )
        if len(claims) >= record.runs:
            raise errors.QuotaExceededError(
                f"you have opened all {record.runs:,} runs of this phase; ask the organiser"
            )
        phase = record.phase.name
        identity = run_id(participant.name, phase, system, attempt)
        return Run(identity, participant.name, phase, system, attempt, self._registry.now(), self._ring().newest)

    def _read_token(self, run: Run, token: str) -> Position:
        position = self._ring().read(run.participant, run.id, token)
        if position is None:  # unless the keys were rotated a moment ago
            position = self._ring(fresh=True).read(run.participant, run.id, token)
        if position is None:
            raise errors.WrongSentenceError
        return position

    def _score(self, record: PhaseRecord, run: Run, position: Position, translation: str) -> Round:
        reference = self._library.reference(record, position.index)
        scorer = Scorer(record.feedback, record.fingerprint)
        scored = scorer.score(translation, reference, run=run.id, index=position.index)
        return Round(
            run,
            position.index,
            translation,
            scored.observed_reward,
            scored.true_reward,
            scored.statistics.to_bytes(),
            position.observed_ticks + to_ticks(scored.observed_reward),
            position.true_ticks + to_ticks(scored.true_reward),
            self._registry.now(),
        )

    def _committed(self, record: PhaseRecord, run: str, index: int) -> Round:
        played = self._store.round(run, index)
        if played is not None:
            return played
        if record.state is PhaseState.CLOSED:
            raise errors.PhaseClosedError
        raise errors.WrongSentenceError  # the ledger is shorter than the id says: it was restored from a backup

    def _sentence(self, record: PhaseRecord, run: Run, position: Position) -> Sentence:
        ring = self._ring()
        if run.key > ring.newest:  # the run was opened by a function that knows of a rotation which this one does not
            ring = self._ring(fresh=True)
        token = ring.issue(run.participant, run.id, position, key=run.key)
        source = self._library.source(record, position.index)
        return Sentence(token, position.index, record.phase.layout.total, source)

    def _last(self, record: PhaseRecord, last: Round) -> LastRound:
        asked = self._sentence(record, last.run, Position(last.index, *last.ticks_before))
        return LastRound(asked.id, last.index, asked.source, last.translation, last.observed_reward)


def _opened(run: Run, index: int, record: PhaseRecord) -> OpenedRun:
    return OpenedRun(run.id, run.phase, run.system, index, record.phase.layout.total)


def _position_after(last: Round | None) -> Position:
    return Position(0, 0, 0) if last is None else Position(last.index + 1, *last.ticks_after)
