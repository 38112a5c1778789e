"""Documents as records: what a store holds is checked when it is read, because anyone who can write to it may have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from typing import Any, ClassVar, Protocol, TypeVar

from lambdas.store.documents import DocumentKind
from lambdas.store.interface import StoreError


class Dataclass(Protocol):
    """Any instance of a dataclass; the standard library has no name for it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Record = TypeVar("Record", bound=Dataclass)


@contextmanager
def intact(kind: DocumentKind) -> Iterator[None]:
    """Raise StoreError if a document lacks a field, or has a value that this program never writes."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as failure:
        raise StoreError(
            f"a document of kind {kind} in the store is damaged ({failure!r}): restore a backup"
        ) from failure


def typed(record: Record) -> Record:
    """Return a dataclass of texts, numbers and flags. Raises TypeError if a field is not of its type."""
    for field in fields(record):
        value: Any = getattr(record, field.name)
        expected: Any = field.type  # not a string: annotations are not postponed here
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise TypeError(f"{field.name} is {value!r}")
    return record
