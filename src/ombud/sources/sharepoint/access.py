"""The audience of a SharePoint file: its permissions, including those it inherits.

SharePoint lists all permissions in force, so one that names a reader is enough. These rules make an
audience narrower here than in SharePoint, never wider:

* Groups of Entra go by their id, as two may have the same name; `groups` of the settings maps ids
  or names to groups here. "Owners of a group" is a principal of its own, `ID_o`.
* Groups of the site are `sharepoint-group:NAME`, people named individually `sharepoint-user:ID`: a
  person has such a group only if the identity provider, or `groups`, says so. Memberships are not
  looked up.
* Applications, open invitations, expired permissions, links with a password, and roles and kinds of
  links that are not known to allow reading are ignored.
* A file whose permissions cannot be read, or that names no reader, is readable by nobody.
  SharePoint may hide a part of the permissions from an application that does not own the site;
  hidden permissions grant nothing.
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
"""In `groups` of the settings, maps a group to everybody here."""
READING = frozenset({"read", "write", "owner", "sp.full control"})
"""Roles that allow reading. Custom levels have their own names, and may show titles only."""
OPENING = frozenset({"view", "review", "edit", "embed", "blocksDownload"})
"""Kinds of links that allow reading; the others only upload, or add nothing to other
permissions."""
WIDE = frozenset({"organization", "anonymous"})
"""Scopes of links that work for everybody who has the link."""
_EVERYONE = ("c:0-.f|rolemanager|spo-grid-all-users/", "c:0(.s|true")
"""Login names of "Everyone except external users" and "Everyone", whose display names are
translated and may be given to others."""
_OWNERS = "_o"
_ID = re.compile(r"[\w-]{1,100}")


EVERYBODY = Principal("everybody")


def readers(
    permissions: Iterable[Any], *, links: bool, now: datetime | None = None
) -> frozenset[Principal]:
    """Collect everybody whom an item's permissions let read; raises NotShown if that is no one.

    links: a link for the whole organisation lets everybody read."""
    moment = now or datetime.now(UTC)
    named: set[Principal] = set()
    for permission in permissions:
        named.update(granted_principals(as_object(permission), links, moment))
    if not named:
        raise NotShown("no permission that it shows names a reader")
    return frozenset(named)


def audience(principals: Iterable[Principal], groups: Mapping[str, str]) -> Audience:
    """Make the audience of principals. groups: name or id in SharePoint -> name here, or `*`."""
    names = {map_principal(who, groups) for who in principals}
    if EVERYBODY_HERE in names:
        return {}
    return {"groups": tuple(sorted(names))} if names else NOBODY


def map_principal(who: Principal, groups: Mapping[str, str]) -> str:
    if who.kind == "everybody":
        return EVERYBODY_HERE
    if who.kind == "user":
        return f"{USER}{who.id}"
    for key in (who.id, who.name):
        here = groups.get(key) if key else ""
        if here:
            return here
    return f"{GROUP}{who.name}" if who.kind == "site" else who.id


def granted_principals(
    permission: Mapping[str, Any], links: bool, now: datetime
) -> Iterator[Principal]:
    if not allows_reading(permission, now):
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
        who = read_principal(as_object(identity))
        if who is not None:
            yield who


def allows_reading(permission: Mapping[str, Any], now: datetime) -> bool:
    roles = permission.get("roles")
    if not isinstance(roles, list):
        return False
    lowered = {role.lower() for role in roles if isinstance(role, str)}
    if not lowered & READING or permission.get("hasPassword"):
        return False
    return not has_expired(permission.get("expirationDateTime"), now)


def read_principal(identities: Mapping[str, Any]) -> Principal | None:
    site_user = as_object(identities.get("siteUser"))
    login = read_text(site_user.get("loginName"))
    if login.startswith(_EVERYONE):
        return EVERYBODY
    group = as_object(identities.get("group"))
    group_id = read_id(group)
    if group_id:
        if login.endswith(_OWNERS):
            group_id += _OWNERS
        return Principal("group", group_id, read_text(group.get("displayName")))
    user_id = read_id(as_object(identities.get("user")))
    if user_id:
        return Principal("user", user_id)
    return read_site_group(identities)


def read_site_group(identities: Mapping[str, Any]) -> Principal | None:
    """Read a group of the site; it goes by its name, as its id is a number within the site."""
    group = as_object(identities.get("sharePointGroup"))
    if not group:
        group = as_object(identities.get("siteGroup"))
    name = read_text(group.get("displayName")) or read_text(group.get("title"))
    return Principal("site", "", name) if name else None


def has_expired(expiration: Any, now: datetime) -> bool:
    """Tell whether a permission has expired. An unreadable time has passed; one in year 1 means
    never."""
    if expiration in (None, ""):
        return False
    try:
        until = datetime.fromisoformat(str(expiration))
    except ValueError:
        return True
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return until.year > 1 and until <= now


def read_id(identity: Mapping[str, Any]) -> str:
    """Read an id; it becomes the name of a group, so it must not be one with a special meaning."""
    value = read_text(identity.get("id"))
    return value if _ID.fullmatch(value) else ""


def read_text(value: Any) -> str:
    return as_text(value).strip()
