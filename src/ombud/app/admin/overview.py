"""How it is used: by week what was asked and came out, how fast, at which price, and what people
thought of it. Numbers only, and none that fewer people stand behind than [audit] allows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from statistics import quantiles
from typing import NamedTuple

from ombud.app.audit.auditing import beginning_of
from ombud.app.identity.people import mark
from ombud.app.workspace import Workspace
from ombud.store import (
    StoredAnswer,
    list_accounts,
    list_answers,
    read_head,
    read_links,
    read_thumbs,
)
from ombud.types import Trace

WEEKS = 12
RECORDS = 50
"""Of the audit that a page shows."""


class Week(NamedTuple):
    """Of one week from Monday on; sensitive ones count, their words stand nowhere."""

    monday: date
    questions: int
    full: int
    partial: int
    denied: int
    handed: int
    """Of all, those for which a person was proposed."""
    median: float | None
    """Seconds."""
    slow: float | None
    """Seconds that one of twenty took longer than."""
    price: float | None
    """US dollars; None where one is not known."""
    liked: int
    disliked: int


def find_weeks(workspace: Workspace, weeks: int = WEEKS) -> list[Week]:
    """The oldest first; weeks without a question among them."""
    today = workspace.today()
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=weeks - 1)
    rows: dict[date, list[StoredAnswer]] = {}
    for row in list_answers(workspace.store, beginning_of(workspace, first)):
        day = date.fromisoformat(row.at[:10])
        rows.setdefault(day - timedelta(days=day.weekday()), []).append(row)
    thumbs = read_thumbs(workspace.store)
    found: list[Week] = []
    for number in range(weeks):
        begins = first + timedelta(weeks=number)
        found.append(_week(begins, rows.get(begins, []), thumbs))
    return found


def _week(monday: date, rows: list[StoredAnswer], thumbs: dict[str, int]) -> Week:
    answers = [row.answer for row in rows if row.answer is not None]
    outcomes = Counter(answer.outcome for answer in answers)
    traces = [answer.trace for answer in answers]
    median, slow = _seconds(traces)
    said = [thumbs[row.id] for row in rows if row.id in thumbs]
    return Week(
        monday=monday,
        questions=len(rows),
        full=outcomes["full"],
        partial=outcomes["partial"],
        denied=outcomes["denied"],
        handed=sum(answer.action == "handoff" for answer in answers),
        median=median,
        slow=slow,
        price=_price(traces),
        liked=said.count(1),
        disliked=said.count(-1),
    )


def _seconds(traces: list[Trace]) -> tuple[float | None, float | None]:
    """The median, and what one of twenty took longer than."""
    seconds = [trace.seconds.get("total", 0.0) for trace in traces]
    if len(seconds) < 2:
        only = seconds[0] if seconds else None
        return only, only
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]


def _price(traces: list[Trace]) -> float | None:
    """None where a model was asked whose price is not known."""
    total = 0.0
    for trace in traces:
        if trace.price is None and trace.tokens_in:
            return None
        total += trace.price or 0.0
    return total


class AuditLine(NamedTuple):
    number: int
    at: str
    kind: str
    said: str
    by: str
    answer: str = ""
    """Id of the answer that it speaks of; empty where it speaks of none."""


def last_records(workspace: Workspace, before: int = 0) -> list[AuditLine]:
    """The newest first; before: only those with a smaller number."""
    head = read_head(workspace.store)
    last = head.number if head else 0
    if before:
        last = min(before - 1, last)
    numbers = list(range(max(1, last - RECORDS + 1), last + 1))
    names = {mark(account.id): account.name for account in list_accounts(workspace.store)}
    lines: list[AuditLine] = []
    for link in reversed(read_links(workspace.store, numbers)):
        facts = dict(link.facts)
        by = str(facts.pop("by", ""))
        whom = names.get(str(facts.pop("account", "")), "")
        facts.pop("setup", None)
        said = ", ".join(part for part in (whom, *_words(facts)) if part)
        lines.append(
            AuditLine(
                number=link.number,
                at=link.at,
                kind=link.kind,
                said=said,
                by=names.get(by, by),
                answer=_answer_of(link.rows),
            )
        )
    return lines


def _answer_of(rows: Mapping[str, str | None]) -> str:
    ids = [name.removeprefix("answer/") for name in rows if name.startswith("answer/")]
    return ids[0] if len(ids) == 1 else ""


def _words(facts: dict[str, object]) -> Iterator[str]:
    for name, value in facts.items():
        if name == "model" and not value:
            yield "quoted without a language model"
        elif value == "":
            continue
        elif isinstance(value, str | int | float) and len(str(value)) <= 60:
            yield str(value) if name == "action" else f"{name.replace('_', ' ')} {value}"
