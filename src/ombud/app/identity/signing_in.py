"""Signing in with a password."""

import asyncio
import secrets
import time
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from ombud.app.identity.throttle import Throttle as Throttle
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotSignedIn
from ombud.messages import message
from ombud.store import find_password, forget_login, keep_login, keys
from ombud.types import Account

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST = 12
"""Minimum length of a password. NIST SP 800-63B requires 8 characters, and 15 where nothing else
proves who somebody is; attempts are throttled here, so 12 suffice."""
MOST = 200
CONCURRENT_CHECKS = ThreadPoolExecutor(2, thread_name_prefix="passwords")
"""Limit of concurrent checks, because each takes 64 MiB."""


@cache
def password_hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()  # the parameters of RFC 9106's second choice: 64 MiB, 3 passes


@cache
def unmatchable_hash() -> str:
    """Return a hash that matches no password, so that an unknown name takes as long as a known
    one."""
    return password_hasher().hash(secrets.token_urlsafe(32))


def hash_password(password: str) -> str:
    """Hash a password. Raises BadRequest if it is too short or too long."""
    if not LEAST <= len(password) <= MOST:
        raise BadRequest(
            message("admin.error_password", least=LEAST, most=MOST),
            hint=message("admin.error_password_hint"),
        )
    return password_hasher().hash(password)


def is_password(hashed: str, password: str) -> bool:
    """Check a password; an empty hash never matches and takes as long."""
    from argon2.exceptions import InvalidHashError, VerificationError

    nobodys = unmatchable_hash()
    try:
        password_hasher().verify(hashed or nobodys, password[:MOST])
    except (VerificationError, InvalidHashError):
        return False
    return bool(hashed)


async def sign_in(
    workspace: Workspace, throttle: Throttle, name: str, password: str, address: str
) -> tuple[Account, str]:
    """Return (account, secret of the browser). Raises NotSignedIn with the same message for every
    cause, and Busy under a flood of attempts."""
    named = plain_name(name)[:MOST]
    loop = asyncio.get_running_loop()

    def check() -> Awaitable[Account | None]:
        return loop.run_in_executor(
            CONCURRENT_CHECKS, account_with_password, workspace, named, password
        )

    account = await throttle.take_turn(named, address, check)
    if account is None:
        raise NotSignedIn(
            "Name and password do not go together.", hint="Whoever runs this can set a new one."
        )
    return account, await asyncio.to_thread(open_browser, workspace, account)


def account_with_password(workspace: Workspace, name: str, password: str) -> Account | None:
    """Return the account if name and password match; an unknown name takes the same time."""
    account, hashed = find_password(workspace.store, name)
    is_right = is_password(hashed, password)
    return None if account is None or account.disabled or not is_right else account


def open_browser(
    workspace: Workspace,
    account: Account,
    at: keys.ProviderSession = keys.ProviderSession(),  # noqa: B008 - immutable
) -> str:
    """Create a browser's secret for its cookie. at: the session at the identity provider."""
    secret, now = secrets.token_urlsafe(32), time.time()
    until = now + workspace.settings.identity.hours * 3600
    keep_login(workspace.store, secret, account.id, now=now, until=until, at=at)
    return secret


def sign_out(workspace: Workspace, secret: str) -> None:
    forget_login(workspace.store, secret)


def plain_name(name: str) -> str:
    """Normalise a name for comparison: lower case, without surrounding spaces."""
    return " ".join(name.split()).casefold()
