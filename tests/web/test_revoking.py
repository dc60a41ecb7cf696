"""What is open ends with the right to it: sockets and streams of people who are signed out, disabled
or may do less, changed in the store by another process than the one that serves."""

import asyncio
import json
import socket
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest
import uvicorn
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ombud.app import Workspace, callers, conversing, people, signing_in
from ombud.types import Account, Person
from ombud.web.access import AccessControl
from web.running import make_workspace, running

BEFORE, AFTER = "I have not slept.", "It is my manager."
SIGNED_OUT, CHANGED = 4401, 4403
PERSON = Person(country="GB", roles=("manager",))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    """(the workspace as another replica has it open, address of the server)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        made = make_workspace(tmp_path_factory.mktemp("revoking"))
        other = Workspace(made.home)
        with running(made) as url:
            yield other, url
        other.close()
        made.close()


@contextmanager
def opened(url: str, **headers: str) -> Iterator[ClientConnection]:
    address = url.replace("http", "ws") + "/live"
    with connect(address, additional_headers=headers, proxy=None) as live:
        yield live


def cookie(secret: str) -> str:
    return f"ombud_login={secret}"


def handed_over(workspace: Workspace, owner: Account) -> str:
    talk = conversing.begin(workspace, owner.person, f"account:{owner.id}")
    conversing.hand_over(workspace, talk, "asked", "")
    return talk


def say(workspace: Workspace, talk: str, words: str) -> None:
    conversing.say(workspace, talk, words, str(uuid.uuid4()))


def heard_until(live: ClientConnection, words: str) -> None:
    while words not in str(live.recv(timeout=30)):
        pass


def heard_to_the_end(live: ClientConnection) -> tuple[str, int, str]:
    """(everything that still came, code and reason of the closing)."""
    heard = ""
    with suppress(ConnectionClosed):
        while True:
            heard += str(live.recv(timeout=30))
    return heard, live.close_code or 0, live.close_reason or ""


def sign_out(workspace: Workspace, account: Account, secret: str) -> None:
    del account
    signing_in.sign_out(workspace, secret)


def disable(workspace: Workspace, account: Account, secret: str) -> None:
    del secret
    people.disable(workspace, account)


def change_password(workspace: Workspace, account: Account, secret: str) -> None:
    del secret
    people.set_password(workspace, account, "another long password")


def lose_role(workspace: Workspace, account: Account, secret: str) -> None:
    """Of an employee, who has no duty to lose, the role by which they read more documents."""
    del secret
    if account.duties == ("employee",):
        people.describe_person(workspace, account, Person(country="GB"))
    else:
        people.give_duties(workspace, account, ["employee"])


def expire(workspace: Workspace, account: Account, secret: str) -> None:
    """Its hours are over."""
    del secret
    with workspace.store.write() as db:
        of_account = text("UPDATE login SET expires = 1 WHERE account_id = :id")
        db.execute(of_account, {"id": account.id})


ENDINGS: dict[str, tuple[Callable[[Workspace, Account, str], None], int]] = {
    "disabled": (disable, SIGNED_OUT),
    "signed out": (sign_out, SIGNED_OUT),
    "password": (change_password, SIGNED_OUT),
    "role": (lose_role, CHANGED),
    "expired": (expire, SIGNED_OUT),
}


@pytest.mark.parametrize("duty", ["employee", "advisor", "policy_owner", "admin"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_socket_delivers_nothing_after_its_right_has_ended(
    served: tuple[Workspace, str], duty: str, ending: str
) -> None:
    workspace, url = served
    end, code = ENDINGS[ending]
    account = people.add_person(workspace, f"{duty}-{ending.replace(' ', '-')}", PERSON, [duty])
    employee = people.add_person(workspace, f"of-{account.name}", Person(country="GB"), [])
    secret = signing_in.open_browser(workspace, account)
    is_desk = duty == "advisor"
    talk = handed_over(workspace, employee if is_desk else account)
    another = handed_over(workspace, employee if is_desk else account)
    after = f"{AFTER} {uuid.uuid4()}"  # the desk shows how other conversations end
    with opened(url, cookie=cookie(secret)) as live:
        live.send(json.dumps({"desk": is_desk}))
        live.send(json.dumps({"watch": talk}))
        say(workspace, talk, BEFORE)
        heard_until(live, BEFORE)
        end(workspace, account, secret)
        say(workspace, talk, after)
        with suppress(ConnectionClosed):  # by now, perhaps
            live.send(json.dumps({"watch": another}))
        heard, closed, reason = heard_to_the_end(live)
    assert after not in heard
    assert f'"conversation": "{another}"' not in heard
    assert closed == code
    assert "Load this page again" in reason


def test_a_socket_on_which_nothing_happens_is_closed(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    account = people.add_person(workspace, "calm", PERSON, ["advisor"])
    secret = signing_in.open_browser(workspace, account)
    with opened(url, cookie=cookie(secret)) as live:
        live.send('{"ping": 1}')
        heard_until(live, "pong")
        people.disable(workspace, account)
        assert heard_to_the_end(live)[1] == SIGNED_OUT


def test_a_socket_of_a_program_ends_with_its_token(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    account = people.add_person(workspace, "robot", PERSON, [])
    talk = handed_over(workspace, account)
    token, secret = people.make_token(workspace, account, "bridge", ["ask"])
    with opened(url, authorization=f"Bearer {secret}") as live:
        live.send(json.dumps({"watch": talk}))
        heard_until(live, "handoff")
        people.revoke_token(workspace, token.id)
        say(workspace, talk, AFTER)
        heard, code, _ = heard_to_the_end(live)
    assert AFTER not in heard
    assert code == SIGNED_OUT


def test_another_browser_of_the_same_person_stays(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    account = people.add_person(workspace, "two-browsers", PERSON, [])
    talk = handed_over(workspace, account)
    gone, stays = (signing_in.open_browser(workspace, account) for _ in range(2))
    with opened(url, cookie=cookie(stays)) as live:
        live.send(json.dumps({"watch": talk}))
        heard_until(live, "handoff")
        signing_in.sign_out(workspace, gone)
        say(workspace, talk, AFTER)
        heard_until(live, AFTER)


def test_who_comes_back_without_a_right_learns_why(served: tuple[Workspace, str]) -> None:
    """A browser learns neither code nor reason of a handshake that is refused, and would try on."""
    with opened(served[1], cookie=cookie("of yesterday")) as live:
        assert heard_to_the_end(live)[1] == SIGNED_OUT


def test_the_next_request_knows_of_a_lost_role(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    account = people.add_person(workspace, "once-a-manager", PERSON, [])
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    asked = {"question": "Where does the confidential pay band of grade G5 begin?"}
    with httpx.Client(base_url=url, cookies=cookies, timeout=60) as client:
        assert "48,000" in client.post("/api/v1/ask", json=asked).text
        people.describe_person(workspace, account, Person(country="GB"))
        assert "48,000" not in client.post("/api/v1/ask", json=asked).text


def test_a_stream_of_events_ends_with_the_right_to_it(served: tuple[Workspace, str]) -> None:
    workspace, _ = served
    account = people.add_person(workspace, "streaming", PERSON, [])
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    go_on = threading.Event()

    async def answer(_request: Request) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            yield "event: status\ndata: {}\n\n"
            await asyncio.to_thread(go_on.wait, 60)
            yield f'event: answer\ndata: "{AFTER}"\n\n'

        return StreamingResponse(parts(), media_type="text/event-stream")

    async def documents(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("")

    routes = [
        Route("/api/v1/ask", answer, methods=["POST"]),
        Route("/api/v1/documents", documents),
    ]
    with (
        in_front_of(routes, workspace) as url,
        httpx.Client(base_url=url, cookies=cookies, timeout=60) as client,
        client.stream("POST", "/api/v1/ask") as stream,
    ):
        coming = stream.iter_text()
        heard = next(coming)
        people.disable(workspace, account)
        while client.get("/api/v1/documents").status_code == 200:
            pass
        go_on.set()
        heard += "".join(coming)
    assert "event: status" in heard
    assert AFTER not in heard
    assert '"status": 401' in heard.partition("event: error")[2]


@contextmanager
def in_front_of(routes: list[Route], workspace: Workspace) -> Iterator[str]:
    """Our access control, by a real server, in front of other routes; the address."""
    app = Starlette(routes=routes)
    app.state.workspace = workspace
    app.add_middleware(AccessControl, accounts=callers.Callers(workspace))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
