"""Slots of templates: how each is filled from a product record and inflected.

A slot is a single word (``{value}``) or a noun phrase (``{ein feature product:acc}``).
"""

from collections.abc import Callable

from corpora.synth import english_morphology, german_morphology
from corpora.synth.clauses import join_words
from corpora.synth.german_morphology import Article, Case
from corpora.synth.lexicon.entries import Adjective, Noun
from corpora.synth.product_records import ProductRecord

Segment = str | Callable[[ProductRecord], str]  # of a template: plain text, or a slot

GERMAN_ARTICLES: dict[str, Article] = {"der": "der", "ein": "ein", "dieser": "dieser"}
ENGLISH_ARTICLES = frozenset({"a", "the", "this"})
ADJECTIVE_ROLES = frozenset({"feature", "feature2", "color", "padj"})
NOUN_REQUIREMENTS = {  # what each noun of a phrase requires of the record
    "product": "",
    "products": "plural",
    "head": "",
    "heads": "heads",
    "part": "part",
    "material": "material",
    "attribute": "value",
    "accessory": "accessory",
    "missed": "missed accessory",
    "measured": "measure",
}
# with a German article, these must be countable and have a singular
ARTICLE_REQUIREMENTS = {"product": "singular", "head": "singular", "accessory": "single accessory"}


def is_noun_phrase(words: list[str]) -> bool:
    """Return whether the words of a slot are an optional article, adjectives and a noun."""
    phrase = words[1:] if words[0] in GERMAN_ARTICLES or words[0] in ENGLISH_ARTICLES else words
    return bool(phrase) and phrase[-1] in NOUN_REQUIREMENTS and all(word in ADJECTIVE_ROLES for word in phrase[:-1])


def noun_phrase_requirements(words: list[str]) -> set[str]:
    """Return what the noun and the adjectives of a slot require of the record."""
    noun = NOUN_REQUIREMENTS[words[-1]]
    if words[0] in GERMAN_ARTICLES:
        noun = ARTICLE_REQUIREMENTS.get(words[-1], noun)
    return {noun, *(word for word in words if word in ADJECTIVE_ROLES)}


def _adjective(role: str) -> Callable[[ProductRecord], Adjective]:
    """Return how to find the adjective of a role in a record."""
    if role == "color":
        return lambda record: record.color  # type: ignore[return-value]
    if role == "padj":
        return lambda record: record.part_adjective  # type: ignore[return-value]
    return (lambda record: record.features[0]) if role == "feature" else (lambda record: record.features[1])


def _noun(role: str) -> Callable[[ProductRecord], tuple[Noun, bool]]:
    """Return how to find the noun of a role in a record, and whether it is in the plural."""
    if role in ("product", "products"):
        return lambda record: (record.product, role == "products")
    if role in ("head", "heads"):
        return lambda record: (record.product_type.head, role == "heads")
    if role == "part":
        return lambda record: (record.part.noun, record.part.in_plural)  # type: ignore[union-attr]
    if role in ("attribute", "measured"):
        return lambda record: (record.attribute.noun, False)  # type: ignore[union-attr]
    if role == "material":
        return lambda record: (record.material, False)  # type: ignore[return-value]
    return lambda record: (record.accessory, False)  # type: ignore[return-value]


def german_noun_phrase(words: list[str], case: Case) -> Segment:
    """Return the segment of a slot such as ``{ein feature product:acc}``."""
    kind: Article = GERMAN_ARTICLES.get(words[0], "")
    role = words[-1]
    noun = _noun(role)
    adjectives = [_adjective(word) for word in words if word in ADJECTIVE_ROLES]

    def render(record: ProductRecord) -> str:
        word, plural = noun(record)
        article = "" if role == "part" and kind == "ein" and word.is_mass else kind
        return german_morphology.noun_phrase(
            word, article, tuple(adjective(record) for adjective in adjectives), case, plural
        )

    return render


def english_noun_phrase(words: list[str]) -> Segment:
    """Return the segment of a slot such as ``{a feature product}``."""
    article = words[0] if words[0] in ENGLISH_ARTICLES else ""
    role = words[-1]
    noun = _noun(role)
    adjectives = [_adjective(word) for word in words if word in ADJECTIVE_ROLES]

    def render(record: ProductRecord) -> str:
        word, plural = noun(record)
        singular = word.english.singular
        if role == "measured" and article == "a" and singular:  # "a capacity of 3 l", although it is a mass noun
            return f"{word.english.article or english_morphology.indefinite(singular)} {singular}"
        words = tuple(adjective(record).english for adjective in adjectives)
        return english_morphology.noun_phrase(word.english, article, words, plural)

    return render


def _german_action(*, plural: bool, subordinate: bool) -> Segment:
    """Return an action in German: ``passt sich dem körper an``, subordinate ``sich dem körper anpasst``."""

    def render(record: ProductRecord) -> str:
        action = record.action
        assert action is not None
        verb = action.infinitive.removeprefix(action.prefix) if plural else action.present
        if subordinate:
            return f"{action.rest} {action.prefix}{verb}"
        return join_words(verb, action.rest, action.prefix)

    return render


def _english_action(*, plural: bool) -> Segment:
    def render(record: ProductRecord) -> str:
        action = record.action
        assert action is not None
        verb = action.english.base if plural else action.english.third
        return f"{verb} {action.english_rest}".strip()

    return render


def _hyphenated(record: ProductRecord) -> str:
    """Return a measure as an English modifier: ``32-ounce``."""
    value = record.value
    assert value is not None
    return f"{value.number}-{record.lexicon.units[value.unit].english_long}"


def _dative_german(record: ProductRecord) -> str:
    """Return a measure in the German dative: ``12 monaten``, but ``300 g``, since symbols have no case."""
    value = record.value
    assert value is not None
    return f"{value.german}n" if len(value.unit) > 3 and value.unit.endswith(("e", "er")) else value.german


def _long_german(record: ProductRecord) -> str:
    """Return a measure with the German unit spelt out: ``300 gramm``."""
    value = record.value
    assert value is not None
    unit = record.lexicon.units[value.unit]
    return f"{value.number} {unit.german_long or unit.german}"


PERSONAL_PRONOUNS = {"m": "er", "f": "sie", "n": "es", "p": "sie"}

# The slots of one word each, with the requirement that fills them. A record meets the requirements of its template, so
# that fields which can be None are set when a slot is rendered.
GERMAN_SLOTS: dict[str, tuple[str, Segment]] = {
    "value": ("value", lambda r: r.value.german),  # type: ignore[union-attr]
    "figure": ("figure", lambda r: r.value.german),  # type: ignore[union-attr]
    "measure": ("measure", lambda r: r.value.german),  # type: ignore[union-attr]
    "measure:dat": ("measure", _dative_german),
    "long": ("measure", _long_german),
    "use": ("use", lambda r: r.use.german),  # type: ignore[union-attr]
    "fit": ("fit", lambda r: r.use.german),  # type: ignore[union-attr]
    "fit2": ("fit2", lambda r: r.other_use.german),  # type: ignore[union-attr]
    "rel": ("singular", lambda r: german_morphology.relative_pronoun("nom", r.product.gender)),
    "personal": ("singular", lambda r: PERSONAL_PRONOUNS[r.product.gender]),
    "action": ("action", _german_action(plural=False, subordinate=False)),
    "action:sub": ("action", _german_action(plural=False, subordinate=True)),
    "action:pl": ("action", _german_action(plural=True, subordinate=False)),
    "action:plsub": ("action", _german_action(plural=True, subordinate=True)),
    "handling": ("handling", lambda r: r.handling.infinitive),  # type: ignore[union-attr]
    "colorword": ("color", lambda r: r.color.lemma),  # type: ignore[union-attr]
    "featureword": ("feature", lambda r: r.features[0].lemma),
    "feature2word": ("feature2", lambda r: r.features[1].lemma),
    "measured": ("measure", lambda r: r.attribute.noun.lemma),  # type: ignore[union-attr]
    "brand": ("brand", lambda r: r.brand),
    "code": ("code", lambda r: r.code),
    "count": ("count", lambda r: str(r.count)),
    "pack": ("pack", lambda r: str(r.count)),
    "size": ("size", lambda r: r.size),
}
ENGLISH_SLOTS: dict[str, tuple[str, Segment]] = {
    "value": ("value", lambda r: r.value.english),  # type: ignore[union-attr]
    "figure": ("figure", lambda r: r.value.english),  # type: ignore[union-attr]
    "measure": ("measure", lambda r: r.value.english),  # type: ignore[union-attr]
    "hyphenated": ("measure", _hyphenated),
    "use": ("use", lambda r: r.use.english),  # type: ignore[union-attr]
    "fit": ("fit", lambda r: r.use.english),  # type: ignore[union-attr]
    "fit2": ("fit2", lambda r: r.other_use.english),  # type: ignore[union-attr]
    "action": ("action", _english_action(plural=False)),
    "action:base": ("action", _english_action(plural=True)),
    "handling": ("handling", lambda r: r.handling.english.base),  # type: ignore[union-attr]
    "colorword": ("color", lambda r: r.color.english),  # type: ignore[union-attr]
    "featureword": ("feature", lambda r: r.features[0].english),
    "feature2word": ("feature2", lambda r: r.features[1].english),
    "measured": ("measure", lambda r: english_morphology.noun_form(r.attribute.noun.english, False)),  # type: ignore[union-attr]
    "brand": ("brand", lambda r: r.brand),
    "code": ("code", lambda r: r.code),
    "count": ("count", lambda r: str(r.count)),
    "pack": ("pack", lambda r: str(r.count)),
    "size": ("size", lambda r: r.size),
}
