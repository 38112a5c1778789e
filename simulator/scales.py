"""The sizes of tasks: scales of synthetic ones, and the phases that a corpus of a given size is cut into."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from task.layout import Layout, LayoutError
from task.phases import DEV, MOCK, TRAINING


@dataclass(frozen=True, slots=True)
class Scale:
    """The layouts of the phases, and the number of out-of-domain pairs."""

    dev: Layout
    training: Layout
    out_of_domain: int
    mock: Layout = MOCK.layout
    departments: int | None = None  # of the synthetic shop; None for all

    @property
    def phases(self) -> Mapping[str, Layout]:
        return {"mock": self.mock, "dev": self.dev, "training": self.training}

    @property
    def lines(self) -> int:
        """The number of pairs in all files."""
        return self.out_of_domain + sum(layout.total for layout in self.phases.values())

    def resized(
        self, *, mock: int | None = None, dev: int | None = None, training: int | None = None, out_of_domain: int | None
    ) -> "Scale":
        """Return a scale with the same held-out blocks and other sizes. Raises LayoutError naming the nearest sizes."""
        return replace(
            self,
            mock=self.mock if mock is None else Layout.plain(mock),
            dev=self.dev if dev is None else _refit(self.dev, dev),
            training=self.training if training is None else _refit(self.training, training),
            out_of_domain=self.out_of_domain if out_of_domain is None else out_of_domain,
        )


def _refit(layout: Layout, total: int) -> Layout:
    return Layout.fit(total, blocks=layout.blocks, block=layout.block)


class ScaleName(StrEnum):
    """The names of the scales."""

    DEMO = "demo"
    DEV = "dev"
    FULL = "full"


SCALES = {
    ScaleName.DEMO: Scale(  # dev has a tenth of its size in the WMT 2017 task: seconds to make, minutes to learn from
        dev=Layout(blocks=4, block=70, gap=1_240),  # 4,000 rounds
        training=Layout(blocks=12, block=100, gap=800),  # 10,000 rounds
        out_of_domain=40_000,
        departments=3,  # a model that is trained for a minute cannot know the words of all 35
    ),
    ScaleName.DEV: Scale(
        dev=DEV.layout,
        training=Layout(blocks=12, block=450, gap=8_600),  # 100,000 rounds
        out_of_domain=400_000,  # with half of it, more tokens are unknown than the 6 and 2 % of Sokolov et al. 2017
    ),
    ScaleName.FULL: Scale(dev=DEV.layout, training=TRAINING.layout, out_of_domain=1_000_000),
}

MIN_IN_DOMAIN_PAIRS = 1_000  # with fewer, a held-out block is too short to measure anything


def cut_phases(pairs: int, *, dev: int | None = None, training: int | None = None) -> dict[str, Layout]:
    """Return the layouts of the phases for a corpus of ``pairs`` pairs, proportioned as in the WMT 2017 task.

    Phases whose size in rounds is given get exactly that size. Raises LayoutError naming the nearest sizes, or the
    number of rounds that the corpus is enough for.
    """
    if pairs < MIN_IN_DOMAIN_PAIRS:
        raise LayoutError(
            f"a task needs {MIN_IN_DOMAIN_PAIRS:,} clean in-domain pairs or more, but there are {pairs:,}"
        )
    remaining = pairs - MOCK.layout.distinct
    dev_pairs = min(DEV.layout.distinct, remaining // 10)
    dev_layout = _proportional(DEV.layout, dev_pairs) if dev is None else _sized(DEV.layout, dev)
    remaining -= dev_layout.distinct
    if remaining < TRAINING.layout.blocks:
        raise LayoutError(f"{dev_layout.total:,} dev rounds leave nothing to train on of {pairs:,} pairs")
    given = None if training is None else _sized(TRAINING.layout, training)
    training_layout = given or _proportional(TRAINING.layout, remaining)
    if training_layout.distinct > remaining:
        largest = _proportional(TRAINING.layout, remaining).total
        raise LayoutError(
            f"{training_layout.total:,} training rounds need {training_layout.distinct:,} distinct pairs, but only"
            f" {remaining:,} are left, enough for {largest:,} rounds"
        )
    return {"mock": MOCK.layout, "dev": dev_layout, "training": training_layout}


def _held_out(original: Layout, share_of: int, size: int) -> int:
    """Return the length of a held-out block: the original's share, but at least 1 % of a small phase, up to 100."""
    return max(1, round(size * original.block / share_of), min(size // 100, 100))


def _proportional(original: Layout, distinct: int) -> Layout:
    """Return a layout with the original's passes over as many of these distinct sentences as fit."""
    block = _held_out(original, original.distinct, distinct)
    return Layout(original.blocks, block, (distinct - block) // (original.blocks - 1))


def _sized(original: Layout, total: int) -> Layout:
    """Return a layout of exactly ``total`` rounds, its held-out block lengthened until the gaps are equal."""
    block = _held_out(original, original.total, total)
    block += (total - block) % (original.blocks - 1)
    return Layout.fit(total, blocks=original.blocks, block=block)
