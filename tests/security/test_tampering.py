"""An intruder who can write to the store, but lacks the ledger key, changes nothing that ``admin verify`` overlooks."""

import json
import shutil
import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from lambdas.chain import LedgerKey
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.withdrawals import Withdrawals
from leaderboard.families import RoleKind
from simulator.cli import run as banditmt
from task.names import run_id
from task.rounds import to_ticks
from tests.lambdas import tasks

KEY = "ab" * 32
FINISHED = run_id("acme", "dev", "copy", 1)  # 14 rounds
UNFINISHED = run_id("rival", "training", "words", 1)  # 3 of 4 rounds


def play_all(store, key, translate=lambda sentence: sentence.source):
    """Play the same two runs in any store: ids of runs are hashes, so they are the same, too."""
    service = Service(store, ledger_key=key)
    registry = Registry(store)
    for name in ("acme", "rival"):
        registry.add_participant(name)
    acme, rival = (registry.require_participant(name) for name in ("acme", "rival"))
    tasks.play(service, acme, service.open_run(acme, "dev", "copy").run, translate=translate)
    tasks.play(service, rival, service.open_run(rival, "training", "words").run, rounds=3, translate=translate)
    for record in registry.phases():
        Scoreboard(store).catch_up(record)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A folder with a store, its published leaderboards, and the same store with better translations without a key."""
    folder = tmp_path_factory.mktemp("tampering")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BANDITMT_LEDGER_KEY", KEY)
        store = SQLiteStore.open(str(folder / "store.db"))
        tasks.load(store)
        play_all(store, LedgerKey.parse(KEY))
        registry = Registry(store)
        registry.set_role("acme", "copy", RoleKind.BASELINE)
        Withdrawals(store).withdraw(UNFINISHED, "a test")
        for record in registry.phases():
            board = Scoreboard(store).board(record)
            (folder / f"{record.phase.name}.json").write_text(json.dumps(board.as_dict()))
        Withdrawals(store).restore(UNFINISHED, "a test")
        (folder / "training.json").write_text(
            json.dumps(Scoreboard(store).board(registry.require_phase("training")).as_dict())
        )
        store.close()
    forged = SQLiteStore.open(str(folder / "forged.db"))
    tasks.load(forged)
    play_all(forged, None, translate=lambda sentence: "refword0000 of dev with rot und blau secretref")
    forged.close()
    return folder


@pytest.fixture
def path(originals, tmp_path):
    shutil.copy(originals / "store.db", tmp_path / "store.db")
    return tmp_path / "store.db"


def verify(path: Path, capsys, *options: str) -> tuple[int, str]:
    code = banditmt(["admin", "verify", "--store", f"sqlite:{path}", "--ledger-key", KEY, *options])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out + captured.err


def published(folder: Path) -> list[str]:
    return [option for phase in ("dev", "training") for option in ("--published", str(folder / f"{phase}.json"))]


def sql(*statements: str):
    """A change of the store by statements of SQL."""

    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            for statement in statements:
                changed = connection.execute(statement).rowcount
                assert changed > 0, f"nothing was changed by {statement}"
        connection.close()

    return change


def of_run(run: str) -> str:
    return f"run = (SELECT number FROM runs WHERE id = '{run}')"


def document(kind: str, name: str, assignment: str) -> str:
    """Change one value of a document: PATH = VALUE."""
    place, _, value = assignment.partition(" = ")
    return f"UPDATE documents SET json = json_set(json, '{place}', {value}) WHERE kind = '{kind}' AND name = '{name}'"


def changed_text(side: str, old: str, new: str):
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            query = f"SELECT block FROM \"{side}\" WHERE phase = 'dev' AND number = 1"
            text = zlib.decompress(connection.execute(query).fetchone()[0]).decode()
            assert old in text
            block = zlib.compress(text.replace(old, new).encode())
            connection.execute(f"UPDATE \"{side}\" SET block = ? WHERE phase = 'dev' AND number = 1", (block,))
        connection.close()

    return change


def forged_rounds(run: str, *, key: bytes | None = None, start: int = 0):
    """Replace rounds of a run by better ones, with the right scores, sums, statistics, links and summaries."""

    def change(path: Path) -> None:
        store = SQLiteStore.open(str(path))
        forged = SQLiteStore.open(str(path.with_name("forged.db")))
        opened = store.opening(run)
        assert opened is not None
        record = Registry(store).require_phase(opened.phase)
        kept = list(store.rounds(run))[:start]
        before, sums = (kept[-1].link, kept[-1].ticks_after) if kept else (b"", (0, 0))
        better = []
        for each in list(forged.rounds(run))[start:]:
            sums = sums[0] + to_ticks(each.observed_reward), sums[1] + to_ticks(each.true_reward)
            played = replace(each, run=opened, observed_ticks=sums[0], true_ticks=sums[1])
            before = LedgerKey(key or b"").link(record, played, before)
            better.append(replace(played, link=before))
        store._execute(f"DELETE FROM rounds WHERE position >= {start} AND {of_run(run)}", ())
        store.restore_rounds(better)
        store._execute("DELETE FROM documents WHERE kind = ? AND name = ?", (f"board/{opened.phase}", run))
        Scoreboard(store).catch_up(record)
        store.close()
        forged.close()

    return change


def damaged_bytes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xff" * (4096 * 9)
    path.write_bytes(content)


ROUND = f"position = 5 AND {of_run(FINISHED)}"
DELETE_RUN = [f"DELETE FROM rounds WHERE {of_run(FINISHED)}", f"DELETE FROM runs WHERE id = '{FINISHED}'"]
DELETE_CLAIM = "DELETE FROM documents WHERE kind = 'run/acme/dev'"
DELETE_SUMMARY = f"DELETE FROM documents WHERE kind = 'board/dev' AND name = '{FINISHED}'"
DELETE_END = f"DELETE FROM rounds WHERE position >= 12 AND {of_run(FINISHED)}"

CHANGED = "round 5: it was changed after it was committed: the link does not fit"
TAMPERINGS = {
    # texts
    "a source": (changed_text("sources", "quelle 4", "quelle 9"), "phase dev: sources or references among sentences 0"),
    "a reference": (changed_text("references", "refword0004", "better"), "are not those that were loaded"),
    "a reference is missing": (changed_text("references", "\n", " "), "phase dev: sources or references among"),
    "a block is missing": (sql("DELETE FROM sources WHERE phase = 'dev' AND number = 1"), "block 1 of the sources of"),
    "a damaged block": (sql("UPDATE \"references\" SET block = x'00' WHERE phase = 'dev'"), "phase dev is damaged"),
    # one round
    "a translation of the same score": (
        sql(f"UPDATE rounds SET translation = translation || ' ' WHERE {ROUND}"),
        CHANGED,
    ),
    "a time": (sql(f"UPDATE rounds SET committed_at = committed_at + 1 WHERE {ROUND}"), CHANGED),
    "a log-probability": (sql(f"UPDATE rounds SET log_probability = -0.5 WHERE {ROUND}"), CHANGED),
    "a post-edit": (sql(f"UPDATE rounds SET post_edit = 'x' WHERE {ROUND}"), "there is a post-edit, but this phase"),
    "an observed reward": (sql(f"UPDATE rounds SET shown = 0.5 WHERE {ROUND}"), "the participant received 0.5"),
    "a true reward": (sql(f"UPDATE rounds SET clean = 0.5 WHERE {ROUND}"), "the true reward is 0.5"),
    "statistics": (
        sql(f"UPDATE rounds SET statistics = zeroblob(length(statistics)) WHERE {ROUND}"),
        "round 5: the statistics are not those of the translation",
    ),
    "a sum": (sql(f"UPDATE rounds SET clean_ticks = 7 WHERE {ROUND}"), "the sums are not those of the rewards"),
    "a link": (sql(f"UPDATE rounds SET link = x'{'01' * 16}' WHERE {ROUND}"), "round 5: from here on, the rounds are"),
    "a link is removed": (sql(f"UPDATE rounds SET link = NULL WHERE {ROUND}"), "round 5: its link was removed"),
    "a round is deleted": (sql(f"DELETE FROM rounds WHERE {ROUND}"), "round 6: round 5 should come here"),
    "a round too many": (
        sql(
            "INSERT INTO rounds SELECT run, 14, translation, shown, clean, statistics, shown_ticks, clean_ticks,"
            f" committed_at, NULL, NULL, link FROM rounds WHERE position = 13 AND {of_run(FINISHED)}"
        ),
        "round 14: the phase has no such round",
    ),
    # many rounds
    "all links are removed": (
        sql(f"UPDATE rounds SET link = NULL WHERE {of_run(FINISHED)}"),
        "its rounds are not linked with the ledger key, but it was opened since that is used",
    ),
    "a whole run is forged without the key": (forged_rounds(FINISHED), "its rounds are not linked with the ledger key"),
    "a whole run is forged with another key": (
        forged_rounds(FINISHED, key=b"x" * 32),
        "its rounds are not linked with the ledger key",
    ),
    "the end of a run is forged without the key": (
        forged_rounds(FINISHED, start=6),
        "round 6: from here on, the rounds are linked without the ledger key",
    ),
    "the end of a run is deleted": (sql(DELETE_END), "the leaderboard shows 14 rounds, but the ledger has only 12"),
    "the end of a run and its summary are deleted": (
        sql(DELETE_END, DELETE_SUMMARY),
        f"run {FINISHED}: it was published with 14 rounds, but the ledger has fewer",
    ),
    # runs
    "the owner": (
        sql(f"UPDATE runs SET participant = 'rival' WHERE id = '{FINISHED}'"),
        "the ledger has it as Run(",
    ),
    "the owner everywhere": (
        sql(
            f"UPDATE runs SET participant = 'rival' WHERE id = '{FINISHED}'",
            "UPDATE documents SET kind = 'run/rival/dev', json = json_set(json, '$.participant', 'rival')"
            " WHERE kind = 'run/acme/dev'",
            document("board/dev", FINISHED, "$.participant = 'rival'"),
        ),
        "its id is not that of its participant, phase, system and attempt: one of them was changed",
    ),
    "the system everywhere": (
        sql(
            f"UPDATE runs SET system = 'better' WHERE id = '{FINISHED}'",
            document("run/acme/dev", "000000", "$.system = 'better'"),
            document("board/dev", FINISHED, "$.system = 'better'"),
        ),
        "its id is not that of its participant",
    ),
    "when it was opened": (
        sql(
            f"UPDATE runs SET opened_at = opened_at + 1 WHERE id = '{FINISHED}'",
            document("run/acme/dev", "000000", f"$.opened_at = (SELECT opened_at FROM runs WHERE id = '{FINISHED}')"),
        ),
        "round 0: it was changed after it was committed, or the opening of its run or the settings of its phase were",
    ),
    "when it was opened, before there was a key": (
        sql(
            f"UPDATE rounds SET link = NULL WHERE {of_run(FINISHED)}",
            f"UPDATE runs SET opened_at = 1 WHERE id = '{FINISHED}'",
            document("run/acme/dev", "000000", "$.opened_at = 1"),
        ),
        "it was opened before its participant was registered",
    ),
    "the opening is deleted": (sql(f"DELETE FROM runs WHERE id = '{FINISHED}'"), "there are rounds, but no opening"),
    "a run is deleted": (sql(*DELETE_RUN, DELETE_SUMMARY), "it was claimed but is not in the ledger"),
    "a run is deleted without a trace": (
        sql(*DELETE_RUN, DELETE_CLAIM, DELETE_SUMMARY),
        f"run {FINISHED}: it was published, but is not in the ledger",
    ),
    "a claim is deleted": (sql(DELETE_CLAIM), "acme has played this run without a claim on it"),
    "a claim in the middle is deleted": (
        sql("UPDATE documents SET name = '000001' WHERE kind = 'run/acme/dev'"),
        "a claim of acme on a run of phase dev was deleted",
    ),
    "training is claimed twice": (
        sql(
            "INSERT INTO documents SELECT kind, '000001', json_set(json, '$.attempt', 2) FROM documents"
            " WHERE kind = 'run/rival/training'"
        ),
        "words has played phase training 2 times, but it can be played only once",
    ),
    "a run of another phase": (
        sql(f"UPDATE runs SET phase = 'extra' WHERE id = '{FINISHED}'"),
        "it is of phase extra, which this store does not have",
    ),
    # the leaderboard
    "a summary": (
        sql(document("board/dev", FINISHED, "$.total[1] = 5")),
        "the leaderboard does not match the ledger; rebuild it",
    ),
    "the owner on the leaderboard": (
        sql(document("board/dev", FINISHED, "$.participant = 'rival'")),
        "the leaderboard does not match the ledger; rebuild it",
    ),
    "a summary without a run": (
        sql(
            "INSERT INTO documents SELECT kind, 'b', json_set(json, '$.run', 'b') FROM documents"
            " WHERE kind = 'board/dev'"
        ),
        "run b: the leaderboard shows this run, but no participant opened it",
    ),
    # the organiser's decisions
    "a phase can be repeated": (
        sql(document("phase", "training", "$.repeatable = json('true')")),
        "the phase training was changed, but not by a command",
    ),
    "the state of a phase": (sql(document("phase", "dev", "$.state = 'closed'")), "the phase dev was changed"),
    "the budget of a phase": (sql(document("phase", "dev", "$.runs = 7")), "the phase dev was changed"),
    "the seed of a phase": (sql(document("phase", "dev", "$.seed = 7")), "the phase dev was changed"),
    "the fingerprint of a phase": (
        sql(document("phase", "dev", f"$.fingerprint = '{'e' * 64}'")),
        "phase dev: its fingerprint is not that of its sources and references",
    ),
    "a role": (
        sql(document("role", "acme/copy", "$.kind = 'oracle'")),
        "the role of copy of acme was changed, but not by a command",
    ),
    "a role is added": (
        sql(
            "INSERT INTO documents SELECT kind, 'rival/words', json_set(json, '$.participant', 'rival', '$.system',"
            " 'words') FROM documents WHERE kind = 'role'"
        ),
        "the role of words of rival was added, but not by a command",
    ),
    "a role is deleted": (
        sql("DELETE FROM documents WHERE kind = 'role'"),
        "the role of copy of acme was deleted, but not by a command",
    ),
    "a withdrawal": (
        sql(document("withdrawal/training", UNFINISHED, "$.withdrawn = json('true')")),
        f"the withdrawal of run {UNFINISHED} was changed, but not by a command",
    ),
    "a participant": (
        sql(document("participant", "acme", "$.disabled = json('true')")),
        "the participant acme was changed",
    ),
    "a participant is deleted": (
        sql("DELETE FROM documents WHERE kind = 'participant' AND name = 'acme'"),
        "the participant acme was deleted",
    ),
    "a role and its digest in the seal": (
        sql(
            "DELETE FROM documents WHERE kind = 'role'",
            "UPDATE documents SET json = json_remove(json, '$.digests.\"role acme/copy\"') WHERE kind = 'seal'",
        ),
        "the seal of phases, participants, roles and withdrawals was not made with this key",
    ),
    "a role, without the seal": (
        sql(document("role", "acme/copy", "$.kind = 'oracle'"), "DELETE FROM documents WHERE kind = 'seal'"),
        "the seal of phases, participants, roles and withdrawals is missing",
    ),
    "a seal of another form": (
        sql("UPDATE documents SET json = '{\"digests\": 7}' WHERE kind = 'seal'"),
        "a document of kind seal in the store is damaged",
    ),
    # values that the service never writes
    "a reward above 1": (sql(f"UPDATE rounds SET clean = 5.0 WHERE {ROUND}"), "round 5: the true reward is 5.0, which"),
    "a reward that is text": (sql(f"UPDATE rounds SET shown = 'x' WHERE {ROUND}"), "the observed reward is 'x', which"),
    "a negative sum": (sql(f"UPDATE rounds SET shown_ticks = -1 WHERE {ROUND}"), "the sum of observed rewards is -1"),
    "a position that is text": (sql(f"UPDATE rounds SET position = 'x' WHERE {ROUND}"), f"run {FINISHED}"),
    "a translation of bytes": (
        sql(f"UPDATE rounds SET translation = x'ff' WHERE {ROUND}"),
        "round 5: the translation or the post-edit is not a text",
    ),
    "statistics that are text": (
        sql(f"UPDATE rounds SET statistics = 'x' WHERE {ROUND}"),
        "the statistics or the link",
    ),
    "a short link": (sql(f"UPDATE rounds SET link = x'00' WHERE {ROUND}"), "round 5: the link has 1 bytes, which"),
    "a phase without its layout": (sql(document("phase", "dev", "$.layout = 'x'")), "a document of kind phase in the"),
    "a phase that is not JSON": (
        sql("UPDATE documents SET json = '{' WHERE kind = 'phase' AND name = 'dev'"),
        "a document of kind phase in the store is damaged: restore a backup",
    ),
    "a claim with another field": (
        sql(document("run/acme/dev", "000000", "$.colour = 'red'")),
        "a document of kind run/acme/dev in the store is damaged",
    ),
    "a claim with a number for a name": (
        sql(document("run/acme/dev", "000000", "$.system = 7")),
        "a document of kind run/acme/dev in the store is damaged",
    ),
    "a claim without a time": (
        sql(document("run/acme/dev", "000000", "$.opened_at = NULL")),
        "a document of kind run/acme/dev in the store is damaged",
    ),
    "a participant without a time": (
        sql(document("participant", "acme", "$.created_at = NULL")),
        "a document of kind participant in the store is damaged",
    ),
    "a role of no system": (
        sql("UPDATE documents SET json = '{}' WHERE kind = 'role'"),
        "a document of kind role in the store is damaged",
    ),
    "a role of a list": (
        sql(document("role", "acme/copy", "$.system = json('[]')")),
        "a document of kind role in the store is damaged",
    ),
    "a withdrawal without a reason": (
        sql(document("withdrawal/training", UNFINISHED, "$.why = NULL")),
        "a document of kind withdrawal/training in the store is damaged",
    ),
    "a withdrawal that is empty": (
        sql("UPDATE documents SET json = '{}' WHERE kind = 'withdrawal/training'"),
        "a document of kind withdrawal/training in the store is damaged",
    ),
    "fingerprints that are a number": (
        sql(document("loading", "dev", "$.fingerprints = 7")),
        "a document of kind loading in the store is damaged",
    ),
    "a system of bytes": (
        sql(f"UPDATE runs SET system = x'ff' WHERE id = '{FINISHED}'"),
        "its opening holds a value that the service never writes: system is b'\\xff'",
    ),
    "a damaged file": (damaged_bytes, "restore a backup"),
}


def test_an_untouched_store(originals, path, capsys):
    assert verify(path, capsys, *published(originals)) == (
        0,
        "17 rounds of 2 runs verified, 0 discrepancies\n"
        "proven, unless discrepancies are listed: scores, sums and texts belong together; nothing in 17 rounds was "
        "changed since they were committed (ledger key); phases, participants, roles and withdrawals are as commands "
        "left them; no published run or round is missing or changed. Trusted: that these were not set back to an "
        "earlier state together with their seal; that no run, and no end of an unfinished run, was deleted after the "
        "published leaderboard; API keys, token keys, profiles and the description of the task; the clock of the "
        "service.\n",
    )


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_change_is_named(originals, path, capsys, name):
    shutil.copy(originals / "forged.db", path.with_name("forged.db"))
    change, named = TAMPERINGS[name]
    change(path)
    code, output = verify(path, capsys, *published(originals))
    assert named in output
    assert code == 1


@pytest.mark.parametrize(
    "assignment",
    ["$.run = json('[]')", f"$.total[0] = json('{10**30}')", f"$.late[0] = json('{10**30}')", "$.block = 'x'"],
)
def test_a_summary_that_cannot_be_read_is_made_again(originals, path, capsys, assignment):
    """The leaderboard follows from the ledger. Impossible numbers take neither memory nor time."""
    sql(document("board/dev", FINISHED, assignment))(path)
    code, output = verify(path, capsys, *published(originals))
    assert (code, output.splitlines()[0]) == (0, "17 rounds of 2 runs verified, 0 discrepancies")


def test_without_a_key_a_consistent_forgery_is_named_by_the_published_leaderboard(originals, path, capsys):
    shutil.copy(originals / "forged.db", path.with_name("forged.db"))
    forged_rounds(FINISHED)(path)
    code = banditmt(
        ["admin", "verify", "--store", f"sqlite:{path}", "--published", str(originals / "dev.json"), "--phase", "dev"]
    )
    output = capsys.readouterr().out
    assert code == 1
    assert f"run {FINISHED}: its first 14 rounds are not those that were published: the head is another" in output


def test_a_broken_seal_stays_broken_until_it_is_renewed(path, capsys, monkeypatch):
    """Otherwise the organiser's next command would cover up the forgery."""
    monkeypatch.setenv("BANDITMT_LEDGER_KEY", KEY)
    TAMPERINGS["a role and its digest in the seal"][0](path)
    place = f"sqlite:{path}"
    assert banditmt(["admin", "phase", "close", "mock", "--store", place]) == 0
    assert verify(path, capsys)[0] == 1
    assert banditmt(["admin", "seal", "--store", place]) == 0
    assert verify(path, capsys)[0] == 0


def test_a_deleted_seal_is_not_made_anew_by_the_next_command(path, capsys, monkeypatch):
    monkeypatch.setenv("BANDITMT_LEDGER_KEY", KEY)
    TAMPERINGS["a role, without the seal"][0](path)
    place = f"sqlite:{path}"
    assert banditmt(["admin", "phase", "close", "mock", "--store", place]) == 0
    code, output = verify(path, capsys)
    assert code == 1
    assert "the role of copy of acme was added, but not by a command" in output
    assert "the phase mock" not in output
    assert banditmt(["admin", "seal", "--store", place]) == 0
    assert verify(path, capsys)[0] == 0


def test_a_new_store_needs_no_seal(tmp_path, capsys):
    SQLiteStore.open(str(tmp_path / "store.db")).close()
    code, output = verify(tmp_path / "store.db", capsys)
    assert code == 0
    assert "0 discrepancies" in output


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"phase": "dev", "rows": [{}]}', "[" * 100_000])
def test_a_file_that_is_no_leaderboard(path, capsys, tmp_path, content):
    (tmp_path / "board.json").write_text(content)
    code, output = verify(path, capsys, "--published", str(tmp_path / "board.json"))
    assert code == 1
    assert output.endswith("board.json is not a leaderboard; `banditmt leaderboard --json` writes one\n")
