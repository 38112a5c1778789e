"""Notices for users who have to wait."""

import threading

from learners import slow_notice
from learners.slow_notice import notice_if_slow
from tests.learners.timers import wait_for_timers


def test_a_slow_block_prints_its_notice(monkeypatch, capsys):
    monkeypatch.setattr(slow_notice, "NOTICE_AFTER_SECONDS", 0.0)
    with notice_if_slow("boiling water"):
        wait_for_timers()
    assert capsys.readouterr().err == "boiling water\n"


def test_a_quick_block_prints_nothing(monkeypatch, capsys):
    monkeypatch.setattr(slow_notice, "NOTICE_AFTER_SECONDS", 3_600.0)
    with notice_if_slow("boiling water"):
        pass
    assert not any(
        isinstance(thread, threading.Timer) and not thread.finished.is_set() for thread in threading.enumerate()
    )
    assert capsys.readouterr().err == ""
