"""Templates: German text with slots, the literal English, and how editors rewrite it.

A line of ``templates.txt`` or ``retail.txt`` is ``German | English | rewriting | ...``, and ends in ``; only=...`` or
``; except=...`` when it can be said of the products of some categories only. A slot is a simple one (``{value}``) or a
noun phrase (``{ein feature product:acc}``), which is inflected in agreement; English slots have no case. ``README.md``
in the lexicon describes the few slots of a category's own lines.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpora.synth import english_morphology, german_morphology
from corpora.synth.german_morphology import Article, Case
from corpora.synth.lexicon import notation
from corpora.synth.lexicon.entries import Adjective, Noun, Phrase, Scope
from corpora.synth.random_stream import RandomStream
from corpora.synth.records import DRAWS, Record, number

Segment = str | Callable[[Record], str]
HOME = Path(__file__).parent
SLOT = re.compile(r"\{([^{}]+)\}")

ARTICLES: dict[str, Article] = {"der": "der", "ein": "ein", "dieser": "dieser", "kein": "kein"}
ENGLISH_ARTICLES = frozenset({"a", "the", "this", "these", "no"})
ADJECTIVES = {"feature": "feature", "feature2": "feature2", "color": "color", "padj": "padj"}
NOUNS = {
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


ARTICLED = {"product": "singular", "head": "singular", "accessory": "single accessory"}
STRONGER = (
    ("feature2", "feature"),
    ("padj", "part"),
    ("measure", "value"),
    ("fit2", "fit"),
    ("single accessory", "accessory"),
    ("missed accessory", "accessory"),
)


EVERYWHERE = Scope()


class TemplateError(ValueError):
    """A template that cannot be understood."""


@dataclass(frozen=True, slots=True)
class Template:
    """German segments and one or more lists of English ones, literal first."""

    name: str
    german: tuple[Segment, ...]
    english: tuple[tuple[Segment, ...], ...]
    needs: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...] = ()  # (slot, range) of a category's own lines
    scope: Scope = EVERYWHERE  # categories of which it can be said

    def render_german(self, record: Record) -> str:
        return "".join(part if isinstance(part, str) else part(record) for part in self.german)

    def render_english(self, record: Record, variant: int) -> str:
        return "".join(part if isinstance(part, str) else part(record) for part in self.english[variant])

    def draw_numbers(self, record: Record, rng: RandomStream) -> None:
        for slot, range_ in self.numbers:
            record.numbers[slot] = number(notation.parse_number_range(range_), rng)


# ---------------------------------------------------------------------- slots


def _adjective(role: str) -> Callable[[Record], Adjective]:
    if role == "color":
        return lambda record: record.color  # type: ignore[return-value]
    if role == "padj":
        return lambda record: record.part_adjective  # type: ignore[return-value]
    return (lambda record: record.features[0]) if role == "feature" else (lambda record: record.features[1])


def _noun(role: str) -> Callable[[Record], tuple[Noun, bool]]:
    """The noun of a role, and whether it stands in the plural."""
    if role in ("product", "products"):
        return lambda record: (record.product, role == "products")
    if role in ("head", "heads"):
        return lambda record: (record.ware.head, role == "heads")
    if role == "part":
        return lambda record: (record.part.noun, record.part.in_plural)  # type: ignore[union-attr]
    if role in ("attribute", "measured"):
        return lambda record: (record.attribute.noun, False)  # type: ignore[union-attr]
    if role == "material":
        return lambda record: (record.material, False)  # type: ignore[return-value]
    return lambda record: (record.accessory, False)  # type: ignore[return-value]


def _german_noun(words: list[str], case: Case) -> Segment:
    kind: Article = ARTICLES[words.pop(0)] if words[0] in ARTICLES else ""
    role = words.pop()
    noun = _noun(role)
    adjectives = [_adjective(word) for word in words]

    def render(record: Record) -> str:
        word, plural = noun(record)
        article = "" if role == "part" and kind == "ein" and word.is_mass else kind
        return german_morphology.noun_phrase(word, article, tuple(one(record) for one in adjectives), case, plural)

    return render


def _english_noun(words: list[str]) -> Segment:
    article = words.pop(0) if words[0] in ENGLISH_ARTICLES else ""
    role = words.pop()
    noun = _noun(role)
    adjectives = [_adjective(word) for word in words]

    def render(record: Record) -> str:
        word, plural = noun(record)
        if role == "measured" and article == "a" and word.english.singular:  # "a capacity of 3 l", although a mass noun
            return f"{word.english.article or english_morphology.indefinite(word.english.singular)} {word.english.singular}"
        return english_morphology.noun_phrase(
            word.english, article, tuple(one(record).english for one in adjectives), plural
        )

    return render


def _action_main(record: Record) -> str:
    action = record.action
    assert action is not None
    return " ".join(part for part in (action.present, action.rest, action.prefix) if part)


def _action_plural(record: Record) -> str:
    action = record.action
    assert action is not None
    return " ".join(part for part in (action.infinitive[len(action.prefix) :], action.rest, action.prefix) if part)


def _action_subordinate(record: Record) -> str:
    action = record.action
    assert action is not None
    return f"{action.rest} {action.prefix}{action.present}"


def _action_plural_subordinate(record: Record) -> str:
    action = record.action
    assert action is not None
    return f"{action.rest} {action.infinitive}"


def _english_action(form: str) -> Callable[[Record], str]:
    def render(record: Record) -> str:
        action = record.action
        assert action is not None
        verb = action.english.third if form == "third" else action.english.base
        return f"{verb} {action.english_rest}".strip()

    return render


def _hyphenated(record: Record) -> str:
    value = record.value
    assert value is not None
    return f"{value.number}-{record.lexicon.units[value.unit].english_long}"


def _dative_german(record: Record) -> str:
    """``bei 12 monaten``; symbols have no case."""
    value = record.value
    assert value is not None
    return f"{value.german}n" if len(value.unit) > 3 and value.unit.endswith(("e", "er")) else value.german


def _long_german(record: Record) -> str:
    value = record.value
    assert value is not None
    unit = record.lexicon.units[value.unit]
    return f"{value.number} {unit.german_long or unit.german}"


PERSONAL = {"m": "er", "f": "sie", "n": "es", "p": "sie"}

# What a slot needs is drawn before its words are asked for, so what could be None by its type is there.
GERMAN: dict[str, tuple[str, Segment]] = {
    "value": ("value", lambda r: r.value.german),  # type: ignore[union-attr]
    "figure": ("figure", lambda r: r.value.german),  # type: ignore[union-attr]
    "measure": ("measure", lambda r: r.value.german),  # type: ignore[union-attr]
    "measure:dat": ("measure", _dative_german),
    "long": ("measure", _long_german),
    "use": ("use", lambda r: r.use.german),  # type: ignore[union-attr]
    "fit": ("fit", lambda r: r.use.german),  # type: ignore[union-attr]
    "fit2": ("fit2", lambda r: r.other_use.german),  # type: ignore[union-attr]
    "rel": ("singular", lambda r: german_morphology.relative_pronoun("nom", r.product.gender)),
    "personal": ("singular", lambda r: PERSONAL[r.product.gender]),
    "action": ("action", _action_main),
    "action:sub": ("action", _action_subordinate),
    "action:pl": ("action", _action_plural),
    "action:plsub": ("action", _action_plural_subordinate),
    "handling": ("handling", lambda r: r.handling.infinitive),  # type: ignore[union-attr]
    "handling:zu": ("handling", lambda r: german_morphology.infinitive_with_zu(r.handling)),  # type: ignore[arg-type]
    "colorword": ("color", lambda r: r.color.lemma),  # type: ignore[union-attr]
    "featureword": ("feature", lambda r: r.features[0].lemma),
    "feature2word": ("feature2", lambda r: r.features[1].lemma),
    "measured": ("measure", lambda r: r.attribute.noun.lemma),  # type: ignore[union-attr]
    "brand": ("brand", lambda r: r.brand),
    "code": ("code", lambda r: r.code),
    "count": ("count", lambda r: str(r.count)),
    "pack": ("pack", lambda r: str(r.count)),
    "size": ("size", lambda r: r.size),
    "category": ("", lambda r: r.ware.category.german),
}
ENGLISH: dict[str, tuple[str, Segment]] = {
    "value": ("value", lambda r: r.value.english),  # type: ignore[union-attr]
    "figure": ("figure", lambda r: r.value.english),  # type: ignore[union-attr]
    "measure": ("measure", lambda r: r.value.english),  # type: ignore[union-attr]
    "hyphenated": ("measure", _hyphenated),
    "use": ("use", lambda r: r.use.english),  # type: ignore[union-attr]
    "fit": ("fit", lambda r: r.use.english),  # type: ignore[union-attr]
    "fit2": ("fit2", lambda r: r.other_use.english),  # type: ignore[union-attr]
    "action": ("action", _english_action("third")),
    "action:base": ("action", _english_action("base")),
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
    "category": ("", lambda r: r.ware.category.english),
}


# ---------------------------------------------------------------------- reading


def _compile(text: str, simple: dict[str, tuple[str, Segment]], german: bool) -> tuple[tuple[Segment, ...], set[str]]:
    segments: list[Segment] = []
    needs: set[str] = set()
    end = 0
    for match in SLOT.finditer(text):
        segments.append(text[end : match.start()])
        end = match.end()
        written = match[1]
        if written in simple:
            need, segment = simple[written]
            needs.add(need)
        elif written.startswith("n:"):
            segment = _number_slot(written)
        else:
            body, _, case = written.partition(":")
            words = body.split()
            _check_words(words, written)
            needs.update([_need(words), *(ADJECTIVES[word] for word in words if word in ADJECTIVES)])
            segment = _german_noun(words, case or "nom") if german else _english_noun(words)  # type: ignore[arg-type]
        segments.append(segment)
    segments.append(text[end:])
    return tuple(segment for segment in segments if segment != ""), needs


def _need(words: list[str]) -> str:
    """With a German article in front, what it belongs to must be countable and have a singular."""
    return ARTICLED.get(words[-1], NOUNS[words[-1]]) if words[0] in ARTICLES else NOUNS[words[-1]]


def _check_words(words: list[str], written: str) -> None:
    leading = words[1:] if words[0] in ARTICLES or words[0] in ENGLISH_ARTICLES else words
    if not leading or leading[-1] not in NOUNS or any(word not in ADJECTIVES for word in leading[:-1]):
        raise TemplateError(f"unknown slot {{{written}}}")


def _number_slot(slot: str) -> Segment:
    return lambda record: record.numbers[slot]


def compile_template(name: str, german: str, renderings: list[str], scope: Scope = EVERYWHERE) -> Template:
    """Check and compile one template; every rendering may use only what the German mentions."""
    source, needs = _compile(german, GERMAN, True)
    targets = []
    for rendering in renderings:
        target, wanted = _compile(rendering, ENGLISH, False)
        missing = wanted - needs - {weak for strong, weak in STRONGER if strong in needs} - {"singular", "plural", ""}
        if missing:
            raise TemplateError(f"{rendering!r} mentions {', '.join(sorted(missing))}, the German does not")
        targets.append(target)
    _settle(needs)
    numbers = tuple((slot, slot[2:]) for slot in SLOT.findall(german) if slot.startswith("n:"))
    return Template(name, source, tuple(targets), tuple(need for need in DRAWS if need in needs), numbers, scope)


def _settle(needs: set[str]) -> None:
    """A stronger need includes the weaker one, which must not be drawn a second time."""
    for strong, weak in STRONGER:
        if strong in needs:
            needs.discard(weak)


def read(path: Path) -> list[tuple[str, Template]]:
    """(section, template) of every line of a file; the name of a template is its German text."""
    made = []
    section = ""
    for number_, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        line, _, limits = (part.strip() for part in raw.partition("#")[0].partition(" ; "))
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line:
            german, *renderings = [column.strip() for column in line.split("|")]
            if not renderings:
                raise TemplateError(f"{path.name}:{number_}: no English")
            try:
                made.append((section, compile_template(german, german, renderings, _scope(limits))))
            except TemplateError as error:
                raise TemplateError(f"{path.name}:{number_}: {error}") from None
    return made


def _scope(limits: str) -> Scope:
    kind, _, names = limits.partition("=")
    if kind not in ("", "only", "except"):
        raise TemplateError(f"unknown option {kind}")
    categories = frozenset(names.split(",")) - {""}
    return Scope(only=categories) if kind == "only" else Scope(excluded=categories)


def from_line(category: str, line: Phrase) -> Template:
    """A category's own line; its ``{color}`` is the uninflected word."""
    german, rendering = (side.replace("{color}", "{colorword}") for side in (line.german, line.english))
    return compile_template(f"{category}: {line.german}", german, [rendering])
