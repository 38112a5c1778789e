"""Files with two pairs for the tests of readers."""

import gzip
from pathlib import Path

from corpora.task import Pair

DE_EN = ("de", "en")


PAIRS = [Pair("Größe XL", "size XL", "shop"), Pair("rot & blau", "red & blue", "shop")]


def save(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
