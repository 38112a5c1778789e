"""The loop: a run that is killed anywhere, any number of times, ends exactly as an undisturbed one."""

import json
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.contract import Feedback
from learners.errors import DivergedError, ResumeError, RewardError
from learners.journal import Journal, JournalEntry
from learners.loop import play
from tests.client_sdk.fake_service import RUN, FakeService
from tests.learners.gambler import Gambler
from tests.learners.killed_runs import (
    SENTENCES,
    Killed,
    KilledLearner,
    final_state,
    kill_after_events,
    kill_after_rounds,
    open_run,
    snapshot_rounds,
    undisturbed,
)
from tests.learners.rounds import propose, update


def test_the_ledger_the_journal_and_the_learner_agree(tmp_path):
    task, learner = FakeService(SENTENCES), Gambler()
    seen: list[JournalEntry] = []
    progress = play(learner, open_run(task), tmp_path, watch=seen.append)
    with Journal(tmp_path / "journal.jsonl") as journal:
        entries = list(journal.entries())
    assert [(entry.index, entry.translation, entry.reward) for entry in entries] == task.ledger
    assert seen == entries
    assert (progress.finished, learner.rounds) == (True, len(SENTENCES))
    assert progress.cumulative_reward == pytest.approx(sum(score for _, _, score in task.ledger))


@settings(deadline=None, max_examples=60)
@given(kills=st.lists(st.integers(1, 60), max_size=6), snapshot_every=st.integers(1, 9))
def test_a_run_killed_anywhere_ends_as_an_undisturbed_one(kills, snapshot_every, tmp_path_factory):
    task, folder = FakeService(SENTENCES), tmp_path_factory.mktemp("killed")
    for events in kills:
        kill = kill_after_events(events)
        try:
            play(KilledLearner(kill), open_run(task, kill), folder, snapshot_every=snapshot_every)
        except Killed:
            continue
    learner = Gambler(seed=99)  # the snapshot replaces whatever a new process starts from
    if not (folder / "snapshot").exists():
        learner = Gambler()
    play(learner, open_run(task), folder, snapshot_every=snapshot_every)
    assert final_state(task, learner) == undisturbed()


def test_an_interrupt_waits_for_the_end_of_the_round_and_leaves_a_snapshot(tmp_path):
    def interrupt(entry):
        if entry.index == 4:
            os.kill(os.getpid(), signal.SIGINT)

    task = FakeService(SENTENCES)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        play(Gambler(), open_run(task), tmp_path, watch=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(task.ledger) == 5
    learner = Gambler()
    play(learner, open_run(task), tmp_path)
    assert final_state(task, learner) == undisturbed()


def test_a_second_interrupt_takes_effect_at_once(tmp_path):
    def impatient(_entry):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    task = FakeService(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        play(Gambler(), open_run(task), tmp_path, watch=impatient)
    assert len(task.ledger) == 1


def test_a_run_can_be_played_in_a_thread(tmp_path):
    task, learner = FakeService(SENTENCES), Gambler()
    thread = threading.Thread(target=lambda: play(learner, open_run(task), tmp_path))
    thread.start()
    thread.join()
    assert final_state(task, learner) == undisturbed()


def test_a_run_that_was_played_in_another_folder_is_refused(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(20)), open_run(task), tmp_path / "here")
    with pytest.raises(ResumeError, match=r"has \d rounds, but .* has 0: resume it where it was begun, or start"):
        play(Gambler(), open_run(task), tmp_path / "elsewhere")


def drop_last_line(folder):
    """Drop the last line of a journal, as if the process had died before it was written."""
    path = folder / "journal.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


class Forgiving(Gambler):
    """A learner that ignores its rewards, so that it proposes the same after an edited one."""

    def update(self, sentence, translation, feedback):
        super().update(sentence, translation, Feedback(0.5))


def edit_line(folder, number, **changes):
    """Change values of a line of a journal, which stays valid."""
    path = folder / "journal.jsonl"
    lines = path.read_text().splitlines()
    lines[number] = json.dumps({**json.loads(lines[number]), **changes})
    path.write_text("".join(f"{line}\n" for line in lines))


def test_a_journal_whose_last_round_is_not_that_of_the_service_is_refused(tmp_path):
    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path, 5, learner=Forgiving())
    _, translation, score = task.ledger[4]
    edit_line(tmp_path, 4, reward=0.25)
    with pytest.raises(ResumeError) as refused:
        play(Forgiving(), open_run(task), tmp_path)
    assert str(refused.value) == (
        f"round 4 of run {RUN} is {translation!r} for 'satz 4' with reward {score} at the service, but "
        f"{translation!r} for 'satz 4' with reward 0.25 in the journal in {tmp_path}: restore the journal of this run, "
        "or start a run under another name (play --name) in an empty folder"
    )


@pytest.mark.parametrize("is_ahead", [False, True])
def test_a_journal_with_another_cumulative_reward_than_the_service_is_refused(tmp_path, is_ahead):
    """Also when the service is one round ahead. Then the journal does not get that round."""
    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path, 5, learner=Forgiving())
    if is_ahead:
        drop_last_line(tmp_path)
    rounds = 4 if is_ahead else 5
    rewards = [score for *_, score in task.ledger][:rounds]
    edit_line(tmp_path, 2, reward=0.25)
    before = (tmp_path / "journal.jsonl").read_text()
    with pytest.raises(ResumeError) as refused:
        play(Forgiving(), open_run(task), tmp_path)
    assert str(refused.value).startswith(
        f"the first {rounds} rounds of run {RUN} have a cumulative reward of {sum(rewards):.6f} at the service, but "
        f"{sum(rewards) - rewards[2] + 0.25:.6f} in the journal in {tmp_path}: restore the journal of this run, or "
    )
    assert (tmp_path / "journal.jsonl").read_text() == before


def test_an_edited_reward_before_the_snapshot_is_noticed(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(40)), open_run(task), tmp_path, snapshot_every=5)
    assert snapshot_rounds(tmp_path) > 1
    edit_line(tmp_path, 0, reward=1.0)
    with pytest.raises(ResumeError, match=r"a cumulative reward of [\d.]+ at the service, but [\d.]+ in"):
        play(Gambler(), open_run(task), tmp_path)


def test_divergence_in_the_round_missing_from_the_journal_names_the_round(tmp_path):
    class Wild(Gambler):
        def update(self, sentence, translation, feedback):
            if sentence.source == SENTENCES[4]:
                raise DivergedError("it runs away")
            super().update(sentence, translation, feedback)

    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path, 5)
    drop_last_line(tmp_path)
    with pytest.raises(DivergedError, match=r"it runs away \(in round 5; .* keeps the journal"):
        play(Wild(), open_run(task), tmp_path)
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 5


def test_a_round_that_the_learner_does_not_repeat_is_not_written(tmp_path):
    class Other(Gambler):
        def propose(self, sentence):
            return super().propose(sentence) + " and more"

    task = FakeService(SENTENCES)
    kill_after_rounds(task, tmp_path / "here", 1)
    with pytest.raises(ResumeError, match="but would now be"):
        play(Other(), open_run(task), tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "journal.jsonl").read_text() == ""


def test_a_journal_shorter_than_the_snapshot_is_refused(tmp_path):
    task, journal = FakeService(SENTENCES), tmp_path / "journal.jsonl"
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(40)), open_run(task), tmp_path, snapshot_every=5)
    known = snapshot_rounds(tmp_path)
    whole = journal.read_text()
    journal.write_text("".join(whole.splitlines(keepends=True)[: known - 2]))
    complaint = rf"ends after {known - 2} rounds, but its snapshot after {known}: restore the whole journal, or "
    with pytest.raises(ResumeError, match=complaint):
        play(Gambler(), open_run(task), tmp_path)
    journal.write_text(whole)
    assert play(Gambler(), open_run(task), tmp_path).finished


@pytest.mark.parametrize("call", ["propose", "update"])
def test_divergence_names_the_round_and_the_folder(call, tmp_path):
    class Wild(Gambler):
        pass

    def diverge(self, *given):
        if self.rounds == 7:
            raise DivergedError("it has diverged")
        return getattr(Gambler, call)(self, *given)

    setattr(Wild, call, diverge)
    task = FakeService(SENTENCES)
    for _ in range(2):  # it does not get further when it is resumed
        with pytest.raises(DivergedError, match=rf"it has diverged \(in round 8; {tmp_path} keeps the journal"):
            play(Wild(), open_run(task), tmp_path, snapshot_every=5)
    assert snapshot_rounds(tmp_path) == 5
    assert play(Gambler(), open_run(task), tmp_path).finished


def test_a_learner_that_proposes_otherwise_in_replay_is_refused(tmp_path, monkeypatch):
    task = FakeService(SENTENCES)
    with pytest.raises(Killed):
        play(KilledLearner(kill_after_events(20)), open_run(task), tmp_path)
    monkeypatch.setattr(Gambler, "propose", lambda learner, sentence: sentence.source)
    with pytest.raises(ResumeError, match=r"round 0 was answered with 'satz 0 .*', but would now be 'satz 0'"):
        play(Gambler(), open_run(task), tmp_path)


@pytest.mark.parametrize("reward", [float("nan"), 1.5, -0.1])
def test_an_invalid_reward_stops_the_run(reward, tmp_path, monkeypatch):
    run, learner = open_run(FakeService(SENTENCES)), Gambler()
    monkeypatch.setattr("banditmt_client.run.read_score", lambda _response: reward)  # which checks it, too
    with pytest.raises(RewardError, match=f"the reward of round 0 is a number between 0 and 1, but got {reward}"):
        play(learner, run, tmp_path)
    assert learner.rounds == 0


def test_a_service_that_lost_a_round_is_noticed(tmp_path):
    task = FakeService(SENTENCES)
    run = open_run(task)

    def lose_a_round(entry):
        if entry.index == 3:
            task.ledger.pop()
            run._pending = None

    with pytest.raises(ResumeError, match="the service is at round 3, but the learner has seen 4"):
        play(Gambler(), run, tmp_path, watch=lose_a_round)


def test_the_gambler_learns_at_all():
    learner = Gambler()
    for _ in range(400):
        update(learner, "s", "t", float(propose(learner, "s").endswith("maybe")))
    assert np.argmax(learner.weights) == 2


def test_snapshots_every_zero_rounds_are_refused_before_the_first_round(tmp_path):
    task = FakeService(SENTENCES)
    with pytest.raises(ValueError, match="snapshot_every is 1 round or more, but got 0"):
        play(Gambler(), open_run(task), tmp_path, snapshot_every=0)
    assert task.ledger == []
