"""The protocol without HTTP: open a run, read the pending sentence, commit a translation, receive its reward.

The rules (``docs/protocol.md`` explains how each is kept):

1. Sentence k+1 cannot be read before round k is committed.
2. One feedback per sentence: resending a translation returns the same score, sending a different one is an error.
3. A score, and in a post-edit phase the reference, leaves the service only after its round is durable.
4. Held-out sentences look like any other; references of bandit phases never leave the service.
5. A participant reaches only its own runs.

A round is one conditional write and no read. API keys, participants, phases and token keys are cached for
``STALENESS_SECONDS``: that is how long a revoked key or a closed phase may still work in a warm function. Runs and
blocks of sentences never change, and are cached for as long as there is room.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from lambdas import errors
from lambdas.answers import Answer, LastRound, OpenedRun, PhaseInfo, RunState, Sentence, TaskInfo
from lambdas.cache import Cache, SingleFlightCache
from lambdas.chain import LedgerKey
from lambdas.phase_record import PhaseRecord, PhaseSchedule, PhaseState
from lambdas.registry import HOUSE_RUNS, Participant, Registry, api_key_digest, check_name
from lambdas.scoreboard import Scoreboard
from lambdas.sentences import SentenceReader
from lambdas.store.interface import Store
from lambdas.task_record import UNKNOWN_TASK, TaskRecord, read_task_record
from lambdas.tokens import KeyRing, Position
from leaderboard.families import HOUSE_PARTICIPANT
from leaderboard.rows import Board
from task.documents import document_id
from task.limits import MAX_TRANSLATION_CHARACTERS, has_undecoded_bytes, is_log_probability, is_one_line
from task.names import is_name, is_run_id, run_id
from task.rounds import TICKS, Round, Run, RunProgress, to_ticks
from task.times import iso_time

STALENESS_SECONDS = 10.0
BOARD_SECONDS = 2.0  # how long a leaderboard is cached, or longer if computing it would take more than BOARD_SHARE
BOARD_SHARE = 0.1  # of the time
MAX_BOARDS = 500  # cached: one per phase for the public, and in training one per participant
OUT_OF_DOMAIN_PATH = "/v1/task/out-of-domain/{language}"
MAX_OPENING_RACES = 50  # lost in a row before the client has to retry


def check_translation(translation: str) -> None:
    """Raise a ServiceError unless a translation is one line of text, not too long, with at least one token.

    A translation is stored as it was sent, and scored split on whitespace.
    """
    if len(translation) > MAX_TRANSLATION_CHARACTERS:
        raise errors.TooLargeError(f"a translation has at most {MAX_TRANSLATION_CHARACTERS:,} characters")
    if not is_one_line(translation):
        raise errors.InvalidTranslationError(
            "a translation is one line of text: remove control characters (line breaks and tabs too) and lone "
            "surrogates"
        )
    if has_undecoded_bytes(translation):
        raise errors.InvalidTranslationError(
            "the translation contains U+FFFD, which stands for bytes that were not UTF-8: send JSON in UTF-8, as "
            "application/json"
        )
    if not translation or translation.isspace():
        raise errors.InvalidTranslationError("the translation is empty; send the source if there is no better one")


class Service:
    """The protocol over one store. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        *,
        ledger_key: LedgerKey | None = None,  # that links rounds; None for no key
        clock: Callable[[], float] = time.time,
        staleness: float = STALENESS_SECONDS,
        streamed: bool = False,  # whether another function follows the ledger's stream, so that this one need not
        serves_out_of_domain: bool = False,  # whether OUT_OF_DOMAIN_PATH serves files, as in the local cloud
    ) -> None:
        self._store, self._streamed, self._serves_out_of_domain = store, streamed, serves_out_of_domain
        self._ledger_key = ledger_key or LedgerKey()
        self._registry = Registry(store, clock=clock)
        self._sentences = SentenceReader(store)
        self._scoreboard = Scoreboard(store, clock=clock)
        self._keys: Cache[str, Participant] = Cache(10_000, staleness)
        self._phases: Cache[str, PhaseRecord] = Cache(100, staleness)
        self._phase_lists: Cache[str, list[PhaseRecord]] = Cache(1, staleness)
        self._task_records: Cache[str, TaskRecord] = Cache(1, staleness)
        self._key_rings: Cache[str, KeyRing] = Cache(1, staleness)
        self._runs: Cache[str, Run] = Cache(10_000)
        self._boards: SingleFlightCache[tuple[str, str], Board] = SingleFlightCache(
            MAX_BOARDS,
            min(staleness, BOARD_SECONDS),
            stale_seconds=staleness,
            max_load_share=BOARD_SHARE if staleness else 1.0,
        )

    # calls

    def authenticate(self, api_key: str | None) -> Participant:
        """Return the participant whose API key this is. Raises InvalidKeyError."""
        digest = api_key_digest(api_key) if api_key else None
        participant = self._keys.get(digest, self._load_holder) if digest else None
        if participant is None:
            raise errors.InvalidKeyError
        return participant

    def phases(self, participant: Participant | None = None) -> list[PhaseInfo]:
        """Return the phases of the task, shortest first, with the number of runs that a participant has left.

        Phases are cached, because requests without a key can ask for them. The number of runs is not: it needs a key.
        """
        return [_phase_info(record, self._runs_left(participant, record)) for record in self._phase_records()]

    def task(self, participant: Participant | None = None) -> TaskInfo:
        """Return what the task says about itself: languages, text convention, phases, licence, contact.

        Cached like the phases.
        """
        documents = any(record.phase.documents for record in self._phase_records())
        place = OUT_OF_DOMAIN_PATH if self._serves_out_of_domain else None
        return self._task_record().info(self.phases(participant), documents=documents, out_of_domain_path=place)

    def out_of_domain_url(self, language: str) -> str:
        """Return where the organiser publishes the out-of-domain text. Raises NotFoundError if nowhere."""
        record = self._task_record()
        if language not in record.out_of_domain or not record.about.out_of_domain_url:
            raise errors.NotFoundError("the out-of-domain text of this task is not here; ask the organiser")
        return record.about.out_of_domain_url

    def open_run(self, participant: Participant, phase: str, system: str, *, again: bool = True) -> OpenedRun:
        """Open a run of a system, or return its unfinished run.

        Raises AlreadyPlayedError if the system has finished the phase, unless the phase is repeatable and ``again``
        asks for another run.
        """
        check_name(system, "system")
        if not is_name(phase):
            raise errors.PhaseNotFoundError
        for _ in range(MAX_OPENING_RACES):
            claims = self._registry.claims(participant.name, phase)
            record = self._require_not_closed(phase)
            earlier = [run for run in claims if run.system == system]
            if earlier and (unfinished := self._resume(earlier[-1], record, again=again)):
                return unfinished
            run = self._new_run(participant, record, system, claims, attempt=len(earlier) + 1)
            # even a run that was claimed just now may be finished, if an earlier claim was lost: the ledger decides
            if self._registry.claim(run, ordinal=len(claims)) and (begun := self._resume(run, record, again=again)):
                return begun
        raise errors.UnavailableError

    def run(self, participant: Participant, run: str) -> RunState:
        """Return the progress of a run, its cumulative reward, and its last round as it was answered."""
        progress = self._own_progress(participant, run)
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
            last=self._last_round(record, last, progress.link_before) if last else None,
            head=last.link.hex() or None if last else None,
        )

    def sentence(self, participant: Participant, run: str) -> Sentence:
        """Return the pending sentence of a run: the same one until it is translated. Raises RunFinishedError."""
        progress = self._own_progress(participant, run)
        record = self._phase(progress.run.phase)
        if progress.pending == record.phase.layout.total:
            raise errors.RunFinishedError
        return self._sentence(record, progress.run, _position_after(progress.last))

    def translate(
        self,
        participant: Participant,
        run: str,
        id: str,  # noqa: A002 (its name in the protocol)
        translation: str,
        log_probability: float | None = None,
    ) -> Answer:
        """Commit a round and return its feedback and the next sentence.

        Idempotent: resending a committed translation returns the same answer, also after the phase was closed, and the
        first log-probability stands. Raises TranslationConflictError if the round was committed with another
        translation.
        """
        check_translation(translation)
        if log_probability is not None and not is_log_probability(log_probability):
            raise errors.BadRequestError("log_probability is a finite number of at most 0: a natural logarithm")
        opened = self._own_run(participant, run)
        record = self._phase(opened.phase)
        position = self._read_token(opened, id)
        is_closed = record.state is PhaseState.CLOSED
        committed = None if is_closed else self._score(record, opened, position, translation, log_probability)
        if committed is None or not self._store.append(committed):
            committed = self._committed_round(record, run, position.index)
            if committed.translation != translation:
                raise errors.TranslationConflictError
        following = _position_after(committed)
        is_last = following.index == record.phase.layout.total
        sentence = None if is_last else self._sentence(record, opened, following)
        return Answer(committed.observed_reward, sentence, committed.post_edit)

    def leaderboard(self, viewer: Participant | None, phase: str) -> Board:
        """Return the leaderboard of a phase, as far as the viewer may see it. The viewer None is the public."""
        record = self._phase(phase) if is_name(phase) else None
        if record is None:
            raise errors.PhaseNotFoundError
        audience = viewer.name if viewer and not record.phase.repeatable else ""

        def make(_: tuple[str, str]) -> Board:
            if not self._streamed:
                self._scoreboard.catch_up(record)
            return self._scoreboard.visible_board(record, viewer)

        board = self._boards.get((phase, audience), make)
        assert board is not None, "there is always a board, if only an empty one"
        return board

    # cached lookups

    def _load_holder(self, digest: str) -> Participant | None:
        key = self._registry.key(digest)
        participant = self._registry.participant(key.participant) if key and not key.revoked else None
        return participant if participant and not participant.disabled else None

    def _phase(self, name: str) -> PhaseRecord:
        record = self._phases.get(name, self._registry.phase)
        if record is None:
            raise errors.PhaseNotFoundError
        return record

    def _phase_records(self) -> list[PhaseRecord]:
        return self._phase_lists.get("phases", lambda _: self._registry.phases()) or []

    def _task_record(self) -> TaskRecord:
        record = self._task_records.get("task", lambda _: read_task_record(self._store) or UNKNOWN_TASK)
        assert record is not None, "there is always a record, if only of an unknown task"
        return record

    def _key_ring(self, *, fresh: bool = False) -> KeyRing:
        if fresh:
            self._key_rings.invalidate("ring")
        ring = self._key_rings.get("ring", lambda _: self._registry.key_ring())
        assert ring is not None, "a registry always has a ring"
        return ring

    def _own_run(self, participant: Participant, run: str) -> Run:
        opened = self._runs.get(run, self._store.opening) if is_run_id(run) else None
        if opened is None or opened.participant != participant.name:
            raise errors.RunNotFoundError
        return opened

    # steps of the calls

    def _own_progress(self, participant: Participant, run: str) -> RunProgress:
        progress = self._store.progress(run) if is_run_id(run) else None
        if progress is None or progress.run.participant != participant.name:
            raise errors.RunNotFoundError
        return progress

    def _require_not_closed(self, phase: str) -> PhaseRecord:
        """Return a phase, or raise PhaseClosedError. Not cached: runs are opened rarely, and not in a closed phase."""
        record = self._registry.phase(phase)
        if record is None:
            raise errors.PhaseNotFoundError
        if record.state is PhaseState.CLOSED:
            raise _closed_error(record, self._registry.now())
        return record

    def _runs_left(self, participant: Participant | None, record: PhaseRecord) -> int | None:
        if participant is None:
            return None
        return max(0, _budget(participant, record) - len(self._registry.claims(participant.name, record.phase.name)))

    def _resume(self, run: Run, record: PhaseRecord, *, again: bool) -> OpenedRun | None:
        """Return a claimed run at its pending sentence, or None if it is finished and another may follow.

        A run without an opening is opened now: it is new, or a crash came between its claim and its opening.
        """
        progress = self._store.progress(run.id)
        if progress is None:
            self._store.open_run(run)
            progress = RunProgress(run, None)
        if progress.pending < record.phase.layout.total:
            opened, total = progress.run, record.phase.layout.total
            return OpenedRun(opened.id, opened.phase, opened.system, progress.pending, total)
        if not record.phase.repeatable:
            raise errors.AlreadyPlayedError(run.id)
        if not again:
            raise errors.AlreadyPlayedError(run.id, "this system has finished a run of this phase: ask for another one")
        return None

    def _new_run(
        self, participant: Participant, record: PhaseRecord, system: str, claims: list[Run], attempt: int
    ) -> Run:
        if record.state is not PhaseState.OPEN:
            raise errors.PhaseClosedError(
                "this phase is frozen: open runs can be finished, but no new ones can be opened"
            )
        budget = _budget(participant, record)
        if len(claims) >= budget:
            raise errors.QuotaExceededError(f"you have opened all {budget:,} runs of this phase; ask the organiser")
        phase = record.phase.name
        identity = run_id(participant.name, phase, system, attempt)
        return Run(identity, participant.name, phase, system, attempt, self._registry.now(), self._key_ring().newest)

    def _read_token(self, run: Run, token: str) -> Position:
        position = self._key_ring().decrypt(run.participant, run.id, token)
        if position is None:  # perhaps the keys were rotated a moment ago
            position = self._key_ring(fresh=True).decrypt(run.participant, run.id, token)
        if position is None:
            raise errors.WrongSentenceError
        return position

    def _score(
        self, record: PhaseRecord, run: Run, position: Position, translation: str, log_probability: float | None
    ) -> Round:
        reference = self._sentences.reference(record, position.index)
        scored = record.scorer.score(translation, reference, run=run.id, index=position.index)
        played = Round(
            run,
            position.index,
            translation,
            scored.observed_reward,
            scored.true_reward,
            scored.statistics,
            position.observed_ticks + to_ticks(scored.observed_reward),
            position.true_ticks + to_ticks(scored.true_reward),
            self._registry.now(),
            None
            if log_probability is None
            else log_probability + 0.0,  # makes -0.0 zero in every store, as SQLite does
            reference.text if record.feedback.shows_post_edits else None,
        )
        if position.index and not position.link:  # an earlier version began the run
            return played
        return replace(played, link=self._ledger_key.link(record, played, position.link))

    def _committed_round(self, record: PhaseRecord, run: str, index: int) -> Round:
        committed = self._store.round(run, index)
        if committed is not None:
            return committed
        if record.state is PhaseState.CLOSED:
            raise errors.PhaseClosedError
        raise errors.WrongSentenceError  # the ledger ends before the round of this id: it was restored from a backup

    def _sentence(self, record: PhaseRecord, run: Run, position: Position) -> Sentence:
        ring = self._key_ring()
        if run.key > ring.newest:  # the run was opened by a function that saw a rotation before this one did
            ring = self._key_ring(fresh=True)
        token = ring.issue(run.participant, run.id, position, key=run.key)
        source = self._sentences.source(record, position.index)
        total = record.phase.layout.total
        if source.position is None:
            return Sentence(token, position.index, total, source.text)
        document = document_id(run.id, position.index, source.position)
        return Sentence(token, position.index, total, source.text, document, source.position)

    def _last_round(self, record: PhaseRecord, last: Round, link_before: bytes) -> LastRound:
        served = self._sentence(record, last.run, Position(last.index, *last.ticks_before, link_before))
        return LastRound(
            served.id,
            last.index,
            served.source,
            last.translation,
            last.observed_reward,
            served.document,
            served.position,
            last.post_edit,
        )


def _budget(participant: Participant, record: PhaseRecord) -> int:
    """Return how many runs of a phase a participant may open.

    The organiser's own participant plays baselines and oracles. It has the references anyway, so no budget of feedback
    protects them from it.
    """
    is_house = participant.name == HOUSE_PARTICIPANT and not record.phase.repeatable
    return max(record.runs, HOUSE_RUNS) if is_house else record.runs


def _phase_info(record: PhaseRecord, runs_left: int | None) -> PhaseInfo:
    phase, schedule = record.phase, record.schedule or PhaseSchedule(None, None)
    return PhaseInfo(
        phase.name,
        record.state.value,
        phase.layout.total,
        phase.repeatable,
        record.runs,
        record.feedback.kind.value,
        record.feedback.metric.name,
        record.feedback.signature,
        iso_time(schedule.opens_at),
        iso_time(schedule.closes_at),
        runs_left,
    )


def _closed_error(record: PhaseRecord, now: int) -> errors.PhaseClosedError:
    """Return the error for a closed phase; one that is not open yet says when it opens."""
    opens_at = record.schedule.opens_at if record.schedule else None
    if opens_at is not None and now < opens_at:
        return errors.PhaseClosedError(f"this phase opens at {iso_time(opens_at)}")
    return errors.PhaseClosedError()


def _position_after(last: Round | None) -> Position:
    if last is None:
        return Position(0, 0, 0)
    return Position(last.index + 1, last.observed_ticks, last.true_ticks, last.link)
