"""Points in time: stored as milliseconds since 1970, read and written as ISO 8601."""

from datetime import UTC, datetime

LATEST = 253_370_764_800_000  # the first millisecond of the year 9999 in UTC


class TimeError(ValueError):
    """A text is not a point in time."""


def iso_time(milliseconds: int | None) -> str | None:
    """Return a time as ISO 8601 in UTC, to the second; None stays None."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_time(text: str) -> int:
    """Return the milliseconds of a time in ISO 8601 with a time zone, such as 2026-05-01T12:00+02:00 or ...Z.

    Raises TimeError for anything else: without a zone, a deadline would mean another moment on another machine.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise TimeError(f"not a time in ISO 8601: {text!r}; write it like 2026-05-01T12:00:00Z") from None
    if time.tzinfo is None:
        written = time.isoformat(timespec="seconds")  # with hours: a date alone cannot have a zone
        raise TimeError(f"{text} has no time zone; write {written}Z for UTC, or its offset, as in {written}+02:00")
    milliseconds = int(time.timestamp() * 1000)
    if not 0 <= milliseconds < LATEST:  # in UTC: an offset can move a time out of the calendar
        raise TimeError(f"{text} is not between the years 1970 and 9998")
    return milliseconds
