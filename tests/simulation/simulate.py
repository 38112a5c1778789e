"""Simulate competitions with new seeds for a given time, and check the rules in each: ``make simulate SECONDS=60``.

    python -m tests.simulation.simulate [--seconds S] [--processes N]     new seeds
    python -m tests.simulation.simulate --seed N [--trace]                one seed again, exactly as it was
    python -m tests.simulation.simulate --bugs [NAME]                     how long it takes to find each planted bug

A seed whose competition breaks a rule is printed with the rule and the command that repeats it.
"""

import argparse
import itertools
import logging
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event

from tests.simulation.checker import Checker
from tests.simulation.competition import Outcome, simulate
from tests.simulation.planted_bugs import BUGS

BUG_SECONDS = 60.0  # in which every planted bug must be found
MODULE = "tests.simulation.simulate"


@dataclass
class Report:
    """What a number of competitions had in them, and the first that broke a rule."""

    trials: int = 0
    events: int = 0  # waits of threads, requests and decisions
    rounds: int = 0
    processes: int = 0  # of servers that were started
    hours: float = 0.0  # of virtual time
    faults: Counter[str] = field(default_factory=Counter)
    failed_seed: int | None = None
    violations: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome, violations: list[str]) -> None:
        self.trials += 1
        self.events += outcome.steps + len(outcome.history.exchanges) + len(outcome.history.decisions)
        self.rounds += sum(map(len, outcome.ledger.values()))
        self.processes += outcome.processes
        self.hours += outcome.seconds / 3_600
        self.faults += outcome.injected
        if violations and self.failed_seed is None:
            self.failed_seed, self.violations = outcome.seed, violations

    def merge(self, other: "Report") -> None:
        for name in ("trials", "events", "rounds", "processes", "hours"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults
        if self.failed_seed is None:
            self.failed_seed, self.violations = other.failed_seed, other.violations


def be_quiet() -> None:
    """Let the service log nothing: it logs every fault."""
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    logging.disable()


def search(
    seeds: Iterator[int], seconds: float, bug: str | None = None, is_stopped: Callable[[], bool] = lambda: False
) -> Report:
    """Try seeds until the time is over or a rule is broken, with a planted bug or without."""
    report, until = Report(), time.monotonic() + seconds
    while time.monotonic() < until and report.failed_seed is None and not is_stopped():
        with BUGS[bug]() if bug else nullcontext():
            outcome = simulate(next(seeds))
        report.add(outcome, Checker(outcome).violations())
    return report


_stopped: Event  # of a process that searches: set by Ctrl-C in its parent


def _begin_process(stopped: Event) -> None:
    global _stopped
    _stopped = stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    be_quiet()


def _search_on_one_cpu(number: int, first: int, step: int, seconds: float) -> Report:
    if sys.platform == "linux":  # one thread runs at a time, so a second CPU would only be in the way
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpus[number % len(cpus)]})
    return search(itertools.count(first + number, step), seconds, is_stopped=_stopped.is_set)


def soak(seconds: float, processes: int) -> int:
    first, start = random.SystemRandom().randrange(2**32), time.monotonic()
    report, context = Report(), multiprocessing.get_context("spawn")
    stopped = context.Event()
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin_process, initargs=(stopped,)) as pool:
        searches = [pool.submit(_search_on_one_cpu, n, first, processes, seconds) for n in range(processes)]
        try:
            wait(searches)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            stopped.set()
        for each in searches:
            report.merge(each.result())
    took = time.monotonic() - start
    for name, count in sorted(report.faults.items()):
        print(f"{count:12,}  {name}")
    print(
        f"seeds {first} to about {first + report.trials - 1}: {report.trials:,} competitions in {took:.0f} s with "
        f"{processes} processes, {report.trials / took:.1f} per second"
    )
    print(
        f"{report.events:,} events ({report.events / took:,.0f} per second), {report.rounds:,} rounds, "
        f"{report.processes:,} server processes, {report.hours:,.0f} hours of virtual time, "
        f"{sum(report.faults.values()):,} faults"
    )
    return _say(report)


def _say(report: Report) -> int:
    if report.failed_seed is None:
        print("0 rounds lost, 0 doubled, 0 rules broken")
        return 0
    print(f"seed {report.failed_seed} breaks {len(report.violations)} rules:")
    for violation in report.violations[:10]:
        print(f"  {violation}")
    print(f"repeat it with: python -m {MODULE} --seed {report.failed_seed} --trace")
    return 1


def replay(seed: int, *, trace: bool) -> int:
    """Play one seed, print its history, and check it."""
    report, outcome = Report(), simulate(seed)
    report.add(outcome, Checker(outcome).violations())
    for each in outcome.history.exchanges if trace else ():
        received = "nothing" if each.received is None else f"{each.status} {each.content}"
        print(f"{each.sent_at:10.3f} {each.participant} {each.method} {each.path} {each.body or ''} -> {received}")
    for decision in outcome.history.decisions if trace else ():
        print(f"{decision.at:10.3f} {decision.what} {decision.subject}")
    injected = ", ".join(f"{name} {count}" for name, count in sorted(outcome.injected.items()))
    print(
        f"seed {seed}: {outcome.task.phase.name} on {outcome.task.engine}, {outcome.seconds:.0f} s, faults: {injected}"
    )
    print(f"history {outcome.history.digest()}")
    return _say(report)


def find_bugs(names: list[str], tell: Callable[[str], None] = print) -> bool:
    """Plant one bug after the other, and say how long it takes to find each. Return whether all were found."""
    missed = 0
    for name in names:
        start = time.monotonic()
        report = search(itertools.count(), BUG_SECONDS, name)
        took = time.monotonic() - start
        missed += report.failed_seed is None
        found = "NOT FOUND" if report.failed_seed is None else f"found with seed {report.failed_seed}"
        rule = report.violations[0].partition(":")[0] if report.violations else ""
        tell(f"{name:52} {found:22} {took:5.1f} s  {rule}")
    tell(f"{len(names) - missed} of {len(names)} planted bugs found in less than {BUG_SECONDS:.0f} s each")
    return not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long to begin new competitions")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many to simulate at once")
    parser.add_argument("--seed", type=int, help="play only this seed, once")
    parser.add_argument("--trace", action="store_true", help="with --seed: print all requests and responses")
    parser.add_argument("--bugs", nargs="?", const="all", choices=("all", *BUGS), help="plant bugs and find them")
    options = parser.parse_args()
    be_quiet()
    if options.processes < 1:
        parser.error("--processes is 1 or more")
    if options.bugs:
        return not find_bugs(list(BUGS) if options.bugs == "all" else [options.bugs])
    if options.seed is not None:
        return replay(options.seed, trace=options.trace)
    return soak(options.seconds, options.processes)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
