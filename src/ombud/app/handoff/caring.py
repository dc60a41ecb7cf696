"""What happens to hand-overs by itself: somebody waits too long, nobody is at the desk, whoever was
answering is no more. One process of all does it."""

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
from ombud.app.handoff.turns import recover
from ombud.app.workspace import Workspace
from ombud.errors import Busy, HandoffError, OmbudError
from ombud.handoff import BUILT_IN, sign, signing_key, suits
from ombud.settings import AdvisorSettings, MailSettings
from ombud.store import acquire_free, append_events, list_sessions, present_advisors
from ombud.types import HandoffReason, NewEvent, Notified, Session, Unclaimed

logger = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks."""
REASONS: dict[HandoffReason, str] = {
    "asked": "asked for a person",
    "sensitive": "something sensitive",
    "denied": "several questions without an answer",
    "unsure": "an uncertain answer",
    "complex": "a complex case",
    "policy": "a rule of the organisation",
}


async def care(workspace: Workspace) -> None:
    """Look after hand-overs until cancelled."""
    leases = await asyncio.to_thread(acquire_free, workspace.store, ["handoff"], 1)
    try:
        while True:
            if not leases:
                leases = await asyncio.to_thread(acquire_free, workspace.store, ["handoff"], 1)
            try:
                for lease in leases:
                    lease.check()
                    await asyncio.to_thread(look_after, workspace)
            except Busy:
                leases = []
            except OmbudError as failed:  # such as a database that restarts
                logger.warning("Hand-overs could not be looked after: %s", failed)
            await asyncio.sleep(EVERY)
    finally:
        for lease in leases:
            lease.release()


def look_after(
    workspace: Workspace, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """One look at every conversation that is open."""
    for stands in list_sessions(workspace.store, ["bot", "returned", "queued"]):
        if stands.answering:
            recover(workspace, stands)
    for stands in list_sessions(workspace.store, ["queued"]):
        if stands.since is None:
            continue
        waited = (now() - stands.since).total_seconds()
        _warn(workspace, stands, waited)
        _tell_advisors(workspace, stands, waited)


def _warn(workspace: Workspace, stands: Session, waited: float) -> None:
    """Name the contact where nobody has taken it in time."""
    minutes = workspace.settings.handoff.unclaimed_minutes
    if stands.has_warned or waited < 60 * minutes:
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


def _tell_advisors(workspace: Workspace, stands: Session, waited: float) -> None:
    """Tell those who take such conversations, where none of them is at the desk."""
    notify = workspace.settings.handoff.notify
    if stands.desk != BUILT_IN or stands.has_notified or waited < notify.after_seconds:
        return
    able = {advisor.id: advisor for advisor in advisors_of(workspace) if suits(advisor, stands)}
    if able.keys() & present_advisors(workspace.store):
        return
    try:
        is_told = _mail(workspace.settings.mail, able.values(), stands)
        if notify.url:
            _post(notify.url, notify.secret_env, stands)
            is_told = True
    except HandoffError as failed:  # tried again at the next look
        logger.warning("Advisors could not be told: %s", failed)
        return
    if is_told:
        told = NewEvent(by="system", what=Notified())
        append_events(workspace.store, stands.id, lambda _: [told])


def _mail(settings: MailSettings, able: Iterable[AdvisorSettings], stands: Session) -> bool:
    """Whether anybody was told. Raises HandoffError."""
    addresses = [advisor.mail for advisor in able if advisor.mail]
    if not addresses or not settings.host:
        return False
    mail.send(settings, addresses, subject="Somebody waits for an advisor", text=_summary(stands))
    return True


def _summary(stands: Session) -> str:
    """Nothing of what was said: mail is read on the way."""
    why = REASONS[stands.reason] if stands.reason else "a question"
    since = f"{stands.since:%H:%M} UTC" if stands.since else "now"
    lines = [
        f"Somebody has been waiting since {since}: {why}.",
        f"Country: {stands.asker.country or 'not told'}. Topic: {stands.topic or 'not known'}.",
        "Open the desk to take the conversation.",
    ]
    return "\n".join(lines)


def _post(url: str, secret_env: str, stands: Session) -> None:
    """Signed as the webhook desk signs. Raises HandoffError."""
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
        headers |= sign(str(uuid.uuid4()), body, signing_key(secret_env), time.time())
    try:
        response = httpx.post(url, content=body, headers=headers, timeout=10)
        response.raise_for_status()
    except httpx.HTTPError as failed:
        raise HandoffError(
            f"The notification was not taken ({type(failed).__name__}).",
            hint="Check handoff.notify.url.",
        ) from failed
