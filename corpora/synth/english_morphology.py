"""English inflection: articles, noun phrases and verb forms."""

from typing import TYPE_CHECKING, Literal

from corpora.synth.lexicon.entries import EnglishNoun, EnglishVerb

if TYPE_CHECKING:
    from corpora.synth.german_morphology import Tense

_VOWELS = ("a", "e", "i", "o", "u")
_CONSONANT_SOUND = ("uni", "use", "usa", "usb", "eu", "one", "uv", "ut", "uk")
_VOWEL_SOUND = (
    "hour",
    "honest",
    "heir",
    "lcd",
    "led ",
    "led-",
    "x-",
    "8",
    "11 ",
    "18 ",
    "hdmi",
    "mp3",
    "rfid",
    "ssd",
    "xxl",
    "rgb",
)


def indefinite(rest: str) -> Literal["a", "an"]:
    """Return the indefinite article before these words."""
    if rest.startswith(_VOWEL_SOUND):
        return "an"
    return "an" if rest.startswith(_VOWELS) and not rest.startswith(_CONSONANT_SOUND) else "a"


def noun_form(word: EnglishNoun, plural: bool) -> str:
    """Return the singular or the plural, or the only form of a noun that lacks the other."""
    wanted, other = (word.plural, word.singular) if plural else (word.singular, word.plural)
    return wanted or other or ""


def is_plural(word: EnglishNoun, plural: bool) -> bool:
    """Return whether a verb agrees with the noun in the plural: ``scissors`` and ``police`` do in any case."""
    return word.singular is None or (plural and word.plural is not None)


def noun_phrase(word: EnglishNoun, article: str, adjectives: tuple[str, ...], plural: bool) -> str:
    """Return a noun phrase of article, adjectives and noun; a mass noun or plural takes no ``a``."""
    words = " ".join((*adjectives, noun_form(word, plural)))
    if article in ("a", "an"):
        if is_plural(word, plural) or word.plural is None:
            return words
        own = word.article if not adjectives else None
        return f"{own or indefinite(words)} {words}"
    return f"{article} {words}" if article else words


def have(plural: bool) -> str:
    """Return the third person present of ``have``."""
    return "have" if plural else "has"


def be(plural: bool, past: bool) -> str:
    """Return the third person of ``be``."""
    if past:
        return "were" if plural else "was"
    return "are" if plural else "is"


def verb_group(verb: EnglishVerb, tense: "Tense", plural: bool, modal: str = "can") -> str:
    """Return the verb group of an affirmative clause in the third person."""
    if tense == "present":
        return verb.base if plural else verb.third
    if tense == "preterite":
        return verb.past
    if tense == "perfect":
        return f"{have(plural)} {verb.participle}"
    if tense == "pluperfect":
        return f"had {verb.participle}"
    if tense == "future":
        return f"will {verb.base}"
    return f"{modal} {verb.base}"


def negated_verb_group(verb: EnglishVerb, tense: "Tense", plural: bool, modal: str = "can") -> str:
    """Return the verb group of a clause with ``not``."""
    if tense == "present":
        return f"{'do' if plural else 'does'} not {verb.base}"
    if tense == "preterite":
        return f"did not {verb.base}"
    if tense == "perfect":
        return f"{have(plural)} not {verb.participle}"
    if tense == "pluperfect":
        return f"had not {verb.participle}"
    if tense == "future":
        return f"will not {verb.base}"
    return f"{modal} not {verb.base}"
