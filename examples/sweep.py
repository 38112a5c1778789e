"""A sweep over settings with Optuna: python examples/sweep.py TASK MODELS FOLDER [TRIALS]

Each trial is a run of the dev phase, which can be played again and again. The training phase cannot: choose settings
here, and play them there once. All runs are on the leaderboard under their settings, and the same command resumes.
"""

import sys
from pathlib import Path

import optuna

from lambdas.store import open_store
from simulator.competition import Competition, play_run, seeded_run
from simulator.tasks import load_task

if len(sys.argv) < 4:
    sys.exit(__doc__)
task, models, folder = (Path(argument) for argument in sys.argv[1:4])
trials = int(sys.argv[4]) if len(sys.argv) > 4 else 10
folder.mkdir(parents=True, exist_ok=True)
store = f"sqlite:{folder / 'store'}"
load_task(open_store(store), task)
competition = Competition(store, "dev", models, folder / "runs")


def mean_reward(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("optimiser.learning_rate", 1e-5, 1e-3, log=True)
    batch = trial.suggest_categorical("batch", [4, 8, 16])
    run = seeded_run("BNMT-EL-VALUE", 1, {"optimiser.learning_rate": f"{rate:.2g}", "batch": str(batch)})
    return play_run(competition, run).mean_reward or 0.0


study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
study.optimize(mean_reward, n_trials=trials)
print(study.best_params, round(study.best_value, 4))
