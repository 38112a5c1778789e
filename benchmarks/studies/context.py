"""What is context worth? ``make study-context`` trains the systems of Voita et al. 2019 on dialogues, and their tables.

All models of a seed learn from the same synthetic dialogues. They are scored on the test sets of the generator, whose
words they have not seen in lines that depend on context, and translate documents of the dev phase in order, each with
its own translations as context. CADec is trained once for each share p of drafts that are corrupted references.

Models, snapshots of trainings and measurements are kept in the folder: the same command resumes the study.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.studies.context_tables import BASELINE, CADEC_NAMES, Measured, report
from corpora.dialogue.generator import DialogueGenerator
from leaderboard.evaluation.figures import save_figure, training_figure
from leaderboard.metrics.contrastive import ContrastiveGroup, judge_groups, parse_group
from learners.context.training import CurvePoint, Documents, document_bleu
from learners.context.translator import BEAM, ContextTranslator
from learners.context.two_pass import DraftConfig
from learners.errors import LearnerError
from learners.nmt.processor import denormals_as_zero
from learners.seed_models.catalogue import CADEC, CONCAT, CONTEXT_BASE, S_HIER_TO_2_TIED
from learners.seed_models.contextual import CONTEXT_NETWORKS, ContextSeedModel
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.settings import Size
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


@dataclass(frozen=True)
class StudyText:
    """What all models are trained and measured on."""

    training: TrainingTexts
    documents: Documents  # to translate
    sets: Mapping[str, Sequence[ContrastiveGroup]]  # to score


def make_text(given: argparse.Namespace) -> StudyText:
    """Return the dialogues of a study."""
    generator = DialogueGenerator(given.text_seed)
    groups = {name: [parse_group(one) for one in found] for name, found in generator.contrastive_sets().items()}
    development = {name: groups.pop(name)[: given.groups] for name in DEVELOPMENT_SETS}
    return StudyText(
        TrainingTexts([], documents=by_document(generator.out_of_domain(given.pairs)), contrastive=development),
        by_document(generator.in_domain_documents("dev", given.lines)),
        {name: found[: given.groups] for name, found in groups.items()},
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


class StudyFolder:
    """Models, snapshots and measurements of a study, in files."""

    def __init__(self, path: Path, options: Mapping[str, object]) -> None:
        self._path = path
        path.mkdir(parents=True, exist_ok=True)
        claim = path / "options.json"
        if not claim.exists():
            write_bytes(claim, json.dumps(options).encode())
        before = json.loads(claim.read_text(encoding="utf-8"))
        if before != options:
            raise LearnerError(f"{path} was begun with {before}, not with {options}: give another --folder")

    def measured(self, name: str, seed: int, text: StudyText, given: argparse.Namespace) -> Measured:
        """Return what a model achieves; it is trained and measured the first time."""
        path = self._path / f"s{seed}" / f"{name}.json"
        if not path.exists():
            model = MODELS[name]
            self._train(name, seed, text, given)
            with denormals_as_zero():
                found = measure(model.load(self._model(name, seed)).translator, text)
            write_bytes(path, json.dumps(asdict(found)).encode())
            print(f"seed {seed}, {name}: measured", flush=True)
        return Measured(**json.loads(path.read_text(encoding="utf-8")))

    def curve(self, name: str, seed: int) -> list[CurvePoint]:
        """Return the course of a training."""
        return MODELS[name].load(self._model(name, seed)).curve

    def _model(self, name: str, seed: int) -> Path:
        return self._path / f"s{seed}" / f"{name}.model"

    def _train(self, name: str, seed: int, text: StudyText, given: argparse.Namespace) -> None:
        model, path = MODELS[name], self._model(name, seed)
        if path.exists():
            return
        base = CONTEXT_BASE.load(self._model(BASELINE, seed)).translator if model.base else None
        config = model.training_config(given.size, max_steps=given.steps, seed=seed)
        with denormals_as_zero():
            trained = model.train_on(
                text.training,
                CONTEXT_NETWORKS[given.size],
                config,
                base=base,
                folder=path.with_suffix(".checkpoints"),
                watch=lambda progress: print(f"seed {seed}, {name}: {progress.status}", flush=True),
            )
        model.save(trained, path)


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
    parser.add_argument("--steps", type=int, help="a bound on the steps of a training (default: until it converges)")
    parser.add_argument("--seeds", type=int, default=3, help="(%(default)s)")
    parser.add_argument("--out", type=Path, help="a folder for tables, measurements and figure")
    given = parser.parse_args(arguments)
    names = ("text_seed", "pairs", "lines", "groups", "size", "steps")
    try:
        folder = StudyFolder(given.folder, {name: getattr(given, name) for name in names})
        text = make_text(given)
        seeds = [
            {name: folder.measured(name, seed, text, given) for name in MODELS} for seed in range(1, given.seeds + 1)
        ]
    except KeyboardInterrupt:
        raise SystemExit("interrupted: the same command resumes the study") from None
    except (LearnerError, OSError) as wrong:
        raise SystemExit(str(wrong)) from None
    size = f"{given.pairs:,} pairs, {given.lines:,} lines to translate, size {given.size}, {given.steps or 'all'} steps"
    table = report(seeds, f"{size}, {given.seeds} seeds")
    print(table)
    if given.out:
        save(given.out, table, seeds, folder.curve(FIGURE_OF, 1))


if __name__ == "__main__":
    main()
