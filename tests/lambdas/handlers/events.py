"""REST proxy events, as API Gateway sends them to the functions."""

import base64
import json
from types import SimpleNamespace

from lambdas.handlers import public, read, score

CONTEXT = SimpleNamespace(
    function_name="test", memory_limit_in_mb=512, invoked_function_arn="arn", aws_request_id="lambda-request"
)


def event(method, path, body=None, *, key=None, resource=None, raw=None, query=None, more=None):
    """Return an event. ``body`` becomes JSON; ``raw`` bytes are encoded in base64, as binary bodies are.

    ``more`` are further headers.
    """
    text = base64.b64encode(raw).decode() if raw is not None else (None if body is None else json.dumps(body))
    headers = {"Content-Type": "application/json", **({"X-Api-Key": key} if key is not None else {}), **(more or {})}
    return {
        "resource": resource or path,
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource or path,
            "httpMethod": method,
            "path": path,
            "stage": "v",
            "requestId": "request-1",
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "body": text,
        "isBase64Encoded": raw is not None,
    }


class Client:
    """Calls the functions with events, and returns the status, the body and the headers."""

    def __init__(self, key):
        self.key = key

    def send(self, function, method, path, body=None, **options):
        response = function.handler(event(method, path, body, **{"key": self.key, **options}), CONTEXT)
        headers = {name: values[0] for name, values in response["multiValueHeaders"].items()}
        assert headers["Content-Type"] == "application/json"
        return response["statusCode"], json.loads(response["body"]), headers

    def open_run(self, phase="mock", system="copy"):
        return self.send(read, "POST", "/v1/runs", {"phase": phase, "system": system})

    def run(self, run):
        return self.send(read, "GET", f"/v1/runs/{run}", resource="/v1/runs/{run}")

    def sentence(self, run):
        return self.send(read, "GET", f"/v1/runs/{run}/sentence", resource="/v1/runs/{run}/sentence")

    def leaderboard(self, phase):
        return self.send(public, "GET", f"/v1/leaderboard/{phase}", resource="/v1/leaderboard/{phase}")

    def translate(self, run, id=None, translation=None, **options):  # noqa: A002
        path, body = f"/v1/runs/{run}/translations", {"id": id, "translation": translation}
        return self.send(score, "POST", path, body, resource="/v1/runs/{run}/translations", **options)
