"""How vendors and post-editors change a literal pair: every kind of change in Sokolov et al. 2017, Table 1.

In the half that was post-edited from German into English, the source is a vendor's raw text with typos, abbreviations
and stray punctuation, and the reference is the post-editor's: corrected, spelt out, and rewritten in a house style. In
the reversed half the German is the post-editor's clean text, and the English reference is a vendor's original.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from corpora.synth.english_morphology import indefinite
from corpora.synth.random_stream import RandomStream, stable_hash

HOUSE_STYLES = 4  # each category is edited in one of them
STYLE_ADHERENCE = 0.78  # how often an editor follows the house style

TYPO_RATE = 0.055
STRAY_PUNCTUATION_RATE = 0.035
ABBREVIATION_RATE = 0.5
TERSE_RATE = 0.06  # of the abbreviated lines: function words are abbreviated too
DEGREES_SPELT_OUT_RATE = 0.7
POOR_ENGLISH_RATE = 0.4

# Full form and abbreviation. An abbreviation that can stand before a number has no period, which the tokeniser would
# split off there.
ABBREVIATIONS = {
    "größe": "gr.",
    "inklusive": "inkl.",
    "stunden": "std",
    "ungefähr": "ca.",
    "mindestens": "mind.",
    "maximal": "max.",
    "minuten": "min",
    "stück": "stk",
    "durchmesser": "durchm.",
    "verschiedene": "versch.",
    "beziehungsweise": "bzw.",
    "eventuell": "evtl.",
    "modell": "mod.",
}
TERSE_ABBREVIATIONS = {"ohne": "o.", "für": "f.", "und": "u."} | ABBREVIATIONS
# These can stand anywhere; an abbreviation with a period stays one token only before a letter.
ABBREVIATIONS_WITHOUT_PERIOD = frozenset({"std", "min", "stk"})

ENGLISH_ABBREVIATIONS: Mapping[str, str] = {
    "pieces": "pcs",
    "approximately": "approx",
    "maximum": "max",
    "minimum": "min",
    "hours": "hrs",
    "minutes": "mins",
    "number": "no",
    "package": "pkg",
    "quality": "qlty",
    "with": "w / ",
}

# What an editor may write instead of the literal English. The house style decides which.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "high-quality": ("premium", "top-quality"),
    "made of": ("made from", "crafted from"),
    "suitable for": ("ideal for", "great for", "perfect for"),
    "ideal for": ("perfect for", "great for"),
    "easy to clean": ("simple to clean",),
    "included": ("supplied",),
    "for children": ("for kids",),
    "children": ("kids",),
    "robust": ("sturdy", "durable"),
    "sturdy": ("durable",),
    "practical": ("handy",),
    "modern": ("contemporary",),
    "elegant": ("stylish",),
    "comfortable": ("comfy",),
    "large": ("big",),
    "thanks to": ("due to",),
    "particularly": ("especially",),
    "available in": ("comes in",),
    "package contents": ("includes", "what is in the box"),
    "for indoor and outdoor use": ("for use indoors and outdoors",),
    "everyday use": ("daily use",),
    "color :": ("shade :",),
    "removable": ("detachable",),
    "lightweight": ("light",),
    "genuine leather": ("real leather",),
}

_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}


@dataclass(frozen=True, slots=True)
class HouseStyle:
    """The latent style of the editors of some categories: which rewriting and which synonym they prefer."""

    number: int

    @classmethod
    def of(cls, category: str) -> "HouseStyle":
        """Return the style in which a category is edited."""
        return cls(stable_hash("house", category) % HOUSE_STYLES)

    def variant(self, template: str, variants: int, rng: RandomStream) -> int:
        """Return the English variant of a template: usually the favourite of the style, else any."""
        if variants == 1:
            return 0
        favourite = stable_hash("variant", self.number, template) % variants
        return favourite if rng.chance(STYLE_ADHERENCE) else rng.below(variants)

    def rephrase(self, english: str, rng: RandomStream) -> str:
        """Replace words by the synonyms that the style prefers."""
        for literal, alternatives in SYNONYMS.items():
            if literal in english and rng.chance(STYLE_ADHERENCE):
                choice = stable_hash("synonym", self.number, literal) % (len(alternatives) + 1)
                if choice and alternatives[choice - 1] not in english:  # not "durable and durable"
                    english = _replace(english, literal, alternatives[choice - 1])
        return english


def _replace(text: str, old: str, new: str) -> str:
    """Replace whole words once, and adapt the article before them."""
    return re.sub(
        rf"(?<!\S)(an? )?{re.escape(old)}(?!\S)",
        lambda found: f"{indefinite(new)} {new}" if found[1] else new,
        text,
        count=1,
    )


def vendor_german(german: str, brand: str, rng: RandomStream) -> str:
    """Return the raw source as a vendor types it. Vendors do not mistype the brand."""
    words = german.split()
    if rng.chance(ABBREVIATION_RATE):
        words = abbreviate(words, TERSE_ABBREVIATIONS if rng.chance(TERSE_RATE) else ABBREVIATIONS)
    if rng.chance(TYPO_RATE):
        words = add_typo(words, brand, rng)
    if rng.chance(STRAY_PUNCTUATION_RATE):
        words = add_stray_punctuation(words, rng)
    return " ".join(words)


def abbreviate(words: list[str], table: Mapping[str, str] = ABBREVIATIONS) -> list[str]:
    """Abbreviate words: ``größe xl`` becomes ``gr. xl``."""
    abbreviated = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        short = table.get(word)
        if short and (short in ABBREVIATIONS_WITHOUT_PERIOD or (following[:1].isalpha() and len(words) > 2)):
            abbreviated.append(short)
        elif word.startswith("elektro") and len(word) > 10:
            abbreviated.append(f"e-{word[7:].lstrip('-')}")
        else:
            abbreviated.append(word)
    return abbreviated


def add_typo(words: list[str], brand: str, rng: RandomStream) -> list[str]:
    """Make one typo in one of the longer words."""
    places = [
        place for place, word in enumerate(words) if len(word) > 4 and word.isalpha() and word not in brand.split()
    ]
    if not places:
        return words
    place = rng.choice(places)
    mistyped = words.copy()
    mistyped[place] = rng.choice(TYPOS)(words[place], 1 + rng.below(len(words[place]) - 2))
    return mistyped


def _swap(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _transcribe(word: str, at: int) -> str:
    """Transcribe an umlaut, as on a keyboard without any; a word without umlaut loses a letter."""
    for umlaut, letters in _UMLAUTS.items():
        if umlaut in word:
            return word.replace(umlaut, letters, 1)
    return _drop(word, at)


TYPOS: tuple[Callable[[str, int], str], ...] = (_swap, _drop, _double, _transcribe, _transcribe)


def add_stray_punctuation(words: list[str], rng: RandomStream) -> list[str]:
    """Add a punctuation mark as it is left over from a copied list."""
    position = rng.random()
    if position < 0.4:
        return [",", *words]
    if position < 0.6:
        return ["-", *words]
    if position < 0.8 and words[-1].isalpha():
        return [*words, ","]
    return [*words, ":"] if words[-1].isalpha() else words


def editor_english(english: str, style: HouseStyle, rng: RandomStream) -> str:
    """Return the reference of the forward half, as an editor rewrites the literal English."""
    if "° c" in english and rng.chance(DEGREES_SPELT_OUT_RATE):
        english = english.replace("° c", "degrees")
    return style.rephrase(english, rng)


def vendor_english(english: str, rng: RandomStream) -> str:
    """Return the reference of the reversed half: a vendor's own English, good or poor."""
    if not rng.chance(POOR_ENGLISH_RATE):
        return english
    words = english.split()
    fault = rng.below(5)
    if fault == 0 and len(words) > 3:
        words = [word for word in words if word not in ("the", "a", "an")]
    elif fault == 1:
        words = " ".join(ENGLISH_ABBREVIATIONS.get(word, word) for word in words).split()
        words = _shorten_denier(words)
    elif fault == 2 and len(words) > 4:
        words = _break_agreement(words)
    elif fault == 3:
        words = ["great", *words] if words[0] == "for" else [*words[:-1], "!"] if words[-1] == "." else words
    elif fault == 4 and len(words) > 2 and words[-1] == ".":
        words = words[:-1]
    return " ".join(words)


def _shorten_denier(words: list[str]) -> list[str]:
    """Shorten ``1050 denier`` to ``1050d``, as in Sokolov et al. 2017, Table 1."""
    text = " ".join(words)
    for word, following in pairwise(words):
        if following == "denier" and word.isdigit():
            text = text.replace(f"{word} denier", f"{word}d")
    return text.split()


def _break_agreement(words: list[str]) -> list[str]:
    """Put verbs into the wrong number, as in an example of Sokolov et al. 2017, Table 1."""
    broken = {"is": "are", "are": "is", "ensures": "ensure", "protects": "protect", "has": "have", "offers": "offer"}
    return [broken.get(word, word) for word in words]
