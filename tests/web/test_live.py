"""A conversation with a person, over HTTP and the socket of a real server."""

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from ombud.app import Workspace, conversing
from ombud.messages import message
from web.running import running

ASKED = {"reason": "asked"}


class Employee:
    """One browser: a cookie jar of its own."""

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=30)
        self.client.get("/")
        self.address = address.replace("http", "ws")

    def begin(self, country: str = "GB") -> str:
        made = self.client.post("/api/v1/conversations", json={"person": {"country": country}})
        assert made.status_code == 201
        return str(made.json()["id"])

    def ask(self, talk: str, question: str, key: str = "") -> httpx.Response:
        body = {"question": question, "conversation_id": talk, "person": {"country": "GB"}}
        return self.client.post("/api/v1/ask", json=body | ({"message_id": key} if key else {}))

    def post(self, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return self.client.post(f"/api/v1/{path}", json=body or {})

    def events(self, talk: str, after: int = 0) -> dict[str, Any]:
        told = self.client.get(f"/api/v1/conversations/{talk}/events", params={"after": after})
        assert told.status_code == 200, told.text
        return dict(told.json())

    @contextmanager
    def socket(self) -> Iterator[ClientConnection]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        headers = {"cookie": cookies}
        with connect(f"{self.address}/live", additional_headers=headers) as opened:
            yield opened


@pytest.fixture
def ann(address: str) -> Iterator[Employee]:
    made = Employee(address)
    yield made
    made.client.close()


@pytest.fixture
def bob(address: str) -> Iterator[Employee]:
    made = Employee(address)
    yield made
    made.client.close()


@pytest.fixture
def advisor(address: str) -> Iterator[Employee]:
    made = Employee(address)
    assert made.post("desk/sign-in", {"advisor": "advisor"}).status_code == 200
    yield made
    made.client.close()


def said(text: str) -> dict[str, str]:
    return {"id": str(uuid.uuid4()), "text": text}


def heard(socket: ClientConnection, kind: str, by: str = "") -> dict[str, Any]:
    """The next message that ends with an event of this kind, of this party."""
    while True:
        message = json.loads(socket.recv(timeout=20))
        for event in message.get("events", [])[-1:]:
            if event["kind"] == kind and by in {"", event["by"]}:
                return dict(message)


def until(socket: ClientConnection, key: str) -> Any:
    while True:
        message = json.loads(socket.recv(timeout=20))
        if key in message:
            return message[key]


def test_a_person_takes_over_and_the_assistant_comes_back(ann: Employee, advisor: Employee) -> None:
    talk = ann.begin()
    assert ann.ask(talk, "How many days of annual leave do I have?").status_code == 200
    offered = ann.ask(talk, "can i talk to someone").json()
    assert (offered["action"], offered["offer"]) == ("handoff", "asked")
    with ann.socket() as own, advisor.socket() as theirs:
        own.send(json.dumps({"watch": talk, "after": 0}))
        first = json.loads(own.recv(timeout=20))
        assert [event["kind"] for event in first["events"]] == [
            *("message", "answering", "answer"),
            *("message", "answering", "answer"),
        ]
        handed = ann.post(f"conversations/{talk}/handoff", ASKED).json()
        assert handed["session"]["state"] == "queued"
        assert handed["session"]["position"] == 1
        heard(own, "handoff")
        theirs.send(json.dumps({"desk": True}))
        board = until(theirs, "desk")
        assert talk in [card["id"] for card in board["waiting"]]
        # A plain question is still answered while one waits.
        again = ann.ask(talk, "What may a hotel in Paris cost?")
        assert "220" in again.json()["text"]
        assert advisor.post(f"desk/{talk}/claim").status_code == 200
        heard(own, "joined")
        refused = ann.ask(talk, "And in Lyon?")
        assert refused.status_code == 409
        assert "with a person" in refused.json()["detail"]
        theirs.send(json.dumps({"watch": talk, "after": 0}))
        everything = heard(theirs, "joined")
        texts = [event.get("text") for event in everything["events"] if event["kind"] == "message"]
        assert texts[0] == "How many days of annual leave do I have?"
        own.send(json.dumps({"typing": talk, "on": True}))
        assert until(theirs, "typing") == {"name": "", "by": "user", "on": True}
        mine = said("My manager shouts at me.")
        for status in (201, 200, 200):  # a browser that is not sure sends it again
            assert ann.post(f"conversations/{talk}/messages", mine).status_code == status
        assert heard(theirs, "message")["events"][-1]["text"] == mine["text"]
        assert advisor.post(f"desk/{talk}/messages", said("I am here.")).status_code == 201
        told = heard(own, "message", "advisor")["events"][-1]
        assert (told["by"], told["name"], told["text"]) == ("advisor", "Advisor", "I am here.")
        ended = advisor.post(f"desk/{talk}/end", {"reason": "solved", "note": "for us only"})
        assert ended.json()["session"]["state"] == "returned"
        assert "note" not in heard(own, "ended")["events"][-1]
    assert ann.ask(talk, "How many days of annual leave do I have?").status_code == 200
    whole = ann.client.get(f"/api/v1/conversations/{talk}/transcript")
    assert "attachment" in whole.headers["content-disposition"]
    assert whole.text.count("My manager shouts at me.") == 1
    who = message("notices.named", name="Advisor", who=message("notices.who_advisor"))
    assert message("notices.line", who=who, text="I am here.") in whole.text
    assert "for us only" not in whole.text


def test_what_is_asked_after_the_end_stays_private(ann: Employee, advisor: Employee) -> None:
    talk = ann.begin()
    ann.post(f"conversations/{talk}/handoff", ASKED)
    advisor.post(f"desk/{talk}/claim")
    private = "Do I get paid when I am ill because of depression?"
    with advisor.socket() as theirs:
        theirs.send(json.dumps({"desk": True}))
        theirs.send(json.dumps({"watch": talk, "after": 0}))
        heard(theirs, "joined")
        advisor.post(f"desk/{talk}/end", {"reason": "solved"})
        heard(theirs, "ended")
        assert ann.ask(talk, private).status_code == 200
        last = advisor.client.get(f"/api/v1/desk/{talk}").json()["events"][-1]
        assert last["kind"] == "ended"
        assert advisor.post(f"desk/{talk}/suggest").status_code == 422
        # The next thing that the desk hears is the new hand-over, with the whole history.
        ann.post(f"conversations/{talk}/handoff", ASKED)
        again = heard(theirs, "handoff")
    assert private in [event.get("text") for event in again["events"]]
    ann.client.delete(f"/api/v1/conversations/{talk}/handoff")


def test_nobody_else_reads_or_continues_a_conversation(ann: Employee, bob: Employee) -> None:
    talk = ann.begin()
    ann.ask(talk, "How many days of annual leave do I have?")
    assert bob.ask(talk, "And what did I ask?").status_code == 404
    for path in ("", "/events", "/transcript"):
        assert bob.client.get(f"/api/v1/conversations/{talk}{path}").status_code == 404
    for path in ("messages", "handoff", "read", "close", "transcript"):
        body: dict[str, dict[str, Any]] = {
            "messages": said("hi"),
            "read": {"place": 1},
            "transcript": {"mail": "a@b.example"},
        }
        assert bob.post(f"conversations/{talk}/{path}", body.get(path)).status_code == 404
    with bob.socket() as socket:
        socket.send(json.dumps({"watch": talk, "after": 0}))
        assert "no conversation" in until(socket, "error")["detail"]
    assert [
        one["id"] for one in bob.client.get("/api/v1/conversations").json()["conversations"]
    ] == []
    own = ann.client.get("/api/v1/conversations").json()["conversations"]
    assert [one["title"] for one in own] == ["How many days of annual leave do I have?"]


def test_what_happens_while_a_tab_is_being_told_is_told_as_well(
    ann: Employee, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = ann.begin()
    assert ann.post(f"conversations/{talk}/handoff", ASKED).status_code == 200
    has_read, go_on = threading.Event(), threading.Event()
    look = conversing.events_after

    def slow_look(*given: Any) -> Any:
        found = look(*given)
        has_read.set()
        assert go_on.wait(30)
        return found

    watch = json.dumps({"watch": talk})
    with ann.socket() as quick, ann.socket() as slow:
        quick.send(watch)
        heard(quick, "handoff")
        with monkeypatch.context() as patched:
            patched.setattr(conversing, "events_after", slow_look)
            slow.send(watch)
            assert has_read.wait(30)
        assert ann.post(f"conversations/{talk}/messages", said("In March.")).status_code == 201
        heard(quick, "message")
        go_on.set()
        assert heard(slow, "message")["events"][-1]["text"] == "In March."
    ann.client.delete(f"/api/v1/conversations/{talk}/handoff")


def test_advisors_see_what_was_handed_over_and_nothing_else(
    ann: Employee, advisor: Employee
) -> None:
    talk = ann.begin()
    ann.ask(talk, "How many days of annual leave do I have?")
    assert advisor.client.get(f"/api/v1/desk/{talk}").status_code == 404
    assert advisor.post(f"desk/{talk}/claim").status_code == 409
    ann.post(f"conversations/{talk}/handoff", ASKED)
    seen = advisor.client.get(f"/api/v1/desk/{talk}").json()
    assert seen["person"]["country"] == "GB"
    assert any("26 days" in source["quote"] for source in seen["sources"])
    assert ann.client.get(f"/api/v1/desk/{talk}").status_code == 401
    ann.client.delete(f"/api/v1/conversations/{talk}/handoff")


def test_one_question_sent_twice_is_answered_once(ann: Employee) -> None:
    talk, key = ann.begin(), str(uuid.uuid4())
    first = ann.ask(talk, "What may a hotel in Paris cost?", key).json()
    second = ann.ask(talk, "What may a hotel in Paris cost?", key).json()
    assert first["id"] == second["id"]
    kinds = [event["kind"] for event in ann.events(talk)["events"]]
    assert kinds == ["message", "answering", "answer"]


def test_a_claim_of_a_claimed_conversation_says_who_has_it(
    ann: Employee, advisor: Employee
) -> None:
    talk = ann.begin()
    ann.post(f"conversations/{talk}/handoff", ASKED)
    assert advisor.post(f"desk/{talk}/claim").status_code == 200
    assert advisor.post(f"desk/{talk}/claim").status_code == 200  # one's own, once more
    assert ann.post(f"conversations/{talk}/close").json()["session"]["state"] == "closed"
    late = advisor.post(f"desk/{talk}/messages", said("hello?"))
    assert late.status_code == 409


@pytest.mark.parametrize("text", ["no json", "[1]", '{"watch": 1, "after": "x"}', "{}", "\ud800"])
def test_what_a_socket_cannot_read_is_said_and_the_rest_goes_on(ann: Employee, text: str) -> None:
    talk = ann.begin()
    with ann.socket() as socket:
        socket.send(text.encode("utf-8", "surrogatepass") if "\ud800" in text else text)
        socket.send(json.dumps({"watch": talk, "after": 0}))
        while True:
            message = json.loads(socket.recv(timeout=20))
            if message.get("conversation") == talk:
                return
            assert "error" in message


def test_another_site_opens_no_socket(ann: Employee) -> None:
    foreign = Origin("https://elsewhere.example")
    with pytest.raises(InvalidStatus) as refused, connect(f"{ann.address}/live", origin=foreign):
        pass
    assert refused.value.response.status_code == 403


def test_a_message_without_an_end_is_refused(ann: Employee) -> None:
    talk = ann.begin()
    ann.post(f"conversations/{talk}/handoff", ASKED)
    assert ann.post(f"conversations/{talk}/messages", said("x" * 20_001)).status_code == 422
    assert ann.post(f"conversations/{talk}/messages", said("x" * 1_000_001)).status_code == 413
    assert ann.post(f"conversations/{talk}/messages", said("  ")).status_code == 422
    whole = "ü" * 20_000
    assert ann.post(f"conversations/{talk}/messages", said(whole)).status_code == 201
    assert ann.events(talk)["events"][-1]["text"] == whole
    ann.client.delete(f"/api/v1/conversations/{talk}/handoff")


def test_who_sends_without_an_end_is_slowed_down_and_nobody_else(workspace: Workspace) -> None:
    settings = workspace.settings.server.model_copy(update={"requests_per_minute": 12})
    limited = Workspace(workspace.home)
    limited.settings = limited.settings.model_copy(update={"server": settings})
    with closing(limited), running(limited) as url:
        ann, bob = Employee(url), Employee(url)
        talks = {ann: ann.begin(), bob: bob.begin()}
        for one, talk in talks.items():
            assert one.post(f"conversations/{talk}/handoff", ASKED).status_code == 200
        taken: list[str] = []
        statuses: list[int] = []
        for number in range(100):
            reply = ann.post(f"conversations/{talks[ann]}/messages", said(f"{number}"))
            statuses.append(reply.status_code)
            if reply.status_code == 201:
                taken.append(f"{number}")
        calm = bob.post(f"conversations/{talks[bob]}/messages", said("only one"))
        assert set(statuses) == {201, 429}
        assert 5 <= len(taken) <= 12 + 20  # a burst, and 20 in 200 seconds
        assert calm.status_code == 201
        kept = conversing.events_after(limited, talks[ann], 0)[1]
        assert [event.text for event in kept if event.by == "user" and event.text] == taken
        for one, talk in talks.items():
            one.client.close()
            conversing.close(limited, talk)
