"""The same run for people who think in Gymnasium: ``reset``, ``step``, and the tuple they expect."""

from __future__ import annotations

from typing import Any

from banditmt_client.errors import OrderError
from banditmt_client.results import Sentence
from banditmt_client.run import Run


class TranslationEnvironment:
    """A run as an environment: the observation is a source sentence, the action its translation.

    >>> environment = TranslationEnvironment(client.open_run(phase="dev", system="my-system"))
    >>> source, info = environment.reset()
    >>> source, reward, terminated, truncated, info = environment.step("a translation")
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def reset(self) -> tuple[str | None, dict[str, Any]]:
        """The pending source sentence (None if the run is finished). A run cannot be rewound: it goes on."""
        sentence = self.run.sentence()
        return _observe(sentence), _describe(sentence)

    def step(self, action: str) -> tuple[str | None, float, bool, bool, dict[str, Any]]:
        """Submit a translation: next source, reward, terminated, truncated (never), and the next round's place."""
        if self.run.sentence() is None:
            raise OrderError("this run is finished: there is nothing to translate")
        reward = self.run.submit(action)
        sentence = self.run.sentence()
        return _observe(sentence), reward, sentence is None, False, _describe(sentence)


def _observe(sentence: Sentence | None) -> str | None:
    return None if sentence is None else sentence.source


def _describe(sentence: Sentence | None) -> dict[str, Any]:
    return {} if sentence is None else {"index": sentence.index, "total": sentence.total}
