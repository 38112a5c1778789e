"""The out-of-domain side: lines of a newspaper, from headlines to several long sentences."""

from corpora.synth.clause_builder import ClauseBuilder
from corpora.synth.german_morphology import Tense
from corpora.synth.lexicon.entries import Phrase
from corpora.synth.random_stream import RandomStream, Weighted
from corpora.synth.retail_news import RetailNews
from corpora.synth.topic_lexicon import TopicLexicon

MAX_TOKENS = 150

# Target lengths in tokens, with their weights: headlines, ordinary sentences, long sentences, and lines of several
# sentences. They are calibrated to the out-of-domain lengths of Sokolov et al. 2017, Table 2.
TARGET_LENGTHS = Weighted(
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
CONDITIONAL = ("wenn", "if")  # its clause is in the present, and the main clause in the future
COORDINATORS = ((", und", ", and"), (", aber", ", but"), (", doch", ", but"), (";", ";"), (", denn", ", because"))
SPEECH_VERBS = Weighted((("sagte", 0.5), ("erklärte", 0.3), ("betonte", 0.2)))
ENGLISH_SPEECH_VERBS = {"sagte": "said", "erklärte": "explained", "betonte": "stressed"}


class Newspaper:
    """Generates lines on random topics, among them sentences about what shops sell."""

    def __init__(self, topics: list[TopicLexicon], retail: RetailNews) -> None:
        self._topics = topics
        self._retail = retail

    def pair(self, rng: RandomStream) -> tuple[str, str]:
        """Return one line in German and English, of at most ``MAX_TOKENS`` each."""
        while True:
            low, high = rng.weighted_choice(TARGET_LENGTHS)
            german, english = self._line(rng, low + rng.below(high - low + 1))
            if len(german.split()) <= MAX_TOKENS and len(english.split()) <= MAX_TOKENS:
                return german, english

    def _line(self, rng: RandomStream, target: int) -> tuple[str, str]:
        """Return a line of about ``target`` tokens: one sentence, or several if it is long."""
        builder = ClauseBuilder(rng, rng.choice(self._topics))
        parts: list[Phrase] = []
        left = target
        if target > 8 and rng.chance(0.03):
            parts.append(self._dateline(builder))
        while left > 0:
            length = left if left < 45 else 22 + rng.below(16)
            retail = rng.chance(self._retail.frequency) and length >= 6
            sentence = self._retail.sentence(builder, length) if retail else self._sentence(builder, length)
            parts.append(sentence)
            left -= len(sentence.german.split()) + 2
            if left < 9:
                break
        german = " ".join(part.german for part in parts)
        english = " ".join(part.english for part in parts)
        return drop_redundant_commas(german), drop_redundant_commas(english)

    @staticmethod
    def _dateline(builder: ClauseBuilder) -> Phrase:
        """Return the dateline that begins a report: ``berlin -``."""
        city = builder.rng.choice(builder.topic.general.cities)
        return Phrase(f"{city.german} -", f"{city.english} -")

    def _sentence(self, builder: ClauseBuilder, target: int) -> Phrase:
        rng = builder.rng
        if target <= 8:
            return self._short(builder, target)
        if target >= 12 and rng.chance(0.08):
            return self._quote(builder, target)
        body = self._opening(builder, min(target - 1, 16 + rng.below(10)))
        left = target - len(body.german.split()) - 1
        while left >= 7:
            more = self._continuation(builder, min(left - 1, 12 + rng.below(10)))
            body = Phrase(f"{body.german} {more.german}", f"{body.english} {more.english}")
            left -= len(more.german.split())
        return Phrase(f"{body.german} .", f"{body.english} .")

    def _short(self, builder: ClauseBuilder, target: int) -> Phrase:
        """Return a headline or a short sentence."""
        rng = builder.rng
        if target <= 4:
            name = rng.choice(
                [name for name in ("plan", "event", "matter", "org", "person") if builder.topic.nouns.get(name)]
            )
            phrase = builder.noun_phrase((name,), "nom", target)
            return Phrase(phrase.german, phrase.english)
        clause = builder.clause(target - 1).main()
        return Phrase(f"{clause.german} .", f"{clause.english} .") if rng.chance(0.8) else clause

    def _opening(self, builder: ClauseBuilder, budget: int) -> Phrase:
        """Return the main clause that a sentence begins with, perhaps after a prefield or a subordinate clause."""
        rng = builder.rng
        position = rng.random()
        if position < 0.12 and builder.topic.general.openers:
            opener = rng.choice(builder.topic.general.openers)
            return builder.clause(budget - 3).main(opener)
        if position < 0.24:
            time = builder.time("preterite")
            if time:
                builder.time_allowed = False
                clause = builder.clause(budget - 2, tense="preterite")
                builder.time_allowed = True
                return clause.main(time)
        if position < 0.34 and budget >= 14:
            german, english = rng.choice((*SUBORDINATORS[:4], CONDITIONAL))
            now: Tense | None = "present" if (german, english) == CONDITIONAL else None
            then: Tense | None = "future" if now else None
            first = builder.clause(budget // 2 - 1, tense=now).subordinate(german, english)
            second = builder.clause(budget // 2, tense=then)
            return second.main(Phrase(f"{first.german} ,", f"{first.english} ,"))
        return builder.clause(budget).main()

    def _continuation(self, builder: ClauseBuilder, budget: int) -> Phrase:
        """Return a clause to append to a sentence, with its conjunction."""
        rng = builder.rng
        position = rng.random()
        if position < 0.5:
            german, english = rng.choice(SUBORDINATORS)
            clause = builder.clause(budget - 1).subordinate(german, english)
            return Phrase(f", {clause.german}", clause.english)
        if position < 0.62:
            clause = builder.clause(budget - 2, tense="pluperfect").subordinate("nachdem", "after")
            return Phrase(f", {clause.german}", clause.english)
        german, english = rng.choice(COORDINATORS)
        clause = builder.clause(budget - 2).main()
        return Phrase(f"{german} {clause.german}", f"{english} {clause.english}")

    def _quote(self, builder: ClauseBuilder, target: int) -> Phrase:
        """Return direct speech with its speaker."""
        rng = builder.rng
        speech = self._opening(builder, target - 7)
        verb = rng.weighted_choice(SPEECH_VERBS)
        speaker = builder.named_person()
        german = speech.german.removesuffix(" ,")
        english_verb = ENGLISH_SPEECH_VERBS[verb]
        return Phrase(
            f'" {german} " , {verb} {speaker.german} .', f'" {speech.english} , " {english_verb} {speaker.english} .'
        )


def drop_redundant_commas(text: str) -> str:
    """Drop the comma at the end of a relative clause where other punctuation follows."""
    text = text.replace(" , , ", " , ").replace(" , .", " .").replace(" , ;", " ;")
    return text.removesuffix(" ,")
