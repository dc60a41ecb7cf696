"""A conversation shared by link: colleagues read what they may, until it is withdrawn or erased."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from ombud.app import (
    Workspace,
    conversing,
    erase_personal_data,
    expire,
    export_of,
    people,
    signing_in,
)
from ombud.messages import message
from ombud.types import Account, Person
from web.running import LEAVE_GB, make_workspace, running

BASE = "/api/v1/conversations"
LEAVE = "How many days of annual leave do I get?"
PAY = "Where does the confidential pay band of grade G5 begin?"
NOTE = "Please keep this between us."


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        made = make_workspace(tmp_path_factory.mktemp("sharing"))
        with running(made) as url:
            yield made, url
        made.close()


def account_of(workspace: Workspace, name: str, **person: object) -> Account:
    described = Person(**{"country": "GB", **person})
    return people.add_person(workspace, name, described, ["employee"])


def signed_in(served: tuple[Workspace, str], account: Account) -> httpx.Client:
    workspace, url = served
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    headers = {"accept": "text/html,application/json"}
    return httpx.Client(base_url=url, cookies=cookies, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def ann(served: tuple[Workspace, str]) -> Iterator[httpx.Client]:
    account = account_of(served[0], "ann", roles=("manager",))
    with signed_in(served, account) as client:
        yield client


@pytest.fixture(scope="module")
def bob(served: tuple[Workspace, str]) -> Iterator[httpx.Client]:
    with signed_in(served, account_of(served[0], "bob", country="DE")) as client:
        yield client


def asked(client: httpx.Client, *questions: str) -> str:
    talk = str(client.post(BASE, json={}).json()["id"])
    for question in questions:
        ask(client, talk, question)
    return talk


def ask(client: httpx.Client, talk: str, question: str) -> None:
    body = {"question": question, "conversation_id": talk}
    assert client.post("/api/v1/ask", json=body).status_code == 200


def shared(client: httpx.Client, talk: str) -> str:
    made = client.put(f"{BASE}/{talk}/share")
    assert made.status_code == 200, made.text
    return str(made.json()["href"])


def ended(client: httpx.Client, href: str) -> bool:
    reply = client.get(href)
    return reply.status_code == 404 and message("chat.share_ended") in reply.text


def test_a_colleague_reads_only_answers_from_documents_they_may_read(
    ann: httpx.Client, bob: httpx.Client
) -> None:
    talk = asked(ann, LEAVE, PAY)
    href = shared(ann, talk)
    own = ann.get(href).text
    assert "48,000" in own
    assert message("chat.shared_hidden") not in own
    other = bob.get(href)
    assert other.status_code == 200
    assert LEAVE in other.text
    assert LEAVE_GB in other.text
    assert message("chat.shared_hidden") in other.text
    for word in ("48,000", "61,000", "Pay bands"):
        assert word not in other.text
    # Reading is all that the link allows.
    assert bob.get(f"{BASE}/{talk}").status_code == 404
    assert bob.put(f"{BASE}/{talk}/share").status_code == 404
    assert bob.delete(f"{BASE}/{talk}/share").status_code == 404


def test_it_shows_what_was_asked_up_to_the_sharing_and_nothing_said_to_advisors(
    served: tuple[Workspace, str], ann: httpx.Client, bob: httpx.Client
) -> None:
    talk = asked(ann, LEAVE)
    href = shared(ann, talk)
    hotel = "What may a hotel night in Paris cost?"
    ask(ann, talk, hotel)
    assert hotel not in bob.get(href).text
    conversing.hand_over(served[0], talk, "asked", "")
    conversing.say(served[0], talk, NOTE, "a-key")
    assert shared(ann, talk) == href
    read = bob.get(href).text
    assert hotel in read
    assert NOTE not in read


def test_it_ends_when_it_is_withdrawn_deleted_erased_or_expired(
    served: tuple[Workspace, str], ann: httpx.Client, bob: httpx.Client
) -> None:
    workspace, _ = served
    first, second, third, fourth = (asked(ann, LEAVE) for _ in range(4))
    links = [shared(ann, talk) for talk in (first, second, third, fourth)]
    assert ann.delete(f"{BASE}/{first}/share").status_code == 204
    assert ended(bob, links[0])
    assert ann.get(f"{BASE}/{first}/share").json() == {"href": None}
    again = shared(ann, first)
    assert again != links[0]
    assert ann.delete(f"{BASE}/{second}").status_code == 204
    erase_personal_data(workspace, conversation=third)
    assert ended(bob, links[1])
    assert ended(bob, links[2])
    assert bob.get(links[3]).status_code == 200
    expire(workspace, now=datetime.now(UTC) + timedelta(days=10_000))
    assert ended(bob, links[3])
    assert ended(bob, again)
    assert ended(bob, "/shared/no-such-link")


def test_a_personal_export_names_the_share_and_keeps_its_secret(
    served: tuple[Workspace, str],
) -> None:
    workspace, _ = served
    account = account_of(workspace, "eve")
    with signed_in(served, account) as eve:
        talk = asked(eve, LEAVE)
        secret = shared(eve, talk).rpartition("/")[2]
    exported = export_of(workspace, account.id)
    assert [row["conversation_id"] for row in exported["stored"]["share"]] == [talk]
    assert secret not in str(exported)


def test_without_sign_in_nothing_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMBUD_IDENTITY__KIND", "none")
    with (
        closing(make_workspace(tmp_path)) as workspace,
        running(workspace) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        client.get("/")
        talk = asked(client, LEAVE)
        refused = client.put(f"{BASE}/{talk}/share")
        assert refused.status_code == 403
        assert refused.json()["detail"] == message("chat.share_needs_sign_in")
        assert client.get("/shared/some-secret").status_code == 403
        assert 'id="sharing"' not in client.get("/").text


def test_nobody_reads_it_without_signing_in(
    served: tuple[Workspace, str], ann: httpx.Client
) -> None:
    href = shared(ann, asked(ann, LEAVE))
    reply = httpx.get(served[1] + href, headers={"accept": "text/html"})
    assert reply.status_code == 303
    assert "/login" in reply.headers["location"]
