"""The words of one news topic, indexed by what they can be combined with."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from corpora.synth.lexicon.entries import Adjective, GeneralTopic, NewsNoun, Topic, VerbFrame

OWN_FRAME_WEIGHT = 3  # a topic's own verbs make it recognisable, so they count more than those of every topic


class TopicLexicon:
    """The words of one topic, together with the general ones."""

    def __init__(self, topic: Topic, general: GeneralTopic) -> None:
        self.general = general
        self.nouns: dict[str, list[NewsNoun]] = defaultdict(list)  # by semantic class, like the adjectives
        self.adjectives: dict[str, list[Adjective]] = defaultdict(list)
        self.predicates: dict[str, list[Adjective]] = defaultdict(list)
        for source in (topic, general):
            for noun in source.nouns:
                for name in noun.classes:
                    self.nouns[name].append(noun)
            for described in source.adjectives:
                for name in described.noun_classes:
                    self.adjectives[name].append(described.adjective)
                    if described.predicative:
                        self.predicates[name].append(described.adjective)
        own = [frame for frame in topic.frames if self._can_fill(frame)]
        shared = [frame for frame in general.frames if self._can_fill(frame)]
        self.frames = own * OWN_FRAME_WEIGHT + shared
        self.by_subject = {name: [f for f in self.frames if name in f.subject] for name in self.nouns}
        self.simple_frames = [frame for frame in self.frames if not frame.clause]

    def _can_fill(self, frame: VerbFrame) -> bool:
        """Return whether the topic has nouns for everything that the frame asks for."""
        wanted = (frame.subject, frame.object, frame.dative, frame.prepositional_object)
        return all(self.classes_with_nouns(classes) for classes in wanted if classes)

    def classes_with_nouns(self, classes: Iterable[str]) -> list[str]:
        """Return those of the classes for which the topic has a noun."""
        return [name for name in classes if self.nouns.get(name)]


def topic_lexicons(topics: Sequence[Topic], general: GeneralTopic) -> list[TopicLexicon]:
    """Return the lexicons of those topics that have enough words for a sentence."""
    lexicons = [TopicLexicon(topic, general) for topic in topics]
    return [lexicon for lexicon in lexicons if lexicon.frames]
