"""What is learned from post-edits? ``make study-adaptation`` plays the systems of the sister papers, and their tables.

Networks translate the dev phase of a task in its natural order (Simianer et al. 2019). The SMT systems translate it
shuffled, as in Bertoldi et al. 2012: the slope of a curve over blocks is that of learning only if all blocks are alike.
Backward reliability cuts the stream into parts and holds out a third of each.

Each combination of system and base-model seed is played once, and its outputs are kept in the folder: the same command
resumes the study. The seeds are those of the training of the base models; the learners themselves are deterministic.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.studies.adaptation_tables import PARTS, StudyTexts, report
from corpora.errors import CorpusError
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from leaderboard.evaluation.documents import ADAPTED, BASELINE, FINAL
from leaderboard.metrics.reliability import held_out_from
from learners.adaptation.statistical.learners import UnfairSmt
from learners.contract import Feedback, Learner, Sentence, as_proposal
from learners.errors import LearnerError
from learners.nmt.pretraining import PretrainingConfig
from learners.nmt.processor import denormals_as_zero
from learners.references import PhaseReferences
from learners.seed_models.catalogue import ADAPT, ADAPT_FIXED, ADAPTING_SMT
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from learners.systems.adaptation import FOREGROUND
from learners.systems.registry import find_system
from task.atomic_files import write_bytes
from task.description import OUT_OF_DOMAIN
from task.feedback import FeedbackKind, FeedbackSpec

PHASE = "dev"
NETWORKS = ("ADAPT-none", "ADAPT-memory", "ADAPT-bias", "ADAPT-full", "ADAPT-lasso", "ADAPT-fixed", "ADAPT-top")
SHUFFLED = ("SMT-BG", "SMT-ADAPTING", "SMT-FG-FAIR", "SMT-FG-UNFAIR", "ADAPT-none", "ADAPT-full")
RELIABILITY = ("ADAPT-full", "ADAPT-lasso", "SMT-ADAPTING")

SHUFFLE_SEED = 2012

Pair = tuple[str, str]


@dataclass(frozen=True)
class Stream:
    """The rounds of a study in one order, and the text that base models are trained on."""

    pairs: Sequence[Pair]

    def shuffled(self) -> "Stream":
        """Return the same rounds in random order."""
        order = np.random.default_rng(SHUFFLE_SEED).permutation(len(self.pairs))
        return Stream([self.pairs[place] for place in order])

    @property
    def sources(self) -> list[str]:
        return [source for source, _ in self.pairs]

    @property
    def references(self) -> list[str]:
        return [target for _, target in self.pairs]


def new_learner(system: str, store: ModelStore, stream: Stream) -> Learner:
    """Return a learner before its first round; the oracle knows the stream."""
    if system == "SMT-FG-UNFAIR":
        references = PhaseReferences(PHASE, "sentence-bleu", stream.sources, stream.references)
        return UnfairSmt(store.load(ADAPTING_SMT), references, FOREGROUND)
    return find_system(system).new_learner(store, 1, PHASE)


def play(learner: Learner, stream: Stream) -> list[str]:
    """Return what a learner proposes for each round; it sees each post-edit after its round."""
    outputs = []
    for source, target in stream.pairs:
        outputs.append(propose(learner, source))
        learner.update(Sentence(source), outputs[-1], Feedback(0.0, target))
    return outputs


def propose(learner: Learner, source: str) -> str:
    return as_proposal(learner.propose(Sentence(source))).translation


def translate_held_out(new: Callable[[], Learner], stream: Stream) -> dict[str, list[str]]:
    """Return the outputs for the last third of each part: without, with, and after all adaptation.

    The system adapts to the first two thirds of each part in turn (Bertoldi et al. 2012, section 4.6).
    """
    unadapted, learner = new(), new()
    found: dict[str, list[str]] = {BASELINE: [], ADAPTED: [], FINAL: []}
    held_out: list[Pair] = []
    for part in np.array_split(np.arange(len(stream.pairs)), PARTS):
        pairs = [stream.pairs[place] for place in part]
        cut = held_out_from(len(pairs))
        play(learner, Stream(pairs[:cut]))
        held_out += pairs[cut:]
        found[BASELINE] += [propose(unadapted, source) for source, _ in pairs[cut:]]
        found[ADAPTED] += [propose(learner, source) for source, _ in pairs[cut:]]
    found[FINAL] = [propose(learner, source) for source, _ in held_out]
    return found


class Outputs:
    """The outputs of runs in files, so that an interrupted study resumes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str, make: Callable[[], object]) -> object:
        """Return the outputs of this name, which are made the first time."""
        path = self._folder / f"{name}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with denormals_as_zero():
                made = make()
            write_bytes(path, json.dumps(made, ensure_ascii=False).encode())
            print(f"{name}: played", flush=True)
        return json.loads(path.read_text(encoding="utf-8"))


def play_all(stream: Stream, seed: int, store: ModelStore, outputs: Outputs) -> StudyTexts:
    """Return the outputs of all systems that start from the base models of one seed."""
    shuffled = stream.shuffled()

    def run(system: str, order: Stream, name: str) -> list[str]:
        made = outputs.get(f"s{seed}/{name}/{system}", lambda: play(new_learner(system, store, order), order))
        return list(made) if isinstance(made, list) else []

    def reliability(system: str) -> dict[str, list[str]]:
        def make() -> object:
            return translate_held_out(lambda: new_learner(system, store, stream), stream)

        made = outputs.get(f"s{seed}/reliability/{system}", make)
        return dict(made) if isinstance(made, dict) else {}

    vocabulary = store.load(ADAPT).target_vocabulary
    return StudyTexts(
        references=stream.references,
        shuffled_references=shuffled.references,
        networks={system: run(system, stream, "natural") for system in NETWORKS},
        statistical={system: run(system, shuffled, "shuffled") for system in SHUFFLED},
        reliability={system: reliability(system) for system in RELIABILITY},
        subwords=lambda text: " ".join(vocabulary.encode(text)[1]),
    )


def train(folder: Path, texts: TrainingTexts, seed: int, steps: int | None) -> ModelStore:
    """Return the base models of one seed, which are trained the first time."""
    store = ModelStore(folder / f"models-{seed}")
    train_missing(
        store,
        [ADAPT, ADAPT_FIXED, ADAPTING_SMT],
        texts,
        pretraining=PretrainingConfig(max_steps=steps, seed=seed),
        report=lambda model, progress: print(model, progress.status if progress else "trained", flush=True),
    )
    return store


def open_task(given: argparse.Namespace) -> Task:
    """Return the given task, or the shop with documents, which is generated the first time."""
    path = given.task or given.folder / "task"
    if not path.exists() and not given.task:
        scale = SCALES[ScaleName.DEV].without_held_out.resized(
            dev=given.rounds, training=given.rounds, out_of_domain=given.training_pairs
        )
        spec = FeedbackSpec(seed=given.task_seed, kind=FeedbackKind.POST_EDIT)
        return synthesise_task(path, scale, seed=given.task_seed, departments=3, feedback=spec, documents=True)
    return Task.open(path)


def main() -> None:
    """Run or resume the study, and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-adaptation"), help="(%(default)s)")
    parser.add_argument("--task", type=Path, help="a task with post-edits (default: the synthetic shop with documents)")
    parser.add_argument("--task-seed", type=int, default=2019, help="of the synthetic task (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3_000, help="rounds of the dev phase (%(default)s)")
    parser.add_argument("--training-pairs", type=int, default=60_000, help="for the base models (%(default)s)")
    parser.add_argument("--steps", type=int, help="a bound on the steps of pre-training (default: until it converges)")
    parser.add_argument("--seeds", type=int, default=3, help="base models (%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    given = parser.parse_args()
    try:
        task = open_task(given)
        pairs = [(pair.source, pair.target) for pair in task.pairs(PHASE)][: given.rounds]
        training = [(pair.source, pair.target) for pair in task.pairs(OUT_OF_DOMAIN)][: given.training_pairs]
        texts, stream = TrainingTexts(out_of_domain=training), Stream(pairs)
        found = []
        for seed in range(1, given.seeds + 1):
            store = train(given.folder, texts, seed, given.steps)
            found.append(play_all(stream, seed, store, Outputs(given.folder / "outputs")))
    except KeyboardInterrupt:
        raise SystemExit("interrupted: the same command resumes the study") from None
    except (CorpusError, LearnerError, OSError) as wrong:
        raise SystemExit(str(wrong)) from None
    known = {word for _, target in training for word in target.split()}
    size = (
        f"{task.description.generator}, {'-'.join(task.description.languages)}: {len(pairs):,} rounds, "
        f"{len(training):,} training pairs, {given.steps or 'all'} steps, {given.seeds} base models"
    )
    tables = report(found, task.description.languages.target, known, size)
    print(tables)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        write_bytes(given.out / "table.md", f"{tables}\n".encode())


if __name__ == "__main__":
    main()
