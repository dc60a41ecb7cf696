"""Passwords and browsers: somebody proves who they are."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotSignedIn
from ombud.store import find_account, forget_login, keep_login, password_of
from ombud.types import Account

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST = 12
"""Characters of a password: NIST SP 800-63B asks for 8 at least and for 15 where nothing else
proves who somebody is; trying is throttled here, so that 12 hold."""
MOST = 200
TRIES = 5
"""Wrong passwords for one name, or from one address, before each further one has to wait."""
PAUSE = 30.0
"""Seconds after which one more try is free."""
MOST_COUNTED = 10_000
_AT_ONCE = threading.Semaphore(2)
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

    with _AT_ONCE:
        try:
            _hasher().verify(hashed or _nobodys(), password[:MOST])
        except (VerificationError, InvalidHashError):
            return False
    return bool(hashed)


class Tries:
    """Counts wrong passwords by name and by address: a bucket of TRIES that fills by one every
    PAUSE seconds. Safe in several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, *owners: str) -> float:
        """Seconds until any of them may try again; 0.0 = now."""
        with self._lock:
            counts = [self._count(owner) for owner in owners]
        return max(0.0, (max(counts) - TRIES + 1) * PAUSE)

    def count(self, *owners: str) -> None:
        """It was wrong."""
        now = self._clock()
        with self._lock:
            for owner in owners:
                self._wrong[owner] = (self._count(owner) + 1, now)
                self._wrong.move_to_end(owner)
            while len(self._wrong) > MOST_COUNTED:
                self._wrong.popitem(last=False)

    def clear(self, owner: str) -> None:
        with self._lock:
            self._wrong.pop(owner, None)

    def _count(self, owner: str) -> float:
        count, at = self._wrong.get(owner, (0.0, 0.0))
        return max(0.0, count - (self._clock() - at) / PAUSE)


def sign_in(
    workspace: Workspace, tries: Tries, name: str, password: str, address: str
) -> tuple[Account, str]:
    """(who, secret of the browser). The same words whatever was wrong. Raises NotSignedIn."""
    name = plain_name(name)
    owners = (f"name {name}", f"address {address}")
    seconds = tries.wait(*owners)
    if seconds:
        raise NotSignedIn(
            "Too many wrong passwords came for this name or from here.",
            hint=f"Try again in {seconds:.0f} seconds.",
        )
    account = find_account(workspace.store, name)
    hashed = password_of(workspace.store, account.id) if account else ""
    is_right = is_password(hashed, password)
    if account is None or account.disabled or not is_right:
        tries.count(*owners)
        raise NotSignedIn(
            "Name and password do not go together.", hint="Whoever runs this can set a new one."
        )
    tries.clear(owners[0])
    return account, open_browser(workspace, account)


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
