"""The rules of the protocol under any interleaving of clients, retries, faults, restarts and wrong ids."""

import json
import re
import tempfile
from functools import partial

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from lambdas import errors
from lambdas.answers import Answer
from lambdas.phase_record import PhaseSchedule, PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.withdrawals import Withdrawals
from leaderboard.metrics.bleu import sentence_bleu
from task.phases import Phase
from task.rounds import to_ticks
from tests.lambdas import tasks
from tests.lambdas.faulty_store import FaultyStore
from tests.lambdas.store.commit_groups import observe, write_together

PARTICIPANTS = ("acme", "other")
WORDS = ("rot", "rot und blau", "blau", "mit rot und blau secretref")
phases = st.sampled_from(tasks.MIXED_PHASES)
participants = st.sampled_from(PARTICIPANTS)
systems = st.sampled_from(("one", "two"))
translations = st.sampled_from(WORDS)
phase_states = st.sampled_from(
    (PhaseState.OPEN, PhaseState.OPEN, PhaseState.OPEN, PhaseState.FROZEN, PhaseState.CLOSED)
)
# Of a phase, in seconds from now: not open yet, open, open for ever, about to close, over.
SCHEDULES = ((60, 120), (-60, 60), (-60, None), (None, 30), (-120, -60))
LOG_PROBABILITY = -1.5
REFERENCE_WORD = re.compile(r"refword(\d{4})")  # each reference has its own
rarely_true = st.sampled_from((False,) * 5 + (True,))


class Protocol(RuleBasedStateMachine):
    """The model is the list of translations that each run has committed; everything else must follow from it."""

    runs = Bundle("runs")

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = SQLiteStore.open(f"{self.folder.name}/store.db?synchronous=normal")
        tasks.load(self.store, phases=tasks.MIXED_PHASES)
        self.now = 1_800_000_000
        self.registry = Registry(self.store, clock=self.clock)
        self.withdrawals = Withdrawals(self.store, clock=self.clock)
        self.faulty = FaultyStore(self.store, errors.UnavailableError)
        self.restart()
        self.players = {name: tasks.participant(self.store, self.service, name) for name in PARTICIPANTS}
        self.committed: dict[str, list[str]] = {}  # by run
        self.ids: dict[str, dict[int, str]] = {}  # by run and index, as the client last received them
        self.valid_ids: dict[tuple[str, int], str] = {}  # the same, without those that were voided
        self.owner: dict[str, str] = {}
        self.phase: dict[str, Phase] = {}
        self.opened: dict[tuple[str, str, str], list[str]] = {}  # by participant, phase and system
        self.manual_state = dict.fromkeys((phase.name for phase in tasks.MIXED_PHASES), PhaseState.OPEN)
        self.schedules: dict[str, tuple[int | None, int | None]] = {}  # in seconds; of phases that have one
        self.withdrawn: set[str] = set()
        self.voided = False

    def clock(self):
        return self.now

    def state(self, phase):
        """Return the state of a phase now, by its schedule or else as it was set by hand."""
        if phase not in self.schedules:
            return self.manual_state[phase]
        opens, closes = self.schedules[phase]
        is_open = (opens is None or opens <= self.now) and (closes is None or self.now < closes)
        return PhaseState.OPEN if is_open else PhaseState.CLOSED

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    def is_over(self, phase):
        opens, _ = self.schedules.get(phase, (None, None))
        return self.state(phase) is PhaseState.CLOSED and (opens is None or opens <= self.now)

    def total(self, run):
        return self.phase[run].layout.total

    def reference(self, run, index):
        phase = self.phase[run]
        return tasks.reference(phase.name, phase.layout.place(index).sentence)

    def score(self, run, index):
        return sentence_bleu(self.committed[run][index], self.reference(run, index))

    def post_edit(self, run, index):
        """Return what the answer to a round shows of its reference."""
        return self.reference(run, index) if self.phase[run].feedback.shows_post_edits else None

    def other_participant(self, participant):
        return PARTICIPANTS[1 - PARTICIPANTS.index(participant)]

    # the organiser, and faults

    @rule()
    def restart(self):
        """Start cold functions."""
        self.service = Service(self.faulty, clock=self.clock, staleness=0)

    @rule(turn=st.integers(0, 6), after=st.booleans())
    def let_storage_fail(self, turn, after):
        self.faulty.fail(turn, after=after)

    @rule(phase=phases, state=phase_states)
    def set_phase_state(self, phase, state):
        self.registry.set_phase_state(phase.name, state)
        self.manual_state[phase.name] = state
        self.schedules.pop(phase.name, None)  # which it overrides

    @rule(phase=phases, offsets=st.sampled_from(SCHEDULES))
    def schedule_phase(self, phase, offsets):
        times = [None if offset is None else self.now + offset for offset in offsets]
        milliseconds = [None if time is None else 1000 * time for time in times]
        self.registry.schedule_phase(phase.name, PhaseSchedule(*milliseconds))
        self.schedules[phase.name] = (times[0], times[1])

    @rule(seconds=st.sampled_from((1, 30, 60)))
    def let_time_pass(self, seconds):
        self.now += seconds

    @rule(run=runs)
    def withdraw_or_restore_a_run(self, run):
        """Take a run off the leaderboard or put it back; to its participant, nothing changes."""
        if run in self.withdrawn:
            self.withdrawals.restore(run, "a mistake")
        else:
            self.withdrawals.withdraw(run, "wrong model")
        self.withdrawn ^= {run}
        self.look_at_the_leaderboard(self.phase[run], self.owner[run])

    @rule(void=rarely_true)
    def rotate_token_keys(self, void):
        self.registry.rotate_key_ring(keep=not void)
        self.voided |= void
        if void:
            self.valid_ids.clear()

    # the participants

    @rule(target=runs, participant=participants, phase=phases, system=systems)
    def open_run(self, participant, phase, system):
        mine = self.opened.setdefault((participant, phase.name, system), [])
        state = self.state(phase.name)
        unfinished = bool(mine) and len(self.committed[mine[-1]]) < phase.layout.total
        try:
            opened = self.with_retry(
                participant, lambda: self.service.open_run(self.players[participant], phase.name, system)
            )
        except errors.PhaseClosedError:
            assert state is PhaseState.CLOSED or (state is PhaseState.FROZEN and not unfinished)
            return multiple()
        except errors.AlreadyPlayedError as played:
            assert played.run == mine[-1]  # noqa: PT017 (one of several outcomes)
            assert not unfinished
            assert not phase.repeatable
            return multiple()
        if unfinished:
            assert opened.run == mine[-1]
        else:
            assert state is PhaseState.OPEN
            assert phase.repeatable or not mine
            assert opened.run not in self.committed
            self.committed[opened.run], self.ids[opened.run] = [], {}
            self.owner[opened.run], self.phase[opened.run] = participant, phase
            mine.append(opened.run)
        assert opened.index == len(self.committed[opened.run]) < opened.total == phase.layout.total
        return multiple() if unfinished else opened.run

    def with_retry(self, participant, call):
        """Repeat a call that was unavailable, with a restarted function."""
        try:
            return self.without_leak(participant, call)
        except errors.UnavailableError:
            self.faulty.heal()
            self.restart()
            return self.without_leak(participant, call)

    def without_leak(self, participant, call):
        """Assert that a response or error quotes references only of rounds that the participant has committed."""
        try:
            response = call()
        except errors.ServiceError as refused:
            self.check_leak(participant, f"{refused} {refused.args} {refused.message}")
            raise
        self.check_leak(participant, repr(response))
        return response

    def check_leak(self, participant, text):
        for number in map(int, REFERENCE_WORD.findall(text)):
            mine = [run for run, owner in self.owner.items() if owner == participant]
            shown = [run for run in mine if self.phase[run].feedback.shows_post_edits]
            assert any(self.store.round(run, number) for run in shown), text

    @rule(run=runs)
    def ask_for_the_sentence(self, run):
        try:
            owner = self.owner[run]
            sentence = self.with_retry(owner, lambda: self.service.sentence(self.players[owner], run))
        except errors.RunFinishedError:
            assert len(self.committed[run]) == self.total(run)
            return
        assert sentence.index == len(self.committed[run])
        self.receive(run, sentence)

    def receive(self, run, sentence):
        place = self.phase[run].layout.place(sentence.index)
        assert sentence.source == tasks.source(self.phase[run].name, place.sentence)
        assert sentence.position == (place.sentence % 2 if self.phase[run].documents else None)
        self.ids[run][sentence.index] = sentence.id
        self.expect_the_same_id(run, sentence.index, sentence.id)

    def expect_the_same_id(self, run, index, token):
        """Assert that an id is the same whenever it is issued again, unless it was voided."""
        assert self.valid_ids.setdefault((run, index), token) == token

    @rule(run=runs, rounds=st.integers(1, 6), translation=translations)
    def play_some_rounds(self, run, rounds, translation):
        """Play some rounds, as clients do most of the time."""
        self.ask_for_the_sentence(run)
        for index in range(len(self.committed[run]), min(len(self.committed[run]) + rounds, self.total(run))):
            if not self.submit(run, index, translation):
                break

    @rule(run=runs, back=st.integers(0, 13), translation=translations)
    def submit_any(self, run, back, translation):
        """Submit with the pending id or an old one, for the first time or again, the same translation or another."""
        known = sorted(self.ids[run])
        if known:
            self.submit(run, known[max(0, len(known) - 1 - back)], translation)

    def submit(self, run, index, translation):
        """Submit a translation and retry until it is accepted or refused; return whether it was accepted."""
        player, token = self.players[self.owner[run]], self.ids[run][index]
        done = len(self.committed[run])
        assert index <= done  # rule 1: the client never received the id of a later sentence
        try:
            answer = self.with_retry(
                self.owner[run], lambda: self.service.translate(player, run, token, translation, LOG_PROBABILITY)
            )
        except errors.TranslationConflictError:
            assert self.committed[run][index] != translation
            return False
        except errors.PhaseClosedError:
            assert self.state(self.phase[run].name) is PhaseState.CLOSED
            assert index == done
            return False
        except errors.WrongSentenceError:
            assert self.voided
            return False
        self.accept(run, index, translation, answer)
        return True

    def accept(self, run, index, translation, answer):
        """Assert that an answer is right, and note that its round is committed."""
        if index == len(self.committed[run]):
            assert self.state(self.phase[run].name) is not PhaseState.CLOSED
            self.committed[run].append(translation)
        assert self.committed[run][index] == translation  # rule 2
        assert answer.score == self.score(run, index)
        assert answer.post_edit == self.post_edit(run, index)
        assert (answer.next is None) == (index + 1 == self.total(run))
        if answer.next:
            assert answer.next.index == index + 1
            self.receive(run, answer.next)

    @rule(
        chosen=st.lists(runs, min_size=2, max_size=4, unique=True),
        translation=translations,
        interrupted=st.none() | st.integers(0, 6),
    )
    def submit_together(self, chosen, translation, interrupted):
        """Several clients submit while the disk is busy, so that their rounds are one group.

        One of them may be interrupted at a statement of the transaction. Those that got no answer submit again.
        """
        places = {run: len(self.committed[run]) for run in chosen if len(self.committed[run]) in self.ids[run]}

        def interrupt(number, _):
            if number == interrupted:
                raise KeyboardInterrupt

        def submit(run):
            player, token = self.players[self.owner[run]], self.ids[run][places[run]]
            return self.service.translate(player, run, token, translation, LOG_PROBABILITY)

        connection = observe(self.store, before=interrupt)
        outcomes = write_together(self.store, [partial(submit, run) for run in places])
        self.store._writer = connection.observed
        for run, outcome in zip(places, outcomes, strict=True):
            if isinstance(outcome, Answer):
                self.check_leak(self.owner[run], repr(outcome))
                self.accept(run, places[run], translation, outcome)
            else:
                assert isinstance(outcome, errors.ServiceError | KeyboardInterrupt)
                self.submit(run, places[run], translation)

    @rule(run=runs, translation=translations)
    def lose_a_response(self, run, translation):
        """The client crashes after sending. After a restart, the run's state says whether the round was committed."""
        player, index = self.players[self.owner[run]], len(self.committed[run])
        if index not in self.ids[run]:
            return
        try:
            self.service.translate(player, run, self.ids[run][index], translation)
        except errors.ServiceError:
            self.faulty.heal()
        self.restart()
        state = self.with_retry(self.owner[run], lambda: self.service.run(player, run))
        assert state.index in (index, index + 1)
        if state.index > index:
            self.committed[run].append(translation)
            assert state.last is not None
            assert (state.last.index, state.last.translation) == (index, translation)
            assert state.last.score == self.score(run, index)
            assert state.last.post_edit == self.post_edit(run, index)
            self.expect_the_same_id(run, index, state.last.id)

    @rule(run=runs, translation=translations)
    def use_the_run_of_another_participant(self, run, translation):
        other = self.other_participant(self.owner[run])
        stranger = self.players[other]
        token = next(iter(self.ids[run].values()), "made up")
        for call in (
            lambda: self.service.run(stranger, run),
            lambda: self.service.sentence(stranger, run),
            lambda: self.service.translate(stranger, run, token, translation),
        ):
            self.expect(errors.RunNotFoundError, other, call)

    @precondition(lambda self: len(self.committed) > 1)
    @rule(run=runs, other=runs, translation=translations)
    def use_an_id_in_another_run(self, run, other, translation):
        for token in self.ids[run].values() if run != other else ():
            player = self.players[self.owner[other]]
            self.expect(
                errors.WrongSentenceError,
                self.owner[other],
                lambda token=token, player=player: self.service.translate(player, other, token, translation),
            )

    def expect(self, error, participant, call):
        try:
            self.with_retry(participant, call)
        except error:
            return
        raise AssertionError(f"expected {error.__name__}")

    # the leaderboard

    @rule(phase=phases, viewer=st.sampled_from((None, *PARTICIPANTS)))
    def look_at_the_leaderboard(self, phase, viewer):
        """It shows the newest runs of each system that were not withdrawn, and quotes no reference to anyone."""
        player = self.players[viewer] if viewer else None
        text = self.with_retry(viewer, lambda: json.dumps(self.service.leaderboard(player, phase.name).as_dict()))
        assert not REFERENCE_WORD.search(text)
        shows_all = phase.repeatable or self.is_over(phase.name)
        expected = set()
        for (owner, name, _), opened in self.opened.items():
            if name == phase.name and (shows_all or owner == viewer):
                played = [run for run in opened if self.committed[run] and run not in self.withdrawn]
                finished = [run for run in played if len(self.committed[run]) == self.total(run)]
                expected |= {*finished[-1:], *(run for run in played[-1:] if run not in finished)}
        assert {run for run in self.committed if run in text} == expected

    # the invariant

    @invariant()
    def the_ledger_is_the_model(self):
        for run, expected in getattr(self, "committed", {}).items():
            rounds = list(self.store.rounds(run))
            assert [(played.index, played.translation) for played in rounds] == list(enumerate(expected))
            ticks = 0
            for played in rounds:
                assert played.observed_reward == played.true_reward == self.score(run, played.index)
                assert played.post_edit == self.post_edit(run, played.index)
                ticks += to_ticks(played.true_reward)
                assert played.observed_ticks == played.true_ticks == ticks
                assert played.run.participant == self.owner[run]


TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
