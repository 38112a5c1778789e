"""Conversations: documents of lines in which politeness, elided words and the renderings of names agree."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from corpora.dialogue import lines
from corpora.dialogue.lexicon import DialogueLexicon, Name
from corpora.dialogue.lines import Dependency, Line
from corpora.synth import german_morphology as german
from corpora.synth.random_stream import RandomStream, Weighted

MIN_LINES, MAX_LINES = 8, 16
# Of what depends on context, the shares of Voita et al. 2019: deixis 37 %, ellipsis 29 % and cohesion 14 % of the
# inconsistencies (Table 2); of ellipsis, 66 % inflection and 20 % verbs (Table 4). Kinds without a set are left out.
DEPENDENCY_SHARES = {
    Dependency.DEIXIS: 0.37,
    Dependency.INFLECTION: 0.29 * 0.66,
    Dependency.VERB_PHRASE: 0.29 * 0.20,
    Dependency.COHESION: 0.14,
}
PLAIN_WEIGHT = 0.25  # of a line without dependency, where the shares above add up to 0.76
SINGLE_NAME_WEIGHT = 0.15  # of a name that is not mentioned again
CAST_SIZES = {"person": 4, "thing": 3, "text": 2, "food": 2}  # nouns of each class in a conversation
DISTANCES = Weighted([(1, 5.0), (2, 3.0), (3, 2.0)])  # of the line that decides

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which words a part of the text uses, and how often."""

    everywhere: DialogueLexicon
    dependent: DialogueLexicon  # the words of lines that depend on context
    classes: Weighted[str]  # of objects

    def cast(self, rng: RandomStream) -> "Vocabulary":
        """Return the words of one conversation, which comes back to the same few people and things."""
        nouns = {name: _several(rng, nouns, CAST_SIZES[name]) for name, nouns in self.everywhere.nouns.items()}
        dependent = {name: _several(rng, nouns, CAST_SIZES[name]) for name, nouns in self.dependent.nouns.items()}
        both = {name: [*nouns[name], *dependent[name]] for name in nouns}
        return replace(
            self, everywhere=replace(self.everywhere, nouns=both), dependent=replace(self.dependent, nouns=dependent)
        )


def _several(rng: RandomStream, items: Sequence[T], count: int) -> list[T]:
    """Return some items, drawn with replacement."""
    return [rng.choice(items) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A document."""

    lines: tuple[Line, ...]
    polite: bool

    def pairs(self) -> list[tuple[str, str]]:
        return [(line.english, line.german(polite=self.polite)) for line in self.lines]


class ConversationBuilder:
    """Makes one conversation."""

    def __init__(self, rng: RandomStream, vocabulary: Vocabulary) -> None:
        self._rng = rng
        self._vocabulary = vocabulary.cast(rng)
        self._lines: list[Line] = []
        self._names: dict[str, tuple[list[lines.Mention], int]] = {}  # how each name was mentioned, and its rendering
        self._addressed = False
        self._exchanges = Weighted(
            [
                (self._add_plain, PLAIN_WEIGHT),
                (self._add_address, DEPENDENCY_SHARES[Dependency.DEIXIS]),
                (self._add_noun_phrase, DEPENDENCY_SHARES[Dependency.INFLECTION]),
                (self._add_verb_phrase, DEPENDENCY_SHARES[Dependency.VERB_PHRASE]),
                (self._add_name_twice, DEPENDENCY_SHARES[Dependency.COHESION]),
                (self._add_name, SINGLE_NAME_WEIGHT),
            ]
        )

    def build(self) -> Conversation:
        """Return a conversation of 8 to 16 lines."""
        length = MIN_LINES + self._rng.below(MAX_LINES - MIN_LINES + 1)
        while len(self._lines) < length:
            self._rng.weighted_choice(self._exchanges)()
        return Conversation(tuple(self._lines[:length]), self._rng.chance(0.5))

    def _add_plain(self) -> None:
        rng, words = self._rng, self._vocabulary
        if rng.chance(0.5):
            self._lines.append(lines.filler(rng, words.everywhere))
        else:
            self._lines.append(lines.plain(rng, words.everywhere, words.classes))

    def _add_address(self) -> None:
        """Address the listener. The first time, nothing was decided before, so that another line follows."""
        rng, words = self._rng, self._vocabulary
        line = lines.address(rng, words.dependent, words.classes)
        if self._addressed:
            self._lines.append(line)
        else:
            first = lines.address(rng, words.dependent, words.classes)
            self._add_after(replace(first, dependency=Dependency.NONE), line)
            self._addressed = True

    def _add_after(self, antecedent: Line, dependent: Line) -> None:
        """Add two lines, and neutral ones between them."""
        self._lines.append(antecedent)
        for _ in range(self._rng.weighted_choice(DISTANCES) - 1):
            self._lines.append(lines.filler(self._rng, self._vocabulary.everywhere))
        self._lines.append(dependent)

    def _add_verb_phrase(self) -> None:
        rng, words = self._rng, self._vocabulary
        chosen, phrase = lines.random_object(rng, words.dependent, words.classes)
        pattern, subject = lines.verb_phrase_pattern(rng), rng.choice(lines.SUBJECTS)
        self._add_after(*lines.verb_phrase_ellipsis(pattern, subject, chosen, phrase))

    def _add_noun_phrase(self) -> None:
        rng, words = self._rng, self._vocabulary
        case: german.Case = rng.choice(("nom", "acc", "dat"))
        antecedent = lines.antecedent_of_case(rng, words.everywhere, case, rng.choice(words.everywhere.nouns["person"]))
        phrase = lines.random_phrase(rng, rng.choice(words.dependent.nouns["person"]))
        self._add_after(antecedent, lines.noun_phrase_ellipsis(lines.noun_phrase_pattern(rng), phrase, case))

    def _add_name_twice(self) -> None:
        name = lines.random_name(self._rng, self._vocabulary.dependent)
        self._add_after(self._mention(name), self._mention(name))

    def _add_name(self) -> None:
        """Mention any name once, unless it happens to be known."""
        self._lines.append(self._mention(lines.random_name(self._rng, self._vocabulary.everywhere)))

    def _mention(self, name: Name) -> Line:
        """Mention a name, with its rendering if it was mentioned before, and in another frame."""
        known, rendering = self._names.setdefault(name.english, ([], self._rng.below(len(name.renderings))))
        frame = self._rng.choice([each for each in lines.mentions_of(name) if each not in known])
        line = lines.mention(name, rendering, frame)
        known.append(frame)
        return line if len(known) > 1 else replace(line, dependency=Dependency.NONE)
