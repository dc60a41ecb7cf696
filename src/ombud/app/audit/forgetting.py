"""Content that goes: one person's, with a certificate, or what is older than [audit] allows."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from ombud.app.audit.certify import LEAST_CHARACTERS, ErasurePlace, in_files
from ombud.app.workspace import Workspace
from ombud.errors import Busy, NotFound, OmbudError
from ombud.store import (
    Held,
    Store,
    acquire_lease,
    count_held,
    erase_rows,
    find_account,
    forget_uncited,
    held_in_conversation,
    held_of_person,
    held_until,
    phrases_held,
    questions_in,
    read_account,
    read_links,
    remove_account,
)
from ombud.types import Account

DAY = 24 * 3600.0
LEAST_ID = 8
"""Characters of a person's id below which files are not searched for it: it would be found
everywhere."""


def expire(
    workspace: Workspace, *, dry_run: bool = False, now: datetime | None = None
) -> dict[str, Any]:
    """Erase what [audit] no longer allows. Raises Busy while another process does the same."""
    rules, at = workspace.settings.audit, now or datetime.now(UTC)
    ordinary = at - timedelta(days=rules.days) if rules.days else None
    sensitive = at - timedelta(days=rules.sensitive_days) if rules.sensitive_days else None
    held = held_until(workspace.store, ordinary, sensitive)
    if dry_run or not any(held):
        return {"dry_run": dry_run, **_counts(workspace.store, held)}
    with acquire_lease(workspace.store, "expire"):
        done = erase_rows(workspace.store, held, "retention")
        forget_uncited(workspace.store)
    workspace.store.settle()
    return {
        "dry_run": False,
        "conversations": done.conversations,
        "answers": done.answers,
        "messages": done.messages,
        "records": list(done.records),
    }


def _counts(store: Store, held: Held) -> dict[str, int]:
    conversations, answers, messages = count_held(store, held)
    return {"conversations": conversations, "answers": answers, "messages": messages}


def run_expiry(
    workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None], every: float = DAY
) -> None:
    """Expire at once and then once a day until `stop` is set; a failure is told and the next turn
    comes."""
    while True:
        try:
            done = expire(workspace)
            if done["answers"] or done["conversations"]:
                conversations = f"{done['conversations']} conversations"
                on_line(f"audit: erased {conversations} and {done['answers']} answers by age")
        except Busy:
            pass  # another server of this workspace is at it
        except OmbudError as failed:
            on_line(f"audit: expiry failed: {failed} {failed.hint}".strip())
        if stop.wait(every):
            return


def erase_of(
    workspace: Workspace, *, person: str = "", conversation: str = "", dry_run: bool = False
) -> dict[str, Any]:
    """Erase what a person asked and was told, or one conversation, and look everywhere for what is
    left.

    Returns the certificate: counts, records of the chain, places with what was found there (0 =
    gone), and `salt`, with which a record's `of` can be checked: HMAC-SHA256(salt, id). Raises
    NotFound where nothing is kept."""
    store = workspace.store
    account = _account_of(store, person)
    if account is not None:
        person = account.id
    held = _held(store, person, conversation, has_account=account is not None)
    questions = list(filter(_can_be_searched, questions_in(store, held)))
    certificate: dict[str, Any] = {
        "person": person,
        "conversation": conversation,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "dry_run": dry_run,
        **_counts(store, held),
        "records": [],
        "salt": "",
        "places": [],
        "remarks": [],
        "gone": False,
    }
    if dry_run:
        return certificate
    with acquire_lease(store, "expire"):
        done = erase_rows(store, held, "person", person or conversation)
        if account is not None:
            remove_account(store, account.id)
        forget_uncited(store)
    store.settle()
    links = read_links(store, done.records)
    places = list(_places(workspace, held, person, questions))
    certificate.update(
        records=[{"number": link.number, "hash": link.hash} for link in links],
        salt=done.salt,
        places=[place._asdict() for place in places],
        gone=not any(place.found for place in places),
        remarks=list(_remarks(workspace)),
    )
    return certificate


def _account_of(store: Store, person: str) -> Account | None:
    """Of a name to sign in with, or of the id itself."""
    found = find_account(store, person.casefold()) if person else None
    if found is None and person:
        with suppress(NotFound):
            found = read_account(store, person)
    return found


def _held(store: Store, person: str, conversation: str, *, has_account: bool) -> Held:
    """Raises NotFound where nothing is kept; somebody with an account may never have asked."""
    if not person:
        return held_in_conversation(store, conversation)
    try:
        return held_of_person(store, person)
    except NotFound:
        if not has_account:
            raise
        return Held((), ())


def _can_be_searched(text: str) -> bool:
    """A shorter text stands in many files; one of several lines is written in many ways."""
    return len(text) >= LEAST_CHARACTERS and "\n" not in text


def _places(
    workspace: Workspace, held: Held, person: str, questions: list[str]
) -> Iterator[ErasurePlace]:
    store = workspace.store
    left = sum(count_held(store, held))
    yield ErasurePlace("store: conversations, answers and messages", left)
    if person:
        yield ErasurePlace("store: rows with the person's id", _rows_of(workspace, person))
        left = int(_account_of(store, person) is not None)
        yield ErasurePlace("store: account, browsers and tokens", left)
    # What others asked in the same words, and still stands in their conversations, is theirs.
    own = []
    for text in questions:
        if not phrases_held(store, [text])["answers"]:
            own.append(text)
    yield ErasurePlace("store: runs of the lab", phrases_held(store, own)["lab runs"])
    remark = ""
    if len(own) < len(questions):
        searched = f"searched for {len(own)} of {len(questions)} questions"
        remark = f"{searched}; the others were asked by someone else too"
    phrases = [*own, person] if len(person) >= LEAST_ID else own
    yield ErasurePlace("files of the workspace", in_files(workspace.data, phrases), remark)


def _rows_of(workspace: Workspace, person: str) -> int:
    try:
        return sum(count_held(workspace.store, held_of_person(workspace.store, person)))
    except NotFound:
        return 0


def _remarks(workspace: Workspace) -> Iterator[str]:
    yield "Backups, logs of proxies and exports are yours to look after."
    if workspace.settings.store.url:
        freed = "The database frees the rows by itself (PostgreSQL: VACUUM)"
        yield f"{freed}; its own logs and backups are not searched."
    if workspace.settings.models.cache:
        yield "Replies in the memory of running servers go within an hour, or with a restart."
