"""A run in the formats that other tools read: records of RAGAS's shape, a TREC run, tables for a
spreadsheet."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

from ombud.errors import UnknownName
from ombud.lab.cases.exchange import qrels_lines, qrels_of, run_lines
from ombud.lab.report.comparing import RecordedRun
from ombud.types import Observation, Score

FORMATS: dict[str, str] = {
    "jsonl": "one observation a line: case, hits, answer with its trace, scores",
    "csv": "one case a line, one column a metric",
    "ragas": "records with user_input, retrieved_contexts, response, reference, reference_contexts",
    "trec": "a TREC run over documents, each at its best passage: `ombud lab run --rankings`",
    "qrels": "the cases' evidence as TREC qrels",
}


def export(recorded: RecordedRun, form: str) -> Iterator[str]:
    """Yield lines, each with its end; raises UnknownName for an unknown format."""
    if form not in _WRITERS:
        raise UnknownName(f"No format is called `{form}`.", hint=f"Known: {', '.join(FORMATS)}.")
    return (line + "\n" for line in _WRITERS[form](recorded))


def _jsonl(recorded: RecordedRun) -> Iterator[str]:
    by_case: dict[str, dict[str, Any]] = {}
    for score in recorded.scores:
        by_case.setdefault(score.case_id, {})[score.metric] = score.value
    for seen in recorded.observations:
        row = seen.model_dump(mode="json")
        row["scores"] = by_case.get(seen.case.id, {})
        yield _json(row)


def _csv(recorded: RecordedRun) -> Iterator[str]:
    metrics = recorded.metrics
    values = {metric: recorded.values(metric) for metric in metrics}
    yield _cells(
        [
            "id",
            "question",
            "type",
            "country",
            "persona",
            "expect",
            "outcome",
            "action",
            "error",
            "lost",
            *metrics,
        ]
    )
    for seen in recorded.observations:
        case = seen.case
        answer = seen.answer
        cells = [
            case.id,
            case.question,
            case.type,
            case.person.country or "",
            case.person.persona,
            case.expect,
            answer.outcome if answer else "",
            answer.action if answer else "",
            seen.error,
            seen.lost,
        ]
        for metric in metrics:
            cells.append(_figure(values[metric].get(case.id)))
        yield _cells(cells)


def _figure(score: Score | None) -> str:
    return "" if score is None or score.value is None else repr(score.value)


def _ragas(recorded: RecordedRun) -> Iterator[str]:
    for seen in recorded.observations:
        case = seen.case
        yield _json(
            {
                "id": case.id,
                "user_input": case.question,
                "retrieved_contexts": _contexts(seen),
                "retrieved_context_ids": [hit.chunk.uri for hit in seen.hits or ()],
                "response": seen.answer.text if seen.answer else "",
                "reference": case.references[0].text if case.references else "",
                "reference_contexts": [item.quote for item in case.evidence],
                "reference_context_ids": [item.document for item in case.evidence],
            }
        )


def _contexts(seen: Observation) -> list[str]:
    texts = []
    for hit in seen.hits or ():
        parts = (hit.chunk.header, hit.chunk.text)
        texts.append("\n".join(filter(None, parts)))
    return texts


def _trec(recorded: RecordedRun) -> Iterable[str]:
    rankings: dict[str, dict[str, float]] = {}
    for seen in recorded.observations:
        best = rankings.setdefault(seen.case.id, {})
        for hit in seen.hits or ():
            uri = hit.chunk.uri
            best[uri] = max(hit.score, best.get(uri, hit.score))
    return run_lines(rankings, recorded.run.name)


def _qrels(recorded: RecordedRun) -> Iterable[str]:
    return qrels_lines(qrels_of(recorded.cases))


def _cells(cells: list[str]) -> str:
    line = StringIO()
    # Cells with a character of the line's end are quoted, so both are named, and the end is taken
    # off again.
    writer = csv.writer(line, lineterminator="\r\n")
    writer.writerow(list(map(_harmless, cells)))
    return line.getvalue()[:-2]


def _harmless(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would take for a formula."""
    is_formula = cell[:1] in _FORMULA
    if cell.startswith("-"):
        is_formula = not _is_number(cell)
    return f"'{cell}" if is_formula else cell


_FORMULA = set("=+@\t\r\n＝＋－＠")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False)


_WRITERS: dict[str, Callable[[RecordedRun], Iterable[str]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "ragas": _ragas,
    "trec": _trec,
    "qrels": _qrels,
}
