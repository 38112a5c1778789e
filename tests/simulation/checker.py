"""Checks a competition against the rules of the protocol, from its history and what is left after it.

The checker knows ``docs/protocol.md`` and the text of the task, and neither the faults nor how the service works. It
trusts the history (what clients sent and received) and the ledger as it is at the end.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from banditmt_client.results import Round as LearnerRound
from lambdas.service import STALENESS_SECONDS
from leaderboard.metrics.bleu import sentence_bleu
from task.rounds import TICKS, Round, to_ticks
from tests.faults.scenario import WORD_VALUES, example
from tests.simulation.competition import Outcome
from tests.simulation.history import Decision, Exchange
from tests.simulation.servers import KEY_THROTTLE
from tests.simulation.storage import RUNS, reference, source

REFERENCE_WORD = re.compile(r"refword(\d+)")
Violations = Iterator[str]


class Checker:
    """The rules, one method each. Every violation is one line."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.layout = outcome, outcome.task.phase.layout
        self.exchanges = outcome.history.exchanges
        self.answers: dict[tuple[str, int], list[Exchange]] = defaultdict(list)  # to translations, by run and index
        for each in self.exchanges:
            index = self._index(each)
            if index is not None and each.run is not None:
                self.answers[each.run, index].append(each)

    def violations(self) -> list[str]:
        rules: list[Callable[[], Violations]] = [
            self.competition_ends,
            self.answered_rounds_are_in_the_ledger,
            self.one_feedback_per_sentence,
            self.scores_and_sums_are_right,
            self.sentences_come_after_their_predecessor,
            self.reads_see_what_was_answered,
            self.references_stay_secret,
            self.runs_belong_to_their_participant,
            self.ids_are_issued_alike,
            self.budgets_are_kept,
            self.closed_phases_and_revoked_keys_do_not_work,
            self.keys_are_throttled,
            self.learners_learned_every_round_once,
            self.leaderboard_shows_the_ledger,
        ]
        return [f"{rule.__name__}: {violation}" for rule in rules for violation in rule()]

    # what the history says

    def _index(self, each: Exchange) -> int | None:
        """Return the index of the round that an answer belongs to, or None if it is not an answer to a translation."""
        if each.call != "translate" or not each.succeeded:
            return None
        following = each.response["next"]
        return int(following["index"]) - 1 if following else self.layout.total - 1

    def _source(self, index: int) -> str:
        return source(self.layout.place(index).sentence)

    def _reference(self, index: int) -> str:
        return reference(self.layout.place(index).sentence)

    def _sentences(self) -> Iterator[tuple[Exchange, dict[str, object]]]:
        """Yield every sentence that a client received, with the exchange that it came in."""
        for each in self.exchanges:
            sentence = each.response if each.call == "sentence" else each.response.get("next")
            if each.succeeded and sentence and each.call in ("sentence", "translate"):
                yield each, sentence

    # the rules

    def competition_ends(self) -> Violations:
        """Every learner finishes, no thread fails, and no request makes the service fail for a reason of its own."""
        yield from self.outcome.problems
        for each in self.exchanges:
            if each.received and each.response.get("code") == "internal":
                yield f"{each.call} of {each.participant} got an internal error"

    def answered_rounds_are_in_the_ledger(self) -> Violations:
        """A score leaves only after its round is durable (rule 3), and the ledger has no gaps."""
        for (run, index), answers in self.answers.items():
            rounds = self.outcome.ledger.get(run, [])
            if index >= len(rounds):
                yield f"round {index} of {run[:6]} was answered and is lost"
            elif any(each.body["translation"] != rounds[index].translation for each in answers):
                yield f"round {index} of {run[:6]} is not what was answered"
        for run, rounds in self.outcome.ledger.items():
            if [played.index for played in rounds] != list(range(len(rounds))):
                yield f"the rounds of {run[:6]} are {[played.index for played in rounds]}"

    def one_feedback_per_sentence(self) -> Violations:
        """All answers of a round are the same (rule 2)."""
        for (run, index), answers in self.answers.items():
            if len({(each.body["translation"], each.response["score"]) for each in answers}) > 1:
                yield f"round {index} of {run[:6]} got different feedback"

    def scores_and_sums_are_right(self) -> Violations:
        for run, rounds in self.outcome.ledger.items():
            ticks = 0
            for index, played in enumerate(rounds):
                ticks += to_ticks(played.true_reward)
                if played.true_reward != sentence_bleu(played.translation, self._reference(index)):
                    yield f"round {index} of {run[:6]} has the wrong score"
                if played.true_ticks != ticks or played.observed_ticks != ticks:
                    yield f"the sum of {run[:6]} is wrong from round {index} on"
        for (run, index), answers in self.answers.items():
            expected = sentence_bleu(str(answers[0].body["translation"]), self._reference(index))
            if answers[0].response["score"] != expected:
                yield f"round {index} of {run[:6]} was answered with the wrong score"

    def sentences_come_after_their_predecessor(self) -> Violations:
        """Sentence k+1 is not readable before round k is committed (rule 1), and each is the right one."""
        sent: dict[str, list[Exchange]] = defaultdict(list)  # translations, by run
        for each in self.exchanges:
            if each.call == "translate" and each.run:
                sent[each.run].append(each)
        for each, sentence in self._sentences():
            run, index = str(each.run), int(str(sentence["index"]))
            if sentence["source"] != self._source(index):
                yield f"sentence {index} of {run[:6]} is not that of the task"
            translated = sum(1 for earlier in sent[run] if each.received is not None and earlier.sent < each.received)
            if index > translated:
                yield f"sentence {index} of {run[:6]} was served after {translated} translations"
            if index > len(self.outcome.ledger.get(run, [])):
                yield f"sentence {index} of {run[:6]} was served, but the round before it is lost"

    def reads_see_what_was_answered(self) -> Violations:
        """A request that is sent after an answer was received sees the round of that answer, and its sums."""
        for each in self.exchanges:
            if not each.succeeded or each.call not in ("run", "sentence", "open"):
                continue
            run, index = each.run or str(each.response["run"]), int(each.response["index"])
            done = self._last_answered(run, each.sent)
            if index <= done:
                yield f"{each.call} of {run[:6]} says {index}, but round {done} was answered before"
            if each.call == "run":
                yield from self._check_state(each, run, index)

    def _last_answered(self, run: str, event: int) -> int:
        """Return the index of the last round that was answered before an event, or -1."""
        indices = (
            index
            for (other, index), answers in self.answers.items()
            if other == run and any(each.received is not None and each.received < event for each in answers)
        )
        return max(indices, default=-1)

    def _check_state(self, each: Exchange, run: str, index: int) -> Violations:
        rounds = self.outcome.ledger.get(run, [])[:index]
        if each.response["cumulative_reward"] != (rounds[-1].observed_ticks / TICKS if rounds else 0.0):
            yield f"the state of {run[:6]} at {index} has the wrong cumulative reward"
        last = each.response["last"]
        if last and rounds and (last["index"], last["translation"]) != (index - 1, rounds[-1].translation):
            yield f"the state of {run[:6]} at {index} shows another last round"

    def references_stay_secret(self) -> Violations:
        """References never leave in a bandit phase; in a post-edit phase, those of committed rounds do (rule 4)."""
        shows = self.outcome.task.phase.feedback.shows_post_edits
        for each in self.exchanges:
            quoted = {int(number) for number in REFERENCE_WORD.findall(json.dumps(each.response))}
            rounds = self.outcome.ledger.get(each.run or "", [])
            known = {self.layout.place(played.index).sentence for played in rounds} if shows else set()
            if quoted - known:
                yield f"{each.call} of {each.participant} got references {sorted(quoted - known)}"

    def runs_belong_to_their_participant(self) -> Violations:
        """A participant reaches only its own runs (rule 5)."""
        owners: dict[str, str | None] = {}
        for each in self.exchanges:
            if each.call == "open" and each.succeeded:
                owner = owners.setdefault(str(each.response["run"]), each.participant)
                if owner != each.participant:
                    yield f"{each.participant} opened the run of {owner}"
        for each in self.exchanges:
            if each.succeeded and each.run in owners and owners[each.run] != each.participant:
                yield f"{each.participant} used {each.call} on the run of {owners[each.run]}"

    def ids_are_issued_alike(self) -> Violations:
        """Without a rotation that voids them, the id of a sentence is the same whenever it is issued."""
        if any(decision.what == "voided" for decision in self.outcome.history.decisions):
            return
        ids: dict[tuple[str | None, object], object] = {}
        for each, sentence in self._sentences():
            if ids.setdefault((each.run, sentence["index"]), sentence["id"]) != sentence["id"]:
                yield f"sentence {sentence['index']} of {str(each.run)[:6]} has two ids"

    def budgets_are_kept(self) -> Violations:
        opened: dict[str | None, set[object]] = defaultdict(set)
        by_system: dict[tuple[str | None, object], set[object]] = defaultdict(set)
        for each in self.exchanges:
            if each.call == "open" and each.succeeded:
                opened[each.participant].add(each.response["run"])
                by_system[each.participant, each.body["system"]].add(each.response["run"])
        for participant, runs in opened.items():
            if len(runs) > RUNS:
                yield f"{participant} opened {len(runs)} runs, and may open {RUNS}"
        for (participant, system), runs in by_system.items():
            if len(runs) > 1 and not self.outcome.task.phase.repeatable:
                yield f"{system} of {participant} plays twice"

    def closed_phases_and_revoked_keys_do_not_work(self) -> Violations:
        """After STALENESS_SECONDS, a closed phase commits no new round, and a revoked key does nothing."""
        for decision, until in self._effective_decisions():
            begin = decision.at + STALENESS_SECONDS
            for each in self.exchanges:
                if not (each.succeeded and begin < each.sent_at and each.received_at < until):
                    continue
                if decision.what == "revoked" and each.participant == decision.subject:
                    yield f"{each.call} with a key that was revoked {each.sent_at - decision.at:.0f} s before"
                if decision.what == "closed" and self._is_first(each):
                    yield f"round {self._index(each)} was played {each.sent_at - decision.at:.0f} s after the closing"

    def _effective_decisions(self) -> Iterator[tuple[Decision, float]]:
        """Yield each closing and revocation, and when it ended."""
        decisions = self.outcome.history.decisions
        for number, decision in enumerate(decisions):
            ends = [later.at for later in decisions[number:] if decision.what == "closed" and later.what == "opened"]
            if decision.what in ("closed", "revoked"):
                yield decision, min(ends, default=float("inf"))

    def _is_first(self, each: Exchange) -> bool:
        """Return whether no earlier request could have committed the round that this one was answered for."""
        index = self._index(each)
        if index is None:
            return False
        token = each.body["id"]
        others = (other for other in self.exchanges if other.run == each.run and other is not each)
        return not any(other.body.get("id") == token and other.sent < each.sent for other in others)

    def keys_are_throttled(self) -> Violations:
        """All processes together admit as many requests with a key as its bucket has tokens, neither more nor fewer."""
        buckets: dict[str, tuple[float, float]] = {}  # tokens and time, by key
        for each in self.outcome.history.admissions:
            tokens, before = buckets.get(each.key, (KEY_THROTTLE.burst, each.at))
            tokens = min(KEY_THROTTLE.burst, tokens + (each.at - before) * KEY_THROTTLE.rate)
            if each.admitted != (tokens >= 1) and abs(tokens - 1) > 1e-6:
                yield f"a request was {'admitted' if each.admitted else 'refused'} with {tokens:.2f} tokens left"
            buckets[each.key] = (tokens - each.admitted, each.at)

    def learners_learned_every_round_once(self) -> Violations:
        """What a learner has on its disk is what the rounds of its run teach, each of them once and in order."""
        for system, state in self.outcome.checkpoints.items():
            rounds = self.outcome.ledger.get(state["run"] or "", [])
            learner = example.Learner(
                {"run": state["run"], "rounds": 0, "worth": {**WORD_VALUES[system.partition("-")[0]]}, "mean": 0.0}
            )
            for index, played in enumerate(rounds):
                learner.update(self._learner_round(index, played))
            if not self.outcome.problems and (learner.state != state or len(rounds) != self.layout.total):
                yield f"{system} has learned {state['rounds']} rounds, not what the {len(rounds)} of its run teach"

    def _learner_round(self, index: int, played: Round) -> LearnerRound:
        post_edit = self._reference(index) if self.outcome.task.phase.feedback.shows_post_edits else None
        score = sentence_bleu(played.translation, self._reference(index))
        return LearnerRound("", index, self._source(index), played.translation, score, post_edit=post_edit)

    def leaderboard_shows_the_ledger(self) -> Violations:
        """The leaderboard has every finished run once, with its rounds and its mean reward."""
        rows = {row["run"]: row for row in self.outcome.board["rows"]}
        if len(rows) != len(self.outcome.board["rows"]):
            yield "the leaderboard shows a run twice"
        for run, rounds in self.outcome.ledger.items():
            if len(rounds) != self.layout.total:
                continue
            row = rows.get(run)
            if row is None:
                yield f"{run[:6]} is not on the leaderboard"
            elif row["rounds"] != len(rounds) or abs(row["reward"] - rounds[-1].true_ticks / TICKS) > 1e-9:
                yield f"the leaderboard shows {row['rounds']} rounds and {row['reward']} of {run[:6]}"
