"""The whole competition of WMT 2017 again: ``make study-wmt17`` plays every system of the task paper, and ours.

All systems of Table 3 and Figure 1 of Sokolov et al. 2017 play the dev phase and the training phase, with four and
twelve passes over held-out sentences, and so do the controls of learners. The page shows Table 3 and Figures 1 to 3,
published and replayed. ``--rounds`` is the size of the training phase: 40,000 for a laptop, 1,297,974 for the real
thing. The same command resumes the study; interrupted, it writes a page of what has been played so far.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.studies.published import TRAINING_ROUNDS
from benchmarks.studies.replay import PhaseReplay, Replay, read_phase
from benchmarks.studies.study import (
    Study,
    check_settings_of_runs,
    claim_folder,
    errors_in_one_line,
    load_competition,
    play_runs,
    study_parser,
    task_options,
    train_models,
)
from benchmarks.studies.wmt17_page import COMPETITION_FILE, PHASES, PLAYED, write_page
from corpora.scales import Scale
from corpora.synthesis import synthesise_task
from corpora.task import Task
from learners.settings import list_settings
from learners.systems import bnmt
from learners.systems.published import ANNEALING
from learners.systems.registry import find_system
from simulator.cluster.place import check_place
from simulator.competition import PlayState, RunSpec, run_specs
from task.layout import Layout
from task.phases import DEV, TRAINING

CONTROLS = tuple(dict.fromkeys(control for name in PLAYED if (control := find_system(name).control)))
HELD_OUT_SHARE = (
    100  # training rounds for each held-out sentence, at least: more passes would be mostly held-out rounds
)
DEV_SHARE = 10  # training rounds for each dev round, at least

STUDY = Study(
    question=__doc__,
    folder=Path(".banditmt/study-wmt17"),
    systems=tuple(dict.fromkeys((*PLAYED, *CONTROLS))),
    family=bnmt.FAMILY,
    departments=3,  # a network that is trained in minutes can learn the words of three
)


def scale_of(rounds: int, out_of_domain: int) -> Scale:
    """Return the scale of a competition with about this many training rounds.

    Both phases have as many passes as in the paper, and are the nearest that can be divided by them. At 1,297,974
    rounds they are those of the paper.
    """
    training = min(rounds // HELD_OUT_SHARE, TRAINING.layout.block)
    dev_rounds = min(rounds // DEV_SHARE, DEV.layout.total)
    dev = round(dev_rounds * DEV.layout.block / DEV.layout.total)
    return Scale(
        dev=_nearest_layout(dev_rounds, DEV.layout.blocks, dev),
        training=_nearest_layout(rounds, TRAINING.layout.blocks, training),
        out_of_domain=out_of_domain,
    )


def _nearest_layout(total: int, blocks: int, block: int) -> Layout:
    size = max(1, block)
    return Layout(blocks, size, max(1, round((total - blocks * size) / (blocks - 1))))


def make_task(path: Path, given: argparse.Namespace) -> Task:
    """Return the synthetic task of the competition, which is generated the first time."""
    if path.exists():
        return Task.open(path)
    scale = scale_of(given.rounds, given.out_of_domain)
    return synthesise_task(path, scale, seed=given.task_seed, departments=given.departments, processes=2)


def scaled_specs(systems: Sequence[str], seeds: int, rounds: int) -> list[RunSpec]:
    """Return a run for each system and seed whose annealing starts at the same share of the rounds as in the paper."""
    specs = []
    for spec in run_specs(systems, seeds):
        system = find_system(spec.system)
        starts = [one.name for one in list_settings(system.config) if one.value == ANNEALING.start]
        start = str(round(rounds * ANNEALING.start / TRAINING_ROUNDS)) if ANNEALING.start else "none"
        scaled = system.with_settings(dict.fromkeys(starts, start))
        specs.append(replace(spec, settings=scaled.changed_settings))
    return specs


def play(given: argparse.Namespace) -> Replay:
    """Play or resume the competition, phase by phase; return it as far as it has come."""
    check_place(given.on)  # first: what is wrong is told before anything is made
    run_specs(given.systems, given.seeds)
    options = task_options(given)
    claim_folder(given.folder, options)
    task = Task.open(given.task) if given.task else make_task(given.folder / "task", given)
    models, failures, phases = dict[str, str](), dict[str, str](), dict[str, PhaseReplay]()
    is_interrupted = False
    for name in PHASES:
        competition = load_competition(given.folder, task, name)
        rounds = task.description.phases[name].total
        specs = run_specs(given.systems, given.seeds)
        if name == TRAINING.name:  # in development, learners of the paper never came to annealing
            specs = scaled_specs(given.systems, given.seeds, rounds)
        models |= train_models(competition, specs, task, given.steps)
        check_settings_of_runs(competition, specs)
        left = [] if is_interrupted else specs
        statuses = play_runs(competition, left, given)
        phases[name] = read_phase(competition, [spec.label for spec in specs])
        failures |= {f"{one.spec.label}, {name}": one.message for one in statuses if one.state is PlayState.FAILED}
        is_interrupted |= any(one.state is PlayState.INTERRUPTED for one in statuses)
    return Replay(options, task.digest, models, phases, failures)


def main() -> None:
    parser = study_parser(STUDY)
    parser.set_defaults(seeds=1, out=STUDY.folder / "page")
    given = parser.parse_args()
    with errors_in_one_line():
        replay = play(given)
    given.out.mkdir(parents=True, exist_ok=True)
    replay.write(given.out / COMPETITION_FILE)
    print(write_page(given.out))
    if any(phase.unfinished for phase in replay.phases.values()) or replay.failures:
        raise SystemExit("not all runs have finished: the same command resumes them")


if __name__ == "__main__":
    main()
