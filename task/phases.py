"""The phases of a task, and the sizes that they had in the WMT 2017 task (Sokolov et al. 2017, sections 2 and 3)."""

from dataclasses import dataclass

from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.layout import Layout, LayoutError


@dataclass(frozen=True, slots=True)
class Phase:
    """A stream of sentences that systems translate, what feedback it gives, and how often a system may run through it.

    Raises LayoutError for a phase that shows post-edits and has a held-out block: a block that is served again would be
    known.
    """

    name: str
    layout: Layout
    repeatable: bool  # whether a system may run through it again
    feedback: FeedbackSpec = BANDIT_FEEDBACK
    documents: bool = False  # whether sentences tell their document, and their position in it

    def __post_init__(self) -> None:
        if self.feedback.shows_post_edits and self.layout.blocks:
            raise LayoutError(f"phase {self.name} shows post-edits, so it cannot have held-out passes: remove them")


MOCK = Phase("mock", Layout.plain(48), repeatable=True)
DEV = Phase("dev", Layout(blocks=4, block=700, gap=12_400), repeatable=True)
TRAINING = Phase("training", Layout(blocks=12, block=4_000, gap=113_634), repeatable=False)
PHASES = {phase.name: phase for phase in (MOCK, DEV, TRAINING)}
