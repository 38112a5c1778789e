"""Request models: the part of JSON Schema that the template uses, compiled for speed.

An unknown keyword is an error when the template is read; it is never ignored.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.errors import TemplateError

Validator = Callable[[Any], bool]

ANNOTATIONS = {"description", "title", "$schema"}
TYPES: dict[str, Validator] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def compile_model(schema: Mapping[str, Any]) -> Validator:
    """Return a function that returns whether a value matches the schema.

    Raises:
        TemplateError: The schema has a type or a keyword that the local cloud does not support.
    """
    unknown = set(schema) - ANNOTATIONS - {"type", "required", "properties"}
    if unknown or str(schema.get("type")) not in TYPES:
        what = ", ".join(sorted(unknown)) or f"type {schema.get('type')!r}"
        raise TemplateError(f"the local cloud does not support {what} in a request model")
    has_type = TYPES[schema["type"]]
    if schema["type"] != "object":
        return has_type
    required = tuple(schema.get("required", ()))
    properties = tuple((name, compile_model(part)) for name, part in schema.get("properties", {}).items())

    def matches(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value for name in required)
            and all(is_valid(value[name]) for name, is_valid in properties if name in value)
        )

    return matches
