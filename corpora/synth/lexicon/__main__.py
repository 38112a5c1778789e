"""``python -m corpora.synth.lexicon``: print the number of entries, and every mistake with its file and line."""

import sys

from corpora.synth.lexicon.entries import Category, Topic
from corpora.synth.lexicon.reader import LexiconReader

SHOP_SECTIONS = (
    "heads", "modifiers", "materials", "features", "parts", "attributes", "uses", "accessories", "actions", "lines",
)  # fmt: skip
NEWS_SECTIONS = ("nouns", "adjectives", "frames")


def main() -> int:
    """Print the counts and the mistakes; return 1 if there are mistakes."""
    reader = LexiconReader()
    lexicon = reader.read()
    topics = [*lexicon.topics, lexicon.general]
    for category in lexicon.categories:
        print(f"shop/{category.identifier}: {_counts(category, SHOP_SECTIONS)}")
    for topic in topics:
        print(f"news/{topic.identifier}: {_counts(topic, NEWS_SECTIONS)}")
    print(f"{len(lexicon.shifts)} shifts, {len(lexicon.colors)} colors, {len(lexicon.brands)} brands")
    entries = sum(len(getattr(category, section)) for category in lexicon.categories for section in SHOP_SECTIONS)
    entries += sum(len(getattr(topic, section)) for topic in topics for section in NEWS_SECTIONS)
    print(f"{entries} entries, {len(reader.mistakes)} mistakes")
    for mistake in reader.mistakes:
        print(mistake)
    return 1 if reader.mistakes else 0


def _counts(words: Category | Topic, sections: tuple[str, ...]) -> str:
    return ", ".join(f"{len(getattr(words, section))} {section}" for section in sections)


if __name__ == "__main__":
    sys.exit(main())
