"""Logger, tracer and metrics of all functions, in one place.

Neither events nor responses are logged or traced: they hold keys and translations. Metrics are EMF lines in the log,
which CloudWatch turns into metrics without a call.
"""

import logging

from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

SERVICE = "banditmt"
NAMESPACE = "banditmt"

logger = Logger(service=SERVICE, log_uncaught_exceptions=False)
tracer = Tracer(service=SERVICE, auto_patch=False)

# Below INFO these two write out every request and response, and with them the blocks of references.
for library in ("botocore", "urllib3"):
    logging.getLogger(library).setLevel(logging.INFO)


def count_refusal(route: str, code: str) -> None:
    """One request that was refused or failed, by route and code: one EMF line.

    Answered requests write nothing: API Gateway counts and times them already, and a line for each of millions of
    rounds would cost more than the round's write.
    """
    metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
    metrics.add_dimension(name="route", value=route)
    metrics.add_dimension(name="code", value=code)
    metrics.add_metric(name="Refusals", unit=MetricUnit.Count, value=1)
    metrics.flush_metrics()
