"""The words of a news topic, by what they can be combined with."""

from pathlib import Path

from corpora.synth.lexicon.reader import LexiconReader
from corpora.synth.topic_lexicon import TopicLexicon
from tests.corpora.synth.lexicon.lexicons import write_lexicon


def test_an_attributive_adjective_is_no_predicate(tmp_path: Path):
    lines = "[adjectives]\nehemalig | former ; of=person attributive\nmutig | brave ; of=person\n"
    reader = LexiconReader(write_lexicon(tmp_path, news="[topic]\ny | Y | y\n" + lines))
    words = reader.read()
    topic = TopicLexicon(words.topics[0], words.general)
    assert [word.lemma for word in topic.adjectives["person"]][:2] == ["ehemalig", "mutig"]
    assert [word.lemma for word in topic.predicates["person"]][:1] == ["mutig"]
