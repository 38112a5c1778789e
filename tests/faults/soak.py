"""Try faults with new seeds for a given time, and count what happened: ``make soak SECONDS=600``.

    python -m tests.faults.soak [--seconds S] [--fault NAME] [--seed N]

With a seed, only that seed is tried. A failure prints its fault and seed, so that it can be repeated.
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
    """Run one trial in a temporary folder; a failure names the command that repeats it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Counter(TRIALS[fault](seed, Path(folder)))
        except Exception as failure:
            failure.add_note(f"fault {fault}, seed {seed}: repeat with {replay(fault, seed)}")
            raise


def select_trials(faults: list[str], seed: int | None, seconds: float) -> Iterator[tuple[str, int]]:
    """Yield every fault in turn with a new seed until the time is over, or with the given seed once."""
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
        for fault, each in select_trials(faults, seed, seconds):
            counts[fault] += attempt(fault, each)
            tried[fault] += 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        trials.close()
    print(f"{'fault':12}{'trials':>8}  what happened in them")
    for fault, events in counts.items():
        print(
            f"{fault:12}{tried[fault]:8,}  {', '.join(f'{name} {count:,}' for name, count in sorted(events.items()))}"
        )
    print(f"{sum(tried.values()):,} trials in {time.monotonic() - began:.0f} s, no round lost, none committed twice")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long to begin new trials")
    parser.add_argument("--fault", choices=TRIALS, help="try only this fault")
    parser.add_argument("--seed", type=int, help="try only this seed, once")
    options = parser.parse_args()
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    logging.disable()  # the service logs every fault
    return soak([options.fault] if options.fault else list(TRIALS), options.seed, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
