"""Notify the owner of a regression, by mail and webhook."""

import json
import os
import time
import uuid

import httpx

from ombud.app.handoff.mail import send
from ombud.errors import HandoffError
from ombud.handoff import sign_webhook, signing_key
from ombud.lab import Verdict
from ombud.settings import Settings
from ombud.types import Run

SECONDS = 10.0
"""Timeout of the webhook."""
MAX_NAMED = 10
"""Largest number of falls in a mail."""


def notify_owner(settings: Settings, run: Run, baseline: Run, verdict: Verdict) -> None:
    """Notify the owner. Raises HandoffError if everybody to notify could not be reached."""
    owner = settings.lab
    if owner.owner_mail:
        subject = f"{settings.general.name}: answers fell in {run.dataset}"
        text = fall_text(run, baseline, verdict, settings.server.public_url)
        send(settings.mail, owner.owner_mail, subject=subject, text=text)
    if owner.owner_url:
        post_fall(owner.owner_url, settings.handoff.notify.secret_env, run, baseline, verdict)


def fall_text(run: Run, baseline: Run, verdict: Verdict, public_url: str) -> str:
    """Describe what fell, for whom, and the cases that fell most."""
    lines = [
        f"Run {run.id} ({run.cases} cases of {run.dataset}) fell beyond noise against run "
        f"{baseline.id}.",
        "",
    ]
    for fall in verdict.falls[:MAX_NAMED]:
        lines.append(f"* {fall.said}")
        for change in fall.worst:
            lines.append(f"    {change.case.id}: {change.case.question}")
    if len(verdict.falls) > MAX_NAMED:
        lines.append(f"* and {len(verdict.falls) - MAX_NAMED} more")
    lines += ["", f"ombud lab report {baseline.id} {run.id} --html fall.html shows every case."]
    if public_url:
        lines.append(f"{public_url}/lab/report?run={baseline.id}&run={run.id}")
    return "\n".join(lines)


def post_fall(url: str, secret_env: str, run: Run, baseline: Run, verdict: Verdict) -> None:
    """Post to the webhook, signed as handoffs are."""
    falls: list[dict[str, object]] = []
    for fall in verdict.falls:
        row = fall.contrast
        group = f"{row.group} {row.name}".strip() if row else ""
        worst = [change.case.id for change in fall.worst]
        falls.append({"said": fall.said, "metric": fall.concerns, "group": group, "cases": worst})
    content = {"type": "fall", "run": run.id, "baseline": baseline.id, "falls": falls}
    body = json.dumps(content).encode()
    headers = {"content-type": "application/json"}
    if os.environ.get(secret_env):
        headers |= sign_webhook(str(uuid.uuid4()), body, signing_key(secret_env), time.time())
    try:
        httpx.post(url, content=body, headers=headers, timeout=SECONDS).raise_for_status()
    except httpx.HTTPError as failed:
        raise HandoffError(
            f"The notification was refused ({type(failed).__name__}).",
            hint="Check lab.owner_url.",
        ) from failed
