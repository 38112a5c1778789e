"""The page in front of the API."""

import gzip
import json

import pytest

from leaderboard import page
from simulator.cloud.messages import Refusal, Request, Response
from simulator.cloud.site import MADE, Site


class Api:
    def answer(self, request):
        return Response(200, [], b"the API")

    def admit(self, request):
        return Response(403, [], request.path.encode())

    def refuse(self, refusal):
        return Response(refusal.value, [], b"refused by the API")


@pytest.fixture
def site():
    return Site(Api(), lambda: ["mock", "dev"])


def ask(site, path, method="GET", **headers):
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    response = site.answer(Request(method, path, "", named, b"", "127.0.0.1"))
    return response, dict(response.headers)


def test_the_front_page_has_a_strict_policy(site):
    response, headers = ask(site, "/")
    assert response.body == (page.SITE / "index.html").read_bytes()
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
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


def test_files_come_with_their_types(site):
    assert ask(site, "/style.css")[1]["Content-Type"] == "text/css; charset=utf-8"
    assert ask(site, "/page.js")[1]["Content-Type"] == "text/javascript; charset=utf-8"
    assert ask(site, "/icon.svg")[1]["Content-Type"] == "image/svg+xml"
    assert "regret" in json.loads(ask(site, "/charts.json")[0].body)


def test_what_is_known_is_not_sent_again(site):
    etag = ask(site, "/style.css")[1]["ETag"]
    response, headers = ask(site, "/style.css", if_none_match=etag)
    assert (response.status, response.body, headers["ETag"]) == (304, b"", etag)
    assert ask(site, "/style.css", if_none_match='"other"')[0].status == 200


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5, br", True),
        ("gzip;q=1.0", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("br", False),
        ("not-gzip", False),
        ("", False),
    ],
)
def test_files_are_compressed_for_those_who_can_read_it(site, accepted, compressed):
    response, headers = ask(site, "/style.css", accept_encoding=accepted)
    assert ("Content-Encoding" in headers) == compressed
    assert (gzip.decompress(response.body) if compressed else response.body) == (page.SITE / "style.css").read_bytes()


def test_the_settings_name_the_phases_of_now(site):
    response, _ = ask(site, "/page.json")
    assert json.loads(response.body) == {
        "phases": ["mock", "dev"],
        "data": "v1/leaderboard/{phase}",
        "table": "v1/leaderboard/{phase}?format=csv",
        "live": True,
    }


@pytest.mark.parametrize(
    "path", ["/v1/phases", "/health", "/unknown", "//", "/../page.py", "/%2e%2e/page.py", "/data/dev.json"]
)
def test_everything_else_is_the_apis(site, path):
    assert ask(site, path)[0].body == b"the API"


def test_only_reading_is_answered_here(site):
    assert ask(site, "/", method="HEAD")[0].status == 200
    assert ask(site, "/", method="POST")[0].body == b"the API"


def test_strangers_are_turned_away_by_the_api(site):
    refused = site.admit(Request("POST", "/v1/runs", "", [], b"", "127.0.0.1"))
    assert (refused.status, refused.body) == (403, b"/v1/runs")


def test_refusals_are_worded_by_the_api(site):
    assert site.refuse(Refusal.BUSY) == Response(503, [], b"refused by the API")


def test_the_library_is_made_once(site, monkeypatch):
    contents = iter([b"drawing", b"drawing again"])
    monkeypatch.setitem(MADE, "vega.js", lambda: next(contents))
    assert [ask(site, "/vega.js")[0].body for _ in range(3)] == [b"drawing"] * 3
