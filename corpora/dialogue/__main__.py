"""Print conversations and what their lines depend on: ``python -m corpora.dialogue [CONVERSATIONS]``."""

import sys
from collections import Counter
from itertools import islice

from corpora.dialogue.conversation import DEPENDENCY_SHARES
from corpora.dialogue.generator import DialogueGenerator
from corpora.dialogue.lines import Dependency

SHOWN, COUNTED = 10, 5_000  # conversations


def main(shown: int = SHOWN) -> None:
    """Print this many conversations, and the shares of dependencies in many more."""
    counts = Counter[Dependency]()
    for number, conversation in enumerate(islice(DialogueGenerator(1).conversations("out-of-domain"), COUNTED)):
        counts.update(line.dependency for line in conversation.lines)
        if number < shown:
            for line, (source, target) in zip(conversation.lines, conversation.pairs(), strict=True):
                print(f"{line.dependency:<14} {source:<54} {target}")
            print()
    lines = counts.total()
    dependent = lines - counts[Dependency.NONE]
    print(f"{lines:,} lines, {100 * dependent / lines:.1f} % depend on earlier ones; of these:")
    wanted = sum(DEPENDENCY_SHARES.values())
    for kind, share in DEPENDENCY_SHARES.items():
        print(f"{kind:<14} {100 * counts[kind] / dependent:4.1f} % (in the study {100 * share / wanted:.1f} %)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
