"""The in-domain side: one line of a product page, with its reference and another reference that could have been."""

import re
from collections import defaultdict
from typing import NamedTuple

from corpora.synth import postedit
from corpora.synth.lexicon.entries import GeneratorLexicon, Scope
from corpora.synth.postedit import House
from corpora.synth.random_stream import RandomStream, Weighted, stable_fraction
from corpora.synth.records import Record, UnavailableError, draw
from corpora.synth.templates import HOME, Template, from_line, read
from corpora.synth.usage import contradicts, stutters
from corpora.synth.wares import Phase, Stock, belongs

MAX_TOKENS = 25
REVERSED = 0.5
DEV_LINES = 0.15  # share of all possible lines that only dev and mock serve
SHARED_LINES = 0.03
ALTERNATIVES = 0.3  # share of lines for which another reference is prepared
NUMERAL = re.compile(r"(?<!\S)\d+(?:[.,]\d+)*(?!\S)")  # a whole token

# lengths of the German text in tokens, and how many lines have them: two humps, as in the task (card A4).
# Part numbers never run out while other short lines repeat, so those with one are counted apart ("c").
LENGTHS = {
    "s": range(1, 4),
    "c": range(1, 5),
    "m": range(4, 7),
    "k": range(7, 9),
    "l": range(9, 14),
    "x": range(14, MAX_TOKENS + 1),
}
SHARES = {"s": 0.38, "c": 0.055, "m": 0.04, "k": 0.178, "l": 0.286, "x": 0.061}
OFFERED = SHARES | {"s": 0.55}  # many short lines are repeats, which the mixture will refuse
OWN_LINES = {"s": 0.1, "c": 0.0, "m": 0.35, "k": 0.25, "l": 0.06, "x": 0.03}  # share of the category's own lines
# templates that come more or less often than others
WEIGHTS = {"": 1.0, "boilerplate": 0.3, "copied": 1.6, "frequent": 2.5}


def count_numerals(text: str) -> int:
    return len(NUMERAL.findall(text))


def is_served(german: str, phase: Phase) -> bool:
    """Whether a line can occur in a phase: the services share little beyond what recurs by nature."""
    position = stable_fraction("served", german)
    return position < DEV_LINES + SHARED_LINES if phase != "training" else position >= DEV_LINES


class Line(NamedTuple):
    """A pair, another English for the same German if there is one, and the length class."""

    german: str
    english: str
    alternative: str
    size: str


class Draft(NamedTuple):
    """A line before editing: what a system could know at best."""

    template: Template
    record: Record
    house: House
    size: str
    german: str

    def english(self, is_reversed: bool, rng: RandomStream) -> str:
        """One of the references this line can have."""
        variants = len(self.template.english)
        if is_reversed:
            variant = 0 if rng.chance(0.7) else rng.below(variants)
            return postedit.vendor_english(self.template.render_english(self.record, variant), rng)
        variant = self.house.variant(self.template.name, variants, rng)
        return postedit.editor_english(self.template.render_english(self.record, variant), self.house, rng)


class Shop:
    """The shop as one phase sees it."""

    def __init__(self, lexicon: GeneratorLexicon, phase: Phase) -> None:
        self._stock = Stock(lexicon, phase)
        self._sizes = Weighted(OFFERED.items())
        self._houses = {category.identifier: House.of(category.identifier) for category in lexicon.categories}
        shared: dict[str, list[tuple[Template, float]]] = defaultdict(list)
        for section, template in read(HOME / "templates.txt"):
            size, _, kind = section.partition(" ")
            if belongs(phase, "template", template.name):
                shared[size].append((template, WEIGHTS[kind]))
        self._templates = {size: Weighted(templates) for size, templates in shared.items()}
        self._lines: dict[tuple[str, str], list[tuple[Scope, Template]]] = defaultdict(list)
        for category in lexicon.categories:
            for line in category.lines:
                if belongs(phase, category.identifier, line.german):
                    size = next(name for name, lengths in LENGTHS.items() if len(line.german.split()) in lengths)
                    template = from_line(category.identifier, line)
                    self._lines[category.identifier, size].append((line.scope, template))

    def draft(self, rng: RandomStream) -> Draft:
        size = rng.weighted_choice(self._sizes)
        while True:
            ware = rng.weighted_choice(self._stock.wares)
            category = ware.category.identifier
            own = self._lines.get((category, size))
            if own and rng.chance(OWN_LINES[size]):
                scope, template = rng.choice(own)
                if not scope.admits(ware.head.lemma):
                    continue
            else:
                template = rng.weighted_choice(self._templates[size])
                if not template.scope.admits(category):
                    continue
            try:
                record = draw(ware, self._stock.lexicon, template.needs, rng)
            except UnavailableError:
                continue
            template.draw_numbers(record, rng)
            german = template.render_german(record)
            if german.count(" ") + 1 in LENGTHS[size] and self._may_serve(german, record):
                return Draft(template, record, self._houses[category], size, german)

    def _may_serve(self, german: str, record: Record) -> bool:
        """Whether the line belongs to the phase and says nothing twice and no nonsense."""
        if not is_served(german, self._stock.phase) or count_numerals(german) > 1:
            return False
        return not (contradicts(german) or stutters(german) or record.stutters(german))

    def line(self, rng: RandomStream) -> Line:
        while True:
            draft = self.draft(rng)
            is_reversed = rng.chance(REVERSED)
            german = draft.german if is_reversed else postedit.vendor_german(draft.german, draft.record.brand, rng)
            english = draft.english(is_reversed, rng)
            other = draft.english(is_reversed, rng) if rng.chance(ALTERNATIVES) else english
            if all(len(text.split()) <= MAX_TOKENS for text in (german, english, other)):
                return Line(german, english, other if other != english else "", draft.size)
