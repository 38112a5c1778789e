"""Off-policy evaluation of registered systems on a log, as a report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from leaderboard.evaluation.reports import Cell, Report
from learners.nmt.processor import denormals_as_zero
from learners.offline.evaluation import Estimate, OffPolicyEvaluation, OffPolicyEvaluator
from learners.offline.logged_round import LoggedRound
from learners.seed_models.store import ModelStore
from learners.systems.registry import find_system

DIGITS = 4
SIGNATURES = {
    "IPS": "IPS|match:exact|interval:blocks|v:1",
    "SNIPS": "SNIPS|match:exact|interval:blocks|v:1",
    "direct": "DM|model:linear|folds:2|interval:blocks|v:1",
    "DR": "DR|match:exact|model:linear|folds:2|interval:blocks|v:1",
}
DETERMINISTIC = (
    "no row has log_probability: SNIPS is the mean reward where system and log agree, which need not hold elsewhere; "
    "DR takes the logged reward there, and the reward model elsewhere"
)


def evaluate_off_policy(
    rounds: Sequence[LoggedRound],
    systems: Sequence[str],
    models: Path,
    *,
    seed: int = 1,
    watch: Callable[[int], None] = lambda _: None,
) -> Report:
    """Return what each system would have earned in the logged rounds.

    Args:
        rounds: The log.
        systems: The systems, by name.
        models: The folder of their seed models.
        seed: The random seed of their learners.
        watch: Called with 1 after each round of each system.

    Raises:
        LogError: The log has too few rounds.
        UnknownSystemError: There is no system of this name.
        LearnerError: A seed model is missing.
    """
    store = ModelStore(models)
    learners = {name: find_system(name).new_learner(store, seed) for name in dict.fromkeys(systems)}
    with denormals_as_zero():
        evaluator = OffPolicyEvaluator(rounds)
        found = {name: evaluator.evaluate(learner, watch) for name, learner in learners.items()}
    return _report(found, evaluator)


def _report(found: Mapping[str, OffPolicyEvaluation], evaluator: OffPolicyEvaluator) -> Report:
    rows = tuple((name, _cells(each)) for name, each in found.items())
    logged = next(iter(found.values())).logged
    notes = [f"the log earned {logged:.4f} per round, in {len(evaluator.rounds):,} rounds"]
    notes += [DETERMINISTIC] if evaluator.is_deterministic else []
    notes += [f"left out: {evaluator.left_out:,} rounds without log_probability"] if evaluator.left_out else []
    notes += [
        f"no SNIPS of {name}: it never proposes what was logged" for name, each in found.items() if not each.snips
    ]
    return Report("system", rows, SIGNATURES, notes=tuple(notes))


def _cells(each: OffPolicyEvaluation) -> tuple[Cell, ...]:
    return (
        _cell("IPS", each.ips),
        _cell("SNIPS", each.snips),
        _cell("direct", each.direct),
        _cell("DR", each.doubly_robust),
        Cell("agreeing rounds", each.matches, digits=0),
        Cell("effective rounds", each.effective_rounds, digits=1),
    )


def _cell(column: str, estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(column, None, digits=DIGITS)
    return Cell(column, estimate.value, (estimate.low, estimate.high), digits=DIGITS)
