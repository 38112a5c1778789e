"""What is learned from a log? ``make study-offline`` trains systems on logs and plays them in the rounds that follow.

On each text, single systems play the whole stream at the service. The first rounds of two of them are the logs: those
of BNMT-EL-VALUE have probabilities, those of BNMT-static are deterministic. Each estimator trains the seed model on
each log, and what it made is played in the rounds after the log, as online learners went on there. What the log of
these rounds says of a system is compared with what the system earned in them. Beside them: UMD-domain-adaptation by the
share of text that is selected, and ARMS in the first rounds of the stream.

The text of the shop is generated; that of Debian must be there (``make`` makes it). Models, runs and outputs are kept
in the folder: the same command resumes the study.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.studies.in_process import play_rounds, reward_of
from benchmarks.studies.offline_figure import save_selection_figure
from benchmarks.studies.offline_tables import EvaluatedRun, OfflineRun, Runs, TextResults, report, system_name
from benchmarks.studies.outputs import Outputs
from benchmarks.studies.study import (
    PHASE,
    RUNS,
    check_settings_of_runs,
    claim_folder,
    complete_journal,
    errors_in_one_line,
    load_competition,
    print_end,
)
from benchmarks.studies.study_run import FILE_SUFFIX, StudyRun
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from corpora.task import Task
from learners.arms.learner import ArmsLearner
from learners.contract import Sentence, StaticSystem
from learners.errors import LearnerError
from learners.journal import JournalEntry
from learners.nmt.static import StaticTranslator
from learners.offline.estimators import Method
from learners.offline.evaluation import Estimate, OffPolicyEvaluation, OffPolicyEvaluator
from learners.offline.logged_round import LoggedRound
from learners.seed_models.catalogue import UMD_ADAPTATION, selected
from learners.seed_models.networks import pretraining_config
from learners.seed_models.neural import NeuralSeedModel
from learners.seed_models.settings import BuildSettings, Size
from learners.seed_models.store import ModelStore
from learners.selection.selection import SelectionConfig
from learners.systems.offline import default_model, training_config
from learners.systems.registry import find_system
from simulator.competition import PlayState, RunSpec, compete, run_specs
from simulator.offline import OfflineJob
from simulator.pretraining import needed_models, train_seed_models
from task.atomic_files import write_bytes
from task.layout import Layout

SHOP, DEBIAN = "shop", "debian"
SHOP_SEED = 2017
STOCHASTIC, DETERMINISTIC = "BNMT-EL-VALUE", "BNMT-static"  # the systems that log
SELECTING = "UMD-domain-adaptation"
STATIC_SYSTEMS = (DETERMINISTIC, "BNMT-beam", "BNMT-control", SELECTING, "SMT-static")
LEARNERS = (STOCHASTIC, "BNMT-REPLAY")
EVALUATED = (DETERMINISTIC, "BNMT-beam", SELECTING)  # off policy, beside the systems that were trained on the log
MEMBERS = ("SMT-static", "BNMT-beam", SELECTING, STOCHASTIC)
ARMS = ("ARMS-UCB1", "ARMS-UCB1-TUNED", "ARMS-THOMPSON", "ARMS-LINEAR")
SHARES = (0.05, 0.1, SelectionConfig().share, 0.4, 0.8)

Pair = tuple[str, str]


class Recorded(StaticSystem):
    """Proposes what a system has proposed in the same rounds before."""

    def __init__(self, translations: Sequence[str]) -> None:
        self._translations = iter(translations)

    def propose(self, sentence: Sentence) -> str:  # noqa: ARG002
        return next(self._translations)


@dataclass(frozen=True)
class TextStudy:
    """The study of one text."""

    text: str
    task: Task
    folder: Path
    given: argparse.Namespace

    @cached_property
    def pairs(self) -> list[Pair]:
        """The rounds that are looked at: those of the log, and those after it."""
        pairs = [(pair.source, pair.target) for pair in self.task.pairs(PHASE)]
        needed = self.given.rounds + self.given.later
        if len(pairs) < needed:
            raise LearnerError(f"{self.task.path} has {len(pairs):,} rounds of {PHASE}, but the study needs {needed:,}")
        return pairs[:needed]

    @property
    def later_pairs(self) -> list[Pair]:
        return self.pairs[self.given.rounds :]

    @property
    def models(self) -> ModelStore:
        return ModelStore(self.folder / "models")

    @cached_property
    def outputs(self) -> Outputs:
        return Outputs(self.folder / "outputs")

    def run(self) -> TextResults:
        """Do what is missing, and return all results."""
        print(f"{self.text}: {len(self.pairs):,} rounds", flush=True)
        self._train()
        journals = self._play_online()
        later = _runs(journals, self.later_pairs, slice(self.given.rounds, len(self.pairs)))
        first = self.pairs[: self.given.arms_rounds]
        offline = {key: self._offline_runs(*key, journals) for key in self._trainings()}
        learners = {name: self._arms(name) for name in ARMS}
        return TextResults(
            self.text,
            LEARNERS,
            later=later,
            earlier=_runs(journals, first, slice(len(first))),
            offline=offline,
            evaluated=list(self._evaluate(journals, later, offline)),
            shares={share: self._selected_run(share) for share in SHARES},
            arms={name: [run for run, _ in found] for name, found in learners.items()},
            plays={name: _mean_shares([shares for _, shares in found]) for name, found in learners.items()},
        )

    def _train(self) -> None:
        settings = BuildSettings(self.given.size)
        wanted = [*needed_models([*STATIC_SYSTEMS, *LEARNERS]), *map(selection_model, SHARES)]
        train_seed_models(
            self.task.path,
            self.models.folder,
            wanted,
            settings=settings,
            pretraining=pretraining_config(settings, max_steps=self.given.steps),
            report=lambda model, progress: print(model, progress.status if progress else "trained", flush=True),
        )

    def _play_online(self) -> dict[RunSpec, list[JournalEntry]]:
        """Play the single systems at the service, and return their journals."""
        competition = load_competition(self.folder, self.task)
        specs = run_specs([*STATIC_SYSTEMS, *LEARNERS], self.given.seeds)
        check_settings_of_runs(competition, specs)
        total = self.task.description.phases[PHASE].total
        missing = [spec for spec in specs if not complete_journal(competition.run_folder(spec), total)]
        ended = compete(competition, missing, processes=self.given.processes, watch=print_end) if missing else []
        if any(status.state is not PlayState.FINISHED for status in ended):
            raise SystemExit("not all runs have finished: the same command resumes them")
        return {spec: complete_journal(competition.run_folder(spec), total) for spec in specs}

    def _trainings(self) -> Iterator[tuple[str, Method]]:
        for method in self.given.methods:
            yield STOCHASTIC, method
        for method in self.given.methods:
            if not method.needs_propensities:
                yield DETERMINISTIC, method

    def _offline_runs(
        self, logger: str, method: Method, journals: Mapping[RunSpec, Sequence[JournalEntry]]
    ) -> list[OfflineRun]:
        """Return the runs of systems that were trained on the log of a system, one for each seed."""
        runs = []
        for seed in range(1, self.given.seeds + 1):
            name = _label(logger, method, seed)
            log = [_logged(entry) for entry in _journal(journals, logger, seed)[: self.given.rounds]]
            training = self.outputs.get(f"offline/{name}", partial(self._train_offline, name, method, log, seed))
            run = self._play(RunSpec(system_name(method), seed, name), {"model": name})
            runs.append(OfflineRun(run, training["value"], is_copy=not training["best_step"]))
        return runs

    def _train_offline(self, name: str, method: Method, log: Sequence[LoggedRound], seed: int) -> dict[str, Any]:
        model = default_model(method, "bnmt")
        config = training_config(model)
        if self.given.epochs:
            config = replace(config, epochs=self.given.epochs)
        job = OfflineJob(model, self.models.folder, name, config, seed)
        job.path.unlink(missing_ok=True)  # of a process that died before it could say what it had trained
        return asdict(job.run(log))

    def _play(self, spec: RunSpec, settings: Mapping[str, str]) -> StudyRun:
        """Return the run of a system that does not learn in the rounds after the log."""
        learner = partial(find_system(spec.system).with_settings(settings).new_learner, self.models, spec.seed, PHASE)
        return self._static_run(spec, lambda: [one.translation for one in play_rounds(learner(), self.later_pairs)])

    def _static_run(self, spec: RunSpec, make: Callable[[], list[str]]) -> StudyRun:
        return _study_run(spec, self.outputs.get(f"later/{spec.label}", make), self.later_pairs)

    def _selected_run(self, share: float) -> StudyRun:
        """Return the run of BNMT-static after training on this share of the out-of-domain text."""
        model = selection_model(share)

        def make() -> list[str]:
            learner = StaticTranslator(self.models.load(model))
            return [one.translation for one in play_rounds(learner, self.later_pairs)]

        return self._static_run(RunSpec(SELECTING, name=f"{SELECTING}-{share:g}"), make)

    def _evaluate(
        self,
        journals: Mapping[RunSpec, Sequence[JournalEntry]],
        later: Runs,
        offline: Mapping[tuple[str, Method], Sequence[OfflineRun]],
    ) -> Iterator[EvaluatedRun]:
        """Yield what the log of the later rounds says of systems, and what they earned."""
        for logger in (STOCHASTIC, DETERMINISTIC):
            own = {system_name(method): runs for (log, method), runs in offline.items() if log == logger}
            others = [name for name in EVALUATED if name != logger]
            for number in range(self.given.seeds):
                played = {name: runs[number].run for name, runs in own.items()}
                if number < len(later[logger]):  # what one log says of a system, it says once
                    played |= {name: later[name][0] for name in others}
                yield from self._evaluate_log(logger, number + 1, journals, played)

    def _evaluate_log(
        self,
        logger: str,
        seed: int,
        journals: Mapping[RunSpec, Sequence[JournalEntry]],
        played: Mapping[str, StudyRun],
    ) -> Iterator[EvaluatedRun]:
        """Yield what one log says of systems, and what they earned in those of its rounds that it can speak of."""
        log = [_logged(entry) for entry in _journal(journals, logger, seed)[self.given.rounds : len(self.pairs)]]
        known = [place for place, each in enumerate(log) if each.log_probability is not None]
        kept = known or list(range(len(log)))
        evaluator = cache(lambda: OffPolicyEvaluator([log[place] for place in kept]))
        for name, run in played.items():
            lines = self._translations(journals, run)
            make = partial(_evaluate_off_policy, evaluator, [lines[place] for place in kept])
            found = self.outputs.get(f"off-policy/{logger}.s{seed}/{name}", make)
            yield EvaluatedRun(logger, name, float(run.rewards[kept].mean()), _evaluation(found))

    def _translations(self, journals: Mapping[RunSpec, Sequence[JournalEntry]], run: StudyRun) -> list[str]:
        """Return what a run proposed in the rounds after the log."""
        if run.spec in journals:
            return [entry.translation for entry in journals[run.spec][self.given.rounds : len(self.pairs)]]
        known: list[str] = self.outputs.get(f"later/{run.spec.label}", list)
        return known

    def _arms(self, name: str) -> list[tuple[StudyRun, Mapping[str, float]]]:
        """Return the runs of a system that chooses, one for each seed, and the share of rounds of each member."""
        found: list[tuple[StudyRun, Mapping[str, float]]] = []
        pairs = self.pairs[: self.given.arms_rounds]
        for seed in range(1, self.given.seeds + 1):
            spec = RunSpec(name, seed, f"{name}.s{seed}")
            played = self.outputs.get(f"arms/{spec.label}", partial(self._play_arms, name, seed, pairs))
            shares = {member: plays / len(pairs) for member, plays in played["plays"].items()}
            found.append((_study_run(spec, played["translations"], pairs), shares))
        return found

    def _play_arms(self, name: str, seed: int, pairs: Sequence[Pair]) -> dict[str, object]:
        system = find_system(name).with_settings({"systems": ",".join(MEMBERS)})
        learner = system.new_learner(self.models, seed, PHASE)
        assert isinstance(learner, ArmsLearner), "all systems that choose are"
        translations = [entry.translation for entry in play_rounds(learner, pairs)]
        return {"translations": translations, "plays": dict(learner.plays)}


def selection_model(share: float) -> NeuralSeedModel:
    """Return the seed model of UMD-domain-adaptation for a share of the out-of-domain text."""
    name = f"{UMD_ADAPTATION.name}-{share:g}"
    return replace(UMD_ADAPTATION, name=name, text=partial(selected, config=SelectionConfig(share=share)))


def _label(logger: str, method: Method, seed: int) -> str:
    return f"{system_name(method)}-of-{logger}.s{seed}"


def _logged(entry: JournalEntry) -> LoggedRound:
    return LoggedRound(entry.source, entry.translation, entry.reward, entry.log_probability)


def _journal(journals: Mapping[RunSpec, Sequence[JournalEntry]], system: str, seed: int) -> Sequence[JournalEntry]:
    """Return the journal of a system with this seed; a system without randomness has only one."""
    found = {spec.seed: journal for spec, journal in journals.items() if spec.system == system}
    return found.get(seed, found[1])


def _runs(journals: Mapping[RunSpec, Sequence[JournalEntry]], pairs: Sequence[Pair], rounds: slice) -> Runs:
    """Return a part of each run, by system."""
    runs: dict[str, list[StudyRun]] = {}
    references = [reference for _, reference in pairs]
    for spec, journal in journals.items():
        run = StudyRun.from_journal(spec, journal[rounds], references, Layout.plain(len(pairs)))
        runs.setdefault(spec.system, []).append(run)
    return runs


def _study_run(spec: RunSpec, translations: Sequence[str], pairs: Sequence[Pair]) -> StudyRun:
    rows = zip(pairs, translations, strict=True)
    entries = [
        JournalEntry(index, source, text, reward_of(text, reference))
        for index, ((source, reference), text) in enumerate(rows)
    ]
    return StudyRun.from_journal(spec, entries, [reference for _, reference in pairs], Layout.plain(len(pairs)))


def _mean_shares(seeds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {member: mean(one[member] for one in seeds) for member in seeds[0]}


def _evaluate_off_policy(evaluator: Callable[[], OffPolicyEvaluator], proposed: Sequence[str]) -> dict[str, Any]:
    """Return what a log says of a system that proposed these translations in its rounds."""
    return asdict(evaluator().evaluate(Recorded(proposed)))


def _evaluation(values: Mapping[str, Any]) -> OffPolicyEvaluation:
    """Return what ``asdict`` made of an evaluation, as it was."""
    restored: dict[str, Any] = {name: Estimate(**one) if isinstance(one, dict) else one for name, one in values.items()}
    return OffPolicyEvaluation(**restored)


def open_task(text: str, given: argparse.Namespace) -> Task:
    """Return the task of a text; the shop is generated the first time."""
    path = given.folder / SHOP / "task" if text == SHOP else given.debian
    if text == SHOP and not path.exists():
        scale = SCALES[ScaleName.DEV].without_held_out.resized(
            dev=given.rounds + given.later, training=given.later, out_of_domain=given.out_of_domain
        )
        return synthesise_task(path, scale, seed=SHOP_SEED, departments=None, processes=2)
    return Task.open(path)


def save(out: Path, table: str, texts: Sequence[TextResults]) -> None:
    """Write the tables, the figure, and all runs."""
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / "table.md", f"{table}\n".encode())
    save_selection_figure(texts, out / "selection.svg")
    for text in texts:
        folder = out / text.text / RUNS
        folder.mkdir(parents=True, exist_ok=True)
        offline = [one.run for runs in text.offline.values() for one in runs]
        single = [run for runs in [*text.later.values(), *text.arms.values()] for run in runs]
        for run in [*single, *offline, *text.shares.values()]:
            run.write(folder / f"{run.spec.label}{FILE_SUFFIX}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", nargs="*", help=f"{SHOP} and {DEBIAN} (default: both)")
    parser.add_argument("--debian", type=Path, default=Path(".banditmt/offline-debian"), help="its task (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path(".banditmt/study-offline"), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=40_000, help="of a log (%(default)s)")
    parser.add_argument("--later", type=int, default=10_000, help="rounds to play after the log (%(default)s)")
    parser.add_argument("--arms-rounds", type=int, default=10_000, help="first rounds that ARMS play (%(default)s)")
    parser.add_argument("--out-of-domain", type=int, default=60_000, help="pairs of the shop (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each system with randomness (%(default)s)")
    parser.add_argument("--size", type=Size, choices=list(Size), default=Size.SMALL, help="of networks (%(default)s)")
    parser.add_argument("--steps", type=int, help="a bound on the steps of pre-training (default: until it converges)")
    parser.add_argument("--epochs", type=int, help="a bound on the passes over a log (default: as banditmt offline)")
    parser.add_argument("--methods", nargs="*", type=Method, choices=list(Method), default=list(Method), help="(all)")
    parser.add_argument("--processes", type=int, help="online runs at a time (default: the number of cores)")
    parser.add_argument("--out", type=Path, help="a folder for tables, figure and runs")
    given = parser.parse_args(arguments)
    given.texts = given.texts or [SHOP, DEBIAN]
    if unknown := set(given.texts) - {SHOP, DEBIAN}:
        parser.error(f"there is no text {unknown.pop()}: there are {SHOP} and {DEBIAN}")
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or resume the study, and print its tables."""
    given = _parse(arguments)
    names = ("rounds", "later", "arms_rounds", "out_of_domain", "size", "steps", "epochs")
    texts = []
    with errors_in_one_line():
        for text in given.texts:
            claim_folder(given.folder / text, {name: getattr(given, name) for name in names})
            texts.append(TextStudy(text, open_task(text, given), given.folder / text, given).run())
    size = (
        f"logs of {given.rounds:,} rounds, {given.later:,} rounds after them, ARMS in the first {given.arms_rounds:,}"
    )
    table = report(texts, f"{size}, {given.seeds} seeds, networks {given.size}, {given.steps or 'all'} steps")
    print(table)
    if given.out:
        save(given.out, table, texts)


if __name__ == "__main__":
    main()
