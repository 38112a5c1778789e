"""One process compiles the engine for all others."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
import threading

import pytest
from numba.core import config

from learners import slow_notice
from learners.errors import LearnerError
from learners.nmt.engine import cache_folder, compilation, network
from learners.nmt.engine.compilation import NOTICE, ensure_compiled, fingerprint
from tests.learners.nmt.toys import tiny_translator
from tests.learners.timers import wait_for_timers


@pytest.fixture
def compilations(monkeypatch):
    """Replace compilation by waiting for the notice; return the list of calls."""
    calls = []

    def compile_into(cache):
        calls.append(cache)
        wait_for_timers()

    monkeypatch.setattr(compilation, "_compile_into", compile_into)
    monkeypatch.setattr(slow_notice, "NOTICE_AFTER_SECONDS", 0.0)
    return calls


def test_a_process_that_runs_a_model_loads_the_engine_and_never_compiles():
    translator = tiny_translator()
    translator.greedy("rot x hemd")
    for function in (network.encode, network.decode):
        assert sum(function.stats.cache_misses.values()) == 0
        assert sum(function.stats.cache_hits.values()) >= 1


def test_setup_compiles_the_engine():
    runpy.run_module("learners.nmt.engine")
    assert (cache_folder() / f"engine-{fingerprint()}.ready").exists()


def test_the_engine_is_compiled_once(tmp_path, compilations):
    for _ in range(2):
        ensure_compiled(tmp_path / "cache")
    assert compilations == [tmp_path / "cache"]


def test_of_several_processes_at_once_one_compiles(tmp_path, compilations):
    threads = [threading.Thread(target=ensure_compiled, args=[tmp_path]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compilations) == 1


def test_a_change_of_the_code_compiles_the_engine_again(tmp_path, compilations, monkeypatch):
    ensure_compiled(tmp_path)
    monkeypatch.setattr(compilation, "fingerprint", lambda: "another")
    ensure_compiled(tmp_path)
    assert len(compilations) == 2


def test_a_change_of_a_constant_that_is_compiled_in_changes_the_fingerprint(tmp_path, monkeypatch):
    home = shutil.copytree(compilation.ENGINE_FOLDER, tmp_path / "engine")
    text = (compilation.ENGINE_FOLDER.parent / "vocabulary.py").read_text()
    monkeypatch.setattr(compilation, "ENGINE_FOLDER", home)
    (tmp_path / "vocabulary.py").write_text(text)
    before = fingerprint()
    (tmp_path / "vocabulary.py").write_text(
        text.replace("PAD, BOS, EOS, UNK = range(4)", "PAD, BOS, UNK, EOS = range(4)")
    )
    assert fingerprint() != before


def test_compiled_code_imports_only_files_that_the_fingerprint_covers():
    trees = [
        ast.parse(path.read_bytes())
        for path in compilation.ENGINE_FOLDER.glob("*.py")
        if "\n@compiled\n" in path.read_text()
    ]
    imported = {node.module for tree in trees for node in tree.body if isinstance(node, ast.ImportFrom)}
    ours = {module for module in imported if module and module.startswith("learners.")}
    assert len(trees) == 4
    assert {module for module in ours if not module.startswith("learners.nmt.engine.")} == {"learners.nmt.vocabulary"}


def test_another_processor_compiles_again(tmp_path, compilations, monkeypatch):
    ensure_compiled(tmp_path)
    monkeypatch.setattr(config, "CPU_NAME", "another")  # as NUMBA_CPU_NAME does
    ensure_compiled(tmp_path)
    assert len(compilations) == 2


def test_another_python_version_compiles_again(tmp_path, compilations, monkeypatch):
    ensure_compiled(tmp_path)
    monkeypatch.setattr(compilation, "python_version", lambda: "3.99.0")
    ensure_compiled(tmp_path)
    assert len(compilations) == 2


def test_machines_that_share_a_folder_keep_each_others_code(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "COMPILE_PROGRAM", "pass")
    ensure_compiled(tmp_path)
    first, compiled = tmp_path / f"engine-{fingerprint()}.ready", tmp_path / "network.encode-1.1.nbc"
    compiled.touch()
    monkeypatch.setattr(config, "CPU_NAME", "another")
    ensure_compiled(tmp_path)
    second = tmp_path / f"engine-{fingerprint()}.ready"
    assert first != second
    assert all(path.exists() for path in (first, second, compiled))


def test_stale_code_is_removed_before_it_is_compiled_again(tmp_path, monkeypatch):
    stale = [tmp_path / name for name in ("network.encode-1.nbi", "network.encode-1.1.nbc", "engine-old.ready")]
    for path in stale:
        path.touch()
    monkeypatch.setattr(compilation, "COMPILE_PROGRAM", "pass")
    ensure_compiled(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.*[yic]")) == [f"engine-{fingerprint()}.ready"]


def test_a_user_who_has_to_wait_sees_a_notice(tmp_path, compilations, monkeypatch, capsys):
    monkeypatch.setattr(slow_notice, "NOTICE_AFTER_SECONDS", 0.0)
    ensure_compiled(tmp_path)
    assert capsys.readouterr().err == f"{NOTICE}\n"


def test_a_failed_compilation_is_one_line_and_tried_again_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "COMPILE_PROGRAM", "raise SystemExit('no space left')")
    for _ in range(2):
        with pytest.raises(LearnerError, match="could not be compiled: no space left"):
            ensure_compiled(tmp_path)


LEARNERS = """
import numpy as np
from learners.bandit.control_variates import RunningMean
from learners.bandit.expected_loss import ExpectedLossLearner, ExpectedLossConfig
from learners.bandit.self_imitation import SelfImitationLearner, SelfImitationConfig
from learners.bandit.zeroth_order import ZerothOrderLearner, ZerothOrderConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.nmt.engine import network
from learners.nmt.engine.warmup import warm_up
from tests.learners.nmt.toys import tiny_translator
from tests.learners.rounds import propose, update

entropic = SafeguardConfig(min_entropy=9.0, entropy_bonus=0.01)
learners = [
    (ExpectedLossLearner, ExpectedLossConfig()),
    (ExpectedLossLearner, ExpectedLossConfig(dropout=0.5)),
    (ExpectedLossLearner, ExpectedLossConfig(batch=2, replay_batch=2, safeguards=entropic)),
    (ExpectedLossLearner, ExpectedLossConfig(batch=2, replay_batch=2, dropout=0.1)),
    (SelfImitationLearner, SelfImitationConfig(batch=2, replay_batch=2, dropout=0.0)),
    (SelfImitationLearner, SelfImitationConfig(batch=2, replay_batch=2, dropout=0.1)),
    (ZerothOrderLearner, ZerothOrderConfig()),
]
functions = (network.encode, network.decode, network.forward, network.add_translation_gradients)
warm_up()
warmed_up = [set(function.signatures) for function in functions]
for kind, config in learners:
    learner = kind(tiny_translator(), config, RunningMean(), seed=1)
    before = learner.save().arrays["vector"]
    for reward in np.linspace(0, 1, 8):
        update(learner, "rot hemd", propose(learner, "rot hemd"), reward)
    assert (learner.save().arrays["vector"] != before).any(), "it learns"

for function, known in zip(functions, warmed_up):
    print(len(known), len(set(function.signatures) - known), len(function.stats.cache_misses))
"""


def test_the_warm_up_compiles_all_that_learning_needs():
    """After it, learners of every kind compile no function for other types, and load all of them from the cache."""
    tiny_translator()  # fills the cache
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", LEARNERS], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("1 0 0\n" * 4, 0), done.stderr
