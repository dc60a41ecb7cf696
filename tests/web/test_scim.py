"""SCIM 2.0 as directories speak it: the public client, checker and storage contract of scim2, and
what becomes of the accounts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_models import ListResponse, ScimProvider, SearchRequest
from scim2_server.testing import ScimStorageContract
from scim2_tester import Status, check_server

from copies import lay_store
from ombud.app import Workspace, callers, people, provisioning, signing_in
from ombud.errors import SetupError
from ombud.store import read_account, read_links
from ombud.types import Person
from ombud.web import create_app
from web.running import make_workspace, running

SECRET = "a-secret-of-the-directory-0123456789"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
Member, Team = provisioning.Member, provisioning.Team
Json = dict[str, Any]


def use_scim(patch: pytest.MonkeyPatch) -> None:
    patch.setenv("OMBUD_IDENTITY__KIND", "local")
    patch.setenv("OMBUD_IDENTITY__SCIM_TOKEN_ENV", "TEST_SCIM_TOKEN")
    patch.setenv("OMBUD_IDENTITY__MANAGER_ROLE", "manager")
    patch.setenv("TEST_SCIM_TOKEN", SECRET)


class TestStorage(ScimStorageContract):
    """The rules of the protocol's library for what stands behind it."""

    @pytest.fixture
    def provider(self) -> ScimProvider:
        return provisioning.PROVIDER

    @pytest.fixture
    def storage(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[provisioning.Accounts]:
        use_scim(monkeypatch)
        lay_store(tmp_path)
        (tmp_path / "ombud.toml").touch()
        workspace = Workspace(tmp_path)
        yield provisioning.Accounts(workspace)
        workspace.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        use_scim(patch)
        made = make_workspace(tmp_path_factory.mktemp("scim"))
        with running(made) as url:
            yield made, url
        made.close()


class Directory(httpx.Client):
    """A directory that counts what it asks."""

    def __init__(self, url: str, token: str = SECRET) -> None:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/scim+json"}
        super().__init__(base_url=f"{url}/scim/v2", headers=headers, timeout=60)
        self.count = 0

    def ask(
        self, method: str, path: str, status: int, body: Json | None = None, **more: Any
    ) -> Json:
        reply = self.request(method, path, json=body, **more)
        self.count += 1
        assert reply.status_code == status, (method, path, body, reply.text)
        if status >= 400:
            assert reply.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
            assert reply.json()["status"] == str(status)
        result: Json = reply.json() if reply.content else {}
        return result

    def add(self, login: str, **more: Any) -> Json:
        body = {"schemas": [USER, ENTERPRISE], "userName": login, "active": True, **more}
        return self.ask("POST", "/Users", 201, body)

    def patch_it(self, path: str, *operations: Json, status: int = 204) -> Json:
        body = {"schemas": [PATCH], "Operations": list(operations)}
        return self.ask("PATCH", path, status, body)

    def names(self, query: str, **more: Any) -> list[str]:
        reply = self.ask("GET", "/Users", 200, params={"filter": query, **more})
        return [one["userName"] for one in reply.get("Resources", [])]


@pytest.fixture
def directory(served: tuple[Workspace, str]) -> Iterator[Directory]:
    with Directory(served[1]) as made:
        yield made
        for one in made.ask("GET", "/Users", 200).get("Resources", []):
            made.ask("DELETE", f"/Users/{one['id']}", 204)
        for one in made.ask("GET", "/Groups", 200).get("Resources", []):
            made.ask("DELETE", f"/Groups/{one['id']}", 204)


@pytest.mark.slow
def test_the_public_checker_finds_nothing(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    del directory  # clears up
    headers = {"authorization": f"Bearer {SECRET}"}
    with Client(base_url=f"{served[1]}/scim/v2", headers=headers, timeout=60) as client:
        results = check_server(SyncSCIMClient(client))
    wrong = [
        f"{one.title} {one.resource_type}: {one.reason}"
        for one in results
        if one.status in {Status.ERROR, Status.CRITICAL}
    ]
    assert len(results) > 100
    assert "\n".join(wrong) == ""


def test_the_public_client_walks_through_the_protocol(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    del directory
    headers = {"authorization": f"Bearer {SECRET}"}
    with Client(base_url=f"{served[1]}/scim/v2", headers=headers, timeout=60) as http:
        client = SyncSCIMClient(http, provider=provisioning.PROVIDER)
        client.discover()
        made = client.create(Member(user_name="bjensen"))
        assert isinstance(made, Member)
        made.display_name = "Babs"
        replaced = client.replace(made)
        assert isinstance(replaced, Member)
        assert replaced.display_name == "Babs"
        members = [provisioning.TeamMember(value=made.id)]
        group = client.create(Team(display_name="Guides", members=members))
        assert isinstance(group, Team)
        again = client.query(Team, group.id)
        assert isinstance(again, Team)
        assert [member.value for member in again.members or ()] == [made.id]
        found = client.query(Member, query_parameters=SearchRequest(count=10))
        assert isinstance(found, ListResponse)
        assert found.total_results == 1


FILTERS: dict[str, list[str]] = {
    'userName eq "BJENSEN"': ["bjensen"],
    'userName ne "bjensen"': ["jsmith", "mary_%"],
    'userName co "s"': ["bjensen", "jsmith"],
    'userName sw "j"': ["jsmith"],
    'userName ew "_%"': ["mary_%"],
    "title pr": ["bjensen"],
    'title eq "Tour Guide"': ["bjensen"],
    'userName gt "c"': ["jsmith", "mary_%"],
    'userName ge "jsmith"': ["jsmith", "mary_%"],
    'userName lt "c"': ["bjensen"],
    'userName le "jsmith"': ["bjensen", "jsmith"],
    'name.familyName co "O\'Malley"': ["jsmith"],
    f'{USER}:userName sw "J"': ["jsmith"],
    'title pr and userType eq "Employee"': ["bjensen"],
    'title pr or userType eq "Intern"': ["bjensen", "jsmith"],
    'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")': [
        "bjensen"
    ],
    'userType ne "Employee" and not (emails co "example.com")': ["jsmith"],
    'userType eq "Employee" and (emails.type eq "work")': ["bjensen"],
    'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]': ["bjensen"],
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp"]': ["bjensen"],
    'meta.created gt "2020-01-01T00:00:00Z"': ["bjensen", "jsmith", "mary_%"],
    'meta.lastModified lt "2020-01-01T00:00:00Z"': [],
    "active eq true": ["bjensen", "jsmith", "mary_%"],
    "not (active eq true)": [],
    f'{ENTERPRISE}:department eq "tour operations"': ["bjensen"],
    f'{ENTERPRISE}:employeeNumber sw "70"': ["bjensen"],
    'externalId eq "ext-b"': ["bjensen"],
    'externalId eq "EXT-B"': [],
    'addresses.country eq "GB"': ["jsmith"],
    'roles[value eq "guide"]': ["bjensen"],
    'id eq "nobody"': [],
    'userName eq "bjensen" or userName eq "jsmith" and title pr': ["bjensen"],
    'userName eq "\' OR 1=1 --"': [],
    'userName eq "%"': [],
    'userName eq "\\"; DROP TABLE account"': [],
}
WRONG_FILTERS = (
    "userName",
    "userName eq",
    'userName foo "x"',
    "(userName pr",
    'unknownName eq "x"',
    "userName eq 'x'",
    "1 eq 1",
    'emails[type eq "work"',
    "and",
    'userName eq "x" and',
    'userName eq "a"; drop table account',
    '__class__ eq "x"',
    'password sw "a"',
)
CHANGES: list[tuple[Json, str, Any]] = [
    ({"op": "add", "value": {"nickName": "Babs"}}, "nickName", "Babs"),
    ({"op": "add", "path": "title", "value": "Guide"}, "title", "Guide"),
    ({"op": "replace", "path": "name.familyName", "value": "Jensen"}, "name.familyName", "Jensen"),
    ({"op": "Replace", "path": "displayName", "value": "B J"}, "displayName", "B J"),
    ({"op": "replace", "value": {"locale": "en-GB"}}, "locale", "en-GB"),
    (
        {"op": "add", "path": "emails", "value": [{"type": "home", "value": "b@home.example"}]},
        "emails.1.value",
        "b@home.example",
    ),
    (
        {"op": "replace", "path": 'emails[type eq "home"].value', "value": "c@home.example"},
        "emails.1.value",
        "c@home.example",
    ),
    ({"op": "remove", "path": 'emails[type eq "home"]'}, "emails.1", None),
    ({"op": "remove", "path": "nickName"}, "nickName", None),
    (
        {"op": "add", "path": 'addresses[type eq "work"].country', "value": "DE"},
        "addresses.0.country",
        "DE",
    ),
    (
        {"op": "replace", "path": f"{ENTERPRISE}:department", "value": "Sales"},
        f"{ENTERPRISE}.department",
        "Sales",
    ),
    ({"op": "add", "path": "roles", "value": [{"value": "guide"}]}, "roles.0.value", "guide"),
    ({"op": "remove", "path": 'roles[value eq "guide"]'}, "roles", None),
    ({"op": "replace", "path": "active", "value": False}, "active", False),
    ({"op": "Replace", "path": "active", "value": "True"}, "active", True),
    ({"op": "replace", "value": {"active": False}}, "active", False),
    ({"op": "replace", "path": "userName", "value": "babs"}, "userName", "babs"),
]
WRONG_CHANGES: list[tuple[Json, str]] = [
    ({"op": "jump", "path": "title", "value": "x"}, ""),
    ({"op": "remove"}, "noTarget"),
    ({"op": "replace", "path": "id", "value": "another"}, "mutability"),
    ({"op": "replace", "path": "groups", "value": [{"value": "admins"}]}, "mutability"),
    ({"op": "replace", "path": "meta.version", "value": "1"}, "mutability"),
    ({"op": "add", "path": "emails[type eq", "value": "x"}, "invalidPath"),
    ({"op": "replace", "path": "active", "value": "perhaps"}, "invalidValue"),
    ({"op": "replace", "path": "userName", "value": ""}, "invalidValue"),
    ({"op": "replace", "path": "userName", "value": "a\u0000b"}, "invalidValue"),
    ({"op": "remove", "path": "userName"}, ""),
    ({"op": "replace", "path": "userName", "value": "jsmith"}, "uniqueness"),
]


def value_at(resource: Json, path: str) -> Any:
    """The value at a path; the URN of the extension is one step although it has dots."""
    value: Any = resource
    steps = path.split(".")
    if path.startswith(ENTERPRISE):
        steps = [ENTERPRISE, *path.removeprefix(ENTERPRISE).split(".")[1:]]
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        else:
            value = (value or {}).get(step)
    return value


def test_two_hundred_requests_of_the_rfc(directory: Directory) -> None:
    """RFC 7644, 3: create, read, filter, sort, page, replace, patch and delete, and what is wrong."""
    bjensen = directory.add(
        "bjensen",
        externalId="ext-b",
        title="Tour Guide",
        userType="Employee",
        name={"familyName": "Jansen", "givenName": "Barbara"},
        emails=[{"type": "work", "value": "bjensen@example.com", "primary": True}],
        roles=[{"value": "guide"}],
        **{ENTERPRISE: {"department": "Tour Operations", "employeeNumber": "701984"}},
    )
    address = [{"type": "work", "country": "GB"}]
    jsmith = directory.add(
        "jsmith", userType="Intern", name={"familyName": "O'Malley"}, addresses=address
    )
    mary = directory.add("Mary_%", emails=[{"value": "mary@example.com"}])
    for query, names in FILTERS.items():
        expected = sorted(name.lower() for name in names)
        assert sorted(name.lower() for name in directory.names(query)) == expected, query
        found = directory.ask("POST", "/Users/.search", 200, {"schemas": [SEARCH], "filter": query})
        assert found["totalResults"] == len(expected), query
    for query in WRONG_FILTERS:
        refused = directory.ask("GET", "/Users", 400, params={"filter": query})
        assert refused["scimType"] in {"invalidFilter", "sensitive", "invalidPath"}, query
    everybody = ["bjensen", "jsmith", "Mary_%"]
    for order, names in (("ascending", everybody), ("descending", everybody[::-1])):
        parameters = {"sortBy": "userName", "sortOrder": order}
        assert directory.names("userName pr", **parameters) == names
    for start in range(-1, 6):
        for count in (-1, 0, 1, 2, 5):
            paging = {"startIndex": start, "count": count, "sortBy": "userName"}
            page = directory.ask("GET", "/Users", 200, params=paging)
            first, size = max(start, 1) - 1, max(count, 0)
            assert page["totalResults"] == 3
            listed = [one["userName"] for one in page.get("Resources", [])]
            assert listed == everybody[first : first + size]
    for body in ({"filter": 'userName sw "j"'}, {"count": 1, "sortBy": "userName"}):
        found = directory.ask("POST", "/Users/.search", 200, {"schemas": [SEARCH], **body})
        assert len(found["Resources"]) == 1
    own = f"/Users/{bjensen['id']}"
    for attributes, keys in (
        ({"attributes": "userName"}, {"id", "schemas", "userName"}),
        ({"excludedAttributes": "emails,roles,name"}, set(bjensen) - {"emails", "roles", "name"}),
    ):
        assert set(directory.ask("GET", own, 200, params=attributes)) == keys
    for operation, path, value in CHANGES:
        directory.patch_it(own, operation)
        assert value_at(directory.ask("GET", own, 200), path) == value, operation
    for operation, kind in WRONG_CHANGES:
        change = {"schemas": [PATCH], "Operations": [operation]}
        reply = directory.patch(own, json=change)
        directory.count += 1
        assert reply.status_code == (409 if kind == "uniqueness" else 400), (operation, reply.text)
        assert kind in reply.json().get("scimType", ""), (operation, reply.text)
    for path in ("/Users/none", "/Groups/none", "/Things", "/Users/none/more"):
        directory.ask("GET", path, 404)
    _groups(directory, bjensen["id"], jsmith["id"])
    version = directory.ask("GET", own, 200)["meta"]["version"]
    directory.ask("GET", own, 304, headers={"if-none-match": version})
    babs = {"schemas": [USER], "userName": "babs"}
    directory.ask("PUT", own, 412, babs, headers={"if-match": 'W/"0"'})
    replaced = directory.ask("PUT", own, 200, babs, headers={"if-match": version})
    assert "title" not in replaced
    for method, path, wanted in (
        ("POST", "/Bulk", 501),
        ("GET", "/Me", 501),
        ("PUT", "/Users", 405),
        ("POST", "/Users", 400),
    ):
        directory.ask(method, path, wanted, {})
    directory.ask("POST", "/Users", 409, {"schemas": [USER], "userName": "BABS"})
    for place in ("/ServiceProviderConfig", "/ResourceTypes", "/ResourceTypes/User", "/Schemas"):
        directory.ask("GET", place, 200)
    directory.ask("GET", f"/Schemas/{USER}", 200)
    for one in (bjensen, mary):
        directory.ask("DELETE", f"/Users/{one['id']}", 204)
        directory.ask("GET", f"/Users/{one['id']}", 404)
        directory.ask("DELETE", f"/Users/{one['id']}", 404)
    assert directory.add("babs")["id"] != bjensen["id"]
    assert directory.count >= 200


def _groups(directory: Directory, first: str, second: str) -> None:
    made = directory.ask(
        "POST",
        "/Groups",
        201,
        {"schemas": [GROUP], "displayName": "Guides", "members": [{"value": first}]},
    )
    own = f"/Groups/{made['id']}"

    def members() -> set[str]:
        listed = directory.ask("GET", own, 200).get("members", [])
        return {one["value"] for one in listed}

    shown = directory.ask("GET", f"/Users/{first}", 200)["groups"]
    assert shown[0]["display"] == "Guides"
    directory.patch_it(own, {"op": "add", "path": "members", "value": [{"value": second}]})
    assert members() == {first, second}
    directory.patch_it(own, {"op": "remove", "path": f'members[value eq "{first}"]'})
    assert members() == {second}
    removal = {"op": "Remove", "path": "members", "value": [{"value": second}]}  # Entra
    directory.patch_it(own, removal)
    assert members() == set()
    directory.patch_it(own, {"op": "replace", "path": "members", "value": [{"value": first}]})
    directory.patch_it(own, {"op": "replace", "value": {"displayName": "All guides"}})
    query = {"filter": 'displayName eq "all guides"', "excludedAttributes": "members"}
    (found,) = directory.ask("GET", "/Groups", 200, params=query)["Resources"]
    assert "members" not in found
    stranger = {"op": "add", "path": "members", "value": [{"value": "stranger"}]}
    directory.patch_it(own, stranger, status=400)
    directory.ask("PUT", own, 200, {"schemas": [GROUP], "displayName": "Guides"})
    assert members() == set()
    directory.ask("DELETE", own, 204)
    directory.ask("GET", own, 404)


def test_the_core_and_enterprise_schema_decide_what_somebody_reads(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    workspace, _ = served
    boss = directory.add("boss")
    ann = directory.add(
        "Ann",
        userType="permanent",
        preferredLanguage="de-DE",
        addresses=[{"type": "home", "country": "FR"}, {"type": "work", "country": "Germany"}],
        roles=[{"value": "driver"}],
        **{ENTERPRISE: {"department": "Fleet", "manager": {"value": boss["id"]}}},
    )
    group = {"schemas": [GROUP], "displayName": "Board", "externalId": "entra-1"}
    made = directory.ask("POST", "/Groups", 201, {**group, "members": [{"value": ann["id"]}]})

    def described(identity: str) -> Person:
        return read_account(workspace.store, identity).person

    assert described(ann["id"]) == Person(
        id=ann["id"],
        country="DE",
        roles=("driver",),
        groups=("entra-1", "department:Fleet"),
        contract="permanent",
        language="de",
    )
    assert described(boss["id"]).roles == ("manager",)
    directory.patch_it(f"/Users/{ann['id']}", {"op": "remove", "path": "roles"})
    directory.patch_it(f"/Users/{ann['id']}", {"op": "remove", "path": f"{ENTERPRISE}:manager"})
    directory.ask("DELETE", f"/Groups/{made['id']}", 204)
    assert described(ann["id"]).roles == ()
    assert described(ann["id"]).groups == ("department:Fleet",)
    assert described(boss["id"]).roles == ()
    actions = [
        link.facts["action"]
        for link in read_links(workspace.store, range(1, 2000))
        if link.facts.get("by") == "directory"
    ]
    assert {"person added", "person changed", "group saved", "group removed"} <= set(actions)


def test_only_the_directory_speaks_scim(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    """Neither a wrong token nor an admin's own, nor a browser, may give anybody a role."""
    workspace, url = served
    root = people.add_person(workspace, "root", Person(), ["admin"])
    _, token = people.make_token(workspace, root, "all", ["admin", "ask", "lab", "policy"])
    own = directory.add("employee")
    cookies = {"ombud_login": signing_in.open_browser(workspace, root)}
    body = {"schemas": [PATCH], "Operations": [{"op": "add", "value": {"roles": [{"value": "x"}]}}]}
    for headers in (
        {},
        {"authorization": "Bearer " + "x" * 40},
        {"authorization": f"Bearer {token}"},
    ):
        for method, path in (("PATCH", f"/Users/{own['id']}"), ("GET", "/Users")):
            place = f"{url}/scim/v2{path}"
            reply = httpx.request(method, place, json=body, headers=headers, cookies=cookies)
            assert reply.status_code == 401
            assert reply.headers["www-authenticate"] == 'Bearer realm="SCIM"'
    with Directory(url) as speaking:  # the directory's token opens nothing else
        assert speaking.get(f"{url}/api/v1/documents").status_code == 401


def test_accounts_that_the_directory_does_not_have_are_not_taken_over(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    workspace, _ = served
    local = people.add_person(workspace, "operator", Person(), ["admin"])
    directory.ask("POST", "/Users", 409, {"schemas": [USER], "userName": "Operator"})
    directory.ask("GET", f"/Users/{local.id}", 404)
    directory.patch_it(
        f"/Users/{local.id}", {"op": "replace", "path": "active", "value": False}, status=404
    )
    assert not read_account(workspace.store, local.id).disabled


def test_whom_an_admin_keeps_out_stays_out(
    served: tuple[Workspace, str], directory: Directory
) -> None:
    workspace, _ = served
    own = directory.add("temp")
    people.disable(workspace, people.find_person(workspace, "temp"))
    body = {"schemas": [USER], "userName": "temp", "title": "Other", "active": True}
    directory.ask("PUT", f"/Users/{own['id']}", 200, body)
    assert not callers.is_active(workspace, Person(id=own["id"]))


def test_a_token_that_can_be_guessed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scim(monkeypatch)
    monkeypatch.setenv("TEST_SCIM_TOKEN", "short")
    lay_store(tmp_path)
    (tmp_path / "ombud.toml").touch()
    workspace = Workspace(tmp_path)
    with pytest.raises(SetupError, match="TEST_SCIM_TOKEN"):
        create_app(workspace)
    workspace.close()
