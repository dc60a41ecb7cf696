"""A thumb and a comment on an answer, over HTTP: from whoever got it, their last word."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ombud.app import Workspace, erase_personal_data, show_record
from ombud.store import feedback_on, read_thumbs
from web.test_live import Employee

HOME = "May I work from home?"


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


def rate(who: Employee, answer: str, **body: Any) -> httpx.Response:
    return who.post(f"answers/{answer}/feedback", body)


def asked(who: Employee) -> str:
    return str(who.ask(who.begin(), HOME).json()["id"])


def test_the_last_word_counts(ann: Employee, workspace: Workspace) -> None:
    answer = asked(ann)
    assert rate(ann, answer, thumb=1).status_code == 204
    assert rate(ann, answer, thumb=-1, comment=" It is three days. ").status_code == 204
    (kept,) = feedback_on(workspace.store, answer)
    assert (kept.thumb, kept.comment) == (-1, "It is three days.")
    assert read_thumbs(workspace.store)[answer] == -1
    (shown,) = show_record(workspace, answer)["feedback"]
    assert (shown["thumb"], shown["comment"]) == (-1, "It is three days.")


def test_an_answer_of_somebody_else_is_not_there(ann: Employee, bob: Employee) -> None:
    answer = asked(ann)
    foreign = rate(bob, answer, thumb=1)
    unknown = rate(bob, "no-such-answer", thumb=1)
    assert (foreign.status_code, unknown.status_code) == (404, 404)
    assert foreign.json()["detail"] == f"There is no answer `{answer}`."
    assert foreign.json().keys() == unknown.json().keys()


def test_an_answer_outside_of_conversations_is_rated_by_whoever_has_its_id(
    client: httpx.Client, workspace: Workspace
) -> None:
    answer = client.post("/api/v1/ask", json={"question": HOME}).json()["id"]
    for thumb in (1, -1):
        path = f"/api/v1/answers/{answer}/feedback"
        assert client.post(path, json={"thumb": thumb}).status_code == 204
    assert [one.thumb for one in feedback_on(workspace.store, answer)] == [-1]


@pytest.mark.parametrize(
    "body",
    [{}, {"thumb": 0}, {"thumb": 2}, {"thumb": "up"}, {"thumb": 1, "comment": "x" * 2001}],
)
def test_what_is_no_thumb_is_refused(ann: Employee, body: dict[str, Any]) -> None:
    assert rate(ann, asked(ann), **body).status_code == 422


def test_it_is_forgotten_with_the_person(address: str, workspace: Workspace) -> None:
    person = {"id": "p-feedback", "country": "GB"}
    with httpx.Client(base_url=address, timeout=30) as client:
        client.get("/")
        talk = client.post("/api/v1/conversations", json={"person": person}).json()["id"]
        body = {"question": HOME, "conversation_id": talk, "person": person}
        answer = client.post("/api/v1/ask", json=body).json()["id"]
        path = f"/api/v1/answers/{answer}/feedback"
        assert client.post(path, json={"thumb": 1, "comment": "Thanks"}).status_code == 204
        erase_personal_data(workspace, person="p-feedback")
        assert feedback_on(workspace.store, answer) == []
        assert client.post(path, json={"thumb": 1}).status_code == 404
