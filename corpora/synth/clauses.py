"""Noun phrases and clauses of the news, built in both languages at once so that they cannot disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpora.synth import english, morphology
from corpora.synth.lexicon.entries import Adjective, EnglishVerb, Gender, NewsNoun, Noun, Phrase, Verb, VerbFrame
from corpora.synth.morphology import Article, Case, Modal, Tense
from corpora.synth.random_stream import RandomStream, Weighted
from corpora.synth.topics import Field

MODALS = (
    (Modal("soll", "sollen"), "should"),
    (Modal("muss", "müssen"), "must"),
    (Modal("kann", "können"), "can"),
    (Modal("könnte", "könnten"), "could"),
    (Modal("sollte", "sollten"), "should"),
)
TENSES: Weighted[Tense] = Weighted(
    (("preterite", 0.46), ("present", 0.25), ("perfect", 0.13), ("future", 0.07), ("modal", 0.09))
)
CHANGES = frozenset(
    {"steigen", "sinken", "fallen", "wachsen", "schrumpfen", "zunehmen", "abnehmen", "zurückgehen", "zulegen"}
)
AUXILIARIES = frozenset({"has", "have", "had", "will", "is", "are", "was", "were", "should", "must", "can", "could"})
MIDWAY = frozenset(
    {
        "perhaps",
        "already",
        "often",
        "sometimes",
        "still",
        "also",
        "soon",
        "now",
        "therefore",
        "nevertheless",
        "nonetheless",
    }
)  # English adverbs that stand with the verb, as do all in -ly
CURRENT = frozenset({"derzeit", "jetzt", "bald", "mittlerweile", "inzwischen", "vorerst", "weiterhin"})
FUTURE_TIMES = ("next", "tomorrow", "in the coming", "soon", "from ", "in the future", "by the end")
PAST_TIMES = ("last", "yesterday", "recently", "earlier", "a few", "in the past")
MAX_DEPTH = 2
PATIENCE = 3  # draws before a word may come again
PREDICATIVE = 0.07  # share of clauses that only say what something is like
BE = Verb("sein", "", "ist", "war", "gewesen", True, False, EnglishVerb("be", "is", "was", "been"))
POSSESSORS = {"person": "org", "plan": "org", "amount": "org", "matter": "place", "thing": "org", "event": "org"}


class NounPhrase(NamedTuple):
    """A phrase in one German case, and what verbs and relative pronouns need to know of it."""

    german: str
    english: str
    gender: Gender
    english_plural: bool
    human: bool = False
    definite: bool = True

    @property
    def plural(self) -> bool:
        return self.gender == "p"


@dataclass(slots=True)
class Clause:
    """The verb and what stands around it; the order of words is decided when it is placed in a sentence."""

    subject: NounPhrase
    verb: Verb
    finite: str
    close: str
    passive: bool
    middle: str
    tail: str
    english_verb: str
    english_rest: str
    negated: bool = False
    english_adverb: str = ""  # one that stands with the verb

    @property
    def _sich(self) -> str:
        return "sich" if self.verb.reflexive and not self.passive else ""

    def main(self, front: Phrase | None = None) -> Phrase:
        """Verb second; whatever is in front pushes the subject behind the verb."""
        verb = (self.finite, self._sich)
        order = (front.german, *verb, self.subject.german) if front else (self.subject.german, *verb)
        lead = f"{front.english} ," if front and not front.english.endswith(",") else front.english if front else ""
        return Phrase(
            _join(*order, self.middle, self.close, self.tail),
            _join(lead, self.subject.english, self._english_predicate),
        )

    def subordinate(self, german: str, conjunction: str) -> Phrase:
        """Verb last, after a conjunction."""
        return Phrase(
            _join(german, self._sich, self.subject.german, self.middle, self._closing, self.tail),
            _join(conjunction, self.subject.english, self._english_predicate),
        )

    def relative(self, english_pronoun: str) -> Phrase:
        """The subject is a relative pronoun, which stands first."""
        return Phrase(
            _join(self.subject.german, self._sich, self.middle, self._closing, self.tail),
            _join(english_pronoun, self._english_predicate),
        )

    def infinitive(self) -> Phrase:
        """With ``zu``; the subject is that of the clause above."""
        german = _join(self._sich, self.middle, morphology.infinitive_with_zu(self.verb), self.tail)
        to = "not to" if self.negated else "to"
        return Phrase(german, _join(to, self.verb.english.base, self.english_rest, self.english_adverb))

    @property
    def _english_predicate(self) -> str:
        """``often rejects the plan``, ``has often rejected the plan``."""
        first, _, others = self.english_verb.partition(" ")
        auxiliary = bool(others) and first in AUXILIARIES and not others.startswith("not ")
        verb = (first, self.english_adverb, others) if auxiliary else (self.english_adverb, self.english_verb)
        return _join(*verb, self.english_rest)

    @property
    def _closing(self) -> str:
        if self.passive:
            return f"{self.close} {self.finite}"
        return morphology.closing(self.finite, self.close, self.verb)


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


class Writer:
    """Writes the clauses of one sentence; keeps to one numeral, as the task's sources do."""

    def __init__(self, rng: RandomStream, field: Field) -> None:
        self.rng = rng
        self.field = field
        self.numeral_free = True
        self.time_free = True  # a sentence that begins with a time has no other in its main clause
        self.depth = 0  # of dass-clauses
        self._said: set[str] = set()

    def _noun(self, name: str) -> NewsNoun:
        """One of a class, and not one that the line has had, unless there are few."""
        entry = self.rng.choice(self.field.nouns[name])
        for _ in range(PATIENCE):
            if entry.noun.lemma not in self._said:
                break
            entry = self.rng.choice(self.field.nouns[name])
        self._said.add(entry.noun.lemma)
        return entry

    def _frame(self, frames: Sequence[VerbFrame]) -> VerbFrame:
        """A verb that the line has not had, unless there are few."""
        frame = self.rng.choice(frames)
        for _ in range(PATIENCE):
            if frame.verb.infinitive not in self._said:
                break
            frame = self.rng.choice(frames)
        self._said.add(frame.verb.infinitive)
        return frame

    # ------------------------------------------------------------------ noun phrases

    def noun_phrase(self, classes: tuple[str, ...], case: Case, budget: int) -> NounPhrase:
        """A phrase of one of these classes, of about as many words as the budget allows."""
        rng = self.rng
        name = rng.choice(self.field.fillable(classes))
        if name == "person" and case != "gen" and rng.chance(0.2):
            return self.somebody()
        if name == "org" and case != "gen" and self.field.general.countries and rng.chance(0.08):
            country = rng.choice(self.field.general.countries)
            return NounPhrase(country.german, country.english, "n", False)
        if name == "person" and case == "nom" and self.numeral_free and rng.chance(0.1):
            return self._crowd()
        return self.describe(self._noun(name).noun, name, case, budget)

    def describe(self, noun: Noun, name: str, case: Case, budget: int) -> NounPhrase:
        """A common noun with article, adjectives and what follows it."""
        rng = self.rng
        plural = noun.gender == "p" or (noun.plural is not None and name != "place" and rng.chance(0.3))
        kind = self._article(noun, plural)
        adjectives = self._adjectives(name, budget)
        gender: Gender = "p" if plural else noun.gender
        german = morphology.phrase(noun, kind, adjectives, case, plural)
        determiner = self._english_article(kind, noun, name, plural)
        words = english.phrase(noun.english, determiner, tuple(word.english for word in adjectives), plural)
        agreement = english.is_plural(noun.english, plural)
        phrase = NounPhrase(german, words, gender, agreement, name == "person", kind in ("der", "dieser"))
        return self._extend(phrase, name, budget - 1 - len(adjectives))

    def _article(self, noun: Noun, plural: bool) -> Article:
        position = self.rng.random()
        if noun.plural is None or position < 0.62:
            return "der"
        if position < 0.94:
            return "" if plural else "ein"
        return "dieser"

    @staticmethod
    def _english_article(kind: Article, noun: Noun, name: str, plural: bool) -> str:
        if kind == "der":
            return "" if name == "matter" and noun.english.plural is None else "the"
        if kind == "dieser":
            return "these" if english.is_plural(noun.english, plural) else "this"
        return "a" if kind == "ein" else ""

    def _adjectives(self, name: str, budget: int) -> tuple[Adjective, ...]:
        known = self.field.adjectives.get(name)
        if not known or budget < 3 or not self.rng.chance(0.42):
            return ()
        return (self.rng.choice(known),)

    def _extend(self, phrase: NounPhrase, name: str, budget: int) -> NounPhrase:
        """A genitive, a place or a relative clause behind the noun, when there is room."""
        position = self.rng.random()
        possessor = POSSESSORS.get(name)
        if budget >= 4 and position < 0.22 and possessor and phrase.definite and self.field.nouns.get(possessor):
            owner = self.describe(self._noun(possessor).noun, possessor, "gen", min(budget - 3, 6))
            if owner.german.startswith(("de", "ein", "dies")):
                return phrase._replace(
                    german=f"{phrase.german} {owner.german}", english=f"{phrase.english} of {owner.english}"
                )
        if budget >= 3 and position < 0.34:
            where = self.place()
            return phrase._replace(
                german=f"{phrase.german} {where.german}", english=f"{phrase.english} {where.english}"
            )
        frames = self.field.by_subject.get(name)
        if budget >= 9 and position < 0.7 and frames:
            pronoun = NounPhrase(
                morphology.relative_pronoun("nom", phrase.gender), "", phrase.gender, phrase.english_plural
            )
            clause = self.clause(budget - 3, self._frame(frames), pronoun)
            described = clause.relative("who" if phrase.human else "which")
            return phrase._replace(
                german=f"{phrase.german} , {described.german} ,", english=f"{phrase.english} {described.english}"
            )
        return phrase

    def somebody(self) -> NounPhrase:
        """A person with a name."""
        rng, general = self.rng, self.field.general
        last = rng.choice(general.surnames)
        if general.titles and rng.chance(0.5):
            title = rng.choice(general.titles)
            return NounPhrase(f"{title.lemma} {last}", f"{title.english.singular} {last}", title.gender, False, True)
        first, gender = rng.choice(general.firstnames)
        return NounPhrase(f"{first} {last}", f"{first} {last}", gender, False, True)

    def _crowd(self) -> NounPhrase:
        self.numeral_free = False
        people = self.rng.choice(self.field.general.people)
        count = 2 + self.rng.below(998)
        return NounPhrase(f"{count} {people.german}", f"{count} {people.english}", "p", True, False, False)

    # ------------------------------------------------------------------ adverbials

    def place(self) -> Phrase:
        """``in berlin``, or ``an der küste``."""
        rng, general = self.rng, self.field.general
        if self.field.nouns.get("place") and rng.chance(0.3):
            entry = self._noun("place")
            where = morphology.contract(entry.preposition, morphology.phrase(entry.noun, "der", (), "dat", False))
            preposition = {"in": "in", "an": "on", "auf": "on"}.get(entry.preposition, "in")
            article = "the" if entry.noun.english.plural else ""
            return Phrase(where, f"{preposition} {english.phrase(entry.noun.english, article, (), False)}")
        city = rng.choice(general.cities if rng.chance(0.7) else general.countries)
        return Phrase(f"in {city.german}", f"in {city.english}")

    def time(self, tense: Tense) -> Phrase | None:
        """An adverbial of time that does not contradict the tense."""
        time = self.rng.choice(self.field.general.times)
        if time.english.startswith(FUTURE_TIMES) and tense not in ("future", "modal"):
            return None
        if (time.english.startswith(PAST_TIMES) or time.english.endswith("ago")) and tense in (
            "future",
            "modal",
            "present",
        ):
            return None
        if any(token[0].isdigit() for token in time.german.split()):
            if not self.numeral_free:
                return None
            self.numeral_free = False
        return time

    # ------------------------------------------------------------------ clauses

    def clause(
        self, budget: int, frame: VerbFrame | None = None, subject: NounPhrase | None = None, tense: Tense | None = None
    ) -> Clause:
        """A clause of about this many words; complements that are clauses themselves take what is left."""
        rng = self.rng
        if frame is None and subject is None and tense != "pluperfect" and rng.chance(PREDICATIVE):
            return self._predicative(budget)
        frame = frame or self._frame(self.field.frames if self.depth < MAX_DEPTH else self.field.simple_frames)
        drawn: Tense = rng.weighted_choice(TENSES)
        tense = tense or drawn
        if frame.object and subject is None and tense in ("present", "preterite") and rng.chance(0.2):
            return self._passive(frame, budget, tense)
        share = max(2, budget // 2 - 2) if not frame.clause else 4
        who = subject or self.noun_phrase(frame.subject, "nom", share)
        used = len(who.german.split()) + 2
        complement, left = self._complement(frame, budget - used)
        adverbials, midway, late = self._adverbials(frame, left, tense)
        negated = tense in ("present", "preterite") and complement.definite and not frame.clause and rng.chance(0.05)
        modal = rng.choice(MODALS)
        finite, close = morphology.bracket(frame.verb, tense, who.plural, modal[0])
        if not negated:
            english_tense: Tense = "preterite" if tense == "perfect" and late else tense
            verb = english.finite(frame.verb.english, english_tense, who.english_plural, modal[1])
        else:
            verb = english.negated(frame.verb.english, tense, who.english_plural)
        negation = "nicht" if negated else ""
        before = (adverbials, negation) if frame.preposition else (adverbials,)
        after = () if frame.preposition else (negation,)
        tail, english_tail = self._clausal_complement(frame, max(left, 6), who)
        return Clause(
            who,
            frame.verb,
            finite,
            close,
            False,
            _join(*before, complement.german, *after),
            tail,
            verb,
            _join(complement.english, late, english_tail),
            negated,
            midway,
        )

    def _complement(self, frame: VerbFrame, budget: int) -> tuple[NounPhrase, int]:
        none = NounPhrase("", "", "n", False)
        if frame.object:
            filled = self.noun_phrase(frame.object, "acc", max(budget, 2))
        elif frame.dative:
            filled = self.noun_phrase(frame.dative, "dat", max(budget, 2))
        elif frame.preposition:
            asked = frame.preposition
            inner = self.noun_phrase(frame.prepositional_object, asked.case, max(budget, 2))
            german = morphology.contract(asked.german, inner.german)
            return inner._replace(german=german, english=f"{asked.english} {inner.english}"), budget - len(
                german.split()
            )
        else:
            return none, budget
        return filled, budget - len(filled.german.split())

    def _adverbials(self, frame: VerbFrame, budget: int, tense: Tense) -> tuple[str, str, str]:
        """What stands in the German middle field, what stands with the English verb, and what ends its clause."""
        rng = self.rng
        midway = ""
        german: list[str] = []
        english_words: list[str] = []
        if budget >= 2 and self.time_free and rng.chance(0.4):
            time = self.time(tense)
            if time:
                german.append(time.german)
                english_words.insert(0, time.english)
        if budget >= 4 and not frame.clause and rng.chance(0.2):
            where = self.place()
            german.append(where.german)
            english_words.insert(0, where.english)
        if frame.verb.infinitive in CHANGES and not frame.object and self.numeral_free and rng.chance(0.6):
            self.numeral_free = False
            amount = f"{rng.below(40) + 1}" if rng.chance(0.5) else f"{rng.below(20)}.{rng.below(9) + 1}"
            german.append(f"um {amount} prozent")
            english_words.insert(0, f"by {amount} percent")
        elif budget >= 1 and not german and not frame.clause and rng.chance(0.18) and self.field.general.adverbs:
            adverb = rng.choice(self.field.general.adverbs)
            if adverb.german not in CURRENT or tense in ("present", "future", "modal"):
                german.append(adverb.german)
                if adverb.english in MIDWAY or adverb.english.endswith("ly"):
                    midway = adverb.english
                else:
                    english_words.append(adverb.english)
        return " ".join(german), midway, " ".join(english_words)

    def _clausal_complement(self, frame: VerbFrame, budget: int, subject: NounPhrase) -> tuple[str, str]:
        if frame.clause == "that":
            self.depth += 1
            inner = self.clause(min(budget - 1, 22)).subordinate("dass", "that")
            self.depth -= 1
            return f", {inner.german}", inner.english
        if frame.clause == "zu":
            options = [
                other for name in frame.subject for other in self.field.by_subject.get(name, ()) if not other.clause
            ]
            if options:
                inner = self.clause(min(budget, 14), self._frame(options), subject, "present").infinitive()
                return f", {inner.german}", inner.english
        return "", ""

    def _predicative(self, budget: int) -> Clause:
        """``der vorschlag war umstritten``."""
        rng = self.rng
        name = rng.choice([name for name in self.field.predicates if self.field.nouns.get(name)])
        who = self.describe(self._noun(name).noun, name, "nom", max(2, budget - 4))
        word = rng.choice(self.field.predicates[name])
        past = rng.chance(0.5)
        verb = english.be(who.english_plural, past)
        finite = morphology.SEIN[who.plural + 2 * past]
        return Clause(who, BE, finite, "", False, word.lemma, "", verb, word.english)

    def _passive(self, frame: VerbFrame, budget: int, tense: Tense) -> Clause:
        who = self.noun_phrase(frame.object, "nom", max(2, budget // 2 - 1))
        left = budget - len(who.german.split()) - 2
        agent = NounPhrase("", "", "n", False)
        if left > 4 and self.rng.chance(0.5):
            doer = self.noun_phrase(frame.subject, "dat", min(left - 2, 8))
            agent = doer._replace(german=morphology.contract("von", doer.german), english=f"by {doer.english}")
            left -= len(agent.german.split())
        adverbials, midway, late = self._adverbials(frame, left, tense)
        past = tense == "preterite"
        finite = morphology.WERDEN[who.plural + 2 * past]
        verb = f"{english.be(who.english_plural, past)} {frame.verb.english.participle}"
        middle = _join(adverbials, agent.german)
        rest = _join(agent.english, late)
        close = frame.verb.participle
        return Clause(who, frame.verb, finite, close, True, middle, "", verb, rest, english_adverb=midway)
