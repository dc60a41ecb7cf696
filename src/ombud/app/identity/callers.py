"""Who sends a request, and which of its claims are accepted."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, get_args

from ombud.app.identity.signing_in import plain_name
from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.store import (
    digest_of_secret,
    directory,
    find_account,
    find_token,
    login_account,
    note_use,
    read_account,
)
from ombud.types import Account, Duty, GroupRule, Person, Right

RIGHTS: Mapping[Duty, frozenset[Right]] = {
    "employee": frozenset({"ask"}),
    "advisor": frozenset({"ask", "desk"}),
    "policy_owner": frozenset({"ask", "policy"}),
    "engineer": frozenset({"ask", "lab"}),
    # Not the desk: messages to advisors are not for the operator.
    "admin": frozenset({"ask", "policy", "lab", "admin"}),
}
WHO = frozenset({"id", "country", "roles", "groups", "grade", "contract"})
"""Fields of a person that identify them and decide what they may read."""
MANNER = ("language", "persona")
"""Fields that decide how they are answered; anybody may choose them."""
ALL: frozenset[Right] = frozenset().union(*RIGHTS.values())
REMEMBERED_SECONDS = 1.0
"""How long a lookup is reused for public files, of which a page fetches ten at once, and for the
parts of a stream that has begun. Other requests and messages of a socket look up anew."""
MOST_REMEMBERED = 5_000


class Caller(NamedTuple):
    """The sender of a request. No account: anybody on this machine, as in a demo."""

    account: Account | None
    rights: frozenset[Right]
    secret: str = ""
    """Digest of the secret that identified them."""

    @property
    def key(self) -> str:
        """Return the key that owns their conversations; empty in a demo, where each browser has its
        own."""
        return f"account:{self.account.id}" if self.account else ""

    @property
    def name(self) -> str:
        return self.account.name if self.account else "demo"

    @property
    def may_choose(self) -> bool:
        """Tell whether they may name the person they ask for."""
        return self.account is None or "lab" in self.rights

    @property
    def may_change_content(self) -> bool:
        """Tell whether they may upload documents and sync sources."""
        return bool(self.rights & {"policy", "admin"})

    @property
    def runs_it(self) -> bool:
        """Tell whether they look after the workspace in any role."""
        return bool(self.rights & {"policy", "lab", "admin"})

    def person(self, claimed: Person, fields: Collection[str]) -> Person:
        """Return the person to answer: the caller, with the request's language and persona. A
        caller who may choose is trusted.

        fields: names of the fields of `claimed` that the request contained.
        """
        if self.account is None or (self.may_choose and WHO & set(fields)):
            return claimed
        chosen = {name: getattr(claimed, name) for name in MANNER if name in fields}
        return self.account.person.model_copy(update=chosen)


class Find(Protocol):
    """Finds the caller with a secret. anew: bypass the cache."""

    def __call__(self, secret: str, *, anew: bool = False) -> Caller | None: ...


EVERYBODY = Caller(account=None, rights=ALL)


def rights_of(account: Account) -> frozenset[Right]:
    rights: frozenset[Right] = frozenset()
    for duty in account.duties:
        rights |= RIGHTS[duty]
    return rights


def is_active(workspace: Workspace, person: Person) -> bool:
    """Tell whether a person may still use the assistant. Every channel asks the store before it
    answers or relays; where nobody signs in, everybody may."""
    if workspace.settings.identity.kind == "none":
        return True
    return active_account(workspace, person.id) is not None


def active_account(workspace: Workspace, identity: str) -> Account | None:
    """Read an account with what its groups add; None if it is gone or may no longer ask."""
    try:
        account = with_groups(workspace, read_account(workspace.store, identity))
    except NotFound:
        return None
    return account if may_ask(account) else None


def may_ask(account: Account) -> bool:
    """Tell whether an account, with what its groups add, may use the assistant."""
    return not account.disabled and "ask" in rights_of(account)


class Callers:
    """Finds and briefly caches the callers of requests; safe in several threads."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.time) -> None:
        self._workspace = workspace
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Tell whether anybody may come in."""
        return self._workspace.settings.identity.kind == "none"

    def remembered(self, secret: str) -> tuple[bool, Caller | None]:
        """Return (whether it is cached, the caller) without asking the store."""
        with self._lock:
            at, caller = self._known.get(digest_of_secret(secret), (0.0, None))
        return self._clock() - at < REMEMBERED_SECONDS, caller

    def of_browser(self, secret: str, *, anew: bool = False) -> Caller | None:
        """Return the signed-in caller; None if nobody is or the login has expired. anew: ask the
        store."""
        return self._remember(secret, self._browser, anew=anew)

    def of_token(self, secret: str, *, anew: bool = False) -> Caller | None:
        """Return the caller of an API key; None if it is invalid or expired. anew: ask the
        store."""
        return self._remember(secret, self._token, anew=anew)

    def forget(self, secret: str = "") -> None:
        """Drop a secret from the cache; without one, drop everything."""
        with self._lock:
            if secret:
                self._known.pop(digest_of_secret(secret), None)
            else:
                self._known.clear()

    def _remember(
        self, secret: str, find: Callable[[str], Caller | None], *, anew: bool
    ) -> Caller | None:
        is_cached, caller = self.remembered(secret)
        if is_cached and not anew:
            return caller
        # Taken before the lookup, so that a value read during a change does not last longer.
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
        if not is_sign_in_allowed(account, self._workspace.settings.identity.kind):
            return None
        account = with_groups(self._workspace, account)
        return Caller(
            account=account,
            rights=rights_of(account) & limit,
            secret=digest_of_secret(secret),
        )


def with_groups(workspace: Workspace, account: Account) -> Account:
    """Return an account with what the rules of its groups add."""
    rules = rules_of(workspace, account.person)
    if not rules:
        return account
    person = account.person
    described = {
        "roles": merged(person.roles, *(rule.roles for rule in rules)),
        "groups": merged(person.groups, *(rule.audiences for rule in rules)),
    }
    duties = set(account.duties).union(*(rule.duties for rule in rules))
    return account.model_copy(
        update={
            "person": person.model_copy(update=described),
            "duties": tuple(duty for duty in get_args(Duty) if duty in duties),
        }
    )


def rules_of(workspace: Workspace, person: Person) -> list[GroupRule]:
    """Return the rules of a person's groups."""
    return directory.list_rules(workspace.store, person.groups) if person.groups else []


def merged(*lists: Iterable[str]) -> tuple[str, ...]:
    """Return the values of all lists, each once, in order."""
    return tuple(dict.fromkeys(value for values in lists for value in values))


def is_sign_in_allowed(account: Account, kind: str) -> bool:
    """Tell whether an account may use this kind of sign-in: accounts of a provider do not work with
    passwords, and accounts with passwords work beside a provider only through tokens."""
    return not account.is_from_provider if kind == "local" else True


def account_of_mail(workspace: Workspace, mail: str) -> Account | None:
    """Return the account whose name is a mail address."""
    account = find_account(workspace.store, plain_name(mail)) if mail else None
    return with_groups(workspace, account) if account else None


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Return the caller of a request's or socket's scope; without one, anybody, as in a demo."""
    caller = scope.get("state", {}).get("caller", EVERYBODY)
    assert isinstance(caller, Caller)  # noqa: S101 - anything else must not pass for a caller
    return caller
