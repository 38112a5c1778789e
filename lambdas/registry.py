"""The registry of a task: participants, their API keys, phases, claims on runs, roles of systems, and token keys.

All of them are small documents in the store.

An API key is 256 random bits, shown once and stored as its SHA-256. A slow password hash is for secrets that can be
guessed; this one cannot, and the hash would slow down every request. Looking a key up by its hash is safe against
timing attacks, because an attacker cannot choose the hash of an unknown key.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Self

from lambdas.errors import BadRequestError, OrganiserError
from lambdas.phase_record import PhaseRecord, PhaseSchedule, PhaseState
from lambdas.seal import SEALED_KINDS, SealedDocuments
from lambdas.store import documents
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Store, StoreError
from lambdas.store.records import intact, typed
from lambdas.tokens import MAX_KEYS, KeyRing
from leaderboard.families import Role, RoleKind
from task.names import NAME_RULE, is_name
from task.phases import Phase
from task.rounds import Run

KEY_PREFIX = "bmt_"  # secret scanners and people recognise a key by it
MAX_CHANGE_CONFLICTS = 20  # in a row, before an organiser is asked to look again
REPEATABLE_RUNS = 1_000  # of a participant, by default, in a phase that a system may play again
SYSTEMS = 3  # of a participant, by default, in a phase that each system plays once
HOUSE_RUNS = 1_000  # of the organiser's own participant, in a phase that is not repeatable

_RING_NAME = "tokens"  # the only document of its kind
_API_KEY = re.compile(KEY_PREFIX + r"[A-Za-z0-9_-]{43}", re.ASCII)


class RegistryError(OrganiserError):
    """A participant, key or phase does not exist, or exists already."""


class UnknownPhaseError(RegistryError):
    """The task has no such phase; the message lists the phases it has."""

    def __init__(self, name: str, known: Iterable[str], advice: str = "") -> None:
        listed = ", ".join(known) or "none is loaded"
        super().__init__(f"there is no phase {name} ({listed})" + (f"; {advice}" if advice else ""))


@dataclass(frozen=True, slots=True)
class Participant:
    """A registered participant."""

    name: str
    created_at: int
    disabled: bool = False
    erased_name_hash: str | None = None  # of an erased participant's name, which no other participant may take

    def as_document(self) -> Document:
        return {
            "name": self.name,
            "created_at": self.created_at,
            "disabled": self.disabled,
            "formerly": self.erased_name_hash,
        }

    @classmethod
    def from_document(cls, document: Document) -> Self:
        return typed(
            cls(document["name"], document["created_at"], document.get("disabled", False), document.get("formerly"))
        )


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The stored form of an API key; the key itself is not stored."""

    digest: str  # SHA-256 in hex
    participant: str
    created_at: int
    revoked: bool = False

    @property
    def short_digest(self) -> str:
        """The first characters of the digest, enough for people to tell keys apart."""
        return self.digest[:8]


def default_runs(phase: Phase) -> int:
    """Return how many runs of a phase a participant may open, unless the organiser says otherwise.

    Where each system plays once, this is also how many systems receive feedback on a sentence. It is one where a second
    system could win by what the first has learned of the references: from post-edits, or from exact feedback on
    held-out passes, in which one system is scored on the same sentence again and again.
    """
    if phase.repeatable:
        return REPEATABLE_RUNS
    is_repeated = phase.layout.blocks > 1 and phase.feedback.tells_counts
    return 1 if is_repeated or phase.feedback.shows_post_edits else SYSTEMS


def check_name(name: str, what: str) -> None:
    """Raise BadRequestError if a participant, system or family (``what``) cannot have this name."""
    if not is_name(name):
        raise BadRequestError(f"the name of a {what} is {NAME_RULE}")


def api_key_digest(api_key: str) -> str | None:
    """Return the digest under which an API key is stored, or None if the text cannot be a key."""
    return hashlib.sha256(api_key.encode()).hexdigest() if _API_KEY.fullmatch(api_key) else None


def name_hash(name: str) -> str:
    """Return the hash that is stored in place of an erased name."""
    return hashlib.sha256(name.encode()).hexdigest()


class Registry:
    """Reads and writes the registry of a task in a store."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._sealed = SealedDocuments(store)

    def now(self) -> int:
        """Return the current time in milliseconds since 1970."""
        return int(self._clock() * 1000)

    # participants

    def participant(self, name: str) -> Participant | None:
        document = self._store.document(documents.PARTICIPANT, name)
        with intact(documents.PARTICIPANT):
            return Participant.from_document(document) if document else None

    def require_participant(self, name: str) -> Participant:
        """Return a participant, or raise RegistryError if there is none of that name."""
        participant = self.participant(name)
        if participant is None:
            raise RegistryError(f"there is no participant {name}; `participant list` shows all participants")
        return participant

    def participants(self) -> list[Participant]:
        with intact(documents.PARTICIPANT):
            return [Participant.from_document(document) for document in self._store.documents(documents.PARTICIPANT)]

    def add_participant(self, name: str) -> str:
        """Register a participant and return its first API key, which can never be shown again."""
        check_name(name, "participant")
        # run ids are hashes of names: a second participant of the same name would get the first one's runs
        if any(each.erased_name_hash == name_hash(name) for each in self.participants()):
            raise RegistryError(f"a participant {name} was erased, and the name cannot be used again; choose another")
        if not self.create_participant(Participant(name, self.now())):
            raise RegistryError(f"there is a participant {name} already; `key rotate` creates a new key")
        return self.add_key(name)

    def create_participant(self, participant: Participant) -> bool:
        """Write a participant; return False if there is one of that name."""
        return self._sealed.create(documents.PARTICIPANT, participant.name, participant.as_document())

    def set_disabled(self, name: str, disabled: bool) -> None:
        self.require_participant(name)
        self._change(documents.PARTICIPANT, name, lambda document: {**document, "disabled": disabled})

    def delete_participant(self, name: str) -> None:
        """Delete the roles, the claims and the name of a participant; the ledger stays as it is."""
        for role in self.roles():
            if role.participant == name:
                self._sealed.delete(documents.ROLE, _role_name(name, role.system))
        for record in self.phases():
            claims = self.claims(name, record.phase.name)
            for ordinal in reversed(range(len(claims))):  # an interruption must leave a sequence without gaps
                self._store.delete(documents.claims(name, record.phase.name), _claim_name(ordinal))
        self._sealed.delete(documents.PARTICIPANT, name)

    # API keys

    def add_key(self, name: str) -> str:
        """Create a further API key of a participant and return it; it can never be shown again."""
        self.require_participant(name)
        api_key = KEY_PREFIX + secrets.token_urlsafe(32)
        self.create_api_key(ApiKey(hashlib.sha256(api_key.encode()).hexdigest(), name, self.now()))
        return api_key

    def create_api_key(self, key: ApiKey) -> None:
        """Write the stored form of a key, unless it is there."""
        self._store.create(documents.API_KEY, key.digest, asdict(key))

    def key(self, digest: str) -> ApiKey | None:
        document = self._store.document(documents.API_KEY, digest)
        with intact(documents.API_KEY):
            return typed(ApiKey(**document)) if document else None

    def keys(self, name: str) -> list[ApiKey]:
        """Return all keys of a participant, revoked ones too, oldest first."""
        with intact(documents.API_KEY):
            found = [typed(ApiKey(**document)) for document in self._store.documents(documents.API_KEY)]
        return sorted((key for key in found if key.participant == name), key=lambda key: (key.created_at, key.digest))

    def find_key(self, name: str, short: str) -> ApiKey:
        """Return the one key of a participant, revoked or not, whose digest begins with ``short``.

        Raises RegistryError if no digest does, or more than one.
        """
        found = [key for key in self.keys(self.require_participant(name).name) if key.digest.startswith(short)]
        if not found:
            raise RegistryError(f"{name} has no key {short}; `participant list` shows the valid keys")
        if not short or len(found) > 1:
            raise RegistryError(
                f"{short!r} matches several keys of {name}; name one key as `participant list` shows it"
            )
        return found[0]

    def revoke_keys(self, name: str, short: str | None = None) -> int:
        """Revoke all keys of a participant, or the one whose digest begins with ``short``.

        Returns:
            How many of them were valid until now.
        """
        self.require_participant(name)
        chosen = self.keys(name) if short is None else [self.find_key(name, short)]
        valid = [key for key in chosen if not key.revoked]
        for key in valid:
            self._change(documents.API_KEY, key.digest, lambda document: {**document, "revoked": True})
        return len(valid)

    def delete_keys(self, name: str) -> None:
        """Delete all keys of a participant."""
        for key in self.keys(name):
            self._store.delete(documents.API_KEY, key.digest)

    # phases

    def phase(self, name: str) -> PhaseRecord | None:
        """Return a phase as it is now, or None if the task has none of that name."""
        document = self._store.document(documents.PHASE, name)
        return self._phase_record(document) if document else None

    def require_phase(self, name: str) -> PhaseRecord:
        """Return a phase, or raise UnknownPhaseError if the task has none of that name."""
        record = self.phase(name)
        if record is None:
            raise UnknownPhaseError(name, (each.phase.name for each in self.phases()))
        return record

    def phases(self) -> list[PhaseRecord]:
        """Return the phases of the task, shortest first."""
        records = map(self._phase_record, self._store.documents(documents.PHASE))
        return sorted(records, key=lambda record: record.phase.layout.total)

    def create_phase(self, record: PhaseRecord) -> bool:
        """Write a phase whose text is loaded; return False if there is one of that name."""
        return self._sealed.create(documents.PHASE, record.phase.name, record.as_document())

    def set_phase_state(self, name: str, state: PhaseState, *, runs: int | None = None) -> PhaseRecord:
        """Open, freeze or close a phase, and optionally change how many runs a participant may open.

        A schedule of the phase no longer applies.
        """
        budget = {} if runs is None else {"runs": runs}
        return self._change_phase(name, {"state": state.value, "schedule": None, **budget})

    def schedule_phase(self, name: str, schedule: PhaseSchedule) -> PhaseRecord:
        """Let a phase open and close at these times.

        Raises RegistryError unless it opens before it closes.
        """
        opens_at, closes_at = schedule.opens_at, schedule.closes_at
        if opens_at is not None and closes_at is not None and closes_at <= opens_at:
            raise RegistryError(f"phase {name} would close before it opens")
        return self._change_phase(name, {"schedule": [opens_at, closes_at]})

    def _change_phase(self, name: str, changes: Document) -> PhaseRecord:
        self.require_phase(name)
        return self._phase_record(self._change(documents.PHASE, name, lambda document: {**document, **changes}))

    def _phase_record(self, document: Document) -> PhaseRecord:
        with intact(documents.PHASE):
            return PhaseRecord.from_document(document).as_of(self.now())

    # claims: the numbered runs that a participant has opened in a phase

    def claims(self, participant: str, phase: str) -> list[Run]:
        """Return the runs that a participant has opened in a phase, in that order."""
        kind = documents.claims(participant, phase)
        with intact(kind):
            return [typed(Run(**document)) for document in self._store.documents(kind)]

    def claims_have_gap(self, participant: str, phase: str) -> bool:
        """Return whether a number is missing among the claims, which the service takes one after the other."""
        count = len(self.claims(participant, phase))
        return count > 0 and self._store.document(documents.claims(participant, phase), _claim_name(count - 1)) is None

    def claim(self, run: Run, ordinal: int) -> bool:
        """Claim a run as number ``ordinal`` of its participant and phase; return False if that number is taken.

        Two requests cannot take the same number, so the budget of runs is exact.
        """
        return self._store.create(documents.claims(run.participant, run.phase), _claim_name(ordinal), asdict(run))

    def runs(self, phase: str) -> list[Run]:
        """Return all runs of a phase, ordered by participant."""
        return [run for participant in self.participants() for run in self.claims(participant.name, phase)]

    # roles: which systems are oracles and baselines, and of which family

    def roles(self) -> list[Role]:
        with intact(documents.ROLE):
            return [
                typed(Role(**{**document, "kind": RoleKind(document["kind"])}))
                for document in self._store.documents(documents.ROLE)
            ]

    def set_role(self, participant: str, system: str, kind: RoleKind, family: str | None = None) -> Role:
        """Set the role of a participant's system in all phases; the roles of other systems stay as they are."""
        self.require_participant(participant)
        check_name(system, "system")
        if family is not None:
            check_name(family, "family")
        role = Role(participant, system, kind, family)
        self._sealed.replace(documents.ROLE, _role_name(participant, system), asdict(role))
        return role

    # token keys

    def ensure_key_ring(self, *, after: int = 0) -> None:
        """Create the first token key of a task, unless it has one.

        Args:
            after: The highest key number of runs that were opened in another store. No later key may take the number
                of one of their keys, or sentence ids would change in the middle of a run.
        """
        self.create_key_ring(KeyRing.generate(after % MAX_KEYS + 1))

    def create_key_ring(self, ring: KeyRing) -> None:
        """Write the token keys of a task, unless it has them."""
        self._store.create(documents.KEY_RING, _RING_NAME, ring.as_document())

    def key_ring(self) -> KeyRing:
        """Return the token keys of the task, or raise StoreError if no task is loaded."""
        document = self._store.document(documents.KEY_RING, _RING_NAME)
        if document is None:
            raise StoreError("there is no task in this store yet: load one first")
        with intact(documents.KEY_RING):
            return KeyRing.from_document(document)

    def rotate_key_ring(self, *, keep: bool) -> KeyRing:
        """Add a token key that signs the ids of new runs; without ``keep``, void every id issued so far."""
        self.key_ring()  # raises StoreError if there is none

        def rotate(document: Document) -> Document:
            ring = KeyRing.from_document(document)
            if ring.newest == MAX_KEYS:
                raise RegistryError(f"this task has used all of its {MAX_KEYS} token keys: load it into another store")
            return ring.rotated(keep=keep).as_document()

        return KeyRing.from_document(self._change(documents.KEY_RING, _RING_NAME, rotate))

    def _change(self, kind: DocumentKind, name: str, change: Callable[[Document], Document]) -> Document:
        """Change an existing document without losing changes that other processes make at the same time."""
        swap = (self._sealed if kind in SEALED_KINDS else self._store).compare_and_swap
        for _ in range(MAX_CHANGE_CONFLICTS):
            known = self._store.document(kind, name)
            if known is None:
                break
            changed = change(known)
            if swap(kind, name, known, changed):
                return changed
        raise RegistryError(f"the {kind} {name} was changed or deleted meanwhile; look at it and try again")


def _claim_name(ordinal: int) -> str:
    return f"{ordinal:06d}"


def _role_name(participant: str, system: str) -> str:
    return f"{participant}/{system}"
