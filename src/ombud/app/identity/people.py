"""Accounts, API keys and rules of groups; the audit chain records every change."""

import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import date
from hashlib import sha256
from typing import get_args

from ombud.app.identity.callers import merged, rights_of, with_groups
from ombud.app.identity.signing_in import hash_password, plain_name
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotAllowed, NotFound
from ombud.messages import message
from ombud.registry import unknown_name
from ombud.store import (
    change_account,
    directory,
    find_account,
    list_accounts,
    list_tokens,
    new_account,
    new_token,
    note_in_chain,
    password_of,
    remove_token,
)
from ombud.types import Account, ApiToken, Duty, GroupRule, Person, Right

NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,99}")
LONGEST = 100
PREFIX = "ombud_"
"""Prefix of every token, by which people and secret scanners recognise it."""
HERE, PROVIDER, DIRECTORY = "command line", "provider", "directory"
"""Authors of changes that are no account."""


def add_person(
    workspace: Workspace,
    name: str,
    person: Person,
    duties: Sequence[str],
    *,
    password: str = "",
    by: str = HERE,
) -> Account:
    """Create an account. password: empty for none; then only tokens can act for it. Raises
    BadRequest, UnknownName."""
    named = plain_name(name)
    if not NAME.fullmatch(named):
        raise BadRequest(
            message("admin.error_user_name", name=name[:LONGEST]),
            hint=message("admin.error_user_name_hint"),
        )
    hashed = hash_password(password) if password else ""
    account = new_account(workspace.store, named, person, checked_duties(duties), password=hashed)
    note_change(workspace, "person added", account, by, duties=list(account.duties))
    return account


def find_person(workspace: Workspace, name: str) -> Account:
    """Return an account by name. Raises NotFound."""
    account = find_account(workspace.store, plain_name(name))
    if account is None:
        raise NotFound(
            message("admin.error_person_unknown", name=name[:LONGEST]),
            hint=message("admin.error_person_unknown_hint"),
        )
    return account


def list_people(workspace: Workspace) -> list[Account]:
    return list_accounts(workspace.store)


def has_admin(workspace: Workspace, but: str = "") -> bool:
    """Tell whether an account with the duty Admin can sign in. but: id of an account to ignore."""
    for account in list_accounts(workspace.store):
        if account.id == but or account.disabled or "admin" not in account.duties:
            continue
        if account.is_from_provider or password_of(workspace.store, account.id):
            return True
    return False


def give_duties(
    workspace: Workspace, account: Account, duties: Sequence[str], by: str = HERE
) -> Account:
    """Change the duties of an account. Raises NotAllowed if nobody would be left who may do
    that."""
    wanted = checked_duties(duties)
    if "admin" not in wanted:
        check_admin_left(workspace, account, by)
    changed = change_account(workspace.store, account.id, duties=wanted)
    note_change(workspace, "duties", changed, by, duties=list(wanted))
    return changed


def describe_person(
    workspace: Workspace, account: Account, person: Person, by: str = HERE
) -> Account:
    """Change country, roles, grade and the like, which decide what they may read."""
    changed = change_account(workspace.store, account.id, person=person)
    note_change(workspace, "person changed", changed, by)
    return changed


def set_password(workspace: Workspace, account: Account, password: str, by: str = HERE) -> Account:
    """Set a password and sign the person out everywhere. Raises BadRequest."""
    if account.is_from_provider:
        raise BadRequest(message("admin.error_password_provider"))
    changed = change_account(workspace.store, account.id, password=hash_password(password))
    note_change(workspace, "password", changed, by)
    return changed


def disable(
    workspace: Workspace, account: Account, *, disabled: bool = True, by: str = HERE
) -> Account:
    """Disable an account: it is signed out everywhere and its tokens stop working; its questions
    stay."""
    if disabled:
        check_admin_left(workspace, account, by)
    changed = change_account(workspace.store, account.id, disabled=disabled)
    note_change(workspace, "disabled" if disabled else "enabled", changed, by)
    return changed


def make_token(
    workspace: Workspace,
    account: Account,
    name: str,
    rights: Sequence[str],
    *,
    until: date | None = None,
    by: str = HERE,
) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which is never shown again. It can never do
    more than its account. Raises BadRequest, UnknownName."""
    wanted: list[Right] = []
    for right in rights:
        if right not in get_args(Right):
            raise unknown_name("right", right, list(get_args(Right)))
        wanted.append(right)  # type: ignore[arg-type]
    missing = set(wanted) - rights_of(with_groups(workspace, account))
    if not wanted:
        raise BadRequest(message("admin.error_token_none"))
    if missing:
        names = ", ".join(message(f"admin.right_{right}") for right in sorted(missing))
        raise BadRequest(
            message("admin.error_token_rights", name=account.name, rights=names),
            hint=message("admin.error_token_rights_hint"),
        )
    if until and until < workspace.today():
        raise BadRequest(message("admin.error_token_past"))
    secret = PREFIX + secrets.token_urlsafe(32)
    token = new_token(
        workspace.store,
        secret,
        account.id,
        name=" ".join(name.split())[:LONGEST] or "token",
        rights=wanted,
        until=until,
    )
    note_change(workspace, "token made", account, by, token=token.id, rights=list(token.rights))
    return token, secret


def every_token(workspace: Workspace) -> list[ApiToken]:
    return list_tokens(workspace.store)


def revoke_token(workspace: Workspace, identity: str, by: str = HERE) -> None:
    """Remove a token. Raises NotFound."""
    remove_token(workspace.store, identity)
    facts = {"action": "token revoked", "token": identity, "by": mark(by)}
    note_in_chain(workspace.store, "people", facts)


def checked_duties(duties: Sequence[str]) -> tuple[Duty, ...]:
    """Return the duties without duplicates, in their usual order. Raises UnknownName."""
    choices = get_args(Duty)
    for duty in duties:
        if duty not in choices:
            raise unknown_name("duty", duty, list(choices))
    return tuple(duty for duty in choices if duty in duties) or ("employee",)


def mark(identity: str) -> str:
    """Return the pseudonym of an account in the audit chain. Ids are random, so that nobody can
    guess one from it, and once the account is gone it leads nowhere."""
    if identity in (HERE, PROVIDER, DIRECTORY):
        return identity
    return sha256(identity.encode()).hexdigest()[:16]


def check_admin_left(workspace: Workspace, account: Account, by: str) -> None:
    """Keep the last admin on the web, where nobody could give the duty back; commands may remove
    it."""
    if by == HERE or "admin" not in account.duties:
        return
    if has_admin(workspace, but=account.id):
        return
    raise NotAllowed(message("admin.error_last_admin"), hint=message("admin.error_last_admin_hint"))


def note_change(
    workspace: Workspace, action: str, account: Account, by: str, **facts: object
) -> None:
    """Record an action under pseudonyms, because the chain is for ever and names are not."""
    fields = {"action": action, "account": mark(account.id), "by": mark(by), **facts}
    note_in_chain(workspace.store, "people", fields)


# Rules of groups ----------------------------------------------------------------------------------


def list_group_rules(workspace: Workspace) -> list[GroupRule]:
    return directory.list_rules(workspace.store)


def named_groups(workspace: Workspace) -> dict[str, str]:
    """Return id -> name of the groups that the directory has."""
    return {group.key: group.name for group in directory.list_groups(workspace.store)}


def save_group_rule(
    workspace: Workspace,
    group: str,
    *,
    roles: Iterable[str],
    audiences: Iterable[str],
    duties: Iterable[str],
    by: str,
) -> GroupRule:
    """Save the rule of a group. Raises BadRequest, UnknownName."""
    identity = group.strip()
    if not identity or len(identity) > 200 or not identity.isprintable():
        raise BadRequest(
            message("admin.error_group_id"),
            hint=message("admin.error_group_id_hint"),
        )
    wanted = list(duties)
    rule = GroupRule(
        id=identity,
        roles=merged(roles),
        audiences=merged(audiences),
        duties=checked_duties(wanted) if wanted else (),
    )
    if not (rule.roles or rule.audiences or rule.duties):
        raise BadRequest(
            message("admin.error_rule_empty"), hint=message("admin.error_rule_empty_hint")
        )
    directory.save_rule(workspace.store, rule)
    note_rule(workspace, "group rule saved", rule, by)
    return rule


def remove_group_rule(workspace: Workspace, group: str, by: str) -> None:
    """Remove the rule of a group. Raises NotFound."""
    if not directory.remove_rule(workspace.store, group):
        raise NotFound(message("admin.error_rule_unknown"))
    note_rule(workspace, "group rule removed", GroupRule(id=group), by)


def note_rule(workspace: Workspace, action: str, rule: GroupRule, by: str) -> None:
    facts = {
        "action": action,
        "group": mark(rule.id),
        "by": mark(by),
        "roles": list(rule.roles),
        "audiences": list(rule.audiences),
        "duties": list(rule.duties),
    }
    note_in_chain(workspace.store, "people", facts)
