"""Passwords and browsers: somebody proves who they are."""

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
from ombud.store import find_password, forget_login, keep_login
from ombud.types import Account

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST = 12
"""Characters of a password: NIST SP 800-63B asks for 8 at least and for 15 where nothing else
proves who somebody is; trying is throttled here, so that 12 hold."""
MOST = 200
_CHECKS = ThreadPoolExecutor(2, thread_name_prefix="passwords")
"""Each check takes 64 MiB."""


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()  # the parameters of RFC 9106's second choice: 64 MiB, 3 passes


@cache
def _nobodys() -> str:
    """A hash that no password has: an unknown name takes as long as a known one."""
    return _hasher().hash(secrets.token_urlsafe(32))


def hash_password(password: str) -> str:
    """Raises BadRequest for one that is too short or too long."""
    if not LEAST <= len(password) <= MOST:
        raise BadRequest(
            f"A password has {LEAST} to {MOST} characters.",
            hint="Several words are easy to remember.",
        )
    return _hasher().hash(password)


def is_password(hashed: str, password: str) -> bool:
    """Takes as long for an empty hash, which none is."""
    from argon2.exceptions import InvalidHashError, VerificationError

    nobodys = _nobodys()
    try:
        _hasher().verify(hashed or nobodys, password[:MOST])
    except (VerificationError, InvalidHashError):
        return False
    return bool(hashed)


async def sign_in(
    workspace: Workspace, throttle: Throttle, name: str, password: str, address: str
) -> tuple[Account, str]:
    """(who, secret of the browser). The same words whatever was wrong. Raises NotSignedIn, and Busy
    under a flood of tries."""
    named = plain_name(name)[:MOST]
    loop = asyncio.get_running_loop()

    def check() -> Awaitable[Account | None]:
        return loop.run_in_executor(_CHECKS, _with_password, workspace, named, password)

    account = await throttle.take_turn(named, address, check)
    if account is None:
        raise NotSignedIn(
            "Name and password do not go together.", hint="Whoever runs this can set a new one."
        )
    return account, await asyncio.to_thread(open_browser, workspace, account)


def _with_password(workspace: Workspace, name: str, password: str) -> Account | None:
    """None where name and password do not go together, after the same time for a name that nobody
    has."""
    account, hashed = find_password(workspace.store, name)
    is_right = is_password(hashed, password)
    return None if account is None or account.disabled or not is_right else account


def open_browser(workspace: Workspace, account: Account) -> str:
    """A browser's secret, to be kept as a cookie."""
    secret, now = secrets.token_urlsafe(32), time.time()
    until = now + workspace.settings.identity.hours * 3600
    keep_login(workspace.store, secret, account.id, now=now, until=until)
    return secret


def sign_out(workspace: Workspace, secret: str) -> None:
    forget_login(workspace.store, secret)


def plain_name(name: str) -> str:
    """As names are compared: without blanks around it, in small letters."""
    return " ".join(name.split()).casefold()
