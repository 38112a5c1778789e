"""The out-of-domain side: sentences of a newspaper, from headlines to long periods, of a drawn length."""

from corpora.synth.clauses import Writer
from corpora.synth.lexicon.entries import Phrase
from corpora.synth.morphology import Tense
from corpora.synth.random_stream import RandomStream, Weighted
from corpora.synth.retail import Retail
from corpora.synth.topics import Field

MAX_TOKENS = 150

# lengths aimed at: headlines, ordinary sentences, long ones, and lines that hold several sentences (card A4)
LENGTHS = Weighted(
    (((2, 8), 0.19), ((9, 20), 0.17), ((21, 31), 0.42), ((32, 46), 0.17), ((47, 75), 0.045), ((76, 135), 0.005))
)

SUBORDINATORS = (
    ("weil", "because"),
    ("obwohl", "although"),
    ("während", "while"),
    ("da", "since"),
    ("bevor", "before"),
    ("sodass", "so that"),
)
IF = ("wenn", "if")  # of what may happen: in the present, with a future to follow
COORDINATORS = ((", und", ", and"), (", aber", ", but"), (", doch", ", but"), (";", ";"), (", denn", ", because"))
SAYING = Weighted((("sagte", 0.5), ("erklärte", 0.3), ("betonte", 0.2)))
SAID = {"sagte": "said", "erklärte": "explained", "betonte": "stressed"}


class Newspaper:
    """Draws sentences of any topic; now and then one about what shops sell, as newspapers do."""

    def __init__(self, fields: list[Field], retail: Retail) -> None:
        self._fields = fields
        self._retail = retail

    def pair(self, rng: RandomStream) -> tuple[str, str]:
        while True:
            low, high = rng.weighted_choice(LENGTHS)
            german, english = self._line(rng, low + rng.below(high - low + 1))
            if len(german.split()) <= MAX_TOKENS and len(english.split()) <= MAX_TOKENS:
                return german, english

    def _line(self, rng: RandomStream, target: int) -> tuple[str, str]:
        """One line: usually one sentence, more when it is to be long."""
        field = rng.choice(self._fields)
        writer = Writer(rng, field)
        parts: list[Phrase] = []
        left = target
        if target > 8 and rng.chance(0.03):
            parts.append(self._dateline(writer))
        while left > 0:
            room = left if left < 45 else 22 + rng.below(16)
            retail = rng.chance(self._retail.frequency) and room >= 6
            sentence = self._retail.sentence(writer, room) if retail else self._sentence(writer, room)
            parts.append(sentence)
            left -= len(sentence.german.split()) + 2
            if left < 9:
                break
        return tidy(" ".join(p.german for p in parts)), tidy(" ".join(p.english for p in parts))

    @staticmethod
    def _dateline(writer: Writer) -> Phrase:
        city = writer.rng.choice(writer.field.general.cities)
        return Phrase(f"{city.german} -", f"{city.english} -")

    def _sentence(self, writer: Writer, target: int) -> Phrase:
        rng = writer.rng
        if target <= 8:
            return self._short(writer, target)
        if target >= 12 and rng.chance(0.08):
            return self._quote(writer, target)
        body = self._opening(writer, min(target - 1, 16 + rng.below(10)))
        left = target - len(body.german.split()) - 1
        while left >= 7:
            more = self._continuation(writer, min(left - 1, 12 + rng.below(10)))
            body = Phrase(f"{body.german} {more.german}", f"{body.english} {more.english}")
            left -= len(more.german.split())
        return Phrase(f"{body.german} .", f"{body.english} .")

    def _short(self, writer: Writer, target: int) -> Phrase:
        """A headline, or a sentence of a few words."""
        rng = writer.rng
        if target <= 4:
            name = rng.choice(
                [name for name in ("plan", "event", "matter", "org", "person") if writer.field.nouns.get(name)]
            )
            phrase = writer.noun_phrase((name,), "nom", target)
            return Phrase(phrase.german, phrase.english)
        clause = writer.clause(target - 1).main()
        return Phrase(f"{clause.german} .", f"{clause.english} .") if rng.chance(0.8) else clause

    def _opening(self, writer: Writer, budget: int) -> Phrase:
        rng = writer.rng
        position = rng.random()
        if position < 0.12 and writer.field.general.openers:
            opener = rng.choice(writer.field.general.openers)
            return writer.clause(budget - 3).main(opener)
        if position < 0.24:
            time = writer.time("preterite")
            if time:
                writer.time_free = False
                clause = writer.clause(budget - 2, tense="preterite")
                writer.time_free = True
                return clause.main(time)
        if position < 0.34 and budget >= 14:
            german, english = rng.choice((*SUBORDINATORS[:4], IF))
            now: Tense | None = "present" if (german, english) == IF else None
            then: Tense | None = "future" if now else None
            first = writer.clause(budget // 2 - 1, tense=now).subordinate(german, english)
            second = writer.clause(budget // 2, tense=then)
            return second.main(Phrase(f"{first.german} ,", f"{first.english} ,"))
        return writer.clause(budget).main()

    def _continuation(self, writer: Writer, budget: int) -> Phrase:
        rng = writer.rng
        position = rng.random()
        if position < 0.5:
            german, english = rng.choice(SUBORDINATORS)
            clause = writer.clause(budget - 1).subordinate(german, english)
            return Phrase(f", {clause.german}", clause.english)
        if position < 0.62:
            clause = writer.clause(budget - 2, tense="pluperfect").subordinate("nachdem", "after")
            return Phrase(f", {clause.german}", clause.english)
        german, english = rng.choice(COORDINATORS)
        clause = writer.clause(budget - 2).main()
        return Phrase(f"{german} {clause.german}", f"{english} {clause.english}")

    def _quote(self, writer: Writer, target: int) -> Phrase:
        rng = writer.rng
        said = self._opening(writer, target - 7)
        verb = rng.weighted_choice(SAYING)
        speaker = writer.somebody()
        german = said.german.removesuffix(" ,")
        return Phrase(
            f'" {german} " , {verb} {speaker.german} .', f'" {said.english} , " {SAID[verb]} {speaker.english} .'
        )


def tidy(text: str) -> str:
    """A relative clause ends in a comma, which other punctuation swallows."""
    text = text.replace(" , , ", " , ").replace(" , .", " .").replace(" , ;", " ;")
    return text.removesuffix(" ,")
