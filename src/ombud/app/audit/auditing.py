"""What an auditor asks of a workspace: which answers were given, by what, and what of them is kept
today."""

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
    read_kept,
    read_links,
    read_setup,
    verify_chain,
)
from ombud.types import Outcome

OnProgress = Callable[[str, int, int], None]


def verify_audit(
    workspace: Workspace, head: str = "", on_progress: OnProgress = lambda *_: None
) -> Verified:
    """Walk the chain and every row it speaks of. head: a hash that was noted before."""
    return verify_chain(workspace.store, head.strip(), on_progress)


def verified_json(found: Verified) -> dict[str, Any]:
    broken: Broken | None = found.broken
    return found._asdict() | {"ok": broken is None, "broken": broken._asdict() if broken else None}


def chain_head(workspace: Workspace) -> dict[str, Any] | None:
    """Number, time and hash of the last record; None where there is none."""
    head = read_head(workspace.store)
    return {"number": head.number, "at": head.at, "hash": head.hash} if head else None


def beginning_of(workspace: Workspace, day: date) -> str:
    """The day's first moment where the organisation is, as the store writes times."""
    zone = ZoneInfo(workspace.settings.general.timezone)
    return datetime.combine(day, time(), zone).astimezone(UTC).isoformat()


def list_records(
    workspace: Workspace, since: date | None = None, outcome: Outcome | None = None
) -> Iterator[dict[str, Any]]:
    """Answers in the order in which they were given, without a word of what was said."""
    beginning = beginning_of(workspace, since) if since else ""
    for kept in list_answers(workspace.store, beginning):
        if outcome is None or (kept.answer and kept.answer.outcome == outcome):
            yield _line(kept)


def _line(kept: StoredAnswer) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": kept.id,
        "at": kept.at,
        "record": kept.record,
        "erased": kept.erased,
        "conversation_id": kept.conversation_id,
        "outcome": None,
        "action": None,
        "sensitive": None,
    }
    if kept.answer:
        line.update(
            outcome=kept.answer.outcome,
            action=kept.answer.action,
            sensitive=kept.sensitive,
            citations=len(kept.answer.citations),
            model=kept.answer.trace.model,
            index_version=kept.answer.trace.index_version,
        )
    return line


def show_record(workspace: Workspace, identity: str, *, sensitive: bool = False) -> dict[str, Any]:
    """One answer with its records, its set-up and, while they are kept, question, answer and trace.

    sensitive: also the words of a sensitive one; without it they are withheld. Raises NotFound.
    """
    kept = read_kept(workspace.store, identity)
    numbers = [number for number in (kept.record, kept.erased) if number]
    links = read_links(workspace.store, numbers)
    record = _line(kept)
    record["records"] = list(map(_link_json, links))
    record["setup"] = _setup_of(workspace, links)
    record["withheld"] = False
    said = feedback_on(workspace.store, kept.id)
    record["feedback"] = [{"thumb": one.thumb, "at": one.at} for one in said]
    if kept.answer is None or kept.question is None:
        return record
    if kept.sensitive and not sensitive:
        record["withheld"] = True
        return record
    record["question"] = kept.question.model_dump(mode="json")
    record["answer"] = kept.answer.model_dump(mode="json")
    for row, one in zip(record["feedback"], said, strict=True):
        row["comment"] = one.comment
    return record


def _setup_of(workspace: Workspace, links: Sequence[Link]) -> Mapping[str, Any] | None:
    """What answered then; None where that is not kept."""
    for link in links:
        digest = link.facts.get("setup")
        if digest:
            return read_setup(workspace.store, digest)
    return None


def _link_json(link: Link) -> dict[str, Any]:
    return {
        "number": link.number,
        "at": link.at,
        "kind": link.kind,
        "hash": link.hash,
        "facts": link.facts,
    }
