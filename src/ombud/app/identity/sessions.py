"""Sessions that end at the identity provider, and the one that a frame takes over from a popup.

OpenID Connect Back-Channel Logout 1.0 and RP-Initiated Logout 1.0 define the first."""

import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ombud.app.identity.provider import LEEWAY, REFUSED, provider_metadata, verify_token
from ombud.app.workspace import Workspace
from ombud.errors import NotSignedIn, OmbudError
from ombud.store import (
    digest_of_secret,
    keep_login,
    keys,
    note_in_chain,
)

LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


async def end_sessions(workspace: Workspace, token: str) -> int:
    """Sign out whom a logout token names, and return how many browsers that were. Raises
    NotSignedIn for a token that does not hold or came before, and SetupError."""
    facts = await provider_metadata(workspace)
    wanted = {"iat": {"essential": True}, "jti": {"essential": True}}
    header, claims = await verify_token(workspace, token, facts, wanted)
    check_logout_claims(header, claims)
    now = time.time()
    until = float(claims["exp"]) + LEEWAY
    value = f"logout\n{claims['iss']}\n{claims['jti']}"
    if not keys.use_once(workspace.store, value, now=now, until=until):
        raise NotSignedIn(REFUSED, hint="This logout token came before.")
    ended = keys.forget_sessions(workspace.store, claims.get("sid", ""), claims.get("sub", ""))
    note_in_chain(
        workspace.store, "people", {"action": "signed out", "by": "provider", "browsers": ended}
    )
    return ended


def check_logout_claims(header: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    """Check what makes a token a logout token (Back-Channel Logout 1.0, 2.6), so that no other one
    counts. Raises NotSignedIn."""
    events = claims.get("events")
    named = [claims[name] for name in ("sub", "sid") if name in claims]
    wrong = {
        "Its type is another one.": header.get("typ", "JWT").lower() not in {"jwt", "logout+jwt"},
        "It is no logout token.": not isinstance(events, Mapping)
        or not isinstance(events.get(LOGOUT_EVENT), Mapping),
        "It has a nonce.": "nonce" in claims,
        "It names nobody.": not named or not all(isinstance(one, str) and one for one in named),
        "Its id is no text.": not isinstance(claims["jti"], str) or not claims["jti"],
    }
    for hint, is_wrong in wrong.items():
        if is_wrong:
            raise NotSignedIn(REFUSED, hint=hint)


async def logout_address(workspace: Workspace, secret: str, back: str) -> str:
    """Return where the provider ends its own session; empty if it has no such place, or cannot be
    reached. back: where it leads people afterwards. Call it before the login is forgotten."""
    settings = workspace.settings.identity
    login = keys.read_login(workspace.store, digest_of_secret(secret), time.time())
    if settings.kind != "oidc" or login is None or not login.at.proof:
        return ""
    try:
        facts = await provider_metadata(workspace)
    except OmbudError:  # they are signed out here all the same
        return ""
    place = str(facts.get("end_session_endpoint") or "")
    if not place.startswith(("https://", "http://127.0.0.1:")):
        return ""
    query = {
        "id_token_hint": login.at.proof,
        "post_logout_redirect_uri": back,
        "client_id": settings.client_id,
    }
    return f"{place}{'&' if '?' in place else '?'}{urlencode(query)}"


# Frames -------------------------------------------------------------------------------------------


def make_frame_code(workspace: Workspace, secret: str) -> str:
    """Make the code by which a frame takes over a browser's login, once and soon."""
    code, now = secrets.token_urlsafe(32), time.time()
    login = digest_of_secret(secret)
    # A minute: the frame takes it as soon as the window has it.
    keys.use_once(workspace.store, frame_value(code), now=now, until=now + 60, login=login)
    return code


def redeem_frame_code(workspace: Workspace, code: str) -> tuple[str, float]:
    """Return (secret, seconds) of a login of the frame's own, which ends when the other one would.
    Raises NotSignedIn."""
    now = time.time()
    digest = keys.take_once(workspace.store, frame_value(code), now)
    login = keys.read_login(workspace.store, digest, now) if digest else None
    if login is None:
        raise NotSignedIn("This code does not count, or no longer.", hint="Sign in once more.")
    secret = secrets.token_urlsafe(32)
    at = login.at._replace(proof="")
    keep_login(workspace.store, secret, login.account_id, now=now, until=login.expires, at=at)
    return secret, login.expires - now


def frame_value(code: str) -> str:
    return f"frame\n{code}"
