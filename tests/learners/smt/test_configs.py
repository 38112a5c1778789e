"""Settings in model files keep the names that they had when the file format was defined."""

from dataclasses import replace

import pytest

from learners.errors import SnapshotError
from learners.smt.configs import SmtConfig
from learners.stored_names import from_stored, to_stored

IN_FILES = {
    "order": 4,
    "iterations": 5,
    "longest": 150,
    "phrase_length": 5,
    "singleton_length": 3,
    "target_length": 8,
    "span": 10,
    "symbols": 5,
    "gapped_minimum": 2,
    "most_gapped": 4_000_000,
    "translations": 20,
    "pop_limit": 100,
    "distortion": 6,
}


def test_files_keep_the_names_and_the_order_of_the_settings():
    assert list(to_stored(SmtConfig()).items()) == list(IN_FILES.items())


def test_settings_are_read_back():
    changed = replace(SmtConfig(), lm_order=3, table_limit=7, distortion_limit=0)
    assert from_stored(SmtConfig, to_stored(changed)) == changed
    assert from_stored(SmtConfig, IN_FILES) == SmtConfig()


@pytest.mark.parametrize("values", [{}, {**IN_FILES, "beam": 5}, {"lm_order": 4}])
def test_settings_of_another_version_are_an_error(values):
    with pytest.raises(SnapshotError, match="written by another version"):
        from_stored(SmtConfig, values)
