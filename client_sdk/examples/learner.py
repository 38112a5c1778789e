"""A skeleton for learners: saves a checkpoint after every round, and never misses feedback, wherever it is killed.

For each source word, it learns whether copying or dropping the word earns more, from scores or from post-edits. This is
no translator, but a complete participant. Replace ``Learner``; keep the order of steps in ``play``. Needs BANDITMT_URL
and BANDITMT_API_KEY.
"""

import json
import random
import sys
from pathlib import Path

from banditmt_client import Client, Round, Run


class Learner:
    """Proposes a translation, learns from the feedback on it, and can be saved."""

    def __init__(self, state: dict | None = None) -> None:
        self.state = state or {"run": None, "rounds": 0, "worth": {}, "mean": 0.0}

    def propose(self, source: str) -> str:
        worth, mean = self.state["worth"], self.state["mean"]
        rng = random.Random(f"{self.state['rounds']} {source}")  # repeats the same proposal after a crash
        kept = [word for word in source.split() if worth.get(word, mean) >= mean or rng.random() < 0.3]
        return " ".join(kept) or source

    def update(self, played: Round) -> None:
        worth = self.state["worth"]
        correct = None if played.post_edit is None else set(played.post_edit.split())
        for word in played.translation.split():
            value = played.score if correct is None else float(word in correct)
            worth[word] = worth.get(word, value) * 0.9 + value * 0.1
        self.state["rounds"] += 1
        self.state["mean"] += (played.score - self.state["mean"]) / self.state["rounds"]

    def save(self, path: Path) -> None:
        temporary = path.with_name(f"{path.name}.new")
        temporary.write_text(json.dumps(self.state))
        temporary.replace(path)  # atomic: a crash leaves the old checkpoint or the new one


def find_run(client: Client, learner: Learner, phase: str, system: str) -> Run:
    """Return the run in the checkpoint, even if it is finished; without one, open a new or unfinished run."""
    if learner.state["run"]:
        run = client.get_run(learner.state["run"])
        if (run.phase, run.system) != (phase, system):
            sys.exit(
                f"the checkpoint belongs to {run.system!r} in {run.phase}, not {system!r} in {phase}: "
                "choose another checkpoint file"
            )
        return run
    return client.open_run(phase=phase, system=system)


def catch_up(learner: Learner, run: Run, checkpoint: Path) -> None:
    """Learn from the last committed round if the learner was killed before it could."""
    last = run.last
    if last and last.index == learner.state["rounds"]:
        learner.update(last)
        learner.save(checkpoint)


def play(client: Client, phase: str, system: str, checkpoint: Path) -> Run:
    """Play a run to its end, starting from the checkpoint of an earlier process if there is one."""
    learner = Learner(json.loads(checkpoint.read_text()) if checkpoint.exists() else None)
    run = find_run(client, learner, phase, system)
    learner.state["run"] = run.id
    learner.save(checkpoint)
    catch_up(learner, run, checkpoint)
    for sentence in run:
        if sentence.index > learner.state["rounds"]:  # the last request of a killed process arrived only now
            catch_up(learner, client.get_run(run.id), checkpoint)
        run.submit(learner.propose(sentence.source))
        learner.update(run.last)
        learner.save(checkpoint)
    catch_up(learner, client.get_run(run.id), checkpoint)
    return run


def main(phase: str, system: str, checkpoint: Path) -> None:
    with Client() as client:
        run = play(client, phase, system, checkpoint)
        print(f"{run.system}: mean reward {run.progress.cumulative_reward / run.total:.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: learner.py PHASE SYSTEM CHECKPOINT")
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
