"""Records of other tools as the fields of a case: RAGAS (both generations), LangSmith, Langfuse,
Phoenix.

What a system answered or retrieved is no part of a case: `runs.imports` reads that."""

import ast
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import jmespath

from ombud.errors import LabError

QUESTION_KEYS = ("question", "query", "user_input", "input", "prompt", "text", "content", "value")
ANSWER_KEYS = ("answer", "output", "reference", "expected", "response", "text", "content", "value")
_PARTS = ("inputs", "input", "outputs", "output", "metadata")
_OLD_RAGAS = {"ground_truth", "ground_truths", "contexts"}


def is_foreign(row: Mapping[str, Any]) -> bool:
    """Tell a record of another tool from a case of ombud's."""
    return "user_input" in row or _is_old_ragas(row) or _is_example(row)


def case_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a case. Raises LabError naming a field that is not valid."""
    if _is_example(row):
        return _from_example(row)
    if _is_old_ragas(row):
        truths = row.get("ground_truths")
        first = truths[0] if isinstance(truths, list) and truths else None
        truth = row.get("ground_truth", first)
        row = {"id": row.get("id"), "user_input": row["question"], "reference": truth}
    return _from_ragas(row)


def nested(cells: Mapping[str, str]) -> dict[str, Any]:
    """Restore the record that a row of CSV was: `input_question` or `inputs.question` inside
    `input`, with lists and objects parsed."""
    row: dict[str, Any] = {}
    for name, cell in cells.items():
        value = _literal(cell)
        for part in _PARTS:
            rest = name.removeprefix(part)
            if rest != name and rest[:1] in {".", "_"} and len(rest) > 1:
                row.setdefault(part, {})[rest[1:]] = value
                break
        else:
            row[name] = value
    return row


def mapped(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, str]:
    """Field -> text, from where `--columns` says that it stands: a header of a CSV, or a JMESPath
    into a record. Raises LabError for a path that is none."""
    fields: dict[str, str] = {}
    for field, path in columns.items():
        value = row.get(path)
        if value is None:
            try:
                value = jmespath.search(path, row)
            except jmespath.exceptions.JMESPathError as wrong:
                raise LabError(
                    f"`{path}` is no column and no path.", hint="Such as inputs.question."
                ) from wrong
        if value is not None:
            fields[field] = value if isinstance(value, str) else json.dumps(value)
    return fields


def question_and_history(value: Any) -> tuple[str, list[dict[str, str]]]:
    """Split what a tool calls input: a text, an object that holds one, or messages, of which the
    last of the user asks. The text is empty where there is none."""
    messages = _messages(value)
    if not messages:
        return _text(value, QUESTION_KEYS), []
    user_turns = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not user_turns:
        return "", []
    before = [one for one in messages[: user_turns[-1]] if one["role"] in {"user", "assistant"}]
    return messages[user_turns[-1]]["content"], before


def answer_text(value: Any) -> str:
    """Find the text in what a tool calls output; empty where there is none."""
    messages = _messages(value)
    if messages:
        return messages[-1]["content"]
    return _text(value, ANSWER_KEYS)


def question_id(question: str) -> str:
    # As of a CSV row without a country: the same question has the same id, and so the same split.
    return "q-" + sha256(f"{question}\0".encode()).hexdigest()[:12]


def _is_old_ragas(row: Mapping[str, Any]) -> bool:
    return "question" in row and bool(_OLD_RAGAS & row.keys())


def _is_example(row: Mapping[str, Any]) -> bool:
    return "input" in row or "inputs" in row


def _from_example(row: Mapping[str, Any]) -> dict[str, Any]:
    """Read LangSmith's {inputs, outputs}, Langfuse's {input, expectedOutput} or Phoenix's
    {input, output}."""
    question, history = question_and_history(row.get("inputs", row.get("input")))
    if not question:
        raise LabError(
            "no question in `input`.",
            hint="Say where it stands: --columns question=inputs.NAME,answer=outputs.NAME.",
        )
    wanted = ("outputs", "expectedOutput", "expected_output", "output")
    expected = next((row[key] for key in wanted if row.get(key) is not None), None)
    answer = answer_text(expected)
    case_id = row.get("id") or row.get("example_id") or question_id(question)
    return {
        "id": str(case_id),
        "question": question,
        "history": history,
        "references": [{"text": answer}] if answer else [],
    }


def _from_ragas(record: Mapping[str, Any]) -> dict[str, Any]:
    """Its contexts are evidence only where `reference_context_ids` name their documents. Raises
    LabError naming the field that is not of RAGAS's shape."""
    question = record.get("user_input")
    history: list[dict[str, str]] = []
    if isinstance(question, list):
        question, history = question_and_history(question)
    reference = record.get("reference")
    case_id = record.get("id")
    contexts = record.get("reference_contexts") or []
    documents = record.get("reference_context_ids") or []
    shapes = (
        ("user_input", isinstance(question, str) and bool(question), "a text"),
        ("reference", isinstance(reference, str | None), "a text"),
        ("id", isinstance(case_id, str | int | None), "a text"),
        ("reference_contexts", _list_of(contexts, str), "a list of texts"),
        ("reference_context_ids", _list_of(documents, str | int), "a list of texts"),
    )
    for field, fits, wanted in shapes:
        if not fits:
            raise LabError(f"`{field}` is not {wanted}.", hint="A RAGAS record of one question.")
    evidence = []
    for document, quote in zip(documents, contexts, strict=False):
        evidence.append({"document": str(document), "quote": quote})
    return {
        "id": str(case_id) if case_id not in {None, ""} else question_id(str(question)),
        "question": question,
        "history": history,
        "references": [{"text": reference}] if reference else [],
        "evidence": evidence,
    }


def _list_of(values: Any, kind: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _messages(value: Any) -> list[dict[str, str]]:
    """Read a list of messages, as OpenAI, LangChain or the GenAI conventions write them."""
    if isinstance(value, str):
        value = _literal(value)
    if isinstance(value, Mapping):
        value = value.get("messages", value.get("choices"))
    if not isinstance(value, list):
        return []
    return list(filter(None, map(_message, value)))


def _message(value: Any) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    inner = value.get("message")
    if isinstance(inner, Mapping):
        value = inner
    role = str(value.get("role", value.get("type", "")))
    role = {"human": "user", "ai": "assistant"}.get(role, role)
    content = value.get("content", value.get("parts"))
    if isinstance(content, list):
        content = "".join(filter(None, map(_part, content)))
    return {"role": role, "content": content} if isinstance(content, str) and role else None


def _part(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = value.get("text", value.get("content")) if isinstance(value, Mapping) else ""
    return text if isinstance(text, str) else ""


def _text(value: Any, keys: tuple[str, ...]) -> str:
    """Return a text, or that of an object: by the usual names, else its only one."""
    if isinstance(value, str):
        inner = _literal(value)
        return _text(inner, keys) if isinstance(inner, Mapping) else value.strip()
    if not isinstance(value, Mapping):
        return ""
    for key in keys:
        if isinstance(value.get(key), str):
            return str(value[key]).strip()
    texts = [one for one in value.values() if isinstance(one, str)]
    return texts[0].strip() if len(texts) == 1 else ""


def _literal(cell: str) -> Any:
    """Parse a list or an object written as JSON or in Python's syntax; anything else stays text."""
    if cell[:1] not in {"[", "{"}:
        return cell
    for read in (json.loads, ast.literal_eval):
        try:
            return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return cell


def records(text: str) -> Iterator[tuple[int, Any]]:
    """Yield (line, record) of a JSON document: a list, or an object with a list under data,
    examples or items. Raises ValueError with what is wrong."""
    decoder = json.JSONDecoder()
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] == "{":
        whole = json.loads(text)
        for key in ("data", "examples", "items"):
            whole = whole.get(key, whole) if isinstance(whole, dict) else whole
        if isinstance(whole, dict):
            raise ValueError("no list of records")
        for record in whole:
            yield 1, record
        return
    if text[start : start + 1] != "[":
        raise ValueError("no list of records")
    place = _next(text, start + 1)
    while text[place : place + 1] not in {"]", ""}:
        line = text.count("\n", 0, place) + 1
        record, end = decoder.raw_decode(text, place)
        yield line, record
        place = _next(text, end)
        if text[place : place + 1] == ",":
            place = _next(text, place + 1)
        elif text[place : place + 1] != "]":
            raise ValueError(f"a comma is missing in line {text.count(chr(10), 0, place) + 1}")


def _next(text: str, place: int) -> int:
    while text[place : place + 1].isspace():
        place += 1
    return place
