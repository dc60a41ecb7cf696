"""Every route and socket for every kind of person: what is expected stands here once, written from
the roles of the guide, not from the table of the code."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route, WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from ombud.app import Workspace, people, signing_in
from ombud.errors import SetupError
from ombud.types import Person
from ombud.web import create_app
from ombud.web.server import prepare
from web.running import make_workspace, running

PASSWORD = "correct horse battery"
ROLES = ("employee", "advisor", "policy_owner", "engineer", "admin")
EVERYONE = "nobody employee advisor policy_owner engineer admin"
SIGNED_IN = "employee advisor policy_owner engineer admin"
ADVISORS = "advisor"
ENGINEERS = "engineer admin"
OWNERS = "policy_owner admin"
RUNS = "policy_owner engineer admin"

EXPECTED = {
    "GET /healthz": EVERYONE,
    "GET /readyz": EVERYONE,
    "GET /static/{version}/{name}": EVERYONE,
    "GET /login": EVERYONE,
    "POST /login": EVERYONE,
    "GET /login/provider": EVERYONE,
    "GET /login/back": EVERYONE,
    "POST /login/frame": EVERYONE,
    "GET /login/done": SIGNED_IN,
    "POST /logout": EVERYONE,
    "POST /logout/backchannel": EVERYONE,
    "GET /scim/v2/{path:path}": EVERYONE,
    "POST /scim/v2/{path:path}": EVERYONE,
    "PUT /scim/v2/{path:path}": EVERYONE,
    "PATCH /scim/v2/{path:path}": EVERYONE,
    "DELETE /scim/v2/{path:path}": EVERYONE,
    "POST /language": EVERYONE,
    "POST /api/v1/desk/webhook": EVERYONE,
    "POST /api/v1/tickets/webhook": EVERYONE,
    "POST /api/messages": EVERYONE,
    "POST /api/slack": EVERYONE,
    "GET /": SIGNED_IN,
    "POST /chat/ask": SIGNED_IN,
    "GET /documents": SIGNED_IN,
    "GET /documents/{document_id}": SIGNED_IN,
    "GET /documents/{document_id}/changes": SIGNED_IN,
    "GET /documents/{document_id}/pages/{number}": SIGNED_IN,
    "POST /api/v1/ask": SIGNED_IN,
    "POST /api/v1/search": SIGNED_IN,
    "GET /api/v1/documents": SIGNED_IN,
    "GET /api/v1/documents/{document_id}": SIGNED_IN,
    "POST /api/v1/answers/{answer_id}/feedback": SIGNED_IN,
    "GET /api/v1/conversations": SIGNED_IN,
    "POST /api/v1/conversations": SIGNED_IN,
    "GET /api/v1/conversations/{conversation_id}": SIGNED_IN,
    "PATCH /api/v1/conversations/{conversation_id}": SIGNED_IN,
    "DELETE /api/v1/conversations/{conversation_id}": SIGNED_IN,
    "GET /api/v1/conversations/{conversation_id}/events": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/messages": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/handoff": SIGNED_IN,
    "DELETE /api/v1/conversations/{conversation_id}/handoff": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/read": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/rating": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/close": SIGNED_IN,
    "GET /api/v1/conversations/{conversation_id}/transcript": SIGNED_IN,
    "POST /api/v1/conversations/{conversation_id}/transcript": SIGNED_IN,
    "GET /api/v1/conversations/{conversation_id}/share": SIGNED_IN,
    "PUT /api/v1/conversations/{conversation_id}/share": SIGNED_IN,
    "DELETE /api/v1/conversations/{conversation_id}/share": SIGNED_IN,
    "GET /shared/{secret}": SIGNED_IN,
    "GET /v1/models": SIGNED_IN,
    "GET /v1/models/{name:path}": SIGNED_IN,
    "POST /v1/chat/completions": SIGNED_IN,
    "POST /v1/responses": SIGNED_IN,
    "POST /mcp": SIGNED_IN,
    "GET /openapi.json": SIGNED_IN,
    "GET /desk": ADVISORS,
    "GET /api/v1/desk": ADVISORS,
    "POST /api/v1/desk/sign-in": ADVISORS,
    "POST /api/v1/desk/sign-out": ADVISORS,
    "POST /api/v1/desk/away": ADVISORS,
    "GET /api/v1/desk/closed": ADVISORS,
    "GET /api/v1/desk/{conversation_id}": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/claim": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/messages": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/notes": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/labels": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/transfer": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/snooze": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/end": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/read": ADVISORS,
    "POST /api/v1/desk/{conversation_id}/suggest": ADVISORS,
    "GET /api/v1/describe": ENGINEERS,
    "GET /api/v1/passages": ENGINEERS,
    "GET /metrics": ENGINEERS,
    "GET /api/v1/usage": RUNS,
    "GET /api/v1/sync": RUNS,
    "GET /admin": RUNS,
    "GET /admin/sources": RUNS,
    "POST /admin/sources/run": OWNERS,
    "POST /admin/sources/remove": "admin",
    "POST /admin/sources/folder": "admin",
    "POST /admin/sources/upload": OWNERS,
    "GET /admin/documents": RUNS,
    "GET /admin/documents/{document_id}": RUNS,
    "GET /admin/drafts": OWNERS,
    "POST /admin/drafts/upload": OWNERS,
    "POST /admin/drafts/{identity}/{action}": OWNERS,
    "GET /admin/drafts/{identity}/report": OWNERS,
    "GET /admin/prompts": ENGINEERS,
    "GET /admin/prompts/{task}/{variant}": ENGINEERS,
    "POST /admin/prompts/{task}/{variant}": ENGINEERS,
    "GET /admin/flags": ENGINEERS,
    "POST /admin/flags/experiment": ENGINEERS,
    "POST /admin/flags/country": ENGINEERS,
    "GET /lab": ENGINEERS,
    "GET /lab/cases": ENGINEERS,
    "GET /lab/case": ENGINEERS,
    "GET /lab/report": ENGINEERS,
    "GET /lab/study": ENGINEERS,
    "GET /lab/datasets": ENGINEERS,
    "POST /lab/datasets": ENGINEERS,
    "GET /lab/datasets/{name}": ENGINEERS,
    "POST /lab/datasets/{name}": ENGINEERS,
    "GET /lab/production": ENGINEERS,
    "POST /lab/production/baseline": ENGINEERS,
    "POST /lab/annotate": ENGINEERS,
    "GET /lab/annotate/{identity}": ENGINEERS,
    "POST /lab/annotate/{identity}": ENGINEERS,
    "GET /lab/annotate/{identity}/agreement": ENGINEERS,
    "GET /playground": ENGINEERS,
    "POST /playground/pages": ENGINEERS,
    "POST /playground/route": ENGINEERS,
    "GET /admin/people": "admin",
    "POST /admin/people": "admin",
    "GET /admin/people/{name}/export": "admin",
    "POST /admin/people/{name}/{action}": "admin",
    "GET /admin/groups": "admin",
    "POST /admin/groups": "admin",
    "POST /admin/groups/remove": "admin",
    "POST /admin/tokens": "admin",
    "POST /admin/tokens/{identity}/revoke": "admin",
    "GET /admin/replies": f"advisor {OWNERS}",
    "POST /admin/replies": f"advisor {OWNERS}",
    "GET /admin/desk": OWNERS,
    "GET /admin/desk.csv": OWNERS,
    "GET /admin/audit": OWNERS,
    "POST /admin/audit": OWNERS,
}
SOCKETS = {"/live": SIGNED_IN}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        for name in ("REQUESTS_PER_MINUTE", "PERSON_REQUESTS_PER_MINUTE"):
            patch.setenv(f"OMBUD_SERVER__{name}", "0")
        made = make_workspace(tmp_path_factory.mktemp("guarded"))
        for role in ROLES:
            people.add_person(made, role, Person(country="GB"), [role], password=PASSWORD)
        for name in ("ann", "bob"):
            people.add_person(made, name, Person(country="GB"), [], password=PASSWORD)
        yield made
        made.close()


@pytest.fixture(scope="module")
def where(guarded: Workspace) -> Iterator[str]:
    with running(guarded) as url:
        yield url


def cookies_of(workspace: Workspace, name: str) -> dict[str, str]:
    if name == "nobody":
        return {}
    account = people.find_person(workspace, name)
    return {"ombud_login": signing_in.open_browser(workspace, account)}


def routes_of(routes: list[BaseRoute]) -> Iterator[str]:
    """Every route, as `GET /path`; also those inside of routers that are joined on demand."""
    for route in routes:
        if isinstance(route, WebSocketRoute):
            continue
        inside = getattr(route, "original_router", None)
        if inside is not None:
            yield from routes_of(inside.routes)
        elif isinstance(route, APIRoute | Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield f"{method} {route.path}"


def test_every_route_has_an_expected_answer(guarded: Workspace) -> None:
    """A new route fails here until somebody says who may use it."""
    app = create_app(guarded)
    assert sorted(set(routes_of(list(app.routes)))) == sorted(EXPECTED)


@pytest.mark.parametrize("role", EVERYONE.split())
def test_each_role_gets_what_is_its_own(guarded: Workspace, where: str, role: str) -> None:
    wrong: list[str] = []
    for name, allowed in EXPECTED.items():
        method, path = name.split(" ")
        address = re.sub(r"\{[^}]+\}", "unknown", path)
        with httpx.Client(base_url=where, cookies=cookies_of(guarded, role), timeout=30) as client:
            status = client.request(method, address, json={}).status_code
        refused = status == 401 if role == "nobody" else status == 403
        # A wrong password and an unsigned webhook are refused as well, by the route itself.
        webhooks = {"POST /api/v1/desk/webhook", "POST /api/v1/tickets/webhook"}
        own = name in {"POST /login", "GET /login/back", *webhooks}
        if not own and refused is not (role not in allowed.split()):
            wrong.append(f"{name}: {status}")
        if status >= 500 and name != "GET /login/provider":
            wrong.append(f"{name}: {status}")
    assert wrong == []


@pytest.mark.parametrize("role", EVERYONE.split())
def test_sockets_open_for_who_has_signed_in(guarded: Workspace, where: str, role: str) -> None:
    for path, allowed in SOCKETS.items():
        cookie = "; ".join(f"{name}={value}" for name, value in cookies_of(guarded, role).items())
        address = where.replace("http", "ws") + path
        try:
            with connect(address, additional_headers={"cookie": cookie}) as socket:
                socket.send('{"ping": 1}')
                opened = "pong" in str(socket.recv(timeout=10))
        except (ConnectionClosed, InvalidStatus):
            opened = False
        assert opened is (role in allowed.split())


def test_what_is_not_there_is_not_there_for_anybody(guarded: Workspace, where: str) -> None:
    with httpx.Client(base_url=where) as client:
        assert client.get("/admin/unheard-of").status_code == 401
        client.cookies.update(cookies_of(guarded, "admin"))
        assert client.get("/admin/unheard-of").status_code == 404
        assert client.put("/api/v1/ask").status_code == 404


def test_a_page_leads_to_where_one_signs_in_and_back(where: str) -> None:
    reply = httpx.get(f"{where}/documents?q=leave", headers={"accept": "text/html"})
    assert reply.status_code == 303
    assert reply.headers["location"] == "/login?next=%2Fdocuments%3Fq%3Dleave"


def test_a_token_does_what_it_is_for_and_no_more(guarded: Workspace, where: str) -> None:
    account = people.find_person(guarded, "admin")
    made, secret = people.make_token(guarded, account, "export", ["ask"])
    headers = {"authorization": f"Bearer {secret}"}
    assert httpx.get(f"{where}/api/v1/documents", headers=headers).status_code == 200
    assert httpx.get(f"{where}/api/v1/passages", headers=headers).status_code == 403
    people.revoke_token(guarded, made.id)
    with running(guarded) as fresh:
        assert httpx.get(f"{fresh}/api/v1/documents", headers=headers).status_code == 401


@pytest.mark.parametrize("value", ["Bearer", "Bearer x", "Basic YTpi", "x"])
def test_a_wrong_key_is_not_made_good_by_a_cookie(
    guarded: Workspace, where: str, value: str
) -> None:
    reply = httpx.get(
        f"{where}/api/v1/documents",
        headers={"authorization": value},
        cookies=cookies_of(guarded, "ann"),
    )
    assert reply.status_code == 401


def test_who_somebody_is_wins_over_what_a_request_says(guarded: Workspace, where: str) -> None:
    """Ann is in GB; an engineer may ask for whomever."""
    body = {"query": "annual leave", "person": {"country": "DE", "roles": ["people-manager"]}}
    own = httpx.post(
        f"{where}/api/v1/search",
        json={"query": "annual leave"},
        cookies=cookies_of(guarded, "ann"),
        timeout=30,
    ).json()
    said = httpx.post(
        f"{where}/api/v1/search", json=body, cookies=cookies_of(guarded, "ann"), timeout=30
    ).json()
    other = httpx.post(
        f"{where}/api/v1/search", json=body, cookies=cookies_of(guarded, "engineer"), timeout=30
    ).json()
    assert [hit["title"] for hit in said["hits"]] == [hit["title"] for hit in own["hits"]]
    assert "Annual leave in Germany" not in [hit["title"] for hit in said["hits"]]
    assert "Annual leave in Germany" in [hit["title"] for hit in other["hits"]]
    assert own["trace"]["queries"] == []  # how it was found is for who measures
    assert other["trace"]["queries"] != []


def test_supplied_passages_are_for_who_measures(guarded: Workspace, where: str) -> None:
    body = {"question": "How many days?", "evidence": [{"text": "Everybody has 25 days."}]}
    for name, status in (("ann", 403), ("engineer", 200)):
        reply = httpx.post(
            f"{where}/api/v1/ask", json=body, cookies=cookies_of(guarded, name), timeout=30
        )
        assert reply.status_code == status, reply.text


def test_nothing_of_anothers_in_random_requests(guarded: Workspace, where: str) -> None:
    """Bob tries every route on what is Ann's, with Ann's ids and words in every place."""
    leaks = random_requests(guarded, where, count=600, seed=16)
    assert leaks == []


@pytest.mark.slow
def test_nothing_of_anothers_in_five_thousand_random_requests(
    guarded: Workspace, where: str
) -> None:
    assert random_requests(guarded, where, count=5_000, seed=5_000) == []


SECRET = "the golden spanner of the north gate"


def random_requests(workspace: Workspace, where: str, *, count: int, seed: int) -> list[str]:
    """What came back of Ann's; empty where nothing did."""
    ann = httpx.Client(base_url=where, cookies=cookies_of(workspace, "ann"), timeout=30)
    talk = ann.post("/api/v1/conversations", json={}).json()["id"]
    asked = {"question": f"Who has {SECRET}?", "conversation_id": talk}
    answer = ann.post("/api/v1/ask", json=asked).json()["id"]
    before = ann.get(f"/api/v1/conversations/{talk}/events").json()
    chance = random.Random(seed)
    routes = [name for name in EXPECTED if not name.startswith(("POST /log", "GET /log"))]
    ids = [talk, answer, f"{talk}%00", f"../{talk}", talk.upper(), f" {talk}", f"{talk}/"]
    bodies: list[object] = [
        {"conversation_id": talk, "question": "What did I ask?"},
        {"id": talk, "text": "hello"},
        {"title": "mine"},
        {"thumb": 1},
        {"place": 1},
        {"advisor": "ann"},
        {"person": {"id": people.find_person(workspace, "ann").id}},
        {"model": "ombud", "messages": [{"role": "user", "content": talk}], "user": "ann"},
        [],
    ]
    keys = ["account:" + people.find_person(workspace, "ann").id, "ann", talk]
    leaks: list[str] = []
    bob = httpx.Client(base_url=where, cookies=cookies_of(workspace, "bob"), timeout=60)
    for _ in range(count):
        method, path = chance.choice(routes).split(" ")
        address = re.sub(r"\{[^}]+\}", lambda _: chance.choice(ids), path)
        reply = bob.request(
            method,
            address,
            json=chance.choice(bodies),
            params=chance.choice([None, {"q": "golden"}, {"key": keys[0]}, {"after": "0"}]),
            headers=chance.choice([{}, {"ombud-key": chance.choice(keys)}]),
        )
        if SECRET in reply.text or reply.status_code >= 500:
            leaks.append(f"{method} {address}: {reply.status_code}")
    after = ann.get(f"/api/v1/conversations/{talk}/events").json()
    if after["events"] != before["events"]:
        leaks.append("Ann's conversation was changed")
    ann.close()
    bob.close()
    return leaks


def test_nobody_listens_beyond_this_machine_without_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_IDENTITY__KIND", "none")
    made = make_workspace(tmp_path)
    with pytest.raises(SetupError) as refused:
        prepare(made, "0.0.0.0", 0)
    made.close()
    assert "identity.kind" in refused.value.hint
