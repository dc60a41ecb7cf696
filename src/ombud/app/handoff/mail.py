"""Sends mail through the server of the settings."""

import os
import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from ombud.errors import BadRequest, HandoffError
from ombud.settings import MailSettings

SECONDS = 20.0
"""Timeout of each reply of the mail server."""


def send(settings: MailSettings, to: Sequence[str], *, subject: str, text: str) -> None:
    """Send one plain-text mail. Raises BadRequest for an invalid address, HandoffError if no server
    is set or it refuses."""
    if not settings.host:
        raise HandoffError("No mail server is set.", hint="Set mail.host in ombud.toml.")
    message = EmailMessage()
    try:
        message["Subject"] = subject
        message["From"] = settings.sender or settings.user
        message["To"] = ", ".join(checked_address(one) for one in to)
    except ValueError as wrong:
        raise BadRequest("That is no mail address.") from wrong
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid()
    message.set_content(text)
    try:
        with connect(settings) as server:
            if settings.user:
                server.login(settings.user, os.environ.get(settings.password_env, ""))
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as failed:
        raise HandoffError(
            f"The mail server {settings.host} refused the mail ({type(failed).__name__}).",
            hint="Check the [mail] settings; nothing was lost.",
        ) from failed


def connect(settings: MailSettings) -> smtplib.SMTP:
    if settings.security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(settings.host, settings.port, timeout=SECONDS, context=context)
    server = smtplib.SMTP(settings.host, settings.port, timeout=SECONDS)
    if settings.security == "starttls":
        server.starttls(context=ssl.create_default_context())
    return server


def checked_address(text: str) -> str:
    name, at, domain = text.strip().rpartition("@")
    is_plain = bool(name) and bool(at) and "." in domain
    if not is_plain or any(sign in text for sign in ",;<>\r\n\"' ") or len(text) > 254:
        raise BadRequest(f"`{text[:60]}` is no mail address.")
    return text.strip()
