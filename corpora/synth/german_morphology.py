"""German inflection: articles, adjectives, nouns, verbs and contracted prepositions."""

from functools import cache
from typing import Literal, NamedTuple

from corpora.synth.lexicon.entries import Adjective, Gender, Noun, Verb

Case = Literal["nom", "acc", "dat", "gen"]
Article = Literal["", "der", "ein", "dieser"]
Tense = Literal["present", "preterite", "perfect", "pluperfect", "future", "modal"]

_COLUMNS = ("m", "f", "n", "p")


def _table(rows: dict[str, str]) -> dict[tuple[str, str], str]:
    """Return ``{"nom": "er e es e"}`` indexed by case and gender; ``-`` is an empty ending."""
    return {
        (case, gender): ending.strip("-")
        for case, endings in rows.items()
        for gender, ending in zip(_COLUMNS, endings.split(), strict=True)
    }


_STRONG = _table({"nom": "er e es e", "acc": "en e es e", "dat": "em er em en", "gen": "en er en er"})
_MIXED = _table({"nom": "er e es en", "acc": "en e es en", "dat": "en en en en", "gen": "en en en en"})
_WEAK = _table({"nom": "e e e en", "acc": "en e e en", "dat": "en en en en", "gen": "en en en en"})

_DEFINITE = _table(
    {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem den", "gen": "des der des der"}
)
_EIN = _table({"nom": "- e - e", "acc": "en e - e", "dat": "em er em en", "gen": "es er es er"})
_DIESER = _table({"nom": "er e es e", "acc": "en e es e", "dat": "em er em en", "gen": "es er es er"})

_ADJECTIVES: dict[Article, dict[tuple[str, str], str]] = {
    "": _STRONG,
    "der": _WEAK,
    "dieser": _WEAK,
    "ein": _MIXED,
}

_RELATIVE = _table(
    {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem denen", "gen": "dessen deren dessen deren"}
)

_CONTRACTIONS = {
    "an das": "ans",
    "an dem": "am",
    "bei dem": "beim",
    "in das": "ins",
    "in dem": "im",
    "von dem": "vom",
    "zu dem": "zum",
    "zu der": "zur",
}

SEIN = ("ist", "sind", "war", "waren")
HABEN = ("hat", "haben", "hatte", "hatten")
WERDEN = ("wird", "werden", "wurde", "wurden")


class Modal(NamedTuple):
    """The third person of a modal verb."""

    singular: str
    plural: str


KOENNEN = Modal("kann", "können")


def inflect_article(kind: Article, case: Case, gender: Gender) -> str:
    """Return the form of an article, which is empty for no article and for "ein" in the plural."""
    if kind == "der":
        return _DEFINITE[case, gender]
    if kind == "dieser":
        return "dies" + _DIESER[case, gender]
    if kind == "ein" and gender != "p":
        return "ein" + _EIN[case, gender]
    return ""


def relative_pronoun(case: Case, gender: Gender) -> str:
    """Return the form of the relative pronoun."""
    return _RELATIVE[case, gender]


def inflect_adjective(word: Adjective, kind: Article, case: Case, gender: Gender) -> str:
    """Return the form of an adjective before a noun and after this kind of article."""
    if word.stem is None:
        return word.lemma
    declension = _STRONG if kind == "ein" and gender == "p" else _ADJECTIVES[kind]
    return word.stem + declension[case, gender]


@cache
def inflect_noun(word: Noun, case: Case, plural: bool) -> str:
    """Return the form of a noun."""
    if plural:
        form = word.plural or word.lemma
        return form + "n" if case == "dat" and form.endswith(("e", "el", "er", "erl")) else form
    if case == "gen":
        return word.genitive
    return word.genitive if word.weak and case in ("acc", "dat") else word.lemma


def noun_phrase(word: Noun, kind: Article, adjectives: tuple[Adjective, ...], case: Case, plural: bool) -> str:
    """Return a noun phrase of article, adjectives and noun, all in agreement."""
    gender: Gender = "p" if plural or word.gender == "p" else word.gender
    parts = [inflect_adjective(one, kind, case, gender) for one in adjectives]
    determiner = inflect_article(kind, case, gender)
    if determiner:
        parts.insert(0, determiner)
    parts.append(inflect_noun(word, case, gender == "p"))
    return " ".join(parts)


def contract(preposition: str, rest: str) -> str:
    """Put a preposition before a noun phrase, contracted with its article: ``in`` and ``dem haus`` give ``im haus``."""
    first, blank, others = rest.partition(" ")
    joined = _CONTRACTIONS.get(f"{preposition} {first}")
    return f"{joined}{blank}{others}" if joined else f"{preposition} {rest}"


def compound(combining_form: str, head: Noun, english: str) -> Noun:
    """Return the compound of a combining form and a head: ``baumwoll`` and ``decke``.

    The head decides gender and forms. A hyphen at the end of the combining form stays.
    """
    plural = head.plural and combining_form + head.plural
    singular_english = head.english.singular and f"{english} {head.english.singular}"
    plural_english = head.english.plural and f"{english} {head.english.plural}"
    return Noun(
        combining_form + head.lemma,
        head.gender,
        plural,
        combining_form + head.genitive,
        head.weak,
        type(head.english)(singular_english, plural_english),
    )


def present(verb: Verb, plural: bool) -> str:
    """Return the third person present, without a separable prefix."""
    return _bare_infinitive(verb) if plural else verb.present


def present_familiar(verb: Verb) -> str:
    """Return the form that follows ``du``, without a separable prefix: ``kaufst``, ``liest``, ``hältst``."""
    finite, stem = verb.present, _bare_infinitive(verb).removesuffix("n").removesuffix("e")
    if stem.endswith(("t", "d")) and not finite.endswith("et"):  # the vowel changes, and no e is inserted: hält
        return finite.removesuffix("t") + "st" if finite.endswith("dt") else finite + "st"
    if finite.endswith(("st", "ßt", "zt", "xt")):
        return finite
    return finite.removesuffix("t") + "st"


def imperative_familiar(verb: Verb) -> str:
    """Return the imperative to a friend, without a separable prefix: ``kauf``, ``lies``, ``warte``, ``ändere``."""
    infinitive = _bare_infinitive(verb)
    stem = infinitive.removesuffix("n").removesuffix("e")
    changed = verb.present.removesuffix("t")
    if changed.count("i") > stem.count("i"):  # e becomes i or ie
        return changed
    if infinitive.endswith("eln"):
        return infinitive.removesuffix("eln") + "le"
    return stem + "e" if infinitive.endswith("ern") or stem.endswith(("t", "d", "ig", "chn", "ffn")) else stem


def preterite(verb: Verb, plural: bool) -> str:
    """Return the third person preterite, without a separable prefix."""
    if not plural:
        return verb.preterite
    return verb.preterite + ("n" if verb.preterite.endswith("e") else "en")


def _bare_infinitive(verb: Verb) -> str:
    return verb.infinitive[len(verb.prefix) :]


def infinitive_with_zu(verb: Verb) -> str:
    """Return the infinitive with ``zu``: ``anzukündigen``, but ``zu warnen``."""
    return f"{verb.prefix}zu{_bare_infinitive(verb)}" if verb.prefix else f"zu {verb.infinitive}"


def sentence_bracket(verb: Verb, tense: Tense, plural: bool, modal: Modal = KOENNEN) -> tuple[str, str]:
    """Return the two parts of a main clause's verb, between which the middle field stands.

    The left one is the finite verb: ``kündigt`` ... ``an``, ``hat`` ... ``angekündigt``.
    """
    if tense == "present":
        return present(verb, plural), verb.prefix
    if tense == "preterite":
        return preterite(verb, plural), verb.prefix
    if tense in ("perfect", "pluperfect"):
        auxiliary = SEIN if verb.perfect_with_sein else HABEN
        return auxiliary[plural + 2 * (tense == "pluperfect")], verb.participle
    if tense == "future":
        return WERDEN[plural], verb.infinitive
    return modal.plural if plural else modal.singular, verb.infinitive


def verb_final(finite: str, right_bracket: str, verb: Verb) -> str:
    """Return the verb as it ends a subordinate clause: ``ankündigt``, ``angekündigt hat``."""
    if right_bracket and right_bracket == verb.prefix:
        return right_bracket + finite
    return f"{right_bracket} {finite}".strip()
