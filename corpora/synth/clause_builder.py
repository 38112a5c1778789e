"""Builds noun phrases and clauses of the news from the words of a topic."""

from collections.abc import Sequence
from typing import NamedTuple

from corpora.synth import english_morphology, german_morphology
from corpora.synth.clauses import NO_PHRASE, Clause, NounPhrase, join_words
from corpora.synth.german_morphology import Article, Case, Modal, Tense
from corpora.synth.lexicon.entries import Adjective, EnglishVerb, Gender, NewsNoun, Noun, Phrase, Verb, VerbFrame
from corpora.synth.random_stream import RandomStream, Weighted
from corpora.synth.topic_lexicon import TopicLexicon

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
CHANGE_VERBS = frozenset(
    {"steigen", "sinken", "fallen", "wachsen", "schrumpfen", "zunehmen", "abnehmen", "zurückgehen", "zulegen"}
)
MID_POSITION_ADVERBS = frozenset(
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
)  # English adverbs that stand with the verb, as all in -ly do
PRESENT_ADVERBS = frozenset({"derzeit", "jetzt", "bald", "mittlerweile", "inzwischen", "vorerst", "weiterhin"})
FUTURE_TIMES = ("next", "tomorrow", "in the coming", "soon", "from ", "in the future", "by the end")
PAST_TIMES = ("last", "yesterday", "recently", "earlier", "a few", "in the past")
MAX_DEPTH = 2  # of nested dass-clauses
MAX_REDRAWS = 3  # of a word that the line has used already; then it may repeat
PREDICATIVE_SHARE = 0.07  # of clauses such as "der vorschlag war umstritten"
BE = Verb("sein", "", "ist", "war", "gewesen", True, False, EnglishVerb("be", "is", "was", "been"))
# the class of the noun that a genitive behind a noun of a class has
POSSESSORS = {"person": "org", "plan": "org", "amount": "org", "matter": "place", "thing": "org", "event": "org"}


class _Adverbials(NamedTuple):
    german: str  # in the middle field
    english_mid: str  # in mid-position, with the verb
    english_final: str  # at the end of the clause


class ClauseBuilder:
    """Builds the clauses of one line in both languages at once, so that they mean the same.

    It keeps count of what the line may have only once: a numeral, since the task's sources have at most one.
    """

    def __init__(self, rng: RandomStream, topic: TopicLexicon) -> None:
        self.rng = rng
        self.topic = topic
        self.numeral_allowed = True
        self.time_allowed = True  # a sentence that begins with a time has no other one in its main clause
        self._depth = 0  # of nested dass-clauses
        self._used_lemmas: set[str] = set()

    def _choose_noun(self, noun_class: str) -> NewsNoun:
        """Return a noun of the class that the line has not used, unless the class has few."""
        entry = self.rng.choice(self.topic.nouns[noun_class])
        for _ in range(MAX_REDRAWS):
            if entry.noun.lemma not in self._used_lemmas:
                break
            entry = self.rng.choice(self.topic.nouns[noun_class])
        self._used_lemmas.add(entry.noun.lemma)
        return entry

    def _choose_frame(self, frames: Sequence[VerbFrame]) -> VerbFrame:
        """Return a frame whose verb the line has not used, unless there are few."""
        frame = self.rng.choice(frames)
        for _ in range(MAX_REDRAWS):
            if frame.verb.infinitive not in self._used_lemmas:
                break
            frame = self.rng.choice(frames)
        self._used_lemmas.add(frame.verb.infinitive)
        return frame

    # ------------------------------------------------------------------ noun phrases

    def noun_phrase(self, classes: tuple[str, ...], case: Case, budget: int) -> NounPhrase:
        """Return a noun phrase of one of these classes, of at most about ``budget`` words."""
        rng = self.rng
        name = rng.choice(self.topic.classes_with_nouns(classes))
        if name == "person" and case != "gen" and rng.chance(0.2):
            return self.named_person()
        if name == "org" and case != "gen" and self.topic.general.countries and rng.chance(0.08):
            country = rng.choice(self.topic.general.countries)
            return NounPhrase(country.german, country.english, "n", False)
        if name == "person" and case == "nom" and self.numeral_allowed and rng.chance(0.1):
            return self._counted_people()
        return self.describe(self._choose_noun(name).noun, name, case, budget)

    def describe(self, noun: Noun, name: str, case: Case, budget: int) -> NounPhrase:
        """Return a phrase of a common noun with article, adjectives and perhaps a postmodifier."""
        rng = self.rng
        plural = noun.gender == "p" or (noun.plural is not None and name != "place" and rng.chance(0.3))
        kind = self._article(noun, plural)
        adjectives = self._adjectives(name, budget)
        gender: Gender = "p" if plural else noun.gender
        german = german_morphology.noun_phrase(noun, kind, adjectives, case, plural)
        determiner = self._english_article(kind, noun, name, plural)
        words = english_morphology.noun_phrase(
            noun.english, determiner, tuple(word.english for word in adjectives), plural
        )
        agreement = english_morphology.is_plural(noun.english, plural)
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
            return "these" if english_morphology.is_plural(noun.english, plural) else "this"
        return "a" if kind == "ein" else ""

    def _adjectives(self, name: str, budget: int) -> tuple[Adjective, ...]:
        known = self.topic.adjectives.get(name)
        if not known or budget < 3 or not self.rng.chance(0.42):
            return ()
        return (self.rng.choice(known),)

    def _extend(self, phrase: NounPhrase, name: str, budget: int) -> NounPhrase:
        """Add a genitive, a place or a relative clause behind the noun if the budget allows it."""
        position = self.rng.random()
        possessor = POSSESSORS.get(name)
        if budget >= 4 and position < 0.22 and possessor and phrase.definite and self.topic.nouns.get(possessor):
            owner = self.describe(self._choose_noun(possessor).noun, possessor, "gen", min(budget - 3, 6))
            if owner.german.startswith(("de", "ein", "dies")):
                return phrase._replace(
                    german=f"{phrase.german} {owner.german}", english=f"{phrase.english} of {owner.english}"
                )
        if budget >= 3 and position < 0.34:
            where = self.place()
            return phrase._replace(
                german=f"{phrase.german} {where.german}", english=f"{phrase.english} {where.english}"
            )
        frames = self.topic.by_subject.get(name)
        if budget >= 9 and position < 0.7 and frames:
            pronoun = NounPhrase(
                german_morphology.relative_pronoun("nom", phrase.gender), "", phrase.gender, phrase.english_plural
            )
            clause = self.clause(budget - 3, self._choose_frame(frames), pronoun)
            described = clause.relative("who" if phrase.human else "which")
            return phrase._replace(
                german=f"{phrase.german} , {described.german} ,", english=f"{phrase.english} {described.english}"
            )
        return phrase

    def named_person(self) -> NounPhrase:
        """Return a person's name, with a title or a first name."""
        rng, general = self.rng, self.topic.general
        last = rng.choice(general.surnames)
        if general.titles and rng.chance(0.5):
            title = rng.choice(general.titles)
            return NounPhrase(f"{title.lemma} {last}", f"{title.english.singular} {last}", title.gender, False, True)
        first, gender = rng.choice(general.firstnames)
        return NounPhrase(f"{first} {last}", f"{first} {last}", gender, False, True)

    def _counted_people(self) -> NounPhrase:
        """Return a number of people: ``300 menschen``."""
        self.numeral_allowed = False
        people = self.rng.choice(self.topic.general.people)
        count = 2 + self.rng.below(998)
        return NounPhrase(f"{count} {people.german}", f"{count} {people.english}", "p", True, False, False)

    # ------------------------------------------------------------------ adverbials

    def place(self) -> Phrase:
        """Return an adverbial of place: ``in berlin``, ``an der küste``."""
        rng, general = self.rng, self.topic.general
        if self.topic.nouns.get("place") and rng.chance(0.3):
            entry = self._choose_noun("place")
            where = german_morphology.contract(
                entry.preposition, german_morphology.noun_phrase(entry.noun, "der", (), "dat", False)
            )
            preposition = {"in": "in", "an": "on", "auf": "on"}.get(entry.preposition, "in")
            article = "the" if entry.noun.english.plural else ""
            return Phrase(
                where, f"{preposition} {english_morphology.noun_phrase(entry.noun.english, article, (), False)}"
            )
        city = rng.choice(general.cities if rng.chance(0.7) else general.countries)
        return Phrase(f"in {city.german}", f"in {city.english}")

    def time(self, tense: Tense) -> Phrase | None:
        """Return an adverbial of time, or None if the one drawn contradicts the tense or has one numeral too many."""
        time = self.rng.choice(self.topic.general.times)
        if time.english.startswith(FUTURE_TIMES) and tense not in ("future", "modal"):
            return None
        if (time.english.startswith(PAST_TIMES) or time.english.endswith("ago")) and tense in (
            "future",
            "modal",
            "present",
        ):
            return None
        if any(token[0].isdigit() for token in time.german.split()):
            if not self.numeral_allowed:
                return None
            self.numeral_allowed = False
        return time

    # ------------------------------------------------------------------ clauses

    def clause(
        self, budget: int, frame: VerbFrame | None = None, subject: NounPhrase | None = None, tense: Tense | None = None
    ) -> Clause:
        """Return a clause of about ``budget`` words. A complement that is a clause takes what the rest leaves."""
        rng = self.rng
        if frame is None and subject is None and tense != "pluperfect" and rng.chance(PREDICATIVE_SHARE):
            return self._predicative(budget)
        frame = frame or self._choose_frame(self.topic.frames if self._depth < MAX_DEPTH else self.topic.simple_frames)
        drawn: Tense = rng.weighted_choice(TENSES)
        tense = tense or drawn
        if frame.object and subject is None and tense in ("present", "preterite") and rng.chance(0.2):
            return self._passive(frame, budget, tense)
        return self._active(frame, subject, budget, tense)

    def _active(self, frame: VerbFrame, subject: NounPhrase | None, budget: int, tense: Tense) -> Clause:
        rng = self.rng
        subject_budget = max(2, budget // 2 - 2) if not frame.clause else 4
        subject = subject or self.noun_phrase(frame.subject, "nom", subject_budget)
        complement, left = self._complement(frame, budget - len(subject.german.split()) - 2)
        adverbials = self._adverbials(frame, left, tense)
        negated = tense in ("present", "preterite") and complement.definite and not frame.clause and rng.chance(0.05)
        german_modal, english_modal = rng.choice(MODALS)
        finite, right_bracket = german_morphology.sentence_bracket(frame.verb, tense, subject.plural, german_modal)
        verb, plural = frame.verb.english, subject.english_plural
        if negated:
            english_verb = english_morphology.negated_verb_group(verb, tense, plural)
        else:
            english_tense: Tense = "preterite" if tense == "perfect" and adverbials.english_final else tense
            english_verb = english_morphology.verb_group(verb, english_tense, plural, english_modal)
        negation = "nicht" if negated else ""
        before = (adverbials.german, negation) if frame.preposition else (adverbials.german,)
        after = () if frame.preposition else (negation,)
        german_clause, english_clause = self._clausal_complement(frame, max(left, 6), subject)
        return Clause(
            subject=subject,
            verb=frame.verb,
            finite=finite,
            right_bracket=right_bracket,
            passive=False,
            middle_field=join_words(*before, complement.german, *after),
            postfield=german_clause,
            english_verb=english_verb,
            english_rest=join_words(complement.english, adverbials.english_final, english_clause),
            negated=negated,
            english_adverb=adverbials.english_mid,
        )

    def _complement(self, frame: VerbFrame, budget: int) -> tuple[NounPhrase, int]:
        """Return the object that the frame asks for, if any, and the budget that is left."""
        preposition = frame.preposition
        if frame.object:
            phrase = self.noun_phrase(frame.object, "acc", max(budget, 2))
        elif frame.dative:
            phrase = self.noun_phrase(frame.dative, "dat", max(budget, 2))
        elif preposition:
            inner = self.noun_phrase(frame.prepositional_object, preposition.case, max(budget, 2))
            german = german_morphology.contract(preposition.german, inner.german)
            phrase = inner._replace(german=german, english=f"{preposition.english} {inner.english}")
        else:
            return NO_PHRASE, budget
        return phrase, budget - len(phrase.german.split())

    def _adverbials(self, frame: VerbFrame, budget: int, tense: Tense) -> _Adverbials:
        rng = self.rng
        english_mid = ""
        german: list[str] = []
        english_final: list[str] = []  # in the reverse order of the German ones
        if budget >= 2 and self.time_allowed and rng.chance(0.4):
            time = self.time(tense)
            if time:
                german.append(time.german)
                english_final.insert(0, time.english)
        if budget >= 4 and not frame.clause and rng.chance(0.2):
            where = self.place()
            german.append(where.german)
            english_final.insert(0, where.english)
        if frame.verb.infinitive in CHANGE_VERBS and not frame.object and self.numeral_allowed and rng.chance(0.6):
            self.numeral_allowed = False
            amount = f"{rng.below(40) + 1}" if rng.chance(0.5) else f"{rng.below(20)}.{rng.below(9) + 1}"
            german.append(f"um {amount} prozent")
            english_final.insert(0, f"by {amount} percent")
        elif budget >= 1 and not german and not frame.clause and rng.chance(0.18) and self.topic.general.adverbs:
            adverb = rng.choice(self.topic.general.adverbs)
            if adverb.german not in PRESENT_ADVERBS or tense in ("present", "future", "modal"):
                german.append(adverb.german)
                if adverb.english in MID_POSITION_ADVERBS or adverb.english.endswith("ly"):
                    english_mid = adverb.english
                else:
                    english_final.append(adverb.english)
        return _Adverbials(" ".join(german), english_mid, " ".join(english_final))

    def _clausal_complement(self, frame: VerbFrame, budget: int, subject: NounPhrase) -> tuple[str, str]:
        """Return the clause that the frame asks for in both languages, or empty texts."""
        if frame.clause == "that":
            self._depth += 1
            inner = self.clause(min(budget - 1, 22)).subordinate("dass", "that")
            self._depth -= 1
            return f", {inner.german}", inner.english
        if frame.clause == "zu":
            options = [
                other for name in frame.subject for other in self.topic.by_subject.get(name, ()) if not other.clause
            ]
            if options:
                inner = self.clause(min(budget, 14), self._choose_frame(options), subject, "present").infinitive()
                return f", {inner.german}", inner.english
        return "", ""

    def _predicative(self, budget: int) -> Clause:
        """Return a clause with an adjective as predicate: ``der vorschlag war umstritten``."""
        rng = self.rng
        name = rng.choice([name for name in self.topic.predicates if self.topic.nouns.get(name)])
        subject = self.describe(self._choose_noun(name).noun, name, "nom", max(2, budget - 4))
        adjective = rng.choice(self.topic.predicates[name])
        past = rng.chance(0.5)
        return Clause(
            subject=subject,
            verb=BE,
            finite=german_morphology.SEIN[subject.plural + 2 * past],
            right_bracket="",
            passive=False,
            middle_field=adjective.lemma,
            postfield="",
            english_verb=english_morphology.be(subject.english_plural, past),
            english_rest=adjective.english,
        )

    def _passive(self, frame: VerbFrame, budget: int, tense: Tense) -> Clause:
        """Return a passive clause, perhaps with an agent: ``der plan wurde von der regierung abgelehnt``."""
        subject = self.noun_phrase(frame.object, "nom", max(2, budget // 2 - 1))
        left = budget - len(subject.german.split()) - 2
        agent = NO_PHRASE
        if left > 4 and self.rng.chance(0.5):
            doer = self.noun_phrase(frame.subject, "dat", min(left - 2, 8))
            agent = doer._replace(german=german_morphology.contract("von", doer.german), english=f"by {doer.english}")
            left -= len(agent.german.split())
        adverbials = self._adverbials(frame, left, tense)
        past = tense == "preterite"
        return Clause(
            subject=subject,
            verb=frame.verb,
            finite=german_morphology.WERDEN[subject.plural + 2 * past],
            right_bracket=frame.verb.participle,
            passive=True,
            middle_field=join_words(adverbials.german, agent.german),
            postfield="",
            english_verb=f"{english_morphology.be(subject.english_plural, past)} {frame.verb.english.participle}",
            english_rest=join_words(agent.english, adverbials.english_final),
            english_adverb=adverbials.english_mid,
        )
