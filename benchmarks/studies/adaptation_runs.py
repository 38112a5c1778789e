"""The runs of the study of adaptation: the rounds of a task in two orders, and what each system proposes for them.

Networks translate the rounds in their natural order (Simianer et al. 2019). SMT systems translate them shuffled, as in
Bertoldi et al. 2012: the slope of a curve over blocks is that of learning only if all blocks are alike. Backward
reliability cuts the natural order into parts and holds out a third of each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.studies.outputs import Outputs
from leaderboard.evaluation.documents import ADAPTED, BASELINE, FINAL
from leaderboard.families import name_with_settings
from leaderboard.metrics.reliability import held_out_from
from learners.adaptation.statistical.learners import UnfairSmt
from learners.contract import Feedback, Learner, Sentence, as_proposal
from learners.references import PhaseReferences
from learners.seed_models.catalogue import ADAPT, ADAPT_FIXED, ADAPTING_SMT
from learners.seed_models.seed_model import SeedModel
from learners.seed_models.store import ModelStore
from learners.systems.adaptation import FOREGROUND
from learners.systems.registry import find_system

PHASE = "dev"
PARTS = 6  # of the rounds, for backward reliability
SHUFFLE_SEED = 2012

Pair = tuple[str, str]
Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class StudySystem:
    """A system of the study, perhaps with other settings than the registered ones."""

    system: str
    settings: Settings = ()

    @property
    def name(self) -> str:
        return name_with_settings(self.system, self.settings)

    def new_learner(self, store: ModelStore, rounds: Sequence[Pair]) -> Learner:
        """Return a learner before its first round; the oracle knows the rounds."""
        if self.system == "SMT-FG-UNFAIR":
            sources, references = zip(*rounds, strict=True)
            known = PhaseReferences(PHASE, "sentence-bleu", list(sources), list(references))
            return UnfairSmt(store.load(ADAPTING_SMT), known, FOREGROUND)
        return find_system(self.system).with_settings(dict(self.settings)).new_learner(store, 1, PHASE)


@dataclass(frozen=True)
class Half:
    """The networks of the study, or its SMT systems: they share no model, and can be played at the same time."""

    models: Sequence[SeedModel[Any]]
    systems: Sequence[StudySystem]
    shuffled: bool  # whether the systems translate the rounds in random order
    reliability: Sequence[StudySystem]


# The published rates are for a model that was trained on a thousand times as much text; ours needs others.
FULL_RATE: Settings = (("learning_rate", "0.03"),)
BIAS_RATE: Settings = (("learning_rate", "0.1"),)
NETWORKS = Half(
    (ADAPT, ADAPT_FIXED),
    (
        *map(StudySystem, ("ADAPT-none", "ADAPT-memory", "ADAPT-bias")),
        StudySystem("ADAPT-bias", BIAS_RATE),
        StudySystem("ADAPT-full"),
        StudySystem("ADAPT-full", FULL_RATE),
        *map(StudySystem, ("ADAPT-lasso", "ADAPT-fixed", "ADAPT-top")),
    ),
    False,
    (StudySystem("ADAPT-full"), StudySystem("ADAPT-lasso")),
)
# Small blocks: what a part has after its last complete block would not be adapted to.
SMALL_BLOCKS: Settings = (("block_words", "100"),)
STATISTICAL = Half(
    (ADAPTING_SMT,),
    tuple(map(StudySystem, ("SMT-BG", "SMT-ADAPTING", "SMT-FG-FAIR", "SMT-FG-UNFAIR"))),
    True,
    (StudySystem("SMT-ADAPTING", SMALL_BLOCKS),),
)
HALVES = {"networks": NETWORKS, "statistical": STATISTICAL}


def shuffled(rounds: Sequence[Pair]) -> list[Pair]:
    """Return the rounds in random order."""
    return [rounds[place] for place in np.random.default_rng(SHUFFLE_SEED).permutation(len(rounds))]


def play(learner: Learner, rounds: Sequence[Pair]) -> list[str]:
    """Return what a learner proposes for each round; it sees each post-edit after its round."""
    outputs = []
    for pair in rounds:
        outputs.append(_propose(learner, pair))
        _show(learner, pair, outputs[-1])
    return outputs


def _propose(learner: Learner, pair: Pair) -> str:
    return as_proposal(learner.propose(Sentence(pair[0]))).translation


def _show(learner: Learner, pair: Pair, translation: str) -> None:
    learner.update(Sentence(pair[0]), translation, Feedback(0.0, pair[1]))


def parts_of(count: int) -> list[tuple[range, range]]:
    """Return the places of each part of so many rounds: those to adapt to, and those that are held out."""
    bounds = np.linspace(0, count, PARTS + 1).astype(int).tolist()
    cuts = [start + held_out_from(end - start) for start, end in pairwise(bounds)]
    return [(range(start, cut), range(cut, end)) for start, cut, end in zip(bounds[:-1], cuts, bounds[1:], strict=True)]


def translate_held_out(new: Callable[[], Learner], rounds: Sequence[Pair]) -> dict[str, list[str]]:
    """Return the outputs for the last third of each part: without, with, and after all adaptation.

    The system adapts to the first two thirds of each part in turn (Bertoldi et al. 2012, section 4.6). It learns from
    post-edits alone, so that it needs no proposals meanwhile.
    """
    unadapted, learner = new(), new()
    parts = parts_of(len(rounds))
    held_out = [rounds[place] for _, places in parts for place in places]
    adapted = []
    for seen, places in parts:
        for place in seen:
            _show(learner, rounds[place], "")
        adapted += [_propose(learner, rounds[place]) for place in places]
    return {
        BASELINE: [_propose(unadapted, pair) for pair in held_out],
        ADAPTED: adapted,
        FINAL: [_propose(learner, pair) for pair in held_out],
    }


def play_half(half: Half, rounds: Sequence[Pair], store: ModelStore, outputs: Outputs) -> None:
    """Play what has not been played yet of one half, with the models of one seed."""
    order = shuffled(rounds) if half.shuffled else rounds

    def play_all(one: StudySystem) -> list[str]:
        return play(one.new_learner(store, order), order)

    def translate_parts(one: StudySystem) -> dict[str, list[str]]:
        return translate_held_out(lambda: one.new_learner(store, rounds), rounds)

    for one in half.systems:
        outputs.get(f"play/{one.name}", partial(play_all, one))
    for one in half.reliability:
        outputs.get(f"reliability/{one.system}", partial(translate_parts, one))


def played(half: Half, outputs: Outputs) -> tuple[dict[str, list[str]], dict[str, Mapping[str, list[str]]]]:
    """Return the outputs of a half that was played: of its systems, and of the held-out parts by system."""

    def missing() -> Any:
        raise AssertionError("a half is played before it is read")

    return (
        {one.name: outputs.get(f"play/{one.name}", missing) for one in half.systems},
        {one.system: outputs.get(f"reliability/{one.system}", missing) for one in half.reliability},
    )
