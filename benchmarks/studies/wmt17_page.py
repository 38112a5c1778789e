"""The page of ``make study-wmt17``: Table 3 and Figures 1 to 3 of Sokolov et al. 2017, published and replayed.

``python -m benchmarks.studies.wmt17_page FOLDER`` writes the page again from the saved competition in the folder.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.studies.published import MEAN_REWARDS, TABLE_3, TRAINING_ROUNDS, UNFINISHED
from benchmarks.studies.rank_correlation import rank_correlations
from benchmarks.studies.replay import NEURAL, STATISTICAL, PhaseReplay, Replay
from benchmarks.studies.table import markdown_table
from benchmarks.studies.wmt17_claims import CLAIMS, show_difference
from leaderboard.figures import figure
from leaderboard.metrics.bootstrap import MIN_BLOCKS
from leaderboard.rows import Row
from learners.systems.registry import find_system
from task.atomic_files import write_bytes

COMPETITION_FILE, PAGE_FILE = "competition.json.gz", "page.md"
PHASES = ("dev", "training")
OURS = ("CHAMPION", "BNMT-EL-VALUE", "BNMT-IMPUTE")
PLAYED = (*TABLE_3, *UNFINISHED, *OURS)  # in the order of the table
FAMILY_NAMES = {STATISTICAL: "statistical", NEURAL: "neural"}
ORACLES = ("SMT-oracle", "BNMT-oracle")
# What the figures of the paper look like, as far as its text and captions say.
PUBLISHED_SHAPES = {
    1: "Regret against the logarithm of the rounds falls for systems that learn, mostly in the first 100,000 rounds. "
    "BNMT-EL and UMD-reinforce2 get close to UMD-domain-adaptation, which starts lower and does not learn.",
    2: "Corpus BLEU on the same 700 sentences in four passes. Learners such as BNMT-EL catch up with static systems.",
    3: "Corpus BLEU (3a) and sentence BLEU (3b) on the same 4,000 sentences in twelve passes. Under corpus BLEU, "
    "static systems are always ahead. Under sentence BLEU, BNMT-EL catches up. Corpus BLEU sometimes falls while "
    "sentence BLEU rises.",
}


def write_page(folder: Path) -> Path:
    """Write the page and its figures from the saved competition in a folder; return the page."""
    replay = Replay.read(folder / COMPETITION_FILE)
    page = folder / PAGE_FILE
    write_bytes(page, ("\n".join(_lines(replay, folder)) + "\n").encode())
    return page


def _lines(replay: Replay, folder: Path) -> Iterator[str]:
    dev, training = (replay.phases[name] for name in PHASES)
    yield from ("# The competition of WMT 2017, published and replayed", "")
    yield from (_setting(replay), "", "## Table 3", "", _table_3(training), "")
    yield from (*(f"- {line}" for line in _correlations(training)), "")
    yield from ("## What the paper says, and what was measured", "", _claims(dev, training), "")
    yield from ("## What exploration costs, and what learning gains", "", _exploration(training), "")
    for number, phase, name in ((1, training, "regret"), (2, dev, "held-out"), (3, training, "held-out")):
        yield from (f"## Figure {number}", "", f"In the paper: {PUBLISHED_SHAPES[number]}", "", _reading(number), "")
        for path in _save_figures(number, phase, name, folder):
            yield from (f"![Figure {number}, {path.stem.rpartition('-')[2]} systems]({path.name})", "")
    yield from ("## Runs", "", _runs(training))
    missing = list(_missing(replay))
    if missing:
        yield from ("", "Not finished:", "", *(f"- {line}" for line in missing))


def _setting(replay: Replay) -> str:
    dev, training = (replay.phases[name].phase for name in PHASES)
    options = " ".join(
        f"--{name.replace('_', '-')} {value}" for name, value in replay.options.items() if value is not None
    )
    scale = (
        "as many as in the paper"
        if training.total == TRAINING_ROUNDS
        else f"{training.total / TRAINING_ROUNDS:.1%} of the paper's {TRAINING_ROUNDS:,}"
    )
    return (
        f"The training phase has {training.total:,} rounds, {scale}, and {training.held_out.passes} passes over "
        f"{training.held_out.size:,} held-out sentences; the dev phase has {dev.total:,} rounds, and "
        f"{dev.held_out.passes} passes over {dev.held_out.size:,}. Annealing starts at the same share of the training "
        f"phase as in the paper. The text is not that of 2017: compare orders and shapes, not rewards. "
        f"`python -m benchmarks.studies.wmt17 {options}` played it (task {replay.task[:12]})."
    )


def _table_3(training: PhaseReplay) -> str:
    rows = training.finished
    shared = [name for name in TABLE_3 if name in rows]
    published, replayed = _places({name: TABLE_3[name] for name in shared}), _places(_means(rows, shared))
    header = ["system", "published reward", "per round", "place", "replayed reward", "per round ", "95 %", "place "]

    def cells(name: str) -> list[str]:
        row = rows.get(name)
        return [
            name,
            f"{TABLE_3[name]:,.1f}" if name in TABLE_3 else "did not finish" if name in UNFINISHED else "ours",
            f"{MEAN_REWARDS[name]:.4f}" if name in TABLE_3 else "",
            published.get(name, ""),
            f"{row.reward:,.1f}" if row else "",
            f"{row.mean_reward:.4f}" if row else "",
            _half_width(row),
            replayed.get(name, ""),
        ]

    note = "Places are among the systems that finished both. Replayed rewards of several seeds are means."
    return f"{markdown_table(header, [cells(name) for name in PLAYED])}\n\n{note}"


def _half_width(row: Row | None) -> str:
    if row is None or row.interval is None:
        return ""
    return f"±{(row.interval[1] - row.interval[0]) / 2:.4f}"


def _means(rows: dict[str, Row], names: Sequence[str]) -> dict[str, float]:
    return {name: rows[name].mean_reward for name in names}


def _places(rewards: dict[str, float]) -> dict[str, str]:
    ordered = sorted(rewards, key=lambda name: -rewards[name])
    return {name: str(place) for place, name in enumerate(ordered, start=1)}


def _correlations(training: PhaseReplay) -> Iterator[str]:
    """Yield the rank correlations of published and replayed rewards, with and without the oracles."""
    rows = training.finished
    shared = [name for name in TABLE_3 if name in rows]
    for title, names in (
        ("all", shared),
        ("without the oracles", [name for name in shared if name not in ORACLES]),
    ):
        if len(names) < 2:
            continue
        has_blocks = training.phase.total >= MIN_BLOCKS
        resamples = training.resampled_means(names) if has_blocks else []
        found = rank_correlations(list(_means(rows, names).values()), [TABLE_3[name] for name in names], resamples)
        yield f"{len(names)} systems, {title}: {'; '.join(map(str, found))}"


def _claims(dev: PhaseReplay, training: PhaseReplay) -> str:
    found = [(claim, claim.measure(dev, training)) for claim in CLAIMS]
    header = ["the paper", "where", "the replay", "measured"]
    return markdown_table(
        header, [[claim.statement, claim.where, one.verdict.value, one.measured] for claim, one in found]
    )


def _exploration(training: PhaseReplay) -> str:
    """Return for each learner what its control lost against the static system, and what learning gained over it."""
    rows = training.finished
    header = ["learner", "minus its static system", "exploration: control minus static", "learning: minus its control"]
    table = []
    for name in rows:
        system = find_system(name)
        static = system.family.static if system.family else None
        if system.control is None:
            continue
        pairs = ((name, static), (system.control, static), (name, system.control))
        found = [training.difference(a, b) if b and a != b else None for a, b in pairs]
        if any(found):
            table.append([name, *(show_difference(one) if one else "" for one in found)])
    why = (
        "A learner explores to learn. Its control explores as it does, and does not learn. So the difference between a "
        "learner and its static system is the sum of two parts, in reward per round, with 95 % intervals."
    )
    return f"{why}\n\n{markdown_table(header, table)}" if table else "No learner finished together with its control."


def _reading(number: int) -> str:
    if number == 1:
        return "Replayed: running regret against the oracle of the family. Copy-source and controls are left out."
    corpus = "Figure 2" if number == 2 else "Figure 3a"
    sentence = "" if number == 2 else ", upper right Figure 3b"
    return f"Replayed: upper left {corpus}{sentence}; below, the same minus the first pass. Oracles are left out."


def _save_figures(number: int, phase: PhaseReplay, name: str, folder: Path) -> Iterator[Path]:
    """Draw a figure for each family that has anything to draw; yield the files."""
    for family, title in FAMILY_NAMES.items():
        drawing = figure(name, phase.drawn(family, with_oracle=name == "regret"))
        if drawing is not None:
            path = folder / f"figure-{number}-{title}.svg"
            drawing.save(path, format="svg")
            yield path


def _runs(training: PhaseReplay) -> str:
    """Return the speed of all runs, and how well they translated."""
    header = ["system", "rounds", "hours", "rounds per second", "corpus BLEU", "held-out BLEU, first to last pass"]

    def cells(row: Row) -> list[str]:
        hours = (row.last_at - row.first_at) / 3_600_000 if row.last_at is not None and row.first_at is not None else 0
        bleu = row.measures["bleu"]
        return [
            f"{row.system} ({len(row.seeds)} seeds)" if row.seeds else row.system,
            f"{row.rounds:,}",
            f"{hours:.2f}",
            f"{row.speed:.0f}" if row.speed else "",
            f"{bleu.value:.1f}" if bleu else "",
            f"{row.passes[0].corpus_bleu:.1f} to {row.passes[-1].corpus_bleu:.1f}" if row.passes else "",
        ]

    return markdown_table(header, [cells(row) for row in training.board.rows])


def _missing(replay: Replay) -> Iterator[str]:
    """Yield the runs that have not finished, and why."""
    for name, phase in replay.phases.items():
        for row in phase.unfinished:
            yield f"{row.system}, {name}: {row.rounds:,} of {phase.phase.total:,} rounds"
        begun = {row.system for row in phase.board.rows}
        not_begun = [system for system in PLAYED if system not in begun]
        if not_begun:
            yield f"not begun, {name}: {', '.join(not_begun)}"
    yield from (f"{run}: {message}" for run, message in replay.failures.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the page (--out of the study)")
    print(write_page(parser.parse_args().folder))
