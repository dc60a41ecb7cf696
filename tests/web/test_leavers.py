"""The directory deactivates somebody while everything is open: all of it ends."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from ombud.app import Workspace, callers, handoff_jobs, people, sessions, signing_in
from ombud.store import read_session
from web.running import make_workspace, running
from web.test_revoking import (
    SIGNED_OUT,
    cookie,
    handed_over,
    heard_to_the_end,
    heard_until,
    in_front_of,
    opened,
)

pytest.importorskip("scim2_server", reason="the extra `scim` is not installed")
SECRET = "a-secret-of-the-directory-0123456789"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
SECONDS = 60.0
"""How long a stream that says nothing is listened to: by then a leaver is out everywhere."""
CALLS = {
    "GET /api/v1/documents": None,
    "GET /v1/models": None,
    "POST /mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "POST /v1/chat/completions": {"model": "ombud", "messages": []},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        patch.setenv("OMBUD_IDENTITY__SCIM_TOKEN_ENV", "TEST_SCIM_TOKEN")
        patch.setenv("TEST_SCIM_TOKEN", SECRET)
        made = make_workspace(tmp_path_factory.mktemp("leavers"))
        with running(made) as url:
            yield made, url
        made.close()


def scim(url: str, method: str, path: str, body: object = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {SECRET}"}
    return httpx.request(method, f"{url}/scim/v2{path}", json=body, headers=headers, timeout=60)


def statuses(url: str, **proof: str) -> set[int]:
    """What each way in answers to somebody who has this proof."""
    found: set[int] = set()
    for call, body in CALLS.items():
        method, path = call.split(" ")
        headers = {"accept": "application/json, text/event-stream", **proof}
        found.add(httpx.request(method, url + path, json=body, headers=headers).status_code)
    return found


@pytest.mark.parametrize("way", ["active: false", "DELETE"])
def test_a_leaver_is_out_everywhere(served: tuple[Workspace, str], way: str) -> None:
    workspace, url = served
    name = f"leaver-{way[0]}".lower()
    made = scim(url, "POST", "/Users", {"schemas": [USER], "userName": name}).json()
    account = people.find_person(workspace, name)
    secret = signing_in.open_browser(workspace, account)
    in_frame, _ = sessions.redeem_frame_code(workspace, sessions.make_frame_code(workspace, secret))
    _, token = people.make_token(workspace, account, "program", ["ask"])
    talk = handed_over(workspace, account)
    proofs = (
        {"cookie": cookie(secret)},
        {"cookie": f"ombud_frame={in_frame}"},
        {"authorization": f"Bearer {token}"},
    )
    go_on = threading.Event()

    async def answer(_request: Request) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            yield "event: status\ndata: {}\n\n"
            while not go_on.is_set():  # as the pulse of an answer that takes its time
                await asyncio.sleep(0.05)
                yield ": still here\n\n"
            yield 'event: answer\ndata: "too late"\n\n'

        return StreamingResponse(parts(), media_type="text/event-stream")

    with (
        in_front_of([Route("/api/v1/ask", answer, methods=["POST"])], workspace) as streaming,
        httpx.Client(timeout=SECONDS) as client,
        client.stream("POST", f"{streaming}/api/v1/ask", headers=proofs[0]) as stream,
        opened(url, **proofs[0]) as live,
        opened(url, **proofs[2]) as of_program,
    ):
        coming = stream.iter_text()
        next(coming)
        for socket in (live, of_program):
            socket.send(json.dumps({"watch": talk}))
            heard_until(socket, "handoff")
        for proof in proofs:
            assert 401 not in statuses(url, **proof)
        if way == "DELETE":
            assert scim(url, "DELETE", f"/Users/{made['id']}").status_code == 204
        else:
            change = {"op": "replace", "path": "active", "value": False}
            body = {"schemas": [PATCH], "Operations": [change]}
            assert scim(url, "PATCH", f"/Users/{made['id']}", body).status_code == 204
        assert not callers.is_active(workspace, account.person)  # Slack and Teams ask this
        heard = "".join(coming)
        assert "too late" not in heard
        assert '"status": 401' in heard.partition("event: error")[2]
        assert [heard_to_the_end(socket)[1] for socket in (live, of_program)] == [SIGNED_OUT] * 2
        for proof in proofs:
            assert statuses(url, **proof) == {401}
        handoff_jobs.run_once(workspace)  # as a server does every two seconds
        assert read_session(workspace.store, talk).state == "closed"
        go_on.set()
