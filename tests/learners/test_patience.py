import threading

from learners import patience
from learners.patience import notice_if_slow
from tests.learners.timers import let_ring


def test_whoever_waits_is_told_what_for(monkeypatch, capsys):
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    with notice_if_slow("boiling water"):
        let_ring()
    assert capsys.readouterr().err == "boiling water\n"


def test_whoever_does_not_wait_is_told_nothing(monkeypatch, capsys):
    monkeypatch.setattr(patience, "PATIENCE", 3_600.0)
    with notice_if_slow("boiling water"):
        pass
    assert not any(
        isinstance(thread, threading.Timer) and not thread.finished.is_set() for thread in threading.enumerate()
    )
    assert capsys.readouterr().err == ""
