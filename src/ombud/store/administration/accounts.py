"""Rows of people who can sign in or whom tokens act for."""

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from ombud.errors import BadRequest, NotFound
from ombud.store.administration.keys import digest_of_secret
from ombud.store.administration.tables import account as accounts
from ombud.store.administration.tables import login as logins
from ombud.store.administration.tables import token as tokens
from ombud.store.database import Store
from ombud.types import Account, Duty, Person


def new_account(
    store: Store,
    name: str,
    person: Person,
    duties: Sequence[Duty],
    *,
    password: str = "",
    subject: str | None = None,
) -> Account:
    """Create an account. password: its hash; subject: digest of the identity provider's name for
    the person. Raises BadRequest if the name is taken."""
    identity = str(uuid.uuid4())
    values = {
        "id": identity,
        "name": name,
        "password": password,
        "subject": subject,
        "person": person.model_copy(update={"id": identity}).model_dump_json(),
        "duties": json.dumps(list(duties)),
        "disabled": False,
        "at": datetime.now(UTC).isoformat(),
    }
    with store.write() as db:
        taken = select(accounts.c.id).where(
            or_(accounts.c.name == name, accounts.c.subject == subject)
            if subject
            else accounts.c.name == name
        )
        if db.execute(taken).first():
            raise BadRequest(f"`{name}` is taken.", hint="Choose another name.")
        try:
            db.execute(insert(accounts).values(**values))
        except IntegrityError as taken_meanwhile:
            raise BadRequest(f"`{name}` is taken.") from taken_meanwhile
    return read_account(store, identity)


def read_account(store: Store, identity: str) -> Account:
    """Return an account by its id. Raises NotFound."""
    row = account_row(store, accounts.c.id == identity)
    if row is None:
        raise NotFound("This account no longer exists.")
    return account_of(row)


def find_account(store: Store, name: str) -> Account | None:
    """Return an account by its exact name."""
    row = account_row(store, accounts.c.name == name)
    return account_of(row) if row else None


def find_subject(store: Store, subject: str) -> Account | None:
    row = account_row(store, accounts.c.subject == subject)
    return account_of(row) if row else None


def login_account(store: Store, secret: str, now: float) -> Account | None:
    """Return the account that is signed in with this secret; None if there is none or it has
    expired. now: seconds since 1970."""
    signed_in = select(accounts).join(logins, logins.c.account_id == accounts.c.id)
    of_secret = signed_in.where(logins.c.digest == digest_of_secret(secret), logins.c.expires > now)
    with store.read() as db:
        row = db.execute(of_secret).first()
    return account_of(row) if row else None


def find_password(store: Store, name: str) -> tuple[Account | None, str]:
    """Return the account of a name and the hash of its password, empty if it has none."""
    row = account_row(store, accounts.c.name == name)
    return (account_of(row), str(row.password)) if row else (None, "")


def password_of(store: Store, identity: str) -> str:
    """Return the hash of an account's password; empty if it has none."""
    row = account_row(store, accounts.c.id == identity)
    return str(row.password) if row else ""


def list_accounts(store: Store) -> list[Account]:
    """Return all accounts, sorted by name."""
    with store.read() as db:
        rows = db.execute(select(accounts).order_by(accounts.c.name)).all()
    return list(map(account_of, rows))


def change_account(
    store: Store,
    identity: str,
    *,
    person: Person | None = None,
    duties: Sequence[Duty] | None = None,
    disabled: bool | None = None,
    password: str | None = None,
) -> Account:
    """Change the fields that are not None. A disabled account or one with a new password is signed
    out everywhere. Raises NotFound."""
    values: dict[str, Any] = {}
    if person is not None:
        values["person"] = person.model_copy(update={"id": identity}).model_dump_json()
    if duties is not None:
        values["duties"] = json.dumps(list(duties))
    if disabled is not None:
        values["disabled"] = disabled
    if password is not None:
        values["password"] = password
    update_account(store, identity, values, sign_out=bool(disabled) or password is not None)
    return read_account(store, identity)


def update_account(
    store: Store, identity: str, values: Mapping[str, Any], *, sign_out: bool
) -> None:
    with store.write() as db:
        if values:
            db.execute(update(accounts).where(accounts.c.id == identity).values(**values))
        if sign_out:
            db.execute(delete(logins).where(logins.c.account_id == identity))


def remove_account(store: Store, identity: str) -> None:
    """Remove an account with its logins and tokens."""
    with store.write() as db:
        db.execute(delete(logins).where(logins.c.account_id == identity))
        db.execute(delete(tokens).where(tokens.c.account_id == identity))
        db.execute(delete(accounts).where(accounts.c.id == identity))


def account_row(store: Store, where: Any) -> Row[Any] | None:
    with store.read() as db:
        return db.execute(select(accounts).where(where)).first()


def account_of(row: Row[Any]) -> Account:
    return Account(
        id=row.id,
        name=row.name,
        person=Person.model_validate_json(row.person),
        duties=tuple(json.loads(row.duties)),
        disabled=bool(row.disabled),
        has_password=bool(row.password),
        is_from_provider=row.subject is not None,
    )
