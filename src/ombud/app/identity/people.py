"""Who may come in, and keys of programs; every change is a record of the audit's chain."""

import re
import secrets
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from typing import get_args

from ombud.app.identity.callers import rights_of
from ombud.app.identity.signing_in import hash_password, plain_name
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotAllowed, NotFound
from ombud.registry import unknown_name
from ombud.store import (
    change_account,
    find_account,
    list_accounts,
    list_tokens,
    new_account,
    new_token,
    note_in_chain,
    password_of,
    remove_account,
    remove_token,
)
from ombud.types import Account, ApiToken, Duty, Person, Right

NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,99}")
LONGEST = 100
PREFIX = "ombud_"
"""Of every token: whoever finds one knows what it is, and scanners of repositories do too."""
HERE, PROVIDER = "command line", "provider"
"""Who does what is done with commands."""


def add_person(
    workspace: Workspace,
    name: str,
    person: Person,
    duties: Sequence[str],
    *,
    password: str = "",
    by: str = HERE,
) -> Account:
    """password: empty = none, for whom only tokens speak. Raises BadRequest, UnknownName."""
    named = plain_name(name)
    if not NAME.fullmatch(named):
        raise BadRequest(
            f"`{name[:LONGEST]}` is no name to sign in with.",
            hint="Small letters, digits and . _ @ + -, such as a mail address.",
        )
    hashed = hash_password(password) if password else ""
    account = new_account(workspace.store, named, person, checked_duties(duties), password=hashed)
    _note(workspace, "person added", account, by, duties=list(account.duties))
    return account


def find_person(workspace: Workspace, name: str) -> Account:
    """Raises NotFound."""
    found = find_account(workspace.store, plain_name(name))
    if found is None:
        raise NotFound(
            f"Nobody is called `{name[:LONGEST]}`.", hint="`ombud people list` names everybody."
        )
    return found


def list_people(workspace: Workspace) -> list[Account]:
    return list_accounts(workspace.store)


def has_admin(workspace: Workspace, but: str = "") -> bool:
    """Whether somebody who can sign in has the duty Admin. but: id of who does not count."""
    for account in list_accounts(workspace.store):
        if account.id == but or account.disabled or "admin" not in account.duties:
            continue
        if account.is_from_provider or password_of(workspace.store, account.id):
            return True
    return False


def give_duties(
    workspace: Workspace, account: Account, duties: Sequence[str], by: str = HERE
) -> Account:
    """Raises NotAllowed where nobody would be left who may do that."""
    wanted = checked_duties(duties)
    if "admin" not in wanted:
        _check_admin_left(workspace, account, by)
    changed = change_account(workspace.store, account.id, duties=wanted)
    _note(workspace, "duties", changed, by, duties=list(wanted))
    return changed


def describe_person(
    workspace: Workspace, account: Account, person: Person, by: str = HERE
) -> Account:
    """Country, roles, grade…: what decides which documents they may read."""
    changed = change_account(workspace.store, account.id, person=person)
    _note(workspace, "person changed", changed, by)
    return changed


def set_password(workspace: Workspace, account: Account, password: str, by: str = HERE) -> Account:
    """They are signed out everywhere. Raises BadRequest."""
    if account.is_from_provider:
        raise BadRequest("Their password is the provider's.")
    changed = change_account(workspace.store, account.id, password=hash_password(password))
    _note(workspace, "password", changed, by)
    return changed


def disable(
    workspace: Workspace, account: Account, *, disabled: bool = True, by: str = HERE
) -> Account:
    """They are signed out everywhere, and their tokens no longer count; what they asked stays."""
    if disabled:
        _check_admin_left(workspace, account, by)
    changed = change_account(workspace.store, account.id, disabled=disabled)
    _note(workspace, "disabled" if disabled else "enabled", changed, by)
    return changed


def forget_person(workspace: Workspace, account: Account, by: str = HERE) -> None:
    """The account goes, with its browsers and tokens."""
    remove_account(workspace.store, account.id)
    _note(workspace, "person removed", account, by)


def make_token(
    workspace: Workspace,
    account: Account,
    name: str,
    rights: Sequence[str],
    *,
    until: date | None = None,
    by: str = HERE,
) -> tuple[ApiToken, str]:
    """(the token, its secret): this is the only time that it is seen. It can never do more than its
    account. Raises BadRequest, UnknownName."""
    wanted: list[Right] = []
    for right in rights:
        if right not in get_args(Right):
            raise unknown_name("right", right, list(get_args(Right)))
        wanted.append(right)  # type: ignore[arg-type]
    missing = set(wanted) - rights_of(account)
    if not wanted or missing:
        said = f"`{account.name}` may not {', '.join(sorted(missing))}" if missing else "no right"
        raise BadRequest(f"Such a token could do nothing: {said}.", hint="Give the duty first.")
    if until and until < workspace.today():
        raise BadRequest("Its last day has passed.")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = new_token(
        workspace.store,
        secret,
        account.id,
        name=" ".join(name.split())[:LONGEST] or "token",
        rights=wanted,
        until=until,
    )
    _note(workspace, "token made", account, by, token=token.id, rights=list(token.rights))
    return token, secret


def every_token(workspace: Workspace) -> list[ApiToken]:
    return list_tokens(workspace.store)


def revoke_token(workspace: Workspace, identity: str, by: str = HERE) -> None:
    """Raises NotFound."""
    remove_token(workspace.store, identity)
    facts = {"action": "token revoked", "token": identity, "by": mark(by)}
    note_in_chain(workspace.store, "people", facts)


def checked_duties(duties: Sequence[str]) -> tuple[Duty, ...]:
    """Once each, in the order of the list of duties. Raises UnknownName."""
    known = get_args(Duty)
    for duty in duties:
        if duty not in known:
            raise unknown_name("duty", duty, list(known))
    return tuple(duty for duty in known if duty in duties) or ("employee",)


def mark(identity: str) -> str:
    """What the chain says of somebody. Ids are random, so that nobody finds them from it, and once
    an account is gone it leads nowhere."""
    if identity in (HERE, PROVIDER):
        return identity
    return sha256(identity.encode()).hexdigest()[:16]


def _check_admin_left(workspace: Workspace, account: Account, by: str) -> None:
    """On the web the last admin stays: nobody could give the duty back. On the machine anybody
    can."""
    if by == HERE or "admin" not in account.duties:
        return
    if has_admin(workspace, but=account.id):
        return
    raise NotAllowed("Somebody must stay admin.", hint="Make somebody else admin first.")


def _note(workspace: Workspace, action: str, account: Account, by: str, **facts: object) -> None:
    """Marks alone: the chain is for ever, and names are not."""
    said = {"action": action, "account": mark(account.id), "by": mark(by), **facts}
    note_in_chain(workspace.store, "people", said)
