"""JSON Lines: each object has its texts under their language codes, at the top level or under ``translation``.

``{"de": "rot", "en": "red", "document": "shop-1", "id": 17}``; document and id are optional.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.line_files import read_lines
from corpora.readers.language_codes import list_languages
from corpora.task import Pair

OTHER_FIELDS = frozenset({"document", "id"})


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of one file. A repeated id is an InputError."""
    (path,) = paths
    seen: dict[object, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        record = _record(line, path, number)
        identity = record.get("id")
        if isinstance(identity, int | str):
            if identity in seen:
                raise InputError(f"repeats the id {identity!r} of line {seen[identity]}", path, number)
            seen[identity] = number
        texts = record.get("translation", record)
        source, target = (_text(texts, language, path, number) for language in languages)
        document = record.get("document", "")
        if not isinstance(document, str):
            raise InputError("its document should be a string", path, number)
        yield Pair(source, target, document)


def _record(line: str, path: Path, number: int) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as wrong:  # ValueError also for a number of thousands of digits
        raise InputError(f"is not JSON ({wrong})", path, number) from None
    if not isinstance(record, dict):
        raise InputError("should be a JSON object", path, number)
    return record


def _text(texts: object, language: str, path: Path, number: int) -> str:
    fields = texts if isinstance(texts, dict) else {}
    text = fields.get(language)
    if not isinstance(text, str):
        others = [name for name, value in fields.items() if isinstance(value, str) and name not in OTHER_FIELDS]
        rest = f"it has texts under {list_languages(others)}" if others else "it has no texts at all"
        raise InputError(f"has no text under {language!r}; {rest}", path, number)
    return text
