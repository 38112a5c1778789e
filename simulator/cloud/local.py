"""The local cloud, put together: the template's API over the real handlers, in this process."""

import os

from lambdas import wiring
from lambdas.errors import InvalidKeyError
from lambdas.handlers.api import MAX_BODY_BYTES
from lambdas.service import Service
from leaderboard import publication
from leaderboard.page import Page
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.server import Limits, Server
from simulator.cloud.template import Template

GATEWAY_TIMEOUT = 29.0  # of a REST API; a function of the template may have less


def adopt_environment(template: Template) -> None:
    """Give this process what the functions would find in their environment, except for the address of the store."""
    os.environ.update({name: value for name, value in template.environment.items() if name != wiring.STORE_VARIABLE})
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"  # they are printed for CloudWatch, which does not read here


def local_gateway(template: Template, service: Service) -> Gateway:
    """The template's API over a service; from here on, the handlers of this process talk to that service.

    What the bundle for the cloud carries of the leaderboard's page is made here when it is first wanted.
    """
    wiring.use_service(service)
    wiring.use_page(Page(publication.MAKERS))
    return Gateway(template, load_handlers(template), lambda key: _knows(service, key))


def local_server(template: Template, service: Service, address: tuple[str, int]) -> Server:
    """A server for it, with the time limits of API Gateway and of the functions."""
    slowest = max(template.functions[route.function].timeout for route in template.routes)
    # in the cloud the functions refuse larger bodies; here all share one memory, so they are not even read
    limits = Limits(body=MAX_BODY_BYTES, answering=min(GATEWAY_TIMEOUT, slowest))
    return Server(address, local_gateway(template, service), limits=limits)


def _knows(service: Service, key: str) -> bool:
    try:
        service.authenticate(key)
    except InvalidKeyError:
        return False
    return True
