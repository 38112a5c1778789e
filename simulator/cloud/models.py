"""Request models: the part of JSON Schema that the template uses, as a function that is quick enough for every request.

A keyword that is not known here is refused when the template is read, never ignored.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.errors import TemplateError

Check = Callable[[Any], bool]

ANNOTATIONS = {"description", "title", "$schema"}
TYPES: dict[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def compile_model(schema: Mapping[str, Any]) -> Check:
    """A function that tells whether a value fits the schema."""
    unknown = set(schema) - ANNOTATIONS - {"type", "required", "properties"}
    if unknown or str(schema.get("type")) not in TYPES:
        what = ", ".join(sorted(unknown)) or f"type {schema.get('type')!r}"
        raise TemplateError(f"the local cloud does not understand {what} in a request model")
    has_type = TYPES[schema["type"]]
    if schema["type"] != "object":
        return has_type
    required = tuple(schema.get("required", ()))
    properties = tuple((name, compile_model(part)) for name, part in schema.get("properties", {}).items())

    def fits(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value for name in required)
            and all(check(value[name]) for name, check in properties if name in value)
        )

    return fits
