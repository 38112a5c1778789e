"""How large a task is: the sizes on offer for synthetic ones, and what a corpus of a given size can be cut into."""

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
    departments: int | None = None  # of the shop; all of them unless the models are to be trained in a minute

    @property
    def phases(self) -> Mapping[str, Layout]:
        return {"mock": self.mock, "dev": self.dev, "training": self.training}

    @property
    def lines(self) -> int:
        """Pairs that are written in all."""
        return self.out_of_domain + sum(layout.total for layout in self.phases.values())

    def resized(
        self, *, mock: int | None = None, dev: int | None = None, training: int | None = None, out_of_domain: int | None
    ) -> "Scale":
        """The same held-out blocks at other distances; sizes that cannot be are refused with the nearest that can."""
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
    """The sizes on offer."""

    DEMO = "demo"
    DEV = "dev"
    FULL = "full"


SCALES = {
    ScaleName.DEMO: Scale(  # a tenth of the original's development phase: seconds to make, minutes to learn from
        dev=Layout(blocks=4, block=70, gap=1_240),  # 4,000 rounds
        training=Layout(blocks=12, block=100, gap=800),  # 10,000 rounds
        out_of_domain=40_000,
        departments=3,  # a model that is trained in a minute cannot know the words of all 35
    ),
    ScaleName.DEV: Scale(
        dev=DEV.layout,
        training=Layout(blocks=12, block=450, gap=8_600),  # 100,000 rounds
        out_of_domain=400_000,  # with half of it, more words are unknown than the paper's 6 and 2 %
    ),
    ScaleName.FULL: Scale(dev=DEV.layout, training=TRAINING.layout, out_of_domain=1_000_000),
}

SMALLEST = 1_000  # in-domain pairs; with fewer, a held-out block has next to nothing


def cut(pairs: int, *, dev: int | None = None, training: int | None = None) -> dict[str, Layout]:
    """Phases for a corpus of ``pairs`` distinct sentences, with the passes and shares of the original task.

    Given sizes (in rounds) are laid out exactly, or refused with the nearest sizes that can be.
    """
    if pairs < SMALLEST:
        raise LayoutError(f"a task needs {SMALLEST:,} clean in-domain pairs or more, but there are {pairs:,}")
    left = pairs - MOCK.layout.distinct
    dev_pairs = min(DEV.layout.distinct, left // 10)
    dev_layout = _proportional(DEV.layout, dev_pairs) if dev is None else _sized(DEV.layout, dev)
    left -= dev_layout.distinct
    if left < TRAINING.layout.blocks:
        raise LayoutError(f"{dev_layout.total:,} dev rounds leave nothing to train on of {pairs:,} pairs")
    training_layout = _proportional(TRAINING.layout, left) if training is None else _sized(TRAINING.layout, training)
    if training_layout.distinct > left:
        largest = _proportional(TRAINING.layout, left).total
        raise LayoutError(
            f"{training_layout.total:,} training rounds need {training_layout.distinct:,} distinct pairs, but only"
            f" {left:,} are left, enough for {largest:,} rounds"
        )
    return {"mock": MOCK.layout, "dev": dev_layout, "training": training_layout}


def _held_out(original: Layout, share_of: int, size: int) -> int:
    """A held-out block with the original's share, but not below 1 % of a small phase, where it would say nothing."""
    return max(1, round(size * original.block / share_of), min(size // 100, 100))


def _proportional(original: Layout, distinct: int) -> Layout:
    """The original's passes over as many of these distinct sentences as can be."""
    block = _held_out(original, original.distinct, distinct)
    return Layout(original.blocks, block, (distinct - block) // (original.blocks - 1))


def _sized(original: Layout, total: int) -> Layout:
    """Exactly this many rounds, with a held-out block that is just long enough for them to come out even."""
    block = _held_out(original, original.total, total)
    block += (total - block) % (original.blocks - 1)
    return Layout.fit(total, blocks=original.blocks, block=block)
