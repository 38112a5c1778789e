from learners.smt.word_index import WordIndex


def test_the_most_frequent_word_has_the_first_free_number():
    words = WordIndex.of([["b", "a"], ["b"]], reserved=3)
    assert words.numbers(["b", "a", "c"]).tolist() == [3, 4, -1]
    assert [words.spelling(number) for number in (3, 4)] == ["b", "a"]
    assert len(words) == 5


def test_words_can_be_packed_and_unpacked():
    for spellings in ([], ["ä"], ["a", "löwe", '"']):
        words = WordIndex.unpacked(WordIndex(spellings, 3).packed(), 3)
        assert words.numbers(spellings).tolist() == list(range(3, 3 + len(spellings)))
        assert len(words) == 3 + len(spellings)
