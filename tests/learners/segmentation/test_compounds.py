"""Unknown compounds become known words, and copied parts become whole words again."""

from hypothesis import given
from hypothesis import strategies as st

from learners.segmentation.compounds import CompoundSplitter, SplitSentence, SplitterConfig

COUNTS = {
    "Drucker": 30,
    "Schlange": 9,
    "warte": 4,
    "Einstellung": 60,
    "Einstellungen": 40,
    "Karte": 12,
    "Kartenspiel": 1,
    "Spiel": 20,
    "spielt": 3,
    "Verbindung": 15,
    "Verbindungsabbruch": 6,
    "Abbruch": 7,
    "E-Mail": 51,
    "Mail": 8,
    "x": 5,
    "oft": 99,
}
GERMAN = CompoundSplitter(COUNTS, "de")


def parts(word, splitter=GERMAN):
    return splitter.split(word).text.split()


def test_an_unknown_compound_is_split_into_known_words_in_their_own_spelling():
    assert parts("Druckerkarte") == ["Drucker", "Karte"]


def test_fillers_between_parts_are_dropped():
    assert parts("Verbindungskarte") == ["Verbindung", "Karte"]
    assert parts("Kartendrucker") == ["Karte", "Drucker"]


def test_the_last_part_may_be_another_form_of_a_known_word():
    assert parts("Druckerkarten") == ["Drucker", "Karte"]
    assert parts("Druckereinstellungen") == ["Drucker", "Einstellungen"]  # which is known as it is


def test_an_unknown_form_of_a_known_word_becomes_the_known_form():
    assert parts("Verbindungen") == ["Verbindung"]
    assert parts("Spiele") == ["Spiel"]


def test_fewer_parts_are_better_than_frequent_ones():
    assert parts("Verbindungsabbruchkarte") == ["Verbindungsabbruch", "Karte"]


def test_a_compound_may_have_four_parts_and_no_more():
    assert parts("Druckerwartekartenspiel") == ["Drucker", "warte", "Karte", "Spiel"]
    assert parts("Druckerkartendruckerkartenspiel") == ["Druckerkartendruckerkartenspiel"]


def test_a_known_word_is_split_only_if_it_is_rare_and_its_parts_are_frequent():
    assert parts("Kartenspiel") == ["Karte", "Spiel"]  # seen once, its parts more than five times
    assert parts("Verbindungsabbruch") == ["Verbindungsabbruch"]  # seen six times
    assert parts("warte") == ["warte"]


def test_hyphenated_words_are_split_unless_they_are_frequent():
    assert parts("Drucker-Karte") == ["Drucker", "Karte"]
    assert parts("Karten-Druckereinstellung") == ["Karte", "Drucker", "Einstellung"]
    assert parts("E-Mail") == ["E-Mail"]


def test_options_codes_and_plain_words_stay_as_they_are():
    for word in ("--drucker-karte", "-x", "iso-8859-2", "-", "--", "oft", "qwrtz", "x86", "...", "Drucker-", "-karte"):
        assert parts(word) == [word]


def test_other_languages_have_no_fillers_and_no_endings():
    unknown = CompoundSplitter(COUNTS, "xx")
    assert parts("Druckerkarte", unknown) == ["Drucker", "Karte"]
    assert parts("Verbindungskarte", unknown) == ["Verbindungskarte"]
    assert parts("Druckerkarten", unknown) == ["Druckerkarten"]


def test_text_without_compounds_is_unchanged():
    english = CompoundSplitter.learn(["the printer is on", "the card is in the printer"], "en")
    assert english.split("the card is on") == SplitSentence("the card is on", {})


def test_pieces_of_hyphenated_words_in_the_training_text_are_known_words():
    learned = CompoundSplitter.learn(["die Gleitkomma-Zahl", "eine Gleitkomma-Zahl"], "de")
    assert parts("Gleitkommazahlen", learned) == ["Gleitkomma", "Zahl"]


def test_copied_parts_are_joined_again():
    sentence = GERMAN.split("der Foo-Drucker")
    assert sentence.text == "der Foo Drucker"
    assert sentence.rejoin("the Foo Drucker works") == "the Foo-Drucker works"
    assert sentence.rejoin("the Foo printer") == "the Foo printer"
    assert sentence.separate("the Foo-Drucker works") == "the Foo Drucker works"


def test_known_parts_are_translated_and_never_joined():
    assert GERMAN.split("Drucker-Karte").rejoin("Drucker Karte") == "Drucker Karte"


words = st.text("abcdeSK-", min_size=1, max_size=12)
sentences = st.lists(words, max_size=6).map(" ".join)


@given(sentences, st.dictionaries(words, st.integers(1, 60), max_size=20), st.permutations(range(6)))
def test_joining_is_undone_by_separating(source, counts, order):
    sentence = CompoundSplitter(counts, "de", SplitterConfig(min_part_letters=1, min_compound_letters=2)).split(source)
    tokens = sentence.text.split()
    translation = " ".join(tokens[place] for place in order if place < len(tokens))
    whole = set(source.split()) & set(translation.split())
    if not whole & set(sentence.copied.values()):
        assert sentence.separate(sentence.rejoin(translation)) == " ".join(translation.split())


@given(words, st.dictionaries(words, st.integers(1, 60), max_size=20))
def test_no_letter_is_invented_and_none_but_fillers_and_endings_is_lost(word, counts):
    config = SplitterConfig(min_part_letters=1, min_compound_letters=2)
    split = CompoundSplitter(counts, "xx", config).split(word).text
    assert split.replace(" ", "").lower() in (word.lower(), word.replace("-", "").lower())


def test_a_stored_splitter_splits_alike():
    restored = CompoundSplitter.from_stored(GERMAN.to_values(), GERMAN.to_arrays())
    assert restored is not None
    assert restored.config == GERMAN.config
    for word in ("Druckerkarten", "Kartenspiel", "E-Mail", "Foo-Karte"):
        assert restored.split(word) == GERMAN.split(word)
    empty = CompoundSplitter({}, "de")
    again = CompoundSplitter.from_stored(empty.to_values(), empty.to_arrays())
    assert again is not None
    assert again.split("Foo-Karte") == SplitSentence("Foo Karte", {("Foo", "Karte"): "Foo-Karte"})
    assert CompoundSplitter.from_stored(None, {}) is None
