"""Who sent an HTTP request, and that nobody changed it: Standard Webhooks, with a shared secret.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: three
headers, `webhook-id`, `webhook-timestamp` (seconds since 1970) and `webhook-signature`, which is
`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. Libraries for it exist in all usual
languages.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ombud.errors import BadRequest, BadSetting

TOLERANCE_SECONDS = 300
"""How far a timestamp may be from our clock, either way. A request that is sent once more within
this time is known by the id of what it brings."""
PREFIX = "whsec_"
SHORTEST_KEY = 24
"""Bytes that the standard asks of a secret."""


class BadSignature(BadRequest):
    """Not signed with our secret, changed on its way, or too old."""

    status: ClassVar[int] = 401


def signing_key(variable: str) -> bytes:
    """The secret in an environment variable: `whsec_` and base64, or as it stands. Raises
    BadSetting where there is none, or none that is safe."""
    secret = os.environ.get(variable, "").strip()
    hint = f"Set {variable} to {PREFIX} and what `openssl rand -base64 32` gives."
    if not secret:
        raise BadSetting(f"The environment variable {variable} holds no secret.", hint=hint)
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


def sign(message_id: str, body: bytes, key: bytes, now: float) -> dict[str, str]:
    """The three headers. message_id: the same for every try; now: seconds since 1970."""
    timestamp = str(int(now))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{_signature(message_id, timestamp, body, key)}",
    }


def verify(headers: Mapping[str, str], body: bytes, key: bytes, now: float) -> dict[str, Any]:
    """What the body says, a JSON object, once it is proven to come from who has the secret.

    headers: by names in lower case; now: seconds since 1970. Raises BadSignature, and BadRequest
    for a body that is no JSON object."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise BadSignature(
            "The request is not signed.",
            hint="Send webhook-id, webhook-timestamp and webhook-signature.",
        )
    expected = _signature(message_id, timestamp, body, key).encode()
    if not _is_among(expected, headers.get("webhook-signature", "")):
        raise BadSignature(
            "The signature is not that of this request.",
            hint="Sign id.timestamp.body, the body byte for byte, with the secret of both sides.",
        )
    # Only now: a stranger learns nothing of our clock.
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise BadSignature(
            f"The request was signed more than {TOLERANCE_SECONDS // 60} minutes from now.",
            hint="Sign each try anew, and check the clock of either side.",
        )
    return _payload(body)


def _is_among(expected: bytes, signatures: str) -> bool:
    """Several may stand there, apart by blanks, while a secret is being changed. All are compared,
    in a time that tells nothing."""
    matches = False
    for signature in signatures.split():
        version, _, value = signature.partition(",")
        is_same = hmac.compare_digest(expected, value.encode())
        matches = matches or (version == "v1" and is_same)
    return matches


def _payload(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise BadRequest("The request is no JSON object.")
    return payload


def _signature(message_id: str, timestamp: str, body: bytes, key: bytes) -> str:
    signed = f"{message_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
