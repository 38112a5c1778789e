"""Lines of a dialogue in English and German, with words of the lexicon in agreement.

A function that makes two lines returns an antecedent, and a line that cannot be translated without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from corpora.dialogue.lexicon import DialogueLexicon, Name, ObjectVerb
from corpora.synth import english_morphology as english
from corpora.synth import german_morphology as german
from corpora.synth.lexicon.entries import Noun, Verb
from corpora.synth.random_stream import RandomStream, Weighted


class Dependency(StrEnum):
    """What the German of a line takes from earlier lines."""

    NONE = "none"
    DEIXIS = "deixis"
    INFLECTION = "ellipsis_infl"
    VERB_PHRASE = "ellipsis_vp"
    COHESION = "lex_cohesion"


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its German translations, which differ only if the line addresses the listener."""

    english: str
    familiar: str  # to a friend: du
    polite: str  # to a stranger: sie
    dependency: Dependency = Dependency.NONE

    def german(self, *, polite: bool) -> str:
        return self.polite if polite else self.familiar


def same(english_text: str, german_text: str, dependency: Dependency = Dependency.NONE) -> Line:
    """Return a line that does not address the listener."""
    return Line(english_text, german_text, german_text, dependency)


class Subject(NamedTuple):
    """A pronoun as the subject, with the auxiliaries that agree with it."""

    english: str
    german: str
    haben: str
    sein: str
    müssen: str
    wollen: str
    können: str
    third_singular: bool = False

    def auxiliary(self, verb: Verb) -> str:
        return self.sein if verb.perfect_with_sein else self.haben


I = Subject("i", "ich", "habe", "bin", "muss", "will", "kann")  # noqa: E741
WE = Subject("we", "wir", "haben", "sind", "müssen", "wollen", "können")
HE = Subject("he", "er", "hat", "ist", "muss", "will", "kann", True)
SHE = Subject("she", "sie", "hat", "ist", "muss", "will", "kann", True)
THEY = Subject("they", "sie", "haben", "sind", "müssen", "wollen", "können")
SUBJECTS = (I, WE, HE, SHE, THEY)

INVOLUNTARY = frozenset({"erkennen", "hören", "kennen", "sehen", "verlieren", "verstehen"})  # not asked of anybody
_PRONOUNS = {
    "acc": {"m": "ihn", "f": "sie", "n": "es", "p": "sie"},
    "dat": {"m": "ihm", "f": "ihr", "n": "ihm", "p": "ihnen"},
}
_ARTICLES: tuple[tuple[str, german.Article], ...] = (("the", "der"), ("the", "der"), ("this", "dieser"), ("a", "ein"))


class ObjectPhrase(NamedTuple):
    """A noun with an article, as the object of a verb."""

    noun: Noun
    article: tuple[str, german.Article]

    @property
    def english(self) -> str:
        return english.noun_phrase(self.noun.english, self.article[0], (), False)

    def german(self, case: german.Case) -> str:
        return german.noun_phrase(self.noun, self.article[1], (), case, False)

    @property
    def definite(self) -> "ObjectPhrase":
        """The same with a definite article: a pronoun can stand for it."""
        return self._replace(article=_ARTICLES[0]) if self.article[1] == "ein" else self


def random_phrase(rng: RandomStream, noun: Noun) -> ObjectPhrase:
    """Return the noun with an article that it can have; mass nouns and plurals have the definite one."""
    countable = noun.english.singular is not None and noun.english.plural is not None
    return ObjectPhrase(noun, rng.choice(_ARTICLES) if countable else _ARTICLES[0])


def random_object(rng: RandomStream, words: DialogueLexicon, classes: Weighted[str]) -> tuple[ObjectVerb, ObjectPhrase]:
    """Return a verb and an object that fits it."""
    while True:
        noun_class = rng.weighted_choice(classes)
        verbs = words.verbs_for(noun_class)
        if verbs and words.nouns[noun_class]:
            return rng.choice(verbs), random_phrase(rng, rng.choice(words.nouns[noun_class]))


# ------------------------------------------------------------------ lines that depend on nothing


def filler(rng: RandomStream, words: DialogueLexicon) -> Line:
    """Return a line that fits anywhere."""
    return same(*rng.choice(words.fillers))


def statement(subject: Subject, chosen: ObjectVerb, phrase: ObjectPhrase) -> Line:
    """Return what somebody did: ``i sold the car .``"""
    verb = chosen.verb
    object_text = phrase.german(chosen.case)
    return same(
        f"{subject.english} {verb.english.past} {phrase.english} .",
        f"{subject.german} {subject.auxiliary(verb)} {object_text} {verb.participle} .",
    )


def event(verb: Verb, phrase: ObjectPhrase) -> Line:
    """Return what a person did, without an object: ``the doctor arrived .``"""
    auxiliary = "ist" if verb.perfect_with_sein else "hat"
    return same(f"{phrase.english} {verb.english.past} .", f"{phrase.german('nom')} {auxiliary} {verb.participle} .")


def plain(rng: RandomStream, words: DialogueLexicon, classes: Weighted[str]) -> Line:
    """Return a line about other people and things."""
    if rng.chance(0.15):
        return event(rng.choice(words.intransitive), random_phrase(rng, rng.choice(words.nouns["person"])))
    chosen, phrase = random_object(rng, words, classes)
    subject = rng.choice(SUBJECTS)
    verb, object_text, s = chosen.verb, phrase.german(chosen.case), subject.third_singular
    return rng.choice(
        (
            statement(subject, chosen, phrase),
            statement(subject, chosen, phrase),
            same(f"who {verb.english.past} {phrase.english} ?", f"wer hat {object_text} {verb.participle} ?"),
            same(f"nobody {verb.english.past} {phrase.english} .", f"niemand hat {object_text} {verb.participle} ."),
            same(
                f"{subject.english} cannot {verb.english.base} {phrase.english} .",
                f"{subject.german} {subject.können} {object_text} nicht {verb.infinitive} .",
            ),
            same(
                f"{subject.english} {'has' if s else 'have'} to {verb.english.base} {phrase.english} .",
                f"{subject.german} {subject.müssen} {object_text} {verb.infinitive} .",
            ),
            same(
                f"{subject.english} {'wants' if s else 'want'} to {verb.english.base} {phrase.english} .",
                f"{subject.german} {subject.wollen} {object_text} {verb.infinitive} .",
            ),
        )[: 5 if verb.infinitive in INVOLUNTARY else None]
    )


# ------------------------------------------------------------------ deixis


def address(rng: RandomStream, words: DialogueLexicon, classes: Weighted[str]) -> Line:
    """Return a line that addresses the listener, fixed or with words of the lexicon."""
    if rng.chance(0.4):
        fixed = rng.choice(words.address)
        return Line(fixed.english, fixed.familiar, fixed.polite, Dependency.DEIXIS)
    return address_object(rng, words, classes)


def address_object(rng: RandomStream, words: DialogueLexicon, classes: Weighted[str]) -> Line:
    """Return a line that addresses the listener with words of the lexicon."""
    return rng.choice((_address_object, _address_object, _possession))(rng, words, classes)


def _address_object(rng: RandomStream, words: DialogueLexicon, classes: Weighted[str]) -> Line:
    """Return a question, a demand or a request: ``did you sell the car ?``"""
    chosen, phrase = random_object(rng, words, classes)
    verb, base = chosen.verb, chosen.verb.english.base
    np_en, np_de = phrase.english, phrase.german(chosen.case)
    prefix = f" {verb.prefix}" if verb.prefix else ""
    polite_finite = german.present(verb, True)
    texts = rng.choice(
        (
            (f"did you {base} {np_en} ?", "{hast} {du} " + f"{np_de} {verb.participle} ?"),
            (f"why did you {base} {np_en} ?", "warum {hast} {du} " + f"{np_de} {verb.participle} ?"),
            (f"can you {base} {np_en} ?", "{kannst} {du} " + f"{np_de} {verb.infinitive} ?"),
            (f"do you want to {base} {np_en} ?", "{willst} {du} " + f"{np_de} {verb.infinitive} ?"),
            (f"you have to {base} {np_en} .", "{du} {musst} " + f"{np_de} {verb.infinitive} ."),
            (f"you should {base} {np_en} .", "{du} {solltest} " + f"{np_de} {verb.infinitive} ."),
            (f"will you {base} {np_en} tomorrow ?", "{finite} {du} morgen " + f"{np_de}{prefix} ?"),
            (f"{base} {np_en} , please .", "{imperative} " + f"{np_de}{prefix} , bitte ."),
        )[: 1 if verb.infinitive in INVOLUNTARY else None]
    )
    return _by_register(
        *texts,
        finite=(german.present_familiar(verb), polite_finite),
        imperative=(german.imperative_familiar(verb), f"{polite_finite} sie"),
    )


_REGISTER = {
    "du": ("du", "sie"),
    "hast": ("hast", "haben"),
    "kannst": ("kannst", "können"),
    "willst": ("willst", "wollen"),
    "musst": ("musst", "müssen"),
    "solltest": ("solltest", "sollten"),
}


def _by_register(english_text: str, pattern: str, **forms: tuple[str, str]) -> Line:
    """Fill the slots of a German pattern with the forms for a friend and for a stranger."""
    known = _REGISTER | forms
    familiar, polite = (pattern.format(**{name: pair[place] for name, pair in known.items()}) for place in (0, 1))
    return Line(english_text, familiar, polite, Dependency.DEIXIS)


def _possession(rng: RandomStream, words: DialogueLexicon, _classes: Weighted[str]) -> Line:
    """Return a line about something of the listener: ``where is your key ?``"""
    noun_class = rng.choice(("thing", "thing", "text"))
    nouns = [noun for noun in words.nouns[noun_class] if noun.english.singular]
    noun = rng.choice(nouns)
    verb = rng.choice(words.verbs_for(noun_class, "acc")).verb
    name = noun.english.singular
    texts = rng.choice(
        (
            (f"where is your {name} ?", "wo ist {nom} ?"),
            (f"is that your {name} ?", "ist das {nom} ?"),
            (f"i {verb.english.past} your {name} .", f"ich habe {{acc}} {verb.participle} ."),
            (f"she {verb.english.past} your {name} .", f"sie hat {{acc}} {verb.participle} ."),
        )
    )
    return _by_register(*texts, nom=_your(noun, "nom"), acc=_your(noun, "acc"))


def _your(noun: Noun, case: german.Case) -> tuple[str, str]:
    """Return the noun with ``your``, to a friend and to a stranger."""
    ending = german.inflect_article("ein", case, noun.gender).removeprefix("ein")
    form = german.inflect_noun(noun, case, False)
    return f"dein{ending} {form}", f"ihr{ending} {form}"


# ------------------------------------------------------------------ ellipsis


class VerbPhraseEllipsis(NamedTuple):
    """A question or statement, and a reply that leaves the verb out, in English and German."""

    question: str
    german_question: str
    reply: str
    german_reply: str


_VERB_PHRASES = tuple(
    VerbPhraseEllipsis(*(text.strip() for text in pattern.split("|")))
    for pattern in (
        "did {s} {base} {np} ? | {aux} {subj} {obj} {participle} ? "
        "| yes , {s} did . | ja , {subj} {aux} {pron} {participle} .",
        "did {s} {base} {np} ? | {aux} {subj} {obj} {participle} ? "
        "| no , {s} did not . | nein , {subj} {aux} {pron} nicht {participle} .",
        "who {past} {np} ? | wer hat {obj} {participle} ? | {s} did . | {subj} {aux} {pron} {participle} .",
        "nobody {past} {np} . | niemand hat {obj} {participle} . "
        "| but {s} did . | aber {subj} {aux} {pron} {participle} .",
        "can {s} {base} {np} ? | {kann} {subj} {obj} {infinitive} ? "
        "| yes , {s} can . | ja , {subj} {kann} {pron} {infinitive} .",
        "{s} cannot {base} {np} . | {subj} {kann} {obj} nicht {infinitive} . "
        "| who can ? | wer kann {pron} {infinitive} ?",
    )
)


def verb_phrase_pattern(rng: RandomStream) -> VerbPhraseEllipsis:
    """Return a kind of question and reply."""
    return rng.choice(_VERB_PHRASES)


def verb_phrase_ellipsis(
    pattern: VerbPhraseEllipsis, subject: Subject, chosen: ObjectVerb, phrase: ObjectPhrase
) -> tuple[Line, Line]:
    """Return a line with a verb, and a reply whose German repeats the verb: ``did he sell it ?``, ``yes , he did .``"""
    verb, phrase = chosen.verb, phrase.definite
    slots = {
        "s": subject.english,
        "base": verb.english.base,
        "past": verb.english.past,
        "np": phrase.english,
        "subj": subject.german,
        "aux": subject.auxiliary(verb),
        "kann": subject.können,
        "obj": phrase.german(chosen.case),
        "pron": _PRONOUNS[chosen.case][phrase.noun.gender],
        "participle": verb.participle,
        "infinitive": verb.infinitive,
    }
    return (
        same(pattern.question.format(**slots), pattern.german_question.format(**slots)),
        same(pattern.reply.format(**slots), pattern.german_reply.format(**slots), Dependency.VERB_PHRASE),
    )


_NOUN_ELLIPSES = (
    ("and {} ?", "und {} ?"),
    ("not {} .", "nicht {} ."),
    ("why {} ?", "warum {} ?"),
    ("or {} ?", "oder {} ?"),
    ("only {} ?", "nur {} ?"),
    ("yes , {} .", "ja , {} ."),
    ("no , {} .", "nein , {} ."),
)


def noun_phrase_pattern(rng: RandomStream) -> tuple[str, str]:
    """Return the frame of a noun phrase without a verb, in English and German."""
    return rng.choice(_NOUN_ELLIPSES)


def noun_phrase_ellipsis(pattern: tuple[str, str], phrase: ObjectPhrase, case: german.Case) -> Line:
    """Return a noun phrase whose verb is left out: ``and the teacher ?`` The case is that of the antecedent."""
    english_text, german_text = pattern
    return same(english_text.format(phrase.english), german_text.format(phrase.german(case)), Dependency.INFLECTION)


def antecedent_of_case(rng: RandomStream, words: DialogueLexicon, case: german.Case, noun: Noun) -> Line:
    """Return a line in which a person is in this case: who came, whom somebody saw, whom somebody helped."""
    phrase = random_phrase(rng, noun)
    if case == "nom":
        return event(rng.choice(words.intransitive), phrase)
    return statement(rng.choice(SUBJECTS), rng.choice(words.verbs_for("person", case)), phrase)


# ------------------------------------------------------------------ lexical cohesion

Mention = tuple[str, str, german.Case, str]  # English, German, the case of the name, and a preposition that contracts

_PERSON_MENTIONS: tuple[Mention, ...] = (
    ("{} called yesterday .", "{} hat gestern angerufen .", "nom", ""),
    ("where is {} ?", "wo ist {} ?", "nom", ""),
    ("{} was here .", "{} war hier .", "nom", ""),
    ("that was {} .", "das war {} .", "nom", ""),
    ("{} has nothing to do with it .", "{} hat nichts damit zu tun .", "nom", ""),
    ("i am waiting for {} .", "ich warte auf {} .", "acc", ""),
    ("nobody has seen {} .", "niemand hat {} gesehen .", "acc", ""),
    ("she wants to marry {} .", "sie will {} heiraten .", "acc", ""),
    ("they invited {} .", "sie haben {} eingeladen .", "acc", ""),
    ("without {} , it will not work .", "ohne {} geht es nicht .", "acc", ""),
    ("he works with {} .", "er arbeitet mit {} .", "dat", ""),
    ("i got it from {} .", "ich habe es von {} .", "dat", ""),
    ("we are going to see {} .", "wir gehen zu {} .", "dat", ""),
)
_PLACE_MENTIONS: tuple[Mention, ...] = (
    ("{} is closed .", "{} ist geschlossen .", "nom", ""),
    ("{} is not far .", "{} ist nicht weit .", "nom", ""),
    ("is that {} ?", "ist das {} ?", "nom", ""),
    ("everybody is talking about {} .", "alle reden über {} .", "acc", ""),
    ("i know {} well .", "ich kenne {} gut .", "acc", ""),
    ("we did not find {} .", "wir haben {} nicht gefunden .", "acc", ""),
    ("the taxi is waiting in front of {} .", "das taxi wartet vor {} .", "dat", ""),
    ("he was seen behind {} .", "er wurde hinter {} gesehen .", "dat", ""),
    ("she was walking to {} .", "sie ging {} .", "dat", "zu"),
    ("it happened near {} .", "es ist {} passiert .", "dat", "bei"),
    ("they come from {} .", "sie kommen {} .", "dat", "von"),
)


def random_name(rng: RandomStream, words: DialogueLexicon) -> Name:
    """Return the name of a person or, more often, of a place: there are more of them."""
    return rng.choice(words.people if rng.chance(0.4) else words.places)


def mentions_of(name: Name) -> Sequence[Mention]:
    """Return the frames in which a name can stand."""
    return _PERSON_MENTIONS if name.is_person else _PLACE_MENTIONS


def mention(name: Name, rendering: int, frame: Mention) -> Line:
    """Return a line with a name."""
    english_text, german_text, case, preposition = frame
    phrase = name.german_phrase(rendering, case)
    if preposition:
        phrase = german.contract(preposition, phrase)
    return same(english_text.format(name.english_phrase), german_text.format(phrase), Dependency.COHESION)
