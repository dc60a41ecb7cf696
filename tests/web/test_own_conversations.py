"""One's own conversations: named, deleted, kept as a file; nobody else's."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ombud.app import Workspace, asking
from ombud.store import verify_chain
from web.running import running
from web.test_live import ASKED, Employee

BASE = "/api/v1/conversations"
LEAVE = "How many days of annual leave do I get?"


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


def titles(who: Employee) -> dict[str, str]:
    listed = who.client.get(BASE).json()["conversations"]
    return {one["id"]: one["title"] for one in listed}


def asked(who: Employee, question: str = LEAVE) -> str:
    talk = who.begin()
    assert who.ask(talk, question).status_code == 200
    return talk


def test_a_name_stands_in_the_list_until_it_is_taken_back(ann: Employee) -> None:
    talk = asked(ann)
    assert titles(ann)[talk] == LEAVE
    named = ann.client.patch(f"{BASE}/{talk}", json={"title": "  My   leave <b> "})
    assert named.status_code == 204
    assert titles(ann)[talk] == "My leave <b>"
    assert ann.client.patch(f"{BASE}/{talk}", json={"title": ""}).status_code == 204
    assert titles(ann)[talk] == LEAVE
    assert ann.client.patch(f"{BASE}/{talk}", json={"title": "x" * 201}).status_code == 422


def test_a_conversation_is_pinned_and_keeps_its_name(ann: Employee) -> None:
    talk = asked(ann)
    ann.client.patch(f"{BASE}/{talk}", json={"title": "My leave"})
    for pinned in (True, False):
        assert ann.client.patch(f"{BASE}/{talk}", json={"pinned": pinned}).status_code == 204
        (listed,) = ann.client.get(BASE).json()["conversations"]
        assert (listed["pinned"], listed["title"]) == (pinned, "My leave")


def test_what_is_deleted_is_erased_and_the_audit_says_so(
    ann: Employee, workspace: Workspace
) -> None:
    talk, other = asked(ann), asked(ann, "What may a hotel cost?")
    assert ann.client.delete(f"{BASE}/{talk}").status_code == 204
    assert talk not in titles(ann)
    assert other in titles(ann)
    assert ann.client.get(f"{BASE}/{talk}/events").status_code == 404
    assert ann.client.delete(f"{BASE}/{talk}").status_code == 404
    assert ann.ask(talk, "And in France?").status_code == 404
    assert verify_chain(workspace.store).broken is None


def test_nobody_names_deletes_or_keeps_what_is_anothers(ann: Employee, bob: Employee) -> None:
    talk = asked(ann)
    assert bob.client.patch(f"{BASE}/{talk}", json={"title": "mine"}).status_code == 404
    assert bob.client.delete(f"{BASE}/{talk}").status_code == 404
    kept = bob.client.get(f"{BASE}/{talk}/transcript", params={"format": "markdown"})
    assert kept.status_code == 404
    assert titles(ann)[talk] == LEAVE
    assert titles(bob) == {}


def test_it_is_not_deleted_while_a_person_is_waited_for(ann: Employee) -> None:
    talk = asked(ann)
    assert ann.post(f"conversations/{talk}/handoff", ASKED).status_code == 200
    refused = ann.client.delete(f"{BASE}/{talk}")
    assert refused.status_code == 409
    assert "End that first" in refused.json()["hint"]
    assert ann.client.delete(f"{BASE}/{talk}/handoff").status_code == 200
    assert ann.client.delete(f"{BASE}/{talk}").status_code == 204


def test_as_markdown_it_holds_questions_answers_and_their_sources(ann: Employee) -> None:
    talk = asked(ann)
    ann.client.patch(f"{BASE}/{talk}", json={"title": "# Leave\n\n![x](http://x)"})
    kept = ann.client.get(f"{BASE}/{talk}/transcript", params={"format": "markdown"})
    assert kept.headers["content-type"] == "text/markdown; charset=utf-8"
    assert kept.headers["content-disposition"].endswith('.md"')
    lines = kept.text.splitlines()
    assert lines[0] == "# # Leave ![x](http://x)"
    assert f"## {LEAVE}" in lines
    assert any(line.startswith("1. ") and "“" in line for line in lines)
    assert ann.client.get(f"{BASE}/{talk}/transcript", params={"format": "pdf"}).status_code == 422


def test_where_the_organisation_keeps_them_they_only_leave_the_list(
    workspace: Workspace, tmp_path: Path
) -> None:
    flags = {**workspace.flags, "audit": {"delete_own": False}}
    with closing(Workspace(workspace.home, flags)) as keeping, running(keeping) as address:
        ann = Employee(address)
        talk = asked(ann)
        assert ann.client.delete(f"{BASE}/{talk}").status_code == 204
        assert talk not in titles(ann)
        assert ann.client.get(f"{BASE}/{talk}").status_code == 404
        ann.client.close()
        assert asking.messages(keeping, talk)[0].content == LEAVE
