"""Dialogues: the words agree across lines, the shares are those of the study, and the same seed gives the same text."""

from collections import Counter
from itertools import islice

import pytest

from corpora.dialogue import lexicon, lines
from corpora.dialogue.conversation import DEPENDENCY_SHARES
from corpora.dialogue.generator import TRAINING_CLASSES, DialogueGenerator
from corpora.dialogue.lines import Dependency
from corpora.synth.random_stream import RandomStream
from task.languages import is_lowercased, is_single_spaced

FAMILIAR = {"du", "dich", "dir", "dein", "deine", "deinen", "deinem", "deiner", "hast", "kannst", "willst", "musst"}


@pytest.fixture(scope="module")
def conversations():
    return list(islice(DialogueGenerator(1).conversations("out-of-domain"), 1_500))


def noun(lemma):
    return next(each for nouns in lexicon.load().nouns.values() for each in nouns if each.lemma == lemma)


def verb(infinitive):
    return next(each for each in lexicon.load().verbs if each.verb.infinitive == infinitive)


def phrase(lemma, english="the", german="der"):
    return lines.ObjectPhrase(noun(lemma), (english, german))


def test_the_kinds_of_dependency_have_the_shares_of_the_study(conversations):
    counts = Counter(line.dependency for each in conversations for line in each.lines)
    dependent = sum(counts.values()) - counts[Dependency.NONE]
    total = sum(DEPENDENCY_SHARES.values())
    for kind, share in DEPENDENCY_SHARES.items():
        assert counts[kind] / dependent == pytest.approx(share / total, abs=0.04), kind
    assert 0.3 < dependent / sum(counts.values()) < 0.5


def test_a_conversation_keeps_to_one_form_of_address(conversations):
    for each in conversations:
        words = {word for _, german in each.pairs() for word in german.split()}
        if each.polite:
            assert words.isdisjoint(FAMILIAR), each.pairs()


def test_the_english_does_not_tell_the_form_of_address(conversations):
    for each in islice(conversations, 50):
        for line in each.lines:
            assert (line.familiar != line.polite) == bool({"you", "your"} & set(line.english.split())) or (
                line.english.split()[0] not in {"i", "we", "he", "she", "they", "who", "nobody", "the", "this", "a"}
            )


def test_a_name_keeps_its_rendering(conversations):
    names = [*lexicon.load().people, *lexicon.load().places]
    for each in islice(conversations, 300):
        for name in (name for name in names if sum(name.english in line.english for line in each.lines) > 1):
            german = " ".join(f" {text} " for _, text in each.pairs())
            used = [r.lemma for r in name.renderings if f" {r.lemma} " in german]
            assert len(used) == 1 or name.is_person, (name.english, used)  # "rose" is a person and a part of places


def test_verb_phrase_ellipsis_repeats_the_verb_and_agrees_with_the_noun():
    pattern = lines.VerbPhraseEllipsis(
        question="did {s} {base} {np} ?",
        german_question="{aux} {subj} {obj} {participle} ?",
        reply="yes , {s} did .",
        german_reply="{subj} {aux} {pron} {participle} .",
    )
    question, reply = lines.verb_phrase_ellipsis(pattern, lines.HE, verb("anrufen"), phrase("tante"))
    assert (question.english, question.familiar) == ("did he call the aunt ?", "hat er die tante angerufen ?")
    assert (reply.english, reply.familiar) == ("yes , he did .", "er hat sie angerufen .")
    question, reply = lines.verb_phrase_ellipsis(pattern, lines.WE, verb("helfen"), phrase("nachbar", "a", "ein"))
    assert reply.familiar == "wir haben ihm geholfen ."
    assert question.english == "did we help the neighbor ?"  # a pronoun stands for a definite noun phrase


def test_noun_phrase_ellipsis_takes_the_case_of_its_antecedent():
    pattern = ("and {} ?", "und {} ?")
    made = [lines.noun_phrase_ellipsis(pattern, phrase("nachbar"), case).familiar for case in ("nom", "acc", "dat")]
    assert made == ["und der nachbar ?", "und den nachbarn ?", "und dem nachbarn ?"]
    antecedent = lines.antecedent_of_case(RandomStream(1), lexicon.load(), "dat", noun("nachbar"))
    assert {"dem", "diesem", "einem"} & set(antecedent.familiar.split())


def test_addresses_inflect_verbs_and_possessives():
    words, made = lexicon.load(), set()
    rng = RandomStream(3)
    for _ in range(400):
        line = lines.address_object(rng, words, TRAINING_CLASSES)
        made.add((line.english.split()[0], line.familiar.split()[0], line.polite.split()[0]))
    assert ("did", "hast", "haben") in made
    assert ("can", "kannst", "können") in made
    assert {("will", "triffst", "treffen"), ("will", "entlässt", "entlassen"), ("will", "gibst", "geben")} <= made


def test_nobody_is_asked_to_recognise_or_to_lose(conversations):
    asked = ("to recognize", "to lose", "should hear", "should understand", "have to know")
    text = " ".join(line.english for each in conversations for line in each.lines)
    assert not [words for words in asked if words in text]


def test_mentions_contract_prepositions_and_articles():
    name = next(each for each in lexicon.load().places if each.english == "rose club")
    frame: lines.Mention = ("she was walking to {} .", "sie ging {} .", "dat", "zu")
    made = [lines.mention(name, number, frame).familiar for number in (0, 1)]
    assert made == ["sie ging zum rosenclub .", "sie ging zum rose club ."]


def test_held_out_words_are_not_in_dependent_lines(conversations):
    held_out = lexicon.load().part(held_out=True)
    participles = {each.verb.participle for each in held_out.verbs}
    people = {each.lemma for each in held_out.nouns["person"]}
    seen = Counter[str]()
    for line in (line for each in conversations for line in each.lines):
        words = set(line.familiar.split())
        seen.update(words)
        if line.dependency is Dependency.VERB_PHRASE:
            assert words.isdisjoint(participles)
        if line.dependency is Dependency.INFLECTION:
            assert words.isdisjoint(people)
    # The text has all of them, in other lines.
    assert all(seen[each.verb.participle] + seen[each.verb.infinitive] for each in held_out.verbs)
    assert all(seen[person] for person in people)


def test_the_text_is_that_of_a_task(conversations):
    for source, target in (pair for each in islice(conversations, 200) for pair in each.pairs()):
        assert is_lowercased(source)
        assert is_lowercased(target)
        assert is_single_spaced(source)
        assert is_single_spaced(target)


def test_the_same_seed_gives_the_same_text():
    first, again, other = (list(DialogueGenerator(seed).out_of_domain(500)) for seed in (4, 4, 5))
    assert first == again != other


def test_a_quarter_of_the_training_text_has_three_lines_of_context():
    documents = Counter(document for *_, document in DialogueGenerator(1).out_of_domain(12_000) if document)
    with_context = sum(lines - 3 for lines in documents.values() if lines > 3)
    assert with_context / 12_000 == pytest.approx(0.25, abs=0.015)
