"""Exporting a store and importing the archive restores everything, and the same leaderboard byte for byte."""

import gzip
from dataclasses import replace

import pytest

from lambdas import errors
from lambdas.archive import Archive, ArchiveError, export
from lambdas.archive.record_reader import LedgerError
from lambdas.audit import Auditor
from lambdas.profile_store import ProfileStore
from lambdas.registry import Registry
from lambdas.sentences import MissingBlockError
from lambdas.service import Service
from lambdas.store import StoreError, documents
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import LoadError, load_phase
from lambdas.task_record import read_task_record
from lambdas.withdrawals import Withdrawals
from tests.lambdas import tasks
from tests.lambdas.archive import competitions
from tests.lambdas.faulty_store import CrashError, FaultyStore


def discrepancies(store):
    registry, auditor = Registry(store), Auditor(store)
    runs = [(record, run) for record in registry.phases() for run in registry.runs(record.phase.name)]
    return [discrepancy for each in runs for discrepancy in auditor.audit(*each)], auditor.rounds


def load_text(store):
    feedback = Registry(store).require_phase("dev").feedback
    tasks.load(store, feedback=feedback)


def test_the_leaderboard_is_the_same_byte_for_byte(archived, bare, store):
    Archive.open(bare).restore(store)
    assert competitions.boards(store) == competitions.boards(archived)
    assert competitions.ledger(store) == competitions.ledger(archived)
    here, there = Registry(store), Registry(archived)
    assert here.phases() == there.phases()
    assert here.participants() == there.participants()
    assert here.roles() == there.roles()
    assert read_task_record(store) == competitions.TASK
    assert ProfileStore(store).teams() == ProfileStore(archived).teams() != []
    assert ProfileStore(store).systems() == ProfileStore(archived).systems() != []
    for phase in ("training", "mock"):
        assert Withdrawals(store).of_phase(phase) == Withdrawals(archived).of_phase(phase) != []


@pytest.mark.parametrize("texts", [False, True])
def test_without_keys_no_later_key_gets_the_number_of_a_runs_key(sqlite, tmp_path, texts):
    tasks.load(sqlite)
    Registry(sqlite).rotate_key_ring(keep=True)
    service = Service(sqlite)
    player = tasks.participant(sqlite, service)
    run = service.open_run(player, "dev", "copy").run  # with key 2
    tasks.play(service, player, run, rounds=3)
    export(sqlite, tmp_path / "task.jsonl.gz", texts=texts)
    store = SQLiteStore.open(f"{tmp_path / 'elsewhere.db'}?synchronous=normal")
    Archive.open(tmp_path / "task.jsonl.gz").restore(store)
    tasks.load(store)
    pending = Service(store).sentence(player, run)
    assert pending.index == 3
    Registry(store).rotate_key_ring(keep=True)
    assert Service(store).sentence(player, run) == pending
    store.close()


def test_from_dynamodb_to_sqlite(moto, tmp_path, sqlite):
    competitions.play(moto, perturbation="none")
    export(moto, tmp_path / "archive.gz", texts=True)
    Archive.open(tmp_path / "archive.gz").restore(sqlite)
    assert competitions.boards(sqlite) == competitions.boards(moto)
    assert competitions.ledger(sqlite) == competitions.ledger(moto)
    assert discrepancies(sqlite) == ([], 59)


def test_a_restored_store_gives_the_same_archive_but_for_its_time(bare, sqlite, tmp_path):
    Archive.open(bare).restore(sqlite)
    export(sqlite, tmp_path / "again.gz")
    first, again = (gzip.decompress(path.read_bytes()).splitlines() for path in (bare, tmp_path / "again.gz"))
    assert first[1:-1] == again[1:-1]


def test_texts_and_keys_are_included_only_on_request(archived, bare, full):
    plain, everything = (gzip.decompress(path.read_bytes()).decode() for path in (bare, full))
    secrets = [key.digest for who in Registry(archived).participants() for key in Registry(archived).keys(who.name)]
    secrets += [secret.hex() for secret in Registry(archived).key_ring().secrets.values()]
    for secret in ("refword", "secretref", '"reference":', *secrets):
        assert secret in everything
        assert secret not in plain


class TestWithoutTexts:
    def test_no_run_can_be_verified_or_played_before_the_task_is_loaded(self, bare, sqlite):
        Archive.open(bare).restore(sqlite)
        found, _ = discrepancies(sqlite)
        assert any("is missing: load the task again" in str(each) for each in found)
        load_text(sqlite)
        assert discrepancies(sqlite) == ([], 59)

    def test_another_text_is_refused_before_anything_is_written(self, bare, sqlite):
        Archive.open(bare).restore(sqlite)
        record = Registry(sqlite).require_phase("dev")
        other = [("anders", "different")] * tasks.DEV.layout.distinct
        with pytest.raises(LoadError, match="with other sentences or rules"):
            load_phase(sqlite, record.phase, other)
        with pytest.raises(LoadError, match="with other sentences or rules"):
            load_phase(sqlite, tasks.DEV, tasks.pairs(tasks.DEV))  # the right text, but other feedback
        found, _ = discrepancies(sqlite)
        assert any("is missing: load the task again" in str(each) for each in found)

    def test_the_store_can_be_archived_again_and_completed_later(self, bare, sqlite, tmp_path):
        Archive.open(bare).restore(sqlite)
        with pytest.raises(MissingBlockError, match="load the task first"):
            export(sqlite, tmp_path / "again.gz", texts=True)
        export(sqlite, tmp_path / "again.gz")
        other = SQLiteStore.open(f"{tmp_path / 'other.db'}?synchronous=normal")
        Archive.open(tmp_path / "again.gz").restore(other)
        load_text(other)
        assert discrepancies(other) == ([], 59)
        other.close()


class TestWithTextsAndKeys:
    def test_participants_continue_with_the_keys_and_ids_they_have(self, tmp_path):
        before = SQLiteStore.open(f"{tmp_path / 'before.db'}?synchronous=normal")
        service, player = tasks.start_service(before)
        api_key = Registry(before).add_key("acme")
        run = service.open_run(player, "dev", "copy").run
        tasks.play(service, player, run, rounds=3)
        pending = service.sentence(player, run)
        export(before, tmp_path / "archive.gz", texts=True, keys=True)
        after = SQLiteStore.open(f"{tmp_path / 'after.db'}?synchronous=normal")
        Archive.open(tmp_path / "archive.gz").restore(after)
        moved = Service(after)
        again = moved.authenticate(api_key)
        assert moved.sentence(again, run) == pending
        following = moved.translate(again, run, pending.id, "ein wort").next
        assert following is not None
        assert following.index == 4
        for store in (before, after):
            store.close()

    def test_without_keys_participants_get_new_ones_and_ask_again(self, bare, archived, sqlite):
        Archive.open(bare).restore(sqlite)
        load_text(sqlite)
        service = Service(sqlite)
        acme = service.authenticate(Registry(sqlite).add_key("acme"))
        run = service.open_run(acme, "training", "BNMT-EL")
        assert run.index == 3
        old = Service(archived).sentence(acme, run.run)
        with pytest.raises(errors.WrongSentenceError):
            service.translate(acme, run.run, old.id, "x")
        assert tasks.play(service, acme, run.run)[-1].next is None


class TestInterrupted:
    def test_an_interrupted_import_resumes_to_the_same_end(self, full, archived, tmp_path):
        wanted, ledger = competitions.boards(archived), competitions.ledger(archived)
        archive, turn, done = Archive.open(full), 0, False
        while not done:
            path = tmp_path / f"{turn}.db"
            store = SQLiteStore.open(f"{path}?synchronous=normal")
            faulty = FaultyStore(store)
            faulty.fail(turn, after=turn % 2 == 0)
            try:
                archive.restore(faulty)
                done = True
            except CrashError:
                if store.documents(documents.API_KEY):  # keys come after everything that was played
                    assert competitions.ledger(store) == ledger
                archive.restore(store)
            assert competitions.boards(store) == wanted
            assert competitions.ledger(store) == ledger
            assert discrepancies(store) == ([], 59)
            store.close()
            turn += 11
        assert turn > 70

    def test_another_archive_is_refused_during_an_interrupted_import(self, bare, full, sqlite):
        faulty = FaultyStore(sqlite)
        faulty.fail(20, after=True)
        with pytest.raises(CrashError):
            Archive.open(full).restore(faulty)
        with pytest.raises(StoreError, match="the import of another archive into this store was interrupted"):
            Archive.open(bare).restore(sqlite)


class TestRefusals:
    def test_a_store_that_is_not_empty_is_refused(self, bare, sqlite):
        tasks.load(sqlite)
        with pytest.raises(StoreError, match="the store is not empty"):
            Archive.open(bare).restore(sqlite)
        assert Registry(sqlite).participants() == []

    def test_a_second_import_is_refused(self, bare, sqlite):
        archive = Archive.open(bare)
        archive.restore(sqlite)
        with pytest.raises(StoreError, match="an archive was imported into this store already"):
            archive.restore(sqlite)

    def test_a_store_without_a_task(self, sqlite, tmp_path):
        with pytest.raises(StoreError, match="nothing to export"):
            export(sqlite, tmp_path / "archive.gz")
        assert not (tmp_path / "archive.gz").exists()

    def test_a_ledger_that_does_not_add_up_is_not_archived(self, archived, tmp_path):
        class Damaged(SQLiteStore):
            def rounds(self, run, start=0):
                for played in super().rounds(run, start):
                    yield replace(played, true_ticks=played.true_ticks + (played.index == 5))

        with pytest.raises(LedgerError, match=r"round 5: the sums are not those"):
            export(Damaged.open(str(archived.path)), tmp_path / "archive.gz")
        assert list(tmp_path.iterdir()) == []

    def test_a_damaged_archive_is_refused(self, full, tmp_path):
        path = tmp_path / "damaged.gz"
        path.write_bytes(full.read_bytes()[:-100])
        with pytest.raises(ArchiveError):
            Archive.open(path)
