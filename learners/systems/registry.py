"""The list of all systems, family by family, and those of other packages."""

from learners.errors import UnknownSystemError
from learners.systems import (
    adaptation,
    arms,
    baselines,
    bnmt,
    context,
    limsi,
    offline,
    smt,
    smt_split,
    umd,
    wmt16,
    wnmt,
)
from learners.systems.plugins import find_plugin, plugin_names
from learners.systems.system import System

FAMILIES = (baselines, wmt16, wnmt, bnmt, smt, smt_split, limsi, umd, offline, arms, adaptation, context)
SYSTEMS: dict[str, System] = {system.name: system for family in FAMILIES for system in family.SYSTEMS}


def installed_systems() -> tuple[list[System], list[str]]:
    """Return all systems of this registry and of installed packages, and what is wrong with those that are missing."""
    systems, complaints = list(SYSTEMS.values()), []
    for name in plugin_names():
        if name in SYSTEMS:
            complaints.append(f"an installed package has a system {name}, too, which is never played: rename it there")
            continue
        try:
            systems += filter(None, [find_plugin(name)])
        except UnknownSystemError as broken:
            complaints.append(str(broken))
    return systems, complaints


def find_system(name: str) -> System:
    """Return a system.

    Args:
        name: Its name in this registry, or the name of an installed package's entry point, or ``module:Class``.

    Raises:
        UnknownSystemError: There is no such system; the message has all names. Or it cannot be imported.
    """
    system = SYSTEMS.get(name) or find_plugin(name)
    if system is None:
        names = ", ".join([*SYSTEMS, *plugin_names()])
        raise UnknownSystemError(f"there is no system {name!r}; there are {names}, and any learner as module:Class")
    return system
