"""How long does pre-training take until it has converged, and does training gain anything after that?

``python -m benchmarks.studies.convergence`` trains the subword model of a synthetic task until it has converged, then
the control, which is trained for as many steps again. Both translate sentences of the dev phase. If the seed model has
converged, the control does not earn more: the interval of the difference reaches down to zero, or lies below it.

The same command resumes an interrupted training. Minutes are processor time in one thread. ``--speed`` trains nothing:
it says how long an epoch takes for each size and architecture on this machine, and how long the shortest training.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from leaderboard.metrics.bleu import sentence_bleu
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.nmt.model import with_dropout
from learners.nmt.processor import denormals_as_zero
from learners.nmt.translator import default_device, new_model
from learners.seed_models.catalogue import BNMT, BNMT_CONTROL, BNMT_ORACLE
from learners.seed_models.networks import SUBWORD_NETWORKS, pretraining_config
from learners.seed_models.neural import NeuralSeedModel
from learners.seed_models.progress import TrainingProgress
from learners.seed_models.seed_model import SeedModel
from learners.seed_models.settings import Architecture, BuildSettings, Size
from learners.seed_models.store import ModelStore
from simulator.pretraining import train_seed_models
from task.atomic_files import write_bytes

PHASE = "dev"
TASK_SEED = 77  # the stream that our learners were tuned on: nothing is confirmed here
DEPARTMENTS = 3
DEV_ROUNDS, TRAINING_ROUNDS = 10_000, 13_199
TIMED_STEPS = 2  # the faster one counts
TIMED_SENTENCES, SENTENCE_TOKENS = (
    50,
    12,
)  # of the batch whose speed is measured: larger ones are hardly faster per token


class TrainingRecords:
    """What is known about each training, in a file: processor time and the last status, over all interruptions."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
        self._last = time.process_time()

    def report(self, model: SeedModel[Any], progress: TrainingProgress | None) -> None:
        """Add the time since the last report to a model's."""
        now = time.process_time()
        record = self._records.setdefault(model.name, {"seconds": 0.0, "status": ""})
        record["seconds"] += now - self._last
        self._last = now
        if progress:
            record["status"] = progress.status
            print(f"{model}: {progress.status} ({record['seconds'] / 60:.1f} min)", flush=True)
        write_bytes(self._path, json.dumps(self._records).encode())

    def minutes(self, model: SeedModel[Any]) -> str:
        return f"{self._records[model.name]['seconds'] / 60:.1f}" if model.name in self._records else "unknown"

    def status(self, model: SeedModel[Any]) -> str:
        return str(self._records.get(model.name, {}).get("status", ""))


def make_task(path: Path, out_of_domain: int) -> Task:
    """Return the synthetic task, which is generated the first time."""
    if path.exists():
        return Task.open(path)
    scale = SCALES[ScaleName.DEV].resized(dev=DEV_ROUNDS, training=TRAINING_ROUNDS, out_of_domain=out_of_domain)
    return synthesise_task(path, scale, seed=TASK_SEED, departments=DEPARTMENTS)


def measure_convergence(task: Task, folder: Path, settings: BuildSettings, given: argparse.Namespace) -> str:
    """Train the models that are missing in the folder, and return the table of all of them."""
    models: list[NeuralSeedModel] = [BNMT, BNMT_CONTROL, *([BNMT_ORACLE] if given.oracle else [])]
    records = TrainingRecords(folder / "trainings.json")
    config = pretraining_config(settings, max_steps=given.steps, seed=given.seed)
    store = ModelStore(folder / "models")
    train_seed_models(task.path, store.folder, models, settings=settings, pretraining=config, report=records.report)
    pairs = [(pair.source, pair.target) for pair in task.pairs(PHASE)][: given.rounds]
    rewards: dict[SeedModel[Any], list[float]] = {}
    lines = ["| model | steps | minutes | ended after | mean reward | minus bnmt (95 %) |", "| --- |" + " --- |" * 5]
    for model in models:
        translator = store.load(model)
        with denormals_as_zero():
            rewards[model] = [sentence_bleu(translator.greedy(source).text, target) for source, target in pairs]
        cells = [f"{translator.training_steps:,}", records.minutes(model), records.status(model)]
        cells += [f"{np.mean(rewards[model]):.4f}", _difference(rewards[model], rewards[BNMT]) if model != BNMT else ""]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    note = f"Size {settings.size}, architecture {settings.architecture}; {len(pairs):,} sentences of the dev phase"
    return "\n".join([*lines, "", note])


def _difference(rewards: Sequence[float], baseline: Sequence[float]) -> str:
    found = paired_block_bootstrap(rewards, baseline)
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def measure_speed(task: Task) -> str:
    """Return how long an epoch of the task's text takes for each network, from a few steps with random tokens."""
    pairs = list(task.pairs("out-of-domain"))
    heads = ["size", "architecture", "parameters", "tokens per second", "minutes per epoch", "hours until it can end"]
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " --- |" * 5]
    for settings, config in SUBWORD_NETWORKS.items():
        if settings.size is Size.TINY:
            continue
        model = new_model(config, config.vocabulary_size, config.vocabulary_size).to(default_device())
        shape = (TIMED_SENTENCES, SENTENCE_TOKENS)
        tokens = torch.randint(4, config.vocabulary_size, shape, device=default_device())
        optimiser = torch.optim.Adam(model.parameters(), fused=True)
        seconds = []
        for _ in range(TIMED_STEPS):
            start = time.process_time()
            with with_dropout(model, config.dropout):
                logits = model(tokens, tokens).flatten(0, 1)
                torch.nn.functional.cross_entropy(logits, tokens.flatten()).backward()
                optimiser.step()
                optimiser.zero_grad()
            seconds.append(time.process_time() - start)
        text = sum(len(pair.target.split()) for pair in pairs if len(pair.source.split()) <= config.max_training_words)
        speed = tokens.numel() / min(seconds)
        count = sum(parameter.numel() for parameter in model.parameters())
        cells = [settings.size, settings.architecture, f"{count:,}", f"{speed:,.0f}", f"{text / speed / 60:.1f}"]
        cells.append(f"{_shortest_training(settings) * config.batch_tokens / speed / 3600:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    note = (
        f"{len(pairs):,} pairs. An epoch has at least as many tokens as the text has words; fragments come on top. No "
        "training can end before it has gained nothing in enough validations."
    )
    return "\n".join([*lines, "", note])


def _shortest_training(settings: BuildSettings) -> int:
    """Return the steps of a training that gains nothing after its first validation."""
    config = pretraining_config(settings)
    return config.validate_every * (1 + config.plateau.patience * (1 + config.plateau.reductions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/convergence"), help="where all files are")
    parser.add_argument("--task", type=Path, help="an existing task (default: a synthetic one is generated)")
    parser.add_argument("--out-of-domain", type=int, default=60_000, help="pairs of a synthetic task (%(default)s)")
    parser.add_argument("--size", type=Size, choices=list(Size), default=Size.SMALL)
    parser.add_argument("--architecture", type=Architecture, choices=list(Architecture), default=Architecture.GRU)
    parser.add_argument("--rounds", type=int, default=3_000, help="sentences of dev to translate (%(default)s)")
    parser.add_argument("--steps", type=int, help="a bound on the steps (default: until convergence)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the training (%(default)s)")
    parser.add_argument("--oracle", action="store_true", help="train the oracle, too")
    parser.add_argument("--speed", action="store_true", help="only measure how long an epoch takes for each size")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    task = Task.open(given.task) if given.task else make_task(given.folder / "task", given.out_of_domain)
    if given.speed:
        print(measure_speed(task))
        return
    settings = BuildSettings(given.size, given.architecture)
    print(measure_convergence(task, given.folder / f"{given.size}-{given.architecture}-{given.seed}", settings, given))


if __name__ == "__main__":
    main()
