"""Watching runs in TensorBoard, MLflow or Weights & Biases, each behind an extra of its own.

A tracker is three calls: ``init``, ``log``, ``finish``. What is logged is the same for all of them. Tracking never ends
a run: if a tracker fails, the failure is reported once, and the run goes on without it.
"""

import importlib
import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simulator.errors import TrackingError

if TYPE_CHECKING:
    from learners.journal import JournalEntry
    from simulator.regret import BaselineRun

MAX_POINTS = 1_000  # of a curve: a run of a million rounds is no million points
PROJECT = "banditmt"


class Tracker(Protocol):
    """What a tool for watching experiments does here."""

    def init(self, name: str, config: Mapping[str, str | int]) -> None:
        """Begin to track a run, or continue to, with its name and what it is played with."""

    def log(self, rounds: int, values: Mapping[str, float]) -> None:
        """Log numbers by name, as of this many rounds."""

    def finish(self) -> None:
        """Write everything that is not written yet."""


class TensorBoardTracker:
    """Writes event files to ``tensorboard/`` in the folder of the run, for ``tensorboard --logdir``."""

    def __init__(self, folder: Path, run: str) -> None:  # noqa: ARG002 (the folder is the run's)
        self._folder = folder / "tensorboard"
        self._writer: Any = None

    def init(self, name: str, config: Mapping[str, str | int]) -> None:  # noqa: ARG002 (TensorBoard shows neither)
        self._writer = importlib.import_module("tensorboard.summary").Writer(str(self._folder))

    def log(self, rounds: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, rounds)

    def finish(self) -> None:
        self._writer.close()


class MlflowTracker:
    """Logs to the server that ``MLFLOW_TRACKING_URI`` names, as a run of the experiment ``banditmt``."""

    def __init__(self, folder: Path, run: str) -> None:  # noqa: ARG002 (the server keeps everything)
        self._run = run
        self._client: Any = None
        self._id = ""

    def init(self, name: str, config: Mapping[str, str | int]) -> None:
        self._client = importlib.import_module("mlflow").MlflowClient()
        experiment = self._client.get_experiment_by_name(PROJECT)
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment(PROJECT)
        begun = self._client.search_runs([experiment_id], f"tags.banditmt_run = '{self._run}'", max_results=1)
        if begun:
            self._id = begun[0].info.run_id
            self._client.update_run(self._id, status="RUNNING")
            return
        created = self._client.create_run(experiment_id, run_name=name, tags={"banditmt_run": self._run})
        self._id = created.info.run_id
        for key, value in config.items():
            self._client.log_param(self._id, key, value)

    def log(self, rounds: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._client.log_metric(self._id, name, value, step=rounds)

    def finish(self) -> None:
        self._client.set_terminated(self._id)


class WandbTracker:
    """Logs to Weights & Biases, as a run of the project ``banditmt``; ``WANDB_MODE=offline`` keeps it local."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run
        self._tracked: Any = None

    def init(self, name: str, config: Mapping[str, str | int]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._tracked = importlib.import_module("wandb").init(
            project=PROJECT, id=self._run, name=name, config=dict(config), resume="allow", dir=str(self._folder)
        )

    def log(self, rounds: int, values: Mapping[str, float]) -> None:
        self._tracked.log(dict(values), step=rounds)

    def finish(self) -> None:
        self._tracked.finish()


# By name: of the option, of the extra, and of the package.
TRACKERS: dict[str, Callable[[Path, str], Tracker]] = {
    "tensorboard": TensorBoardTracker,
    "mlflow": MlflowTracker,
    "wandb": WandbTracker,
}


def check_tracker(name: str) -> None:
    """Raise TrackingError if there is no such tracker, or if its package is not installed."""
    if name not in TRACKERS:
        raise TrackingError(f"there is no tracker {name!r}; there are {', '.join(TRACKERS)}")
    if find_spec(name) is None:
        raise TrackingError(f"{name} is not installed: pip install 'banditmt[{name}]'")


def open_tracker(name: str, folder: Path, run: str) -> Tracker:
    """Return a tracker of a run.

    Args:
        name: One of ``TRACKERS``.
        folder: The folder of the run.
        run: The id of the run, so that a run that is resumed is tracked as one.

    Raises:
        TrackingError: There is no such tracker, or its package is not installed.
    """
    check_tracker(name)
    return TRACKERS[name](folder, run)


class RunTracking:
    """Turns the rounds of a run into the numbers that are logged: means over the rounds since the last point."""

    def __init__(
        self,
        tracker: Tracker,
        total: int,
        *,
        oracle: "BaselineRun | None" = None,
        measure: Callable[[], Mapping[str, float]] = dict,
        complain: Callable[[str], None] = print,
    ) -> None:
        """Begin to track.

        Args:
            tracker: Where to log.
            total: The number of rounds of the run.
            oracle: The run that regret is measured against, if it is known.
            measure: Returns what the learner measures of itself, such as the norm of its last gradient.
            complain: Called with the failure of the tracker, once.
        """
        self._tracker: Tracker | None = tracker
        self._every, self._total = max(1, total // MAX_POINTS), total
        self._oracle, self._measure, self._complain = oracle, measure, complain
        self._sums: dict[str, tuple[float, int]] = {}

    def init(self, name: str, config: Mapping[str, str | int]) -> None:
        self._try(lambda tracker: tracker.init(name, config))

    def observe(self, entry: "JournalEntry", cumulative_reward: float) -> None:
        """Take a round into account; log a point if one is due."""
        if self._tracker is None:
            return
        for name, value in _values_of(entry).items():
            total, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = total + value, count + 1
        rounds = entry.index + 1
        if rounds % self._every == 0 or rounds == self._total:
            values = self._point(rounds, cumulative_reward)
            self._try(lambda tracker: tracker.log(rounds, values))

    def _point(self, rounds: int, cumulative_reward: float) -> dict[str, float]:
        values = {name: total / count for name, (total, count) in self._sums.items()}
        self._sums.clear()
        values["running_mean_reward"] = cumulative_reward / rounds
        regret = self._oracle.regret(rounds, cumulative_reward) if self._oracle else None
        if regret is not None:
            values["regret"] = regret
        values.update(self._measure())
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def finish(self) -> None:
        self._try(lambda tracker: tracker.finish())

    def _try(self, call: Callable[[Tracker], None]) -> None:
        if self._tracker is None:
            return
        try:
            call(self._tracker)
        except Exception as failure:  # of any kind: the packages are large, and their servers far away
            self._tracker = None
            self._complain(f"tracking has stopped, the run goes on: {type(failure).__name__}: {failure}")


def _values_of(entry: "JournalEntry") -> dict[str, float]:
    """Return what is logged of one round."""
    words = len(entry.translation.split())
    values = {"reward": entry.reward, "length_ratio": words / max(1, len(entry.source.split()))}
    if entry.log_probability is not None:
        # Minus the logarithm of a sample's probability is an unbiased estimate of the entropy of its distribution.
        values["entropy_per_word"] = -entry.log_probability / max(1, words)
    return values
