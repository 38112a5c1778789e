"""Files as HTTP downloads that can be resumed: one range at a time, and an ETag that changes with the file.

The response names the part of the file, and the server sends it from the disk: a download needs no memory for its
content. RFC 9110, sections 13 and 14, has the rules.
"""

import re
from pathlib import Path
from typing import NamedTuple

from simulator.cloud.http_messages import FilePart, HttpRequest, HttpResponse

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class ByteRange(NamedTuple):
    """The bytes of a file from ``start`` up to, but not including, ``end``."""

    start: int
    end: int


class UnsatisfiableRangeError(Exception):
    """A request asks for bytes after the end of the file."""


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the bytes that a Range header asks for, or None for the whole file.

    A header that cannot be parsed, or names several ranges, is ignored, as the RFC allows.

    Raises:
        UnsatisfiableRangeError: The file has none of these bytes.
    """
    found = _RANGE.fullmatch(header)
    if not found or not any(found.groups()):
        return None
    first, last = found.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= end:
        raise UnsatisfiableRangeError
    return ByteRange(start, end)


def download(path: Path, request: HttpRequest, content_type: str = "application/gzip") -> HttpResponse:
    """Return the response to a request for a file: all of it, a part of it, or 304 if the client has it."""
    status = path.stat()
    etag = f'"{status.st_size:x}-{status.st_mtime_ns:x}"'
    headers = [
        ("Content-Type", content_type),
        ("Content-Disposition", f'attachment; filename="{path.name}"'),
        ("Cache-Control", "public, no-cache"),  # may be stored, but must be revalidated
        ("X-Content-Type-Options", "nosniff"),
        ("Accept-Ranges", "bytes"),
        ("ETag", etag),
    ]
    asked = request.headers_by_name
    known = [each.strip().removeprefix("W/") for each in asked.get("if-none-match", "").split(",")]
    if etag in known or "*" in known:
        return HttpResponse(304, headers, b"")
    try:  # a range of an earlier version of the file would be a part of nothing
        wanted = parse_range(asked.get("range", ""), status.st_size) if asked.get("if-range", etag) == etag else None
    except UnsatisfiableRangeError:
        return HttpResponse(416, [*headers[2:], ("Content-Range", f"bytes */{status.st_size}")], b"")
    if wanted is None:
        return HttpResponse(200, headers, b"", FilePart(path, 0, status.st_size))
    part = ("Content-Range", f"bytes {wanted.start}-{wanted.end - 1}/{status.st_size}")
    return HttpResponse(206, [*headers, part], b"", FilePart(path, wanted.start, wanted.end - wanted.start))
