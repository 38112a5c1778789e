"""A JSON reader that accepts what the protocol allows, and no more.

The reader of Python also accepts NaN, infinite numbers, duplicate names, lone surrogates and encodings other than
UTF-8, and raises ``RecursionError`` where a value is nested too deeply.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

MAX_NESTING = 64  # of arrays and objects; the protocol needs a handful
MAX_INTEGER_DIGITS = 19  # of 64 bits; parsing takes quadratic time in the digits


def read_json(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        ValueError: The text is not JSON, or nested more deeply than ``MAX_NESTING``.
    """
    text = body.decode()
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_NESTING and _is_nested_deeper(value, MAX_NESTING):
        raise ValueError("nested too deeply")
    if "\\ud" in text or "\\uD" in text:  # only an escape can make a lone surrogate: UTF-8 has none
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _is_nested_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        level = [inner for outer in level for inner in _items(outer)]
    return bool(level)


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _read_object(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(members)
    if len(read) < len(members):
        raise ValueError("duplicate name")
    return read


def _read_integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS + digits.startswith("-"):
        raise ValueError("integer out of range")
    return int(digits)


def _read_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object, parse_int=_read_integer, parse_float=_read_float, parse_constant=_refuse_constant
)
