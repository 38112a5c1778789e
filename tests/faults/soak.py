"""Tries faults with new seeds for as long as one likes, and counts: ``make soak SECONDS=600``.

    python -m tests.faults.soak [--seconds S] [--fault NAME] [--seed N]

With a seed, only that one is tried: so a failure, which prints its fault and seed, can be repeated.
"""

import argparse
import itertools
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.faults import trials
from tests.faults.trials import TRIALS


def replay(fault: str, seed: int) -> str:
    return f"python -m tests.faults.soak --fault {fault} --seed {seed}"


def attempt(fault: str, seed: int) -> Counter[str]:
    """One trial in a folder of its own; a failure says how to repeat it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Counter(TRIALS[fault](seed, Path(folder)))
        except Exception as failure:
            failure.add_note(f"fault {fault}, seed {seed}: repeat with {replay(fault, seed)}")
            raise


def chosen(faults: list[str], seed: int | None, seconds: float) -> Iterator[tuple[str, int]]:
    """Every fault in turn, each time with a new seed, until the time is over; or the given seed once."""
    if seed is not None:
        yield from ((fault, seed) for fault in faults)
        return
    until = time.monotonic() + seconds
    for fault in itertools.cycle(faults):
        if time.monotonic() >= until:
            return
        yield fault, random.SystemRandom().randrange(2**32)


def soak(faults: list[str], seed: int | None, seconds: float) -> int:
    tried: Counter[str] = Counter()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    began = time.monotonic()
    try:
        for fault, each in chosen(faults, seed, seconds):
            counts[fault] += attempt(fault, each)
            tried[fault] += 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        trials.close()
    print(f"{'fault':12}{'trials':>8}  what was done in them")
    for fault, done in counts.items():
        print(f"{fault:12}{tried[fault]:8,}  {', '.join(f'{name} {count:,}' for name, count in sorted(done.items()))}")
    print(f"{sum(tried.values()):,} trials in {time.monotonic() - began:.0f} s, nothing lost, nothing twice")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="when to begin no further trial")
    parser.add_argument("--fault", choices=TRIALS, help="only this one")
    parser.add_argument("--seed", type=int, help="only this seed, once")
    wishes = parser.parse_args()
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    logging.disable()  # the service rightly complains of every fault
    return soak([wishes.fault] if wishes.fault else list(TRIALS), wishes.seed, wishes.seconds)


if __name__ == "__main__":
    sys.exit(main())
