"""German inflection, checked against a grammar."""

import pytest

from corpora.synth import german_morphology
from corpora.synth.lexicon.notation import parse_adjective, parse_noun, parse_verb

DECKE = parse_noun("die decke, decken", "blanket", {})
STUHL = parse_noun("der stuhl, stühle", "chair", {})
KISSEN = parse_noun("das kissen, kissen", "pillow", {})
KUNDE = parse_noun("der kunde, kunden, kunden", "customer", {})
MOEBEL = parse_noun("pl möbel", "furniture/-", {})
WEICH = parse_adjective("weich", "soft")
DUNKEL = parse_adjective("dunkel/dunkl", "dark")
ROSA = parse_adjective("rosa/!", "pink")

CASES: tuple[german_morphology.Case, ...] = ("nom", "acc", "dat", "gen")


@pytest.mark.parametrize(
    ("word", "article", "expected"),
    [
        (STUHL, "der", ["der weiche stuhl", "den weichen stuhl", "dem weichen stuhl", "des weichen stuhls"]),
        (STUHL, "ein", ["ein weicher stuhl", "einen weichen stuhl", "einem weichen stuhl", "eines weichen stuhls"]),
        (STUHL, "", ["weicher stuhl", "weichen stuhl", "weichem stuhl", "weichen stuhls"]),
        (DECKE, "der", ["die weiche decke", "die weiche decke", "der weichen decke", "der weichen decke"]),
        (DECKE, "ein", ["eine weiche decke", "eine weiche decke", "einer weichen decke", "einer weichen decke"]),
        (DECKE, "", ["weiche decke", "weiche decke", "weicher decke", "weicher decke"]),
        (KISSEN, "der", ["das weiche kissen", "das weiche kissen", "dem weichen kissen", "des weichen kissens"]),
        (KISSEN, "ein", ["ein weiches kissen", "ein weiches kissen", "einem weichen kissen", "eines weichen kissens"]),
        (
            KISSEN,
            "dieser",
            ["dieses weiche kissen", "dieses weiche kissen", "diesem weichen kissen", "dieses weichen kissens"],
        ),
        (KUNDE, "der", ["der weiche kunde", "den weichen kunden", "dem weichen kunden", "des weichen kunden"]),
    ],
)
def test_singular_noun_phrases_agree(word, article, expected):
    assert [german_morphology.noun_phrase(word, article, (WEICH,), case, False) for case in CASES] == expected


@pytest.mark.parametrize(
    ("word", "article", "expected"),
    [
        (STUHL, "der", ["die weichen stühle", "die weichen stühle", "den weichen stühlen", "der weichen stühle"]),
        (STUHL, "", ["weiche stühle", "weiche stühle", "weichen stühlen", "weicher stühle"]),
        (STUHL, "ein", ["weiche stühle", "weiche stühle", "weichen stühlen", "weicher stühle"]),
        (
            KISSEN,
            "dieser",
            ["diese weichen kissen", "diese weichen kissen", "diesen weichen kissen", "dieser weichen kissen"],
        ),
        (MOEBEL, "", ["weiche möbel", "weiche möbel", "weichen möbeln", "weicher möbel"]),
    ],
)
def test_plural_noun_phrases_agree(word, article, expected):
    assert [german_morphology.noun_phrase(word, article, (WEICH,), case, True) for case in CASES] == expected


def test_adjectives_with_another_stem_or_without_inflection():
    assert german_morphology.noun_phrase(STUHL, "ein", (DUNKEL,), "nom", False) == "ein dunkler stuhl"
    assert german_morphology.noun_phrase(STUHL, "ein", (ROSA, WEICH), "dat", False) == "einem rosa weichen stuhl"


def test_a_plural_in_s_or_n_takes_no_dative_n():
    sofa = parse_noun("das sofa, sofas", "sofa", {})
    assert german_morphology.inflect_noun(sofa, "dat", True) == "sofas"
    assert german_morphology.inflect_noun(DECKE, "dat", True) == "decken"


@pytest.mark.parametrize(
    ("preposition", "phrase", "expected"),
    [
        ("in", "dem haus", "im haus"),
        ("in", "das haus", "ins haus"),
        ("zu", "der messe", "zur messe"),
        ("von", "dem gericht", "vom gericht"),
        ("bei", "dem händler", "beim händler"),
        ("an", "der küste", "an der küste"),
        ("auf", "das gesetz", "auf das gesetz"),
        ("vor", "krisen", "vor krisen"),
    ],
)
def test_prepositions_contract(preposition, phrase, expected):
    assert german_morphology.contract(preposition, phrase) == expected


def test_a_compound_inherits_from_its_head():
    word = german_morphology.compound("baumwoll", DECKE, "cotton")
    assert (word.lemma, word.plural, word.gender) == ("baumwolldecke", "baumwolldecken", "f")
    assert (word.english.singular, word.english.plural) == ("cotton blanket", "cotton blankets")
    hyphenated = german_morphology.compound("led-", parse_noun("der streifen, streifen", "strip", {}), "led")
    assert hyphenated.genitive == "led-streifens"


ANKUENDIGEN = parse_verb("ankündigen: kündigt an, kündigte an, angekündigt", "announce")
STEIGEN = parse_verb("steigen: steigt, stieg, gestiegen, ist", "rise/rises/rose/risen")


@pytest.mark.parametrize(
    ("word", "tense", "plural", "main", "end"),
    [
        (ANKUENDIGEN, "present", False, ("kündigt", "an"), "ankündigt"),
        (ANKUENDIGEN, "present", True, ("kündigen", "an"), "ankündigen"),
        (ANKUENDIGEN, "preterite", True, ("kündigten", "an"), "ankündigten"),
        (ANKUENDIGEN, "perfect", False, ("hat", "angekündigt"), "angekündigt hat"),
        (ANKUENDIGEN, "pluperfect", True, ("hatten", "angekündigt"), "angekündigt hatten"),
        (ANKUENDIGEN, "future", False, ("wird", "ankündigen"), "ankündigen wird"),
        (STEIGEN, "preterite", True, ("stiegen", ""), "stiegen"),
        (STEIGEN, "perfect", True, ("sind", "gestiegen"), "gestiegen sind"),
        (STEIGEN, "pluperfect", False, ("war", "gestiegen"), "gestiegen war"),
        (STEIGEN, "modal", True, ("können", "steigen"), "steigen können"),
    ],
)
def test_verbs_in_main_and_subordinate_clauses(word, tense, plural, main, end):
    assert german_morphology.sentence_bracket(word, tense, plural) == main
    assert german_morphology.verb_final(main[0], main[1], word) == end


@pytest.mark.parametrize(
    ("notation", "familiar", "imperative"),
    [
        ("kaufen: kauft, kaufte, gekauft", "kaufst", "kauf"),
        ("lesen: liest, las, gelesen", "liest", "lies"),
        ("vergessen: vergisst, vergaß, vergessen", "vergisst", "vergiss"),
        ("nehmen: nimmt, nahm, genommen", "nimmst", "nimm"),
        ("warten: wartet, wartete, gewartet", "wartest", "warte"),
        ("halten: hält, hielt, gehalten", "hältst", "halte"),
        ("einladen: lädt ein, lud ein, eingeladen", "lädst", "lade"),
        ("schlafen: schläft, schlief, geschlafen", "schläfst", "schlaf"),
        ("ändern: ändert, änderte, geändert", "änderst", "ändere"),
        ("schmeicheln: schmeichelt, schmeichelte, geschmeichelt", "schmeichelst", "schmeichle"),
        ("beleidigen: beleidigt, beleidigte, beleidigt", "beleidigst", "beleidige"),
        ("putzen: putzt, putzte, geputzt", "putzt", "putz"),
        ("anrufen: ruft an, rief an, angerufen", "rufst", "ruf"),
    ],
)
def test_forms_of_address_to_a_friend(notation, familiar, imperative):
    word = parse_verb(notation, "do")
    assert (german_morphology.present_familiar(word), german_morphology.imperative_familiar(word)) == (
        familiar,
        imperative,
    )


def test_infinitives_with_zu():
    assert german_morphology.infinitive_with_zu(ANKUENDIGEN) == "anzukündigen"
    assert german_morphology.infinitive_with_zu(STEIGEN) == "zu steigen"
