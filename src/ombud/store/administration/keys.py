"""Browsers that have signed in, and keys of programs: only the digest of each secret is kept."""

import json
import secrets
from collections.abc import Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from ombud.errors import NotFound
from ombud.store.administration.tables import account as accounts
from ombud.store.administration.tables import login as logins
from ombud.store.administration.tables import token as tokens
from ombud.store.database import Store
from ombud.types import ApiToken, Right


def digest_of_secret(secret: str) -> str:
    """A secret of 32 random bytes needs no salt: nobody can go through them."""
    return sha256(secret.encode()).hexdigest()


def keep_login(store: Store, secret: str, account_id: str, *, now: float, until: float) -> None:
    """A browser has signed in; those whose time has passed go. Times in seconds since 1970."""
    with store.write() as db:
        db.execute(delete(logins).where(logins.c.expires <= now))
        values = {
            "digest": digest_of_secret(secret),
            "account_id": account_id,
            "expires": until,
        }
        db.execute(insert(logins).values(**values))


def forget_login(store: Store, secret: str) -> None:
    with store.write() as db:
        db.execute(delete(logins).where(logins.c.digest == digest_of_secret(secret)))


def new_token(
    store: Store,
    secret: str,
    account_id: str,
    *,
    name: str,
    rights: Sequence[Right],
    until: date | None,
) -> ApiToken:
    identity = secrets.token_hex(8)
    values = {
        "id": identity,
        "digest": digest_of_secret(secret),
        "name": name,
        "account_id": account_id,
        "rights": json.dumps(list(rights)),
        "at": datetime.now(UTC).isoformat(),
        "until": until.isoformat() if until else "",
        "last_used": "",
    }
    with store.write() as db:
        db.execute(insert(tokens).values(**values))
    return next(one for one in list_tokens(store) if one.id == identity)


def list_tokens(store: Store) -> list[ApiToken]:
    """The newest first."""
    with store.read() as db:
        rows = db.execute(_TOKENS.order_by(tokens.c.at.desc())).all()
    return list(map(_token, rows))


def find_token(store: Store, secret: str) -> ApiToken | None:
    with store.read() as db:
        row = db.execute(_TOKENS.where(tokens.c.digest == digest_of_secret(secret))).first()
    return _token(row) if row else None


def note_use(store: Store, identity: str, day: date) -> None:
    """The day alone is kept: enough to see which keys nobody uses."""
    with store.write() as db:
        of_token = update(tokens).where(tokens.c.id == identity)
        db.execute(of_token.values(last_used=day.isoformat()))


def remove_token(store: Store, identity: str) -> None:
    """Raises NotFound."""
    with store.write() as db:
        gone = db.execute(delete(tokens).where(tokens.c.id == identity))
    if not gone.rowcount:
        raise NotFound(f"There is no token `{identity}`.", hint="`ombud tokens list` names them.")


_TOKENS = select(tokens, accounts.c.name.label("account")).join(
    accounts, accounts.c.id == tokens.c.account_id
)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(
        id=row.id,
        name=row.name,
        account_id=row.account_id,
        account=row.account,
        rights=tuple(json.loads(row.rights)),
        made=row.at,
        until=date.fromisoformat(row.until) if row.until else None,
        last_used=date.fromisoformat(row.last_used) if row.last_used else None,
    )
