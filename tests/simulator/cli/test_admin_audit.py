"""``banditmt admin audit participants``: a table for people, and JSON for programs."""

import json

from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from simulator.cli import run
from tests.lambdas import tasks


def test_a_participant_who_probes_is_shown(tmp_path, capsys):
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    tasks.load(store)
    service = Service(store)
    player = tasks.participant(store, service, "acme")
    for number in range(3):
        opened = service.open_run(player, "training", f"probe-{number}").run
        tasks.play(service, player, opened, rounds=2, translate=lambda sentence, word=f"w{number}": word)
    store.close()
    place = f"sqlite:{tmp_path / 'store.db'}"
    assert run(["admin", "audit", "participants", "--store", place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "participant": "acme",
            "phase": "training",
            "runs": 3,
            "unfinished": 3,
            "single_words": 1.0,
            "repeated": 0.0,
            "first_pass_gap": None,
            "signs": ["one-word answers", "unfinished runs"],
        }
    ]
    assert run(["admin", "audit", "participants", "--store", place, "--phase", "training"]) == 0
    shown = capsys.readouterr().out
    assert "acme" in shown
    assert "one-word" in shown


def test_a_phase_that_does_not_exist(tmp_path, capsys):
    store = SQLiteStore.open(str(tmp_path / "store.db"))
    tasks.load(store)
    store.close()
    place = f"sqlite:{tmp_path / 'store.db'}"
    assert run(["admin", "audit", "participants", "--store", place, "--phase", "final"]) == 2
    assert capsys.readouterr().err == "banditmt: there is no phase final (training, mock, dev)\n"
