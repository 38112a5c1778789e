"""Names of participants, systems and phases, and ids of runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.names import is_name, is_run_id, run_id

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", fullmatch=True)


@pytest.mark.parametrize("name", ["a", "7", "BNMT-EL", "copy.v2_+x", "x" * 64])
def test_a_name_has_letters_digits_and_some_signs(name):
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "x" * 65, "-el", ".hidden", "a b", "a/b", "größe", "a\n", "a:b", "\u0661"])
def test_what_does_not_fit_a_file_name_a_url_and_a_table_is_no_name(name):
    assert not is_name(name)


def test_run_ids_never_change():
    assert run_id("acme", "dev", "copy", 1) == "hiut2vu4rpkabzgwerp3dyrmnn"
    assert run_id("acme", "dev", "copy", 2) != run_id("acme", "dev", "copy", 1)


@given(names, names, names, st.integers(1, 10_000))
def test_every_run_id_is_recognised(participant, phase, system, attempt):
    assert is_run_id(run_id(participant, phase, system, attempt))


@pytest.mark.parametrize("text", ["", "a" * 25, "a" * 27, "A" * 26, "a" * 25 + "1", "a" * 25 + "ä", "a" * 26 + "\n"])
def test_other_texts_are_not_run_ids(text):
    assert not is_run_id(text)
