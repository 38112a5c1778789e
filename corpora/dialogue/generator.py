"""The generator of dialogues: text to train on, the phases of a task, and contrastive sets."""

import json
from collections.abc import Iterator
from itertools import count as naturals
from itertools import islice
from pathlib import Path
from typing import Any

from corpora.dialogue import lexicon
from corpora.dialogue.contrastive_sets import contrastive_sets
from corpora.dialogue.conversation import Conversation, ConversationBuilder, Vocabulary
from corpora.synth.random_stream import RandomStream, Weighted
from corpora.task import CONTRASTIVE_FOLDER
from task.description import UNKNOWN_DOCUMENT

GENERATOR_NAME = "dialogue 1"
# Of the text to train on, the conversations that are documents: one of three. The first three lines of a document have
# less than three lines of context, so about a quarter of all lines have three (Voita et al. 2019, section 5.3).
DOCUMENT_PERIOD = 3
CHUNK_CONVERSATIONS = 30  # in a chunk, lines without a document are shuffled
# People talk of things in the text to train on, and of food and papers in the phases: a change of domain.
TRAINING_CLASSES = Weighted([("person", 0.40), ("thing", 0.40), ("text", 0.12), ("food", 0.08)])
PHASE_CLASSES = Weighted([("person", 0.30), ("thing", 0.20), ("text", 0.28), ("food", 0.22)])


class DialogueGenerator:
    """Generates the dialogues of one seed. The English lines are the sources."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        words = lexicon.load()
        self._held_out = words.part(held_out=True)
        self._training = Vocabulary(words, words.part(held_out=False), TRAINING_CLASSES)
        self._phases = Vocabulary(words, words, PHASE_CLASSES)

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str, str]]:
        """Yield English and German lines and their documents; most lines are from none."""
        return islice(self._training_lines(), count)

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        """Yield the lines of a phase without their documents."""
        return ((source, target) for source, target, _ in self.in_domain_documents(phase, count))

    def in_domain_documents(self, phase: str, count: int) -> Iterator[tuple[str, str, str]]:
        """Yield the lines of a phase with their documents."""
        return islice(self._phase_lines(phase), count)

    def conversations(self, part: str) -> Iterator[Conversation]:
        """Yield the conversations of the text to train on or of a phase."""
        vocabulary = self._training if part == "out-of-domain" else self._phases
        for number in naturals():
            yield ConversationBuilder(RandomStream(self.seed, "dialogue", part, number), vocabulary).build()

    def _phase_lines(self, phase: str) -> Iterator[tuple[str, str, str]]:
        for number, conversation in enumerate(self.conversations(phase)):
            for pair in conversation.pairs():
                yield *pair, f"{phase} {number}"

    def _training_lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield chunks of conversations: some in order, and the lines of the others shuffled."""
        conversations = enumerate(self.conversations("out-of-domain"))
        for chunk in naturals():
            rng = RandomStream(self.seed, "order", chunk)
            single: list[tuple[str, str]] = []
            for number, conversation in islice(conversations, CHUNK_CONVERSATIONS):
                if number % DOCUMENT_PERIOD == 0:
                    yield from ((*pair, f"dialogue {number}") for pair in conversation.pairs())
                else:
                    single += conversation.pairs()
            while single:
                yield *single.pop(rng.below(len(single))), UNKNOWN_DOCUMENT

    def contrastive_sets(self) -> dict[str, list[dict[str, Any]]]:
        """Return the contrastive sets of held-out words by name."""
        return contrastive_sets(self.seed, self._held_out, self._training)

    def write_contrastive_sets(self, directory: Path) -> None:
        """Write the sets into a folder of a task directory, as JSON lines."""
        folder = directory / CONTRASTIVE_FOLDER
        folder.mkdir()
        for name, groups in self.contrastive_sets().items():
            text = "".join(json.dumps(group, ensure_ascii=False) + "\n" for group in groups)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
