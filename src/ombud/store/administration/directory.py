"""People and groups of a directory that provisions accounts, and what membership of a group gives.

A change of a person or a group and of the accounts that follow from it is one transaction. Both
have versions: whoever saves one that has changed meanwhile is refused."""

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, insert, select, update

from ombud.errors import BadRequest, Busy
from ombud.store.administration.tables import account as accounts
from ombud.store.administration.tables import directory_group as groups
from ombud.store.administration.tables import directory_member as members
from ombud.store.administration.tables import directory_user as users
from ombud.store.administration.tables import group_rule as rules
from ombud.store.administration.tables import login as logins
from ombud.store.database import Store
from ombud.types import GroupRule, Person


class DirectoryUser(NamedTuple):
    """A person as the directory describes them; the id is the account's."""

    id: str
    user_name: str
    external_id: str
    manager_id: str
    active: bool
    resource: str
    """SCIM resource as JSON."""
    version: int = 0
    created: str = ""
    modified: str = ""
    subject: str | None = None
    """Digest of the identity provider's name for the person."""


class DirectoryGroup(NamedTuple):
    """A group of the directory with the account ids of its members."""

    id: str
    name: str
    external_id: str
    members: tuple[str, ...] = ()
    version: int = 0
    created: str = ""
    modified: str = ""

    @property
    def key(self) -> str:
        """Return the id by which rules and documents know the group."""
        return self.external_id or self.id


class DirectoryFacts(NamedTuple):
    """Facts by which a person of the directory is described here."""

    resource: str
    claims: str
    """JSON of the person as their claims described them; empty before they sign in."""
    groups: tuple[str, ...]
    has_reports: bool


Describe = Callable[[DirectoryFacts], Person]


class Taken(BadRequest):
    """Another account has this name or subject."""

    def __init__(self) -> None:
        super().__init__("Somebody else has this name.", hint="Choose another name.")


class Outdated(Busy):
    """The row has changed or gone since it was read."""

    def __init__(self) -> None:
        super().__init__("It was changed meanwhile.", hint="Read it again.")


# People -------------------------------------------------------------------------------------------


def list_users(
    store: Store, *, identity: str = "", user_name: str = "", external_id: str = ""
) -> list[DirectoryUser]:
    """List the people that the directory has not removed and that have all the names given."""
    query = select(users).where(~users.c.removed)
    for column, value in (
        (users.c.account_id, identity),
        (users.c.user_name, user_name),
        (users.c.external_id, external_id),
    ):
        if value:
            query = query.where(column == value)
    with store.read() as db:
        return [user_of(row) for row in db.execute(query.order_by(users.c.created))]


def add_user(store: Store, user: DirectoryUser, describe: Describe) -> str:
    """Add a person and return the account's id: the account that has signed in as the same subject
    before, or a new one. Raises Taken."""
    now = utc_now()
    with store.write() as db:
        account = subject_row(db, user.subject)
        identity = account.id if account is not None else str(uuid.uuid4())
        before = db.execute(select(users).where(users.c.account_id == identity)).first()
        if before is not None and not before.removed:
            raise Taken
        check_name_free(db, user.user_name, identity)
        version, claims, disabled = 1, "", not user.active
        if account is None:
            add_account(db, identity, user, now)
        elif before is not None:
            version = before.version + 1
        else:  # until now their claims described them, and an admin may keep them out
            claims = account.person
            disabled = account.disabled or not user.active
        db.execute(delete(users).where(users.c.account_id == identity))
        row = user_values(user, version=version, at=now)
        row |= {"account_id": identity, "removed": False, "claims": claims, "created": now}
        db.execute(insert(users).values(**row))
        change_login(db, identity, user, disabled=disabled)
        refresh(db, [identity, user.manager_id], describe)
    return identity


def add_account(db: Connection, identity: str, user: DirectoryUser, now: str) -> None:
    values = {
        "id": identity,
        "name": user.user_name,
        "password": "",
        "subject": user.subject,
        "person": Person(id=identity).model_dump_json(),
        "duties": json.dumps(["employee"]),
        "disabled": not user.active,
        "at": now,
    }
    db.execute(insert(accounts).values(**values))


def save_user(store: Store, user: DirectoryUser, describe: Describe) -> None:
    """Save a person whose `version` is the one that was read. Raises Taken, Outdated."""
    with store.write() as db:
        before = current_user(db, user.id, user.version)
        account = subject_row(db, user.subject)
        if account is not None and account.id != user.id:
            raise Taken
        check_name_free(db, user.user_name, user.id)
        changed = update(users).where(users.c.account_id == user.id)
        db.execute(changed.values(**user_values(user, version=user.version + 1, at=utc_now())))
        disabled = None if before.active == user.active else not user.active
        change_login(db, user.id, user, disabled=disabled)
        refresh(db, [user.id, user.manager_id, before.manager_id], describe)


def remove_user(store: Store, user: DirectoryUser, describe: Describe) -> None:
    """Disable the account and forget what the directory said of the person; the account stays for
    its questions. Raises Outdated."""
    with store.write() as db:
        current_user(db, user.id, user.version)
        db.execute(delete(members).where(members.c.account_id == user.id))
        values = {
            "user_name": user.id,
            "manager_id": "",
            "active": False,
            "removed": True,
            "resource": "{}",
            "claims": "",
            "version": user.version + 1,
        }
        db.execute(update(users).where(users.c.account_id == user.id).values(**values))
        # The name is free for somebody else.
        former = user._replace(user_name=f"{user.user_name[:160]}~{user.id}")
        change_login(db, user.id, former, disabled=True)
        refresh(db, [user.id, user.manager_id], describe)


def save_claims(store: Store, account_id: str, person: Person, describe: Describe) -> Person | None:
    """Save how a sign-in described somebody, and return who they are with the directory's facts;
    None for a person whom no directory provisions."""
    with store.write() as db:
        of_account = users.c.account_id == account_id, ~users.c.removed
        claims = person.model_dump_json()
        if not db.execute(update(users).where(*of_account).values(claims=claims)).rowcount:
            return None
        refresh(db, [account_id], describe)
        row = db.execute(select(accounts.c.person).where(accounts.c.id == account_id)).one()
    return Person.model_validate_json(row.person)


def user_of(row: Row[Any]) -> DirectoryUser:
    return DirectoryUser(
        id=row.account_id,
        user_name=row.user_name,
        external_id=row.external_id,
        manager_id=row.manager_id,
        active=bool(row.active),
        resource=row.resource,
        version=row.version,
        created=row.created,
        modified=row.modified,
    )


def utc_now() -> str:
    return datetime.now(UTC).isoformat()


def user_values(user: DirectoryUser, *, version: int, at: str) -> dict[str, Any]:
    return {
        "user_name": user.user_name,
        "external_id": user.external_id,
        "manager_id": user.manager_id,
        "active": user.active,
        "resource": user.resource,
        "version": version,
        "modified": at,
    }


def current_user(db: Connection, identity: str, version: int) -> Row[Any]:
    """Return the row of a person, if it still has this version. Raises Outdated."""
    query = select(users).where(users.c.account_id == identity, ~users.c.removed)
    row = db.execute(query.with_for_update()).first()
    if row is None or row.version != version:
        raise Outdated
    return row


def subject_row(db: Connection, subject: str | None) -> Row[Any] | None:
    if subject is None:
        return None
    return db.execute(select(accounts).where(accounts.c.subject == subject)).first()


def check_name_free(db: Connection, name: str, identity: str) -> None:
    """Raise Taken if another account has the name."""
    query = select(accounts.c.id).where(accounts.c.name == name, accounts.c.id != identity)
    if db.execute(query).first():
        raise Taken


def change_login(
    db: Connection, identity: str, user: DirectoryUser, *, disabled: bool | None
) -> None:
    """Change by what an account signs in; a disabled one, or one of another subject, is signed out
    everywhere."""
    values: dict[str, Any] = {"name": user.user_name}
    before = db.execute(select(accounts.c.subject).where(accounts.c.id == identity)).scalar()
    is_another = user.subject is not None and user.subject != before
    if user.subject is not None:
        values["subject"] = user.subject
    if disabled is not None:
        values["disabled"] = disabled
    db.execute(update(accounts).where(accounts.c.id == identity).values(**values))
    if disabled or is_another:
        db.execute(delete(logins).where(logins.c.account_id == identity))


def refresh(db: Connection, account_ids: Iterable[str], describe: Describe) -> None:
    """Describe accounts again from what the directory and their claims say now."""
    for identity in sorted(filter(None, set(account_ids))):
        row = db.execute(select(users).where(users.c.account_id == identity)).first()
        if row is None:
            continue
        joined = select(groups).join(members, members.c.group_id == groups.c.id)
        own = db.execute(joined.where(members.c.account_id == identity).order_by(groups.c.id))
        reports = select(users.c.account_id).where(users.c.manager_id == identity, users.c.active)
        facts = DirectoryFacts(
            resource=row.resource,
            claims=row.claims,
            groups=tuple(group.external_id or group.id for group in own),
            has_reports=db.execute(reports.limit(1)).first() is not None,
        )
        person = describe(facts).model_copy(update={"id": identity})
        values = {"person": person.model_dump_json()}
        db.execute(update(accounts).where(accounts.c.id == identity).values(**values))


# Groups -------------------------------------------------------------------------------------------


def list_groups(store: Store, identity: str = "") -> list[DirectoryGroup]:
    """Return the groups with their members; limited to one by its id."""
    query = select(groups).order_by(groups.c.created)
    joined = select(members).order_by(members.c.account_id)
    if identity:
        query = query.where(groups.c.id == identity)
        joined = joined.where(members.c.group_id == identity)
    of_group: dict[str, list[str]] = {}
    with store.read() as db:
        rows = db.execute(query).all()
        for member in db.execute(joined):
            of_group.setdefault(member.group_id, []).append(member.account_id)
    result: list[DirectoryGroup] = []
    for row in rows:
        ids = tuple(of_group.get(row.id, ()))
        group = DirectoryGroup(row.id, row.name, row.external_id, ids)
        result.append(
            group._replace(version=row.version, created=row.created, modified=row.modified)
        )
    return result


def save_group(store: Store, group: DirectoryGroup, describe: Describe) -> None:
    """Add a group (version 0) or save one whose `version` is the one that was read. Members that
    are no people of the directory are left out. Raises Outdated."""
    now = utc_now()
    values = {
        "name": group.name,
        "external_id": group.external_id,
        "version": group.version + 1,
        "modified": now,
    }
    with store.write() as db:
        before: set[str] = set()
        if group.version:
            before = current_members(db, group)
            db.execute(update(groups).where(groups.c.id == group.id).values(**values))
        else:
            db.execute(insert(groups).values(id=group.id, created=now, **values))
        after = existing_users(db, group.members)
        for gone in before - after:
            of_account = members.c.group_id == group.id, members.c.account_id == gone
            db.execute(delete(members).where(*of_account))
        for new in after - before:
            db.execute(insert(members).values(group_id=group.id, account_id=new))
        refresh(db, before | after, describe)


def remove_group(store: Store, group: DirectoryGroup, describe: Describe) -> None:
    """Remove a group with what it gave. Raises Outdated."""
    with store.write() as db:
        before = current_members(db, group)
        db.execute(delete(members).where(members.c.group_id == group.id))
        db.execute(delete(groups).where(groups.c.id == group.id))
        refresh(db, before, describe)


def current_members(db: Connection, group: DirectoryGroup) -> set[str]:
    """Return the members of a group that still has this version. Raises Outdated."""
    query = select(groups.c.version).where(groups.c.id == group.id).with_for_update()
    row = db.execute(query).first()
    if row is None or row.version != group.version:
        raise Outdated
    ids = select(members.c.account_id).where(members.c.group_id == group.id)
    return set(db.execute(ids).scalars())


def existing_users(db: Connection, ids: Collection[str]) -> set[str]:
    query = select(users.c.account_id).where(~users.c.removed)
    return set(db.execute(query).scalars()) & set(ids)


def known_users(store: Store, ids: Collection[str]) -> set[str]:
    """Return those of the ids that are people of the directory."""
    with store.read() as db:
        return existing_users(db, ids)


def groups_of_users(store: Store, identity: str = "") -> dict[str, list[tuple[str, str]]]:
    """Return account id -> (id, name) of each group they are in; limited to one account."""
    query = select(members.c.account_id, groups.c.id, groups.c.name)
    if identity:
        query = query.where(members.c.account_id == identity)
    joined = query.join(groups, groups.c.id == members.c.group_id).order_by(groups.c.id)
    result: dict[str, list[tuple[str, str]]] = {}
    with store.read() as db:
        for account_id, identity, name in db.execute(joined):
            result.setdefault(account_id, []).append((identity, name))
    return result


# Rules of groups ----------------------------------------------------------------------------------


def list_rules(store: Store, ids: Sequence[str] | None = None) -> list[GroupRule]:
    """Return the rules, sorted by id. ids: of these groups only."""
    query = select(rules).order_by(rules.c.id)
    if ids is not None:
        query = query.where(rules.c.id.in_(ids))
    with store.read() as db:
        rows = db.execute(query).all()
    return [
        GroupRule(
            id=row.id,
            roles=tuple(json.loads(row.roles)),
            audiences=tuple(json.loads(row.audiences)),
            duties=tuple(json.loads(row.duties)),
        )
        for row in rows
    ]


def save_rule(store: Store, rule: GroupRule) -> None:
    """Save a rule in place of the group's earlier one."""
    values = {
        "id": rule.id,
        "roles": json.dumps(rule.roles),
        "audiences": json.dumps(rule.audiences),
        "duties": json.dumps(rule.duties),
    }
    with store.write() as db:
        db.execute(delete(rules).where(rules.c.id == rule.id))
        db.execute(insert(rules).values(**values))


def remove_rule(store: Store, identity: str) -> bool:
    """Remove a rule and return whether it existed."""
    with store.write() as db:
        return bool(db.execute(delete(rules).where(rules.c.id == identity)).rowcount)
