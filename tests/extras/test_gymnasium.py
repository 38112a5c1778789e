"""The environment of Gymnasium: it passes Gymnasium's own checks, and plays one run or several."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import banditmt_client.gymnasium as extra
from banditmt_client import InvalidTranslationError, OrderError
from tests.client_sdk.fake_service import KEY, score_of, serving

SENTENCES = [f"größe {number} 😀" for number in range(20)]


@pytest.fixture
def make(monkeypatch):
    """Return a function that makes an environment on a new service, or what another function makes."""
    servers = []

    def on_service(sentences=SENTENCES, make=gymnasium.make, **options):
        server = serving(sentences)
        monkeypatch.setenv("BANDITMT_URL", server.__enter__().url)
        monkeypatch.setenv("BANDITMT_API_KEY", KEY)
        servers.append(server)
        return make("banditmt/Translation-v0", phase="dev", system="tested", **options)

    yield on_service
    for server in servers:
        server.__exit__(None, None, None)


@pytest.mark.filterwarnings("error")
def test_gymnasium_finds_nothing_wrong(make):
    environment = make()
    check_env(environment.unwrapped)
    assert repr(environment).startswith("<")
    assert KEY not in repr(environment.spec)


def test_a_run_is_an_episode(make):
    environment = make(SENTENCES[:2])
    assert environment.reset() == ("größe 0 😀", {"index": 0, "total": 2})
    assert environment.step("size 0") == ("größe 1 😀", score_of("size 0"), False, False, {"index": 1, "total": 2})
    assert environment.reset() == ("größe 1 😀", {"index": 1, "total": 2})  # a run cannot be rewound
    assert environment.step("größe") == ("", score_of("größe"), True, False, {})
    with pytest.raises(OrderError, match="this run is finished"):
        environment.unwrapped.step("x")
    environment.close()
    environment.close()


def test_the_spaces_are_lines_of_text_in_any_script(make):
    environment = make()
    assert "größe 😀" in environment.action_space
    assert environment.action_space.sample() in environment.action_space
    for wrong in ("", "  ", "a\nb", "x" * 4_001, 7, None):
        assert wrong not in environment.action_space
    assert "" in environment.observation_space
    assert repr(environment.action_space) == "TextLine(1, 4000)"


def test_a_step_before_the_first_reset_and_an_empty_translation_are_refused(make):
    environment = make().unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step("x")
    environment.reset()
    with pytest.raises(InvalidTranslationError):
        environment.step(" ")


def test_the_seed_is_that_of_the_random_numbers_of_a_learner(make):
    environment = make()
    numbers = []
    for seed in (5, 5, 6):
        environment.reset(seed=seed)
        numbers.append(environment.unwrapped.np_random.integers(1_000_000))
    assert numbers[0] == numbers[1] != numbers[2]


def test_a_vector_of_runs_steps_together_and_has_names_of_its_own(make, monkeypatch):
    opened = []
    original = extra.TranslationEnv.__init__

    def record(environment, **options):
        opened.append(options["system"])
        original(environment, **options)

    monkeypatch.setattr(extra.TranslationEnv, "__init__", record)
    environments = make(SENTENCES, gymnasium.make_vec, num_envs=3)
    assert isinstance(environments, SyncVectorEnv)
    assert opened[-3:] == ["tested", "tested.s2", "tested.s3"]
    assert environments.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    environments.close()


def test_shared_memory_is_refused_because_it_would_lose_the_texts(make):
    make()
    with pytest.raises(ValueError, match="shared_memory=False"):
        AsyncVectorEnv([lambda: extra.TranslationEnv(phase="dev", system="x")])


@pytest.mark.parametrize("kind", [SyncVectorEnv, partial(AsyncVectorEnv, shared_memory=False)])
def test_vectors_carry_texts_in_any_script(kind):
    with serving(SENTENCES[:1]) as first, serving(SENTENCES[5:7]) as second, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BANDITMT_API_KEY", KEY)
        makers = [
            lambda url=server.url: extra.TranslationEnv(phase="dev", system="x", url=url) for server in (first, second)
        ]
        environments = kind(makers, autoreset_mode=AutoresetMode.DISABLED)
        sources, _ = environments.reset(seed=1)
        assert sources == ("größe 0 😀", "größe 5 😀")
        sources, rewards, terminated, truncated, _ = environments.step(("weiß", "schön"))
        assert sources == ("", "größe 6 😀")
        assert np.allclose(rewards, [score_of("weiß"), score_of("schön")])
        assert (terminated.tolist(), truncated.tolist()) == ([True, False], [False, False])
        environments.close()
