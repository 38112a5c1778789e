"""Noun phrases and clauses of the news, in German and English, with the word order of both languages."""

from dataclasses import dataclass
from typing import NamedTuple

from corpora.synth import german_morphology
from corpora.synth.lexicon.entries import Gender, Phrase, Verb

AUXILIARIES = frozenset({"has", "have", "had", "will", "is", "are", "was", "were", "should", "must", "can", "could"})


class NounPhrase(NamedTuple):
    """A noun phrase in one German case, with the features that verbs and relative pronouns agree with."""

    german: str
    english: str
    gender: Gender
    english_plural: bool
    human: bool = False
    definite: bool = True

    @property
    def plural(self) -> bool:
        """Whether the German phrase is in the plural."""
        return self.gender == "p"


NO_PHRASE = NounPhrase("", "", "n", False)


@dataclass(slots=True)
class Clause:
    """A verb with its subject, complements and adverbials; the methods put them into the order of a kind of clause.

    The German fields are named after the topological model: the finite verb is the left bracket of a main clause, the
    middle field follows, then the right bracket, then the postfield.
    """

    subject: NounPhrase
    verb: Verb
    finite: str
    right_bracket: str
    passive: bool
    middle_field: str
    postfield: str
    english_verb: str
    english_rest: str
    negated: bool = False
    english_adverb: str = ""  # in mid-position, with the verb

    @property
    def _reflexive_pronoun(self) -> str:
        return "sich" if self.verb.reflexive and not self.passive else ""

    def main(self, prefield: Phrase | None = None) -> Phrase:
        """Return a main clause, with the verb second. A prefield moves the subject behind the verb."""
        verb = (self.finite, self._reflexive_pronoun)
        order = (prefield.german, *verb, self.subject.german) if prefield else (self.subject.german, *verb)
        return Phrase(
            join_words(*order, self.middle_field, self.right_bracket, self.postfield),
            join_words(_english_prefield(prefield), self.subject.english, self._english_predicate),
        )

    def subordinate(self, german_conjunction: str, english_conjunction: str) -> Phrase:
        """Return a subordinate clause, with the verb last."""
        before_verb = join_words(self._reflexive_pronoun, self.subject.german, self.middle_field)
        return Phrase(
            join_words(german_conjunction, before_verb, self._verb_final, self.postfield),
            join_words(english_conjunction, self.subject.english, self._english_predicate),
        )

    def relative(self, english_pronoun: str) -> Phrase:
        """Return a relative clause; the German subject is the relative pronoun."""
        return Phrase(
            join_words(
                self.subject.german, self._reflexive_pronoun, self.middle_field, self._verb_final, self.postfield
            ),
            join_words(english_pronoun, self._english_predicate),
        )

    def infinitive(self) -> Phrase:
        """Return an infinitive clause with ``zu``; its subject is that of the clause above."""
        verb = german_morphology.infinitive_with_zu(self.verb)
        german = join_words(self._reflexive_pronoun, self.middle_field, verb, self.postfield)
        to = "not to" if self.negated else "to"
        return Phrase(german, join_words(to, self.verb.english.base, self.english_rest, self.english_adverb))

    @property
    def _english_predicate(self) -> str:
        """Return the English predicate: ``often rejects the plan``, but ``has often rejected the plan``."""
        first, _, others = self.english_verb.partition(" ")
        auxiliary = bool(others) and first in AUXILIARIES and not others.startswith("not ")
        verb = (first, self.english_adverb, others) if auxiliary else (self.english_adverb, self.english_verb)
        return join_words(*verb, self.english_rest)

    @property
    def _verb_final(self) -> str:
        if self.passive:
            return f"{self.right_bracket} {self.finite}"
        return german_morphology.verb_final(self.finite, self.right_bracket, self.verb)


def _english_prefield(prefield: Phrase | None) -> str:
    """Return the English of a prefield, set off by a comma."""
    if prefield is None:
        return ""
    return prefield.english if prefield.english.endswith(",") else f"{prefield.english} ,"


def join_words(*parts: str) -> str:
    """Join the parts that are not empty by spaces."""
    return " ".join(part for part in parts if part)
