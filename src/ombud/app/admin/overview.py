"""Usage by week: questions, outcomes, speed, price and ratings. Figures only, and none about fewer
people than [audit] allows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from statistics import quantiles
from typing import NamedTuple

from ombud.app.audit.auditing import beginning_of
from ombud.app.identity.people import mark
from ombud.app.workspace import Workspace
from ombud.messages import country_name, find_message, format_number, message
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
"""Audit records on one page."""


class Week(NamedTuple):
    """Figures of a week from Monday on, including sensitive questions."""

    monday: date
    questions: int
    full: int
    partial: int
    denied: int
    handed: int
    """Questions for which a person was proposed, of all."""
    median: float | None
    """Seconds."""
    slow: float | None
    """The 95th percentile in seconds."""
    price: float | None
    """US dollars; None if one price is unknown."""
    liked: int
    disliked: int


def find_weeks(workspace: Workspace, weeks: int = WEEKS) -> list[Week]:
    """Return the weeks, oldest first, including those without a question."""
    today = workspace.today()
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=weeks - 1)
    rows: dict[date, list[StoredAnswer]] = {}
    for row in list_answers(workspace.store, beginning_of(workspace, first)):
        day = date.fromisoformat(row.at[:10])
        rows.setdefault(day - timedelta(days=day.weekday()), []).append(row)
    thumbs = read_thumbs(workspace.store)
    results: list[Week] = []
    for number in range(weeks):
        begins = first + timedelta(weeks=number)
        results.append(week_of(begins, rows.get(begins, []), thumbs))
    return results


def week_of(monday: date, rows: list[StoredAnswer], thumbs: dict[str, int]) -> Week:
    answers = [row.answer for row in rows if row.answer is not None]
    outcomes = Counter(answer.outcome for answer in answers)
    traces = [answer.trace for answer in answers]
    median, slow = latency(traces)
    ratings = [thumbs[row.id] for row in rows if row.id in thumbs]
    return Week(
        monday=monday,
        questions=len(rows),
        full=outcomes["full"],
        partial=outcomes["partial"],
        denied=outcomes["denied"],
        handed=sum(answer.action == "handoff" for answer in answers),
        median=median,
        slow=slow,
        price=total_price(traces),
        liked=ratings.count(1),
        disliked=ratings.count(-1),
    )


def latency(traces: list[Trace]) -> tuple[float | None, float | None]:
    """Return the median and the 95th percentile."""
    seconds = [trace.seconds.get("total", 0.0) for trace in traces]
    if len(seconds) < 2:
        only = seconds[0] if seconds else None
        return only, only
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]


def total_price(traces: list[Trace]) -> float | None:
    """Return the total price; None if the price of a model is unknown."""
    total = 0.0
    for trace in traces:
        if trace.price is None and trace.tokens_in:
            return None
        total += trace.price or 0.0
    return total


class AuditLine(NamedTuple):
    """A record of the audit chain as a page lists it."""

    number: int
    at: str
    kind: str
    said: str
    by: str
    answer: str = ""
    """Id of the answer that it covers; empty if none."""


def last_records(workspace: Workspace, before: int = 0) -> list[AuditLine]:
    """Return the latest records, newest first. before: only records with a smaller number."""
    head = read_head(workspace.store)
    last = head.number if head else 0
    if before:
        last = min(before - 1, last)
    numbers = list(range(max(1, last - RECORDS + 1), last + 1))
    names = {mark(account.id): account.name for account in list_accounts(workspace.store)}
    names[mark("demo")] = message("admin.audit_by_nobody")
    lines: list[AuditLine] = []
    for link in reversed(read_links(workspace.store, numbers)):
        facts = dict(link.facts)
        by = str(facts.pop("by", ""))
        whom = names.get(str(facts.pop("account", "")), "")
        facts.pop("setup", None)
        words = list(fact_words(facts))
        words[1:1] = [whom] if whom else []
        lines.append(
            AuditLine(
                number=link.number,
                at=link.at,
                kind=named_or(link.kind, "admin.audit_kind_"),
                said=" · ".join(words),
                by=names.get(by, "") or named_or(by, "admin.audit_by_"),
                answer=answer_id_in(link.rows),
            )
        )
    return lines


def answer_id_in(rows: Mapping[str, str | None]) -> str:
    ids = [name.removeprefix("answer/") for name in rows if name.startswith("answer/")]
    return ids[0] if len(ids) == 1 else ""


def fact_words(facts: Mapping[str, object]) -> Iterator[str]:
    """Yield what was done and the facts that people can read, in the language of the page."""
    if action := facts.get("action"):
        yield named_or(str(action), "admin.audit_action_")
    for name, value in facts.items():
        if phrase := fact_phrase(name, value):
            yield phrase


def fact_phrase(name: str, value: object) -> str:
    """Describe one fact; empty if it is a digest or a mark that means nothing to people."""
    key = f"admin.audit_fact_{name}"
    if name == "model" and not value:
        return message("admin.audit_quoted")
    if value and name == "country":
        return country_name(str(value))
    if value and name == "reason":
        return named_or(str(value), "admin.audit_reason_")
    if not value or not isinstance(value, str | int) or not find_message(key, "en"):
        return ""
    if name == "share":
        return message(key, value=format_number(float(value), "percent"))
    return message(key, count=value if isinstance(value, int) else None, value=value)


def named_or(name: str, beginning: str) -> str:
    """Return the message that names a thing; the thing's own name if it has none."""
    key = beginning + name.replace(" ", "_")
    return message(key) if find_message(key, "en") else name
