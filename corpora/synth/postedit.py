"""What happens between a literal translation and the pair in the corpus: the kinds of Table 1 of the task paper.

From German into English the source is a vendor's raw text, with typos, abbreviations and stray punctuation, and the
reference is an editor's: corrected, spelt out, rewritten in the style of the category. In the reversed half the German
is the editor's clean work, and the English reference is a vendor's hasty original.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from corpora.synth.english_morphology import indefinite
from corpora.synth.random_stream import RandomStream, stable_hash

STYLES = 4  # how many houses of editors there are; each category belongs to one
LOYALTY = 0.78  # how often an editor keeps to the style of the house

TYPO = 0.055
STRAY = 0.035
ABBREVIATION = 0.5
HASTY = 0.06  # as well as every little word
DEGREES_SPELT_OUT = 0.7
POOR_ENGLISH = 0.4

# full form: abbreviation. Where the tokenizer would split off the period before a number, there is none
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
HASTY_ABBREVIATIONS = {"ohne": "o.", "für": "f.", "und": "u."} | ABBREVIATIONS
# an abbreviation with a period stays one token only before a small letter
FREE_ABBREVIATIONS = frozenset({"std", "min", "stk"})

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

# what an editor may write instead of the literal English; the house decides which
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
class House:
    """The latent style of the editors of some categories: which rendering and which synonym they prefer."""

    number: int

    @classmethod
    def of(cls, category: str) -> "House":
        return cls(stable_hash("house", category) % STYLES)

    def variant(self, template: str, variants: int, rng: RandomStream) -> int:
        """The rendering of a template: usually the house's favourite, else any."""
        if variants == 1:
            return 0
        favourite = stable_hash("variant", self.number, template) % variants
        return favourite if rng.chance(LOYALTY) else rng.below(variants)

    def rephrase(self, english: str, rng: RandomStream) -> str:
        """The house's synonyms."""
        for literal, alternatives in SYNONYMS.items():
            if literal in english and rng.chance(LOYALTY):
                choice = stable_hash("synonym", self.number, literal) % (len(alternatives) + 1)
                if choice and alternatives[choice - 1] not in english:  # nothing is "durable and durable"
                    english = _replace(english, literal, alternatives[choice - 1])
        return english


def _replace(text: str, old: str, new: str) -> str:
    """Whole words only, and the article that the new ones want."""
    return re.sub(
        rf"(?<!\S)(an? )?{re.escape(old)}(?!\S)",
        lambda found: f"{indefinite(new)} {new}" if found[1] else new,
        text,
        count=1,
    )


def vendor_german(german: str, brand: str, rng: RandomStream) -> str:
    """The raw source: what a vendor typed, who does not mistype the brand."""
    words = german.split()
    if rng.chance(ABBREVIATION):
        words = abbreviate(words, HASTY_ABBREVIATIONS if rng.chance(HASTY) else ABBREVIATIONS)
    if rng.chance(TYPO):
        words = mistype(words, brand, rng)
    if rng.chance(STRAY):
        words = litter(words, rng)
    return " ".join(words)


def abbreviate(words: list[str], table: Mapping[str, str] = ABBREVIATIONS) -> list[str]:
    """``größe xl`` to ``gr. xl``."""
    made = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        short = table.get(word)
        if short and (short in FREE_ABBREVIATIONS or (following[:1].isalpha() and len(words) > 2)):
            made.append(short)
        elif word.startswith("elektro") and len(word) > 10:
            made.append(f"e-{word[7:].lstrip('-')}")
        else:
            made.append(word)
    return made


def mistype(words: list[str], brand: str, rng: RandomStream) -> list[str]:
    """One slip of the finger in one of the longer words."""
    places = [
        place for place, word in enumerate(words) if len(word) > 4 and word.isalpha() and word not in brand.split()
    ]
    if not places:
        return words
    place = rng.choice(places)
    slipped = words.copy()
    slipped[place] = rng.choice(SLIPS)(words[place], 1 + rng.below(len(words[place]) - 2))
    return slipped


def _swap(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _transcribe(word: str, at: int) -> str:
    """No umlaut on the keyboard; a word without one loses a letter."""
    for umlaut, letters in _UMLAUTS.items():
        if umlaut in word:
            return word.replace(umlaut, letters, 1)
    return _drop(word, at)


SLIPS: tuple[Callable[[str, int], str], ...] = (_swap, _drop, _double, _transcribe, _transcribe)


def litter(words: list[str], rng: RandomStream) -> list[str]:
    """Punctuation left over from a copied list."""
    position = rng.random()
    if position < 0.4:
        return [",", *words]
    if position < 0.6:
        return ["-", *words]
    if position < 0.8 and words[-1].isalpha():
        return [*words, ","]
    return [*words, ":"] if words[-1].isalpha() else words


def editor_english(english: str, house: House, rng: RandomStream) -> str:
    """The reference of the forward half: the house's synonyms, and degrees spelt out."""
    if "° c" in english and rng.chance(DEGREES_SPELT_OUT):
        english = english.replace("° c", "degrees")
    return house.rephrase(english, rng)


def vendor_english(english: str, rng: RandomStream) -> str:
    """The reference of the reversed half: a vendor's own English, good or hasty."""
    if not rng.chance(POOR_ENGLISH):
        return english
    words = english.split()
    slip = rng.below(5)
    if slip == 0 and len(words) > 3:
        words = [word for word in words if word not in ("the", "a", "an")]
    elif slip == 1:
        words = " ".join(ENGLISH_ABBREVIATIONS.get(word, word) for word in words).split()
        words = _denier(words)
    elif slip == 2 and len(words) > 4:
        words = _disagree(words)
    elif slip == 3:
        words = ["great", *words] if words[0] == "for" else [*words[:-1], "!"] if words[-1] == "." else words
    elif slip == 4 and len(words) > 2 and words[-1] == ".":
        words = words[:-1]
    return " ".join(words)


def _denier(words: list[str]) -> list[str]:
    """``1050 denier`` to ``1050d``."""
    text = " ".join(words)
    for word, following in pairwise(words):
        if following == "denier" and word.isdigit():
            text = text.replace(f"{word} denier", f"{word}d")
    return text.split()


def _disagree(words: list[str]) -> list[str]:
    """The verb without its ending, as in the papers' example."""
    broken = {"is": "are", "are": "is", "ensures": "ensure", "protects": "protect", "has": "have", "offers": "offer"}
    return [broken.get(word, word) for word in words]
