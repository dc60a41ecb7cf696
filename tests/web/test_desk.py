"""What advisors do at our own desk beside answering, over HTTP."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from ombud.app import Workspace
from web.running import make_workspace, running

ADVISORS = """
[handoff]
first_response_minutes = 30
[[handoff.advisor]]
id = "ana"
name = "Ana Ruiz"
[[handoff.advisor]]
id = "tom"
name = "Tom Berg"
topics = ["pay"]
[[handoff.advisor]]
id = "eva"
name = "Eva Lind"
countries = ["DE"]
"""
Json = dict[str, Any]


class Client:
    """A browser with its own cookies."""

    def __init__(self, address: str, advisor: str = "") -> None:
        self.http = httpx.Client(base_url=f"{address}/api/v1/", timeout=30)
        if advisor:
            self.post("desk/sign-in", {"advisor": advisor})

    def post(self, path: str, body: Json | None = None) -> Json:
        answered = self.http.post(path, json=body or {})
        assert answered.status_code in {200, 201}, answered.text
        return dict(answered.json())

    def get(self, path: str, **params: str) -> Json:
        answered = self.http.get(path, params=params)
        assert answered.status_code == 200, answered.text
        return dict(answered.json())

    def status(self, path: str) -> int:
        return self.http.get(path).status_code

    def hand_over(self, text: str, topic: str = "", country: str = "GB") -> str:
        """Begin a conversation, hand it over and write a message to the advisor."""
        talk = str(self.post("conversations", {"person": {"country": country}})["id"])
        self.post(f"conversations/{talk}/handoff", {"reason": "asked", "topic": topic})
        self.write(f"conversations/{talk}", text)
        return talk

    def write(self, conversation: str, text: str) -> None:
        self.post(f"{conversation}/messages", {"id": str(uuid.uuid4()), "text": text})

    def events(self, conversation: str) -> list[Json]:
        return list(self.get(conversation)["events"])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("desk")
    make_workspace(home).close()
    with (home / "ombud.toml").open("a", encoding="utf-8") as settings:
        settings.write(ADVISORS)
    workspace = Workspace(home)
    with running(workspace) as url:
        yield url
    workspace.close()


@pytest.fixture
def visit(address: str) -> Iterator[Callable[..., Client]]:
    """Opens browsers, each of an employee or of the advisor with this id."""
    with ExitStack() as opened:

        def visitor(advisor: str = "") -> Client:
            client = Client(address, advisor)
            opened.callback(client.http.close)
            return client

        yield visitor


@pytest.fixture
def ann(visit: Callable[..., Client]) -> Client:
    return visit()


@pytest.fixture
def ana(visit: Callable[..., Client]) -> Client:
    return visit("ana")


def closed(advisor: Client, **wanted: str) -> list[str]:
    """The ids of the closed conversations that an advisor finds."""
    return [one["id"] for one in advisor.get("desk/closed", **wanted)["conversations"]]


def finish(advisor: Client, talk: str) -> None:
    advisor.post(f"desk/{talk}/claim")
    advisor.post(f"desk/{talk}/end", {"reason": "solved"})


def test_closed_conversations_are_found_by_text_topic_country_and_advisor(
    ann: Client, ana: Client
) -> None:
    talk = ann.hand_over("My payslip has a gap", topic="pay", country="FR")
    assert talk not in closed(ana)
    finish(ana, talk)
    assert closed(ana)[0] == talk
    for words in ("PAYSLIP has", "pay", "fr", "ana r"):
        assert talk in closed(ana, q=words)
    assert talk in closed(ana, topic="pay")
    assert closed(ana, q="no such words") == closed(ana, topic="leave") == []
    ann.http.post("ask", json={"question": "Is my depression a secret?", "conversation_id": talk})
    assert closed(ana, q="depression") == []
    (card,) = [one for one in ana.get("desk/closed")["conversations"] if one["id"] == talk]
    assert (card["advisor"], card["preview"]) == ("Ana Ruiz", "My payslip has a gap")


def test_the_same_persons_earlier_conversations_stand_beside_an_open_one(
    ann: Client, ana: Client, visit: Callable[..., Client]
) -> None:
    earlier = ann.hand_over("My first matter")
    finish(ana, earlier)
    finish(ana, visit().hand_over("Somebody else's matter"))
    now = ann.hand_over("My second matter")
    assert [one["id"] for one in ana.get(f"desk/{now}")["earlier"]] == [earlier]
    assert ana.get(f"desk/{earlier}")["earlier"] == []
    ann.http.delete(f"conversations/{now}/handoff")


def test_closed_conversations_are_for_advisors_of_their_topic_and_country(
    ann: Client, ana: Client, visit: Callable[..., Client]
) -> None:
    tom, eva = visit("tom"), visit("eva")
    talk = ann.hand_over("About leave in Britain", topic="leave")
    assert tom.status(f"desk/{talk}") == 200
    finish(ana, talk)
    for other in (tom, eva):
        assert talk not in closed(other)
        assert other.status(f"desk/{talk}") == 404
    taken = ann.hand_over("Tom helps out", topic="leave")
    finish(tom, taken)
    assert taken in closed(tom)
    assert tom.status(f"desk/{taken}") == 200
    assert tom.get(f"desk/{taken}")["earlier"] == []
    assert visit().status("desk/closed") == 401
    ann.http.delete(f"conversations/{taken}")
    assert taken not in closed(tom)


def note(advisor: Client, talk: str, text: str) -> None:
    advisor.post(f"desk/{talk}/notes", {"id": str(uuid.uuid4()), "text": text})


def test_private_notes_are_for_advisors_only_and_stand_in_order(
    ann: Client, ana: Client, visit: Callable[..., Client]
) -> None:
    talk = ann.hand_over("The roof leaks")
    note(ana, talk, "Asked facilities first")
    finish(ana, talk)
    ann.http.post("ask", json={"question": "Is my illness a secret?", "conversation_id": talk})
    note(ana, talk, "Facilities called back")
    shown = [one.get("text", one["kind"]) for one in ana.events(f"desk/{talk}")]
    assert shown[1:] == [
        *("The roof leaks", "Asked facilities first"),
        *("joined", "ended", "Facilities called back"),
    ]
    assert closed(ana, q="facilities called") == [talk]
    for path in ("", "/events", "/transcript", "/transcript?format=markdown"):
        assert "acilities" not in ann.http.get(f"conversations/{talk}{path}").text
    assert ann.get("conversations", q="acilities") == {"conversations": []}
    ann.post(f"conversations/{talk}/close")
    note(ana, talk, "Still noted after the employee closed it")
    body = {"id": str(uuid.uuid4()), "text": "Not for me"}
    assert visit("eva").http.post(f"desk/{talk}/notes", json=body).status_code == 404
    assert ann.http.post(f"desk/{talk}/notes", json=body).status_code == 401


def test_tags_and_priority_are_seen_and_filtered_by_advisors_only(ann: Client, ana: Client) -> None:
    talk = ann.hand_over("The heating is off")
    ana.post(f"desk/{talk}/labels", {"tags": [" site  north ", "heating", "heating", ""]})
    labelled = ana.post(f"desk/{talk}/labels", {"tags": ["site north"], "urgent": True})
    assert (labelled["session"]["tags"], labelled["session"]["urgent"]) == (["site north"], True)
    (card,) = [one for one in ana.get("desk")["waiting"] if one["id"] == talk]
    assert (card["tags"], card["urgent"]) == (["site north"], True)
    finish(ana, talk)
    assert closed(ana, tag="site north") == closed(ana, q="site nor") == [talk]
    assert closed(ana, urgent="true") == [talk]
    assert closed(ana, tag="heating") == []
    assert "site north" not in ann.http.get(f"conversations/{talk}/events").text


def test_the_employee_is_asked_once_how_the_conversation_was_and_advisors_see_it(
    ann: Client, ana: Client, visit: Callable[..., Client]
) -> None:
    talk = ann.hand_over("Nobody answers the switchboard")
    assert not ann.get(f"conversations/{talk}/events")["session"]["may_rate"]
    given = {"score": 2, "comment": "It took a week"}
    assert ann.http.post(f"conversations/{talk}/rating", json=given).status_code == 409
    finish(ana, talk)
    assert ann.get(f"conversations/{talk}/events")["session"]["may_rate"]
    ann.http.post("ask", json={"question": "Is my illness a secret?", "conversation_id": talk})
    for wrong in ({"score": 0}, {"score": 6}, {"comment": "no score"}):
        assert ann.http.post(f"conversations/{talk}/rating", json=wrong).status_code == 422
    assert visit().http.post(f"conversations/{talk}/rating", json=given).status_code == 404
    rated = ann.post(f"conversations/{talk}/rating", given)
    assert not rated["session"]["may_rate"]
    assert ann.http.post(f"conversations/{talk}/rating", json=given).status_code == 409
    shown = ana.events(f"desk/{talk}")
    assert [(one["score"], one["comment"]) for one in shown if one["kind"] == "rating"] == [
        (2, "It took a week")
    ]
    assert "illness" not in str(shown)
    (card,) = [one for one in ana.get("desk/closed")["conversations"] if one["id"] == talk]
    assert card["rating"] == 2
    for path in ("transcript", "transcript?format=markdown"):
        assert "a week" not in ann.http.get(f"conversations/{talk}/{path}").text
    assert visit("eva").status(f"desk/{talk}") == 404
    ann.post(f"conversations/{talk}/handoff", {"reason": "asked"})
    finish(ana, talk)
    assert ann.post(f"conversations/{talk}/rating", {"score": None})["events"][0]["score"] is None
    assert ana.get(f"desk/{talk}")["session"]["rating"] is None


def test_nobody_is_asked_about_a_conversation_with_a_person_that_never_came(ann: Client) -> None:
    talk = ann.hand_over("I found it myself")
    ann.http.delete(f"conversations/{talk}/handoff")
    assert not ann.get(f"conversations/{talk}/events")["session"]["may_rate"]


def lists_of(advisor: Client, talk: str) -> list[str]:
    """The lists of the desk in which a conversation stands."""
    desk = advisor.get("desk")
    names = ("waiting", "mine", "others", "snoozed")
    return [name for name in names if talk in [one["id"] for one in desk[name]]]


def test_a_snoozed_conversation_comes_back_when_the_employee_writes(
    ann: Client, ana: Client, visit: Callable[..., Client]
) -> None:
    talk = ann.hand_over("My badge does not open the gate")
    later = {"until": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
    assert ana.http.post(f"desk/{talk}/snooze", json=later).status_code == 409
    ana.post(f"desk/{talk}/claim")
    tom = visit("tom")
    assert tom.http.post(f"desk/{talk}/snooze", json=later).status_code == 409
    past = {"until": (datetime.now(UTC) - timedelta(minutes=1)).isoformat()}
    assert ana.http.post(f"desk/{talk}/snooze", json=past).status_code == 422
    ana.post(f"desk/{talk}/snooze", later)
    assert lists_of(ana, talk) == ["snoozed"]
    assert lists_of(tom, talk) == ["others"]
    seen = ann.http.get(f"conversations/{talk}/events").text
    assert "snooze" not in seen
    ana.post(f"desk/{talk}/messages", {"id": str(uuid.uuid4()), "text": "I have asked security"})
    assert lists_of(ana, talk) == ["snoozed"]
    ann.write(f"conversations/{talk}", "It works now")
    assert lists_of(ana, talk) == ["mine"]
    ana.post(f"desk/{talk}/snooze", later)
    ana.post(f"desk/{talk}/snooze", {"until": None})
    assert lists_of(ana, talk) == ["mine"]
    ana.post(f"desk/{talk}/snooze", later)
    ana.post(f"desk/{talk}/end", {"reason": "solved"})
    assert ana.get(f"desk/{talk}")["session"]["snoozed_until"] is None


def test_the_queue_shows_when_the_first_response_is_due_until_it_came(
    ann: Client, ana: Client
) -> None:
    def due() -> Any:
        desk = ana.get("desk")
        cards = [*desk["waiting"], *desk["mine"]]
        return next(one["due"] for one in cards if one["id"] == talk)

    talk = ann.hand_over("Who pays for my new chair?")
    (asked,) = [
        one["at"]
        for one in ann.get(f"conversations/{talk}/events")["events"]
        if one["kind"] == "handoff"
    ]
    target = datetime.fromisoformat(asked) + timedelta(minutes=30)
    shown = due()
    assert shown is not None
    assert datetime.fromisoformat(shown) == target
    ana.post(f"desk/{talk}/claim")
    ana.post(f"desk/{talk}/transfer", {"topic": "pay", "advisor": "", "note": ""})
    assert due() == shown
    ana.post(f"desk/{talk}/claim")
    ana.post(f"desk/{talk}/messages", {"id": str(uuid.uuid4()), "text": "We do"})
    assert due() is None
    ana.post(f"desk/{talk}/end", {"reason": "solved"})
