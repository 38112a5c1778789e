"""``banditmt admin export``, ``import``, ``backup`` and ``participant erase``, as an organiser types them."""

import json

import pytest

from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from simulator.cli import run
from tests.corpora.tasks import write_task
from tests.lambdas import tasks
from tests.lambdas.archive import competitions


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A store after a competition, whose phases are closed. Shared by all tests: do not change it."""
    address = f"sqlite:{tmp_path_factory.mktemp('archiving') / 'store.db'}"
    store = open_store(f"{address}?synchronous=normal")
    competitions.play(store)
    for phase in ("mock", "dev", "training"):
        assert run(["admin", "phase", "close", phase, "--store", address]) == 0
    store.close()
    return address


@pytest.fixture
def typed(capsys):
    """A function that runs a command and returns its exit code, its output and its errors."""

    def typing(*words):
        capsys.readouterr()
        code = run([*map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return typing


def board(typed, store):
    code, out, _ = typed("leaderboard", "--phase", "dev", "--json", "--store", store)
    assert code == 0
    return out


def test_an_exported_and_imported_store_has_the_same_leaderboard(typed, address, tmp_path):
    archive, elsewhere = tmp_path / "task.jsonl.gz", f"sqlite:{tmp_path / 'elsewhere.db'}"
    code, out, err = typed("admin", "export", archive, "--store", address)
    assert (code, err) == (0, "")
    assert out == f"{archive}: 59 rounds of 6 runs, {archive.stat().st_size:,} bytes\n"
    code, out, err = typed("admin", "import", archive, "--store", elsewhere)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"59 rounds of 6 runs are in {elsewhere}",
        "it has no sentences: load the same task with `banditmt admin load` before runs are played or verified",
        "it has no keys: create new ones with `banditmt admin key rotate NAME`",
    ]
    assert board(typed, elsewhere) == board(typed, address)
    code, out, err = typed("admin", "verify", "--store", elsewhere)
    assert (code, err) == (1, "")
    assert "block 0 of the references of phase training is missing: load the task again\n" in out


def test_an_archive_without_texts_tells_that_post_edits_are_references(typed, tmp_path):
    address, archive = f"sqlite:{tmp_path / 'store.db'}", tmp_path / "task.jsonl.gz"
    store = open_store(f"{address}?synchronous=normal")
    tasks.load(store, phases=tasks.MIXED_PHASES)
    service = Service(store)
    player = tasks.participant(store, service, "acme")
    tasks.play(service, player, service.open_run(player, "mock", "copy").run)
    store.close()
    code, _, err = typed("admin", "export", archive, "--store", address)
    assert code == 0
    assert err == (
        "the rounds of mock contain their references, which participants received as post-edits: "
        "publish this archive only if the references may be public\n"
    )
    assert typed("admin", "export", tmp_path / "texts.gz", "--with-texts", "--store", address)[2] == ""


def test_an_archive_does_not_overwrite_anything(typed, address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for taken in (".", "/", str(tmp_path)):
        error = f"banditmt: {taken} exists already; remove it or choose another name\n"
        assert typed("admin", "export", taken, "--store", address) == (1, "", error)


def test_an_archive_with_texts_and_keys_can_be_verified_at_once(typed, address, tmp_path):
    archive, elsewhere = tmp_path / "task.jsonl.gz", f"sqlite:{tmp_path / 'elsewhere.db'}"
    code, out, _ = typed("admin", "export", archive, "--with-texts", "--with-keys", "--store", address, "--json")
    assert code == 0
    assert json.loads(out) == {
        "archive": str(archive),
        "runs": 6,
        "rounds": 59,
        "bytes": archive.stat().st_size,
    }
    code, out, _ = typed("admin", "import", archive, "--store", elsewhere, "--json")
    assert (code, json.loads(out)) == (0, {"store": elsewhere, "runs": 6, "rounds": 59})
    code, out, err = typed("admin", "verify", "--store", elsewhere)
    withdrawn, summary, trust = out.splitlines()
    assert trust.startswith("proven, unless discrepancies are listed: ")
    assert (code, summary, err) == (0, "59 rounds of 6 runs verified, 0 discrepancies", "")
    assert withdrawn.startswith("withdrawn from the leaderboard, but verified like any other: ")


@pytest.fixture
def somewhere(request, tmp_path):
    """The address of a store that does not exist yet."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'new.db'}"
    return f"dynamodb:{request.getfixturevalue('dynalite_url')}?prefix={tmp_path.name}"


@pytest.mark.parametrize("somewhere", ["sqlite", "dynamodb"], indirect=True)
def test_loading_a_task_creates_a_store(typed, somewhere, tmp_path):
    task = write_task(tmp_path / "task").path
    for _ in range(2):  # the second time changes nothing
        code, out, err = typed("admin", "load", task, "--store", somewhere)
        assert (code, err) == (0, "")
        assert out.splitlines() == ["mock: 3 rounds, open", "dev: 8 rounds, open", "training: 14 rounds, open"]
    assert typed("admin", "participant", "add", "acme", "--store", somewhere)[0] == 0


def test_loading_a_directory_that_is_not_a_task(typed, tmp_path):
    code, _, err = typed("admin", "load", tmp_path, "--store", f"sqlite:{tmp_path / 'store.db'}")
    assert (code, err) == (1, f"banditmt: {tmp_path} is not a task: it has no task.json\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not an archive", b"\x1f\x8b\x08\x00"])
def test_an_invalid_archive_creates_no_store(typed, tmp_path, content):
    archive, store = tmp_path / "task.jsonl.gz", tmp_path / "store.db"
    archive.write_bytes(content)
    code, out, err = typed("admin", "import", archive, "--store", f"sqlite:{store}")
    assert (code, out) == (1, "")
    assert err.startswith(f"banditmt: {archive} is ")
    assert err.count("\n") == 1
    assert not store.exists()


def test_a_store_that_is_not_empty(typed, address, tmp_path):
    archive = tmp_path / "task.jsonl.gz"
    typed("admin", "export", archive, "--store", address)
    code, _, err = typed("admin", "import", archive, "--store", address)
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith("banditmt: the store is not empty")


def test_a_backup_is_a_store(typed, address, tmp_path):
    copy = tmp_path / "backup.db"
    code, out, _ = typed("admin", "backup", copy, "--store", address)
    assert code == 0
    assert out.startswith(f"{copy}: ")
    assert board(typed, f"sqlite:{copy}") == board(typed, address)
    assert typed("admin", "verify", "--store", f"sqlite:{copy}")[0] == 0
    assert typed("admin", "backup", copy, "--store", address)[2].startswith(f"banditmt: {copy} exists already")


def test_dynamodb_backs_itself_up(typed, dynalite_url, tmp_path):
    code, _, err = typed("admin", "backup", tmp_path / "backup.db", "--store", f"dynamodb:{dynalite_url}?prefix=none")
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith("banditmt: DynamoDB backs itself up")


def test_releasing_a_log(typed, address, tmp_path):
    path = tmp_path / "log" / "dev.jsonl"
    assert typed("admin", "release-log", "--phase", "dev", path, "--store", address) == (
        0,
        f"{path}: 56 rounds of 4 runs, 0 with a probability; described in {tmp_path / 'log' / 'README.md'}\n",
        "",
    )
    assert len(path.read_text().splitlines()) == 56
    code, out, err = typed("admin", "release-log", "--phase", "dev", tmp_path / "a.jsonl", "--json", "--store", address)
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "log": str(tmp_path / "a.jsonl"),
        "card": str(tmp_path / "README.md"),
        "runs": 4,
        "rounds": 56,
        "with_probability": 0,
        "rounds_per_run": 14,
        "is_early": False,
    }


def test_releasing_the_log_of_an_open_phase_warns(typed, tmp_path):
    address = f"sqlite:{tmp_path / 'store.db'}"
    store = open_store(f"{address}?synchronous=normal")
    competitions.play(store)
    store.close()
    code, out, err = typed("admin", "release-log", "--phase", "dev", tmp_path / "log.jsonl", "--store", address)
    assert (code, out.startswith(f"{tmp_path / 'log.jsonl'}: 16 rounds of 4 runs")) == (0, True)
    assert err == (
        "phase dev is not over: the log has the first 4 rounds of each run, and participants who read it know their "
        "sentences before they are served\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--phase", "dev", "log.csv"), 1, "log.csv should end with .jsonl, .jsonl.gz or .parquet"),
        (("--phase", "finals", "log.jsonl"), 2, "there is no phase finals"),
        (("--phase", "mock", "log.jsonl"), 1, "phase mock has no finished run to release"),
        (("log.jsonl",), 2, "Missing option '--phase'"),
    ],
)
def test_a_log_that_cannot_be_released(typed, address, tmp_path, monkeypatch, words, code, told):
    monkeypatch.chdir(tmp_path)
    exit_code, out, err = typed("admin", "release-log", *words, "--store", address)
    assert (exit_code, out) == (code, "")
    assert told in err
    assert list(tmp_path.iterdir()) == []


class TestErase:
    @pytest.fixture(autouse=True)
    def no_waiting(self, monkeypatch):
        monkeypatch.setattr("lambdas.erasure.SETTLING_SECONDS", 0.0)

    @pytest.fixture
    def store(self, tmp_path):
        store = open_store(f"sqlite:{tmp_path / 'store.db'}?synchronous=normal")
        service, player = tasks.start_service(store)
        tasks.play(service, player, service.open_run(player, "mock", "acme-el").run)
        yield store
        store.close()

    @pytest.fixture
    def admin(self, typed, store):
        return lambda *words: typed("admin", *words, "--store", f"sqlite:{store.path}")

    def test_a_participant_is_disabled_and_then_erased(self, admin, store):
        code, _, err = admin("participant", "erase", "acme")
        assert (code, err.count("\n")) == (1, 1)
        assert "`participant disable acme` first" in err
        admin("participant", "disable", "acme")
        code, out, _ = admin("participant", "erase", "acme", "--system", "acme-el=team-1")
        assert (code, out.splitlines()) == (
            0,
            [
                "acme is erased-1 from now on; earlier archives, backups and logs still contain the name",
                "names of its systems: team-1",
            ],
        )
        assert [who.name for who in Registry(store).participants()] == ["erased-1"]
        code, out = admin("verify")[:2]
        assert (code, out.splitlines()[0]) == (0, "5 rounds of 1 runs verified, 0 discrepancies")

    @pytest.mark.parametrize("option", ["acme-el", "=x", "acme-el="])
    def test_an_invalid_renaming(self, admin, option):
        admin("participant", "disable", "acme")
        code, _, err = admin("participant", "erase", "acme", "--system", option)
        assert (code, err.count("\n")) == (2, 1)
        assert "is not OLD=NEW" in err
