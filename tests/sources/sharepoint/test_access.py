"""Who may read a file: what its permissions surely give, and nobody where that is nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.sources.access import NotShown, Principal
from ombud.sources.sharepoint.access import NOBODY, audience, readers
from ombud.types import Audience
from sources.sharepoint.site import Grant, everyone, group, link, person, site_group, to

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def allowed(*grants: Any, links: bool = True, groups: Mapping[str, str] | None = None) -> Audience:
    return audience(readers(grants, links=links, now=NOW), groups or {})


def test_one_permission_is_enough() -> None:
    found = allowed(group("g-1", "HR"), person("ann"), site_group("Visitors"))
    assert found == {"groups": ("g-1", "sharepoint-group:Visitors", "sharepoint-user:ann")}


@pytest.mark.parametrize("external", [False, True])
def test_everyone_is_everybody_by_how_they_log_in(external: bool) -> None:
    assert allowed(person("ann"), everyone(external)) == {}
    same_name = to(group={"id": "g-1", "displayName": "Everyone except external users"})
    assert allowed(same_name) == {"groups": ("g-1",)}


def test_groups_are_renamed_by_name_or_id() -> None:
    grants = group("g-1", "HR"), group("g-2", "IT"), site_group("HR Members")
    assert allowed(*grants, groups={"HR": "hr", "g-2": "tech", "HR Members": "hr"}) == {
        "groups": ("hr", "tech")
    }
    assert allowed(*grants, groups={"HR Members": "*"}) == {}
    assert (
        allowed(*grants, groups={"g-1": "one", "HR": "other"})["groups"][-1]
        == "sharepoint-group:HR Members"
    )


def test_the_owners_of_a_group_are_not_the_group() -> None:
    owners = group("g-1", "HR Owners", owners=True)
    assert allowed(owners) == {"groups": ("g-1_o",)}
    assert allowed(owners, groups={"g-1": "hr"}) == {"groups": ("g-1_o",)}
    assert allowed(owners, groups={"g-1_o": "hr-owners"}) == {"groups": ("hr-owners",)}


def test_the_newer_name_of_a_site_group_counts_too() -> None:
    assert allowed(to(sharePointGroup={"id": "x", "title": "Visitors"})) == {
        "groups": ("sharepoint-group:Visitors",)
    }


@pytest.mark.parametrize("scope", ["organization", "anonymous"])
def test_links_for_all(scope: str) -> None:
    assert allowed(link(scope)) == {}
    assert allowed(link(scope, "ann", "bob"), links=False)["groups"] == (
        "sharepoint-user:ann",
        "sharepoint-user:bob",
    )


def test_links_for_some() -> None:
    assert allowed(link("users", "ann")) == {"groups": ("sharepoint-user:ann",)}


@pytest.mark.parametrize("role", ["owner", "write", "sp.full control", "Read"])
def test_roles_that_read(role: str) -> None:
    assert allowed(person("ann", role)) == {"groups": ("sharepoint-user:ann",)}


@pytest.mark.parametrize(
    "grant",
    [
        None,
        "read",
        {},
        {"roles": ["read"]},
        {"roles": "read", "grantedToV2": person("ann")["grantedToV2"]},
        person("ann", "sp.limited access"),
        person("ann", ""),
        person("") | {"grantedTo": {"user": {"id": "ann"}}},
        to(application={"id": "a", "displayName": "App"}),
        to(user={"displayName": "Everyone", "email": "all@contoso.example"}),
        to(user={"id": "a b"}),
        to(group={"id": "*", "displayName": "*"}),
        to(siteGroup={"id": "5"}),
        to(siteUser={"id": "4", "loginName": "c:0!.s|windows"}),
        {"id": "1", "roles": ["write"], "invitation": {"email": "jd@example.com"}},
        link("existingAccess"),
        link("organization", kind="createOnly"),
        link("organization", kind="new kind"),
        link("organization", hasPassword=True),
        link("organization", expirationDateTime="2026-06-01T11:59:59Z"),
        link("organization", expirationDateTime="soon"),
        link("organization") | {"roles": []},
        link("Organization"),
        person("ann") | {"expirationDateTime": "2026-05-31T00:00:00Z"},
        {
            "roles": ["read"],
            "link": {"type": "view"},
            "grantedToIdentitiesV2": {"user": {"id": "ann"}},
        },
    ],
)
def test_what_does_not_surely_give_reading_gives_nothing(grant: Any) -> None:
    with pytest.raises(NotShown):
        readers([grant], links=True, now=NOW)
    assert allowed(grant, person("bob")) == {"groups": ("sharepoint-user:bob",)}


@pytest.mark.parametrize(
    "until", ["", None, "0001-01-01T00:00:00Z", "2026-06-01T12:00:01Z", "2026-06-01T14:00:01+01:00"]
)
def test_permissions_that_have_not_ended_count(until: Any) -> None:
    assert allowed(link("organization", expirationDateTime=until)) == {}


def test_no_permission_is_nobody() -> None:
    with pytest.raises(NotShown):
        readers([], links=True)
    assert audience([], {}) == NOBODY


def test_groups_of_a_reserved_name_are_never_people_or_everybody() -> None:
    assert allowed(site_group("*")) == {"groups": ("sharepoint-group:*",)}
    assert allowed(site_group("sharepoint-user:ann")) == {
        "groups": ("sharepoint-group:sharepoint-user:ann",)
    }
    assert Principal("user", "x") != Principal("group", "x")


NAMES = st.sampled_from(["a", "b", "c"])
GRANTS = st.one_of(
    NAMES.map(person),
    st.builds(group, NAMES, st.just("Same name"), owners=st.booleans()),
    NAMES.map(site_group),
    st.builds(
        lambda scope, who: link(scope, who), st.sampled_from(["users", "organization", "x"]), NAMES
    ),
    st.just(everyone()),
)


def gives(grant: Grant, who: str) -> bool:
    """Whether a member of the groups called `who` here is named by it."""
    sets = [grant.get("grantedToV2", {}), *grant.get("grantedToIdentitiesV2", [])]
    if grant.get("link", {}).get("scope") == "organization" or grant == everyone():
        return True
    return any(
        who == f"sharepoint-user:{said.get('user', {}).get('id')}"
        or who == f"sharepoint-group:{said.get('siteGroup', {}).get('displayName')}"
        or who
        == said.get("group", {}).get("id", "")
        + ("_o" if said["siteUser"]["loginName"].endswith("_o") else "")
        for said in sets
        if said
    )


@given(st.lists(GRANTS, min_size=1, max_size=4), NAMES)
def test_those_get_in_whom_a_permission_names_and_no_others(grants: list[Grant], name: str) -> None:
    for grant in grants:
        grant.get("grantedToV2", {}).setdefault("siteUser", {"loginName": ""})
    found = allowed(*grants)
    for who in (f"sharepoint-user:{name}", f"sharepoint-group:{name}", name, f"{name}_o"):
        inside = not found or who in found["groups"]
        assert inside == any(gives(grant, who) for grant in grants)
