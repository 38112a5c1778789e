"""A program written for the task of 2017 plays unchanged, and nothing makes it repeat a call for ever."""

import os
import subprocess
import sys

import pytest

from banditmt_client import AuthenticationError, Client, ConfigurationError, InvalidTranslationError, OrderError, wmt17
from tests.client_sdk.fake_service import KEY, score_of, serving

# The calls and the error handling of programs of 2017, written anew: repeat a call until it succeeds, stop at a 404.
OLD_PROGRAM = """
import sys
import wmt_client_python
from wmt_client_python.rest import ApiException
from helper import translate

wmt_client_python.configuration.api_key["x-api-key"] = sys.argv[1]
wmt_client_python.configuration.host = sys.argv[2]
api = wmt_client_python.SharedTaskApi()
api.reset_dataset()
total, finished = 0.0, False
while not finished:
    sentence = None
    while sentence is None:
        try:
            sentence = api.get_sentence()
        except ApiException as error:
            if error.status == 404:
                finished = True
                break
    if not finished:
        reward = None
        while reward is None:
            try:
                done = wmt_client_python.Translation(id=sentence.id, translation=translate(sentence.source))
                reward = api.send_translation(done).score
            except ApiException as error:
                print("again", error)
        total += reward
print(total)
"""
SENTENCES = ["größe xl", "farbe blau", "rot"]


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setenv("BANDITMT_PHASE", "dev")
    monkeypatch.setenv("BANDITMT_SYSTEM", "old")
    monkeypatch.setenv("BANDITMT_API_KEY", KEY)
    monkeypatch.setattr(wmt17, "configuration", wmt17.Configuration())
    return wmt17.SharedTaskApi()


def connect(server, monkeypatch):
    monkeypatch.setenv("BANDITMT_URL", server.url)


def test_an_old_program_plays_unchanged(tmp_path):
    (tmp_path / "old.py").write_text(OLD_PROGRAM)
    (tmp_path / "helper.py").write_text("def translate(source): return source.upper()\n")
    with serving(SENTENCES, ["error-503-before", None, "drop-after", "throttle-seconds"]) as server:
        done = subprocess.run(
            [sys.executable, "-m", "banditmt_client.wmt17", str(tmp_path / "old.py"), KEY, server.url],
            env={**os.environ, "BANDITMT_PHASE": "dev", "BANDITMT_SYSTEM": "old"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert [translation for _, translation, _ in server.service.ledger] == ["GRÖSSE XL", "FARBE BLAU", "ROT"]
        assert float(done.stdout) == pytest.approx(sum(score for *_, score in server.service.ledger))


def test_an_old_program_ends_with_one_line_where_repetition_does_not_help(tmp_path):
    (tmp_path / "old.py").write_text(OLD_PROGRAM)
    (tmp_path / "helper.py").write_text("def translate(source): return ''\n")
    with serving(SENTENCES) as server:
        command = [sys.executable, "-m", "banditmt_client.wmt17", str(tmp_path / "old.py"), KEY, server.url]
        variables = {**os.environ, "BANDITMT_PHASE": "dev", "BANDITMT_SYSTEM": "old"}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("the translation is empty: submit your best guess, such as the source sentence itself\n")


def test_a_missing_program_is_said_with_the_usage():
    command = [sys.executable, "-m", "banditmt_client.wmt17", "no.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        "usage: python -m banditmt_client.wmt17 PROGRAM [ARGUMENT]...",
    )


def test_the_three_calls_and_the_end_of_the_data(api, monkeypatch):
    with serving(SENTENCES[:2]) as server:
        connect(server, monkeypatch)
        api.reset_dataset()
        first = api.get_sentence()
        assert (first, api.get_sentence()) == (wmt17.Sentence("t0", "größe xl"), first)
        sent = wmt17.Translation(id=first.id, translation="size xl")
        assert api.send_translation(sent) == api.send_translation(sent) == wmt17.Score(score_of("size xl"))
        assert api.send_translation({"id": "t1", "translation": "colour blue"}).score == score_of("colour blue")
        with pytest.raises(wmt17.ApiException) as ended:
            api.get_sentence()
        assert ended.value.status == 404
        api.reset_dataset()


def test_a_program_that_resumes_does_not_reset_the_data(api, monkeypatch):
    with serving(SENTENCES[:1]) as server:
        connect(server, monkeypatch)
        assert api.get_sentence().source == "größe xl"
        api.send_translation(wmt17.Translation("t0", "size"))
        with pytest.raises(wmt17.ApiException) as ended:
            wmt17.SharedTaskApi().get_sentence()
        assert ended.value.status == 404


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a\tb\n c", "a b c"),
        ("word " * 2_000, ("word " * 800).strip()),
        ("x" * 5_000, "x" * 4_000),
        ("x" * 3_999 + " yy", "x" * 3_999),
    ],
)
def test_an_output_beyond_the_limit_is_cut_and_not_repeated_for_ever(text, sent, api, monkeypatch):
    with serving(SENTENCES) as server:
        connect(server, monkeypatch)
        api.send_translation({"id": api.get_sentence().id, "translation": text})
        assert server.service.ledger[0][1] == sent


def test_what_no_repetition_cures_is_no_api_exception(api, monkeypatch):
    with serving(SENTENCES) as server:
        connect(server, monkeypatch)
        first = api.get_sentence()
        with pytest.raises(InvalidTranslationError, match="the translation is empty"):
            api.send_translation({"id": first.id, "translation": " \n"})
        with pytest.raises(OrderError, match="no translation of the pending sentence"):
            api.send_translation({"id": "t7", "translation": "x"})
        wmt17.configuration.api_key["x-api-key"] = "wrong"
        with pytest.raises(AuthenticationError):
            wmt17.SharedTaskApi().get_sentence()
    monkeypatch.delenv("BANDITMT_PHASE")
    with pytest.raises(ConfigurationError, match="BANDITMT_PHASE is not set"):
        wmt17.SharedTaskApi().reset_dataset()


def test_a_service_that_fails_raises_an_api_exception_and_the_same_call_succeeds_later(api, monkeypatch):
    monkeypatch.setattr(wmt17, "Client", lambda key, url: Client(key, url, retries=0))
    with serving(SENTENCES, [None, None, "error-503-before", "drop-after"]) as server:
        connect(server, monkeypatch)
        sent = {"id": api.get_sentence().id, "translation": "x"}
        for status in (503, 503):
            with pytest.raises(wmt17.ApiException) as failed:
                api.send_translation(sent)
            assert failed.value.status == status
        assert api.send_translation(sent).score == score_of("x")
        assert len(server.service.ledger) == 1


def test_the_calls_are_functions_of_the_module_too(api, monkeypatch):
    with serving(SENTENCES) as server:
        connect(server, monkeypatch)
        wmt17.reset_dataset()
        assert wmt17.send_translation(wmt17.Translation(wmt17.get_sentence().id, "x")).score == score_of("x")
