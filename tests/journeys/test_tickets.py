"""An employee writes to HR from the chat: the choice and its consent, the ticket's number with its
link, and an answer; on a phone, too."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from handoff.ticket_services import SECRET, ServiceNowService, serving
from journeys.browsers import NewPage, findings, fits, needs_chromium, playwright
from ombud.settings import TicketSettings
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
expect = playwright.expect


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceNowService]:
    made, loop, started = ServiceNowService(), asyncio.new_event_loop(), threading.Event()
    ended = asyncio.Event()

    async def serve() -> None:
        async with serving(made):
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    started.wait()
    yield made
    loop.call_soon_threadsafe(ended.set)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, service: ServiceNowService) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TICKETS_SECRET", SECRET)
        workspace = make_workspace(tmp_path_factory.mktemp("workspace"))
        tickets = TicketSettings(
            system="servicenow", url=service.url, user="ombud", poll_seconds=0.1
        )
        workspace.settings = workspace.settings.model_copy(update={"tickets": tickets})
        with running(workspace) as url:
            yield url
        workspace.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_request_is_written_to_hr_and_answered(
    new_page: NewPage, service: ServiceNowService, axe: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 844})
    page.get_by_label("Your question").fill("How many days of annual leave?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".turn .badge").first).to_be_visible()
    page.locator("#person").click()
    page.get_by_role("checkbox").check()
    assert findings(page, axe) == []
    assert fits(page)
    page.get_by_role("button", name="Write to HR").click()
    expect(page.locator("#bar")).to_contain_text("your ticket")
    link = page.get_by_role("link", name="Your request is with HR: ticket HRC")
    expect(link).to_be_visible()
    (stored,) = [one for one in service.tickets.values() if one.id in link.get_attribute("href")]
    service.reply(stored, "You have 26 days.")
    expect(page.locator("#log")).to_contain_text("You have 26 days.")
    assert "annual leave" in stored.comments[0].text
    stored.is_closed = True
    expect(page.locator("#bar")).to_contain_text("The assistant is back")
    assert findings(page, axe) == []
