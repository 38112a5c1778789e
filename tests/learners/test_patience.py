import time

from learners import patience
from learners.patience import notice_if_slow


def test_whoever_waits_is_told_what_for(monkeypatch, capsys):
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    with notice_if_slow("boiling water"):
        time.sleep(0.1)
    assert capsys.readouterr().err == "boiling water\n"


def test_whoever_does_not_wait_is_told_nothing(capsys):
    with notice_if_slow("boiling water"):
        pass
    assert capsys.readouterr().err == ""
