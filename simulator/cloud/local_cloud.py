"""The local cloud, assembled: the API of the template and the real handlers, in this process."""

import os
from collections.abc import Mapping
from pathlib import Path

from lambdas import wiring
from lambdas.chain import KEY_VARIABLE
from lambdas.errors import InvalidKeyError
from lambdas.handlers.api import MAX_BODY_BYTES
from lambdas.service import Service
from leaderboard import publication
from leaderboard.page import Page
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.http_server import HttpServer, ServerLimits
from simulator.cloud.template import SamTemplate

GATEWAY_TIMEOUT_SECONDS = 29.0  # of a REST API; the functions of the template may have less


def set_environment(template: SamTemplate) -> None:
    """Set the environment variables of the functions in this process, except for the organiser's own settings."""
    own = (wiring.STORE_VARIABLE, KEY_VARIABLE)
    os.environ.update({name: value for name, value in template.environment.items() if name not in own})
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"  # metrics are printed for CloudWatch, which is not here


def local_gateway(template: SamTemplate, service: Service, out_of_domain: Mapping[str, Path] | None = None) -> Gateway:
    """Return a gateway in front of a service. From then on, the handlers of this process use that service.

    The cloud bundle contains the built leaderboard page; here its files are built when they are first requested.
    """
    wiring.use_service(service)
    wiring.use_page(Page(publication.GENERATED_FILES))
    handlers = load_handlers(template)
    return Gateway(template, handlers, lambda key: _is_known_key(service, key), out_of_domain=out_of_domain)


def local_server(
    template: SamTemplate,
    service: Service,
    address: tuple[str, int],
    out_of_domain: Mapping[str, Path] | None = None,
) -> HttpServer:
    """Return a server of a gateway in front of a service, with the time limits of API Gateway and of the functions.

    ``out_of_domain`` has the gzip files of the out-of-domain text by language, if they are to be downloaded here.
    """
    slowest = max(template.functions[route.function].timeout for route in template.routes)
    # In the cloud the functions reject larger bodies. Here all requests share one memory, so they are not even read.
    limits = ServerLimits(body_bytes=MAX_BODY_BYTES, response_seconds=min(GATEWAY_TIMEOUT_SECONDS, slowest))
    return HttpServer(address, local_gateway(template, service, out_of_domain), limits=limits)


def _is_known_key(service: Service, key: str) -> bool:
    try:
        service.authenticate(key)
    except InvalidKeyError:
        return False
    return True
