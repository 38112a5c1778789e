"""Newspaper sentences about products, so that the out-of-domain side has most of the shop's words.

A system that is trained on the news thus knows most words of the shop, and some of its compounds, before the task
begins.
"""

from corpora.synth.clause_builder import ClauseBuilder
from corpora.synth.lexicon.entries import GeneratorLexicon, Phrase
from corpora.synth.product_records import UnfillableSlotError, sample_record
from corpora.synth.products import Assortment, appears_in_news
from corpora.synth.random_stream import RandomStream
from corpora.synth.templates import TEMPLATE_DIRECTORY, TextTemplate, from_category_line, read_templates

QUOTATION_INTRODUCTIONS = (
    ("auf der verpackung steht :", "the packaging says :"),
    ("in der anzeige heißt es :", "the advertisement says :"),
    ("der hersteller wirbt mit dem satz :", "the manufacturer advertises with the sentence :"),
    ("in der anleitung ist zu lesen :", "the instructions read :"),
)


COORDINATORS = ((", und", ", and"), (";", ";"), (", aber", ", but"))


class RetailNews:
    """Generates sentences about products, in the words that a newspaper uses for them."""

    frequency = 0.3  # share of the newspaper's sentences

    def __init__(self, lexicon: GeneratorLexicon) -> None:
        self._assortment = Assortment(lexicon, "news")
        self._clauses = [template for _, template in read_templates(TEMPLATE_DIRECTORY / "retail.txt")]
        self._lines = [
            from_category_line(category.identifier, line)
            for category in lexicon.categories
            for line in category.lines
            if "{" not in line.german and appears_in_news(line.german, False)
        ]

    def sentence(self, builder: ClauseBuilder, target: int) -> Phrase:
        """Return a sentence about a product, extended by further clauses to about ``target`` tokens."""
        rng = builder.rng
        if self._lines and rng.chance(0.12):
            return self._quotation(rng, builder)
        body = self._clause(rng, builder)
        if target - len(body.german.split()) >= 8:
            body = self._extend(body, builder, target - len(body.german.split()) - 2)
        return Phrase(f"{body.german} .", f"{body.english} .")

    @staticmethod
    def _extend(body: Phrase, builder: ClauseBuilder, budget: int) -> Phrase:
        position = builder.rng.random()
        if position < 0.35:
            more = builder.clause(budget).subordinate("während", "while")
            return Phrase(f"{body.german} , {more.german}", f"{body.english} , {more.english}")
        if position < 0.5:
            speaker = builder.named_person()
            return Phrase(f"{body.german} , sagte {speaker.german}", f"{body.english} , {speaker.english} said")
        german, english = builder.rng.choice(COORDINATORS)
        more = builder.clause(budget).main()
        return Phrase(f"{body.german} {german} {more.german}", f"{body.english} {english} {more.english}")

    def _clause(self, rng: RandomStream, builder: ClauseBuilder) -> Phrase:
        while True:
            try:
                phrase = self._render(rng.choice(self._clauses), rng)
            except UnfillableSlotError:
                continue
            if self._admit_numeral(phrase.german, builder):
                return phrase

    @staticmethod
    def _admit_numeral(german: str, builder: ClauseBuilder) -> bool:
        """Return whether the line stays within one numeral with this text, and record the numeral."""
        numeral = any(word[0].isdigit() for word in german.split())
        if numeral and not builder.numeral_allowed:
            return False
        builder.numeral_allowed = builder.numeral_allowed and not numeral
        return True

    def _render(self, template: TextTemplate, rng: RandomStream) -> Phrase:
        product_type = rng.weighted_choice(self._assortment.product_types)
        if not template.scope.admits(product_type.category.identifier):
            raise UnfillableSlotError
        record = sample_record(product_type, self._assortment.lexicon, template.requirements, rng)
        german = template.render_german(record)
        if record.repeats_adjective(german):
            raise UnfillableSlotError
        return Phrase(german, template.render_english(record, 0))

    def _quotation(self, rng: RandomStream, builder: ClauseBuilder) -> Phrase:
        """Return a sentence that quotes a line of the shop."""
        german, english = rng.choice(QUOTATION_INTRODUCTIONS)
        line = rng.choice(self._lines)
        while not self._admit_numeral(line.name, builder):
            line = rng.choice(self._lines)
        record = sample_record(
            rng.weighted_choice(self._assortment.product_types), self._assortment.lexicon, line.requirements, rng
        )
        quoted = line.render_german(record), line.render_english(record, 0)
        end = ["" if text.endswith((".", "!", "?")) else " ." for text in quoted]
        return Phrase(f'{german} " {quoted[0]} "{end[0]}', f'{english} " {quoted[1]} "{end[1]}')
