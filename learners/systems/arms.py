"""ARMS: bandits over whole systems, for those who have several engines and want the best one for each sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from learners.arms.choosers import Chooser, RewardChooser, SourceChooser
from learners.arms.learner import ArmsLearner
from learners.bandit.thompson import ThompsonSampling
from learners.bandit.ucb import Ucb1, Ucb1Tuned
from learners.contract import Learner
from learners.errors import SettingError
from learners.seed_models.catalogue import BNMT, SMT
from learners.seed_models.store import ModelStore
from learners.settings import check_bounds
from learners.systems.system import System

MIN_DISCOUNT = 0.5  # a lower one remembers next to nothing


@dataclass(frozen=True, kw_only=True)
class ArmsConfig:
    """Which systems are played."""

    systems: tuple[str, ...] = ("SMT-static", "BNMT-static")  # the members, by name; they may learn

    def __post_init__(self) -> None:
        if len(self.systems) < 2 or len(set(self.systems)) < len(self.systems):
            raise SettingError(f"systems must be two or more different ones, not {','.join(self.systems)!r}")


@dataclass(frozen=True, kw_only=True)
class RewardArmsConfig(ArmsConfig):
    """Which systems are played, and for how long their rewards count."""

    discount: float = 1.0  # of earlier rewards, with each round: below 1, members that learn get another chance

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self, discount=(MIN_DISCOUNT, 1.0))


@dataclass(frozen=True, kw_only=True)
class LinearArmsConfig(ArmsConfig):
    """Which systems are played, and how the features of a source decide."""

    exploration: float = 0.5  # how many standard deviations a prediction may be too low; more explores for longer
    ridge_penalty: float = 1.0  # as strong as this many observed rounds with reward 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self, exploration=(0.0, None), ridge_penalty=(1e-9, None))


@dataclass(frozen=True, kw_only=True)
class ArmsSystem(System):
    """Chooses one of several systems in each round."""

    config: ArmsConfig
    chooser: Callable[[Any], Chooser]  # takes the config
    chooser_is_random: bool = False

    @property
    def members(self) -> list[System]:
        """The systems that are played.

        Raises:
            UnknownSystemError: There is no such system.
            SettingError: A system cannot be a member.
        """
        from learners.systems.registry import find_system  # which imports this module: a member can be any system

        found = [find_system(name) for name in self.config.systems]
        for member in found:
            if isinstance(member, ArmsSystem):
                raise SettingError(f"{self.name} cannot play {member.name}, which chooses among systems itself")
            if member.needs_references:
                raise SettingError(f"{self.name} cannot play {member.name}, which sees references")
        return found

    def with_settings(self, settings: Mapping[str, str]) -> Self:
        changed = super().with_settings(settings)
        members = changed.members
        return replace(
            changed,
            seed_models=tuple(dict.fromkeys(model for member in members for model in member.seed_models)),
            stochastic=self.chooser_is_random or any(member.stochastic for member in members),
            control=members[0].control or members[0].name,
        )

    @property
    def needs_post_edits(self) -> bool:
        return any(member.needs_post_edits for member in self.members)

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:
        members = {
            name: member.new_learner(store, seed, phase)
            for name, member in zip(self.config.systems, self.members, strict=True)
        }
        return ArmsLearner(members, self.chooser(self.config), seed=seed)


def _linear(config: LinearArmsConfig) -> Chooser:
    return SourceChooser(len(config.systems), exploration=config.exploration, penalty=config.ridge_penalty)


def _by_rewards(bandit: type[Ucb1 | ThompsonSampling]) -> Callable[[RewardArmsConfig], Chooser]:
    return lambda config: RewardChooser(bandit(len(config.systems), config.discount))


def _system(
    name: str, description: str, origin: str, config: ArmsConfig, chooser: Callable[[Any], Chooser]
) -> ArmsSystem:
    is_random = chooser(config).is_random
    return ArmsSystem(
        name=name,
        description=description,
        origin=origin,
        seed_models=(SMT, BNMT),  # of the default members
        control=config.systems[0],
        stochastic=is_random,
        config=config,
        chooser=chooser,
        chooser_is_random=is_random,
    )


SYSTEMS = (
    _system(
        "ARMS-UCB1",
        "plays the one of several systems whose mean reward may be the highest",
        "Auer et al. 2002",
        RewardArmsConfig(),
        _by_rewards(Ucb1),
    ),
    _system(
        "ARMS-UCB1-TUNED",
        "ARMS-UCB1 that explores less where rewards vary little",
        "Auer et al. 2002, section 4",
        RewardArmsConfig(),
        _by_rewards(Ucb1Tuned),
    ),
    _system(
        "ARMS-THOMPSON",
        "plays each of several systems as often as it is probably the best",
        "Chapelle and Li 2011",
        RewardArmsConfig(),
        _by_rewards(ThompsonSampling),
    ),
    _system(
        "ARMS-LINEAR",
        "plays the one of several systems whose reward, predicted from features of the source, may be the highest",
        "Li et al. 2010",
        LinearArmsConfig(),
        _linear,
    ),
)
