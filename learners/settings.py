"""Settings: the fields of a configuration under dotted names, as users change them on the command line or in a file.

A configuration is a dataclass; a field that is itself a dataclass is a group: ``optimiser.learning_rate`` is the field
``learning_rate`` of the group ``optimiser``. The comment beside or above a field says why one would change it: it is
printed by ``banditmt systems --show``, so that nothing about a setting is written twice.

A value has one text, on the command line, in the identity of a run, and after a file was read: ``none``, ``true``,
``16``, ``0.0001``, ``adam``, ``0.9,0.999``.
"""

import ast
import inspect
import io
import math
import re
import textwrap
import tokenize
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from learners.errors import SettingError

FIXED = {"fixed": True}  # metadata of a field that is no setting: with another value it would be another system
NONE = "none"
BOOLEANS = {"true": True, "false": False}

Config = TypeVar("Config")


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of a configuration."""

    name: str  # dotted
    kind: Any  # its type
    value: Any
    why: str  # its comment in the source; empty if there is none

    @property
    def text(self) -> str:
        return to_text(self.value)

    @property
    def choices(self) -> str:
        """What the setting can be, in words."""
        return _describe(self.kind)


def list_settings(config: Any, prefix: str = "") -> list[Setting]:
    """Return all settings of a configuration, groups after single settings; none if it is no dataclass."""
    if not _is_group(config):
        return []
    kind: type = type(config)
    kinds, comments, own, groups = get_type_hints(kind), _comments(kind), [], []
    for field in fields(config):
        if "fixed" in field.metadata:
            continue
        name, value = f"{prefix}{field.name}", getattr(config, field.name)
        if _is_group(value):
            groups += list_settings(value, f"{name}.")
        else:
            own.append(Setting(name, kinds[field.name], value, comments.get(field.name, "")))
    return own + groups


def apply_settings(config: Config, texts: Mapping[str, str]) -> Config:
    """Return a configuration with other values of some settings.

    Args:
        config: The configuration; it is not changed.
        texts: The new values by dotted name.

    Raises:
        SettingError: There is no such setting, or the text is not a value of its type, or out of its bounds.
    """
    known = {setting.name: setting for setting in list_settings(config)}
    for name, text in texts.items():
        if name not in known:
            raise SettingError(_unknown(name, list(known)))
        value = _parse(text, known[name].kind, name)
        config = _with_value(config, name.split("."), value)
    return config


def changed_settings(default: Any, config: Any) -> dict[str, str]:
    """Return the texts of all settings in which a configuration differs from the default one, by name."""
    before = {setting.name: setting.text for setting in list_settings(default)}
    return {setting.name: setting.text for setting in list_settings(config) if before.get(setting.name) != setting.text}


def parse_assignments(assignments: Sequence[str]) -> dict[str, str]:
    """Return the texts of ``NAME=VALUE`` assignments by name; the last one of a name counts."""
    texts = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not (name and equals):
            raise SettingError(f"a setting is given as NAME=VALUE, not as {assignment!r}")
        texts[name] = text
    return texts


def read_settings(path: Path) -> dict[str, str]:
    """Return the texts of the settings in a TOML file by name; groups are tables."""
    try:
        return dict(_flatten(tomllib.loads(path.read_text(encoding="utf-8"))))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as damage:
        raise SettingError(f"{path} is not a TOML file of settings: {damage}") from None


def to_toml(config: Any) -> str:
    """Return all settings of a configuration as a TOML file, with what each is as a comment above it."""
    lines, group = [], ""
    for setting in list_settings(config):
        own_group, _, name = setting.name.rpartition(".")
        if own_group != group:
            group = own_group
            lines += [f"[{group}]", ""]
        said = f"({setting.choices}) {setting.why}".rstrip()
        lines += textwrap.wrap(said, 78, initial_indent="# ", subsequent_indent="# ")
        lines += [f"{name} = {_toml_value(setting.value)}", ""]
    return "\n".join(lines).rstrip("\n")


def check_bounds(config: Any, **bounds: tuple[float, float | None]) -> None:
    """Raise SettingError if a field is not within its bounds, both included; a field that is None has none.

    Args:
        config: The configuration, which calls this in ``__post_init__``.
        bounds: The least and the greatest value of each field; None for no greatest one.
    """
    for name, (least, greatest) in bounds.items():
        value = getattr(config, name)
        if value is not None and not least <= value <= (math.inf if greatest is None else greatest):
            rule = f"{least} or more" if greatest is None else f"between {least} and {greatest}"
            raise SettingError(f"{name} must be {rule}, not {to_text(value)}")


def to_text(value: Any) -> str:
    """Return the text of a value."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple | list):
        return ",".join(map(to_text, value))
    return str(value)


def _is_group(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _with_value(config: Any, path: Sequence[str], value: Any) -> Any:
    name, *rest = path
    return replace(config, **{name: _with_value(getattr(config, name), rest, value) if rest else value})


def _parse(text: str, kind: Any, name: str) -> Any:
    """Return the value of a text; raise SettingError if the text is not one of this type."""
    try:
        value = _value(text, kind)
    except ValueError:
        raise SettingError(f"{name} is {_describe(kind)}, not {text!r}") from None
    except TypeError:
        raise SettingError(f"{name} cannot be set by a text: its type is {kind}") from None
    return value


def _value(text: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not types.NoneType]
        if text == NONE and len(options) < len(get_args(kind)):
            return None
        (kind,) = options if len(options) == 1 else _unsupported(kind)
        return _value(text, kind)
    if get_origin(kind) is tuple:
        return _tuple(text, get_args(kind))
    if kind is bool:
        return BOOLEANS[text] if text in BOOLEANS else _no_value(text)
    if kind is float:
        return number if math.isfinite(number := float(text)) else _no_value(text)
    if kind in (int, str, Path) or (isinstance(kind, type) and issubclass(kind, Enum)):
        return kind(text)
    return _unsupported(kind)


def _tuple(text: str, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    parts = [part.strip() for part in text.split(",")]
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(parts)
    return tuple(_value(part, kind) for part, kind in zip(parts, kinds, strict=True))


def _no_value(text: str) -> Any:
    raise ValueError(text)


def _unsupported(kind: Any) -> Any:
    raise TypeError(kind)


def _describe(kind: Any) -> str:
    """Return what a value of a type is, in words."""
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_describe(option) for option in get_args(kind))
    if get_origin(kind) is tuple:
        return ", ".join("..." if part is Ellipsis else _describe(part) for part in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(str(option.value) for option in kind)
    words = {types.NoneType: NONE, bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return words.get(kind) or ("a path" if kind is Path else str(kind))


def _unknown(name: str, known: Sequence[str]) -> str:
    if not known:
        return f"there is no setting {name!r}: this system has none"
    return f"there is no setting {name!r}; there are {', '.join(known)}"


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", to_text(value)


def _toml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, int | float) and not isinstance(value, Enum):
        return to_text(value)
    escaped = re.sub(r'(["\\])', r"\\\1", to_text(value))
    return f'"{escaped}"'


@cache
def _comments(kind: type) -> dict[str, str]:
    """Return the comments of a dataclass's fields in its source, those that it inherits included."""
    inherited = {name: why for base in reversed(kind.__mro__[1:]) for name, why in _comments(base).items()}
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):  # typed at a prompt, or built in
        return inherited
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef), "the source of a class"
    own = {}
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            while first - 1 in comments and lines[first - 2].lstrip().startswith("#"):
                first -= 1
            said = [comments[line] for line in range(first, last + 1) if line in comments]
            own[statement.target.id] = " ".join(said)
    return inherited | own
