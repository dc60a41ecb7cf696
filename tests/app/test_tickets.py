"""A request that becomes a ticket, from the employee's question to the closed ticket."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handoff.talks import QUICK
from handoff.ticket_services import SECRET, ServiceNowService, Stored, serving
from ombud.app import Workspace, asking, check_all, conversing, handoff_jobs
from ombud.errors import HandoffError
from ombud.handoff import Delivery, open_tickets
from ombud.settings import HandoffSettings, TicketSettings
from ombud.store import read_events, read_session
from ombud.types import Delivered, OutOfHours, Person, Question
from web.running import make_workspace

ADDRESS = "https://ombud.example"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("TICKETS_SECRET", SECRET)
    made = make_workspace(tmp_path)
    yield made
    made.close()


def with_tickets(workspace: Workspace, url: str, **handoff: object) -> None:
    """As ombud.toml would say; the desk is closed on all days."""
    tickets = TicketSettings(
        system="servicenow", url=url, user="ombud", poll_seconds=0.02, settle_seconds=0.1
    )
    closed = HandoffSettings.model_validate({"hours": "mon 00:00-00:01", **handoff})
    update = {"tickets": tickets, "handoff": closed}
    workspace.settings = workspace.settings.model_copy(update=update)


async def asked(workspace: Workspace) -> str:
    conversation = conversing.begin(workspace, Person(country="GB"), "a-secret")
    question = Question(text="How many days of annual leave?", asker=Person(country="GB"))
    await asking.ask(workspace, question, conversation_id=conversation)
    return conversation


async def until(condition: Callable[[], object]) -> None:
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def texts(workspace: Workspace, conversation: str) -> str:
    return "\n".join(event.text for event in read_events(workspace.store, conversation))


def delivering(workspace: Workspace) -> "asyncio.Task[None]":
    desk = open_tickets(workspace.settings.tickets, ADDRESS)
    assert desk is not None
    delivery = Delivery(workspace.store, desk, "servicenow", public_url=ADDRESS, pace=QUICK)
    return asyncio.create_task(delivery.run())


def test_out_of_hours_a_request_becomes_a_ticket_and_is_answered(workspace: Workspace) -> None:
    async def run() -> tuple[str, Stored]:
        async with serving(ServiceNowService()) as service:
            with_tickets(workspace, service.url)
            conversation = await asked(workspace)
            over = conversing.hand_over(workspace, conversation, "asked", "leave", consent=True)
            assert not any(isinstance(event.what, OutOfHours) for event in over.events)
            service.is_down = True
            worker = delivering(workspace)
            await until(
                lambda: any(
                    isinstance(event.what, Delivered) and event.what.state == "parked"
                    for event in read_events(workspace.store, conversation)
                )
            )
            service.is_down = False
            await until(lambda: "HRC" in texts(workspace, conversation))
            handoff_jobs.run_once(workspace)
            stored = service.of(over.session.ticket_id)
            assert stored is not None
            answer = await asking.ask(
                workspace,
                Question(text="How much notice for annual leave?", asker=Person(country="GB")),
                conversation_id=conversation,
            )
            cited = answer.citations[0]
            link = f"[1] {cited.title} {ADDRESS}/documents/{cited.document_id}"
            await until(lambda: link in service.texts(stored)[-1])
            assert f"Assistant: {answer.text}" in service.texts(stored)[-1]
            service.reply(stored, "You have 26 days.")
            await until(lambda: "You have 26 days." in texts(workspace, conversation))
            conversing.say(workspace, conversation, "Thank you!", "k" * 36)
            await until(lambda: "Thank you!" in service.texts(stored))
            stored.is_closed = True
            await until(lambda: read_session(workspace.store, conversation).state == "returned")
            worker.cancel()
            return conversation, stored

    conversation, stored = asyncio.run(run())
    (notice,) = [e for e in read_events(workspace.store, conversation) if "HRC" in e.text]
    assert f"Your request is with HR: ticket HRC{stored.number:07d}" in notice.text
    assert f"sys_id={stored.id}" in notice.text
    assert "Annual leave in Great Britain https://ombud.example/documents/" in str(stored.body)
    assert "How many days of annual leave?" in stored.comments[0].text


def test_without_consent_nothing_from_before_is_passed_on(workspace: Workspace) -> None:
    async def run() -> Stored:
        async with serving(ServiceNowService()) as service:
            with_tickets(workspace, service.url, desk="none")
            conversation = await asked(workspace)
            over = conversing.hand_over(workspace, conversation, "asked", "leave", as_ticket=True)
            worker = delivering(workspace)
            await until(lambda: "HRC" in texts(workspace, conversation))
            worker.cancel()
            stored = service.of(over.session.ticket_id)
            assert stored is not None
            return stored

    stored = asyncio.run(run())
    assert stored.comments == []
    assert "Annual leave" not in str(stored.body)
    assert "did not agree" in str(stored.body)


def test_a_choice_that_the_settings_do_not_offer_is_refused(workspace: Workspace) -> None:
    conversation = conversing.begin(workspace, Person(), "a-secret")
    with pytest.raises(HandoffError):
        conversing.hand_over(workspace, conversation, "asked", "", as_ticket=True)


def test_doctor_tells_a_wrong_secret(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> tuple[bool, str]:
        async with serving(ServiceNowService()) as service:
            with_tickets(workspace, service.url)
            checks = await asyncio.to_thread(lambda: list(check_all(workspace)))
            (found,) = [check for check in checks if check.name == "tickets"]
            return found.ok, f"{found.said} {found.hint}"

    assert asyncio.run(check())[0]
    monkeypatch.setenv("TICKETS_SECRET", "another")
    is_well, why = asyncio.run(check())
    assert not is_well
    assert "TICKETS_SECRET" in why
