"""Audits what belongs together: the claims of participants, the openings of runs, and their rounds."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lambdas.audit.discrepancies import Discrepancy
from lambdas.phase_record import PhaseRecord
from lambdas.registry import Participant, Registry
from lambdas.store.interface import Store
from lambdas.store.records import typed
from task.names import run_id
from task.rounds import Run


def find_strays(store: Store, records: Sequence[PhaseRecord]) -> Iterator[Discrepancy]:
    """Yield what is missing or left over in the ledger of some phases, and claims that the service never made."""
    # Openings are read first: every run is claimed before it is opened, so the claims are there by now.
    registry, opened = Registry(store), list(store.openings())
    claimed: set[str] = set()
    for record in records:
        for participant in registry.participants():
            claims = registry.claims(participant.name, record.phase.name)
            claimed |= {run.id for run in claims}
            yield from _claim_problems(store, registry, record, participant, claims)
    audited = {record.phase.name for record in records}
    known = {record.phase.name for record in registry.phases()}
    for identity, run in opened:
        if run is not None and (problem := _opening_problem(run)):
            yield Discrepancy(str(identity), None, problem)
        elif run is None:
            yield Discrepancy(identity, None, "there are rounds, but no opening: the run was deleted in part")
        elif run.phase not in known:
            yield Discrepancy(identity, None, f"it is of phase {run.phase}, which this store does not have")
        elif run.phase in audited and identity not in claimed:
            yield Discrepancy(identity, None, f"{run.participant} has played this run without a claim on it")


def _opening_problem(run: Run) -> str | None:
    """Return which value of an opening the service can never have written, or None. SQLite stores any type anywhere."""
    try:
        typed(run)
    except TypeError as failure:
        return f"its opening holds a value that the service never writes: {failure}"
    return None


def _claim_problems(
    store: Store, registry: Registry, record: PhaseRecord, participant: Participant, claims: Sequence[Run]
) -> Iterator[Discrepancy]:
    phase, attempts = record.phase, Counter[str]()
    if registry.claims_have_gap(participant.name, phase.name):
        problem = f"a claim of {participant.name} on a run of phase {phase.name} was deleted"
        yield Discrepancy(None, None, problem)
    for run in claims:
        attempts[run.system] += 1
        for problem in _run_problems(store, record, participant, run, attempts[run.system]):
            yield Discrepancy(run.id, None, problem)


def _run_problems(store: Store, record: PhaseRecord, participant: Participant, run: Run, attempt: int) -> Iterator[str]:
    """Yield what is wrong with a claimed run. ``attempt`` counts the claims of its system."""
    owner = run.participant, run.phase
    if owner != (participant.name, record.phase.name):
        yield f"it is claimed by {participant.name} in {record.phase.name}, but is of {' in '.join(owner)}"
    elif run.attempt != attempt:
        yield f"it is attempt {run.attempt:,} of {run.system}, but number {attempt:,} of its claims"
    elif run.attempt > 1 and not record.phase.repeatable:
        yield f"{run.system} has played phase {run.phase} {run.attempt:,} times, but it can be played only once"
    if run.opened_at < participant.created_at:
        yield "it was opened before its participant was registered: a time was changed, or the clock set back"
    # the ids of an erased participant are hashes of the name that it had
    is_erased = participant.erased_name_hash is not None
    if not is_erased and run.id != run_id(run.participant, run.phase, run.system, run.attempt):
        yield "its id is not that of its participant, phase, system and attempt: one of them was changed"
    opened = store.opening(run.id)
    if opened is None:
        yield "it was claimed but is not in the ledger: it was deleted, or is being opened (then open it again)"
    elif opened != run:
        yield f"the ledger has it as {opened}, but the claim as {run}"
