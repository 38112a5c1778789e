"""The leaderboard page, as the public function serves it."""

import json

import pytest

from lambdas import wiring
from lambdas.handlers import public
from lambdas.service import Service
from leaderboard.page import SITE_FOLDER, Page
from tests.lambdas import tasks
from tests.lambdas.handlers.events import CONTEXT, event


@pytest.fixture(autouse=True)
def page(sqlite):
    tasks.load(sqlite)
    wiring.use_service(Service(sqlite))
    wiring.use_page(Page({"charts.json": lambda: b"{}"}))
    yield
    wiring.use_service(None)
    wiring.use_page(None)


def ask(path, **headers):
    """Status, headers and body."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    resource = "/" if path == "/" else "/{file}"
    response = public.handler(event("GET", path, resource=resource, more=more), CONTEXT)
    return response["statusCode"], {k: v[0] for k, v in response["multiValueHeaders"].items()}, response["body"]


def test_the_front_page_needs_no_key_and_has_a_strict_policy():
    status, headers, body = ask("/")
    assert (status, body) == (200, (SITE_FOLDER / "index.html").read_text())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("style.css", "text/css; charset=utf-8"),
        ("page.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
        ("charts.json", "application/json"),
    ],
)
def test_files_have_their_content_types(name, content_type):
    status, headers, _ = ask(f"/{name}")
    assert (status, headers["Content-Type"]) == (200, content_type)


def test_an_unchanged_file_is_not_sent_again():
    _, first, body = ask("/style.css")
    status, headers, nothing = ask("/style.css", If_None_Match=first["ETag"])
    assert (status, nothing or "", headers["ETag"]) == (304, "", first["ETag"])
    assert ask("/style.css", If_None_Match='"other"')[2] == body


def test_the_settings_name_the_phases_and_where_their_boards_are():
    assert json.loads(ask("/page.json")[2]) == {
        "phases": ["training", "mock", "dev"],
        "data": "v1/leaderboard/{phase}",
        "table": "v1/leaderboard/{phase}?format=csv",
        "task": "v1/task",
        "live": True,
    }


@pytest.mark.parametrize("name", ["unknown", "vega.js", "..", "..%2fpage.py", "%2e%2e", "v1", "HEALTH", "page.py"])
def test_there_are_no_other_files(name):
    status, _, body = ask(f"/{name}")
    assert (status, json.loads(body)["code"]) == (404, "not_found")
