"""``banditmt evaluate off-policy``: what systems would have earned in the rounds that another system logged."""

from typing import Annotated

import typer

from simulator.cli.evaluate_options import Output
from simulator.cli.folders import DEFAULT_MODELS, ModelsOption
from simulator.cli.offline import LoggedByOption, LogOption
from simulator.cli.option_groups import expand_option_groups
from simulator.cli.playing import SystemNames
from simulator.cli.progress_bars import count_bar


@expand_option_groups
def off_policy(
    *,
    systems: SystemNames,
    log: LogOption,
    logged_by: LoggedByOption = None,
    models: ModelsOption = DEFAULT_MODELS,
    seed: Annotated[int, typer.Option(help="The random seed of the systems.", min=0)] = 1,
    output: Output,
) -> None:
    """Estimate from a log of another system what systems would have earned.

    Prints four estimates with 95 % intervals, and how many rounds of the log they rest on.
    """
    from leaderboard.evaluation.figures import off_policy_figure
    from simulator.feedback_log.reading import read_log
    from simulator.off_policy import evaluate_off_policy

    rounds = read_log(log, logged_by or ())
    with count_bar("evaluating", len(rounds) * len(set(systems))) as watch:
        report = evaluate_off_policy(rounds, systems, models, seed=seed, watch=watch)
    output.write(report, lambda: off_policy_figure(report))
