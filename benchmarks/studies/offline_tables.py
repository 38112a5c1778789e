"""The tables of the study of offline learning: what logs teach, what estimates are worth, and which system to play."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np

from benchmarks.studies.study_run import StudyRun
from benchmarks.studies.table import interval, markdown_table
from leaderboard.metrics.bootstrap import Difference
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.offline.estimators import Method
from learners.offline.evaluation import Estimate, OffPolicyEvaluation

STATIC, CONTROL = "BNMT-static", "BNMT-control"
CLOSE = 0.005  # reward per round: how near the best single system a choice among systems should come
ESTIMATES: Mapping[str, Callable[[OffPolicyEvaluation], Estimate | None]] = {
    "IPS": lambda found: found.ips,
    "SNIPS": lambda found: found.snips,
    "direct": lambda found: found.direct,
    "DR": lambda found: found.doubly_robust,
}


@dataclass(frozen=True)
class OfflineRun:
    """A system that was trained on a log, on the rounds after it."""

    run: StudyRun
    estimate: float  # reward per held-out round of the log, by the estimator that it was trained by
    is_copy: bool  # no step raised the estimate, so that it is the seed model


@dataclass(frozen=True)
class EvaluatedRun:
    """What a log says of a system, and what the system earned in the same rounds."""

    logger: str
    system: str
    earned: float
    found: OffPolicyEvaluation


Runs = Mapping[str, Sequence[StudyRun]]  # by system, one for each seed


@dataclass(frozen=True)
class TextResults:
    """All results of one text."""

    text: str
    learners: Sequence[str]  # the single systems that learn online
    later: Runs  # single systems in the rounds after the log
    earlier: Runs  # the same systems in the first rounds, in which ARMS play
    offline: Mapping[tuple[str, Method], Sequence[OfflineRun]]  # by logging system and estimator
    evaluated: Sequence[EvaluatedRun]
    shares: Mapping[float, StudyRun]  # UMD-domain-adaptation by the share of text that is selected
    arms: Runs
    plays: Mapping[str, Mapping[str, float]]  # by ARMS system: the share of rounds of each member


def report(texts: Sequence[TextResults], size: str) -> str:
    """Return all tables as Markdown; ``size`` describes the study."""
    lines = [
        f"Size of this study: {size}. Intervals are of 95 %, by a paired bootstrap over blocks of rounds of the mean "
        "over seeds; ± is the standard deviation between seeds.",
    ]
    for text in texts:
        lines += ["", f"## {text.text}", "", *_text_report(text)]
    return "\n".join(lines)


def _text_report(text: TextResults) -> list[str]:
    return [
        "Single systems and systems that were trained on a log, in the rounds after the log:",
        "",
        offline_table(text),
        "",
        *(f"- {line}" for line in findings(text)),
        "",
        "Off-policy estimates from the log of these rounds, minus what the system earned in them (mean over seeds); in "
        "brackets, in how many of the seeds the interval has what it earned:",
        "",
        off_policy_table(text),
        "",
        "UMD-domain-adaptation by the share of out-of-domain text that is selected, in the same rounds:",
        "",
        selection_table(text),
        "",
        "Choosing among systems, from the first round on:",
        "",
        arms_table(text),
    ]


def difference(runs: Sequence[StudyRun], others: Sequence[StudyRun], part: slice = slice(None)) -> Difference:
    """Return the difference in mean reward, averaged over seeds; a seed is compared with the same one of the others."""
    seeds = range(max(len(runs), len(others)))  # a system without randomness has one run
    pairs = [(runs[seed % len(runs)], others[seed % len(others)]) for seed in seeds]
    gains = np.mean([run.rewards[part] - other.rewards[part] for run, other in pairs], axis=0)
    return paired_block_bootstrap(gains, np.zeros_like(gains))


def offline_table(text: TextResults) -> str:
    """Return what single systems and offline systems earned after the log."""
    header = ["system", "log", "mean reward", f"minus {STATIC}", "minus its logger"]
    header += [f"minus {name}" for name in text.learners]
    header += ["estimate of the training", "copies of the seed model", "corpus BLEU", "length ratio"]
    rows = []
    for name, runs in text.later.items():
        gains = [
            interval(difference(runs, text.later[other]), 4) if name != other else ""
            for other in (STATIC, *text.learners)
        ]
        rows.append([name, "", _rewards(runs), gains[0], "", *gains[1:], "", "", *_quality(runs)])
    for (logger, method), found in text.offline.items():
        runs = [one.run for one in found]
        gains = [interval(difference(runs, text.later[other]), 4) for other in (STATIC, logger, *text.learners)]
        copies = f"{sum(one.is_copy for one in found)} of {len(found)}"
        estimate = f"{mean(one.estimate for one in found):.4f}"
        rows.append([system_name(method), logger, _rewards(runs), *gains, estimate, copies, *_quality(runs)])
    return markdown_table(header, rows)


def system_name(method: Method) -> str:
    return f"OFFLINE-{method.upper()}"


def findings(text: TextResults) -> list[str]:
    """Return for each log which estimators help: which systems earn significantly more, or less, than BNMT-static."""
    lines = []
    for log in dict.fromkeys(logger for logger, _ in text.offline):
        gains = {
            system_name(method): difference([one.run for one in found], text.later[STATIC])
            for (logger, method), found in text.offline.items()
            if logger == log
        }
        more = [name for name, gain in gains.items() if gain.low > 0]
        less = [name for name, gain in gains.items() if gain.high < 0]
        lines.append(
            f"trained on the log of {log}, significantly more than {STATIC} earn {_listed(more)}, "
            f"significantly less {_listed(less)}, of {len(gains)}"
        )
    return lines


def off_policy_table(text: TextResults) -> str:
    """Return how far estimates are from what systems earned, by log and system, and on average over systems."""
    header = ["log", "system", "earned", *ESTIMATES, "effective rounds"]
    groups: dict[tuple[str, str], list[EvaluatedRun]] = {}
    for one in text.evaluated:
        groups.setdefault((one.logger, one.system), []).append(one)
    rows = []
    for (logger, system), seeds in groups.items():
        effective = mean(one.found.effective_rounds for one in seeds)
        cells = [_error(seeds, estimate) for estimate in ESTIMATES.values()]
        rows.append([logger, system, f"{mean(one.earned for one in seeds):.4f}", *cells, f"{effective:.0f}"])
    for logger in dict.fromkeys(one.logger for one in text.evaluated):
        own = [one for one in text.evaluated if one.logger == logger]
        cells = [_mean_absolute_error(own, estimate) for estimate in ESTIMATES.values()]
        rows.append([logger, "mean absolute error", "", *cells, ""])
    return markdown_table(header, rows)


def selection_table(text: TextResults) -> str:
    """Return what UMD-domain-adaptation earned by the share of text, beside the systems that it is compared with."""
    header = ["system", "share", "mean reward", f"minus {STATIC}", f"minus {CONTROL}", "corpus BLEU", "length ratio"]
    rows = [
        [name, "", _rewards(text.later[name]), *_gains(text.later[name], text, name), *_quality(text.later[name])]
        for name in (STATIC, CONTROL)
    ]
    for share, run in sorted(text.shares.items()):
        gains = _gains([run], text)
        rows.append(["UMD-domain-adaptation", f"{share:g}", _rewards([run]), *gains, *_quality([run])])
    return markdown_table(header, rows)


def _gains(runs: Sequence[StudyRun], text: TextResults, own: str = "") -> list[str]:
    return [interval(difference(runs, text.later[name]), 4) if name != own else "" for name in (STATIC, CONTROL)]


def best_single(text: TextResults) -> str:
    """Return the single system that earned most in the rounds in which ARMS play."""
    return max(text.earlier, key=lambda name: _mean_reward(text.earlier[name]))


def arms_table(text: TextResults) -> str:
    """Return what systems that choose earned, beside the best single system of the same rounds and their members."""
    best = best_single(text)
    header = ["system", "mean reward", f"minus {best}, the best", "the same, last quarter", f"within {CLOSE} of it"]
    header += ["share of rounds by member"]
    rows = []
    for name, runs in text.arms.items():
        gain = difference(runs, text.earlier[best])
        late = slice(3 * len(runs[0].rewards) // 4, None)
        shares = ", ".join(f"{member} {100 * share:.0f} %" for member, share in text.plays[name].items())
        is_close = "yes" if gain.mean >= -CLOSE else "no"
        late_gain = interval(difference(runs, text.earlier[best], late), 4)
        rows.append([name, _rewards(runs), interval(gain, 4), late_gain, is_close, shares])
    for name, runs in text.earlier.items():
        gains = [interval(difference(runs, text.earlier[best]), 4) if name != best else ""]
        rows.append([name, _rewards(runs), *gains, "", "", ""])
    return markdown_table(header, rows)


def _mean_reward(runs: Sequence[StudyRun]) -> float:
    return mean(float(run.rewards.mean()) for run in runs)


def _rewards(runs: Sequence[StudyRun]) -> str:
    values = [float(run.rewards.mean()) for run in runs]
    return f"{mean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")


def _quality(runs: Sequence[StudyRun]) -> list[str]:
    texts = [text for run in runs if (text := run.whole.text) is not None]
    return [f"{mean(text.corpus_bleu for text in texts):.1f}", f"{mean(text.length_ratio for text in texts):.2f}"]


def _error(seeds: Sequence[EvaluatedRun], estimate: Callable[[OffPolicyEvaluation], Estimate | None]) -> str:
    known = [(found, one.earned) for one in seeds if (found := estimate(one.found)) is not None]
    if not known:
        return ""
    error = mean(found.value - earned for found, earned in known)
    held = sum(found.low <= earned <= found.high for found, earned in known)
    return f"{error:+.4f} ({held} of {len(known)})"


def _mean_absolute_error(
    runs: Sequence[EvaluatedRun], estimate: Callable[[OffPolicyEvaluation], Estimate | None]
) -> str:
    errors = [abs(found.value - one.earned) for one in runs if (found := estimate(one.found)) is not None]
    return f"{mean(errors):.4f}" if errors else ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
