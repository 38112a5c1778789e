"""The data card of a released log: what it contains, where it comes from, and what is not in it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lambdas.phase_record import PhaseRecord
from lambdas.task_record import TaskRecord
from simulator.feedback_log.rows import LoggedRound

FIELDS = {
    "run": "the id of the run; a run is one pass of one system over the phase",
    "system": "the name of the system that translated",
    "seed": "the random seed of the system, if its name tells; else null",
    "round": "the number of the round in its run, from 0",
    "source": "the sentence to be translated",
    "document": "an id of the document of the sentence, unique to the run; null without documents",
    "position": "the position of the sentence in its document, from 0; null without documents",
    "translation": "what the system proposed",
    "observed_reward": "the feedback that the system received for it, from 0 to 1",
    "log_probability": "the natural logarithm of the probability with which the system drew the translation; "
    "null if it did not say, as deterministic systems do not",
}


@dataclass(slots=True)
class RowCounts:
    """What is counted while rows are written."""

    rows: Counter[str] = field(default_factory=Counter)  # by run
    with_probability: Counter[str] = field(default_factory=Counter)  # by run
    systems: dict[str, tuple[str, int | None]] = field(default_factory=dict)  # name and seed by run

    def count(self, rows: Iterable[LoggedRound]) -> Iterator[LoggedRound]:
        """Yield the rows, and count them."""
        for row in rows:
            self.rows[row.run] += 1
            self.with_probability[row.run] += row.log_probability is not None
            self.systems[row.run] = (row.system, row.seed)
            yield row


_CARD = """\
# Logged feedback of phase {phase}: {title}

- **file**: `{file}`, SHA-256 `{sha256}`
- **rows**: {rounds:,} rounds of {runs:,} finished runs, {with_probability:,} of them with `log_probability`
- **languages**: {source} to {target}
- **text**: {convention} (`{convention_signature}`)
- **feedback**: {feedback}, `{signature}`
- **licence of the text**: {licence}
- **contact**: {contact}

## Fields

| field | meaning |
|---|---|
{fields}

In the words of the Open Bandit Pipeline (Saito et al. 2021), `source` is the context (with `document` and `position`),
`translation` the action, `observed_reward` the reward, and the exponential of `log_probability` the propensity score
(`pscore`).

## Runs

| run | system | seed | rounds | with `log_probability` |
|---|---|---|---|---|
{runs_table}

## What is not in it

References, rewards without the noise of the feedback, names of participants, unfinished runs, and runs that the
organiser has taken off the leaderboard.{limit}
"""


def data_card(file: str, sha256: str, task: TaskRecord, record: PhaseRecord, counts: RowCounts) -> str:
    """Return the data card in Markdown."""
    return _CARD.format(
        phase=record.phase.name,
        title=task.about.title or "a task without a title",
        file=file,
        sha256=sha256,
        rounds=counts.rows.total(),
        runs=len(counts.rows),
        with_probability=counts.with_probability.total(),
        source=task.languages.source,
        target=task.languages.target,
        convention=task.convention.description,
        convention_signature=task.convention.signature,
        feedback=record.feedback.kind.value,
        signature=record.feedback.signature,
        licence=task.licence or "unknown",
        contact=task.about.contact or "unknown",
        fields="\n".join(f"| `{name}` | {meaning} |" for name, meaning in FIELDS.items()),
        runs_table="\n".join(_run_lines(counts)),
        limit=_limit(record.phase.layout.total, max(counts.rows.values())),
    )


def _run_lines(counts: RowCounts) -> Iterator[str]:
    for run, (system, seed) in counts.systems.items():
        known = "" if seed is None else str(seed)
        yield f"| `{run}` | {system} | {known} | {counts.rows[run]:,} | {counts.with_probability[run]:,} |"


def _limit(total: int, released: int) -> str:
    if released == total:
        return ""
    return f" The phase was not over: the log has the first {released:,} of the {total:,} rounds of each run."
