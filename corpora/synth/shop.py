"""The in-domain side: lines of product pages with their references."""

import re
from collections import defaultdict
from typing import NamedTuple

from corpora.synth import post_editing
from corpora.synth.lexicon.entries import GeneratorLexicon, Scope
from corpora.synth.plausibility import is_contradictory, repeats_template_word
from corpora.synth.post_editing import HouseStyle
from corpora.synth.product_records import ProductRecord, UnfillableSlotError, sample_record
from corpora.synth.products import Assortment, Subcorpus, occurs_in
from corpora.synth.random_stream import RandomStream, Weighted, stable_fraction
from corpora.synth.templates import TEMPLATE_DIRECTORY, TextTemplate, from_category_line, read_templates

MAX_TOKENS = 25
REVERSED_SHARE = 0.5  # of lines that were post-edited from English into German
DEV_LINE_SHARE = 0.15  # of all possible lines: they occur in dev and mock only
SHARED_LINE_SHARE = 0.03  # of all possible lines: they occur in every phase
ALTERNATIVE_SHARE = 0.3  # of lines for which a second reference is prepared
NUMERAL = re.compile(r"(?<!\S)\d+(?:[.,]\d+)*(?!\S)")  # a whole token

# Classes of lengths of the German text in tokens. Their shares give the mean, median and standard deviation of Sokolov
# et al. 2017, Table 2, with two modes. Lines with a part number are a class of their own ("c"): part numbers never run
# out, while other short lines repeat.
LENGTH_CLASSES = {
    "s": range(1, 4),
    "c": range(1, 5),
    "m": range(4, 7),
    "k": range(7, 9),
    "l": range(9, 14),
    "x": range(14, MAX_TOKENS + 1),
}
LENGTH_SHARES = {"s": 0.38, "c": 0.055, "m": 0.04, "k": 0.178, "l": 0.286, "x": 0.061}
CANDIDATE_SHARES = LENGTH_SHARES | {"s": 0.55}  # many short lines are repeats, which the resampler refuses
CATEGORY_LINE_SHARES = {"s": 0.1, "c": 0.0, "m": 0.35, "k": 0.25, "l": 0.06, "x": 0.03}  # the rest is from templates
TEMPLATE_WEIGHTS = {"": 1.0, "boilerplate": 0.3, "copied": 1.6, "frequent": 2.5}  # by the section of templates.txt


def count_numerals(text: str) -> int:
    """Return the number of tokens that are numerals."""
    return len(NUMERAL.findall(text))


def is_line_of(german: str, subcorpus: Subcorpus) -> bool:
    """Return whether a line can occur in a phase: dev and training share few lines."""
    position = stable_fraction("served", german)
    return position < DEV_LINE_SHARE + SHARED_LINE_SHARE if subcorpus != "training" else position >= DEV_LINE_SHARE


class ProductLine(NamedTuple):
    """A pair with its length class, and a second reference for the same German, if there is one."""

    german: str
    english: str
    alternative: str
    length_class: str
    category: str = ""  # of the product that the line is about


class Draft(NamedTuple):
    """A line before vendors and editors change it: the most that a system could know."""

    template: TextTemplate
    record: ProductRecord
    style: HouseStyle
    length_class: str
    german: str
    category: str

    def english(self, is_reversed: bool, rng: RandomStream) -> str:
        """Return one of the references that this line can have."""
        variants = len(self.template.english)
        if is_reversed:
            variant = 0 if rng.chance(0.7) else rng.below(variants)
            return post_editing.vendor_english(self.template.render_english(self.record, variant), rng)
        variant = self.style.variant(self.template.name, variants, rng)
        return post_editing.editor_english(self.template.render_english(self.record, variant), self.style, rng)


class Shop:
    """Generates the lines of one phase."""

    def __init__(self, lexicon: GeneratorLexicon, subcorpus: Subcorpus) -> None:
        self._assortment = Assortment(lexicon, subcorpus)
        self._length_classes = Weighted(CANDIDATE_SHARES.items())
        self._house_styles = {
            category.identifier: HouseStyle.of(category.identifier) for category in lexicon.categories
        }
        shared: dict[str, list[tuple[TextTemplate, float]]] = defaultdict(list)
        for section, template in read_templates(TEMPLATE_DIRECTORY / "templates.txt"):
            length_class, _, kind = section.partition(" ")
            if occurs_in(subcorpus, "template", template.name):
                shared[length_class].append((template, TEMPLATE_WEIGHTS[kind]))
        self._templates = {length_class: Weighted(templates) for length_class, templates in shared.items()}
        self._lines: dict[tuple[str, str], list[tuple[Scope, TextTemplate]]] = defaultdict(list)
        for category in lexicon.categories:
            for line in category.lines:
                if occurs_in(subcorpus, category.identifier, line.german):
                    length_class = next(
                        name for name, lengths in LENGTH_CLASSES.items() if len(line.german.split()) in lengths
                    )
                    template = from_category_line(category.identifier, line)
                    self._lines[category.identifier, length_class].append((line.scope, template))

    def draft(self, rng: RandomStream) -> Draft:
        """Return a plausible line of a random product, from a template or from the lines of its category."""
        length_class = rng.weighted_choice(self._length_classes)
        while True:
            product_type = rng.weighted_choice(self._assortment.product_types)
            category = product_type.category.identifier
            own = self._lines.get((category, length_class))
            if own and rng.chance(CATEGORY_LINE_SHARES[length_class]):
                scope, template = rng.choice(own)
                if not scope.admits(product_type.head.lemma):
                    continue
            else:
                template = rng.weighted_choice(self._templates[length_class])
                if not template.scope.admits(category):
                    continue
            try:
                record = sample_record(product_type, self._assortment.lexicon, template.requirements, rng)
            except UnfillableSlotError:
                continue
            template.fill_numbers(record, rng)
            german = template.render_german(record)
            if german.count(" ") + 1 in LENGTH_CLASSES[length_class] and self._is_acceptable(german, record):
                return Draft(template, record, self._house_styles[category], length_class, german, category)

    def _is_acceptable(self, german: str, record: ProductRecord) -> bool:
        """Return whether the line belongs to the phase, and is neither redundant nor contradictory."""
        if not is_line_of(german, self._assortment.subcorpus) or count_numerals(german) > 1:
            return False
        return not (is_contradictory(german) or repeats_template_word(german) or record.repeats_adjective(german))

    def line(self, rng: RandomStream) -> ProductLine:
        """Return a line as vendors and editors wrote it."""
        while True:
            draft = self.draft(rng)
            is_reversed = rng.chance(REVERSED_SHARE)
            german = draft.german if is_reversed else post_editing.vendor_german(draft.german, draft.record.brand, rng)
            english = draft.english(is_reversed, rng)
            other = draft.english(is_reversed, rng) if rng.chance(ALTERNATIVE_SHARE) else english
            if all(len(text.split()) <= MAX_TOKENS for text in (german, english, other)):
                alternative = other if other != english else ""
                return ProductLine(german, english, alternative, draft.length_class, draft.category)
