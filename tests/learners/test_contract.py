"""No text is longer than the service takes."""

from hypothesis import given
from hypothesis import strategies as st

from lambdas.service import check_translation
from learners.contract import truncate_to_limit
from task.limits import MAX_TRANSLATION_CHARACTERS


def test_a_text_is_cut_after_the_last_word_that_the_service_takes():
    words = "seil " * 800  # 4,000 characters with the last space
    assert truncate_to_limit(words + "x") == words[:-1]
    assert truncate_to_limit(words[:-1] + "e rot") == words[:-1] + "e"
    assert truncate_to_limit(words[:-1] + "es rot") == words[:-6]
    assert truncate_to_limit("x" * 4_001) == "x" * 4_000  # a word without end
    assert truncate_to_limit("x" * 4_000) == "x" * MAX_TRANSLATION_CHARACTERS


@given(st.lists(st.tuples(st.sampled_from("a𝄞"), st.integers(1, 3_000)), min_size=1, max_size=5))
def test_whatever_is_truncated_is_taken_by_the_service(words):
    text = " ".join(letter * count for letter, count in words)
    check_translation(truncate_to_limit(text))
    assert text.startswith(truncate_to_limit(text))
