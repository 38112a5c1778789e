"""A run as an environment of Gymnasium; needs the extra ``banditmt-client[gymnasium]``.

Importing this module registers ``banditmt/Translation-v0``. The address and the API key come from the environment
variables of the SDK, and never from an argument: Gymnasium prints arguments.

>>> import gymnasium
>>> import banditmt_client.gymnasium
>>> environment = gymnasium.make("banditmt/Translation-v0", phase="dev", system="my-system")
>>> source, info = environment.reset(seed=1)
>>> source, reward, terminated, truncated, info = environment.step("a translation")
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.error import CustomSpaceError
    from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
    from gymnasium.vector.utils import create_shared_memory
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing.name} is not installed: pip install 'banditmt-client[gymnasium]'", name=missing.name
    ) from None

from banditmt_client.client import Client
from banditmt_client.environment import TranslationEnvironment
from banditmt_client.run import MAX_TRANSLATION_CHARACTERS
from banditmt_client.text import is_one_line

ID = "banditmt/Translation-v0"


class TextLine(spaces.Text):
    """One line of text in any script. A sample is a random word of letters and digits."""

    def contains(self, x: Any) -> bool:
        """Return whether the service would accept or serve a text."""
        return isinstance(x, str) and self.min_length <= len(x.strip()) <= len(x) <= self.max_length and is_one_line(x)

    def __repr__(self) -> str:
        return f"TextLine({self.min_length}, {self.max_length})"


class TranslationEnv(gymnasium.Env):
    """A run as an environment: the observation is a source sentence, the action its translation.

    An episode is a run. A round that has its feedback cannot be played again, so ``reset`` continues an unfinished run
    at its pending sentence; after the last sentence it starts another run, where the phase allows that. The seed is
    that of ``np_random``, for learners that sample; the sentences do not depend on it.

    Args:
        phase: The phase, such as ``"dev"``.
        system: The name under which the system appears on the leaderboard.
        url: The address of the service. Default: the environment variable ``BANDITMT_URL``.
    """

    # No render modes: a sentence is its own picture.
    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own attribute)

    def __init__(self, *, phase: str, system: str, url: str | None = None) -> None:
        self.observation_space = TextLine(MAX_TRANSLATION_CHARACTERS, min_length=0)
        self.action_space = TextLine(MAX_TRANSLATION_CHARACTERS)
        self.phase, self.system = phase, system
        self._client = Client(url=url)
        self._environment: TranslationEnvironment | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Return the pending source sentence, and an info with its index and the total.

        Raises:
            ConflictError: The run is finished, and the phase can be played only once.
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        super().reset(seed=seed, options=options)
        if self._environment is None or self._environment.run.sentence() is None:
            self._environment = TranslationEnvironment(self._client.open_run(phase=self.phase, system=self.system))
        source, info = self._environment.reset()
        return source or "", info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Submit a translation of the pending sentence.

        Returns:
            The next source sentence, or an empty text after the last one; the reward; whether the run is finished;
            False, because nothing cuts a run short; and the info, with the ``post_edit`` in phases that give one.

        Raises:
            OrderError: The run is finished.
            InvalidTranslationError: The service would not accept the translation.
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        if self._environment is None:
            raise gymnasium.error.ResetNeeded("call reset before the first step")
        source, reward, terminated, truncated, info = self._environment.step(action)
        return source or "", reward, terminated, truncated, info

    def close(self) -> None:
        """Close the connection; the run can be resumed later."""
        self._client.close()


def make_vector(*, num_envs: int, phase: str, system: str, url: str | None = None) -> VectorEnv:
    """Return environments over several runs, which step together: ``system``, ``system.s2``, ``system.s3`` and so on.

    They are not reset by themselves when they end: that would start runs that no one asked for.
    """
    names = [system if number == 1 else f"{system}.s{number}" for number in range(1, num_envs + 1)]
    makers = [partial(TranslationEnv, phase=phase, system=name, url=url) for name in names]
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)


@create_shared_memory.register(TextLine)
def _refuse_shared_memory(space: TextLine, n: int = 1, ctx: Any = None) -> NoReturn:  # noqa: ARG001
    """Refuse what ``AsyncVectorEnv`` does by default: it reads texts from shared memory once, before there are any."""
    raise CustomSpaceError("texts cannot be shared in memory: pass shared_memory=False")


# Not deterministic, as Gymnasium means it: a reset with the same seed does not return to the same sentence.
gymnasium.register(ID, entry_point=TranslationEnv, vector_entry_point=make_vector, nondeterministic=True)
