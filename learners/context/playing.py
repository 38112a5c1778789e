"""A context-aware translator as a system that plays: it remembers the last sentences of a document."""

from learners.context.examples import MAX_CONTEXT, Example
from learners.context.translator import BEAM, ContextTranslator
from learners.contract import Feedback, Learner, Sentence
from learners.errors import SnapshotError
from learners.nmt.batches import Pair
from learners.snapshot import Snapshot


class DocumentContext:
    """The last three sentences of the current document, with their translations.

    Where a phase shows post-edits, they are the translations: they are better than the system's own. Without documents,
    there is no context.
    """

    def __init__(self) -> None:
        self._document: str | None = None
        self._pairs: list[Pair] = []

    def example(self, sentence: Sentence) -> Example:
        """Return a sentence with its context."""
        self._enter(sentence)
        return Example(sentence.source, tuple(self._pairs))

    def add(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        """Remember a sentence that has been translated."""
        self._enter(sentence)
        if sentence.document is not None:
            self._pairs = [*self._pairs, (sentence.source, feedback.post_edit or translation)][-MAX_CONTEXT:]

    def _enter(self, sentence: Sentence) -> None:
        """Forget the context at the beginning of a document."""
        if sentence.document != self._document or sentence.document is None or sentence.position == 0:
            self._document, self._pairs = sentence.document, []

    def save(self) -> Snapshot:
        return Snapshot(values={"document": self._document, "context": [list(pair) for pair in self._pairs]})

    def load(self, snapshot: Snapshot) -> None:
        try:
            self._document = snapshot.values["document"]
            self._pairs = [(source, target) for source, target in snapshot.values["context"]]
        except (KeyError, ValueError):
            raise SnapshotError("the snapshot has no context of a document: another learner saved it") from None


class ContextPlayer(Learner):
    """Translates each sentence in the context of its document; it does not learn."""

    def __init__(self, translator: ContextTranslator, *, beam: int = BEAM) -> None:
        self._translator = translator
        self._beam = beam
        self._context = DocumentContext()

    def propose(self, sentence: Sentence) -> str:
        return self._translator.translate([self._context.example(sentence)], beam=self._beam)[0]

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        self._context.add(sentence, translation, feedback)

    def save(self) -> Snapshot:
        return self._context.save()

    def load(self, snapshot: Snapshot) -> None:
        self._context.load(snapshot)
