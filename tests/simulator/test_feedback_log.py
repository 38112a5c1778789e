"""Released logs: what an offline learner needs, and nothing that must stay in the service."""

import gzip
import hashlib
import json
import math
import sys
from dataclasses import replace

import pytest
from pyarrow import parquet

from lambdas.phase_record import PhaseSchedule, PhaseState
from lambdas.registry import Registry, UnknownPhaseError
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from lambdas.task_record import write_task_record
from lambdas.withdrawals import Withdrawals
from simulator.feedback_log import release_log
from simulator.feedback_log import rows as rows_module
from simulator.feedback_log.card import FIELDS
from simulator.feedback_log.rows import FeedbackLog, LoggedRound, ReleaseError, released_rounds
from task.documents import document_id
from task.feedback import CHRF, FeedbackKind, FeedbackSpec
from task.layout import Layout
from tests.lambdas import tasks
from tests.lambdas.archive.competitions import TASK

DOCUMENTED = replace(tasks.DEV, documents=True)


@pytest.fixture
def store(tmp_path):
    """A store with finished runs of two systems in every phase, an unfinished run, and a withdrawn one."""
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}?synchronous=normal")
    tasks.load(store, phases=[tasks.MOCK, tasks.TRAINING], feedback=FeedbackSpec("granular:5", seed=3))
    pairs = [(*pair, f"document {number // 3}") for number, pair in enumerate(tasks.pairs(DOCUMENTED))]
    load_phase(store, DOCUMENTED, pairs, block_size=3)
    write_task_record(store, TASK)
    service = Service(store)
    acme, rival = tasks.participant(store, service), tasks.participant(store, service, "rival")
    for phase in ("mock", "dev", "training"):
        play(service, acme, phase, "EL.s3", log_probability=-1.5)
        play(service, rival, phase, "static")
        play(service, rival, phase, "never-ending", rounds=2)
        Withdrawals(store).withdraw(play(service, rival, phase, "cheating"), "wrong model")
    yield store
    store.close()


def play(service, player, phase, system, *, rounds=100, log_probability=None):
    run = service.open_run(player, phase, system).run
    sentence = service.sentence(player, run)
    while sentence is not None and sentence.index < rounds:
        sentence = service.translate(player, run, sentence.id, f"{system} {sentence.source}", log_probability).next
    return run


def close(store, phase="dev"):
    Registry(store).set_phase_state(phase, PhaseState.CLOSED)


def read(path):
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.splitlines()]


def test_a_closed_phase_is_released_completely(store, tmp_path):
    close(store)
    released = release_log(store, "dev", tmp_path / "log" / "dev.jsonl")
    assert (released.runs, released.rounds, released.with_probability, released.is_early) == (2, 28, 14, False)
    rows = read(released.log)
    assert [set(row) for row in rows] == [set(FIELDS)] * 28
    by_run = {run.system: run.id for run in Registry(store).runs("dev")}
    assert [row["run"] for row in rows] == [
        run for run in sorted((by_run["EL.s3"], by_run["static"])) for _ in range(14)
    ]
    first = next(row for row in rows if row["system"] == "EL.s3")
    [played, *_] = store.rounds(by_run["EL.s3"])
    assert first == {
        "run": by_run["EL.s3"],
        "system": "EL.s3",
        "seed": 3,
        "round": 0,
        "source": "quelle 0 von dev mit rot und blau",
        "document": document_id(by_run["EL.s3"], 0, 0),
        "position": 0,
        "translation": "EL.s3 quelle 0 von dev mit rot und blau",
        "observed_reward": played.observed_reward,
        "log_probability": -1.5,
    }
    assert {(row["seed"], row["log_probability"]) for row in rows if row["system"] == "static"} == {(None, None)}


def test_documents_are_those_that_the_participant_saw(store, tmp_path):
    close(store)
    rows = read(release_log(store, "dev", tmp_path / "dev.jsonl").log)
    service = Service(store)
    acme = service.authenticate(Registry(store).add_key("acme"))
    [run] = [run.id for run in Registry(store).runs("dev") if run.system == "EL.s3"]
    last = service.run(acme, run).last
    assert last is not None
    mine = [row for row in rows if row["run"] == run]
    assert (mine[-1]["document"], mine[-1]["position"]) == (last.document, last.position)


def test_rewards_are_those_that_were_observed(store, tmp_path):
    close(store, "training")
    rows = read(release_log(store, "training", tmp_path / "log.jsonl.gz").log)
    assert {row["observed_reward"] for row in rows} <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    assert any(
        round_.true_reward != round_.observed_reward
        for run in Registry(store).runs("training")
        for round_ in store.rounds(run.id)
    )
    assert {(row["document"], row["position"]) for row in rows} == {(None, None)}


@pytest.mark.parametrize("phase", ["mock", "dev", "training"])
def test_no_reference_and_no_participant_is_in_it(store, tmp_path, phase):
    close(store, phase)
    released = release_log(store, phase, tmp_path / "log" / "log.jsonl")
    for path in (released.log, released.card):
        text = path.read_text(encoding="utf-8")
        for secret in ("refword", "secretref", "acme", "rival", "never-ending", "cheating", "wrong model"):
            assert secret not in text


def test_post_edits_are_references_and_stay(tmp_path):
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}?synchronous=normal")
    spec = FeedbackSpec(kind=FeedbackKind.POST_EDIT, metric=CHRF)
    tasks.load(store, phases=[tasks.MOCK], feedback=spec)
    service = Service(store)
    acme = tasks.participant(store, service)
    play(service, acme, "mock", "EL")
    last = service.run(acme, Registry(store).runs("mock")[0].id).last
    assert last is not None
    assert "refword" in (last.post_edit or "")  # the participant has seen them
    close(store, "mock")
    released = release_log(store, "mock", tmp_path / "log" / "log.jsonl")
    assert "refword" not in released.log.read_text()
    assert "post-edit, `sentChrF2|" in released.card.read_text()
    store.close()


class TestBeforeThePhaseIsOver:
    """Neither order nor content tell which rounds are held out."""

    @pytest.mark.parametrize("state", [PhaseState.OPEN, PhaseState.FROZEN])
    def test_only_the_first_rounds_of_a_phase_with_held_out_passes_are_released(self, store, tmp_path, state):
        Registry(store).set_phase_state("dev", state)
        released = release_log(store, "dev", tmp_path / "log" / "log.jsonl")
        rows = read(released.log)
        assert [row["round"] for row in rows] == [0, 1, 2, 3] * 2  # 14 rounds in 3 passes
        assert released.is_early
        assert "the log has the first 4 of the 14 rounds of each run" in released.card.read_text()

    @pytest.mark.parametrize("blocks", range(2, 13))
    @pytest.mark.parametrize("block", [1, 2, 7, 100])
    @pytest.mark.parametrize("gap", [1, 2, 5, 99, 1_000])
    def test_whatever_the_layout_no_source_comes_again(self, store, blocks, block, gap):
        layout = Layout(blocks, block, gap)
        record = Registry(store).require_phase("dev")
        record = replace(record, phase=replace(record.phase, layout=layout))
        count = released_rounds(record, 0)
        assert count == layout.total // blocks  # nothing but what the leaderboard shows
        assert len({layout.place(index).sentence for index in range(count)}) == count

    def test_a_phase_without_held_out_passes_is_released_completely(self, store, tmp_path):
        released = release_log(store, "mock", tmp_path / "log" / "log.jsonl")
        assert (released.rounds, released.is_early) == (10, True)

    def test_a_phase_that_is_played_once_is_not_released(self, store, tmp_path):
        with pytest.raises(ReleaseError, match="phase training is played once and is not over"):
            release_log(store, "training", tmp_path / "log" / "log.jsonl")
        assert not (tmp_path / "log").exists()

    def test_a_phase_that_its_schedule_has_yet_to_open_is_not_over(self, store, tmp_path):
        registry = Registry(store)
        registry.schedule_phase("training", PhaseSchedule(registry.now() + 10**9, None))
        assert registry.require_phase("training").state is PhaseState.CLOSED
        with pytest.raises(ReleaseError, match="is not over"):
            release_log(store, "training", tmp_path / "log" / "log.jsonl")


def test_the_card_describes_the_file(store, tmp_path):
    close(store)
    released = release_log(store, "dev", tmp_path / "log" / "dev.jsonl.gz")
    card = released.card.read_text(encoding="utf-8")
    assert released.card == tmp_path / "log" / "README.md"
    assert card.splitlines()[:9] == [
        "# Logged feedback of phase dev: Ein Titel",
        "",
        f"- **file**: `dev.jsonl.gz`, SHA-256 `{hashlib.sha256(released.log.read_bytes()).hexdigest()}`",
        "- **rows**: 28 rounds of 2 finished runs, 14 of them with `log_probability`",
        "- **languages**: de to en",
        "- **text**: lowercased, tokenised as the Moses scripts do (without escaping), tokens separated by single "
        "spaces; translations are scored as they are sent, split on whitespace (`case:lower|tok:moses|sep:space|v:1`)",
        "- **feedback**: bandit, `sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1`",
        "- **licence of the text**: CC0-1.0",
        "- **contact**: mt@example.org",
    ]
    assert list(FIELDS) == list(LoggedRound._fields)
    for name in FIELDS:
        assert f"| `{name}` |" in card
    [run] = [run.id for run in Registry(store).runs("dev") if run.system == "EL.s3"]
    assert f"| `{run}` | EL.s3 | 3 | 14 | 14 |" in card


class TestRefusals:
    def test_a_file_of_another_kind(self, store, tmp_path):
        with pytest.raises(ReleaseError, match=r"log.csv should end with .jsonl, .jsonl.gz or .parquet"):
            release_log(store, "mock", tmp_path / "log.csv")

    @pytest.mark.parametrize("existing", ["log.jsonl", "README.md"])
    def test_a_file_that_exists(self, store, tmp_path, existing):
        (tmp_path / existing).write_text("mine")
        with pytest.raises(ReleaseError, match=f"{existing} exists already; give each log a folder of its own"):
            release_log(store, "mock", tmp_path / "log.jsonl")
        assert (tmp_path / existing).read_text() == "mine"

    def test_a_phase_without_finished_runs(self, tmp_path):
        store = SQLiteStore.open(f"{tmp_path / 'empty.db'}?synchronous=normal")
        tasks.load(store)
        with pytest.raises(ReleaseError, match=r"phase mock has no finished run to release$"):
            release_log(store, "mock", tmp_path / "log.jsonl")
        store.close()

    def test_a_phase_whose_finished_runs_are_withdrawn(self, store, tmp_path):
        for run in FeedbackLog(store, Registry(store).require_phase("mock")).runs:
            Withdrawals(store).withdraw(run.id, "wrong model")
        complaint = "has no finished run to release but withdrawn ones; `admin run restore` puts them back$"
        with pytest.raises(ReleaseError, match=complaint):
            release_log(store, "mock", tmp_path / "log.jsonl")

    def test_an_unknown_phase(self, store, tmp_path):
        with pytest.raises(UnknownPhaseError):
            release_log(store, "finals", tmp_path / "log.jsonl")

    def test_an_interruption_leaves_nothing(self, store, tmp_path, monkeypatch):
        def fail(system):
            raise KeyboardInterrupt

        monkeypatch.setattr(rows_module, "seed_in_name", fail)
        with pytest.raises(KeyboardInterrupt):
            release_log(store, "mock", tmp_path / "log" / "log.jsonl.gz")
        assert list((tmp_path / "log").iterdir()) == []

    def test_parquet_without_pyarrow(self, store, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(ReleaseError, match=r"pip install 'banditmt\[parquet\]', or write .jsonl.gz"):
            release_log(store, "mock", tmp_path / "log" / "log.parquet")
        assert not (tmp_path / "log").exists()


def test_parquet_has_the_same_rows(store, tmp_path):
    close(store)
    log = FeedbackLog(store, Registry(store).require_phase("dev"))
    released = release_log(store, "dev", tmp_path / "log" / "log.parquet")
    table = parquet.read_table(released.log)
    assert table.column_names == list(FIELDS)
    assert table.to_pylist() == [row._asdict() for row in log.rounds()]


def test_json_keeps_every_digit(store, tmp_path):
    close(store)
    rows = read(release_log(store, "dev", tmp_path / "log.jsonl").log)
    log = FeedbackLog(store, Registry(store).require_phase("dev"))
    assert [LoggedRound(**row) for row in rows] == list(log.rounds())
    assert all(math.isfinite(row["observed_reward"]) for row in rows)


def test_a_long_log_is_written_in_batches(store, tmp_path, monkeypatch):
    monkeypatch.setattr("simulator.feedback_log.files.ROWS_PER_BATCH", 5)
    close(store)
    released = release_log(store, "dev", tmp_path / "log" / "log.parquet")
    assert parquet.ParquetFile(released.log).metadata.num_rows == 28
    assert parquet.ParquetFile(released.log).metadata.num_row_groups == 6
