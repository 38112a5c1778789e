"""The participants' SDK: take part in a banditmt shared task with any machine translation system.

This is a separate distribution (``banditmt-client``) that depends only on ``requests``. It contains the client side of
the public HTTP protocol and nothing else: it imports neither torch nor boto3, nor any other package of this project.

>>> from banditmt_client import Client
>>> with Client() as client:  # reads BANDITMT_API_KEY and BANDITMT_URL
...     run = client.open_run(phase="dev", system="my-system")
...     for sentence in run:  # resumes where the last process stopped
...         score = run.submit(translate(sentence.source))
...         learn(sentence, score)
"""

from banditmt_client._version import __version__
from banditmt_client.client import Client
from banditmt_client.connection import Connection
from banditmt_client.environment import TranslationEnvironment
from banditmt_client.errors import (
    AuthenticationError,
    BanditError,
    ConfigurationError,
    ConflictError,
    ConnectionFailedError,
    InvalidLogProbabilityError,
    InvalidRequestError,
    InvalidTranslationError,
    NotFoundError,
    OrderError,
    PhaseClosedError,
    ProtocolError,
    QuotaExceededError,
    RunFinishedError,
    ServerError,
    ServiceError,
    ThrottledError,
)
from banditmt_client.results import (
    OutOfDomainFile,
    OutOfDomainText,
    Phase,
    Progress,
    Round,
    Sentence,
    TaskInfo,
    TextConvention,
)
from banditmt_client.run import Run

__all__ = [
    "AuthenticationError",
    "BanditError",
    "Client",
    "ConfigurationError",
    "ConflictError",
    "Connection",
    "ConnectionFailedError",
    "InvalidLogProbabilityError",
    "InvalidRequestError",
    "InvalidTranslationError",
    "NotFoundError",
    "OrderError",
    "OutOfDomainFile",
    "OutOfDomainText",
    "Phase",
    "PhaseClosedError",
    "Progress",
    "ProtocolError",
    "QuotaExceededError",
    "Round",
    "Run",
    "RunFinishedError",
    "Sentence",
    "ServerError",
    "ServiceError",
    "TaskInfo",
    "TextConvention",
    "ThrottledError",
    "TranslationEnvironment",
    "__version__",
]
