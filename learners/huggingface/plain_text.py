"""Plain text for models that were trained on it: the task's text is lowercased and tokenised as Moses does."""

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer


class PlainText:
    """Joins the tokens of a source, and tokenises a translation."""

    def __init__(self, source_language: str, target_language: str) -> None:
        self._detokeniser = MosesDetokenizer(source_language)
        self._normaliser = MosesPunctNormalizer(target_language)
        self._tokeniser = MosesTokenizer(target_language)

    def join(self, source: str) -> str:
        """Return a tokenised source as plain text; it stays lowercased, because the case is not known."""
        text: str = self._detokeniser.detokenize(source.split())
        return text

    def tokenise(self, text: str) -> str:
        """Return plain text lowercased and tokenised."""
        tokens: str = self._tokeniser.tokenize(self._normaliser.normalize(text).lower(), return_str=True, escape=False)
        return tokens
