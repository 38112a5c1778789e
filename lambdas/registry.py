"""Who may play what: participants, their keys, the phases and their gates, claims on runs, roles of systems.

All of it is small documents in the store. An API key is 256 random bits, shown once and kept as its SHA-256: a slow
password hash would protect a guessable secret, which this is not, and would cost every request. Looking a key up by its
hash is safe against timing, because nobody can choose the hash of a key they do not know.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

from lambdas.errors import BadRequestError, OrganiserError
from lambdas.store import documents
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Store, StoreError
from lambdas.tokens import MAX_KEYS, KeyRing
from leaderboard.families import Role, RoleKind
from task.feedback import FeedbackSpec
from task.layout import Layout
from task.names import NAME_RULE, is_name
from task.phases import Phase
from task.rounds import Run

KEY_PREFIX = "bmt_"  # so that secret scanners and people recognise it
MAX_CHANGE_RACES = 20  # lost in a row before an organiser is asked to look again
DEFAULT_RUNS = {True: 1_000, False: 100}  # runs per participant in a phase: repeatable or not

_RING_NAME = "tokens"  # of the one document of its kind
_API_KEY = re.compile(KEY_PREFIX + r"[A-Za-z0-9_-]{43}", re.ASCII)


class RegistryError(OrganiserError):
    """A participant or a phase that does not exist, or exists already."""


class UnknownPhaseError(RegistryError):
    """A phase that the task does not have; the message lists those it has."""

    def __init__(self, name: str, known: Iterable[str], advice: str = "") -> None:
        listed = ", ".join(known) or "none is loaded"
        super().__init__(f"there is no phase {name} ({listed})" + (f"; {advice}" if advice else ""))


class PhaseState(StrEnum):
    """What participants may do in a phase."""

    OPEN = "open"  # begin runs and play them
    FROZEN = "frozen"  # finish runs that were begun, but begin no others
    CLOSED = "closed"  # look, but play no more


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who plays."""

    name: str
    created_at: int
    disabled: bool = False
    formerly: str | None = None  # of somebody who was erased: the hash of the name, which nobody else may take


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is kept of a key; the key itself is not."""

    digest: str  # SHA-256 in hex
    participant: str
    created_at: int
    revoked: bool = False

    @property
    def short(self) -> str:
        """Enough of the digest to tell keys apart."""
        return self.digest[:8]


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """A phase as it was loaded, and its gate."""

    phase: Phase
    feedback: FeedbackSpec
    block_size: int  # sentences in a packed block
    fingerprint: str  # of all its sentences and references
    runs: int  # how many runs a participant may open
    state: PhaseState = PhaseState.OPEN

    def as_document(self) -> Document:
        layout = self.phase.layout
        return {
            "name": self.phase.name,
            "repeatable": self.phase.repeatable,
            "layout": [layout.blocks, layout.block, layout.gap],
            "perturbation": self.feedback.noise,
            "seed": self.feedback.seed,
            "block_size": self.block_size,
            "fingerprint": self.fingerprint,
            "runs": self.runs,
            "state": self.state.value,
        }

    @classmethod
    def from_document(cls, document: Document) -> Self:
        return cls(
            Phase(document["name"], Layout(*document["layout"]), document["repeatable"]),
            FeedbackSpec(document["perturbation"], document["seed"]),
            document["block_size"],
            document["fingerprint"],
            document["runs"],
            PhaseState(document["state"]),
        )


def check_name(name: str, what: str) -> None:
    if not is_name(name):
        raise BadRequestError(f"the name of a {what} is {NAME_RULE}")


def digest_of(api_key: str) -> str | None:
    """How a key is kept, or None for what cannot be a key."""
    return hashlib.sha256(api_key.encode()).hexdigest() if _API_KEY.fullmatch(api_key) else None


def hash_of_name(name: str) -> str:
    """What is kept of a name that was erased."""
    return hashlib.sha256(name.encode()).hexdigest()


class Registry:
    """Participants, keys, phases and claims in a store."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock

    def now(self) -> int:
        """Milliseconds since 1970."""
        return int(self._clock() * 1000)

    # participants and keys

    def participant(self, name: str) -> Participant | None:
        document = self._store.document(documents.PARTICIPANT, name)
        return Participant(**document) if document else None

    def participants(self) -> list[Participant]:
        return [Participant(**document) for document in self._store.documents(documents.PARTICIPANT)]

    def add_participant(self, name: str) -> str:
        """Register a participant and return the first API key: it can never be shown again."""
        check_name(name, "participant")
        if any(each.formerly == hash_of_name(name) for each in self.participants()):  # run ids are made of names
            raise RegistryError(f"a participant {name} was erased, and nobody else can have the name; choose another")
        if not self.register(Participant(name, self.now())):
            raise RegistryError(f"there is a participant {name} already; `key rotate` gives out a new key")
        return self.add_key(name)

    def register(self, participant: Participant) -> bool:
        """Write down a participant; False if there is one of that name."""
        return self._store.create(documents.PARTICIPANT, participant.name, asdict(participant))

    def set_disabled(self, name: str, disabled: bool) -> None:
        self.known_participant(name)
        self._change(documents.PARTICIPANT, name, lambda document: {**document, "disabled": disabled})

    def add_key(self, name: str) -> str:
        """A further API key of a participant, shown only here."""
        self.known_participant(name)
        api_key = KEY_PREFIX + secrets.token_urlsafe(32)
        self.register_key(ApiKey(hashlib.sha256(api_key.encode()).hexdigest(), name, self.now()))
        return api_key

    def register_key(self, key: ApiKey) -> None:
        """Write what is kept of a key."""
        self._store.replace(documents.API_KEY, key.digest, asdict(key))

    def key(self, digest: str) -> ApiKey | None:
        document = self._store.document(documents.API_KEY, digest)
        return ApiKey(**document) if document else None

    def keys(self, name: str) -> list[ApiKey]:
        """All keys that a participant ever had, oldest first."""
        found = [
            ApiKey(**document)
            for document in self._store.documents(documents.API_KEY)
            if document["participant"] == name
        ]
        return sorted(found, key=lambda key: (key.created_at, key.digest))

    def one_key(self, name: str, short: str) -> ApiKey:
        """The key of a participant whose digest begins like this, revoked or not; no other may begin so."""
        found = [key for key in self.keys(self.known_participant(name).name) if key.digest.startswith(short)]
        if not found:
            raise RegistryError(f"{name} has no valid key {short}; `participant list` shows those it has")
        if not short or len(found) > 1:
            raise RegistryError(
                f"{short!r} does not tell the keys of {name} apart; name one as `participant list` does"
            )
        return found[0]

    def revoke_keys(self, name: str, short: str | None = None) -> int:
        """Revoke all keys of a participant, or the one whose digest begins like this; return how many were valid."""
        self.known_participant(name)
        chosen = self.keys(name) if short is None else [self.one_key(name, short)]
        valid = [key for key in chosen if not key.revoked]
        for key in valid:
            self._change(documents.API_KEY, key.digest, lambda document: {**document, "revoked": True})
        return len(valid)

    def forget_keys(self, name: str) -> None:
        """Remove all keys of a participant, and what is known of them."""
        for key in self.keys(name):
            self._store.delete(documents.API_KEY, key.digest)

    def forget(self, name: str) -> None:
        """Remove the roles, the claims and the name of a participant; what the ledger says of it stays."""
        for role in self.roles():
            if role.participant == name:
                self._store.delete(documents.ROLE, _role_name(name, role.system))
        for record in self.phases():
            claims = self.claims(name, record.phase.name)
            for ordinal in reversed(range(len(claims))):  # so that an interruption leaves the first ones, as they count
                self._store.delete(documents.claims(name, record.phase.name), _claim_name(ordinal))
        self._store.delete(documents.PARTICIPANT, name)

    def known_participant(self, name: str) -> Participant:
        """A participant that must be there."""
        participant = self.participant(name)
        if participant is None:
            raise RegistryError(f"there is no participant {name}; `participant list` tells who there is")
        return participant

    # phases

    def phase(self, name: str) -> PhaseRecord | None:
        document = self._store.document(documents.PHASE, name)
        return PhaseRecord.from_document(document) if document else None

    def known_phase(self, name: str) -> PhaseRecord:
        """A phase that must be there."""
        record = self.phase(name)
        if record is None:
            raise UnknownPhaseError(name, (each.phase.name for each in self.phases()))
        return record

    def phases(self) -> list[PhaseRecord]:
        """The phases of the task, shortest first."""
        records = [PhaseRecord.from_document(document) for document in self._store.documents(documents.PHASE)]
        return sorted(records, key=lambda record: record.phase.layout.total)

    def put_phase(self, record: PhaseRecord) -> bool:
        """Announce a phase that was loaded; False if there is one of that name."""
        return self._store.create(documents.PHASE, record.phase.name, record.as_document())

    def set_phase(self, name: str, state: PhaseState, *, runs: int | None = None) -> PhaseRecord:
        """Open, freeze or close a phase, and optionally change how many runs a participant may open."""
        self.known_phase(name)
        changes = {"state": state.value} if runs is None else {"state": state.value, "runs": runs}
        return PhaseRecord.from_document(self._change(documents.PHASE, name, lambda document: {**document, **changes}))

    # claims: the runs of a participant in a phase, in the order in which they were opened

    def claims(self, participant: str, phase: str) -> list[Run]:
        return [Run(**document) for document in self._store.documents(documents.claims(participant, phase))]

    def claim(self, run: Run, ordinal: int) -> bool:
        """Take the place after ``ordinal`` earlier claims; False if somebody was faster."""
        return self._store.create(documents.claims(run.participant, run.phase), _claim_name(ordinal), asdict(run))

    def runs(self, phase: str) -> list[Run]:
        """All runs of a phase, by participant."""
        return [run for who in self.participants() for run in self.claims(who.name, phase)]

    # roles: what the organiser says about systems

    def roles(self) -> list[Role]:
        return [
            Role(**{**document, "kind": RoleKind(document["kind"])})
            for document in self._store.documents(documents.ROLE)
        ]

    def set_role(self, participant: str, system: str, kind: RoleKind, family: str | None = None) -> Role:
        """Designate a system of a participant, in all phases; who was designated before stays so."""
        self.known_participant(participant)
        check_name(system, "system")
        if family is not None:
            check_name(family, "family")
        role = Role(participant, system, kind, family)
        self._store.replace(documents.ROLE, _role_name(participant, system), asdict(role))
        return role

    # token keys

    def make_ring(self, *, after: int = 0) -> None:
        """Make the first token key of a task, unless there is one.

        It comes after those that runs from elsewhere were opened with: no later key may get the number of one of them,
        or ids would change in the middle of a run.
        """
        self.register_ring(KeyRing.fresh(after % MAX_KEYS + 1))

    def register_ring(self, ring: KeyRing) -> None:
        """Write the token keys of a task, unless it has some."""
        self._store.create(documents.KEY_RING, _RING_NAME, _ring_document(ring))

    def ring(self) -> KeyRing:
        document = self._store.document(documents.KEY_RING, _RING_NAME)
        if document is None:
            raise StoreError("there is no task in this store yet: load one first")
        return _read_ring(document)

    def rotate_ring(self, *, keep: bool) -> KeyRing:
        """Sign the ids of new runs with a new key; without ``keep``, void every id issued so far."""
        self.ring()  # must be there

        def rotate(document: Document) -> Document:
            ring = _read_ring(document)
            if ring.newest == MAX_KEYS:
                raise RegistryError(f"this task has had all of its {MAX_KEYS} token keys: load it into another store")
            return _ring_document(ring.rotated(keep=keep))

        return _read_ring(self._change(documents.KEY_RING, _RING_NAME, rotate))

    def _change(self, kind: DocumentKind, name: str, change: Callable[[Document], Document]) -> Document:
        """Change a document that is there, without losing what somebody else changes at the same time."""
        for _ in range(MAX_CHANGE_RACES):
            known = self._store.document(kind, name)
            if known is None:
                break
            changed = change(known)
            if self._store.swap(kind, name, known, changed):
                return changed
        raise RegistryError(f"the {kind} {name} was changed by somebody else meanwhile; look at it and try again")


def _read_ring(document: Document) -> KeyRing:
    return KeyRing({int(number): bytes.fromhex(secret) for number, secret in document["secrets"].items()})


def _claim_name(ordinal: int) -> str:
    return f"{ordinal:06d}"


def _role_name(participant: str, system: str) -> str:
    return f"{participant}/{system}"


def _ring_document(ring: KeyRing) -> Document:
    return {"secrets": {str(number): secret.hex() for number, secret in ring.secrets.items()}}
