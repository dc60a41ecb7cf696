"""`/metrics`: what a monitoring system reads (Prometheus' text format). Numbers alone: nothing of
what anybody asked, and nothing by which a person could be told."""

import logging
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client import generate_latest as text_of
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ombud.app import DEVIATIONS, Workspace, sync_progress
from ombud.channels import AskingPlaces
from ombud.index import blocking
from ombud.store import desk_statuses, list_sessions, read_progress
from ombud.types import Answer
from ombud.web.logs import ACCESS

ANSWER_BUCKETS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds: without a chat model an answer takes tenths of a second, with one several seconds."""
REQUEST_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
UNKNOWN = "unknown"
"""For a path that is no route: what somebody typed is no label."""

router = APIRouter(include_in_schema=False)


class Meters:
    """The meters of one server."""

    def __init__(self, workspace: Workspace, places: AskingPlaces) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "ombud_answers",
            "Answers given, by what came of the question.",
            ("outcome", "action"),
            registry=self.registry,
        )
        self.answer_seconds = Histogram(
            "ombud_answer_seconds",
            "From the question to the whole answer.",
            buckets=ANSWER_BUCKETS,
            registry=self.registry,
        )
        self.degraded = Counter(
            "ombud_degraded_answers",
            "Answers that did without a step that failed, such as the chat model.",
            registry=self.registry,
        )
        self.model_calls = Counter(
            "ombud_model_calls", "Requests to models, failed ones too.", registry=self.registry
        )
        self.tokens = Counter(
            "ombud_tokens", "Tokens of chat models.", ("direction",), registry=self.registry
        )
        self.price = Counter(
            "ombud_price_us_dollars",
            "What models cost, as far as prices are known.",
            registry=self.registry,
        )
        self.requests = Counter(
            "ombud_http_requests",
            "HTTP requests by route.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "ombud_http_request_seconds",
            "Until the whole response was sent; of streams that is the whole answer.",
            ("route",),
            buckets=REQUEST_BUCKETS,
            registry=self.registry,
        )
        self.connections = Gauge(
            "ombud_live_connections", "Open live connections.", registry=self.registry
        )
        waiting = Gauge(
            "ombud_questions_waiting",
            "Questions that wait for their turn to be answered.",
            registry=self.registry,
        )
        waiting.set_function(lambda: places.waiting)
        self.registry.register(_State(workspace))

    def hear(self, answer: Answer) -> None:
        """Count an answer."""
        trace = answer.trace
        self.answers.labels(answer.outcome, answer.action).inc()
        self.answer_seconds.observe(trace.seconds.get("total", 0.0))
        if trace.degraded:
            self.degraded.inc()
        self.model_calls.inc(trace.calls)
        self.tokens.labels("in").inc(trace.tokens_in)
        self.tokens.labels("out").inc(trace.tokens_out)
        self.price.inc(trace.price or 0.0)


class _State(Collector):
    """A snapshot for one scrape."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def collect(self) -> Iterator[Metric]:
        stats = blocking(self._workspace.engine.stats())
        yield GaugeMetricFamily("ombud_passages", "Passages in the index.", value=stats.chunks)
        handed = GaugeMetricFamily(
            "ombud_handed_over", "Conversations with a person, or on the way.", labels=("state",)
        )
        store = self._workspace.store
        sessions = list_sessions(store, ("queued", "live"))
        states = [session.state for session in sessions]
        for state in ("queued", "live"):
            handed.add_metric((state,), states.count(state))
        yield handed
        since = [one.since for one in sessions if one.state == "queued" and one.since]
        yield GaugeMetricFamily(
            "ombud_handed_over_wait_seconds",
            "How long whoever waits longest has been waiting for a person; 0 = nobody waits.",
            value=(datetime.now(UTC) - min(since)).total_seconds() if since else 0.0,
        )
        outbox = GaugeMetricFamily(
            "ombud_desk_messages",
            "Messages not yet with a desk; parked ones failed repeatedly and are shown as "
            "undelivered.",
            labels=("desk", "state"),
        )
        for desk in desk_statuses(store):
            outbox.add_metric((desk.desk, "waiting"), desk.waiting)
            outbox.add_metric((desk.desk, "parked"), desk.parked)
        yield outbox
        errors = CounterMetricFamily(
            "ombud_model_errors",
            "Requests to a chat model after which there was no reply, retries included as one.",
            labels=("model",),
        )
        for model, count in self._workspace.models.errors().items():
            errors.add_metric((model,), count)
        yield errors
        watched = GaugeMetricFamily(
            "ombud_watched_cases_fell",
            "1 while the last run of the cases in lab.every fell beyond noise, else 0.",
        )
        deviations = read_progress(store, DEVIATIONS)
        if deviations:
            watched.add_metric((), float(bool(deviations["falls"])))
        yield watched
        sync = sync_progress(self._workspace.store)
        yield GaugeMetricFamily(
            "ombud_sync_said_timestamp_seconds",
            "When a sync last said how far it is, in seconds since 1970; 0 = never.",
            value=float(sync.get("at", 0.0)),
        )
        yield GaugeMetricFamily(
            "ombud_sync_failed_documents",
            "Documents that the last sync could not read.",
            value=len(sync.get("failed", ())),
        )
        yield from _quality(deviations)


def _quality(state: Mapping[str, Any]) -> Iterator[Metric]:
    """Yield the last comparison of the repeated cases with the pinned baseline."""
    yield GaugeMetricFamily(
        "ombud_lab_deviations",
        "Deviations of the last run of the repeated cases from the pinned baseline.",
        value=len(state.get("falls", ())),
    )
    means = GaugeMetricFamily(
        "ombud_lab_mean",
        "Mean of a metric over the repeated cases.",
        labels=("metric", "run"),
    )
    for metric, mean in state.get("means", {}).items():
        for run in ("baseline", "now"):
            if mean[run] is not None:
                means.add_metric((metric, run), mean[run])
    yield means


@router.get("/metrics")
def exposition(request: Request) -> Response:
    meters: Meters = request.app.state.meters
    return Response(text_of(meters.registry), media_type=CONTENT_TYPE_LATEST)


class RequestMeter:
    """Counts and times requests by the route that took them."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self.app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with self._meters.connections.track_inprogress():
                await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        try:
            await self.app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", UNKNOWN)
            self._meters.requests.labels(scope["method"], route, str(status)).inc()
            seconds = time.perf_counter() - began
            self._meters.request_seconds.labels(route).observe(seconds)
            if ACCESS.isEnabledFor(logging.INFO):
                facts = {
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "seconds": round(seconds, 4),
                }
                ACCESS.info("request", extra={"facts": facts})
