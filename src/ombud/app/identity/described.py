"""How a person of the directory is described here: by the core and enterprise schema of SCIM (RFC
7643, 4), their groups, and their claims at the last sign-in."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ombud.app.identity.callers import merged
from ombud.errors import BadRequest
from ombud.settings import IdentitySettings
from ombud.store import directory
from ombud.text import read_country
from ombud.types import Person

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
DEPARTMENT = "department:"
"""Prefix of the group of everybody in a department, so that no department is named like a group."""


def describe(settings: IdentitySettings, facts: directory.DirectoryFacts) -> Person:
    """Return the person. Single values of the directory win over those of claims; roles and groups
    of both count."""
    resource: dict[str, Any] = json.loads(facts.resource)
    claims = Person.model_validate_json(facts.claims) if facts.claims else Person()
    department = resource.get(ENTERPRISE, {}).get("department")
    roles = [role["value"] for role in resource.get("roles", ()) if role.get("value")]
    if facts.has_reports and settings.manager_role:
        roles.append(settings.manager_role)
    return claims.model_copy(
        update={
            "country": country_of(resource.get("addresses", ())) or claims.country,
            "roles": merged(claims.roles, roles),
            "groups": merged(
                claims.groups, facts.groups, [DEPARTMENT + department] if department else []
            ),
            "contract": resource.get("userType") or claims.contract,
            "language": language_of(resource) or claims.language,
        }
    )


def language_of(resource: Mapping[str, Any]) -> str:
    """Return the two letters of the preferred language; empty if it names none."""
    tag = resource.get("preferredLanguage") or resource.get("locale") or ""
    letters = tag.replace("_", "-").partition("-")[0].lower()
    return letters if len(letters) == 2 and letters.isascii() and letters.isalpha() else ""


def country_of(addresses: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the country of the address at work, else of the primary or the first one."""

    def rank(address: Mapping[str, Any]) -> tuple[bool, bool]:
        return address.get("type") != "work", not address.get("primary")

    named = [address for address in addresses if address.get("country")]
    with suppress(BadRequest):  # no country that we know gives no country's documents
        return read_country(min(named, key=rank)["country"]) or None if named else None
    return None
