"""Systems from outside this repository: a class by ``module:Class``, or an entry point of an installed package.

What either names is a subclass of ``Learner`` or a ``System``. A learner's constructor may take ``config``, a dataclass
whose fields are the settings, and ``seed``, without which nothing in it is random; all else has defaults.
"""

import importlib
import inspect
import sys
from dataclasses import dataclass, is_dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, get_type_hints

from learners.contract import Learner
from learners.errors import UnknownSystemError, describe_bug
from learners.seed_models.store import ModelStore
from learners.systems.system import System
from task.names import NAME_RULE, is_name

GROUP = "banditmt.systems"  # of entry points


@dataclass(frozen=True, kw_only=True)
class LearnerClassSystem(System):
    """A subclass of Learner as a system."""

    learner: type[Learner]
    typed: str  # what the user types to get it

    @property
    def reference(self) -> str:
        return self.typed

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        arguments: dict[str, Any] = {}
        if self.config is not None:
            arguments["config"] = self.config
        if self.stochastic:
            arguments["seed"] = seed
        return self.learner(**arguments)


def plugin_names() -> list[str]:
    """Return the names of all systems of installed packages."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def find_plugin(name: str) -> System | None:
    """Return the system of an installed package by its name, or one by ``module:Class``; None if there is none.

    Raises:
        UnknownSystemError: What the name stands for is no system, or cannot be imported.
    """
    entries = list(entry_points(group=GROUP, name=name))
    if len(entries) > 1:
        packages = " and of ".join(map(_package, entries))
        raise UnknownSystemError(f"{name} is a system of {packages}: uninstall all but one")
    if entries:
        return _system(_import(name, entries[0].value), name, f"{_package(entries[0])}: {entries[0].value}", name)
    if ":" in name:
        return _system(_import(name, name), name.rpartition(":")[2], name, name)
    return None


def _import(name: str, path: str) -> Any:
    """Return what ``module:attribute`` names; modules of the current folder count, as those of a script do."""
    module, _, attribute = path.partition(":")
    _check_module_name(name, module, attribute)
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
            raise UnknownSystemError(f"{name}: importing {module} failed: {missing}") from missing
        raise UnknownSystemError(
            f"there is no module {module!r} for the system {name!r}, neither in {here} nor among the installed packages"
        ) from None
    except Exception as bug:
        raise UnknownSystemError(f"{name}: importing {module} failed: {describe_bug(bug)}") from bug
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UnknownSystemError(f"{name}: the module {module} ({found.__file__}) has no {attribute!r}")
        found = getattr(found, part)
    return found


def _check_module_name(name: str, module: str, attribute: str) -> None:
    """Raise UnknownSystemError for what no import statement could say, such as the path of a file."""
    if all(part.isidentifier() for part in module.split(".")) and not module.endswith(".py"):
        return
    imported = ".".join(part for part in Path(module.removesuffix(".py")).parts if part.isidentifier())
    advice = f", such as {imported}:{attribute}" if imported else ""
    raise UnknownSystemError(f"{name}: a module is named as in an import statement{advice}")


def _system(found: Any, name: str, origin: str, typed: str) -> System:
    """Return what was imported as a system; raise UnknownSystemError if it is none."""
    if isinstance(found, System):
        return _own_system(found, typed)
    if not (isinstance(found, type) and issubclass(found, Learner)):
        raise UnknownSystemError(
            f"{typed} is neither a subclass of learners.contract.Learner nor a System: it is {found!r:.80}"
        )
    if not is_name(name):
        raise UnknownSystemError(f"the leaderboard cannot show the name {name!r}: it must have {NAME_RULE}")
    if inspect.isabstract(found):
        missing = " and ".join(sorted(found.__abstractmethods__))
        raise UnknownSystemError(f"{typed} does not define {missing}, which every learner has")
    parameters = inspect.signature(found).parameters
    for parameter in parameters.values():
        required = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        if required and parameter.name not in ("config", "seed"):
            raise UnknownSystemError(
                f"{typed} cannot be made without {parameter.name!r}: give it a default, or make it a field of a config"
            )
    return LearnerClassSystem(
        name=name,
        description=(inspect.getdoc(found) or "").partition("\n")[0] or "a learner from outside",
        origin=origin,
        stochastic="seed" in parameters,
        config=_default_config(found, typed) if "config" in parameters else None,
        learner=found,
        typed=typed,
    )


def _own_system(system: System, typed: str) -> System:
    if not is_name(system.name):
        raise UnknownSystemError(f"the leaderboard cannot show the name {system.name!r}: it must have {NAME_RULE}")
    if typed not in (system.name, system.reference) and ":" not in typed:
        raise UnknownSystemError(f"the entry point {typed} is a system of another name, {system.name}: rename one")
    return system


def _default_config(learner: type[Learner], typed: str) -> Any:
    """Return the default of a constructor's ``config``, or an instance of its type."""
    default = inspect.signature(learner).parameters["config"].default
    if is_dataclass(default) and not isinstance(default, type):
        return replace(default)
    kind = get_type_hints(learner.__init__).get("config")
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise UnknownSystemError(f"{typed}: the parameter config must have a dataclass as its type or default")
    try:
        return kind()
    except TypeError as required:
        raise UnknownSystemError(f"{typed}: every field of {kind.__name__} needs a default ({required})") from None


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
