"""Newspaper sentences about goods: most of the shop's words, and some of its compounds, are met here first."""

from corpora.synth.clauses import Writer
from corpora.synth.lexicon.entries import GeneratorLexicon, Phrase
from corpora.synth.random_stream import RandomStream
from corpora.synth.records import UnavailableError, draw
from corpora.synth.templates import HOME, Template, from_line, read
from corpora.synth.wares import Stock, exposed

QUOTING = (
    ("auf der verpackung steht :", "the packaging says :"),
    ("in der anzeige heißt es :", "the advertisement says :"),
    ("der hersteller wirbt mit dem satz :", "the manufacturer advertises with the sentence :"),
    ("in der anleitung ist zu lesen :", "the instructions read :"),
)


GOING_ON = ((", und", ", and"), (";", ";"), (", aber", ", but"))


class Retail:
    """Draws clauses about wares as a newspaper knows them."""

    frequency = 0.3  # share of the newspaper's sentences

    def __init__(self, lexicon: GeneratorLexicon) -> None:
        self._stock = Stock(lexicon, "news")
        self._clauses = [template for _, template in read(HOME / "retail.txt")]
        self._lines = [
            from_line(category.identifier, line)
            for category in lexicon.categories
            for line in category.lines
            if "{" not in line.german and exposed(line.german, False)
        ]

    def sentence(self, writer: Writer, target: int) -> Phrase:
        """A sentence with goods in it; the writer goes on to the length aimed at."""
        rng = writer.rng
        if self._lines and rng.chance(0.12):
            return self._quotation(rng, writer)
        body = self._clause(rng, writer)
        if target - len(body.german.split()) >= 8:
            body = self._go_on(body, writer, target - len(body.german.split()) - 2)
        return Phrase(f"{body.german} .", f"{body.english} .")

    @staticmethod
    def _go_on(body: Phrase, writer: Writer, budget: int) -> Phrase:
        position = writer.rng.random()
        if position < 0.35:
            more = writer.clause(budget).subordinate("während", "while")
            return Phrase(f"{body.german} , {more.german}", f"{body.english} , {more.english}")
        if position < 0.5:
            speaker = writer.somebody()
            return Phrase(f"{body.german} , sagte {speaker.german}", f"{body.english} , {speaker.english} said")
        german, english = writer.rng.choice(GOING_ON)
        more = writer.clause(budget).main()
        return Phrase(f"{body.german} {german} {more.german}", f"{body.english} {english} {more.english}")

    def _clause(self, rng: RandomStream, writer: Writer) -> Phrase:
        while True:
            try:
                phrase = self._render(rng.choice(self._clauses), rng)
            except UnavailableError:
                continue
            if self._fits(phrase.german, writer):
                return phrase

    @staticmethod
    def _fits(german: str, writer: Writer) -> bool:
        """Whether the sentence may say this after what it has said: a source has one numeral."""
        numeral = any(word[0].isdigit() for word in german.split())
        if numeral and not writer.numeral_free:
            return False
        writer.numeral_free = writer.numeral_free and not numeral
        return True

    def _render(self, template: Template, rng: RandomStream) -> Phrase:
        ware = rng.weighted_choice(self._stock.wares)
        if not template.scope.admits(ware.category.identifier):
            raise UnavailableError
        record = draw(ware, self._stock.lexicon, template.needs, rng)
        german = template.render_german(record)
        if record.stutters(german):
            raise UnavailableError
        return Phrase(german, template.render_english(record, 0))

    def _quotation(self, rng: RandomStream, writer: Writer) -> Phrase:
        german, english = rng.choice(QUOTING)
        line = rng.choice(self._lines)
        while not self._fits(line.name, writer):
            line = rng.choice(self._lines)
        record = draw(rng.weighted_choice(self._stock.wares), self._stock.lexicon, line.needs, rng)
        said = line.render_german(record), line.render_english(record, 0)
        end = ["" if text.endswith((".", "!", "?")) else " ." for text in said]
        return Phrase(f'{german} " {said[0]} "{end[0]}', f'{english} " {said[1]} "{end[1]}')
