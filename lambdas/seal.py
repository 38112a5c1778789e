"""The seal of the organiser's decisions: a keyed hash of all phases, participants, roles and withdrawals.

These documents decide what a leaderboard shows, and only ``banditmt admin`` writes them. Each write goes through
``SealedDocuments``, which then updates the digest of that document in the seal. A document that was changed, added or
deleted in any other way no longer matches its digest, and ``banditmt admin verify`` names it.

The digests are authenticated with the ledger key (``lambdas.chain``). A seal that is not authentic is never made
authentic by a later write, or a forgery would be covered up by the organiser's next command: only ``renew`` does that,
when the organiser has looked at everything. For the same reason, a write to a store without a seal seals only itself.
"""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator

from lambdas.chain import NO_KEY, LedgerKey
from lambdas.store import documents
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Store, StoreError
from lambdas.store.records import intact

RENEW_ADVICE = "look at them (phase list, participant list, roles, run list), then run `banditmt admin seal`"
MAX_SEAL_CONFLICTS = 50  # in a row, before a writer gives up

SEALED_KINDS = (documents.PHASE, documents.PARTICIPANT, documents.ROLE)  # and withdrawals
_SEAL_NAME = "decisions"  # the only document of its kind
_SEAL_TYPES = {"digests": dict, "since": int, "key": int, "mac": str}
_ALL_SEALED = "the seal of phases, participants, roles and withdrawals"


class SealedDocuments:
    """Writes documents of the sealed kinds, and compares them with the seal."""

    def __init__(self, store: Store, key: LedgerKey | None = None) -> None:
        self._store, self._given_key = store, key

    # writing

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        created = self._store.create(kind, name, document)
        if created:
            self._update(kind, name, document)
        return created

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        self._store.replace(kind, name, document)
        self._update(kind, name, document)

    def delete(self, kind: DocumentKind, name: str) -> None:
        self._store.delete(kind, name)
        self._update(kind, name, None)

    def compare_and_swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        swapped = self._store.compare_and_swap(kind, name, known, document)
        if swapped:
            self._update(kind, name, document)
        return swapped

    def renew(self) -> int:
        """Seal all documents as they are now, and return how many there are."""
        digests = self._digests()
        self._store.replace(documents.SEAL, _SEAL_NAME, self._sealed(digests, _now()))
        return len(digests)

    # comparing

    @property
    def keyed_since(self) -> int | None:
        """When the first seal with the ledger key was made, in milliseconds since 1970; None if there is none."""
        seal = self._seal()
        return int(seal["since"]) if seal and self._key.number != NO_KEY and self._is_authentic(seal) else None

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the seal, and which documents do not match it."""
        seal = self._seal()
        if seal is None:
            if self._digests():
                yield f"{_ALL_SEALED} is missing (or from version 0.1, which had none): {RENEW_ADVICE}"
            return
        if not self._is_authentic(seal):
            yield f"{_ALL_SEALED} was not made with this key: {RENEW_ADVICE}"
        sealed, found = dict(seal["digests"]), self._digests()
        for name in sorted(sealed.keys() | found.keys()):
            if name not in found:
                yield f"{_describe(name)} was deleted, but not by a command: {RENEW_ADVICE}"
            elif name not in sealed:
                yield f"{_describe(name)} was added, but not by a command: {RENEW_ADVICE}"
            elif sealed[name] != found[name]:
                yield f"{_describe(name)} was changed, but not by a command: {RENEW_ADVICE}"

    # the seal

    @property
    def _key(self) -> LedgerKey:
        return self._given_key or LedgerKey.from_environment()

    def _seal(self) -> Document | None:
        """Return the seal, or None. Raises StoreError if it is not of the form that ``_sealed`` gives it."""
        seal = self._store.document(documents.SEAL, _SEAL_NAME)
        if seal is None or {name: type(value) for name, value in seal.items()} == _SEAL_TYPES:
            return seal
        raise StoreError(f"a document of kind seal in the store is damaged: {RENEW_ADVICE}")

    def _update(self, kind: DocumentKind, name: str, document: Document | None) -> None:
        """Write the digest of one document, or remove it, on the condition that no other process was faster."""
        for _ in range(MAX_SEAL_CONFLICTS):
            seal = self._seal()
            digests = {
                **(seal["digests"] if seal else {}),
                _full_name(kind, name): _digest(document) if document else None,
            }
            known = {each: digest for each, digest in digests.items() if digest is not None}
            if seal is None:  # a new store; in any other, nothing else is sealed, because the seal was deleted
                if self._store.create(documents.SEAL, _SEAL_NAME, self._sealed(known, _now())):
                    return
                continue
            if not self._is_authentic(seal):  # it stays so, and there is nothing to lose in a race
                self._store.replace(documents.SEAL, _SEAL_NAME, {**seal, "digests": known})
                return
            changed = self._sealed(known, seal["since"])
            if changed == seal or self._store.compare_and_swap(documents.SEAL, _SEAL_NAME, seal, changed):
                return
        raise StoreError("others are changing phases, participants or roles at the same time; try again")

    def _sealed(self, digests: dict[str, str], since: int) -> Document:
        return {"digests": digests, "since": since, "key": self._key.number, "mac": self._mac(digests, since)}

    def _is_authentic(self, seal: Document) -> bool:
        is_ours = seal["key"] == self._key.number
        return is_ours and hmac.compare_digest(str(seal["mac"]), self._mac(seal["digests"], seal["since"]))

    def _mac(self, digests: dict[str, str], since: int) -> str:
        return self._key.mac(b"banditmt seal\0" + json.dumps([since, digests], sort_keys=True).encode()).hex()

    def _digests(self) -> dict[str, str]:
        phases = self._store.documents(documents.PHASE)
        with intact(documents.PHASE):
            kinds = [*SEALED_KINDS, *(documents.withdrawals(phase["name"]) for phase in phases)]
        return {
            _full_name(kind, _name_in(kind, document)): _digest(document)
            for kind in kinds
            for document in self._store.documents(kind)
        }


def _now() -> int:
    return int(time.time() * 1000)


def _digest(document: Document) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:32]


def _full_name(kind: DocumentKind, name: str) -> str:
    return f"{kind} {name}"


def _name_in(kind: DocumentKind, document: Document) -> str:
    """Return the name under which a document of a sealed kind is stored, which its fields tell."""
    with intact(kind):
        if kind == documents.ROLE:
            return f"{document['participant']}/{document['system']}"
        return str(document["name"] if kind in (documents.PHASE, documents.PARTICIPANT) else document["run"])


def _describe(full_name: str) -> str:
    kind, _, name = full_name.partition(" ")
    if kind == documents.ROLE:
        participant, _, system = name.partition("/")
        return f"the role of {system} of {participant}"
    return f"the {kind.partition('/')[0]} of run {name}" if kind.startswith("withdrawal/") else f"the {kind} {name}"
