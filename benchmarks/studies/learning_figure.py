"""``make learning-figure``: the first figure of the README, from the committed results of ``make study-learning``.

The runs become a board, as if they had been played just now, and its figure of gains is drawn: the mean of the seeds,
with bands that cover chance in sentences and in seeds. Only rewards are committed, so nothing else of the board is
shown.
"""

from pathlib import Path

from benchmarks.studies.saved_runs import SavedRuns
from benchmarks.studies.study_run import StudyRun
from leaderboard.families import HOUSE_PARTICIPANT
from leaderboard.figures import figure
from leaderboard.metrics.bleu import EMPTY_STATISTICS
from leaderboard.rows import Board, BoardPhase, HeldOutBlock
from leaderboard.summaries import RunIdentity, Summary
from leaderboard.table import make_board
from task.layout import Layout
from task.rounds import RoundResult

RESULTS = Path("benchmarks/studies/results/learning/runs")
PICTURE = Path("docs/images/learning.svg")
PHASE = "study"
FAMILY = "BNMT-"  # systems that start from the same seed model, BNMT-static
WITHOUT_COUNTS = EMPTY_STATISTICS.to_bytes()


def study_board(runs: list[StudyRun]) -> Board:
    """Return the leaderboard of a study. Its rewards are those of the runs; it knows nothing of their translations."""
    total = min(len(run.rewards) for run in runs)
    phase = BoardPhase(PHASE, "closed", total, HeldOutBlock(0, 0, []), "")
    return make_board(phase, [_summary(run, total) for run in runs], now=0)


def _summary(run: StudyRun, total: int) -> Summary:
    label = run.spec.label
    identity = RunIdentity(label, HOUSE_PARTICIPANT, PHASE, label, attempt=1, opened_at=0)
    results = (
        RoundResult(index, reward, WITHOUT_COUNTS, 0) for index, reward in enumerate(run.rewards[:total].tolist())
    )
    return Summary.begin(identity, total).fold(results, Layout.plain(total))


def main() -> None:
    runs = [run for run in SavedRuns(RESULTS).read_all() if run.spec.system.startswith(FAMILY)]
    board = study_board(runs)
    drawing = figure("gain", board)
    assert drawing is not None, "the study has a seed model"
    drawing.save(PICTURE, format="svg")
    for row in board.rows:
        if (gain := row.reward_gain) and gain.interval:
            low, high = gain.interval
            print(f"{row.system}: {gain.value:+.4f} ({low:+.4f} to {high:+.4f}, which covers {gain.covers})")
    print(PICTURE)


if __name__ == "__main__":
    main()
