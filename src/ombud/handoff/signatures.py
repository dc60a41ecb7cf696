"""Signs and verifies HTTP requests by Standard Webhooks, with a shared secret.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: three
headers, `webhook-id`, `webhook-timestamp` (seconds since 1970) and `webhook-signature`, which is
`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. Libraries exist for all common
languages.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from ombud.errors import BadRequest, BadSetting

TOLERANCE_SECONDS = 300
"""Largest difference between a timestamp and our clock, either way. A replay within this time is
recognised by its entry id."""
PREFIX = "whsec_"
SHORTEST_KEY = 24
"""Bytes that the standard requires of a secret."""


class BadSignature(BadRequest):
    """The request is not signed with our secret, was changed, or is too old."""

    status: ClassVar[int] = 401


def signing_key(variable: str) -> bytes:
    """Read the secret from an environment variable: base64 after `whsec_`, or plain. Raises
    BadSetting if it is missing or too short."""
    secret = os.environ.get(variable, "").strip()
    hint = f"Set {variable} to {PREFIX} and what `openssl rand -base64 32` gives."
    if not secret:
        raise BadSetting(f"The environment variable {variable} has no secret.", hint=hint)
    key = secret.encode()
    if secret.startswith(PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except binascii.Error:
            raise BadSetting(f"{variable} is not base64 after {PREFIX}.", hint=hint) from None
    if len(key) < SHORTEST_KEY:
        raise BadSetting(
            f"The secret in {variable} is shorter than {SHORTEST_KEY} bytes.", hint=hint
        )
    return key


def sign_webhook(message_id: str, body: bytes, key: bytes, now: float) -> dict[str, str]:
    """Return the three signature headers. message_id: the same for every attempt; now: seconds
    since 1970."""
    timestamp = str(int(now))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature_of(message_id, timestamp, body, key)}",
    }


def verify_webhook(
    headers: Mapping[str, str], body: bytes, key: bytes, now: float
) -> dict[str, Any]:
    """Verify a request and return its JSON object.

    headers: names in lower case; now: seconds since 1970. Raises BadSignature, and BadRequest for a
    body that is no JSON object.
    """
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not message_id or not is_time:
        raise BadSignature(
            "The request is not signed.",
            hint="Send webhook-id, webhook-timestamp and webhook-signature.",
        )
    expected = signature_of(message_id, timestamp, body, key).encode()
    if not matches_any(expected, headers.get("webhook-signature", "")):
        raise BadSignature(
            "The signature does not match this request.",
            hint="Sign id.timestamp.body, the body byte for byte, with the shared secret.",
        )
    # Checked last, so that a stranger learns nothing about our clock.
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise BadSignature(
            f"The request was signed more than {TOLERANCE_SECONDS // 60} minutes from now.",
            hint="Sign each attempt anew, and check the clocks of both sides.",
        )
    return parse_object(body)


def matches_any(expected: bytes, signatures: str) -> bool:
    """Compare with every signature: there may be several, separated by spaces, while a secret is
    rotated. The time taken reveals nothing."""
    matches = False
    for signature in signatures.split():
        version, _, value = signature.partition(",")
        is_same = hmac.compare_digest(expected, value.encode())
        matches = matches or (version == "v1" and is_same)
    return matches


def parse_object(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise BadRequest("The request is no JSON object.")
    return payload


def signature_of(message_id: str, timestamp: str, body: bytes, key: bytes) -> str:
    signed = f"{message_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
