"""A context-aware translator as a system that plays: it remembers the last sentences of a document."""

from learners.context.examples import MAX_CONTEXT, Example
from learners.context.translator import BEAM, ContextTranslator
from learners.contract import Feedback, Learner, Sentence
from learners.errors import SnapshotError
from learners.nmt.batches import Pair
from learners.snapshot import Snapshot


class ContextPlayer(Learner):
    """Translates each sentence with the last three of its document and their translations; it does not learn.

    Where a phase shows post-edits, they are the translations of the context: they are better than the system's own.
    Without documents, every sentence is translated by itself.
    """

    def __init__(self, translator: ContextTranslator, *, beam: int = BEAM) -> None:
        self._translator = translator
        self._beam = beam
        self._document: str | None = None
        self._context: list[Pair] = []

    def propose(self, sentence: Sentence) -> str:
        self._enter(sentence)
        example = Example(sentence.source, tuple(self._context))
        return self._translator.translate([example], beam=self._beam)[0]

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        self._enter(sentence)
        if sentence.document is not None:
            self._context = [*self._context, (sentence.source, feedback.post_edit or translation)][-MAX_CONTEXT:]

    def _enter(self, sentence: Sentence) -> None:
        """Forget the context at the beginning of a document."""
        if sentence.document != self._document or sentence.document is None or sentence.position == 0:
            self._document, self._context = sentence.document, []

    def save(self) -> Snapshot:
        return Snapshot(values={"document": self._document, "context": [list(pair) for pair in self._context]})

    def load(self, snapshot: Snapshot) -> None:
        try:
            self._document = snapshot.values["document"]
            self._context = [(source, target) for source, target in snapshot.values["context"]]
        except (KeyError, ValueError):
            raise SnapshotError("the snapshot has no context of a document: another learner saved it") from None
