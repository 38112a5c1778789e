"""The words of dialogues: nouns, verbs, names with several renderings, and lines that fit anywhere."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from corpora.synth import german_morphology as german
from corpora.synth.lexicon import notation
from corpora.synth.lexicon.entries import EnglishNoun, Gender, Noun, Verb
from corpora.synth.random_stream import stable_fraction

FOLDER = Path(__file__).parent
OBJECT_CLASSES = ("person", "thing", "text", "food")
HELD_OUT_SHARE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class ObjectVerb:
    """A verb with an object."""

    verb: Verb
    case: german.Case  # of the object
    objects: tuple[str, ...]  # classes


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A name with several renderings. The name of a place has an article in German, and mostly in English."""

    english: str
    renderings: tuple[Noun, ...]  # of which a document uses one
    is_person: bool

    @property
    def english_phrase(self) -> str:
        return (
            self.english if self.is_person or self.english.endswith((" street", " square")) else f"the {self.english}"
        )

    def german_phrase(self, rendering: int, case: german.Case) -> str:
        """Return the name in a case, with its article if it has one."""
        return german.noun_phrase(self.renderings[rendering], "" if self.is_person else "der", (), case, False)


@dataclass(frozen=True, slots=True)
class AddressLine:
    """A line that addresses the listener: to a friend (du) or to a stranger (sie)."""

    english: str
    familiar: str
    polite: str


@dataclass(slots=True)
class DialogueLexicon:
    """All words, or those of a part of the text."""

    nouns: dict[str, list[Noun]] = field(default_factory=lambda: {name: [] for name in OBJECT_CLASSES})  # by class
    verbs: list[ObjectVerb] = field(default_factory=list)
    intransitive: list[Verb] = field(default_factory=list)
    people: list[Name] = field(default_factory=list)
    places: list[Name] = field(default_factory=list)
    fillers: list[tuple[str, str]] = field(default_factory=list)  # English and German
    address: list[AddressLine] = field(default_factory=list)

    def part(self, *, held_out: bool) -> "DialogueLexicon":
        """Return the held-out words, or all others. Fixed lines are in both parts."""

        def mine(key: str) -> bool:
            return (stable_fraction("dialogue", key) < HELD_OUT_SHARE) == held_out

        return DialogueLexicon(
            {name: [noun for noun in nouns if mine(noun.lemma)] for name, nouns in self.nouns.items()},
            [each for each in self.verbs if mine(each.verb.infinitive)],
            [each for each in self.intransitive if mine(each.infinitive)],
            [each for each in self.people if mine(each.english)],
            [each for each in self.places if mine(each.english)],
            self.fillers,
            self.address,
        )

    def verbs_for(self, noun_class: str, case: german.Case | None = None) -> list[ObjectVerb]:
        """Return the verbs that take objects of this class, of all cases or of one."""
        return [each for each in self.verbs if noun_class in each.objects and case in (None, each.case)]


@cache
def load() -> DialogueLexicon:
    """Read the words, which are files of this package."""
    words = DialogueLexicon()
    name_parts: list[tuple[str, str]] = []
    place_nouns: list[Noun] = []
    for section, text in _entries(FOLDER / "lexicon.txt"):
        line = notation.parse_line(text, notation.TWO_COLUMNS, frozenset({"obj"}))
        if section in words.nouns:
            words.nouns[section].append(notation.noun_from_line(line))
        elif section in ("verbs", "dative verbs"):
            case: german.Case = "dat" if section == "dative verbs" else "acc"
            words.verbs.append(ObjectVerb(notation.parse_verb(*line.columns), case, line.option_values("obj")))
        elif section == "intransitive verbs":
            words.intransitive.append(notation.parse_verb(*line.columns))
        elif section == "people":
            words.people.append(_person(*line.columns))
        elif section == "name parts":
            name_parts.append((line.columns[0], line.columns[1]))
        else:
            place_nouns.append(notation.noun_from_line(line))
    words.places = [_place(*part, place) for part in name_parts for place in place_nouns]
    for section, text in _entries(FOLDER / "phrases.txt"):
        columns = [notation.tokenised_text(column) for column in text.split("|")]
        if section == "fillers":
            words.fillers.append((columns[0], columns[1]))
        else:
            words.address.append(AddressLine(*columns))
    return words


def _person(english: str, renderings: str) -> Name:
    return Name(english, tuple(_proper_noun(text.strip(), "m") for text in renderings.split(",")), is_person=True)


def _place(english: str, combining_form: str, place: Noun) -> Name:
    """Return a compound name: translated, or left in English with the gender of the German noun."""
    name = f"{english} {place.english.singular}"
    renderings = (german.compound(combining_form, place, english), _proper_noun(name, place.gender))
    return Name(name, renderings, is_person=False)


def _proper_noun(text: str, gender: Gender) -> Noun:
    return Noun(text, gender, None, text, False, EnglishNoun(text, None))


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the section and the text of each entry."""
    section = ""
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            yield section, line
