"""The scales of synthetic tasks: the layouts of their phases, and the size of the out-of-domain side."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from task.layout import Layout
from task.phases import DEV, MOCK, TRAINING


@dataclass(frozen=True, slots=True)
class Scale:
    """The layouts of the phases, and the number of out-of-domain pairs."""

    dev: Layout
    training: Layout
    out_of_domain: int
    mock: Layout = MOCK.layout
    departments: int | None = None  # of the shop; None for all

    @property
    def phases(self) -> Mapping[str, Layout]:
        """The layouts by the names of the phases."""
        return {"mock": self.mock, "dev": self.dev, "training": self.training}

    @property
    def lines(self) -> int:
        """The number of pairs in all parts, held-out repetitions included."""
        return self.out_of_domain + sum(layout.total for layout in self.phases.values())

    @property
    def without_held_out(self) -> "Scale":
        """A scale with as many rounds and no held-out passes, for phases that show post-edits."""
        plain = {name: Layout.plain(layout.total) for name, layout in self.phases.items()}
        return replace(self, mock=plain["mock"], dev=plain["dev"], training=plain["training"])

    def resized(
        self,
        *,
        mock: int | None = None,
        dev: int | None = None,
        training: int | None = None,
        out_of_domain: int | None = None,
    ) -> "Scale":
        """Return a scale with other numbers of rounds and out-of-domain pairs, and the same held-out blocks.

        Raises LayoutError naming the nearest valid sizes.
        """
        return replace(
            self,
            mock=self.mock if mock is None else Layout.plain(mock),
            dev=self.dev if dev is None else _refit(self.dev, dev),
            training=self.training if training is None else _refit(self.training, training),
            out_of_domain=self.out_of_domain if out_of_domain is None else out_of_domain,
        )


def _refit(layout: Layout, total: int) -> Layout:
    if not layout.blocks:
        return Layout.plain(total)
    return Layout.fit(total, blocks=layout.blocks, block=layout.block)


DIALOGUES = Scale(
    dev=Layout(blocks=4, block=70, gap=1_240),  # 4,000 rounds
    training=Layout(blocks=12, block=100, gap=800),  # 10,000 rounds
    out_of_domain=100_000,  # a quarter of them with three lines of context
)


class ScaleName(StrEnum):
    """The names of the predefined scales."""

    DEMO = "demo"
    DEV = "dev"
    FULL = "full"


SCALES = {
    ScaleName.DEMO: Scale(  # a tenth of the dev phase of WMT 2017: seconds to generate, minutes to learn from
        dev=Layout(blocks=4, block=70, gap=1_240),  # 4,000 rounds
        training=Layout(blocks=12, block=100, gap=800),  # 10,000 rounds
        out_of_domain=40_000,
        departments=3,  # a model trained in a minute cannot learn the words of all 35
    ),
    ScaleName.DEV: Scale(
        dev=DEV.layout,
        training=Layout(blocks=12, block=450, gap=8_600),  # 100,000 rounds
        out_of_domain=400_000,  # with half of them, the OOV rates exceed the paper's 6 % and 2 %
    ),
    ScaleName.FULL: Scale(dev=DEV.layout, training=TRAINING.layout, out_of_domain=1_000_000),
}
