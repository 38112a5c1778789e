"""The notation of one line of the lexicon: columns, options, and words with their forms (see README.md beside)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from corpora.synth.lexicon.entries import (
    Action,
    Adjective,
    EnglishNoun,
    EnglishVerb,
    Gender,
    Noun,
    Phrase,
    Preposition,
    Range,
    Scope,
    Values,
    Verb,
)

GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n", "pl": "p"}
TOKEN = re.compile(r"(?:[^\W_]+(?:[-.][^\W_]+)*-?\.?|[-,.;:!?/%°()+=]|\{[^{}]*\})")
UNSPLIT = frozenset("²³µ")  # letters to Python, but the tokenizer splits or replaces them
NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
SLOT = re.compile(r"\{(n:[^{}]+|head|heads|color|brand|code|material)\}")
VOWELS = "aeiou"


Rule = Callable[[str], None]  # what a section does with a line
WORD = frozenset({"a", "an"})  # options of every noun
ONE, TWO, THREE, FOUR = range(1, 2), range(2, 3), range(3, 4), range(4, 5)  # numbers of columns
EVERYWHERE = Scope()


class NotationError(ValueError):
    """A line that does not follow the notation."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line cut into columns and options."""

    columns: tuple[str, ...]
    options: dict[str, str]

    def values(self, key: str) -> tuple[str, ...]:
        return tuple(self.options[key].split(",")) if self.options.get(key) else ()

    @property
    def scope(self) -> Scope:
        return Scope(frozenset(self.values("only")), frozenset(self.values("except")))


def cut(text: str, columns: range, options: frozenset[str]) -> Line:
    """Cut a line into as many columns as its section allows, and its options."""
    body, _, tail = text.lower().partition(";")
    fields = tuple(column.strip() for column in body.split("|"))
    if len(fields) not in columns:
        raise NotationError(f"{len(fields)} columns, wanted {columns.start} to {columns.stop - 1}")
    if not all(fields):
        raise NotationError("an empty column")
    given = dict(option.partition("=")[::2] for option in tail.split())
    unknown = sorted(set(given) - options)
    if unknown:
        raise NotationError(f"unknown option {', '.join(unknown)}")
    return Line(fields, given)


def text(written: str) -> str:
    """Free text, which must be tokenised already."""
    for token in re.sub(r"\{[^{}]*\}", lambda slot: slot[0].replace(" ", ""), written).split():
        if not TOKEN.fullmatch(token) or not UNSPLIT.isdisjoint(token):
            raise NotationError(f"{token!r} is not one token: put blanks around punctuation")
        if token.startswith("{") and not SLOT.fullmatch(token):
            raise NotationError(f"unknown slot {token}")
    for token, following in pairwise([*written.split(), "."]):
        if token.endswith(".") and len(token) > 1 and token != "ca." and not following[0].isalpha():
            raise NotationError(f"the tokenizer would split {token!r} here: write it out")
    if len(NUMERAL.findall(" ".join(t for t in written.split() if NUMERAL.fullmatch(t)))) + written.count("{n:") > 1:
        raise NotationError("more than one number")
    return " ".join(written.split())


def phrase(german: str, english: str, scope: Scope = EVERYWHERE) -> Phrase:
    """A pair of free texts, with the same slots on both sides."""
    slots = [sorted(SLOT.findall(side)) for side in (german, english)]
    if slots[0] != slots[1] or len(set(slots[0])) != len(slots[0]):
        raise NotationError("the two sides must have the same slots, each once")
    return Phrase(text(german), text(english), scope)


def noun_of(line: Line) -> Noun:
    """The noun of a line's first two columns."""
    return noun(line.columns[0], line.columns[1], line.options)


def noun(german: str, english: str, options: dict[str, str]) -> Noun:
    """``die Decke, Decken | blanket``."""
    article, _, forms = german.partition(" ")
    if article not in GENDERS:
        raise NotationError(f"{german!r} does not start with der, die, das or pl")
    lemma, *rest = [form.strip() for form in forms.split(",")]
    gender = GENDERS[article]
    _one_word(lemma)
    if gender == "p":
        if rest:
            raise NotationError("a plural-only noun has one form")
        return Noun(lemma, gender, lemma, lemma, False, english_noun(english, options))
    if not 1 <= len(rest) <= 2:
        raise NotationError(f"{german!r}: wanted article lemma, plural[, genitive]")
    plural = None if rest[0] == "-" else _one_word(rest[0])
    genitive = _one_word(rest[1]) if len(rest) == 2 else _genitive(lemma, gender)
    weak = gender == "m" and len(rest) == 2 and genitive == plural and genitive.endswith("n") and genitive != lemma
    return Noun(lemma, gender, plural, genitive, weak, english_noun(english, options))


def _one_word(form: str) -> str:
    if not form or not TOKEN.fullmatch(form):
        raise NotationError(f"{form!r} is not one word")
    return form


def _genitive(lemma: str, gender: Gender) -> str:
    if gender == "f":
        return lemma
    return lemma + ("es" if lemma.endswith(("s", "ß", "x", "z")) else "s")


def english_noun(written: str, options: dict[str, str]) -> EnglishNoun:
    """``knife/knives``, ``cotton/-``, ``-/scissors``."""
    singular, slash, plural = written.partition("/")
    singular, plural = singular.strip(), plural.strip()
    text(singular if singular != "-" else plural)
    if not slash:
        plural = pluralise(singular)
    one = None if singular == "-" else singular
    many = None if plural == "-" else plural
    if one is None and many is None:
        raise NotationError("an English noun without any form")
    article: Literal["a", "an"] | None = "an" if "an" in options else "a" if "a" in options else None
    return EnglishNoun(one, many, article)


def pluralise(singular: str) -> str:
    """The regular plural of the last word."""
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in VOWELS:
        return singular[:-1] + "ies"
    return singular + "s"


def adjective(german: str, english: str) -> Adjective:
    """``dunkel/dunkl | dark``."""
    lemma, slash, stem = (part.strip() for part in german.partition("/"))
    _one_word(lemma)
    if not slash:
        stem = lemma[:-1] if lemma.endswith("e") else lemma
    return Adjective(lemma, None if stem == "!" else _one_word(stem), text(english))


def english_verb(written: str) -> EnglishVerb:
    """``rise/rises/rose/risen``; particles may follow the first word (``carry out``)."""
    forms = [text(form.strip()) for form in written.split("/")]
    if len(forms) == 4:
        return EnglishVerb(*forms)
    if len(forms) != 1:
        raise NotationError(f"{written!r}: wanted one English form or four")
    word, *particles = forms[0].split()
    third = pluralise(word) if not word.endswith("o") else word + "es"
    if word.endswith("e"):
        past = word + "d"
    elif word.endswith("y") and word[-2:-1] not in VOWELS:
        past = word[:-1] + "ied"
    else:
        past = word + "ed"
    return EnglishVerb(*(" ".join([form, *particles]) for form in (word, third, past, past)))


def verb(german: str, english: str) -> Verb:
    """``ankündigen: kündigt an, kündigte an, angekündigt[, ist] | announce``."""
    infinitive, colon, tail = german.partition(":")
    forms = [form.strip() for form in tail.split(",")]
    if not colon or len(forms) not in (3, 4):
        raise NotationError(f"{german!r}: wanted infinitive: present, preterite, participle[, ist]")
    if len(forms) == 4 and forms[3] not in ("ist", "hat"):
        raise NotationError(f"auxiliary {forms[3]!r}: wanted ist or hat")
    reflexive = infinitive.strip().startswith("sich ")
    infinitive = infinitive.strip().removeprefix("sich ")
    present, prefix = separable(forms[0], infinitive)
    preterite, again = separable(forms[1], infinitive)
    if prefix != again:
        raise NotationError(f"{german!r}: present and preterite have different prefixes")
    for form in (infinitive, present, preterite, forms[2]):
        _one_word(form)
    return Verb(
        infinitive, prefix, present, preterite, forms[2], forms[3:] == ["ist"], reflexive, english_verb(english)
    )


def separable(finite: str, infinitive: str) -> tuple[str, str]:
    """``kündigt an`` is ``kündigt`` and the prefix of ``ankündigen``."""
    form, _, prefix = finite.partition(" ")
    if prefix and not infinitive.startswith(prefix):
        raise NotationError(f"{infinitive!r} does not start with the prefix {prefix!r}")
    return form, prefix


def action(german: str, rest: str, english: str, scope: Scope) -> Action:
    """``passt an, anpassen | sich dem Körper | adapt to the body``."""
    finite, comma, infinitive = (part.strip() for part in german.partition(","))
    if not comma:
        raise NotationError(f"{german!r}: wanted 3sg, infinitive")
    present, prefix = separable(finite, infinitive)
    base, _, english_rest = text(english).partition(" ")
    return Action(
        _one_word(present), prefix, _one_word(infinitive), text(rest), english_verb(base), english_rest, scope
    )


def preposition(written: str) -> Preposition:
    """``über+acc/about``."""
    match = re.fullmatch(r"(\w+)\+(acc|dat|gen)/([\w_]+)", written)
    if not match:
        raise NotationError(f"{written!r}: wanted preposition+acc|dat|gen/english")
    return Preposition(match[1], match[2], match[3].replace("_", " "))  # type: ignore[arg-type]


def values(written: str) -> Values:
    """``300..1200:50 g``, ``140..240:20 x 200..220:20 cm``, ``{rund=round, eckig=square}``, ``@colors``."""
    if written.startswith("@"):
        if written[1:] not in ("colors", "materials", "sizes"):
            raise NotationError(f"unknown shared list {written}")
        return Values(shared=written[1:])  # type: ignore[arg-type]
    if written.startswith("{") and written.endswith("}"):
        pairs = [choice.partition("=")[::2] for choice in written[1:-1].split(",")]
        if not all(german.strip() and english.strip() for german, english in pairs):
            raise NotationError(f"{written!r}: wanted {{german=english, ...}}")
        return Values(choices=tuple(phrase(german.strip(), english.strip()) for german, english in pairs))
    *ranges, last = written.split(" x ")
    tail, _, unit = last.strip().partition(" ")
    return Values(ranges=tuple(number_range(part.strip()) for part in [*ranges, tail]), unit=unit.strip())


def number_range(written: str) -> Range:
    """``0.5..3:0.5``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?", written)
    if not match:
        raise NotationError(f"{written!r} is not a range from..to:step")
    numbers = [match[1], match[2], match[3] or "1"]
    decimals = max(len(number.partition(".")[2]) for number in numbers)
    low, high, step = (round(float(number) * 10**decimals) for number in numbers)
    if not step > 0 or low > high:
        raise NotationError(f"{written!r} is an empty range")
    return Range(low, high, step, decimals)
