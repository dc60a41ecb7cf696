"""What a monitoring system reads, by Prometheus' own parser."""

from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from ombud.app import Workspace
from web.running import running

LEAVE = {"question": "How many days of annual leave do I get?", "person": {"country": "GB"}}


@pytest.fixture
def counted(workspace: Workspace) -> Iterator[str]:
    """A server that has counted nothing yet."""
    with closing(Workspace(workspace.home, workspace.flags)) as own, running(own) as url:
        yield url


def read(client: httpx.Client) -> dict[str, float]:
    """`name{labels}` -> value."""
    response = client.get("/metrics")
    assert response.status_code == 200
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_answers_and_requests_are_counted_by_what_came_of_them(counted: str) -> None:
    with httpx.Client(base_url=counted, timeout=30) as client:
        for _ in range(2):
            assert client.post("/api/v1/ask", json=LEAVE).status_code == 200
        assert client.post("/api/v1/ask", json={"question": ""}).status_code == 422
        assert client.get("/secret-word-of-somebody").status_code == 404
        assert client.get("/api/v1/documents/abc").status_code == 404
        found = read(client)
        assert found["ombud_answers_total{action=none,outcome=full}"] == 2
        assert found["ombud_answer_seconds_count"] == 2
        assert found["ombud_answer_seconds_sum"] > 0
        asked = "method=POST,route=/api/v1/ask"
        assert found[f"ombud_http_requests_total{{{asked},status=200}}"] == 2
        assert found[f"ombud_http_requests_total{{{asked},status=422}}"] == 1
        one = "method=GET,route=/api/v1/documents/{document_id},status=404"
        assert found[f"ombud_http_requests_total{{{one}}}"] == 1
        assert found["ombud_http_requests_total{method=GET,route=unknown,status=404}"] == 1
        assert found["ombud_passages"] > 5
        assert found["ombud_handed_over{state=queued}"] == 0
        assert found["ombud_price_us_dollars_total"] == 0


def test_no_word_of_anybody_stands_in_it(counted: str) -> None:
    with httpx.Client(base_url=counted, timeout=30) as client:
        client.post("/api/v1/ask", json=LEAVE | {"person": {"id": "ann-7", "country": "GB"}})
        client.get("/secret-word-of-somebody", params={"q": "another-secret"})
        text = client.get("/metrics").text
    for word in ("secret", "annual", "ann-7", "GB"):
        assert word not in text


def test_open_connections_are_counted(counted: str) -> None:
    with httpx.Client(base_url=counted, timeout=30) as client:
        client.get("/")
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        live = counted.replace("http", "ws") + "/live"
        with connect(live, additional_headers={"cookie": cookies}) as opened:
            opened.send('{"ping": 1}')
            opened.recv(timeout=20)
            assert read(client)["ombud_live_connections"] == 1


def test_it_can_be_switched_off(workspace: Workspace) -> None:
    flags = {**workspace.flags, "server": {"metrics": False}}
    with closing(Workspace(workspace.home, flags)) as own, running(own) as url:
        assert httpx.get(f"{url}/metrics").status_code == 404
        assert httpx.post(f"{url}/api/v1/ask", json=LEAVE, timeout=30).status_code == 200
