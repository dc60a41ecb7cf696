"""Who a request comes from, and what of it counts."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.store import (
    digest_of_secret,
    find_token,
    login_account,
    note_use,
    read_account,
)
from ombud.types import Account, Duty, Person, Right

RIGHTS: Mapping[Duty, frozenset[Right]] = {
    "employee": frozenset({"ask"}),
    "advisor": frozenset({"ask", "desk"}),
    "policy_owner": frozenset({"ask", "policy"}),
    "engineer": frozenset({"ask", "lab"}),
    # Not the desk: what people tell advisors is not for who runs the machine.
    "admin": frozenset({"ask", "policy", "lab", "admin"}),
}
WHO = frozenset({"id", "country", "roles", "groups", "grade", "contract"})
"""Fields of a person that say who they are, and with it what they may read."""
MANNER = ("language", "persona")
"""How they are answered; theirs to choose."""
ALL: frozenset[Right] = frozenset().union(*RIGHTS.values())
REMEMBERED_SECONDS = 1.0
"""How long an answer of the store counts for requests: a page asks for ten files at once. Whoever
is disabled is out that much later; messages of a socket are never judged by what is remembered."""
MOST_REMEMBERED = 5_000


class Caller(NamedTuple):
    """Who a request comes from. No account: everybody on this machine, as in a demo."""

    account: Account | None
    rights: frozenset[Right]
    secret: str = ""
    """Digest of what they have proven it with."""

    @property
    def key(self) -> str:
        """What their conversations belong to; empty in a demo, where browsers have keys."""
        return f"account:{self.account.id}" if self.account else ""

    @property
    def may_choose(self) -> bool:
        """Whether they may say for whom and how is asked."""
        return self.account is None or "lab" in self.rights

    @property
    def may_change_content(self) -> bool:
        """Whether they may hand in documents and have sources read."""
        return bool(self.rights & {"policy", "admin"})

    @property
    def runs_it(self) -> bool:
        """Whether they look after it, in whichever way."""
        return bool(self.rights & {"policy", "lab", "admin"})

    def person(self, said: Person, given: Collection[str]) -> Person:
        """For whom is asked: who the caller is, in the language and for the persona that the
        request names. Whoever may choose is taken at their word.

        given: the fields of `said` that the request gave."""
        if self.account is None or (self.may_choose and WHO & set(given)):
            return said
        chosen = {name: getattr(said, name) for name in MANNER if name in given}
        return self.account.person.model_copy(update=chosen)


class Find(Protocol):
    """Finds who has a secret. anew: ask the store, whatever is remembered."""

    def __call__(self, secret: str, *, anew: bool = False) -> Caller | None: ...


EVERYBODY = Caller(account=None, rights=ALL)


def rights_of(account: Account) -> frozenset[Right]:
    found: frozenset[Right] = frozenset()
    for duty in account.duties:
        found |= RIGHTS[duty]
    return found


class Callers:
    """Finds who a request comes from, and remembers it for a moment. Safe in several threads."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.time) -> None:
        self._workspace = workspace
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether everybody may come in."""
        return self._workspace.settings.identity.kind == "none"

    def remembered(self, secret: str) -> tuple[bool, Caller | None]:
        """(whether that is known, who): without a look at the store."""
        with self._lock:
            at, caller = self._known.get(digest_of_secret(secret), (0.0, None))
        return self._clock() - at < REMEMBERED_SECONDS, caller

    def of_browser(self, secret: str, *, anew: bool = False) -> Caller | None:
        """None where nobody has signed in with it, or no longer. anew: ask the store."""
        return self._remember(secret, self._browser, anew=anew)

    def of_token(self, secret: str, *, anew: bool = False) -> Caller | None:
        """None for a key that is not, or no longer, one. anew: ask the store."""
        return self._remember(secret, self._token, anew=anew)

    def forget(self, secret: str = "") -> None:
        """Look at the store again; without a secret, for everybody."""
        with self._lock:
            if secret:
                self._known.pop(digest_of_secret(secret), None)
            else:
                self._known.clear()

    def _remember(
        self, secret: str, find: Callable[[str], Caller | None], *, anew: bool
    ) -> Caller | None:
        is_known, caller = self.remembered(secret)
        if is_known and not anew:
            return caller
        # The time before the look: what is read during a change must not count for longer.
        at, digest = self._clock(), digest_of_secret(secret)
        caller = find(secret)
        with self._lock:
            newest, _ = self._known.get(digest, (at, None))
            if at >= newest:
                self._known[digest] = (at, caller)
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return caller

    def _browser(self, secret: str) -> Caller | None:
        account = login_account(self._workspace.store, secret, self._clock())
        return self._caller(account, secret, ALL)

    def _token(self, secret: str) -> Caller | None:
        store = self._workspace.store
        token = find_token(store, secret)
        today = self._workspace.today()
        if token is None or (token.until and token.until < today):
            return None
        if token.last_used != today:
            note_use(store, token.id, today)
        try:
            account = read_account(store, token.account_id)
        except NotFound:
            return None
        return self._caller(account, secret, frozenset(token.rights))

    def _caller(
        self, account: Account | None, secret: str, limit: frozenset[Right]
    ) -> Caller | None:
        if account is None or account.disabled:
            return None
        if not _is_of_kind(account, self._workspace.settings.identity.kind):
            return None
        return Caller(
            account=account,
            rights=rights_of(account) & limit,
            secret=digest_of_secret(secret),
        )


def _is_of_kind(account: Account, kind: str) -> bool:
    """People of a provider do not stay when the organisation goes back to passwords, and those with
    a password come in beside a provider only without it: as programs, by their tokens."""
    return not account.is_from_provider if kind == "local" else True


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Of a request's or a socket's scope; nobody there means that nobody had to say who they are,
    which is so only in a demo."""
    caller = scope.get("state", {}).get("caller", EVERYBODY)
    assert isinstance(caller, Caller)  # noqa: S101 - what is not one must not pass for one
    return caller
