"""``banditmt serve``: runs the service on this machine, as ``template.yaml`` describes it."""

import errno
import ipaddress
import json
import logging
import random
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task
from lambdas.chain import LedgerKey
from lambdas.registry import Registry, RegistryError
from lambdas.service import Service
from lambdas.store import Store
from lambdas.store.sqlite import SQLiteStore
from learners.interrupts import deferred_interrupts
from simulator.cli.corpus_tables import task_summary
from simulator.cli.progress_bars import count_bar, load_with_progress
from simulator.cli.stores import StoreOption, open_or_create_store
from simulator.cloud.connections import ConnectionCounts
from simulator.cloud.http_server import HttpServer, access_log, running
from simulator.cloud.local_cloud import local_server, set_environment
from simulator.cloud.server_processes import ServerProcesses, stay_on_cpu, usable_cpus
from simulator.cloud.template import SamTemplate
from simulator.errors import ServeError
from simulator.tasks import DEFAULT_STORE, DEMO_TASK, is_loaded, out_of_domain_files

FIRST_PARTICIPANT = "local"
MAX_PROCESSES = 16  # more would wait for each other's commits
LOCAL_STAGE = "local"  # prints the first key; the output of other stages may go to a log


def serve(
    task: Annotated[
        Path | None,
        typer.Option(
            help="Load this task directory first, and offer its out-of-domain text as a download. "
            "Default: the task in the store, or a demo task."
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any free port.", min=0, max=65_535)] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    store: StoreOption = DEFAULT_STORE,
    stage: Annotated[str, typer.Option(help="The stage of template.yaml whose limits apply.")] = LOCAL_STAGE,
    access: Annotated[
        str, typer.Option("--access-log", help="Append a line per request to this file; - for the terminal.")
    ] = "",
    processes: Annotated[
        int | None,
        typer.Option(
            help="How many processes serve the port. Default: one per CPU on a SQLite store with synchronous=normal, "
            "otherwise one.",
            min=1,
            max=MAX_PROCESSES,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address and the first key as JSON.")] = False,
) -> None:
    """Run the service and the leaderboard page until Ctrl-C."""
    template = SamTemplate.load(stage)  # first, because the stage may not exist
    ledger_key = LedgerKey.from_environment()  # its file may not exist
    opened = open_or_create_store(store)
    try:
        count = _process_count(opened, processes)
        served = _load_task(opened, task)
        files = {} if served is None else out_of_domain_files(served)
        set_environment(template)
        service = Service(opened, ledger_key=ledger_key, serves_out_of_domain=bool(files))
        server = _listen(template, service, host, port, files)
        stop_signals = (signal.SIGINT, signal.SIGTERM)
        with _logging(access), deferred_interrupts(stop_signals) as interrupted, _running(server, count) as watch:
            api_key = _first_key(opened) if stage == LOCAL_STAGE else None
            _announce(server, store, api_key, as_json=as_json)
            watch(interrupted)
    finally:
        opened.close()
    typer.echo("stopped", err=True)


def _process_count(store: Store, requested: int | None) -> int:
    """Return how many processes serve: those that were requested, or what is fastest for the store."""
    file = store if isinstance(store, SQLiteStore) and store.is_file else None
    if requested is None:
        return min(len(usable_cpus()), MAX_PROCESSES) if file and file.synchronous == "normal" else 1
    if requested > 1 and file is None:
        raise ServeError("several processes can serve only a SQLite store in a file: leave out --processes")
    return requested


@contextmanager
def _running(server: HttpServer, count: int) -> Iterator[Callable[[Event], object]]:
    """Run a server in this process, or in several; yield what waits for an interrupt."""
    if count == 1:
        stay_on_cpu(random.choice(usable_cpus()))
        with running(server):
            yield Event.wait
        return

    server.peers = counts = ConnectionCounts(count)

    def serve_until(number: int, stopped: Event) -> None:
        counts.use(number)
        with running(server):
            stopped.wait()

    with closing(server.socket), ServerProcesses(count, serve_until) as processes:
        yield processes.watch


def _load_task(store: Store, task: Path | None) -> Path | None:
    """Load a task into the store, and return its directory. Without one, load the demo task into an empty store.

    Returns None if the store has a task whose directory is not known.
    """
    store.prepare()
    if task is None:
        task = DEMO_TASK
        if Registry(store).phases():
            return task if task.exists() and is_loaded(store, task) else None
        if not task.exists():
            _generate_demo_task(task)
    load_with_progress(store, task)
    return task


def _generate_demo_task(path: Path) -> None:
    scale = SCALES[ScaleName.DEMO]
    with count_bar("generating", total=scale.lines) as advance:
        task = synthesise_task(path, scale, processes=2, progress=advance)
    typer.echo(task_summary(task), err=True)  # the first line of standard output is the address


def _first_key(store: Store) -> str | None:
    """Return a key of a new participant if the store has no participants, else None."""
    registry = Registry(store)
    if not registry.participants():
        with suppress(RegistryError):  # another server of this store was faster and has printed the key
            return registry.add_participant(FIRST_PARTICIPANT)
    return None


def _listen(
    template: SamTemplate, service: Service, host: str, port: int, out_of_domain: Mapping[str, Path]
) -> HttpServer:
    try:
        return local_server(template, service, (host, port), out_of_domain)
    except OSError as failure:
        if failure.errno == errno.EADDRINUSE:
            raise ServeError(f"port {port} is in use; --port 0 chooses a free one") from None
        raise ServeError(f"cannot listen on {host}: {failure.strerror}") from None


def _announce(server: HttpServer, store: str, api_key: str | None, *, as_json: bool) -> None:
    if not _is_loopback(str(server.server_address[0])):
        warning = "other machines can reach this address, and keys are sent unencrypted: put a TLS proxy in front"
        typer.echo(warning, err=True)
    if as_json:
        first_key = {} if api_key is None else {"participant": FIRST_PARTICIPANT, "api_key": api_key}
        typer.echo(json.dumps({"url": server.url, "store": store, **first_key}))
        return
    typer.echo(f"serving {store} at {server.url} (stop with Ctrl-C)")
    typer.echo(f"leaderboard page: {server.url}/")
    if api_key is None:
        typer.echo(f"to add a participant: banditmt admin participant add NAME --store {store}")
        return
    typer.echo(f"API key of participant {FIRST_PARTICIPANT}: {api_key} (not shown again)")
    headers = f"-H 'x-api-key: {api_key}' -H 'Content-Type: application/json'"
    body = '{"phase": "mock", "system": "first-try"}'
    typer.echo(f"try: curl {headers} -d '{body}' {server.url}/v1/runs")


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


@contextmanager
def _logging(access: str) -> Iterator[None]:
    """Log errors to the terminal, and requests to the access log if there is one."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    if not access:
        yield
        return
    handler = logging.StreamHandler() if access == "-" else logging.FileHandler(access, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    access_log.addHandler(handler)
    access_log.setLevel(logging.INFO)
    access_log.propagate = False
    try:
        yield
    finally:
        access_log.setLevel(logging.NOTSET)
        access_log.propagate = True
        access_log.removeHandler(handler)
        handler.close()
