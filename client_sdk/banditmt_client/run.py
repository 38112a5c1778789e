"""One pass of a system over a phase, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from banditmt_client.connection import Connection
from banditmt_client.errors import InvalidTranslationError, OrderError, RunFinishedError
from banditmt_client.results import Progress, Round, Sentence, field, read_number, read_round, read_score, read_sentence


class Run:
    """A run: iterate over it for sentences, and submit one translation for each.

    A run that was begun by an earlier process goes on where that one stopped. Belongs to one thread at a time.
    """

    def __init__(self, connection: Connection, answer: Mapping[str, Any]) -> None:
        self.id: str = field(answer, "run", str)
        self.phase: str = field(answer, "phase", str)
        self.system: str = field(answer, "system", str)
        self.total: int = field(answer, "total", int)
        self._index: int = field(answer, "index", int)
        self._connection = connection
        self._pending: Sentence | None = None  # served and not yet answered
        self._last: Round | None = None
        self._reward: float | None = None  # cumulative; unknown until asked for

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.system!r} in {self.phase}: {self._index:,} of {self.total:,} rounds>"

    def __iter__(self) -> Iterator[Sentence]:
        while (sentence := self.sentence()) is not None:
            yield sentence
            if self._pending is sentence:
                raise OrderError(f"round {sentence.index} has not been answered: submit a translation before going on")

    def sentence(self) -> Sentence | None:
        """The sentence that waits for a translation, the same one until it is answered; None when finished."""
        if self._pending is None and self._index < self.total:
            try:
                self._take(read_sentence(self._connection.sentence(self.id)))
            except RunFinishedError:
                self._index = self.total
        return self._pending

    def submit(self, translation: str) -> float:
        """Answer the pending sentence and return its score in [0, 1].

        When the network fails for good, the sentence stays pending: submit the same translation again.
        """
        sentence = self._pending
        if sentence is None:
            raise OrderError(
                "this run is finished: there is nothing to translate"
                if self._index >= self.total
                else "no sentence is waiting for a translation: ask for one first, and submit only once for each"
            )
        _check(translation)
        answer = self._connection.translate(self.id, sentence.id, translation)
        score = read_score(answer)
        following = None if answer.get("next") is None else read_sentence(field(answer, "next", Mapping))
        self._last = Round(sentence.id, sentence.index, sentence.source, translation, score)
        self._index = sentence.index + 1
        if self._reward is not None:
            self._reward += score
        self._pending = None
        if following is not None:
            self._take(following)
        return score

    @property
    def last(self) -> Round | None:
        """The round that was answered last, here or in an earlier process that crashed before it saw its score."""
        if self._last is None and self._index:
            self._refresh()
        return self._last

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        if self._reward is None:
            self._refresh()
        return Progress(self._index, self.total, self._reward or 0.0)

    def _refresh(self) -> None:
        answer = self._connection.run(self.id)
        self._index = field(answer, "index", int)
        self._reward = read_number(answer, "cumulative_reward", at_most=self.total)
        last = answer.get("last")
        self._last = None if last is None else read_round(last)

    def _take(self, sentence: Sentence) -> None:
        self._pending = sentence
        self._index = sentence.index


MAX_CHARACTERS = 4_000  # of a translation: the service takes no more
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # controls, and halves of characters


def _check(translation: str) -> None:
    """Refuse here what the service would refuse, before it costs a call."""
    if not isinstance(translation, str):
        raise InvalidTranslationError(f"a translation is a string, not {type(translation).__name__}")
    if not translation.strip():
        raise InvalidTranslationError(
            "a translation may not be empty: send your best guess, for instance the source sentence itself"
        )
    if _NOT_TEXT.search(translation):
        raise InvalidTranslationError(
            "a translation is one line of text: line breaks, tabs, other controls and lone surrogates are refused"
        )
    if len(translation) > MAX_CHARACTERS:
        raise InvalidTranslationError(
            f"a translation has at most {MAX_CHARACTERS:,} characters, and this one has {len(translation):,}: "
            "does the system repeat itself?"
        )
