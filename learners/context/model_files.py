"""Files of translators: which kind a file holds, and how it is read."""

from pathlib import Path

from learners.context.concatenation import ConcatTranslator, SentenceTranslator
from learners.context.hierarchical import HierarchicalTranslator
from learners.context.translator import ContextTranslator
from learners.context.two_pass import TwoPassTranslator
from learners.errors import SnapshotError
from learners.nmt.translator import FILE_KIND, Translator
from learners.snapshot import Snapshot

TRANSLATORS: dict[str, type[SentenceTranslator | HierarchicalTranslator | TwoPassTranslator]] = {
    kind.kind: kind for kind in (SentenceTranslator, ConcatTranslator, HierarchicalTranslator, TwoPassTranslator)
}


def read_translator(path: Path) -> ContextTranslator:
    """Read a context-aware translator, or any neural one, which then scores sentences without their context.

    Raises:
        SnapshotError: The file holds no such model, or is damaged.
    """
    return from_snapshot(Snapshot.read(path), path)


def from_snapshot(snapshot: Snapshot, path: Path) -> ContextTranslator:
    """Return the translator that a file holds."""
    kind = snapshot.values.get("kind")
    try:
        if kind == FILE_KIND:
            return SentenceTranslator(Translator.from_snapshot(snapshot))
        if kind in TRANSLATORS:
            return TRANSLATORS[kind].from_snapshot(snapshot)
    except SnapshotError as wrong:
        raise SnapshotError(f"{path}: {wrong}") from None
    except (KeyError, TypeError, ValueError, RuntimeError) as wrong:
        raise SnapshotError(f"{path}: the model file does not fit together ({' '.join(str(wrong).split())})") from None
    raise SnapshotError(f"{path} holds no neural translator")
