"""Microsoft Teams: activities as Teams posts them, to the real server with the Agents SDK in it, and
a connector that takes what the bot writes by itself."""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from ombud.app import Workspace
from ombud.errors import SetupError
from ombud.handoff import Advisor, session
from ombud.messages import message
from ombud.store import list_feedback, list_sessions, new_account, read_events
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
        self.members: dict[str, list[dict[str, Any]]] = {}
        """Conversation -> its members."""
        self.refuses_direct = False

    def wait_for(self, words: str, after: int = 0) -> dict[str, Any]:
        with self.news:
            assert self.news.wait_for(lambda: self._with(words)[after:], 20), self.got
            return self._with(words)[after]

    def card(self, words: str, after: int = 0) -> dict[str, Any]:
        """The card with these words, once it was posted."""
        card: dict[str, Any] = self.wait_for(words, after)["attachments"][0]["content"]
        return card

    def _with(self, words: str) -> list[dict[str, Any]]:
        return [one for one in self.got if words in json.dumps(one)]


class _Handler(BaseHTTPRequestHandler):
    server: Connector

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.rstrip("/").endswith("v3/conversations"):
            user = body["members"][0]["id"]
            self._reply(403 if self.server.refuses_direct else 201, {"id": f"a:{user}"})
            return
        with self.server.news:
            if self.server.status < 300:
                self.server.got.append({"path": unquote(self.path), **body})
            self.server.news.notify_all()
        self._reply(self.server.status, {"id": "1"})

    def do_GET(self) -> None:
        """The members of a conversation, two a page, or one of them."""
        path, _, query = unquote(self.path).partition("?")
        conversation, _, rest = path.partition("v3/conversations/")[2].partition("/")
        members = self.server.members.get(conversation)
        if members is None:
            self._reply(403, {"error": {"code": "BotNotInConversationRoster"}})
        elif rest == "pagedmembers":
            at = int(dict(parse_qsl(query)).get("continuationToken", 0))
            page: dict[str, Any] = {"members": members[at : at + 2]}
            if at + 2 < len(members):
                page["continuationToken"] = str(at + 2)
            self._reply(200, page)
        else:
            named = [one for one in members if one["id"] == rest.partition("/")[2]]
            self._reply(200 if named else 404, named[0] if named else {})

    def _reply(self, status: int, content: Any) -> None:
        self.send_response(status)
        answer = json.dumps(content).encode()
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


class Demo:
    """A bot without credentials, and what Teams gets from it."""

    def __init__(self, workspace: Workspace, url: str, connector: Connector) -> None:
        self.workspace = workspace
        self.connector = connector
        self.url = url
        self._seen = 0

    def post(self, sent: dict[str, Any]) -> httpx.Response:
        sent = {"serviceUrl": self.connector.url, **sent}
        return httpx.post(f"{self.url}/api/messages", json=sent, timeout=30)

    def ask(self, said: str = "", **more: Any) -> dict[str, Any]:
        """What the bot posts after a message or a click of an older card."""
        assert self.post(activity(said, **more)).status_code == 202
        return self.next()

    def next(self) -> dict[str, Any]:
        """What it posts next: a card, or an activity with text alone."""
        self._seen += 1
        with self.connector.news:
            came = self.connector.news.wait_for(lambda: len(self.connector.got) >= self._seen, 20)
            assert came, self.connector.got
            posted = self.connector.got[self._seen - 1]
        if "attachments" not in posted:
            return posted
        content: dict[str, Any] = posted["attachments"][0]["content"]
        return content | {"path": posted["path"]}

    def invoke(self, card: dict[str, Any], title: str, **more: Any) -> dict[str, Any]:
        """What Teams is answered when a button is pressed."""
        button = buttons(card)[title]
        data = button["data"] | more.pop("inputs", {})
        action = {"type": "Action.Execute", "verb": button["verb"], "data": data}
        sent = activity(type="invoke", name="adaptiveCard/action", value={"action": action}, **more)
        reply = self.post(sent)
        assert reply.status_code == 200, reply.text
        answer: dict[str, Any] = reply.json()
        return answer


@pytest.fixture
def demo(tmp_path: Path, connector: Connector) -> Iterator[Demo]:
    with bot(tmp_path, "[teams]\nenabled = true\n") as (workspace, url):
        yield Demo(workspace, url, connector)


def activity(said: str = "", **more: Any) -> dict[str, Any]:
    made = {
        "type": "message",
        "id": f"m-{time.monotonic_ns()}",
        "channelId": "msteams",
        "from": {"id": "29:bob", "name": "Bob", "aadObjectId": "bob-oid"},
        "recipient": {"id": "28:bot", "name": "ombud"},
        "conversation": {"id": "a:chat", "conversationType": "personal", "tenantId": TENANT},
        "locale": "en-GB",
    }
    if said:
        made["text"] = said
    return made | more


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
    """The buttons of a card and of what it unfolds."""
    actions: list[dict[str, Any]] = list(card["actions"])
    for part in card["body"]:
        actions += part.get("actions", [])
    for action in list(actions):
        actions += action.get("card", {}).get("actions", [])
    return {action["title"]: action for action in actions}


def test_an_answer_is_a_card_with_the_passages_behind_it(demo: Demo) -> None:
    card = demo.ask("How many days of leave are there in Great Britain?")
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


def test_a_table_is_a_table(demo: Demo) -> None:
    card = demo.ask("What is the cap for a hotel night in Paris?")
    tables = [part for part in card["body"] if part["type"] == "Table"]
    assert tables
    first, *rows = tables[0]["rows"]
    assert [texts(cell) for cell in first["cells"]] == ["City", "Cap for a hotel night"]
    assert any("Paris" in texts(row) and "EUR 220" in texts(row) for row in rows)


def test_what_stands_in_documents_makes_no_links(demo: Demo) -> None:
    card = demo.ask("Which badge do visitors of the laboratory wear?")
    assert "yellow badge" in texts(card)
    sources = next(part for part in card["body"] if part.get("id") == "sources")
    assert "\\<img src=x" in texts(sources)


def test_a_person_takes_over_and_writes_into_the_chat(demo: Demo) -> None:
    card = demo.ask(LEAVE)
    assert demo.invoke(card, "Talk to a person")["statusCode"] == 200
    assert message("thread.asked_for_person") in texts(demo.next())
    store = demo.workspace.store
    (stands,) = list_sessions(store, ["queued"])
    session.claim(store, stands.id, ANNA)
    assert "Anna has joined" in demo.next()["text"]
    session.reply(store, stands.id, ANNA, "What is it about? [x](http://evil)", "k1")
    came = demo.next()
    assert came["path"] == "/v3/conversations/a:chat/activities"
    assert came["text"] == "Anna: What is it about? [x](http://evil)"
    assert came["textFormat"] == "plain"
    # What is written now is for Anna, and answered by nobody else.
    assert demo.post(activity("My leave was refused.")).status_code == 202
    last = read_events(store, stands.id)
    assert "My leave was refused." in [event.text for event in last]
    session.end(store, stands.id, ANNA, reason="solved", note="")
    assert message("thread.person_ended") in demo.next()["text"]
    assert LEAVE_DE in texts(demo.ask("And in Germany, how many days of leave?"))


def test_a_request_for_a_person_can_be_taken_back(demo: Demo) -> None:
    demo.invoke(demo.ask(LEAVE), "Talk to a person")
    demo.invoke(demo.next(), "I no longer need a person")
    assert message("thread.person_not_needed") in demo.next()["text"]
    assert list_sessions(demo.workspace.store, ["queued"]) == []


def test_what_could_not_be_brought_comes_when_it_can(demo: Demo) -> None:
    store, connector = demo.workspace.store, demo.connector
    demo.invoke(demo.ask(LEAVE), "Talk to a person")
    demo.next()
    (stands,) = list_sessions(store, ["queued"])
    connector.status = 503
    session.claim(store, stands.id, ANNA)
    session.reply(store, stands.id, ANNA, "I am here.", "k1")
    connector.status = 201
    written = [demo.next()["text"], demo.next()["text"]]
    assert written == [message("thread.joined", name="Anna"), "Anna: I am here."]


def test_a_message_sent_twice_is_answered_once(demo: Demo) -> None:
    sent = activity(LEAVE, id="m-1")
    for _ in range(3):
        assert demo.post(sent).status_code == 202
    demo.next()
    demo.ask("What is the cap for a hotel night in Paris?")
    assert len(demo.connector.got) == 2


def test_a_rating_keeps_its_comment_and_new_begins_anew(demo: Demo) -> None:
    store = demo.workspace.store
    card = demo.ask(LEAVE)
    thanks = demo.invoke(card, "Not helpful", inputs={"comment": "Which year?"})
    assert thanks["type"] == "application/vnd.microsoft.activity.message"
    (rated,) = list_feedback(store)
    assert (rated.thumb, rated.comment) == (-1, "Which year?")
    demo.invoke(card, "Helpful", **{"from": {"id": "29:eve", "name": "Eve"}})
    assert [one.thumb for one in list_feedback(store)] == [-1]
    demo.ask("new")
    demo.ask(LEAVE)
    assert len(list_sessions(store, ["closed"])) == 1
    assert len(list_sessions(store, ["bot"])) == 1


def test_a_suggestion_is_asked_by_its_button(demo: Demo) -> None:
    card = demo.ask(LEAVE)
    assert "Germany" in buttons(card)
    demo.invoke(card, "Germany")
    assert LEAVE_DE in texts(demo.next())


def test_pictures_first_words_and_strange_buttons(demo: Demo) -> None:
    assert message("channels.words_only") in texts(demo.ask(""))
    added = {"type": "conversationUpdate", "membersAdded": [{"id": "29:bob"}]}
    assert "Acme Works" in texts(demo.ask("", **added))
    assert list_sessions(demo.workspace.store, ["bot"]) == []
    strange = demo.post(activity(type="invoke", name="task/fetch", value={}))
    assert strange.status_code == 200
    assert strange.json()["statusCode"] == 400


CHANNEL = {"conversation": {"id": "19:team;messageid=1", "conversationType": "channel"}}


def test_in_a_channel_the_thread_is_answered(demo: Demo) -> None:
    demo.connector.members["19:team"] = [{"id": f"29:{n}", "objectId": f"{n}"} for n in range(5)]
    card = demo.ask("What is the cap for a hotel night in Paris?", **CHANNEL)
    assert card["path"] == "/v3/conversations/19:team;messageid=1/activities"
    assert "EUR 220" in texts(card)


def test_where_members_are_not_listed_the_answer_is_private(demo: Demo) -> None:
    card = demo.ask("What is the cap for a hotel night in Paris?", **CHANNEL)
    assert card["path"] == "/v3/conversations/a:29:bob/activities"
    assert "EUR 220" in texts(card)
    assert "Only you see this" in texts(card)
    demo.connector.refuses_direct = True
    refused = demo.ask("What is the cap for a hotel night in Lyon?", **CHANNEL)
    assert refused["path"] == "/v3/conversations/19:team;messageid=1/activities"
    assert "EUR" not in json.dumps(refused)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("[]", 400),
        ('{"type": "message"}', 403),
        (json.dumps(activity(LEAVE, serviceUrl="http://intranet.example.org/")), 403),
        (json.dumps({**activity(LEAVE), "serviceUrl": "http://127.0.0.1:9/", "from": None}), 400),
    ],
)
def test_what_is_no_activity_is_refused(demo: Demo, body: str, status: int) -> None:
    headers = {"content-type": "application/json"}
    reply = httpx.post(f"{demo.url}/api/messages", content=body, headers=headers)
    assert reply.status_code == status


# With credentials ---------------------------------------------------------------------------------

WHOLE = (
    '[identity]\nkind = "oidc"\nissuer = "http://127.0.0.1:9"\nclient_id = "c"\nsubject = "oid"\n'
    f'[teams]\nenabled = true\napp_id = "{APP}"\ntenant_id = "{TENANT}"\n'
)
MICROSOFT = "https://smba.trafficmanager.net/emea/"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> RSAKey:
    """Of Microsoft: its public half is what the SDK would fetch."""
    # A name of its own: the SDK remembers keys by it.
    made = RSAKey.generate_key(2048, parameters={"kid": uuid.uuid4().hex})
    keys = {"keys": [made.as_dict(private=False, use="sig", alg="RS256")]}
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
    return f"Bearer {jwt.encode({'alg': 'RS256', 'kid': key.kid}, claims | more, key)}"


async def token_of_the_bot(*_: Any) -> str:
    return "token"


def reach_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bot write to an emulator, which is no host of Microsoft's."""
    from microsoft_agents.authentication.msal import MsalAuth
    from microsoft_agents.hosting.core import OutboundHostValidator

    monkeypatch.setattr(f"{MsalAuth.__module__}.MsalAuth.get_access_token", token_of_the_bot)
    monkeypatch.setattr(
        "ombud.channels.teams.connecting.OutboundHostValidator",
        lambda enabled: OutboundHostValidator(enabled=not enabled),
    )


def test_an_account_of_the_directory_is_known_in_teams(
    tmp_path: Path, key: RSAKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    from microsoft_agents.authentication.msal import MsalAuth

    # Microsoft's login and its connector cannot be reached from here.
    monkeypatch.setattr(f"{MsalAuth.__module__}.MsalAuth.get_access_token", token_of_the_bot)
    with bot(tmp_path, WHOLE) as (workspace, url):
        changed = threading.Event()
        workspace.store.on_change(changed.set)

        def post(sent: dict[str, Any]) -> str:
            whole = sent | {"serviceUrl": MICROSOFT, "deliveryMode": "expectReplies"}
            headers = {"authorization": bearer(key)}
            reply = httpx.post(f"{url}/api/messages", json=whole, headers=headers, timeout=30)
            assert reply.status_code == 200, reply.text
            return json.dumps(reply.json())

        assert "Sign in once" in post(activity(LEAVE))
        subject = sha256(b"http://127.0.0.1:9\nbob-oid").hexdigest()
        new_account(workspace.store, "bob", Person(country="DE"), ["employee"], subject=subject)
        assert "Sign in once" in post(activity(LEAVE, channelId="directline"))
        assert "Sign in once" not in post(activity(LEAVE))
        while LEAVE_DE not in answers_of(workspace):
            assert changed.wait(20)
            changed.clear()


def test_in_a_channel_of_teams_everybody_reads_only_what_all_may_read(
    tmp_path: Path, key: RSAKey, connector: Connector, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach_emulator(monkeypatch)
    names = {"bob": Person(country="GB", roles=("manager",)), "eve": Person(country="GB")}
    members = [
        {"id": f"29:{name}", "objectId": f"{name}-oid", "userPrincipalName": f"{name}@acme.example"}
        for name in names
    ]
    connector.members["19:team"] = members
    with bot(tmp_path, WHOLE) as (workspace, url):
        for name, person in names.items():
            new_account(workspace.store, f"{name}@acme.example", person, ["employee"])

        def ask(text: str, number: int) -> dict[str, Any]:
            sent = activity(text, serviceUrl=connector.url, **CHANNEL)
            headers = {"authorization": bearer(key, serviceurl=connector.url)}
            reply = httpx.post(f"{url}/api/messages", json=sent, headers=headers, timeout=30)
            assert reply.status_code == 202, reply.text
            with connector.news:
                assert connector.news.wait_for(lambda: len(connector.got) > number, 20)
            return connector.got[number]

        shared = ask(LEAVE, 0)
        assert ";messageid=1" in shared["path"]
        assert LEAVE_GB in json.dumps(shared)
        private = ask("Where does the confidential pay band of grade G5 begin?", 1)
        assert "a:29:bob" in private["path"]
        assert "48,000" in json.dumps(private)
        members.append({"id": "29:guest", "objectId": "guest-oid"})
        assert "a:29:bob" in ask(LEAVE, 2)["path"]


def answers_of(workspace: Workspace) -> str:
    sessions = list_sessions(workspace.store, ["bot"])
    events = [event for one in sessions for event in read_events(workspace.store, one.id)]
    return "\n".join(event.text for event in events if event.by == "assistant")


def test_tokens_of_others_are_refused(tmp_path: Path, key: RSAKey) -> None:
    foreign = RSAKey.generate_key(2048, parameters={"kid": str(key.kid)})
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
