"""Training examples that teach copying: a token that both sides have becomes an unknown token or a made-up name.

Shops and news are full of names and numbers that no training text has. A model that sees other ones in each epoch
learns to copy, not to remember names.
"""

import string

import numpy as np

from learners.nmt.batches import Pair

MASK = "\ufffc"  # the object replacement character: no text has it, so that every vocabulary takes it as unknown
PUNCTUATION = frozenset(string.punctuation)  # is the same on both sides, but not a name
LETTERS, DIGITS = string.ascii_lowercase, string.digits
PART_NUMBER_SHARE = 0.3  # of made-up names: those of letters and digits


def mask_or_rename(pair: Pair, rng: np.random.Generator, mask_share: float, rename_share: float) -> Pair:
    """With these probabilities, replace a token that both sides have by an unknown token or by a made-up name."""
    position = rng.random()
    if position >= mask_share + rename_share:
        return pair
    shared = sorted({*pair[0].split()} & {*pair[1].split()} - PUNCTUATION)
    if not shared:
        return pair
    token = shared[rng.integers(len(shared))]
    replacement = MASK if position < mask_share else _made_up_name(token, rng)
    return _replace_word(pair[0], token, replacement), _replace_word(pair[1], token, replacement)


def _made_up_name(token: str, rng: np.random.Generator) -> str:
    """Return another number with as many digits for a token with digits, and a random name for any other token."""
    if any(character.isdigit() for character in token):
        return "".join(DIGITS[rng.integers(10)] if character.isdigit() else character for character in token)
    name = "".join(LETTERS[place] for place in rng.integers(len(LETTERS), size=rng.integers(3, 9)))
    number = "".join(DIGITS[place] for place in rng.integers(10, size=rng.integers(5)))
    return f"{name[:2]}{number}" if rng.random() < PART_NUMBER_SHARE else name


def _replace_word(text: str, word: str, replacement: str) -> str:
    return " ".join(replacement if other == word else other for other in text.split())
