"""The list of all systems, family by family."""

from learners.errors import UnknownSystemError
from learners.systems import baselines, bnmt, limsi, smt, wmt16, wnmt
from learners.systems.system import System

FAMILIES = (baselines, wmt16, wnmt, bnmt, smt, limsi)
SYSTEMS: dict[str, System] = {system.name: system for family in FAMILIES for system in family.SYSTEMS}


def find_system(name: str) -> System:
    """Return the system of this name; raise ``UnknownSystemError`` with all names if there is none."""
    if name not in SYSTEMS:
        raise UnknownSystemError(f"there is no system {name!r}; there are {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
