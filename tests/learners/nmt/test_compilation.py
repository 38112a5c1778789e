"""The engine is compiled by one process for all others."""

import os
import subprocess
import sys
import threading

import pytest

from learners import patience
from learners.errors import LearnerError
from learners.nmt.engine import compilation, network
from learners.nmt.engine.compilation import NOTICE, ensure_compiled, fingerprint
from tests.learners.nmt.toys import tiny_translator
from tests.learners.timers import let_ring


@pytest.fixture
def compilations(monkeypatch):
    """Compiling takes until whoever waits was told so, and leaves a file; every call is noted."""
    calls = []

    def compile_afresh(cache):
        calls.append(cache)
        let_ring()

    monkeypatch.setattr(compilation, "_compile_afresh", compile_afresh)
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    return calls


def test_whoever_plays_loads_and_never_compiles():
    translator = tiny_translator()
    translator.greedy("rot x hemd")
    for function in (network.encode, network.decode):
        assert sum(function.stats.cache_misses.values()) == 0
        assert sum(function.stats.cache_hits.values()) >= 1


def test_it_is_compiled_once(tmp_path, compilations):
    for _ in range(2):
        ensure_compiled(tmp_path / "cache")
    assert compilations == [tmp_path / "cache"]


def test_of_many_who_come_at_once_one_compiles(tmp_path, compilations):
    threads = [threading.Thread(target=ensure_compiled, args=[tmp_path]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compilations) == 1


def test_a_change_of_the_code_compiles_it_again(tmp_path, compilations, monkeypatch):
    ensure_compiled(tmp_path)
    monkeypatch.setattr(compilation, "fingerprint", lambda: "another")
    ensure_compiled(tmp_path)
    assert len(compilations) == 2


def test_stale_code_is_removed_before_it_is_compiled_again(tmp_path, monkeypatch):
    stale = [tmp_path / name for name in ("network.encode-1.nbi", "network.encode-1.1.nbc", "engine-old.ready")]
    for path in stale:
        path.touch()
    monkeypatch.setattr(compilation, "COMPILE", "pass")
    ensure_compiled(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.*[yic]")) == [f"engine-{fingerprint()}.ready"]


def test_a_user_who_has_to_wait_is_told_why(tmp_path, compilations, monkeypatch, capsys):
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    ensure_compiled(tmp_path)
    assert capsys.readouterr().err == f"{NOTICE}\n"


def test_what_cannot_be_compiled_is_said_in_one_line_and_tried_again_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "COMPILE", "raise SystemExit('no room left')")
    for _ in range(2):
        with pytest.raises(LearnerError, match="could not be compiled: no room left"):
            ensure_compiled(tmp_path)


def test_the_rehearsal_compiles_all_that_learning_needs(tmp_path):
    """After it, a process that draws and learns finds everything in the cache, whatever it is."""
    script = (
        "from learners.nmt.engine import network as n\n"
        "from learners.nmt.engine.rehearsal import rehearse\n"
        "rehearse()\n"
        "functions = (n.encode, n.decode, n.follow, n.add_translation_gradients)\n"
        "print(sum(sum(f.stats.cache_misses.values()) for f in functions))\n"
    )
    tiny_translator()  # makes sure that the cache is there
    done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ), capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("0", 0)
