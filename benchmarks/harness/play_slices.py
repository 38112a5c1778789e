"""Plays slices of rounds on the functions of any commit, one for each line that it reads, and prints their CPU time.

A program for ``benchmarks/round_cost.py``, which runs it with the packages of one working tree or of another. It uses
only what all commits have: the functions that ``template.yaml`` names, the events of API Gateway, and the variable that
names the store.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from lambdas.handlers import read, score

API_KEY_VARIABLE = "BENCHMARK_API_KEY"


def play_slice(system: str) -> float:
    """Play a run of the dev phase by copying each source. Return the CPU time of a round in microseconds."""
    run = _call(read.handler, "POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
    sentence, rounds = _call(read.handler, "GET", f"/v1/runs/{run}/sentence"), 0
    start = time.process_time()
    while sentence:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        sentence = _call(score.handler, "POST", f"/v1/runs/{run}/translations", body)["next"]
        rounds += 1
    return 1e6 * (time.process_time() - start) / rounds


def _call(handler: Callable[..., Any], method: str, path: str, body: object = None) -> Any:
    event = {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": {"X-Api-Key": os.environ[API_KEY_VARIABLE]},
        "requestContext": {"requestId": "bench", "stage": "", "path": path},
        "body": json.dumps(body) if body else None,
        "isBase64Encoded": False,
    }
    response = handler(event, None)
    if response["statusCode"] != 200:
        raise RuntimeError(response["body"])
    return json.loads(response["body"])


if __name__ == "__main__":
    for number, _ in enumerate(sys.stdin):
        print(play_slice(f"system-{number}"), flush=True)
