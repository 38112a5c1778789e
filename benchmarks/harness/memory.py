"""Peak memory of processes."""

import resource
import sys

BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def peak_megabytes(who: int = resource.RUSAGE_SELF) -> float:
    """Return the peak memory of this process, or of the largest of its children with ``RUSAGE_CHILDREN``."""
    return resource.getrusage(who).ru_maxrss * BYTES_PER_UNIT / 1e6
