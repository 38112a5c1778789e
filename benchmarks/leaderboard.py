"""The speed of the leaderboard: summarising a stored run, and answering a request for the board.

1. Rounds per second that are folded from a stored run into its summary. The baseline reads the same rounds and scores
   each translation again with sacreBLEU, as a board without stored statistics would have to.
2. Seconds to answer a request for the board of 200 finished full-scale runs from stored summaries. The part of the
   bootstrap is compared with the same bootstrap in numpy, which the cloud functions do not have.
3. The same for 200 finished runs of a post-edit phase, by a function that has just started, and by one that has
   answered before and remembers the measures of finished runs.

The exit code is 1 if a limit is exceeded. ``benchmarks/page.py`` measures the page.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from lambdas.phase_record import PhaseRecord
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard, board_phase
from lambdas.sentences import SentenceReader
from lambdas.store import Store, open_store
from lambdas.task_loader import load_phase
from leaderboard.families import Role, RoleKind
from leaderboard.measures import forget_runs
from leaderboard.metrics.bleu import count_ngram_matches, sentence_score
from leaderboard.metrics.bootstrap import RESAMPLES, BlockRewards
from leaderboard.metrics.online import Tally
from leaderboard.metrics.post_edit import post_edit_statistics
from leaderboard.metrics.recall import ConfirmedWords, any_word
from leaderboard.rows import BoardPhase, HeldOutBlock
from leaderboard.summaries import RunIdentity, Summary
from leaderboard.table import make_board
from simulator.cloud.template import SamTemplate
from task.layout import Layout
from task.phases import TRAINING, Phase
from task.rounds import Round, RoundResult, Run, to_ticks

MIN_ROUNDS_PER_SECOND = 200_000  # of one core; or else
MIN_SPEEDUP = 20  # over a fold that scores again
FULL_CORE_MB = 1_769  # of memory: Lambda then gives a function a whole processor

STORED_ROUNDS = 60_001
RESCORED_ROUNDS = 4_000  # of the baseline, which is slow
RUNS = 200
PASSES = 5  # the fastest counts: noise on a shared machine can only slow it down
PAIRS = 500  # distinct sentences, with the lengths of the task
POST_EDIT_ROUNDS = 10_000


def fastest(work: Callable[[], object], passes: int = PASSES) -> float:
    """Return the shortest CPU time of several passes; other programs do not count."""
    taken = []
    for _ in range(passes):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def pairs(count: int, seed: int = 17) -> list[tuple[str, str]]:
    """Return pairs of a translation and its reference; translations are noisy copies."""
    rng = random.Random(seed)
    words = [f"w{rank}" for rank in range(2_000)]
    made = []
    for _ in range(count):
        length = rng.randint(1, 3) if rng.random() < 0.45 else min(25, 8 + int(rng.expovariate(0.4)))
        reference = [words[int(2_000 * rng.random() ** 3)] for _ in range(length)]
        made.append((" ".join(w if rng.random() < 0.6 else "w?" for w in reference), " ".join(reference)))
    return made


def stored_run(store: Store, texts: list[tuple[str, str]]) -> tuple[PhaseRecord, Run]:
    """Store a finished run; return its phase and the run."""
    phase = Phase("dev", Layout.fit(STORED_ROUNDS, blocks=4, block=1_000), repeatable=True)
    references = (texts[number % PAIRS] for number in range(phase.layout.distinct))
    record = load_phase(store, phase, references)
    registry = Registry(store)
    registry.add_participant("bench")
    run = Run("a" * 26, "bench", "dev", "copy", 1, 0, 1)
    registry.claim(run, 0)
    store.open_run(run)
    ticks = 0
    for index in range(phase.layout.total):
        translation, reference = texts[phase.layout.place(index).sentence % PAIRS]
        counts = count_ngram_matches(translation, reference)
        reward = sentence_score(counts)
        ticks += to_ticks(reward)
        store.append(Round(run, index, translation, reward, reward, counts.to_bytes(), ticks, ticks, index))
    return record, run


def rescoring_fold(store: Store, record: PhaseRecord, run: Run) -> float:
    """Do what the baseline does, without a curve."""
    metric = BLEU(smooth_method="floor", smooth_value=0.01, effective_order=True, tokenize="none")
    library, total = SentenceReader(store), 0.0
    totals = np.zeros(10)
    for played in store.rounds(run.id):
        if played.index == RESCORED_ROUNDS:
            break
        found = metric.sentence_score(played.translation, [library.reference(record, played.index).text])
        total += found.score
        totals += [*found.counts, *found.totals, found.sys_len, found.ref_len]
    return total


def full_scale_summary(number: int, texts: list[tuple[str, str]]) -> Summary:
    """Return the summary of a training run of 1,297,974 rounds; ``varied`` derives the others, which saves time."""
    known = [(sentence_score(counts), counts.to_bytes()) for counts in (count_ngram_matches(*pair) for pair in texts)]
    layout = TRAINING.layout
    results = (RoundResult(k, *known[k * 7919 % PAIRS], k) for k in range(layout.total))
    identity = RunIdentity(f"run-{number}", "bench", TRAINING.name, f"X-{number}", 1, 0)
    return Summary.begin(identity, layout.total).fold(results, layout)


def _scaled(tally: Tally, part: int, whole: int) -> Tally:
    """Return a tally with this share of its rewards and of its matching n-grams."""
    m1, m2, m3, m4 = (matched * part // whole for matched in tally.statistics.matches)
    statistics = tally.statistics._replace(matches=(m1, m2, m3, m4))
    return replace(tally, ticks=tally.ticks * part // whole, statistics=statistics)


def varied(summary: Summary, number: int) -> Summary:
    """Return the same run with rewards varied a little between checkpoints, as if another system had played it."""
    rng = random.Random(number)
    ticks, before, curve = 0, 0, {}
    for k, known in sorted(summary.record.curve.items()):
        ticks += int((known - before) * rng.uniform(0.5, 0.52 + number / 1_000))
        before, curve[k] = known, ticks
    late = {k: _scaled(tally, ticks, before) for k, tally in summary.record.late.items()}
    total = replace(_scaled(summary.record.total, ticks, before), ticks=ticks)
    identity = replace(summary.identity, run=f"run-{number}", system=f"X-{number}")
    return Summary(identity, replace(summary.record, curve=curve, total=total, late=late))


def post_edit_document(number: int, references: list[tuple[str, list[list[str]]]]) -> str:
    """Return the stored summary of a run of a post-edit phase, whose translations are noisy copies of references."""
    rng = random.Random(number)
    outcomes = []
    for text, wanted in references:
        words = [word if rng.random() < 0.4 + number / 1_000 else "?" for word in text.split()]
        counts, packed = post_edit_statistics(" ".join(words), text, wanted)
        outcomes.append((sentence_score(counts), packed))
    results = (RoundResult(k, *outcomes[rng.randrange(PAIRS)], k) for k in range(POST_EDIT_ROUNDS))
    identity = RunIdentity(f"run-{number}", "bench", "post-edit", f"X-{number}", 1, 0)
    summary = Summary.begin(identity, POST_EDIT_ROUNDS, post_edits=True).fold(results, Layout.plain(POST_EDIT_ROUNDS))
    return json.dumps(summary.as_document())


def numpy_bootstrap(runs: list[BlockRewards]) -> None:
    rng = np.random.default_rng(0)
    count = len(runs[0].earned)
    sizes = np.array(runs[0].rounds)
    weights = np.array([np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(RESAMPLES)])
    for run in runs:
        _ = (weights @ np.array(run.earned)) / (weights @ sizes)


def post_edit_answers(texts: list[tuple[str, str]]) -> tuple[float, float]:
    """Return the seconds to answer with the board of a post-edit phase: for the first time, and later."""
    confirmed = ConfirmedWords(any_word)
    references = [(reference, confirmed.add(reference)) for _, reference in texts]
    documents = [post_edit_document(number, references) for number in range(RUNS)]
    no_passes = HeldOutBlock(0, 0, [])
    phase = BoardPhase("post-edit", "open", POST_EDIT_ROUNDS, no_passes, "", post_edits=True, language="en")

    def answer() -> None:
        summaries = [Summary.from_document(json.loads(document)) for document in documents]
        board = make_board(phase, summaries, [Role("bench", "X-0", RoleKind.BASELINE)], now=0)
        json.dumps(board.as_dict(), separators=(",", ":"))

    def first_answer() -> None:
        forget_runs()
        answer()

    return fastest(first_answer, 3), fastest(answer, 3)


def print_limit(is_met: bool, bound: str) -> bool:
    """Print whether a limit is met; return it."""
    print(f"  {'met' if is_met else 'NOT MET'}: {bound}")
    return is_met


def main() -> int:
    texts = pairs(PAIRS)
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:{Path(folder) / 'store'}?synchronous=normal")
        record, run = stored_run(store, texts)
        scoreboard = Scoreboard(store)
        ours = STORED_ROUNDS / fastest(lambda: scoreboard.rebuild(record, run))
        theirs = RESCORED_ROUNDS / fastest(lambda: rescoring_fold(store, record, run), 3)
        store.close()
    print("folding a stored run (SQLite), rounds per second of processor time")
    print(f"  banditmt, from stored statistics   {ours:10,.0f}")
    print(f"  scored again with sacreBLEU        {theirs:10,.0f}")
    print(f"  ratio                              {ours / theirs:10.1f}")
    is_fast = ours >= MIN_ROUNDS_PER_SECOND or ours >= MIN_SPEEDUP * theirs
    good = print_limit(is_fast, f"{MIN_ROUNDS_PER_SECOND:,} rounds per second, or {MIN_SPEEDUP} times the baseline")

    whole = full_scale_summary(0, texts)
    documents = [json.dumps(varied(whole, number).as_document()) for number in range(RUNS)]
    phase = board_phase(PhaseRecord(replace(TRAINING, feedback=record.feedback), 512, "", 1))
    roles = [Role("bench", "X-199", RoleKind.ORACLE), Role("bench", "X-0", RoleKind.BASELINE)]
    sizes: list[int] = []

    def answer() -> None:
        summaries = [Summary.from_document(json.loads(document)) for document in documents]
        board = make_board(phase, summaries, roles, now=0)
        sizes.append(len(json.dumps(board.as_dict(), separators=(",", ":"))))

    blocks = [Summary.from_document(json.loads(document)).blocks(TRAINING.layout.total) for document in documents]
    cold, warm = fastest(answer, 1), fastest(answer, 3)
    ours = fastest(lambda: [each.resampled() for each in blocks], 3)
    theirs = fastest(lambda: numpy_bootstrap(blocks), 3)
    function = SamTemplate.load().functions["PublicFunction"]
    share = function.memory / FULL_CORE_MB
    bound = f"in the {function.timeout:.0f} s of a function of {function.memory} MB, with {share:.2f} of a processor"
    print(f"\nthe leaderboard of {RUNS} finished runs of {TRAINING.layout.total:,} rounds")
    print(f"  stored summary                     {sum(map(len, documents)) / RUNS / 1_000:10.1f} kB each")
    print(f"  answer of a new function           {cold:10.2f} s of processor time, {sizes[0] / 1e6:.2f} MB")
    print(f"  answer of one that has answered    {warm:10.2f} s")
    print(
        f"  bootstrap, {RESAMPLES:,} resamples         {ours:10.2f} s, {ours / theirs:.1f} times numpy's {theirs:.2f} s"
    )
    good &= print_limit(cold / share < function.timeout, bound)

    cold, warm = post_edit_answers(texts)
    print(f"\nthe leaderboard of {RUNS} finished runs of a post-edit phase of {POST_EDIT_ROUNDS:,} rounds")
    print(f"  answer of a new function           {cold:10.2f} s of processor time")
    print(f"  answer of one that has answered    {warm:10.2f} s")
    good &= print_limit(cold / share < function.timeout, bound)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
