"""Browser logins and API keys; only the digest of each secret is stored."""

import json
import secrets
from collections.abc import Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Row, delete, insert, select, update

from ombud.errors import NotFound
from ombud.store.administration.tables import account as accounts
from ombud.store.administration.tables import login as logins
from ombud.store.administration.tables import single_use as single_uses
from ombud.store.administration.tables import token as tokens
from ombud.store.database import Store
from ombud.types import ApiToken, Right


def digest_of_secret(secret: str) -> str:
    """Return the digest of a secret. 32 random bytes cannot be guessed, so they need no salt."""
    return sha256(secret.encode()).hexdigest()


class ProviderSession(NamedTuple):
    """The session at an identity provider that a login came from; empty for a password."""

    session: str = ""
    """The provider's `sid`."""
    subject: str = ""
    """The provider's `sub`."""
    proof: str = ""
    """The id token."""


class Login(NamedTuple):
    """A browser's login that has not expired."""

    account_id: str
    expires: float
    at: ProviderSession


def keep_login(
    store: Store,
    secret: str,
    account_id: str,
    *,
    now: float,
    until: float,
    at: ProviderSession = ProviderSession(),  # noqa: B008 - immutable
) -> None:
    """Store a browser's login and drop expired ones. Times in seconds since 1970."""
    with store.write() as db:
        db.execute(delete(logins).where(logins.c.expires <= now))
        values = {
            "digest": digest_of_secret(secret),
            "account_id": account_id,
            "expires": until,
            **at._asdict(),
        }
        db.execute(insert(logins).values(**values))


def read_login(store: Store, digest: str, now: float) -> Login | None:
    """Return the login with this digest of its secret."""
    query = select(logins).where(logins.c.digest == digest, logins.c.expires > now)
    with store.read() as db:
        row = db.execute(query).first()
    if row is None:
        return None
    at = ProviderSession(session=row.session, subject=row.subject, proof=row.proof)
    return Login(account_id=row.account_id, expires=row.expires, at=at)


def forget_login(store: Store, secret: str) -> None:
    with store.write() as db:
        db.execute(delete(logins).where(logins.c.digest == digest_of_secret(secret)))


def forget_sessions(store: Store, session: str, subject: str) -> int:
    """Delete the logins of a session at the provider, or of all sessions of a subject, and return
    how many there were. A login whose session is not known ends with any of its subject."""
    if not (session or subject):
        return 0
    query = delete(logins)
    if subject:
        query = query.where(logins.c.subject == subject)
    if session:
        query = query.where(logins.c.session.in_([session, ""] if subject else [session]))
    with store.write() as db:
        return int(db.execute(query).rowcount)


def use_once(store: Store, value: str, *, now: float, until: float, login: str = "") -> bool:
    """Record a value that counts once, and return whether it is new. login: digest of the login
    that it stands for."""
    with store.write() as db:
        db.execute(delete(single_uses).where(single_uses.c.expires <= now))
        digest = digest_of_secret(value)
        if db.execute(select(single_uses).where(single_uses.c.digest == digest)).first():
            return False
        db.execute(insert(single_uses).values(digest=digest, login=login, expires=until))
    return True


def take_once(store: Store, value: str, now: float) -> str:
    """Remove a value, and return the digest of the login that it stands for; empty if there is no
    such value."""
    where = single_uses.c.digest == digest_of_secret(value), single_uses.c.expires > now
    with store.write() as db:
        row = db.execute(select(single_uses).where(*where).with_for_update()).first()
        if row is None or not db.execute(delete(single_uses).where(*where)).rowcount:
            return ""
    return str(row.login)


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
    """Return all tokens, newest first."""
    with store.read() as db:
        rows = db.execute(_TOKENS.order_by(tokens.c.at.desc())).all()
    return list(map(token_of, rows))


def find_token(store: Store, secret: str) -> ApiToken | None:
    with store.read() as db:
        row = db.execute(_TOKENS.where(tokens.c.digest == digest_of_secret(secret))).first()
    return token_of(row) if row else None


def note_use(store: Store, identity: str, day: date) -> None:
    """Store the day of a key's last use; a day is enough to find unused keys."""
    with store.write() as db:
        of_token = update(tokens).where(tokens.c.id == identity)
        db.execute(of_token.values(last_used=day.isoformat()))


def remove_token(store: Store, identity: str) -> None:
    """Remove a token. Raises NotFound."""
    with store.write() as db:
        gone = db.execute(delete(tokens).where(tokens.c.id == identity))
    if not gone.rowcount:
        raise NotFound(f"There is no token `{identity}`.", hint="`ombud tokens list` names them.")


_TOKENS = select(tokens, accounts.c.name.label("account")).join(
    accounts, accounts.c.id == tokens.c.account_id
)


def token_of(row: Row[Any]) -> ApiToken:
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
