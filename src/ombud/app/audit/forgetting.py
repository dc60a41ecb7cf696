"""Erases a person's content with a certificate, or content older than [audit] allows."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from ombud.app.audit.certify import LEAST_CHARACTERS, ErasurePlace, in_files
from ombud.app.workspace import Workspace
from ombud.errors import Busy, NotFound, OmbudError
from ombud.lab import live_id
from ombud.store import (
    ErasureSelection,
    Store,
    acquire_lease,
    answers_in,
    count_content,
    count_phrases,
    erase_rows,
    find_account,
    forget_cases,
    forget_uncited,
    questions_in,
    read_account,
    read_links,
    remove_account,
    select_conversation,
    select_expired,
    select_of_person,
)
from ombud.types import Account

DAY = 24 * 3600.0
LEAST_ID = 8
"""Minimum length of a person's id for searching files; a shorter one occurs everywhere."""


def expire(
    workspace: Workspace, *, dry_run: bool = False, now: datetime | None = None
) -> dict[str, Any]:
    """Erase what is older than [audit] allows. Raises Busy while another process does the same."""
    rules, at = workspace.settings.audit, now or datetime.now(UTC)
    ordinary = at - timedelta(days=rules.days) if rules.days else None
    sensitive = at - timedelta(days=rules.sensitive_days) if rules.sensitive_days else None
    selection = select_expired(workspace.store, ordinary, sensitive)
    if dry_run or not any(selection):
        return {"dry_run": dry_run, **content_counts(workspace.store, selection)}
    with acquire_lease(workspace.store, "expire"):
        _forget_judged(workspace.store, selection)
        done = erase_rows(workspace.store, selection, "retention")
        forget_uncited(workspace.store)
    workspace.store.settle()
    return {
        "dry_run": False,
        "conversations": done.conversations,
        "answers": done.answers,
        "messages": done.messages,
        "records": list(done.records),
    }


def _forget_judged(store: Store, selection: ErasureSelection) -> None:
    """Remove the copies that the judged share of live answers has made of the selected ones. First,
    because afterwards nothing leads to them."""
    forget_cases(store, [live_id(answer) for answer in answers_in(store, selection)])


def content_counts(store: Store, selection: ErasureSelection) -> dict[str, int]:
    conversations, answers, messages = count_content(store, selection)
    return {"conversations": conversations, "answers": answers, "messages": messages}


def run_expiry(
    workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None], every: float = DAY
) -> None:
    """Expire at once and then daily until `stop` is set; failures are reported, and the next turn
    comes."""
    while True:
        try:
            done = expire(workspace)
            if done["answers"] or done["conversations"]:
                conversations = f"{done['conversations']} conversations"
                on_line(f"audit: erased {conversations} and {done['answers']} answers by age")
        except Busy:
            pass  # another server of this workspace does it
        except OmbudError as failed:
            on_line(f"audit: expiry failed: {failed} {failed.hint}".strip())
        if stop.wait(every):
            return


def erase_personal_data(
    workspace: Workspace, *, person: str = "", conversation: str = "", dry_run: bool = False
) -> dict[str, Any]:
    """Erase a person's questions and answers, or one conversation, and search everywhere for
    remains.

    Returns the certificate: counts, records of the chain, places with their findings (0 = gone),
    and `salt`, which verifies a record's `of`: HMAC-SHA256(salt, id). Raises NotFound if nothing is
    stored.
    """
    store = workspace.store
    account = account_of(store, person)
    if account is not None:
        person = account.id
    selection = select_content(store, person, conversation, has_account=account is not None)
    questions = list(filter(is_searchable, questions_in(store, selection)))
    certificate: dict[str, Any] = {
        "person": person,
        "conversation": conversation,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "dry_run": dry_run,
        **content_counts(store, selection),
        "records": [],
        "salt": "",
        "places": [],
        "remarks": [],
        "gone": False,
    }
    if dry_run:
        return certificate
    with acquire_lease(store, "expire"):
        _forget_judged(store, selection)
        done = erase_rows(store, selection, "person", person or conversation)
        if account is not None:
            remove_account(store, account.id)
        forget_uncited(store)
    store.settle()
    links = read_links(store, done.records)
    places = list(search_places(workspace, selection, person, questions))
    certificate.update(
        records=[{"number": link.number, "hash": link.hash} for link in links],
        salt=done.salt,
        places=[place._asdict() for place in places],
        gone=not any(place.found for place in places),
        remarks=list(remarks(workspace)),
    )
    return certificate


def account_of(store: Store, person: str) -> Account | None:
    """Find an account by its sign-in name or by its id."""
    account = find_account(store, person.casefold()) if person else None
    if account is None and person:
        with suppress(NotFound):
            account = read_account(store, person)
    return account


def select_content(
    store: Store, person: str, conversation: str, *, has_account: bool
) -> ErasureSelection:
    """Select the content. Raises NotFound if nothing is stored, unless the person has an
    account."""
    if not person:
        return select_conversation(store, conversation)
    try:
        return select_of_person(store, person)
    except NotFound:
        if not has_account:
            raise
        return ErasureSelection((), ())


def is_searchable(text: str) -> bool:
    """Tell whether searching files for the text is reliable: it is long enough and has one line."""
    return len(text) >= LEAST_CHARACTERS and "\n" not in text


def search_places(
    workspace: Workspace, selection: ErasureSelection, person: str, questions: list[str]
) -> Iterator[ErasurePlace]:
    store = workspace.store
    left = sum(count_content(store, selection))
    yield ErasurePlace("store: conversations, answers and messages", left)
    if person:
        yield ErasurePlace("store: rows with the person's id", rows_of_person(workspace, person))
        left = int(account_of(store, person) is not None)
        yield ErasurePlace("store: account, browsers and tokens", left)
    # Other people's identical questions in their conversations stay.
    own = []
    for text in questions:
        if not count_phrases(store, [text])["answers"]:
            own.append(text)
    yield ErasurePlace("store: runs of the lab", count_phrases(store, own)["lab runs"])
    remark = ""
    if len(own) < len(questions):
        searched = f"searched for {len(own)} of {len(questions)} questions"
        remark = f"{searched}; the others were asked by someone else too"
    phrases = [*own, person] if len(person) >= LEAST_ID else own
    yield ErasurePlace("files of the workspace", in_files(workspace.data, phrases), remark)


def rows_of_person(workspace: Workspace, person: str) -> int:
    try:
        return sum(count_content(workspace.store, select_of_person(workspace.store, person)))
    except NotFound:
        return 0


def remarks(workspace: Workspace) -> Iterator[str]:
    yield "Backups, logs of proxies and exports are yours to look after."
    if workspace.settings.store.url:
        freed = "The database frees the rows by itself (PostgreSQL: VACUUM)"
        yield f"{freed}; its own logs and backups are not searched."
