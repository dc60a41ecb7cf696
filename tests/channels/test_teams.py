"""Microsoft Teams: activities as Teams posts them, to the real server with the Agents SDK in it, and
a connector that takes what the bot writes by itself."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from ombud.app import Workspace
from ombud.errors import SetupError
from ombud.handoff import Advisor, session
from ombud.store import list_sessions, new_account, read_events
from ombud.types import Person
from ombud.web.server import create_app
from web.running import LEAVE_DE, LEAVE_GB, make_workspace, running

pytest.importorskip("microsoft_agents.hosting.fastapi", reason="the extra `teams` is not installed")

LEAVE = "How many days of annual leave do I have?"
APP = "11111111-2222-3333-4444-555555555555"
TENANT = "99999999-8888-7777-6666-555555555555"
ANNA = Advisor(id="anna", name="Anna")


class Connector(ThreadingHTTPServer):
    """Microsoft's side: what bots send to a conversation."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.got: list[dict[str, Any]] = []
        self.news = threading.Condition()
        self.status = 201

    def wait_for(self, words: str) -> dict[str, Any]:
        with self.news:
            assert self.news.wait_for(lambda: self._with(words), 20), self.got
            return self._with(words)[0]

    def _with(self, words: str) -> list[dict[str, Any]]:
        return [one for one in self.got if words in json.dumps(one)]


class _Handler(BaseHTTPRequestHandler):
    server: Connector

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.news:
            if self.server.status < 300:
                self.server.got.append({"path": self.path, **body})
            self.server.news.notify_all()
        self.send_response(self.server.status)
        answer = b'{"id": "1"}'
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def connector() -> Iterator[Connector]:
    with Connector() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@contextmanager
def bot(home: Path, settings: str) -> Iterator[tuple[Workspace, str]]:
    make_workspace(home).close()
    with (home / "ombud.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    workspace = Workspace(home)
    try:
        with running(workspace) as url:
            yield workspace, url
    finally:
        workspace.close()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[tuple[Workspace, str]]:
    with bot(tmp_path, "[teams]\nenabled = true\n") as made:
        yield made


def activity(said: str = "", **more: Any) -> dict[str, Any]:
    made = {
        "type": "message",
        "id": f"m-{time.monotonic_ns()}",
        "channelId": "msteams",
        "serviceUrl": "http://127.0.0.1:9/",
        "from": {"id": "29:bob", "name": "Bob", "aadObjectId": "bob-oid"},
        "recipient": {"id": "28:bot", "name": "ombud"},
        "conversation": {"id": "a:chat", "conversationType": "personal", "tenantId": TENANT},
        "deliveryMode": "expectReplies",
        "locale": "en-GB",
    }
    if said:
        made["text"] = said
    return made | more


def post(url: str, sent: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    """The cards that come back."""
    reply = httpx.post(f"{url}/api/messages", json=sent, headers=headers, timeout=30)
    assert reply.status_code == 200, reply.text
    cards: list[dict[str, Any]] = []
    for one in reply.json()["activities"]:
        cards.extend(part["content"] for part in one.get("attachments", []))
    return cards


def texts(card: dict[str, Any]) -> str:
    """All that is read on it."""
    found: list[str] = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            if part.get("type") == "TextBlock":
                found.append(part["text"])
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(card)
    return "\n".join(found)


def buttons(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {action["title"]: action for action in card["actions"]}


def click(card: dict[str, Any], title: str, **more: Any) -> dict[str, Any]:
    return activity(value=buttons(card)[title]["data"], **more)


def test_an_answer_is_a_card_with_the_passages_behind_it(demo: tuple[Workspace, str]) -> None:
    _, url = demo
    (card,) = post(url, activity("How many days of leave are there in Great Britain?"))
    assert card["type"] == "AdaptiveCard"
    assert card["version"] == "1.5"
    said = texts(card)
    assert said.startswith("Answered")
    assert LEAVE_GB in said
    assert "[1]" in said
    assert "1. Annual leave in Great Britain" in said
    (toggle,) = [named for name, named in buttons(card).items() if name.startswith("Sources")]
    assert toggle["targetElements"] == ["sources"]
    assert len(json.dumps(card)) < 28_000


def test_a_table_is_a_table(demo: tuple[Workspace, str]) -> None:
    _, url = demo
    (card,) = post(url, activity("What is the cap for a hotel night in Paris?"))
    tables = [part for part in card["body"] if part["type"] == "Table"]
    assert tables
    first, *rows = tables[0]["rows"]
    assert [texts(cell) for cell in first["cells"]] == ["City", "Cap for a hotel night"]
    assert any("Paris" in texts(row) and "EUR 220" in texts(row) for row in rows)


def test_what_stands_in_documents_makes_no_links(demo: tuple[Workspace, str]) -> None:
    _, url = demo
    (card,) = post(url, activity("Which badge do visitors of the laboratory wear?"))
    said = texts(card)
    assert "yellow badge" in said
    sources = next(part for part in card["body"] if part.get("id") == "sources")
    assert "\\<img src=x" in texts(sources)


def test_a_person_takes_over_and_writes_into_the_chat(
    demo: tuple[Workspace, str], connector: Connector
) -> None:
    workspace, url = demo
    there = {"serviceUrl": connector.url}
    (card,) = post(url, activity(LEAVE, **there))
    (queued,) = post(url, click(card, "Talk to a person", **there))
    assert "You are in the queue" in texts(queued)
    (stands,) = list_sessions(workspace.store, ["queued"])
    session.claim(workspace.store, stands.id, ANNA)
    connector.wait_for("Anna has joined")
    session.reply(workspace.store, stands.id, ANNA, "What is it about? [x](http://evil)", "k1")
    came = connector.wait_for("What is it about?")
    assert came["path"] == "/v3/conversations/a:chat/activities"
    assert came["text"] == "Anna: What is it about? [x](http://evil)"
    assert came["textFormat"] == "plain"
    # What is written now is for Anna, and answered by nobody else.
    assert post(url, activity("My leave was refused.", **there)) == []
    last = read_events(workspace.store, stands.id)
    assert "My leave was refused." in [event.text for event in last]
    session.end(workspace.store, stands.id, ANNA, reason="solved", note="")
    connector.wait_for("You can ask me again")
    assert len([one for one in connector.got if "Anna has joined" in json.dumps(one)]) == 1
    (again,) = post(url, activity("And in Germany, how many days of leave?", **there))
    assert LEAVE_DE in texts(again)


def test_what_could_not_be_brought_comes_when_it_can(
    demo: tuple[Workspace, str], connector: Connector
) -> None:
    workspace, url = demo
    there = {"serviceUrl": connector.url}
    (card,) = post(url, activity(LEAVE, **there))
    post(url, click(card, "Talk to a person", **there))
    (stands,) = list_sessions(workspace.store, ["queued"])
    connector.status = 503
    session.claim(workspace.store, stands.id, ANNA)
    session.reply(workspace.store, stands.id, ANNA, "I am here.", "k1")
    connector.status = 201
    connector.wait_for("I am here.")
    told = [one["text"] for one in connector.got]
    assert told == ["Anna has joined and reads what you have written.", "Anna: I am here."]


def test_a_message_sent_twice_is_one_question(demo: tuple[Workspace, str]) -> None:
    workspace, url = demo
    sent = activity(LEAVE, id="m-1")
    assert post(url, sent)
    post(url, sent)
    (stands,) = list_sessions(workspace.store, ["bot"])
    asked = [event for event in read_events(workspace.store, stands.id) if event.by == "user"]
    assert [event.text for event in asked if event.text] == [LEAVE]


def test_a_thumb_is_kept_and_new_begins_anew(demo: tuple[Workspace, str]) -> None:
    workspace, url = demo
    (card,) = post(url, activity(LEAVE))
    (thanks,) = post(url, click(card, "Not helpful"))
    assert "Noted" in texts(thanks)
    other = {"from": {"id": "29:eve", "name": "Eve"}}
    (refused,) = post(url, click(card, "Helpful", **other))
    assert "There is no answer" in texts(refused)
    post(url, activity("new"))
    post(url, activity(LEAVE))
    assert len(list_sessions(workspace.store, ["closed"])) == 1
    assert len(list_sessions(workspace.store, ["bot"])) == 1


def test_other_chats_pictures_and_first_words(demo: tuple[Workspace, str]) -> None:
    workspace, url = demo
    group = {"conversation": {"id": "19:team", "conversationType": "channel"}}
    (card,) = post(url, activity(LEAVE, **group))
    assert "in a chat of our own" in texts(card)
    (card,) = post(url, activity(""))
    assert "words only" in texts(card)
    added = {"type": "conversationUpdate", "membersAdded": [{"id": "29:bob"}]}
    (card,) = post(url, activity("", **added))
    assert "Acme Works" in texts(card)
    assert list_sessions(workspace.store, ["bot"]) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("[]", 400),
        ('{"type": "message"}', 403),
        (json.dumps(activity(LEAVE, serviceUrl="http://intranet.example.org/")), 403),
        (json.dumps({**activity(LEAVE), "from": None}), 400),
    ],
)
def test_what_is_no_activity_is_refused(
    demo: tuple[Workspace, str], body: str, status: int
) -> None:
    _, url = demo
    headers = {"content-type": "application/json"}
    assert httpx.post(f"{url}/api/messages", content=body, headers=headers).status_code == status


# With credentials ---------------------------------------------------------------------------------

WHOLE = (
    '[identity]\nkind = "oidc"\nissuer = "http://127.0.0.1:9"\nclient_id = "c"\nsubject = "oid"\n'
    f'[teams]\nenabled = true\napp_id = "{APP}"\ntenant_id = "{TENANT}"\n'
)
MICROSOFT = "https://smba.trafficmanager.net/emea/"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> RSAKey:
    """Of Microsoft: its public half is what the SDK would fetch."""
    made = RSAKey.generate_key(2048, parameters={"kid": "one"})
    keys = {"keys": [made.as_dict(private=False, kid="one", use="sig", alg="RS256")]}
    monkeypatch.setattr("jwt.PyJWKClient.fetch_data", lambda _: keys)
    return made


def bearer(key: RSAKey, **more: Any) -> str:
    now = int(time.time())
    claims = {
        "iss": "https://api.botframework.com",
        "aud": APP,
        "serviceurl": MICROSOFT,
        "nbf": now - 10,
        "exp": now + 300,
    }
    return f"Bearer {jwt.encode({'alg': 'RS256', 'kid': 'one'}, claims | more, key)}"


def test_whoever_has_signed_in_is_known_in_teams(tmp_path: Path, key: RSAKey) -> None:
    with bot(tmp_path, WHOLE) as (workspace, url):
        sent = activity(LEAVE, serviceUrl=MICROSOFT)
        (card,) = post(url, sent, authorization=bearer(key))
        assert "Sign in once" in texts(card)
        subject = sha256(b"http://127.0.0.1:9\nbob-oid").hexdigest()
        new_account(workspace.store, "bob", Person(country="DE"), ["employee"], subject=subject)
        (card,) = post(url, sent, authorization=bearer(key))
        assert LEAVE_DE in texts(card)
        elsewhere = activity(LEAVE, serviceUrl=MICROSOFT, channelId="directline")
        (card,) = post(url, elsewhere, authorization=bearer(key))
        assert "Sign in once" in texts(card)


def test_tokens_of_others_are_refused(tmp_path: Path, key: RSAKey) -> None:
    foreign = RSAKey.generate_key(2048, parameters={"kid": "one"})
    sent = activity(LEAVE, serviceUrl=MICROSOFT)
    wrong = {
        "": "",
        "another bot's": bearer(key, aud="another"),
        "another issuer's": bearer(key, iss="https://evil.example.org"),
        "old": bearer(key, exp=int(time.time()) - 4000),
        "signed by another": bearer(foreign),
        "no token": "Bearer x.y.z",
        "an account's": "Basic abc",
    }
    with bot(tmp_path, WHOLE) as (_, url):
        for name, said in wrong.items():
            headers = {"authorization": said} if said else {}
            reply = httpx.post(f"{url}/api/messages", json=sent, headers=headers)
            assert reply.status_code == 401, name
        for place in ("http://smba.trafficmanager.net/", "https://evil.example.org/"):
            reply = httpx.post(
                f"{url}/api/messages",
                json={**sent, "serviceUrl": place},
                headers={"authorization": bearer(key, serviceurl=place)},
            )
            assert reply.status_code == 401, place


@pytest.mark.parametrize(
    "settings",
    [
        f'[teams]\nenabled = true\napp_id = "{APP}"\ntenant_id = "{TENANT}"\n',
        '[identity]\nkind = "local"\n[teams]\nenabled = true\n',
    ],
)
def test_settings_that_would_let_anybody_write_as_anybody(tmp_path: Path, settings: str) -> None:
    make_workspace(tmp_path).close()
    with (tmp_path / "ombud.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    workspace = Workspace(tmp_path)
    with pytest.raises(SetupError) as refused:
        create_app(workspace)
    assert refused.value.hint
    workspace.close()
