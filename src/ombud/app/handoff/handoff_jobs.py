"""Background jobs of handoffs: long waits, an empty desk, interrupted answers. One process does it
for all."""

import asyncio
import json
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import httpx

from ombud.app.handoff import mail
from ombud.app.handoff.advising import advisors_of
from ombud.app.handoff.conversing import owner_mark
from ombud.app.handoff.turns import recover
from ombud.app.identity.callers import is_active
from ombud.app.workspace import Workspace
from ombud.errors import Busy, HandoffError, OmbudError
from ombud.handoff import (
    BUILT_IN,
    reason_in_words,
    session,
    sign_webhook,
    signing_key,
    suits,
    ticket_systems,
)
from ombud.messages import message
from ombud.settings import AdvisorSettings, Settings
from ombud.store import acquire_free, append_events, list_sessions, owner_of, present_advisors
from ombud.types import NewEvent, Notified, Session, Unclaimed

logger = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two checks."""
NOTIFY_AFTER_SECONDS = 60
"""Seconds of waiting before advisors who are away are notified."""


async def run(workspace: Workspace) -> None:
    """Check handoffs until cancelled."""
    leases = await asyncio.to_thread(acquire_free, workspace.store, ["handoff"], 1)
    try:
        while True:
            if not leases:
                leases = await asyncio.to_thread(acquire_free, workspace.store, ["handoff"], 1)
            try:
                for lease in leases:
                    lease.check()
                    await asyncio.to_thread(run_once, workspace)
            except Busy:
                leases = []
            except OmbudError as failed:  # such as a database that restarts
                logger.warning("Handoffs could not be checked: %s", failed)
            await asyncio.sleep(EVERY)
    finally:
        for lease in leases:
            lease.release()


def run_once(workspace: Workspace, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
    """Check every open conversation once."""
    for stands in list_sessions(workspace.store, ["bot", "returned", "queued"]):
        if stands.answering:
            recover(workspace, stands)
    for stands in list_sessions(workspace.store, ["queued", "live"]):
        close_if_left(workspace, stands)
    for stands in list_sessions(workspace.store, ["queued"]):
        if stands.since is None:
            continue
        waited = (now() - stands.since).total_seconds()
        warn_unclaimed(workspace, stands, waited)
        notify_advisors(workspace, stands, waited)


def close_if_left(workspace: Workspace, stands: Session) -> None:
    """Close the conversation of somebody whose account was disabled, so that its desk ends it too
    and signs nothing more for them."""
    if is_active(workspace, stands.asker):
        return
    # An engineer may ask as somebody without an account; the conversation is the engineer's.
    if owner_of(workspace.store, stands.id) == owner_mark(f"account:{stands.asker.id}"):
        session.close(workspace.store, stands.id)


def warn_unclaimed(workspace: Workspace, stands: Session, waited: float) -> None:
    """Name the contact if nobody has taken the conversation in time."""
    minutes = workspace.settings.handoff.unclaimed_minutes
    if stands.has_warned or waited < 60 * minutes or stands.desk in ticket_systems():
        return
    contacts = workspace.answering.contacts.find(stands.topic, stands.asker.country)
    contact = ""
    if contacts:
        best = contacts[0]
        contact = " · ".join(filter(None, (best.name, best.mail, best.phone)))

    def decide(session: Session) -> list[NewEvent]:
        if session.has_warned or session.state != "queued":
            return []
        return [NewEvent(by="system", what=Unclaimed(minutes=minutes, contact=contact))]

    append_events(workspace.store, stands.id, decide)


def notify_advisors(workspace: Workspace, stands: Session, waited: float) -> None:
    """Notify the advisors for such a conversation if none of them is at the desk."""
    notify = workspace.settings.handoff.notify
    if stands.desk != BUILT_IN or stands.has_notified or waited < NOTIFY_AFTER_SECONDS:
        return
    able = {advisor.id: advisor for advisor in advisors_of(workspace) if suits(advisor, stands)}
    if able.keys() & present_advisors(workspace.store):
        return
    try:
        is_notified = mail_advisors(workspace.settings, able.values(), stands)
        if notify.url:
            post_notification(notify.url, notify.secret_env, stands)
            is_notified = True
    except HandoffError as failed:  # retried at the next check
        logger.warning("Advisors could not be notified: %s", failed)
        return
    if is_notified:
        advisors = NewEvent(by="system", what=Notified())
        append_events(workspace.store, stands.id, lambda _: [advisors])


def mail_advisors(settings: Settings, able: Iterable[AdvisorSettings], stands: Session) -> bool:
    """Notify by mail, and return whether anybody was notified. Raises HandoffError."""
    addresses = [advisor.mail for advisor in able if advisor.mail]
    if not addresses or not settings.mail.host:
        return False
    mail.send(
        settings.mail,
        addresses,
        subject=message("desk.mail_waiting_subject"),
        text=handoff_summary(stands, settings.server.public_url),
    )
    return True


def handoff_summary(stands: Session, public_url: str) -> str:
    """Summarise the handoff without its messages, because mail is not confidential, and link to the
    conversation at the desk."""
    link = message("desk.mail_waiting_no_link")
    if public_url:
        link = f"{public_url}/desk?conversation={stands.id}"
    return message(
        "desk.mail_waiting",
        since=f"{stands.since:%H:%M} UTC" if stands.since else message("desk.now"),
        reason=reason_in_words(stands.reason),
        country=stands.asker.country or message("desk.not_told"),
        topic=stands.topic or message("desk.not_known"),
        link=link,
    )


def post_notification(url: str, secret_env: str, stands: Session) -> None:
    """Notify a webhook, signed as the webhook desk signs. Raises HandoffError."""
    body = json.dumps(
        {
            "type": "waiting",
            "conversation": stands.id,
            "reason": stands.reason,
            "topic": stands.topic,
            "country": stands.asker.country,
            "since": stands.since.isoformat() if stands.since else None,
        }
    ).encode()
    headers = {"content-type": "application/json"}
    if os.environ.get(secret_env):
        headers |= sign_webhook(str(uuid.uuid4()), body, signing_key(secret_env), time.time())
    try:
        response = httpx.post(url, content=body, headers=headers, timeout=10)
        response.raise_for_status()
    except httpx.HTTPError as failed:
        raise HandoffError(
            f"The notification was refused ({type(failed).__name__}).",
            hint="Check handoff.notify.url.",
        ) from failed
