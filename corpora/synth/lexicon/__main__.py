"""``python -m corpora.synth.lexicon``: how much there is, and every mistake with file and line."""

import sys

from corpora.synth.lexicon.reader import Reader

SHOP = ("heads", "modifiers", "materials", "features", "parts", "attributes", "uses", "accessories", "actions", "lines")
NEWS = ("nouns", "adjectives", "frames")


def main() -> int:
    reader = Reader()
    lexicon = reader.read()
    for category in lexicon.categories:
        counts = ", ".join(f"{len(getattr(category, section))} {section}" for section in SHOP)
        print(f"shop/{category.identifier}: {counts}")
    for topic in [*lexicon.topics, lexicon.general]:
        print(f"news/{topic.identifier}: {', '.join(f'{len(getattr(topic, section))} {section}' for section in NEWS)}")
    print(f"{len(lexicon.shifts)} shifts, {len(lexicon.colors)} colors, {len(lexicon.brands)} brands")
    entries = sum(len(getattr(category, section)) for category in lexicon.categories for section in SHOP)
    entries += sum(len(getattr(topic, section)) for topic in [*lexicon.topics, lexicon.general] for section in NEWS)
    print(f"{entries} entries, {len(reader.mistakes)} mistakes")
    for mistake in reader.mistakes:
        print(mistake)
    return 1 if reader.mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
