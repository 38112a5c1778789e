"""The Moses normaliser and tokeniser of sacremoses, with the same output in a fraction of the time.

sacremoses rebuilds its sets of all Unicode letters for every full stop, and runs eighty substitutions, most of them for
characters that a sentence does not have. Tests compare the output with that of sacremoses.
"""

import re

from sacremoses import MosesPunctNormalizer, MosesTokenizer


class FastTokenizer(MosesTokenizer):  # type: ignore[misc]  # sacremoses has no types
    """A ``MosesTokenizer`` that builds its character sets once."""

    def __init__(self, lang: str) -> None:
        super().__init__(lang=lang)
        self._lower = frozenset(self.IsLower)
        self._alpha = frozenset(self.IsAlpha)

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)

    def handles_nonbreaking_prefixes(self, text: str) -> str:
        """Skip the search for prefixes such as "z.b." in a text without full stop."""
        return super().handles_nonbreaking_prefixes(text) if "." in text else " ".join(text.split())


class FastNormalizer(MosesPunctNormalizer):  # type: ignore[misc]
    """A ``MosesPunctNormalizer`` with compiled substitutions, which runs only those that can match."""

    def __init__(self, lang: str) -> None:
        super().__init__(lang=lang, pre_replace_unicode_punct=True)
        substitutions = [*self.REPLACE_UNICODE_PUNCTUATION, *self.substitutions]
        self._rules = [(_required_character(pattern), re.compile(pattern).sub, new) for pattern, new in substitutions]
        self._ascii_rules = [(substitute, new) for required, substitute, new in self._rules if not required]

    def normalize(self, text: str) -> str:
        if text.isascii():
            for substitute, new in self._ascii_rules:
                text = substitute(new, text)
        else:
            for required, substitute, new in self._rules:
                if required in text:
                    text = substitute(new, text)
        return text.strip()


def _required_character(pattern: str) -> str:
    """Return a non-ASCII character that a text must have for the pattern to match; empty for a pattern without any.

    The patterns of Moses have no alternatives, so each of their non-ASCII characters must match.
    """
    return next((character for character in pattern if not character.isascii()), "")
