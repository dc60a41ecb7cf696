"""Audit of a workspace: which answers were given, by which setup, and what of them is still
stored."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from ombud.app.workspace import Workspace
from ombud.store import (
    Broken,
    Link,
    StoredAnswer,
    Verified,
    feedback_on,
    list_answers,
    read_head,
    read_links,
    read_setup,
    read_stored_answer,
    verify_chain,
)
from ombud.types import Outcome

OnProgress = Callable[[str, int, int], None]


def verify_audit(
    workspace: Workspace, head: str = "", on_progress: OnProgress = lambda *_: None
) -> Verified:
    """Verify the chain and every row that it covers. head: a hash noted before."""
    return verify_chain(workspace.store, head.strip(), on_progress)


def verified_json(verified: Verified) -> dict[str, Any]:
    broken: Broken | None = verified.broken
    return verified._asdict() | {
        "ok": broken is None,
        "broken": broken._asdict() if broken else None,
    }


def chain_head(workspace: Workspace) -> dict[str, Any] | None:
    """Return number, time and hash of the last record; None if there is none."""
    head = read_head(workspace.store)
    return {"number": head.number, "at": head.at, "hash": head.hash} if head else None


def beginning_of(workspace: Workspace, day: date) -> str:
    """Return the day's first moment in the organisation's time zone, as the store writes times."""
    zone = ZoneInfo(workspace.settings.general.timezone)
    return datetime.combine(day, time(), zone).astimezone(UTC).isoformat()


def list_records(
    workspace: Workspace, since: date | None = None, outcome: Outcome | None = None
) -> Iterator[dict[str, Any]]:
    """Yield answers in the order in which they were given, without any text of the conversation."""
    beginning = beginning_of(workspace, since) if since else ""
    for stored in list_answers(workspace.store, beginning):
        if outcome is None or (stored.answer and stored.answer.outcome == outcome):
            yield record_line(stored)


def record_line(stored: StoredAnswer) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": stored.id,
        "at": stored.at,
        "record": stored.record,
        "erased": stored.erased,
        "conversation_id": stored.conversation_id,
        "outcome": None,
        "action": None,
        "sensitive": None,
    }
    if stored.answer:
        line.update(
            outcome=stored.answer.outcome,
            action=stored.answer.action,
            sensitive=stored.sensitive,
            citations=len(stored.answer.citations),
            model=stored.answer.trace.model,
            index_version=stored.answer.trace.index_version,
        )
    return line


def show_record(workspace: Workspace, identity: str, *, sensitive: bool = False) -> dict[str, Any]:
    """Return one answer with its records and setup and, while stored, question, answer and trace.
    sensitive: also show the text of a sensitive one, which is withheld otherwise. Raises
    NotFound."""
    stored = read_stored_answer(workspace.store, identity)
    numbers = [number for number in (stored.record, stored.erased) if number]
    links = read_links(workspace.store, numbers)
    record = record_line(stored)
    record["records"] = list(map(link_json, links))
    record["setup"] = setup_of(workspace, links)
    record["withheld"] = False
    content = feedback_on(workspace.store, stored.id)
    record["feedback"] = [{"thumb": one.thumb, "at": one.at} for one in content]
    if stored.answer is None or stored.question is None:
        return record
    if stored.sensitive and not sensitive:
        record["withheld"] = True
        return record
    record["question"] = stored.question.model_dump(mode="json")
    record["answer"] = stored.answer.model_dump(mode="json")
    for row, one in zip(record["feedback"], content, strict=True):
        row["comment"] = one.comment
    return record


def setup_of(workspace: Workspace, links: Sequence[Link]) -> Mapping[str, Any] | None:
    """Return the setup that answered; None if it is not stored."""
    for link in links:
        digest = link.facts.get("setup")
        if digest:
            return read_setup(workspace.store, digest)
    return None


def link_json(link: Link) -> dict[str, Any]:
    return {
        "number": link.number,
        "at": link.at,
        "kind": link.kind,
        "hash": link.hash,
        "facts": link.facts,
    }
