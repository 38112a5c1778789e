"""What the task says about itself, over HTTP: public, revalidated by its ETag, with a redirect to the text."""

import json

import pytest

from lambdas import wiring
from lambdas.handlers import public
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.task_record import write_task_record
from tests.lambdas import tasks
from tests.lambdas.handlers.events import CONTEXT, event
from tests.lambdas.test_task_record import RECORD


@pytest.fixture
def key(sqlite):
    tasks.load(sqlite)
    write_task_record(sqlite, RECORD)
    wiring.use_service(Service(sqlite, staleness=0))
    yield Registry(sqlite).add_participant("acme")
    wiring.use_service(None)


def ask(path="/v1/task", resource=None, **options):
    """Return status, headers and body."""
    response = public.handler(event("GET", path, resource=resource or path, **options), CONTEXT)
    return response["statusCode"], {k: v[0] for k, v in response["multiValueHeaders"].items()}, response["body"]


def test_no_key_is_needed(key):
    status, headers, body = ask()
    assert (status, headers["Content-Type"]) == (200, "application/json")
    told = json.loads(body)
    assert (told["title"], told["source"], told["target"]) == ("Übersetzen lernen", "de", "en")
    assert [phase["runs_left"] for phase in told["phases"]] == [None] * 3


def test_with_a_key_it_counts_the_runs_that_are_left(key):
    told = json.loads(ask(key=key)[2])
    assert [phase["runs_left"] for phase in told["phases"]] == [3, 1_000, 1_000]


def test_a_wrong_key_is_refused(key):
    status, _, body = ask(key="wrong")
    assert (status, json.loads(body)["code"]) == (403, "invalid_key")


def test_a_client_that_knows_it_already_is_told_only_that(key):
    etag = ask()[1]["ETag"]
    assert ask(more={"If-None-Match": etag})[0] == 304


def test_the_out_of_domain_text_is_where_the_organiser_has_it(key):
    resource = "/v1/task/out-of-domain/{language}"
    status, headers, _ = ask("/v1/task/out-of-domain/de", resource)
    assert (status, headers["Location"]) == (302, "https://example.org/text")
    status, _, body = ask("/v1/task/out-of-domain/fr", resource)
    assert (status, json.loads(body)["code"]) == (404, "not_found")
