"""Short package descriptions and their translations (Debian Description Translation Project)."""

from collections.abc import Iterable, Iterator

from corpora.task import Pair


def short_descriptions(lines: Iterable[str], language: str) -> Iterator[tuple[str, str]]:
    """Yield the short descriptions, each with the digest of the English one, which identifies it in every language."""
    digest, prefix = "", f"Description-{language}: "
    for line in lines:
        if line.startswith("Description-md5: "):
            digest = line.split(": ", 1)[1].strip()
        elif line.startswith(prefix) and digest:
            yield digest, line.removeprefix(prefix).strip()


def description_pairs(english: Iterable[str], foreign: Iterable[str], language: str) -> Iterator[Pair]:
    """Yield translated short descriptions, each pair once. The source is foreign."""
    translated = dict(short_descriptions(foreign, language))
    seen: set[Pair] = set()
    for digest, text in short_descriptions(english, "en"):
        translation = translated.get(digest)
        if translation and translation != text:
            pair = Pair(translation, text)
            if pair not in seen:
                seen.add(pair)
                yield pair
