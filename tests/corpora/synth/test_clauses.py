"""The word order of clauses in both languages."""

from dataclasses import replace

import pytest

from corpora.synth.clauses import Clause, NounPhrase
from corpora.synth.lexicon.entries import Phrase
from corpora.synth.lexicon.notation import parse_verb

REGIERUNG = NounPhrase("die regierung", "the government", "f", False)
ABLEHNEN = parse_verb("ablehnen: lehnt ab, lehnte ab, abgelehnt", "reject")
EINIGEN = parse_verb("sich einigen: einigt, einigte, geeinigt", "agree")

REJECTS = Clause(REGIERUNG, ABLEHNEN, "lehnte", "ab", False, "den plan", "", "rejected", "the plan")
AGREES = Clause(REGIERUNG, EINIGEN, "hat", "geeinigt", False, "auf den plan", "", "agreed", "on the plan")
PASSIVE = Clause(
    NounPhrase("der plan", "the plan", "m", False),
    ABLEHNEN,
    "wurde",
    "abgelehnt",
    True,
    "gestern",
    "",
    "was rejected",
    "yesterday",
)


@pytest.mark.parametrize(
    ("clause", "german", "english"),
    [
        (REJECTS, "die regierung lehnte den plan ab", "the government rejected the plan"),
        (AGREES, "die regierung hat sich auf den plan geeinigt", "the government agreed on the plan"),
        (PASSIVE, "der plan wurde gestern abgelehnt", "the plan was rejected yesterday"),
    ],
)
def test_the_verb_stands_second_in_a_main_clause(clause, german, english):
    assert clause.main() == Phrase(german, english)


def test_a_prefield_moves_the_subject_behind_the_verb():
    placed = AGREES.main(Phrase("am montag", "on monday"))
    assert placed.german == "am montag hat sich die regierung auf den plan geeinigt"
    assert placed.english == "on monday , the government agreed on the plan"


@pytest.mark.parametrize(
    ("clause", "german"),
    [
        (REJECTS, "weil die regierung den plan ablehnte"),
        (AGREES, "weil sich die regierung auf den plan geeinigt hat"),
        (PASSIVE, "weil der plan gestern abgelehnt wurde"),
    ],
)
def test_the_verb_stands_last_in_a_subordinate_clause(clause, german):
    assert clause.subordinate("weil", "because").german == german


def test_infinitives_with_zu():
    assert REJECTS.infinitive() == Phrase("den plan abzulehnen", "to reject the plan")
    negated = replace(REJECTS, middle_field="den plan nicht", negated=True)
    assert negated.infinitive() == Phrase("den plan nicht abzulehnen", "not to reject the plan")


@pytest.mark.parametrize(
    ("clause", "verb_", "english"),
    [
        (REJECTS, "rejected", "the government often rejected the plan"),
        (REJECTS, "has rejected", "the government has often rejected the plan"),
        (REJECTS, "did not reject", "the government often did not reject the plan"),
        (PASSIVE, "was rejected", "the plan was often rejected yesterday"),
    ],
)
def test_english_adverbs_stand_with_the_verb(clause, verb_, english):
    assert replace(clause, english_verb=verb_, english_adverb="often").main().english == english
    assert AGREES.infinitive() == Phrase("sich auf den plan zu einigen", "to agree on the plan")


def test_relative_clauses_begin_with_their_pronoun():
    pronoun = NounPhrase("die", "", "f", False)
    clause = Clause(pronoun, EINIGEN, "einigt", "", False, "auf den plan", "", "agrees", "on the plan")
    assert clause.relative("which") == Phrase("die sich auf den plan einigt", "which agrees on the plan")
