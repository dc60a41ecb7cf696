"""What an identity provider ends, names and leaves out: logout by either side, people of a directory,
and more groups than a token holds."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from ombud.app import Workspace, callers, people, provider
from ombud.store import read_account
from ombud.types import Account
from web.provider import CLIENT, Provider, running_provider
from web.running import make_workspace, running

TOKEN = "a-secret-of-the-directory-0123456789"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
PAY = "Pay bands for managers"


class Organisation:
    """A provider, the server that trusts it, and browsers."""

    def __init__(self, at: Provider, workspace: Workspace, url: str, stack: ExitStack) -> None:
        self.at, self.workspace, self.url = at, workspace, url
        self._stack = stack

    def browser(self) -> httpx.Client:
        made = httpx.Client(base_url=self.url, follow_redirects=True, timeout=60)
        return self._stack.enter_context(made)

    def signed_in(self, **claims: Any) -> httpx.Client:
        self.at.claims = {"sub": "u-1", "preferred_username": "ann", "sid": "s-1", **claims}
        made = self.browser()
        assert made.get("/login/provider").status_code == 200
        return made

    def log_out(self, token: str) -> httpx.Response:
        return httpx.post(f"{self.url}/logout/backchannel", data={"logout_token": token})

    def account(self) -> Account:
        found = provider.account_named(self.workspace, "u-1")
        assert found is not None
        return found


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Organisation]:
    pytest.importorskip("authlib", reason="the extra `oidc` is not installed")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        at = stack.enter_context(running_provider())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for name, value in {
            "IDENTITY__KIND": "oidc",
            "IDENTITY__ISSUER": at.issuer,
            "IDENTITY__CLIENT_ID": CLIENT,
            "IDENTITY__GRAPH": at.issuer,
            "IDENTITY__SCIM_TOKEN_ENV": "TEST_SCIM_TOKEN",
            "SERVER__PORT": str(port),
        }.items():
            patch.setenv(f"OMBUD_{name}", value)
        patch.setenv("TEST_SCIM_TOKEN", TOKEN)
        made = make_workspace(tmp_path_factory.mktemp("organisation"))
        stack.callback(made.close)
        url = stack.enter_context(running(made, port))
        yield Organisation(at, made, url, stack)


def is_in(browser: httpx.Client) -> bool:
    return browser.get("/api/v1/documents").status_code == 200


WRONG: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "http://127.0.0.1:1"},
    "audience": {"aud": "another"},
    "several parties": {"aud": [CLIENT, "another"]},
    "no time": {"iat": None},
    "no end": {"exp": None},
    "ended": {"exp": int(time.time()) - 3600},
    "made in the future": {"iat": int(time.time()) + 3600},
    "no id": {"jti": None},
    "no events": {"events": None},
    "another event": {"events": {"http://schemas.example/other": {}}},
    "event of no object": {"events": {"http://schemas.openid.net/event/backchannel-logout": 1}},
    "nonce": {"nonce": "n"},
    "nobody": {"sub": None, "sid": None},
    "sub of no text": {"sub": ["u-1"]},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_logout_token_that_does_not_hold_ends_nothing(
    organisation: Organisation, wrong: str
) -> None:
    browser = organisation.signed_in()
    reply = organisation.log_out(organisation.at.logout_token(WRONG[wrong]))
    assert reply.status_code == 400
    assert reply.json()["error"] == "invalid_request"
    assert reply.headers["cache-control"] == "no-store"
    assert is_in(browser)


def test_no_other_token_passes_for_a_logout_token_nor_it_for_another(
    organisation: Organisation,
) -> None:
    browser = organisation.signed_in()
    others = [organisation.at.token("n"), organisation.at.logout_token({}, "at+jwt"), "x.y.z", ""]
    for lie in ("none", "key"):
        organisation.at.lie = lie
        organisation.at.claims |= {"events": WRONG["nonce"], "jti": "1"}
        others.append(organisation.at.token("n"))
    organisation.at.lie = ""
    assert [organisation.log_out(token).status_code for token in others] == [400] * len(others)
    assert is_in(browser)
    # The other way round: it has no nonce, so that nobody signs in with it.
    organisation.at.claims = {"sub": "u-1", "nonce": None}
    assert organisation.browser().get("/login/provider").status_code == 401


@pytest.mark.parametrize(
    ("changes", "stays"),
    [({}, "s-2"), ({"sub": None}, "s-2"), ({"sid": None}, ""), ({"sid": "s-2"}, "s-1")],
)
def test_a_logout_token_ends_its_session_once(
    organisation: Organisation, changes: dict[str, Any], stays: str
) -> None:
    browsers = {sid: organisation.signed_in(sid=sid) for sid in ("s-1", "s-2")}
    token = organisation.at.logout_token(changes)
    assert organisation.log_out(token).status_code == 200
    assert {sid for sid, browser in browsers.items() if is_in(browser)} == ({stays} - {""})
    again = organisation.signed_in()
    assert organisation.log_out(token).status_code == 400  # replayed
    assert is_in(again)


def test_signing_out_leads_to_the_provider_and_back(organisation: Organisation) -> None:
    browser = organisation.signed_in()
    page = browser.post("/logout")
    assert not is_in(browser)
    (place,) = set(re.findall(r'href="(http[^"]+/end[^"]+)"', page.text))
    assert f'content="0; url={place}"' in page.text
    assert httpx.get(place.replace("&amp;", "&")).headers["location"] == f"{organisation.url}/login"
    came = organisation.at.left[-1]
    assert came["client_id"] == CLIENT
    assert came["id_token_hint"].count(".") == 2


def test_more_groups_than_a_token_holds_are_looked_up(organisation: Organisation) -> None:
    source = {"src1": {"endpoint": "http://127.0.0.1:9/never-followed"}}
    overage = {"_claim_names": {"groups": "src1"}, "_claim_sources": source}
    for cut in (overage, {"hasgroups": True}):
        organisation.at.groups = [f"g-{number}" for number in range(300)]
        assert is_in(organisation.signed_in(**cut))
        assert "g-199" in organisation.account().person.groups
        organisation.at.groups = None
        browser = organisation.browser()
        refused = browser.get("/login/provider")
        assert refused.status_code == 401
        assert "User.Read" in refused.text
        assert not is_in(browser)


# People of a directory ----------------------------------------------------------------------------


def scim(organisation: Organisation, method: str, path: str, body: Any = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.request(
        method, f"{organisation.url}/scim/v2{path}", json=body, headers=headers, timeout=60
    )


def test_a_person_of_the_directory_signs_in_to_their_own_account(
    organisation: Organisation,
) -> None:
    """The directory's country and roles count, the claims add to them; after their removal nothing
    is left, and whoever comes back is who they were."""
    person = {"userName": "joe@example.org", "externalId": "u-joe", "active": True}
    roles = {"addresses": [{"type": "work", "country": "GB"}], "roles": [{"value": "manager"}]}
    made = scim(organisation, "POST", "/Users", {"schemas": [USER], **person, **roles}).json()
    browser = organisation.signed_in(sub="u-joe", country="DE", roles=["driver"])
    page = browser.get("/documents").text
    assert PAY in page
    assert "Annual leave in Great Britain" in page
    account = read_account(organisation.workspace.store, made["id"])
    assert (account.name, account.person.roles) == ("joe@example.org", ("driver", "manager"))
    own = f"/Users/{made['id']}"
    patch = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"]}
    operation = {"op": "remove", "path": "roles"}
    scim(organisation, "PATCH", own, {**patch, "Operations": [operation]})
    assert PAY not in browser.get("/documents").text
    assert scim(organisation, "DELETE", own).status_code == 204
    assert not is_in(browser)
    assert organisation.browser().get("/login/provider").status_code == 403
    again = scim(organisation, "POST", "/Users", {"schemas": [USER], **person}).json()
    assert again["id"] == made["id"]
    assert callers.is_active(organisation.workspace, account.person)


def test_whoever_signed_in_before_the_directory_came_stays_who_they_are(
    organisation: Organisation,
) -> None:
    organisation.signed_in(sub="u-old", roles=["driver"])
    before = provider.account_named(organisation.workspace, "u-old")
    assert before is not None
    body = {"schemas": [USER], "userName": "old@example.org", "externalId": "u-old"}
    assert scim(organisation, "POST", "/Users", body).json()["id"] == before.id
    assert read_account(organisation.workspace.store, before.id).person.roles == ("driver",)
    assert scim(organisation, "POST", "/Users", body).status_code == 409
    people.find_person(organisation.workspace, "old@example.org")


def test_nobody_has_a_second_account_beside_the_one_of_the_directory(
    organisation: Organisation,
) -> None:
    """It would stay when the directory disables the first."""
    eve = {"schemas": [USER], "userName": "eve@example.org"}
    assert scim(organisation, "POST", "/Users", eve).status_code == 400
    made = scim(organisation, "POST", "/Users", {**eve, "externalId": "u-eve"}).json()
    organisation.at.claims = {"sub": "u-other", "preferred_username": "Eve@example.org"}
    refused = organisation.browser().get("/login/provider")
    assert refused.status_code == 403
    assert "externalId" in refused.text
    browser = organisation.signed_in(sub="u-eve")
    assert is_in(browser)
    body = {**eve, "externalId": "u-eve-2"}
    assert scim(organisation, "PUT", f"/Users/{made['id']}", body).status_code == 200
    assert not is_in(browser)
