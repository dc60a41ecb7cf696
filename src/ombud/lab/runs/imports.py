"""Answers that were given elsewhere, as runs: traces of the GenAI conventions of OpenTelemetry
(OpenInference's names too), Langfuse exports, RAGAS records, and runs that `lab export` wrote.

They are scored and compared as any other run; what a trace does not say is not measured."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ombud.errors import LabError
from ombud.lab.cases.exchange import read_text
from ombud.lab.cases.formats import answer_text, case_fields, question_and_history, question_id
from ombud.lab.cases.formats import records as records_of
from ombud.lab.metrics.metric import Instruments, Metric
from ombud.lab.metrics.parsing import score, split_judged, versions_of
from ombud.lab.runs.running import digest_of
from ombud.lab.runs.systems import SystemReply, read_reply
from ombud.store import Done, Store, save_done, start_run
from ombud.types import Case, Message, Observation, Run

Attributes = Mapping[str, Any]
_INPUTS = ("gen_ai.input.messages", "gen_ai.prompt", "langfuse.observation.input", "input.value")
_OUTPUTS = (
    *("gen_ai.output.messages", "gen_ai.completion", "langfuse.observation.output"),
    "output.value",
)
_TOKENS_IN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_TOKENS_OUT = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "llm.token_count.completion",
)


class Span(NamedTuple):
    """A step of a trace."""

    trace: str
    parent: str
    started: float
    """Seconds."""
    ended: float
    attributes: Attributes


def read_answers(path: Path, cases: Sequence[Case] = ()) -> tuple[Observation, ...]:
    """Read an observation for each question that was answered, the last where it was asked twice.

    cases: a question that one of them asks is that case, with its reference and evidence; without
    them every question is a case of its own. Raises LabError naming file and line.
    """
    answered: dict[str, Observation] = {}
    for seen in _read_all(path):
        answered[_plain(seen.case.question)] = seen
    if not answered:
        raise LabError(f"{path}: no question with an answer in it.", hint=_KNOWN)
    if not cases:
        return tuple(answered.values())
    by_question = {_plain(case.question): case for case in cases}
    matching = [
        seen.model_copy(update={"case": by_question[question]})
        for question, seen in answered.items()
        if question in by_question
    ]
    if not matching:
        raise LabError(f"{path}: none of its {len(answered)} questions is one of the cases.")
    return tuple(matching)


def _read_all(path: Path) -> Iterator[Observation]:
    """Read every record that is no span, then every trace."""
    spans: dict[str, list[Span]] = {}
    for place, record in _placed_records(path):
        try:
            steps = list(_spans(record))
            seen = None if steps else _observation(record)
        except (LabError, ValidationError, ValueError, TypeError, AttributeError) as wrong:
            raise LabError(f"{path}, line {place}: {wrong}", hint=_KNOWN) from wrong
        except KeyError as missing:
            raise LabError(f"{path}, line {place}: {missing} is missing.", hint=_KNOWN) from missing
        for span in steps:
            spans.setdefault(span.trace, []).append(span)
        if seen is not None:
            yield seen
    yield from filter(None, map(_of_trace, spans.values()))


_KNOWN = (
    "Known: OTel spans with gen_ai.* attributes, Langfuse traces, RAGAS records with a response, "
    "and `ombud lab export --format jsonl`."
)


def import_run(
    store: Store, name: str, dataset: str, seen: Sequence[Observation], metrics: Sequence[Metric]
) -> Run:
    """Keep the answers as a finished run, with its computed scores."""
    computed, _ = split_judged(metrics)
    now = datetime.now(UTC)
    digest = digest_of([one.case for one in seen])
    run = Run(
        id=uuid.uuid4().hex[:8],
        name=name,
        dataset=dataset,
        dataset_digest=digest,
        split="open",
        target="import",
        config={"system": "import", "metrics": list(map(str, metrics))},
        digest=digest,
        cases=len(seen),
        state="done",
        started=now,
        ended=now,
        notes=("Answers from elsewhere: not asked by the lab.",),
    )
    start_run(store, run)
    rows = []
    for place, one in enumerate(seen):
        rows.append(Done(place, one, score(one, computed, Instruments())))
    save_done(store, run.id, rows, versions_of(computed))
    return run


def _placed_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        rows = list(_records(read_text(path)))
    except (ValueError, RecursionError) as wrong:
        raise LabError(f"{path}: not valid JSON: {wrong}.", hint=_KNOWN) from wrong
    for number, row in rows:
        if not isinstance(row, dict):
            raise LabError(f"{path}, line {number}: not a JSON object.", hint=_KNOWN)
        yield number, row


def _records(text: str) -> Iterator[tuple[int, Any]]:
    """Parse a list, one object, or one object a line."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except json.JSONDecodeError as wrong:
                    raise ValueError(f"line {number}: {wrong.msg}") from wrong
        return
    if isinstance(whole, dict) and not whole.keys() & {"data", "examples", "items"}:
        yield 1, whole
    else:
        yield from records_of(text)


def _observation(row: dict[str, Any]) -> Observation | None:
    """Read a record that is not a span; None if it has no answer."""
    if isinstance(row.get("case"), dict):
        fields = {key: value for key, value in row.items() if key != "scores"}
        return Observation.model_validate(fields)
    if isinstance(row.get("trace"), dict):  # as Langfuse's pages save one
        row = {**row["trace"], "observations": row.get("observations", [])}
    if "user_input" in row or "question" in row:
        answer = row.get("response", row.get("answer"))
        contexts = row.get("retrieved_contexts", row.get("contexts"))
        ids = row.get("retrieved_context_ids")
        if answer is None:
            return None
        case = Case.model_validate(case_fields({"contexts": None, **row}))
        return read_reply({"answer": answer, "contexts": contexts, "ids": ids}).observed(case, None)
    return _of_langfuse(row)


def _of_langfuse(row: Mapping[str, Any]) -> Observation | None:
    steps = [one for one in row.get("observations") or () if isinstance(one, Mapping)]
    answer = answer_text(row.get("output"))
    if not answer:
        return None
    usages = [one.get("usageDetails") or one.get("usage") or {} for one in steps]
    price, latency = row.get("totalCost"), row.get("latency")
    reply = SystemReply(
        answer=answer,
        tokens_in=_sum(usage.get("input") for usage in usages),
        tokens_out=_sum(usage.get("output") for usage in usages),
        price=price if isinstance(price, int | float) else None,
        **_passages(map(_retrieved, steps)),
    )
    seconds = float(latency) if isinstance(latency, int | float) else None
    return _seen(row.get("input"), reply, seconds)


def _retrieved(step: Mapping[str, Any]) -> list[Any] | None:
    """Return the passages of a Langfuse step; None if it did not search."""
    if "retriev" not in f"{step.get('type')} {step.get('name')}".lower():
        return None
    output = step.get("output")
    listed = output.get("documents", output.get("hits")) if isinstance(output, dict) else output
    return listed if isinstance(listed, list) else []


def _of_trace(steps: Sequence[Span]) -> Observation | None:
    """Return the question of the first step that has one and the answer of the outermost, else of
    the last."""
    ordered = sorted(steps, key=lambda span: span.started)
    facts = [span.attributes for span in ordered]
    outermost = [span.attributes for span in ordered if not span.parent] + facts[::-1]
    question_input = next(filter(None, (_first(one, _INPUTS) for one in facts)), None)
    answer = next(filter(None, (answer_text(_first(one, _OUTPUTS)) for one in outermost)), "")
    if not question_input or not answer:
        return None
    reply = SystemReply(
        answer=answer,
        tokens_in=_sum(_first(one, _TOKENS_IN) for one in facts),
        tokens_out=_sum(_first(one, _TOKENS_OUT) for one in facts),
        model=next(filter(None, (one.get("gen_ai.request.model") for one in facts)), ""),
        **_passages(map(_documents, facts)),
    )
    seconds = max(span.ended for span in steps) - ordered[0].started
    return _seen(question_input, reply, seconds)


def _seen(question_input: Any, reply: SystemReply, seconds: float | None) -> Observation | None:
    question, history = question_and_history(question_input)
    if not question:
        return None
    turns = tuple(Message.model_validate(turn) for turn in history)
    case = Case(id=question_id(question), question=question, history=turns)
    return reply.observed(case, seconds)


def _passages(searches: Iterable[list[Any] | None]) -> dict[str, Any]:
    """Collect `contexts` and `ids` of all searches, each only if every passage has it; empty
    without a search."""
    done = [passages_of_one for passages_of_one in searches if passages_of_one is not None]
    passages = [passage for passages_of_one in done for passage in passages_of_one]
    parts = {
        "contexts": tuple(map(_passage_text, passages)),
        "ids": tuple(map(_passage_id, passages)),
    }
    return {name: values for name, values in parts.items() if done and all(values)}


def _passage_text(passage: Any) -> str:
    if isinstance(passage, str):
        return passage
    inner = passage.get("document", passage)
    inner = inner if isinstance(inner, Mapping) else passage
    keys = ("content", "page_content", "pageContent", "text")
    return str(next((inner[key] for key in keys if isinstance(inner.get(key), str)), ""))


def _passage_id(passage: Any) -> str:
    if not isinstance(passage, Mapping):
        return ""
    metadata = passage.get("metadata")
    source = metadata.get("source") if isinstance(metadata, Mapping) else None
    name = source or passage.get("source") or passage.get("id")
    return "" if name is None else str(name)


def _documents(attributes: Attributes) -> list[Any] | None:
    """Return the passages of a search; None for a step that did not search."""
    documents = attributes.get("gen_ai.retrieval.documents")
    if documents is not None:
        listed = json.loads(documents) if isinstance(documents, str) else documents
        return list(listed) if isinstance(listed, list) else None
    by_place: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        parts = key.removeprefix("retrieval.documents.").split(".")
        if key.startswith("retrieval.documents.") and parts[0].isdigit():
            by_place.setdefault(int(parts[0]), {})[parts[-1]] = value
    return [by_place[place] for place in sorted(by_place)] if by_place else None


# Spans --------------------------------------------------------------------------------------------


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Read OTLP as collectors write it, or one span as the SDK's console writes it."""
    for resource in record.get("resourceSpans", record.get("resource_spans", ())):
        for scope in resource.get("scopeSpans", resource.get("scope_spans", ())):
            for span in scope["spans"]:
                yield Span(
                    trace=str(span["traceId"]),
                    parent=str(span.get("parentSpanId") or ""),
                    started=int(span["startTimeUnixNano"]) / 1e9,
                    ended=int(span["endTimeUnixNano"]) / 1e9,
                    attributes={one["key"]: _value(one["value"]) for one in _attributes(span)},
                )
    context = record.get("context")
    if isinstance(context, Mapping) and "trace_id" in context:
        attributes: dict[str, Any] = {}
        for event in record.get("events", ()):
            attributes |= event.get("attributes") or {}
        yield Span(
            trace=str(context["trace_id"]),
            parent=str(record.get("parent_id") or ""),
            started=datetime.fromisoformat(record["start_time"]).timestamp(),
            ended=datetime.fromisoformat(record["end_time"]).timestamp(),
            attributes={**attributes, **(record.get("attributes") or {})},
        )


def _attributes(span: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the attributes of a span's events, then its own."""
    for event in span.get("events", ()):
        yield from event.get("attributes", ())
    yield from span.get("attributes", ())


def _value(value: Mapping[str, Any]) -> Any:
    inner: Any = None
    kind, inner = next(iter(value.items()), ("", None))
    if kind == "intValue":
        return int(inner)
    if kind == "arrayValue":
        return [_value(one) for one in inner.get("values", ())]
    if kind == "kvlistValue":
        return {one["key"]: _value(one["value"]) for one in inner.get("values", ())}
    return inner


def _first(attributes: Attributes, keys: Iterable[str]) -> Any:
    for key in keys:
        if attributes.get(key) not in (None, ""):
            return attributes[key]
    return None


def _sum(counts: Iterable[Any]) -> int | None:
    """Add up counts; None if nothing was counted."""
    numbers = [int(count) for count in counts if isinstance(count, int | float)]
    return sum(numbers) if numbers else None


def _plain(question: str) -> str:
    return " ".join(question.split()).casefold()
