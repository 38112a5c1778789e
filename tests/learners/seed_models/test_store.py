"""The model store: it hands out copies, says what is missing or damaged, and which settings its models have."""

import numpy as np
import pytest

from learners.errors import LearnerError, SnapshotError
from learners.seed_models.catalogue import (
    BNMT,
    BNMT_CONTROL,
    BNMT_ORACLE,
    DICTIONARY,
    SMT,
    SMT_ORACLE,
    WMT16,
    WNMT,
)
from learners.seed_models.settings import Architecture, BuildSettings, Size
from learners.seed_models.store import ModelStore
from learners.snapshot import Snapshot

SMALL = BuildSettings(Size.SMALL)


def test_each_loaded_translator_is_a_copy(store):
    first, second = store.load(BNMT), store.load(BNMT)
    first.vector.data.zero_()
    assert second.vector.abs().sum() > 0


@pytest.mark.parametrize("model", [BNMT, WNMT, WMT16, BNMT_ORACLE, BNMT_CONTROL], ids=str)
def test_networks_of_another_size_are_not_taken_for_what_is_wanted(store, model):
    named = "bnmt" if BNMT in model.requires else model
    complaint = rf"the seed model {named} in .* has size tiny, not small: choose another folder, or --size tiny"
    with pytest.raises(LearnerError, match=complaint):
        store.check([model], SMALL)


def test_nor_are_networks_of_another_architecture(store):
    complaint = "has architecture gru, not transformer: choose another folder, or --architecture gru"
    with pytest.raises(LearnerError, match=complaint):
        store.check([WNMT], BuildSettings(Size.TINY, Architecture.TRANSFORMER))


def test_nor_are_networks_that_read_whole_words(store):
    complaint = "has split False, not True: choose another folder, or --no-split"
    with pytest.raises(LearnerError, match=complaint):
        store.check([BNMT], BuildSettings(Size.TINY, split=True))


def test_models_without_a_size_fit_all_settings(store):
    store.check([DICTIONARY, SMT, SMT_ORACLE], BuildSettings(Size.PAPER))


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(LearnerError, match=r"no seed model bnmt in .*: train it with banditmt pretrain"):
        ModelStore(tmp_path).load(BNMT)


def test_the_digest_is_of_the_file(tmp_path):
    (tmp_path / "bnmt.model").write_bytes(b"abc")
    assert ModelStore(tmp_path).digest(BNMT).startswith("ba7816bf8f01cfea414140de5dae2223")  # SHA-256 of "abc"
    with pytest.raises(LearnerError, match="no seed model wnmt"):
        ModelStore(tmp_path).digest(WNMT)


def test_the_error_of_a_damaged_model_says_what_to_do(store, tmp_path):
    whole = (store.folder / "bnmt.model").read_bytes()
    (tmp_path / "bnmt.model").write_bytes(whole[:-1])
    with pytest.raises(
        SnapshotError, match=r"bnmt.model is damaged .*; remove it, and banditmt pretrain trains it again"
    ):
        ModelStore(tmp_path).load(BNMT)


def _with_invalid_utf8(text):
    """Replace a common letter by a byte that no text has."""
    return np.where(text == ord("r"), 255, text).astype(np.uint8)


CHANGES = {
    "companions": lambda snapshot: snapshot.values.update(companions="x"),
    "dictionary": lambda snapshot: snapshot.values.update(lexicon=["a"]),
    "shape": lambda snapshot: snapshot.values["recipe"].update(embedding=-4),
    "vocabulary": lambda snapshot: snapshot.arrays.update(
        source_vocabulary=_with_invalid_utf8(snapshot.arrays["source_vocabulary"])
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_model_whose_parts_do_not_fit_is_refused(change, store, tmp_path):
    """Its checksum fits: it was written so."""
    snapshot = Snapshot.read(store.folder / "bnmt.model")
    change(snapshot)
    snapshot.write(tmp_path / "bnmt.model")
    with pytest.raises(SnapshotError, match=r"bnmt.model: .*; remove it, and banditmt pretrain trains it again"):
        ModelStore(tmp_path).load(BNMT)
