"""A run behind Gymnasium's interface: ``reset`` and ``step`` with their usual return values."""

from __future__ import annotations

from typing import Any

from banditmt_client.errors import OrderError
from banditmt_client.results import Sentence
from banditmt_client.run import Run


class TranslationEnvironment:
    """A run as an environment: the observation is a source sentence, the action its translation.

    Args:
        run: The run to play.

    >>> environment = TranslationEnvironment(client.open_run(phase="dev", system="my-system"))
    >>> source, info = environment.reset()
    >>> source, reward, terminated, truncated, info = environment.step("a translation")
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def reset(self) -> tuple[str | None, dict[str, Any]]:
        """Return the pending source sentence. A run cannot be rewound, so this continues it.

        Returns:
            The observation and the info. The observation is the source sentence, or None if the run is finished. The
            info has the ``index`` and ``total`` of the round, and where the task has documents its ``document`` and
            ``position``; it is empty if the run is finished.

        Raises:
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        sentence = self.run.sentence()
        return _observation(sentence), _info(sentence)

    def step(self, action: str) -> tuple[str | None, float, bool, bool, dict[str, Any]]:
        """Submit a translation of the pending sentence.

        Args:
            action: The translation: one line of text.

        Returns:
            The next observation (None at the end of the run), the reward in [0, 1], whether the run is now finished
            (terminated), whether it was cut short (truncated, always False), and the info of the next round. In a phase
            whose feedback is post-edits, the info also has the ``post_edit`` of the sentence just translated.

        Raises:
            OrderError: The run is finished.
            InvalidTranslationError: The service would not accept the translation.
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        if self.run.sentence() is None:
            raise OrderError("this run is finished: there are no sentences left to translate")
        reward = self.run.submit(action)
        sentence, last = self.run.sentence(), self.run.last
        info = _info(sentence)
        if last is not None and last.post_edit is not None:
            info["post_edit"] = last.post_edit
        return _observation(sentence), reward, sentence is None, False, info


def _observation(sentence: Sentence | None) -> str | None:
    return None if sentence is None else sentence.source


def _info(sentence: Sentence | None) -> dict[str, Any]:
    if sentence is None:
        return {}
    names = ("index", "total", "document", "position")
    return {name: value for name in names if (value := getattr(sentence, name)) is not None}
