"""The contract of the store, which the service relies on, tested with every engine."""

from dataclasses import replace

import pytest

from lambdas.store import TextSide, documents
from task.rounds import Round, Run, RunProgress

RUN = Run("a" * 26, "acme", "dev", "baseline", 1, 1_700_000_000_000, 1)
OTHER = replace(RUN, id="b" * 26, participant="other")


def played(index, run=RUN, **changes):
    scores = {"observed_reward": 0.25, "true_reward": 1 / 3, "observed_ticks": 10**12 * (index + 1), "true_ticks": 3}
    values = {
        "translation": f"wort {index}",
        "statistics": bytes(range(9)),
        "committed_at": 1_700_000_000_001,
        **scores,
    }
    return Round(run, index, **{**values, **changes})


class TestDocuments:
    def test_a_new_store_is_empty(self, store):
        assert store.document(documents.PHASE, "dev") is None
        assert store.documents(documents.PHASE) == []

    def test_a_document_is_read_as_it_was_written(self, store):
        document = {"text": "größe ✓ 𝄞", "number": 2**53, "list": [1, None, True, {"a": ""}], "float": 0.1}
        store.replace("kind", "name", document)
        assert store.document("kind", "name") == document

    def test_replace_overwrites(self, store):
        store.replace("kind", "name", {"v": 1})
        store.replace("kind", "name", {"v": 2})
        assert store.document("kind", "name") == {"v": 2}

    def test_create_does_not_overwrite(self, store):
        assert store.create("kind", "name", {"v": 1}) is True
        assert store.create("kind", "name", {"v": 2}) is False
        assert store.document("kind", "name") == {"v": 1}

    def test_delete_removes_only_the_named_document(self, store):
        store.replace("kind", "name", {"v": 1})
        store.replace("kind", "other", {"v": 2})
        store.delete("kind", "name")
        store.delete("kind", "name")
        assert store.documents("kind") == [{"v": 2}]

    def test_compare_and_swap_writes_only_over_what_was_read(self, store):
        assert store.compare_and_swap("kind", "name", {"v": 1}, {"v": 2}) is False
        assert store.document("kind", "name") is None
        store.create("kind", "name", {"v": 1, "text": "größe"})
        assert store.compare_and_swap("kind", "name", {"v": 2}, {"v": 3}) is False
        assert store.compare_and_swap("kind", "name", store.document("kind", "name"), {"v": 3}) is True
        assert store.document("kind", "name") == {"v": 3}

    def test_kinds_are_separate_and_each_is_ordered_by_name(self, store):
        for name in ("10", "9", "1"):
            store.replace("one", name, {"name": name})
        store.replace("two", "5", {"name": "5"})
        assert store.documents("one") == [{"name": "1"}, {"name": "10"}, {"name": "9"}]

    def test_many_large_documents_are_read_completely(self, store):
        """A query of DynamoDB returns at most a megabyte, so the store must continue it."""
        for number in range(8):
            store.replace("large", f"{number}", {"number": number, "text": "x" * 200_000})
        assert [document["number"] for document in store.documents("large")] == list(range(8))


class TestBlocks:
    def test_sides_phases_and_numbers_are_separate(self, store):
        store.put_blocks(TextSide.SOURCES, "dev", [(0, b"zero"), (1, b"one")])
        store.put_blocks(TextSide.REFERENCES, "dev", [(0, b"null")])
        assert store.block(TextSide.SOURCES, "dev", 1) == b"one"
        assert store.block(TextSide.REFERENCES, "dev", 0) == b"null"
        assert store.block(TextSide.REFERENCES, "dev", 1) is None
        assert store.block(TextSide.SOURCES, "training", 0) is None

    def test_more_than_one_batch(self, store):
        store.put_blocks(TextSide.SOURCES, "dev", ((number, bytes([number, 0, 255])) for number in range(60)))
        assert [store.block(TextSide.SOURCES, "dev", number) for number in (0, 24, 25, 59)] == [
            b"\x00\x00\xff",
            b"\x18\x00\xff",
            b"\x19\x00\xff",
            b"\x3b\x00\xff",
        ]

    def test_writing_again_overwrites(self, store):
        store.put_blocks(TextSide.SOURCES, "dev", [(0, b"old")])
        store.put_blocks(TextSide.SOURCES, "dev", [(0, b"new")])
        assert store.block(TextSide.SOURCES, "dev", 0) == b"new"

    def test_blocks_are_not_documents(self, store):
        store.put_blocks(TextSide.SOURCES, "dev", [(0, b"zero")])
        assert store.documents("dev") == store.documents("sources") == []


class TestLedger:
    def test_a_run_that_was_never_opened(self, store):
        assert store.opening(RUN.id) is None
        assert store.progress(RUN.id) is None
        assert store.round(RUN.id, 0) is None
        assert list(store.rounds(RUN.id)) == []

    def test_an_opened_run(self, store):
        store.open_run(RUN)
        assert store.opening(RUN.id) == RUN
        assert store.progress(RUN.id) == RunProgress(RUN, None)
        assert list(store.rounds(RUN.id)) == []

    def test_the_first_opening_stays(self, store):
        store.open_run(RUN)
        store.open_run(replace(RUN, opened_at=5))
        assert store.opening(RUN.id) == RUN

    def test_rounds_are_read_exactly_as_they_were_written(self, store):
        store.open_run(RUN)
        first = played(
            0, translation="größe ✓ 𝄞 'x' \"y\"", observed_reward=5e-324, true_reward=0.1 + 0.2, true_ticks=2**62
        )
        assert store.append(first) is True
        assert store.round(RUN.id, 0) == first
        assert store.progress(RUN.id) == RunProgress(RUN, first)

    @pytest.mark.parametrize("score", [0.0, 1e-300, 2.2250738585072014e-308, 1 / 3, 0.9999999999999999, 1.0])
    def test_every_reward_is_stored_exactly(self, store, score):
        store.open_run(RUN)
        store.append(played(0, observed_reward=score, true_reward=score))
        kept = store.round(RUN.id, 0)
        assert (kept.observed_reward, kept.true_reward) == (score, score)

    def test_a_round_is_written_once(self, store):
        store.open_run(RUN)
        assert store.append(played(0, translation="first")) is True
        assert store.append(played(0, translation="second")) is False
        assert store.round(RUN.id, 0).translation == "first"

    def test_the_last_round_is_the_one_with_the_highest_index(self, store):
        store.open_run(RUN)
        for index in range(12):
            store.append(played(index))
        assert store.progress(RUN.id).last == played(11)
        assert store.progress(RUN.id).pending == 12

    def test_rounds_are_read_in_order_from_anywhere(self, store):
        store.open_run(RUN)
        for index in range(12):
            store.append(played(index))
        assert list(store.rounds(RUN.id)) == [played(index) for index in range(12)]
        assert [each.index for each in store.rounds(RUN.id, 9)] == [9, 10, 11]
        assert list(store.rounds(RUN.id, 12)) == []
        assert list(store.results(RUN.id)) == [played(index).result for index in range(12)]
        assert [index for index, *_ in store.results(RUN.id, 9)] == [9, 10, 11]
        assert list(store.results(OTHER.id)) == []

    def test_runs_are_separate(self, store):
        store.open_run(RUN)
        store.open_run(OTHER)
        store.append(played(0))
        assert store.progress(OTHER.id) == RunProgress(OTHER, None)
        assert store.append(played(0, OTHER)) is True
        assert store.round(OTHER.id, 0).run == OTHER

    def test_restoring_rounds_twice_changes_nothing(self, store):
        store.open_run(RUN)
        rounds = [played(index, translation=f"größe {index}", true_reward=index / 60) for index in range(60)]
        store.restore_rounds(iter(rounds[:40]))
        store.restore_rounds(iter(rounds))
        assert list(store.rounds(RUN.id)) == rounds
        assert store.progress(RUN.id) == RunProgress(RUN, rounds[-1])
        assert store.append(played(60)) is True

    def test_a_reassigned_run_has_its_new_names_in_every_round(self, store):
        for run in (RUN, OTHER):
            store.open_run(run)
            store.restore_rounds([played(index, run) for index in range(30)])
        renamed = replace(RUN, participant="erased-1", system="system-1")
        for _ in range(2):
            store.reassign(renamed)
            assert store.opening(RUN.id) == renamed
            assert list(store.rounds(RUN.id)) == [played(index, renamed) for index in range(30)]
            assert store.progress(RUN.id).run == renamed
            assert list(store.rounds(OTHER.id)) == [played(index, OTHER) for index in range(30)]


class TestLinks:
    def test_a_round_keeps_its_link(self, store):
        store.open_run(RUN)
        rounds = [played(index, link=bytes([7] * 15 + [index])) for index in range(3)]
        assert all(store.append(each) for each in rounds)
        assert list(store.rounds(RUN.id)) == rounds
        assert [each.link for each in store.results(RUN.id)] == [each.link for each in rounds]

    def test_the_progress_has_the_link_before_the_last_round(self, store):
        store.open_run(RUN)
        store.append(played(0, link=b"0" * 16))
        assert store.progress(RUN.id).link_before == b""
        store.append(played(1, link=b"1" * 16))
        assert store.progress(RUN.id) == RunProgress(RUN, played(1, link=b"1" * 16), b"0" * 16)

    def test_all_runs_of_the_ledger(self, store):
        store.open_run(RUN)
        store.open_run(OTHER)
        store.append(played(0))
        assert sorted(store.openings()) == [(RUN.id, RUN), (OTHER.id, OTHER)]


def test_preparing_again_keeps_everything(store):
    store.replace("kind", "name", {"v": 1})
    store.prepare()
    assert store.document("kind", "name") == {"v": 1}
