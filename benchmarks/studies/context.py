"""What is context worth? ``make study-context`` trains the systems of Voita et al. 2019 on dialogues, and their tables.

All models of a seed learn from the same synthetic dialogues. They are scored on the test sets of the generator, whose
words they have not seen in lines that depend on context, and translate documents of the dev phase in order, each with
its own translations as context. CADec is trained once for each share p of drafts that are corrupted references.

Beyond the paper: CONCAT and CADec then learn from the rewards of single sentences, in rounds of another phase, and are
measured again. Does such feedback damage consistency?

Models, snapshots of trainings and measurements are kept in the folder: the same command resumes the study.
``--estimate`` measures a few steps of each training, and prints how long all of them take.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import torch

from benchmarks.studies.context_tables import BANDITS, BASELINE, CADEC_NAMES, Measured, report
from corpora.dialogue.generator import DialogueGenerator
from leaderboard.evaluation.figures import save_figure, training_figure
from leaderboard.metrics.bleu import sentence_bleu
from leaderboard.metrics.contrastive import ContrastiveGroup, judge_groups, parse_group
from learners.bandit.value import SourceValue
from learners.context.expected_loss import ContextExpectedLossLearner
from learners.context.training import CurvePoint, Documents, document_bleu
from learners.context.translator import BEAM, ContextTranslator
from learners.context.two_pass import DraftConfig
from learners.contract import Feedback, Sentence
from learners.errors import LearnerError
from learners.nmt.processor import denormals_as_zero
from learners.seed_models.catalogue import CADEC, CONCAT, CONTEXT_BASE, S_HIER_TO_2_TIED
from learners.seed_models.contextual import CONTEXT_NETWORKS, ContextSeedModel
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.settings import Size
from learners.systems.context import EL_VALUE
from task.atomic_files import write_bytes
from task.description import UNKNOWN_DOCUMENT

DEVELOPMENT_SETS = ("deixis_dev", "lex_cohesion_dev")  # the others are not looked at before the end
MODELS: Mapping[str, ContextSeedModel] = {
    BASELINE: CONTEXT_BASE,
    "CONTEXT-concat": CONCAT,
    "CONTEXT-s-hier-to-2.tied": S_HIER_TO_2_TIED,
    **{name: replace(CADEC, drafts=DraftConfig(corruption_probability=p)) for p, name in CADEC_NAMES.items()},
}
FIGURE_OF = CADEC_NAMES[0.5]
ESTIMATED_STEPS = (5, 25)  # the difference is the time of steps, without what a training does once


@dataclass(frozen=True)
class StudyOptions:
    """What a study is about: a folder holds a study with one choice of them."""

    text_seed: int
    pairs: int
    lines: int
    groups: int | None
    size: Size
    steps: int
    rounds: int


@dataclass(frozen=True)
class StudyText:
    """What all models are trained and measured on."""

    training: TrainingTexts
    documents: Documents  # to translate
    sets: Mapping[str, Sequence[ContrastiveGroup]]  # to score
    rounds: Documents  # to learn from by rewards


@cache
def make_text(options: StudyOptions) -> StudyText:
    """Return the dialogues of a study."""
    generator = DialogueGenerator(options.text_seed)
    groups = {name: [parse_group(one) for one in found] for name, found in generator.contrastive_sets().items()}
    development = {name: groups.pop(name)[: options.groups] for name in DEVELOPMENT_SETS}
    return StudyText(
        TrainingTexts([], documents=by_document(generator.out_of_domain(options.pairs)), contrastive=development),
        by_document(generator.in_domain_documents("dev", options.lines)),
        {name: found[: options.groups] for name, found in groups.items()},
        by_document(generator.in_domain_documents("training", options.rounds)),
    )


def by_document(lines: Any) -> list[list[tuple[str, str]]]:
    """Return lines by document; a line of no known document is one by itself."""
    documents: list[list[tuple[str, str]]] = []
    for name, found in groupby(lines, key=lambda line: line[2]):
        pairs = [(source, target) for source, target, _ in found]
        documents += [pairs] if name != UNKNOWN_DOCUMENT else [[pair] for pair in pairs]
    return documents


def measure(translator: ContextTranslator, text: StudyText) -> Measured:
    """Return the BLEU of documents, and how many groups of each set and distance are right."""
    right: dict[str, dict[str, tuple[int, int]]] = {}
    for name, groups in text.sets.items():
        counts: dict[str, tuple[int, int]] = {}
        for group, is_right in zip(groups, judge_groups(groups, translator.group_losses(groups)), strict=True):
            hits, total = counts.get(str(group.distance), (0, 0))
            counts[str(group.distance)] = hits + is_right, total + 1
        right[name] = counts
    return Measured(document_bleu(translator, text.documents, beam=BEAM), right)


def learn_from_rewards(translator: ContextTranslator, documents: Documents, *, seed: int) -> None:
    """Let a translator play documents in order, as a learner that receives the reward of each sentence."""
    learner = ContextExpectedLossLearner(translator, EL_VALUE, SourceValue(), seed=seed)
    for number, document in enumerate(documents):
        for position, (source, reference) in enumerate(document):
            sentence = Sentence(source, str(number), position)
            translation = learner.propose(sentence)
            learner.update(sentence, translation, Feedback(sentence_bleu(translation, reference)))


class StudyFolder:
    """Models, snapshots and measurements of a study, in files."""

    def __init__(self, path: Path, options: StudyOptions) -> None:
        self._path, self._options = path, options
        path.mkdir(parents=True, exist_ok=True)
        claim, wanted = path / "options.json", asdict(options)
        if not claim.exists():
            write_bytes(claim, json.dumps(wanted).encode())
        before = json.loads(claim.read_text(encoding="utf-8"))
        if before != wanted:
            raise LearnerError(f"{path} was begun with {before}, not with {wanted}: give another --folder")

    def measured(self, name: str, seed: int) -> Measured:
        """Return what a model achieves; it is trained and measured the first time."""
        path = self._path / f"s{seed}" / f"{name}.json"
        if not path.exists():
            text, start = make_text(self._options), time.process_time()
            with denormals_as_zero():
                found = measure(self._translator(name, seed, text), text)
            write_bytes(path, json.dumps(asdict(found)).encode())
            print(f"seed {seed}, {name}: measured after {time.process_time() - start:,.0f} s", flush=True)
        return Measured(**json.loads(path.read_text(encoding="utf-8")))

    def curve(self, name: str, seed: int) -> list[CurvePoint]:
        """Return the course of a training."""
        return MODELS[name].load(self._model(name, seed)).curve

    def _model(self, name: str, seed: int) -> Path:
        return self._path / f"s{seed}" / f"{name}.model"

    def _translator(self, name: str, seed: int, text: StudyText) -> ContextTranslator:
        trained = BANDITS.get(name, name)
        self._train(trained, seed, text)
        translator = MODELS[trained].load(self._model(trained, seed)).translator
        if name in BANDITS:
            learn_from_rewards(translator, text.rounds, seed=seed)
        return translator

    def _train(self, name: str, seed: int, text: StudyText) -> None:
        model, path, options = MODELS[name], self._model(name, seed), self._options
        if path.exists():
            return
        base = CONTEXT_BASE.load(self._model(BASELINE, seed)).translator if model.base else None
        trained = model.train_on(
            text.training,
            CONTEXT_NETWORKS[options.size],
            model.training_config(options.size, max_steps=options.steps, seed=seed),
            base=base,
            folder=path.with_suffix(".checkpoints"),
            watch=lambda progress: print(f"seed {seed}, {name}: {progress.status}", flush=True),
        )
        model.save(trained, path)


def measure_all(path: Path, options: StudyOptions, seeds: int, processes: int) -> list[dict[str, Measured]]:
    """Return what all models of all seeds achieve, several at a time: first what others start from."""
    folder = StudyFolder(path, options)
    numbers = range(1, seeds + 1)
    stages = [[BASELINE], [name for name in MODELS if name != BASELINE], list(BANDITS)]
    jobs = [[(path, options, name, seed) for seed in numbers for name in names] for names in stages]
    if processes == 1:
        for job in chain.from_iterable(jobs):
            _measure_one(*job)
    else:
        with multiprocessing.get_context("spawn").Pool(processes, torch.set_num_threads, (1,)) as pool:
            for stage in jobs:
                pool.starmap(_measure_one, stage, chunksize=1)
    return [{name: folder.measured(name, seed) for name in (*MODELS, *BANDITS)} for seed in numbers]


def _measure_one(path: Path, options: StudyOptions, name: str, seed: int) -> None:
    StudyFolder(path, options).measured(name, seed)


def print_estimate(options: StudyOptions, seeds: int) -> None:
    """Measure a few steps of each training, and print how much processor time all trainings take, without measuring."""
    training, network = make_text(options).training, CONTEXT_NETWORKS[options.size]
    base: ContextTranslator | None = None
    total = 0.0
    for name, model in MODELS.items():
        seconds = []
        for steps in ESTIMATED_STEPS:
            config = replace(model.training_config(options.size, max_steps=steps), development_documents=1)
            text = replace(training, contrastive={})
            start = time.process_time()
            with denormals_as_zero():
                trained = model.train_on(text, network, config, base=base if model.base else None)
            seconds.append(time.process_time() - start)
            base = base or trained.translator
        step = (seconds[1] - seconds[0]) / (ESTIMATED_STEPS[1] - ESTIMATED_STEPS[0])
        total += step * options.steps
        print(f"{name:<26} {step:6.3f} s per step, {step * options.steps / 60:5.1f} min", flush=True)
    print(f"all trainings of {seeds} seeds: at most {seeds * total / 60:.0f} min of processor time")


def save(out: Path, table: str, seeds: Sequence[Mapping[str, Measured]], curve: Sequence[CurvePoint]) -> None:
    """Write the tables, the measurements, and the curve of a training (the paper's Figure 5)."""
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / "table.md", f"{table}\n".encode())
    found = [{name: asdict(one) for name, one in seed.items()} for seed in seeds]
    write_bytes(out / "measured.json", f"{json.dumps(found, indent=1)}\n".encode())
    accuracies = {name: [(point.step, point.accuracies[name]) for point in curve] for name in DEVELOPMENT_SETS}
    save_figure(training_figure([(point.step, point.bleu) for point in curve], accuracies), out / "curve.svg")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or resume the study, and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-context"), help="(%(default)s)")
    parser.add_argument("--text-seed", type=int, default=2019, help="of the dialogues (%(default)s)")
    parser.add_argument("--pairs", type=int, default=60_000, help="to train on (%(default)s)")
    parser.add_argument("--lines", type=int, default=1_000, help="of the dev phase to translate (%(default)s)")
    parser.add_argument("--groups", type=int, help="of each contrastive set (default: all)")
    parser.add_argument("--size", type=Size, choices=list(Size), default=Size.SMALL, help="of models (%(default)s)")
    parser.add_argument("--steps", type=int, default=3_000, help="a bound on those of a training (%(default)s)")
    parser.add_argument("--rounds", type=int, default=1_500, help="of learning from rewards (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="(%(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="models at a time (%(default)s)")
    parser.add_argument("--estimate", action="store_true", help="only print how long the trainings take")
    parser.add_argument("--out", type=Path, help="a folder for tables, measurements and figure")
    given = parser.parse_args(arguments)
    options = StudyOptions(**{name: getattr(given, name) for name in StudyOptions.__dataclass_fields__})
    if given.estimate:
        print_estimate(options, given.seeds)
        return
    try:
        seeds = measure_all(given.folder, options, given.seeds, given.processes)
    except KeyboardInterrupt:
        raise SystemExit("interrupted: the same command resumes the study") from None
    except (LearnerError, OSError) as wrong:
        raise SystemExit(str(wrong)) from None
    size = (
        f"{given.pairs:,} pairs, {given.lines:,} lines to translate, size {given.size}, at most {given.steps:,} steps"
    )
    table = report(seeds, f"{size}, {given.rounds:,} rounds, {given.seeds} seeds")
    print(table)
    if given.out:
        save(given.out, table, seeds, StudyFolder(given.folder, options).curve(FIGURE_OF, 1))


if __name__ == "__main__":
    main()
