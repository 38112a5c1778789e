"""Non-printing characters."""

from corpora.non_printing import drop_non_printing, first_non_printing


def test_format_characters_are_removed_and_control_characters_become_spaces():
    assert drop_non_printing("\ufeffver\u00adarbeitung\tgut\x00so\ue000.") == "verarbeitung gut so ."
    assert drop_non_printing("schön\u00a0so") == "schön\u00a0so"  # a space, for the punctuation rules to see
    assert first_non_printing("a\u00a0b\x07") == "\x07"
