"""Spans as a collector gets them: real OTLP over HTTP, read by OpenTelemetry's own messages."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from web.running import make_workspace, running

collected = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
    reason="the extra `telemetry` is not installed",
)
PARENT = "4bf92f3577b34da6a3ce929d0e0e4736"
WORDS = "annual leave"


class Collector(ThreadingHTTPServer):
    bodies: list[bytes]


class _Takes(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.bodies.append(body)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector(("127.0.0.1", 0), _Takes)
    server.bodies = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_request_its_answer_and_the_steps_are_one_trace_without_words(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"http://127.0.0.1:{collector.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    made = make_workspace(tmp_path)
    headers = {"traceparent": f"00-{PARENT}-00f067aa0ba902b7-01"}
    with running(made) as url:
        body = {"question": f"How many days of {WORDS}?", "person": {"country": "GB"}}
        answer = httpx.post(f"{url}/api/v1/ask", json=body, headers=headers, timeout=60).json()
        httpx.get(f"{url}/healthz")
    made.close()
    spans: dict[str, Any] = {}
    for sent in collector.bodies:
        request = collected.ExportTraceServiceRequest.FromString(sent)
        for resource in request.resource_spans:
            names = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert names["service.name"] == "ombud"
            for scope in resource.scope_spans:
                spans |= {span.name: span for span in scope.spans}
    request_span, answer_span = spans["POST /api/v1/ask"], spans["answer"]
    assert request_span.trace_id.hex() == PARENT
    assert answer_span.trace_id.hex() == PARENT
    assert answer_span.parent_span_id == request_span.span_id
    facts = {one.key: one.value for one in answer_span.attributes}
    assert facts["ombud.outcome"].string_value == answer["outcome"]
    steps = [span for span in spans.values() if span.parent_span_id == answer_span.span_id]
    assert {span.name for span in steps} == set(answer["trace"]["seconds"]) - {"total"}
    total = (answer_span.end_time_unix_nano - answer_span.start_time_unix_nano) / 1e9
    assert total == pytest.approx(answer["trace"]["seconds"]["total"], abs=1e-4)
    assert WORDS not in str(collector.bodies)
    assert "GET /healthz" not in spans


def test_a_collector_that_is_not_there_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    made = make_workspace(tmp_path)
    with running(made) as url:
        asked = {"question": "How many days of annual leave?", "person": {"country": "GB"}}
        assert httpx.post(f"{url}/api/v1/ask", json=asked, timeout=60).status_code == 200
    made.close()
