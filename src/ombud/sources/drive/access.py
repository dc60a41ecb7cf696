"""The audience of a file in Google Drive: its permissions, including those it inherits.

These rules make an audience narrower here than in Drive, never wider:

* Groups go by their address, people are `drive-user:ADDRESS`, domains `drive-domain:NAME`; `groups`
  of the settings maps an address or domain to a group here, or to `*` for everybody.
* "Anyone with the link", also within a domain, grants nothing unless the settings say so: without
  the link nobody would find the file.
* Roles, kinds and views that are not known to allow reading grant nothing, and neither do expired
  permissions and those of deleted accounts. Memberships are not looked up.
* A file whose permissions cannot be read, or that names no reader, is readable by nobody.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ombud.sources.access import NotShown, Principal
from ombud.sources.json_values import as_object, as_text
from ombud.types import Audience

NOBODY: Audience = {"groups": ("drive-nobody",)}
EVERYBODY_HERE = "*"
"""In `groups` of the settings, maps a group or domain to everybody here."""


def readers(permissions: Iterable[Any], *, links: bool, now: datetime) -> frozenset[Principal]:
    """Collect everybody whom a file's permissions let read. Raises NotShown if that is no one.

    links: a link lets everybody read."""
    named: set[Principal] = set()
    for row in permissions:
        permission = as_object(row)
        if allows_reading(permission, now):
            named.update(granted_principals(permission, links))
    if not named:
        raise NotShown("no permission that it shows names a reader")
    return frozenset(named)


def audience(principals: Iterable[Principal], groups: Mapping[str, str]) -> Audience:
    """Make the audience of principals. groups: address or domain in Google -> name here, or `*`."""
    names: set[str] = set()
    for who in principals:
        prefix = {"user": "drive-user:", "domain": "drive-domain:"}.get(who.kind, "")
        default = EVERYBODY_HERE if who.kind == "everybody" else f"{prefix}{who.id}"
        names.add(groups.get(who.id) or default)
    if EVERYBODY_HERE in names:
        return {}
    return {"groups": tuple(sorted(names))} if names else NOBODY


def granted_principals(permission: Mapping[str, Any], links: bool) -> Iterator[Principal]:
    kind = permission.get("type")
    if kind in {"user", "group"}:
        address = as_text(permission.get("emailAddress")).strip().lower()
        # It becomes the name of a group, so it must not be one with a special meaning.
        if "@" in address and address.isprintable():
            yield Principal(str(kind), address)
        return
    needs_link = permission.get("allowFileDiscovery") is not True
    if needs_link and not links:
        return
    domain = as_text(permission.get("domain")).strip().lower()
    if kind == "anyone":
        yield Principal("everybody")
    elif kind == "domain" and domain.replace(".", "").replace("-", "").isalnum():
        yield Principal("domain", domain)


def allows_reading(permission: Mapping[str, Any], now: datetime) -> bool:
    readable = {"reader", "commenter", "writer", "fileOrganizer", "organizer", "owner"}
    if permission.get("role") not in readable or permission.get("view"):
        return False
    if permission.get("deleted") or permission.get("pendingOwner"):
        return False
    expiration = permission.get("expirationTime")
    if not expiration:
        return True
    try:
        until = datetime.fromisoformat(str(expiration))
    except ValueError:
        return False
    return (until if until.tzinfo else until.replace(tzinfo=UTC)) > now
