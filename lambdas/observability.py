"""Logger and metrics of all functions, in one place.

Neither events nor responses are logged, because they contain API keys and translations. Metrics are written to the log
in the embedded metric format (EMF), which CloudWatch turns into metrics without an API call.

Traces need no code. API Gateway and Lambda record the segments of a sampled request by themselves (``TracingEnabled``
and ``Tracing: Active`` in the template): its time in the gateway, in the queue, in a cold start and in the function.
The logger adds the id of the trace to every line. The X-Ray SDK would add segments within a function, but reaches its
end of support in February 2027.
"""

import logging

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

SERVICE = "banditmt"
NAMESPACE = "banditmt"

logger = Logger(service=SERVICE, log_uncaught_exceptions=False)

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
