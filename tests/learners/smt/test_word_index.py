from learners.smt.word_index import WordIndex


def test_most_frequent_word_gets_the_first_free_id():
    words = WordIndex.from_sentences([["b", "a"], ["b"]], reserved=3)
    assert words.ids_of(["b", "a", "c"]).tolist() == [3, 4, -1]
    assert [words.word_of(word_id) for word_id in (3, 4)] == ["b", "a"]
    assert len(words) == 5


def test_an_array_of_words_restores_the_index():
    for spellings in ([], ["ä"], ["a", "löwe", '"']):
        words = WordIndex.from_array(WordIndex(spellings, 3).to_array(), 3)
        assert words.ids_of(spellings).tolist() == list(range(3, 3 + len(spellings)))
        assert len(words) == 3 + len(spellings)
