"""A topic of the news, indexed by what its words can be combined with."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from corpora.synth.lexicon.entries import Adjective, GeneralTopic, NewsNoun, Topic, VerbFrame


class Field:
    """The words of one topic together with those that every topic uses."""

    def __init__(self, topic: Topic, general: GeneralTopic) -> None:
        self.general = general
        self.nouns: dict[str, list[NewsNoun]] = defaultdict(list)
        self.adjectives: dict[str, list[Adjective]] = defaultdict(list)
        self.predicates: dict[str, list[Adjective]] = defaultdict(list)
        for source in (topic, general):
            for entry in source.nouns:
                for name in entry.classes:
                    self.nouns[name].append(entry)
            for described in source.adjectives:
                for name in described.noun_classes:
                    self.adjectives[name].append(described.adjective)
                    if described.predicative:
                        self.predicates[name].append(described.adjective)
        own = [frame for frame in topic.frames if self._can_fill(frame)]
        shared = [frame for frame in general.frames if self._can_fill(frame)]
        # a topic's own verbs are what makes it recognisable: they count three times
        self.frames = own * 3 + shared
        self.by_subject = {name: [f for f in self.frames if name in f.subject] for name in self.nouns}
        self.simple_frames = [frame for frame in self.frames if not frame.clause]

    def _can_fill(self, frame: VerbFrame) -> bool:
        wanted = (frame.subject, frame.object, frame.dative, frame.prepositional_object)
        return all(self.fillable(classes) for classes in wanted if classes)

    def fillable(self, classes: Iterable[str]) -> list[str]:
        """Those of the classes for which the topic has a noun."""
        return [name for name in classes if self.nouns.get(name)]


def fields(topics: Sequence[Topic], general: GeneralTopic) -> list[Field]:
    """One field for each topic that has enough words to make a sentence."""
    made = [Field(topic, general) for topic in topics]
    return [field for field in made if field.frames]
