"""Logger, tracer and metrics of all functions, in one place.

Neither events nor responses are logged or traced, because they contain API keys and translations. Metrics are written
to the log in the embedded metric format (EMF), which CloudWatch turns into metrics without an API call.
"""

import logging

from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

SERVICE = "banditmt"
NAMESPACE = "banditmt"

logger = Logger(service=SERVICE, log_uncaught_exceptions=False)
tracer = Tracer(service=SERVICE, auto_patch=False)

# Below INFO these two libraries log every request and response, and with them the blocks of references.
for library in ("botocore", "urllib3"):
    logging.getLogger(library).setLevel(logging.INFO)


def count_refusal(route: str, code: str) -> None:
    """Write one EMF line for a request that was refused or failed, with its route and error code.

    Requests that succeed write nothing: API Gateway counts and times them already, and one log line for each of
    millions of rounds would cost more than writing the round.
    """
    metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
    metrics.add_dimension(name="route", value=route)
    metrics.add_dimension(name="code", value=code)
    metrics.add_metric(name="Refusals", unit=MetricUnit.Count, value=1)
    metrics.flush_metrics()
