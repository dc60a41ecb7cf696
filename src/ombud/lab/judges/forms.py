"""What a judge writes: typed values, or lines for models that know no form."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

MOST_STATEMENTS = 30
"""Of one text: an answer has about five."""
QUESTIONS = 3
"""Of an answer, written again from it (RAGAS)."""
END = "END"
_VERDICT = re.compile(r"VERDICT: (-?\d{1,3})")
_MARK = re.compile(r"(\d{1,3}): (yes|no)")


class Statements(BaseModel):
    statements: list[str] = Field(..., json_schema_extra={"maxItems": MOST_STATEMENTS})


class Mark(BaseModel):
    number: int
    supported: bool


class Marks(BaseModel):
    marks: list[Mark]


class Regenerated(BaseModel):
    questions: list[str] = Field(..., json_schema_extra={"maxItems": QUESTIONS})
    noncommittal: bool


@cache
def verdict_form(levels: tuple[int, ...], reason_first: bool) -> type[BaseModel]:
    """A grade, one of these levels, with its reason before or behind it: a model writes the fields
    in their order, and what stands first is not made up to fit."""
    grade: Any = (Literal[levels], ...)
    reason: Any = (str, ...)
    fields = (
        {"reason": reason, "grade": grade} if reason_first else {"grade": grade, "reason": reason}
    )
    return create_model("Verdict", **fields)


def read_lines(kind: type[BaseModel], text: str) -> dict[str, Any]:
    """Parse the fields of a form from lines; raises ValueError with the reason if the text is
    malformed. Nothing is guessed: a reply that was cut off has no last line."""
    lines = [line.strip() for line in text.strip().splitlines()]
    reader = _READERS.get(kind, _verdict)
    return reader([line for line in lines if line])


def _verdict(lines: Sequence[str]) -> dict[str, Any]:
    match = _VERDICT.fullmatch(lines[-1]) if lines else None
    if not match:
        raise ValueError("the last line is no verdict")
    return {"grade": int(match[1]), "reason": " ".join(lines[:-1])}


def _statements(lines: Sequence[str]) -> dict[str, Any]:
    return {"statements": _items(_closed(lines))}


def _marks(lines: Sequence[str]) -> dict[str, Any]:
    marks: list[dict[str, Any]] = []
    for line in _closed(lines):
        match = _MARK.fullmatch(line)
        if not match:
            raise ValueError("a line is no mark")
        marks.append({"number": int(match[1]), "supported": match[2] == "yes"})
    return {"marks": marks}


def _regenerated(lines: Sequence[str]) -> dict[str, Any]:
    *questions, last = _closed(lines) or [""]
    name, _, value = last.partition(": ")
    if name != "noncommittal" or value not in {"yes", "no"}:
        raise ValueError("it does not say whether the answer is noncommittal")
    return {"questions": _items(questions), "noncommittal": value == "yes"}


def _closed(lines: Sequence[str]) -> list[str]:
    if not lines or lines[-1] != END:
        raise ValueError(f"the last line is not {END}")
    return list(lines[:-1])


def _items(lines: Sequence[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if not line.startswith("- "):
            raise ValueError("a line does not begin with a dash")
        items.append(line[2:].strip())
    return items


_READERS: dict[type[BaseModel], Callable[[Sequence[str]], dict[str, Any]]] = {
    Statements: _statements,
    Marks: _marks,
    Regenerated: _regenerated,
}
