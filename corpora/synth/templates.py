"""Templates: German text with slots, the literal English translation, and how editors rewrite it.

A line of ``templates.txt`` or ``retail.txt`` is ``German | English | rewriting | ...``. It ends in ``; only=...`` or
``; except=...`` if it fits only the products of some categories. ``slots.py`` has the slots; those of a noun phrase are
inflected in agreement, and the German ones name their case. The lexicon's ``README.md`` describes the few slots that
the lines of a category can have.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from corpora.synth.lexicon import notation
from corpora.synth.lexicon.entries import Phrase, Scope
from corpora.synth.product_records import SLOT_FILLERS, ProductRecord, sample_number
from corpora.synth.random_stream import RandomStream
from corpora.synth.slots import (
    ENGLISH_SLOTS,
    GERMAN_SLOTS,
    Segment,
    english_noun_phrase,
    german_noun_phrase,
    is_noun_phrase,
    noun_phrase_requirements,
)

TEMPLATE_DIRECTORY = Path(__file__).parent
SLOT = re.compile(r"\{([^{}]+)\}")
EVERYWHERE = Scope()
# a record that meets the first requirement of a pair meets the second as well
STRONGER_REQUIREMENTS = (
    ("feature2", "feature"),
    ("padj", "part"),
    ("measure", "value"),
    ("fit2", "fit"),
    ("single accessory", "accessory"),
    ("missed accessory", "accessory"),
)


class TextTemplateError(ValueError):
    """A template does not follow the notation."""


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """The segments of a German text and of one or more English ones, of which the first is the literal translation."""

    name: str
    german: tuple[Segment, ...]
    english: tuple[tuple[Segment, ...], ...]
    requirements: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...] = ()  # slot and range, in the lines of a category
    scope: Scope = EVERYWHERE  # the categories that it fits

    def render_german(self, record: ProductRecord) -> str:
        """Return the German text about a product."""
        return "".join(part if isinstance(part, str) else part(record) for part in self.german)

    def render_english(self, record: ProductRecord, variant: int) -> str:
        """Return an English text about a product; variant 0 is the literal translation."""
        return "".join(part if isinstance(part, str) else part(record) for part in self.english[variant])

    def fill_numbers(self, record: ProductRecord, rng: RandomStream) -> None:
        """Sample the numbers that the text has slots for into the record."""
        for slot, range_ in self.numbers:
            record.numbers[slot] = sample_number(notation.parse_number_range(range_), rng)


def _compile(text: str, simple: dict[str, tuple[str, Segment]], german: bool) -> tuple[tuple[Segment, ...], set[str]]:
    """Return the segments of a text, and what they require of the record."""
    segments: list[Segment] = []
    requirements: set[str] = set()
    end = 0
    for match in SLOT.finditer(text):
        segments.append(text[end : match.start()])
        end = match.end()
        written = match[1]
        if written in simple:
            requirement, segment = simple[written]
            requirements.add(requirement)
        elif written.startswith("n:"):
            segment = _line_numberslot(written)
        else:
            body, _, case = written.partition(":")
            words = body.split()
            if not is_noun_phrase(words):
                raise TextTemplateError(f"unknown slot {{{written}}}")
            requirements |= noun_phrase_requirements(words)
            segment = german_noun_phrase(words, case or "nom") if german else english_noun_phrase(words)  # type: ignore[arg-type]
        segments.append(segment)
    segments.append(text[end:])
    return tuple(segment for segment in segments if segment != ""), requirements


def _line_numberslot(slot: str) -> Segment:
    return lambda record: record.numbers[slot]


def compile_template(name: str, german: str, renderings: list[str], scope: Scope = EVERYWHERE) -> TextTemplate:
    """Compile one template. Its English may name only what its German names, else TextTemplateError is raised."""
    source, requirements = _compile(german, GERMAN_SLOTS, True)
    targets = []
    for rendering in renderings:
        target, wanted = _compile(rendering, ENGLISH_SLOTS, False)
        implied = {weaker for stronger, weaker in STRONGER_REQUIREMENTS if stronger in requirements}
        missing = wanted - requirements - implied - {"singular", "plural", ""}
        if missing:
            raise TextTemplateError(f"{rendering!r} names {', '.join(sorted(missing))}, but the German does not")
        targets.append(target)
    for stronger, weaker in STRONGER_REQUIREMENTS:
        if stronger in requirements:
            requirements.discard(weaker)  # else it would be sampled a second time
    return TextTemplate(
        name=name,
        german=source,
        english=tuple(targets),
        requirements=tuple(requirement for requirement in SLOT_FILLERS if requirement in requirements),
        numbers=tuple((slot, slot[2:]) for slot in SLOT.findall(german) if slot.startswith("n:")),
        scope=scope,
    )


def read_templates(path: Path) -> list[tuple[str, TextTemplate]]:
    """Return the section and the template of every line of a file. A template is named by its German text."""
    templates = []
    section = ""
    for line_number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        line, _, limits = (part.strip() for part in raw.partition("#")[0].partition(" ; "))
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line:
            german, *renderings = [column.strip() for column in line.split("|")]
            if not renderings:
                raise TextTemplateError(f"{path.name}:{line_number}: has no English text")
            try:
                templates.append((section, compile_template(german, german, renderings, _scope(limits))))
            except TextTemplateError as error:
                raise TextTemplateError(f"{path.name}:{line_number}: {error}") from None
    return templates


def _scope(limits: str) -> Scope:
    kind, _, names = limits.partition("=")
    if kind not in ("", "only", "except"):
        raise TextTemplateError(f"unknown option {kind}, should be only or except")
    categories = frozenset(names.split(",")) - {""}
    return Scope(only=categories) if kind == "only" else Scope(excluded=categories)


def from_category_line(category: str, line: Phrase) -> TextTemplate:
    """Return the template of a line of a category. Its ``{color}`` is the uninflected word."""
    german, rendering = (side.replace("{color}", "{colorword}") for side in (line.german, line.english))
    return compile_template(f"{category}: {line.german}", german, [rendering])
