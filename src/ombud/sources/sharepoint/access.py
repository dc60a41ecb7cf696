"""Who may read a file of SharePoint: its permissions, those it inherits among them, as an audience.

SharePoint lists for an item all that is in force, so a reader needs to be named by one permission
only. What makes an audience narrower here than the file is there, never wider:

* Groups of Entra are known by their id, for two may have the same name; `groups` of the settings
  gives either a name of the house. "Owners of a group" is a principal of its own, `ID_o`, and not
  the group.
* Groups of the site are `sharepoint-group:NAME`, people named one by one `sharepoint-user:ID`: a
  person has such a group only when the identity provider, or `groups`, says so. Nobody's
  memberships are looked up.
* Applications, invitations that nobody took up, permissions that ended, links with a password, and
  roles and kinds of links that are not known to give reading are passed over.
* What cannot be read, or names no reader, is readable by nobody. To an application that does not
  own the site, SharePoint may show only a part of the permissions; what is not shown is not
  granted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ombud.sources.access import NotShown, Principal
from ombud.sources.json_values import as_object, as_text
from ombud.types import Audience

USER = "sharepoint-user:"
GROUP = "sharepoint-group:"
NOBODY: Audience = {"groups": ("sharepoint-nobody",)}
EVERYBODY_HERE = "*"
"""In `groups` of the settings: this group there is everybody here."""
READING = frozenset({"read", "write", "owner", "sp.full control"})
"""Roles. A level that somebody made up comes under a name of its own, and may be one that shows
titles only."""
OPENING = frozenset({"view", "review", "edit", "embed", "blocksDownload"})
"""Kinds of links; with the others one only uploads, or sees what one could see without them."""
WIDE = frozenset({"organization", "anonymous"})
"""Scopes of links that work for everybody who has the link."""
_EVERYONE = ("c:0-.f|rolemanager|spo-grid-all-users/", "c:0(.s|true")
"""How "Everyone except external users" and "Everyone" log in; their names are translated and can be
given to others."""
_OWNERS = "_o"
_ID = re.compile(r"[\w-]{1,100}")


EVERYBODY = Principal("everybody")


def readers(
    permissions: Iterable[Any], *, links: bool, now: datetime | None = None
) -> frozenset[Principal]:
    """All who may read by any of an item's permissions; raises NotShown when that is no one.

    links: a link that works for the whole organisation gives it to everybody.
    """
    moment = now or datetime.now(UTC)
    named: set[Principal] = set()
    for permission in permissions:
        named.update(_granted(as_object(permission), links, moment))
    if not named:
        raise NotShown("no permission that it shows names a reader")
    return frozenset(named)


def audience(principals: Iterable[Principal], groups: Mapping[str, str]) -> Audience:
    """groups: name or id there -> name here, or `*`."""
    names = {_here(who, groups) for who in principals}
    if EVERYBODY_HERE in names:
        return {}
    return {"groups": tuple(sorted(names))} if names else NOBODY


def _here(who: Principal, groups: Mapping[str, str]) -> str:
    if who.kind == "everybody":
        return EVERYBODY_HERE
    if who.kind == "user":
        return f"{USER}{who.id}"
    for key in (who.id, who.name):
        here = groups.get(key) if key else ""
        if here:
            return here
    return f"{GROUP}{who.name}" if who.kind == "site" else who.id


def _granted(permission: Mapping[str, Any], links: bool, now: datetime) -> Iterator[Principal]:
    if not _gives_reading(permission, now):
        return
    link = permission.get("link")
    if isinstance(link, dict):
        if link.get("type") not in OPENING:
            return
        if links and link.get("scope") in WIDE:
            yield EVERYBODY
    identities = [permission.get("grantedToV2")]
    several = permission.get("grantedToIdentitiesV2")
    if isinstance(several, list):
        identities += several
    for identity in identities:
        who = _principal(as_object(identity))
        if who is not None:
            yield who


def _gives_reading(permission: Mapping[str, Any], now: datetime) -> bool:
    roles = permission.get("roles")
    if not isinstance(roles, list):
        return False
    lowered = {role.lower() for role in roles if isinstance(role, str)}
    if not lowered & READING or permission.get("hasPassword"):
        return False
    return not _ended(permission.get("expirationDateTime"), now)


def _principal(identities: Mapping[str, Any]) -> Principal | None:
    site_user = as_object(identities.get("siteUser"))
    login = _text(site_user.get("loginName"))
    if login.startswith(_EVERYONE):
        return EVERYBODY
    group = as_object(identities.get("group"))
    group_id = _id(group)
    if group_id:
        if login.endswith(_OWNERS):
            group_id += _OWNERS
        return Principal("group", group_id, _text(group.get("displayName")))
    user_id = _id(as_object(identities.get("user")))
    if user_id:
        return Principal("user", user_id)
    return _site_group(identities)


def _site_group(identities: Mapping[str, Any]) -> Principal | None:
    """Its id is a number that counts within the site only: its name is what the settings can
    say."""
    group = as_object(identities.get("sharePointGroup"))
    if not group:
        group = as_object(identities.get("siteGroup"))
    name = _text(group.get("displayName")) or _text(group.get("title"))
    return Principal("site", "", name) if name else None


def _ended(expiration: Any, now: datetime) -> bool:
    """A time that cannot be read has passed; the first one there is stands for none."""
    if expiration in (None, ""):
        return False
    try:
        until = datetime.fromisoformat(str(expiration))
    except ValueError:
        return True
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return until.year > 1 and until <= now


def _id(identity: Mapping[str, Any]) -> str:
    """It becomes the name of a group, so it must not be one with a meaning of its own."""
    value = _text(identity.get("id"))
    return value if _ID.fullmatch(value) else ""


def _text(value: Any) -> str:
    return as_text(value).strip()
