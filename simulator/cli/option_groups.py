"""Groups of options that several commands share: dataclasses whose fields are options."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from typing import Any


def expand_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its dataclass parameters as options of its own.

    A field is declared like a parameter of a command: its annotation describes the option, and its default is that of
    the option. The command receives instances of the dataclasses.
    """
    groups: dict[str, tuple[type, list[str]]] = {}
    options: dict[str, inspect.Parameter] = {}
    for parameter in inspect.signature(command).parameters.values():
        fields = [parameter]
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation):
            fields = list(inspect.signature(parameter.annotation).parameters.values())
            groups[parameter.name] = parameter.annotation, [field.name for field in fields]
        options |= {field.name: field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in fields}

    @wraps(command)
    def expanded(**values: Any) -> None:
        made = {
            name: group(**{field: values.pop(field) for field in fields}) for name, (group, fields) in groups.items()
        }
        command(**made, **values)

    expanded.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]
    expanded.__annotations__ = {name: option.annotation for name, option in options.items()}
    return expanded
