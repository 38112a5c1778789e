"""The phases of a task, and the sizes that they had in the WMT 2017 task (Sokolov et al. 2017, section 3)."""

from dataclasses import dataclass

from task.layout import Layout


@dataclass(frozen=True, slots=True)
class Phase:
    """A stream of sentences that systems translate, and how often a system may run through it."""

    name: str
    layout: Layout
    repeatable: bool  # whether a system may run through it again


MOCK = Phase("mock", Layout.plain(48), repeatable=True)
DEV = Phase("dev", Layout(blocks=4, block=700, gap=12_400), repeatable=True)
TRAINING = Phase("training", Layout(blocks=12, block=4_000, gap=113_634), repeatable=False)
PHASES = {phase.name: phase for phase in (MOCK, DEV, TRAINING)}
