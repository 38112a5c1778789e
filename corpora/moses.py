"""The Moses normaliser and tokeniser of sacremoses, with the same output in a fraction of the time.

sacremoses builds sets of all letters of Unicode anew for every full stop, and runs eighty substitutions, most of them
for characters that a sentence does not have. Tests compare the output with the original's.
"""

import re

from sacremoses import MosesPunctNormalizer, MosesTokenizer


class FastTokenizer(MosesTokenizer):  # type: ignore[misc]  # sacremoses has no types
    """``MosesTokenizer`` that builds its character sets once."""

    def __init__(self, lang: str) -> None:
        super().__init__(lang=lang)
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)

    def handles_nonbreaking_prefixes(self, text: str) -> str:
        """Prefixes are about full stops only."""
        return super().handles_nonbreaking_prefixes(text) if "." in text else " ".join(text.split())


class FastNormalizer(MosesPunctNormalizer):  # type: ignore[misc]
    """``MosesPunctNormalizer`` with compiled substitutions, of which only those run that can match."""

    def __init__(self, lang: str) -> None:
        super().__init__(lang=lang, pre_replace_unicode_punct=True)
        everything = [*self.REPLACE_UNICODE_PUNCTUATION, *self.substitutions]
        self._rules = [(_needs(pattern), re.compile(pattern).sub, new) for pattern, new in everything]
        self._ascii_rules = [(substitute, new) for needs, substitute, new in self._rules if not needs]

    def normalize(self, text: str) -> str:
        if text.isascii():
            for substitute, new in self._ascii_rules:
                text = substitute(new, text)
        else:
            for needs, substitute, new in self._rules:
                if needs in text:
                    text = substitute(new, text)
        return text.strip()


def _needs(pattern: str) -> str:
    """A character without which the pattern cannot match; empty, and thus in any text, where it is an ASCII one.

    The patterns of Moses have no alternatives, so each character beyond ASCII that stands in one must match.
    """
    return next((character for character in pattern if not character.isascii()), "")
