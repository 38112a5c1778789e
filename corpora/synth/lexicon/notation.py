"""The notation of one line of the lexicon: columns, options, and words with their forms.

README.md in this directory describes it.
"""

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
    NumberRange,
    Phrase,
    Preposition,
    Scope,
    ValueDomain,
    Verb,
)

GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n", "pl": "p"}
TOKEN = re.compile(r"(?:[^\W_]+(?:[-.][^\W_]+)*-?\.?|[-,.;:!?/%°()+=]|\{[^{}]*\})")
UNTOKENISABLE = frozenset("²³µ")  # letters in Python, which the tokeniser splits off or replaces
NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
SLOT = re.compile(r"\{(n:[^{}]+|head|heads|color|brand|code|material)\}")
VOWELS = "aeiou"

SectionRule = Callable[[str], None]  # adds a line of a section to the lexicon
NOUN_OPTIONS = frozenset(
    {"a", "an"}
)  # a noun may have these: its English article where the spelling would give the wrong one
ONE_COLUMN, TWO_COLUMNS, THREE_COLUMNS, FOUR_COLUMNS = range(1, 2), range(2, 3), range(3, 4), range(4, 5)
EVERYWHERE = Scope()


class NotationError(ValueError):
    """A line that does not follow the notation."""


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """One line, split into columns and options."""

    columns: tuple[str, ...]
    options: dict[str, str]

    def option_values(self, key: str) -> tuple[str, ...]:
        """Return the values of an option, which are separated by commas."""
        return tuple(self.options[key].split(",")) if self.options.get(key) else ()

    @property
    def scope(self) -> Scope:
        """The scope that the options ``only`` and ``except`` give."""
        return Scope(frozenset(self.option_values("only")), frozenset(self.option_values("except")))


def parse_line(text: str, columns: range, options: frozenset[str]) -> ParsedLine:
    """Split a line into its columns, of which the section allows these numbers, and its options."""
    body, _, tail = text.lower().partition(";")
    fields = tuple(column.strip() for column in body.split("|"))
    if len(fields) not in columns:
        raise NotationError(f"has {len(fields)} columns, but should have {' or '.join(map(str, columns))}")
    if not all(fields):
        raise NotationError("has an empty column")
    given = dict(option.partition("=")[::2] for option in tail.split())
    unknown = sorted(set(given) - options)
    if unknown:
        raise NotationError(f"has the unknown option {', '.join(unknown)}")
    return ParsedLine(fields, given)


def tokenised_text(written: str) -> str:
    """Return a text with single spaces. Raise NotationError unless it is tokenised already."""
    for token in re.sub(r"\{[^{}]*\}", lambda slot: slot[0].replace(" ", ""), written).split():
        if not TOKEN.fullmatch(token) or not UNTOKENISABLE.isdisjoint(token):
            raise NotationError(f"{token!r} is not one token: put spaces around punctuation")
        if token.startswith("{") and not SLOT.fullmatch(token):
            raise NotationError(f"unknown slot {token}")
    for token, following in pairwise([*written.split(), "."]):
        if token.endswith(".") and len(token) > 1 and token != "ca." and not following[0].isalpha():
            raise NotationError(f"the tokeniser would split {token!r} here: write it out")
    if len(NUMERAL.findall(" ".join(t for t in written.split() if NUMERAL.fullmatch(t)))) + written.count("{n:") > 1:
        raise NotationError("has more than one number")
    return " ".join(written.split())


def parse_phrase(german: str, english: str, scope: Scope = EVERYWHERE) -> Phrase:
    """Return a text with its translation; both must have the same slots."""
    slots = [sorted(SLOT.findall(side)) for side in (german, english)]
    if slots[0] != slots[1] or len(set(slots[0])) != len(slots[0]):
        raise NotationError("both sides must have the same slots, each of them once")
    return Phrase(tokenised_text(german), tokenised_text(english), scope)


def noun_from_line(line: ParsedLine) -> Noun:
    """Return the noun in the first two columns of a line."""
    return parse_noun(line.columns[0], line.columns[1], line.options)


def parse_noun(german: str, english: str, options: dict[str, str]) -> Noun:
    """Parse ``die Decke, Decken | blanket``."""
    article, _, forms = german.partition(" ")
    if article not in GENDERS:
        raise NotationError(f"{german!r} does not start with der, die, das or pl")
    lemma, *rest = [form.strip() for form in forms.split(",")]
    gender = GENDERS[article]
    _check_single_word(lemma)
    if gender == "p":
        if rest:
            raise NotationError("a noun without singular has one form only")
        return Noun(lemma, gender, lemma, lemma, False, parse_english_noun(english, options))
    if not 1 <= len(rest) <= 2:
        raise NotationError(f"{german!r} should be: article lemma, plural[, genitive]")
    plural = None if rest[0] == "-" else _check_single_word(rest[0])
    genitive = _check_single_word(rest[1]) if len(rest) == 2 else _regular_genitive(lemma, gender)
    weak = gender == "m" and len(rest) == 2 and genitive == plural and genitive.endswith("n") and genitive != lemma
    return Noun(lemma, gender, plural, genitive, weak, parse_english_noun(english, options))


def _check_single_word(form: str) -> str:
    """Return the form. Raise NotationError unless it is one word."""
    if not form or not TOKEN.fullmatch(form):
        raise NotationError(f"{form!r} is not one word")
    return form


def _regular_genitive(lemma: str, gender: Gender) -> str:
    if gender == "f":
        return lemma
    return lemma + ("es" if lemma.endswith(("s", "ß", "x", "z")) else "s")


def parse_english_noun(written: str, options: dict[str, str]) -> EnglishNoun:
    """Parse ``knife/knives``, ``cotton/-`` or ``-/scissors``."""
    singular, slash, plural = written.partition("/")
    singular, plural = singular.strip(), plural.strip()
    tokenised_text(singular if singular != "-" else plural)
    if not slash:
        plural = pluralise(singular)
    one = None if singular == "-" else singular
    many = None if plural == "-" else plural
    if one is None and many is None:
        raise NotationError("the English noun has no form")
    article: Literal["a", "an"] | None = "an" if "an" in options else "a" if "a" in options else None
    return EnglishNoun(one, many, article)


def pluralise(singular: str) -> str:
    """Return the noun with the regular plural of its last word."""
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in VOWELS:
        return singular[:-1] + "ies"
    return singular + "s"


def parse_adjective(german: str, english: str) -> Adjective:
    """Parse ``dunkel/dunkl | dark``: the second form takes the endings."""
    lemma, slash, stem = (part.strip() for part in german.partition("/"))
    _check_single_word(lemma)
    if not slash:
        stem = lemma[:-1] if lemma.endswith("e") else lemma
    return Adjective(lemma, None if stem == "!" else _check_single_word(stem), tokenised_text(english))


def parse_english_verb(written: str) -> EnglishVerb:
    """Parse ``rise/rises/rose/risen``, or form the regular forms of one word and its particles (``carry out``)."""
    forms = [tokenised_text(form.strip()) for form in written.split("/")]
    if len(forms) == 4:
        return EnglishVerb(*forms)
    if len(forms) != 1:
        raise NotationError(f"{written!r} should have one English form or four")
    word, *particles = forms[0].split()
    third = pluralise(word) if not word.endswith("o") else word + "es"
    if word.endswith("e"):
        past = word + "d"
    elif word.endswith("y") and word[-2:-1] not in VOWELS:
        past = word[:-1] + "ied"
    else:
        past = word + "ed"
    return EnglishVerb(*(" ".join([form, *particles]) for form in (word, third, past, past)))


def parse_verb(german: str, english: str) -> Verb:
    """Parse ``ankündigen: kündigt an, kündigte an, angekündigt[, ist] | announce``."""
    infinitive, colon, tail = german.partition(":")
    forms = [form.strip() for form in tail.split(",")]
    if not colon or len(forms) not in (3, 4):
        raise NotationError(f"{german!r} should be infinitive: present, preterite, participle[, ist]")
    if len(forms) == 4 and forms[3] not in ("ist", "hat"):
        raise NotationError(f"the auxiliary is {forms[3]!r}, but should be ist or hat")
    reflexive = infinitive.strip().startswith("sich ")
    infinitive = infinitive.strip().removeprefix("sich ")
    present, prefix = split_separable_verb(forms[0], infinitive)
    preterite, again = split_separable_verb(forms[1], infinitive)
    if prefix != again:
        raise NotationError(f"present and preterite of {german!r} have different prefixes")
    for form in (infinitive, present, preterite, forms[2]):
        _check_single_word(form)
    return Verb(
        infinitive, prefix, present, preterite, forms[2], forms[3:] == ["ist"], reflexive, parse_english_verb(english)
    )


def split_separable_verb(finite: str, infinitive: str) -> tuple[str, str]:
    """Split ``kündigt an`` into ``kündigt`` and ``an``, the prefix of ``ankündigen``."""
    form, _, prefix = finite.partition(" ")
    if prefix and not infinitive.startswith(prefix):
        raise NotationError(f"{infinitive!r} does not start with the prefix {prefix!r}")
    return form, prefix


def parse_action(german: str, rest: str, english: str, scope: Scope) -> Action:
    """Parse ``passt an, anpassen | sich dem Körper | adapt to the body``."""
    finite, comma, infinitive = (part.strip() for part in german.partition(","))
    if not comma:
        raise NotationError(f"{german!r} should be: 3sg, infinitive")
    present, prefix = split_separable_verb(finite, infinitive)
    base, _, english_rest = tokenised_text(english).partition(" ")
    return Action(
        present=_check_single_word(present),
        prefix=prefix,
        infinitive=_check_single_word(infinitive),
        rest=tokenised_text(rest),
        english=parse_english_verb(base),
        english_rest=english_rest,
        scope=scope,
    )


def parse_preposition(written: str) -> Preposition:
    """Parse ``über+acc/about``."""
    match = re.fullmatch(r"(\w+)\+(acc|dat|gen)/([\w_]+)", written)
    if not match:
        raise NotationError(f"{written!r} should be preposition+acc|dat|gen/english")
    return Preposition(match[1], match[2], match[3].replace("_", " "))  # type: ignore[arg-type]


def parse_values(written: str) -> ValueDomain:
    """Parse ``300..1200:50 g``, ``140..240:20 x 200..220:20 cm``, ``{rund=round, eckig=square}`` or ``@colors``."""
    if written.startswith("@"):
        if written[1:] not in ("colors", "materials", "sizes"):
            raise NotationError(f"{written} should be @colors, @materials or @sizes")
        return ValueDomain(shared=written[1:])  # type: ignore[arg-type]
    if written.startswith("{") and written.endswith("}"):
        pairs = [choice.partition("=")[::2] for choice in written[1:-1].split(",")]
        if not all(german.strip() and english.strip() for german, english in pairs):
            raise NotationError(f"{written!r} should be {{german=english, ...}}")
        return ValueDomain(choices=tuple(parse_phrase(german.strip(), english.strip()) for german, english in pairs))
    *ranges, last = written.split(" x ")
    tail, _, unit = last.strip().partition(" ")
    return ValueDomain(ranges=tuple(parse_number_range(part.strip()) for part in [*ranges, tail]), unit=unit.strip())


def parse_number_range(written: str) -> NumberRange:
    """Parse ``0.5..3:0.5``: from, to and step."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?", written)
    if not match:
        raise NotationError(f"{written!r} should be from..to:step")
    numbers = [match[1], match[2], match[3] or "1"]
    decimals = max(len(number.partition(".")[2]) for number in numbers)
    low, high, step = (round(float(number) * 10**decimals) for number in numbers)
    if not step > 0 or low > high:
        raise NotationError(f"the range {written!r} is empty")
    return NumberRange(low, high, step, decimals)
