"""Request models, compared with a full implementation of JSON Schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from simulator.cloud.request_models import compile_model
from simulator.errors import TemplateError

KINDS = ["string", "boolean", "integer", "number", "object", "array"]
NAMES = st.sampled_from(["id", "translation", "phase"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.builds(lambda kind: {"type": kind, "description": "a leaf"}, st.sampled_from(KINDS)),
    lambda inner: st.builds(
        lambda names, properties: {"type": "object", "required": names, "properties": properties},
        st.lists(NAMES, min_size=1, max_size=3, unique=True),
        st.dictionaries(NAMES, inner, max_size=3),
    ),
    max_leaves=4,
)


@given(SCHEMAS, VALUES)
def test_a_model_accepts_exactly_what_json_schema_accepts(schema: dict[str, Any], value: object) -> None:
    assert compile_model(schema)(value) == Draft4Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": ["string", "null"]},
        {"type": "string", "maxLength": 3},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}},
    ],
)
def test_unsupported_keywords_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(TemplateError):
        compile_model(schema)
