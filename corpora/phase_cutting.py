"""The layouts of the phases that an imported corpus is cut into."""

from task.layout import Layout, LayoutError
from task.phases import DEV, MOCK, TRAINING

MIN_IN_DOMAIN_PAIRS = 1_000  # with fewer, the held-out blocks have only a handful of sentences


def cut_phases(
    pairs: int, *, dev: int | None = None, training: int | None = None, held_out: bool = True
) -> dict[str, Layout]:
    """Return the layouts of the phases for this many distinct pairs, with the passes and shares of the WMT 2017 task.

    ``dev`` and ``training`` set the numbers of rounds exactly. Without ``held_out``, phases have no held-out passes, as
    phases that show post-edits must. Raises LayoutError, naming the nearest valid sizes, if there are too few pairs or
    if a size cannot be laid out.
    """
    if pairs < MIN_IN_DOMAIN_PAIRS:
        raise LayoutError(
            f"a task needs at least {MIN_IN_DOMAIN_PAIRS:,} clean in-domain pairs, but there are {pairs:,}"
        )
    left = pairs - MOCK.layout.distinct
    dev_pairs = min(DEV.layout.distinct, left // 10)
    if not held_out:
        return _cut_plain(left, dev or dev_pairs, training)
    dev_layout = _with_distinct(DEV.layout, dev_pairs) if dev is None else _with_total(DEV.layout, dev)
    left -= dev_layout.distinct
    if left < TRAINING.layout.blocks:
        raise LayoutError(f"{dev_layout.total:,} dev rounds use up the {pairs:,} pairs: none are left for training")
    training_layout = (
        _with_distinct(TRAINING.layout, left) if training is None else _with_total(TRAINING.layout, training)
    )
    if training_layout.distinct > left:
        largest = _with_distinct(TRAINING.layout, left).total
        raise LayoutError(
            f"{training_layout.total:,} training rounds need {training_layout.distinct:,} distinct pairs, but only"
            f" {left:,} are left, enough for {largest:,} rounds"
        )
    return {"mock": MOCK.layout, "dev": dev_layout, "training": training_layout}


def _cut_plain(pairs: int, dev: int, training: int | None) -> dict[str, Layout]:
    """Return layouts of fresh sentences only. Raises LayoutError if there are too few pairs."""
    left = pairs - dev
    if left < max(1, training or 1):
        raise LayoutError(f"{dev:,} dev and {training or 1:,} training rounds need more than the {pairs:,} pairs left")
    return {"mock": MOCK.layout, "dev": Layout.plain(dev), "training": Layout.plain(training or left)}


def _held_out_size(original: Layout, original_size: int, size: int) -> int:
    """Return the size of a held-out block with the share of the original, but of at least 1 % of a small phase."""
    return max(1, round(size * original.block / original_size), min(size // 100, 100))


def _with_distinct(original: Layout, distinct: int) -> Layout:
    """Return a layout with the passes of the original over at most this many distinct sentences."""
    block = _held_out_size(original, original.distinct, distinct)
    return Layout(original.blocks, block, (distinct - block) // (original.blocks - 1))


def _with_total(original: Layout, total: int) -> Layout:
    """Return a layout of exactly this many rounds, with a held-out block just large enough to make the gaps equal."""
    block = _held_out_size(original, original.total, total)
    block += (total - block) % (original.blocks - 1)
    return Layout.fit(total, blocks=original.blocks, block=block)
