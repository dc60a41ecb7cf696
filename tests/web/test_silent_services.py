"""A ticket system and a directory that accept connections and never reply."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ombud.app import Workspace, signing_in
from ombud.store import new_account
from ombud.types import Person
from web.running import LEAVE_GB, make_workspace, running

LEAVE = "How many days of annual leave do I have?"
LATEST = 10.0
"""Seconds for a reply on a busy machine; one who waits for a silent service waits 10 or longer."""


@pytest.fixture
def silent_url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.slow
def test_no_answer_waits_for_a_silent_ticket_system_or_directory(
    tmp_path: Path, silent_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKETS_SECRET", "secret")
    make_workspace(tmp_path).close()
    with (tmp_path / "ombud.toml").open("a", encoding="utf-8") as file:
        file.write(
            f'[identity]\nkind = "oidc"\nissuer = "{silent_url}"\nclient_id = "c"\n'
            f'[tickets]\nsystem = "zendesk"\nurl = "{silent_url}"\nclient = "client"\n'
            '[handoff]\ndesk = "none"\n'
        )
    workspace = Workspace(tmp_path)
    account = new_account(workspace.store, "ann", Person(country="GB"), ["employee"])
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    with (
        running(workspace) as url,
        httpx.Client(base_url=url, cookies=cookies, timeout=LATEST) as ann,
        httpx.Client(base_url=url, timeout=60) as newcomer,
    ):
        talk = ann.post("/api/v1/conversations", json={}).json()["id"]
        asked = {"question": LEAVE, "conversation_id": talk}
        assert LEAVE_GB in ann.post("/api/v1/ask", json=asked).text
        wanted = {"reason": "asked", "ticket": True, "consent": True}
        handed = ann.post(f"/api/v1/conversations/{talk}/handoff", json=wanted)
        assert handed.status_code in {200, 201}
        for number in range(3):
            said = {
                "id": f"00000000-0000-4000-8000-00000000000{number}",
                "text": "Is anybody there?",
            }
            told = ann.post(f"/api/v1/conversations/{talk}/messages", json=said)
            assert told.status_code == 201
        assert LEAVE_GB in ann.post("/api/v1/ask", json={"question": LEAVE}).text
        # Who signs in meanwhile is told what is wrong.
        refused = newcomer.get("/login/provider")
        assert refused.status_code >= 400
        assert "cannot be reached" in refused.text
    workspace.close()
