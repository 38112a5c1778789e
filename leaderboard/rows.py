"""The rows of a leaderboard and what they hold; ``docs/leaderboard-format.md`` describes every field."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from leaderboard.families import RoleKind
from leaderboard.gain_curve import GainCurve
from leaderboard.last_quarter import LastQuarter
from leaderboard.measures import Adaptation, BoardMeasure, Estimate
from leaderboard.metrics.bootstrap import Interval
from leaderboard.metrics.online import RelativeReward
from leaderboard.seeds import Coverage
from task.feedback import FeedbackKind
from task.layout import Layout


class RowStatus(StrEnum):
    """Whether a run is finished, and if not, whether anyone is still playing it."""

    FINISHED = "finished"
    RUNNING = "running"
    ABANDONED = "abandoned"  # unfinished, and either the phase is closed or no round came for three days


@dataclass(frozen=True, slots=True)
class HeldOutBlock:
    """The held-out block of a phase, and the passes over it."""

    passes: int
    size: int  # sentences in the block
    ends: list[int]  # rounds played at the end of each pass

    @classmethod
    def of(cls, layout: Layout) -> "HeldOutBlock":
        return cls(layout.blocks, layout.block, list(layout.pass_ends))


@dataclass(frozen=True, slots=True)
class BoardPhase:
    """What the leaderboard needs to know of a phase."""

    name: str
    state: str  # open, frozen or closed
    total: int  # rounds of a finished run
    held_out: HeldOutBlock
    signature: str  # of the reward
    post_edits: bool = False  # whether participants are shown references, so that adaptation is measured
    language: str = ""  # of the references


@dataclass(frozen=True, slots=True)
class Regret:
    """How much less reward per round than the oracle a run earned."""

    oracle: str  # the oracle's run
    rounds: int  # the last number of rounds for which both cumulative rewards are known
    value: float
    interval: Interval | None
    covers: Coverage | None  # the chance that the interval covers


@dataclass(frozen=True, slots=True)
class RewardGain:
    """How much more reward per round than its baseline a run earned."""

    baseline: str  # the baseline's run
    rounds: int  # the last number of rounds for which both cumulative rewards are known
    value: float
    interval: Interval | None
    covers: Coverage | None


@dataclass(frozen=True, slots=True)
class Lead:
    """How much more reward per round than the second the best contestant earned."""

    run: str
    over: str  # the run of the second
    value: float
    interval: Interval | None
    covers: Coverage | None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a run, or the mean of several seeds of a system."""

    run: str  # of several seeds, an identifier of their mean
    participant: str
    system: str
    attempt: int
    display_name: str | None  # of the participant
    affiliation: str | None
    team_url: str | None
    system_description: str | None
    system_link: str | None
    status: RowStatus
    role: RoleKind
    family: str | None
    rank: int | None
    group: int | None
    rounds: int
    progress: float
    reward: float
    mean_reward: float
    interval: Interval | None
    regret: Regret | None
    regrets: dict[str, float]
    gap_closed: float | None
    passes: list[RelativeReward]
    length_ratio: float | None
    speed: float | None
    opened_at: int
    first_at: int | None
    last_at: int | None
    curve: list[float]
    baseline: str | None  # the run that differences are drawn against
    measures: dict[str, Estimate | None]  # by name; None where nothing could be measured
    adaptation: Adaptation | None  # in a post-edit phase
    reward_gain: RewardGain | None  # over the baseline
    full_information_share: float | None  # share of the gain of the full-information run
    single_words: float | None  # share of references of two or more words that were answered with one
    last_quarter: LastQuarter | None  # None until the run gets there
    head: str | None  # the link of the last round, in hex: it tells later whether any round was changed
    interval_covers: Coverage | None  # the chance that the interval covers
    gain_curve: GainCurve | None  # the gain over the baseline along the run
    seeds: "list[Row]" = field(default_factory=list)  # the runs, if the row is the mean of several
    seed_deviation: float | None = None  # standard deviation of the mean reward between them

    @property
    def is_marked(self) -> bool:
        """Whether the run earned more than its baseline in the last quarter, but with lower corpus BLEU."""
        return self.last_quarter is not None and self.last_quarter.is_marked

    def apply(self, change: "Callable[[Row], Row]") -> "Row":
        """Return the row with a change to itself and to each of its seeds."""
        return replace(change(self), seeds=[change(seed) for seed in self.seeds])

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a JSON object. Curves of single seeds are left empty, to keep it small."""
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        regret = asdict(self.regret) if self.regret else None
        seeds = [{**seed.as_dict(), "curve": [], "adaptation": None} for seed in self.seeds]
        return {
            **shallow,
            "regret": regret,
            "passes": [asdict(each) for each in self.passes],
            "measures": {name: each and asdict(each) for name, each in self.measures.items()},
            "adaptation": self.adaptation and self.adaptation.as_dict(),
            "reward_gain": self.reward_gain and asdict(self.reward_gain),
            "last_quarter": self.last_quarter and asdict(self.last_quarter),
            "gain_curve": self.gain_curve and asdict(self.gain_curve),
            "seeds": seeds,
        }


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of a phase."""

    phase: str
    state: str
    total: int
    visible: str  # "all" or "own"
    updated_at: int | None
    held_out: HeldOutBlock
    signatures: dict[str, str]
    checkpoints: list[int]
    rows: list[Row]
    feedback: str  # "bandit" or "post-edit"
    block: int  # rounds in a coarse block, by which learning curves are fitted
    measures: list[BoardMeasure]
    lead: Lead | None  # None unless two contestants are ranked

    @property
    def has_seeds(self) -> bool:
        """Whether any row is the mean of several seeds."""
        return any(row.seeds for row in self.rows)

    def unfolded(self) -> list[Row]:
        """Return all rows, each followed by its seeds."""
        return [each for row in self.rows for each in (row, *row.seeds)]

    @property
    def shows_post_edits(self) -> bool:
        return self.feedback == FeedbackKind.POST_EDIT

    def as_dict(self) -> dict[str, Any]:
        shallow = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **shallow,
            "held_out": asdict(self.held_out),
            "rows": [row.as_dict() for row in self.rows],
            "measures": [asdict(each) for each in self.measures],
            "lead": self.lead and asdict(self.lead),
        }
