"""A random order of sentence pairs that does not depend on the order in which the text gives them.

Text comes sorted: by document, by source, by length. A sample of its first or last pairs is of one kind, and a model
that is tuned or trained on it becomes another model when the files are joined in another order.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from learners.nmt.batches import Pair

DIGEST_BYTES = 8


def in_random_order(pairs: Iterable[Pair], *, seed: int) -> list[Pair]:
    """Return the pairs sorted by a hash of their text, the number of the copy, and the seed."""
    key = str(seed).encode()
    copies: Counter[Pair] = Counter()
    keyed: list[tuple[bytes, Pair]] = []
    for pair in pairs:
        copies[pair] += 1
        text = f"{pair[0]}\n{pair[1]}\n{copies[pair]}".encode("utf-8", "surrogatepass")
        keyed.append((blake2b(text, key=key, digest_size=DIGEST_BYTES).digest(), pair))
    return [pair for _, pair in sorted(keyed)]
