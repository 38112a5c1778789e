"""A fuzzy translation memory: what translators have today, and what a learner from post-edits must beat."""

from collections import Counter
from dataclasses import dataclass

from learners.adaptation.post_edits import post_edit_of
from learners.contract import Feedback, Learner, Sentence, truncate_to_limit
from learners.errors import SnapshotError
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot

KIND = "TranslationMemory 1"


@dataclass(frozen=True, kw_only=True)
class MemoryConfig:
    """When a remembered post-edit is proposed."""

    min_similarity: float = 0.8  # Dice coefficient of the words of both sources; below, the model translates
    beam: int = 1  # of the model; 1 is greedy


class TranslationMemory(Learner):
    """ADAPT-memory: proposes the post-edit of the most similar earlier source, or else the model's translation.

    Of equally similar sources, the last one counts: a translator may have changed her mind.
    """

    def __init__(self, translator: Translator, config: MemoryConfig) -> None:
        self._translator = translator
        self._config = config
        self._sources: list[str] = []
        self._post_edits: list[str] = []
        self._bags: list[Counter[str]] = []  # the words of each source
        self._entries: dict[str, list[int]] = {}  # by word, those whose source has it

    def propose(self, sentence: Sentence) -> str:
        found = self.nearest(sentence.source)
        if found is not None:
            return truncate_to_limit(found)
        if self._config.beam == 1:
            return self._translator.greedy(sentence.source).text
        return self._translator.beam(sentence.source, self._config.beam).text

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        post_edit = post_edit_of(feedback)
        if post_edit.strip():  # the service takes no empty translation
            self._add(sentence.source, post_edit)

    def nearest(self, source: str) -> str | None:
        """Return the post-edit of the most similar source, or None if none is similar enough."""
        words = Counter(source.split())
        shared: Counter[int] = Counter()
        for word, count in words.items():
            for entry in self._entries.get(word, ()):
                shared[entry] += min(count, self._bags[entry][word])
        best, nearest = self._config.min_similarity, None
        for entry in sorted(shared):
            similarity = 2 * shared[entry] / (words.total() + self._bags[entry].total())
            if similarity >= best:
                best, nearest = similarity, entry
        return None if nearest is None else self._post_edits[nearest]

    def _add(self, source: str, post_edit: str) -> None:
        bag = Counter(source.split())
        for word in bag:
            self._entries.setdefault(word, []).append(len(self._bags))
        self._bags.append(bag)
        self._sources.append(source)
        self._post_edits.append(post_edit)

    def save(self) -> Snapshot:
        return Snapshot(values={"kind": KIND, "sources": list(self._sources), "post_edits": list(self._post_edits)})

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != KIND:
            raise SnapshotError(f"the snapshot is of {kind}, not of {KIND}")
        self._sources, self._post_edits, self._bags, self._entries = [], [], [], {}
        for source, post_edit in zip(snapshot.values["sources"], snapshot.values["post_edits"], strict=True):
            self._add(source, post_edit)
