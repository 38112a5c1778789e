"""Points in time: read with a zone, kept in UTC."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.times import TimeError, iso_time, parse_time


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2027-01-15T08:00:00Z", 1_800_000_000_000),
        ("2027-01-15T09:00:00+01:00", 1_800_000_000_000),
        ("2027-01-15T09:00+01:00", 1_800_000_000_000),
    ],
)
def test_a_time_with_a_zone(text, milliseconds):
    assert parse_time(text) == milliseconds


def test_a_time_is_written_in_utc():
    assert iso_time(1_800_000_000_000) == "2027-01-15T08:00:00Z"
    assert iso_time(None) is None


@given(st.integers(0, 4_000_000_000))
def test_what_is_written_is_read(seconds):
    text = iso_time(seconds * 1000)
    assert text is not None
    assert parse_time(text) == seconds * 1000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tomorrow", "not a time in ISO 8601: 'tomorrow'"),
        ("", "not a time in ISO 8601: ''"),
        ("2027-01-15T08:00:00", "^2027-01-15T08:00:00 has no time zone; write 2027-01-15T08:00:00Z for UTC, or "),
        ("2027-01-15", "^2027-01-15 has no time zone; write 2027-01-15T00:00:00Z for UTC, or its offset"),
        ("2027-W02-5", "^2027-W02-5 has no time zone; write 2027-01-15T00:00:00Z for UTC, or "),
        ("9999-12-31T23:59:59-12:00", "is not between the years 1970 and 9998"),
        ("0001-01-01T00:00:00+12:00", "is not between the years 1970 and 9998"),
        ("1969-12-31T23:59:59Z", "is not between the years 1970 and 9998"),
    ],
)
def test_anything_else_is_refused(text, complaint):
    with pytest.raises(TimeError, match=complaint):
        parse_time(text)
