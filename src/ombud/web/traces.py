"""OpenTelemetry traces, where `OTEL_EXPORTER_OTLP_ENDPOINT` says who takes them: a span for each
request, below it one for each answer, and below that its steps. Numbers and names, no words of
anybody; what asked us and what we ask are joined by the standard header (W3C Trace Context)."""

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry import context as contexts
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ombud.types import Answer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

logger = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
NANO = 1_000_000_000
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines; nobody looks at their spans."""


def open_tracing(version: str) -> "TracerProvider | None":
    """Return what sends the spans; None if the environment configures nobody, or the extra is
    missing, which is logged."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        logger.warning("No traces are sent: pip install 'ombud[telemetry]'")
        return None
    name = os.environ.get("OTEL_SERVICE_NAME", "ombud")
    resource = Resource.create({"service.name": name, "service.version": version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class RequestTracer:
    """A span for each request, as OpenTelemetry's conventions for HTTP servers name it."""

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self.app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET:
            await self.app(scope, receive, send)
            return
        parent = propagate.extract(dict(Headers(scope=scope)))
        span = self._tracer.start_span(scope["method"], context=parent, kind=SpanKind.SERVER)
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        token = contexts.attach(trace.set_span_in_context(span, parent))
        try:
            await self.app(scope, receive, noted)
        finally:
            contexts.detach(token)
            # The route, never the path: it may hold an id.
            route = getattr(scope.get("route"), "path", "")
            span.update_name(f"{scope['method']} {route}".strip())
            span.set_attribute("http.request.method", scope["method"])
            span.set_attribute("http.response.status_code", status)
            if route:
                span.set_attribute("http.route", route)
            if status >= 500:
                span.set_status(Status(StatusCode.ERROR))
            span.end()


def answer_spans(tracer: Tracer) -> Callable[[Answer], None]:
    """Record the spans of an answer after it is given. Steps are laid end to end, though some ran
    in parallel."""

    def hear(answer: Answer) -> None:
        steps = dict(answer.trace.seconds)
        total = steps.pop("total", sum(steps.values()))
        end = time.time_ns()
        began = end - int(total * NANO)
        span = tracer.start_span("answer", start_time=began, attributes=_facts(answer))
        inside = trace.set_span_in_context(span)
        for name, seconds in steps.items():
            step = tracer.start_span(name, context=inside, start_time=began)
            began = min(end, began + int(seconds * NANO))
            step.end(began)
        span.end(end)

    return hear


def _facts(answer: Answer) -> dict[str, Any]:
    trace = answer.trace
    facts: dict[str, Any] = {
        "ombud.outcome": answer.outcome,
        "ombud.action": answer.action,
        "ombud.path": trace.path,
        "ombud.citations": len(answer.citations),
        "ombud.degraded": list(trace.degraded),
        "ombud.index_version": trace.index_version,
        "gen_ai.usage.input_tokens": trace.tokens_in,
        "gen_ai.usage.output_tokens": trace.tokens_out,
    }
    if trace.model:
        facts["gen_ai.request.model"] = trace.model
    return facts
