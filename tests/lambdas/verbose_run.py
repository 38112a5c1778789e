"""A process that plays a whole mock run with every mistake a client can make, and prints everything it can see.

``test_secrecy`` runs it with the address of a store that holds the small task, and a key. Every response and every
exception goes to standard output, as do all logs at DEBUG and all metrics.
"""

import logging
import sys
import traceback

from lambdas import errors, wiring
from lambdas.service import Service
from lambdas.store import open_store
from tests.lambdas import tasks
from tests.lambdas.handlers.events import Client


def show(*things):
    for thing in things:
        print(repr(thing))


def mistakes(client, run, token):
    show(
        client.translate(run, "A" * 50, "rot"),
        client.translate(run, token, ""),
        client.translate(run, token, "rot\n"),
        client.translate(run, token, "x" * 5_000),
        client.translate(run, raw=b"\xff"),
        client.translate("a" * 26, token, "rot"),
        client.open_run("nowhere"),
        client.open_run("mock", "a b"),
        Client("wrong").sentence(run),
        Client("wrong").translate(run, token, "rot"),
    )


def bugs(client, service, run, token):
    """Let scoring raise an exception that quotes the reference."""
    healthy = service._sentences.reference

    def quoting(record, index):
        raise ValueError(f"cannot digest {healthy(record, index)!r}")

    service._sentences.reference = quoting
    show(client.translate(run, token, "rot"))
    service._sentences.reference = healthy


def direct(service, player):
    """Show what the service object raises: the text, the arguments and the traceback."""
    run = service.open_run(player, "mock", "direct").run
    sentence = service.sentence(player, run)
    service.translate(player, run, sentence.id, "rot")
    for call in (
        lambda: service.translate(player, run, sentence.id, "blau"),
        lambda: service.translate(player, run, "x", "blau"),
        lambda: service.translate(player, run, sentence.id, ""),
        lambda: service.sentence(player, "x"),
    ):
        try:
            call()
        except errors.ServiceError as error:
            show(error, error.args, vars(error), traceback.format_exc())


def main(address, key):
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
    service = Service(open_store(address))
    wiring.use_service(service)
    client = Client(key)
    run = client.open_run("mock", "copy")[1]["run"]
    sentence = client.sentence(run)[1]
    while sentence:
        show(client.sentence(run), client.run(run))
        mistakes(client, run, sentence["id"])
        bugs(client, service, run, sentence["id"])
        answer = client.translate(run, sentence["id"], sentence["source"])
        show(answer, client.translate(run, sentence["id"], sentence["source"]))
        show(client.translate(run, sentence["id"], "etwas anderes"))
        sentence = answer[1]["next"]
    show(client.run(run), client.sentence(run), client.leaderboard("mock"), client.leaderboard("nowhere"))
    direct(service, service.authenticate(key))
    assert tasks.MOCK.layout.total == client.run(run)[1]["index"]


if __name__ == "__main__":
    main(*sys.argv[1:])
