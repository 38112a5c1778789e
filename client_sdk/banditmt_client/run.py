"""A run: one pass of a system over a phase, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, SupportsFloat

from banditmt_client.connection import Connection
from banditmt_client.errors import InvalidLogProbabilityError, InvalidTranslationError, OrderError, RunFinishedError
from banditmt_client.results import (
    Progress,
    Round,
    Sentence,
    invalid_field_error,
    read_count,
    read_field,
    read_number,
    read_optional,
    read_round,
    read_score,
    read_sentence,
)
from banditmt_client.text import is_one_line, printable


class Run:
    """A run: iterate over it to get sentences, and submit one translation for each.

    ``Client.open_run`` and ``Client.get_run`` create runs. A run that an earlier process started resumes where that
    process stopped. A run must be used by one thread at a time.

    Attributes:
        id: The id of the run, to pass to ``Client.get_run``.
        phase: The name of the phase.
        system: The name of the system.
        total: The number of rounds.
    """

    def __init__(self, connection: Connection, response: Mapping[str, Any]) -> None:
        self.id: str = read_field(response, "run", str)
        self.phase: str = read_field(response, "phase", str)
        self.system: str = read_field(response, "system", str)
        self.total: int = read_count(response, "total", at_least=1)
        self._index: int = read_count(response, "index", at_most=self.total)
        self._connection = connection
        self._pending: Sentence | None = None  # served, and not yet translated
        self._last: Round | None = None
        self._cumulative_reward: float | None = None  # unknown until it is asked for

    def __repr__(self) -> str:
        run, phase = printable(self.id), printable(self.phase)
        return f"<Run {run} of {self.system!r} in {phase}: {self._index:,} of {self.total:,} rounds>"

    def __iter__(self) -> Iterator[Sentence]:
        """Yield the sentences without a translation, in order.

        Raises:
            OrderError: The next sentence is asked for before the current one has a translation.
            BanditError: A call failed; see ``banditmt_client.errors``.
        """
        while (sentence := self.sentence()) is not None:
            yield sentence
            if self._pending is sentence:
                raise OrderError(
                    f"round {sentence.index} has no translation yet: submit one before asking for the next sentence"
                )

    def sentence(self) -> Sentence | None:
        """Return the pending sentence: the same one until a translation of it is submitted.

        Returns:
            The sentence, or None if the run is finished.

        Raises:
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        if self._pending is None and self._index < self.total:
            try:
                response = self._connection.sentence(self.id)
                read_count(response, "index", at_most=self.total - 1)
                self._set_pending(read_sentence(response))
            except RunFinishedError:
                self._index = self.total
        return self._pending

    def submit(self, translation: str, *, log_probability: SupportsFloat | None = None) -> float:
        """Submit the translation of the pending sentence and return its score.

        In a phase whose feedback is post-edits, ``run.last.post_edit`` is now the correct translation of this sentence.
        If the call fails even after all retries, the sentence stays pending: submit the same translation again.

        Args:
            translation: One non-empty line of text of at most 4,000 characters.
            log_probability: The natural logarithm of the probability with which the system drew this translation, if
                it drew it at random: a finite number of at most 0. It is kept with the round, for learners that later
                learn offline from the log. It does not change the score.

        Returns:
            The score of the translation, in [0, 1].

        Raises:
            OrderError: No sentence is pending, or the run is finished.
            InvalidTranslationError: The service would not accept the translation. Nothing was sent.
            InvalidLogProbabilityError: The service would not accept the log-probability. Nothing was sent.
            ConflictError: The round is committed with a different translation.
            PhaseClosedError: The organiser has closed or frozen the phase.
            BanditError: Any other failure; see ``banditmt_client.errors``.
        """
        sentence = self._pending
        if sentence is None:
            raise OrderError(
                "this run is finished: there are no sentences left to translate"
                if self._index >= self.total
                else "no sentence is pending: ask for one first, and submit exactly one translation for each"
            )
        _check_translation(translation)
        number = None if log_probability is None else _read_log_probability(log_probability)
        response = self._connection.translate(self.id, sentence.id, translation, number)
        score = read_score(response)
        post_edit = read_optional(response, "post_edit", str)
        following = None
        if response.get("next") is not None:
            following = read_sentence(read_field(response, "next", Mapping))
            if following.index != sentence.index + 1 or following.index >= self.total:
                raise invalid_field_error("index")
        self._last = Round(
            sentence.id,
            sentence.index,
            sentence.source,
            translation,
            score,
            post_edit,
            sentence.document,
            sentence.position,
        )
        self._index = sentence.index + 1
        if self._cumulative_reward is not None:
            self._cumulative_reward += score
        self._pending = None
        if following is not None:
            self._set_pending(following)
        return score

    @property
    def last(self) -> Round | None:
        """The last committed round with its feedback, or None before the first.

        It may have been committed by an earlier process that crashed before it received the feedback.

        Raises:
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        if self._last is None and self._index:
            self._refresh()
        return self._last

    @property
    def progress(self) -> Progress:
        """The progress of the run.

        Raises:
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        if self._cumulative_reward is None:
            self._refresh()
        return Progress(self._index, self.total, self._cumulative_reward or 0.0)

    def _refresh(self) -> None:
        response = self._connection.run(self.id)
        last = read_optional(response, "last", Mapping)
        self._last = None if last is None else read_round(last)
        self._index = read_count(response, "index", at_most=self.total)
        self._cumulative_reward = read_number(response, "cumulative_reward", at_most=self.total)

    def _set_pending(self, sentence: Sentence) -> None:
        self._pending = sentence
        self._index = sentence.index


MAX_TRANSLATION_CHARACTERS = 4_000  # the limit of the service


def _check_translation(translation: str) -> None:
    """Raise ``InvalidTranslationError`` for what the service would refuse, before it costs a call."""
    if not isinstance(translation, str):
        raise InvalidTranslationError(f"a translation must be a string, not {type(translation).__name__}")
    if not translation.strip():
        raise InvalidTranslationError(
            "the translation is empty: submit your best guess, such as the source sentence itself"
        )
    if not is_one_line(translation):
        raise InvalidTranslationError(
            "a translation must be one line of text: remove line breaks, tabs, other control characters and lone "
            "surrogates"
        )
    if len(translation) > MAX_TRANSLATION_CHARACTERS:
        raise InvalidTranslationError(
            f"the translation has {len(translation):,} characters, and the limit is {MAX_TRANSLATION_CHARACTERS:,}: "
            "check whether the system repeats itself"
        )


def _read_log_probability(value: SupportsFloat) -> float:
    """Return the number, which may be one of numpy or torch; raise ``InvalidLogProbabilityError`` if it is invalid."""
    number = None
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):  # such as a tensor of several numbers
            number = float(value)
    if number is None or not -math.inf < number <= 0:
        what = type(value).__name__ if number is None else number
        raise InvalidLogProbabilityError(
            f"a log-probability must be a finite number of at most 0, not {what}: pass the natural logarithm of the "
            "probability with which the translation was drawn, or leave it out"
        )
    return number
