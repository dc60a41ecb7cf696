"""What an advisor does at the desk beside answering, in a real browser."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from journeys.browsers import Page, findings, fits, needs_chromium
from journeys.test_handover import expect, two_pages
from ombud.app import Workspace
from ombud.messages import message
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("desk")
    make_workspace(home).close()
    with closing(Workspace(home)) as workspace, running(workspace) as address:
        yield address


def hand_over(employee: Page, url: str, text: str) -> None:
    """Ask for a person as the program of this browser would, and write to them."""
    api = f"{url}/api/v1/conversations"
    talk = employee.request.post(api, data={"person": {"country": "GB"}}).json()["id"]
    employee.request.post(f"{api}/{talk}/handoff", data={"reason": "asked"})
    employee.request.post(f"{api}/{talk}/messages", data={"id": str(uuid.uuid4()), "text": text})


def open_waiting(advisor: Page, text: str) -> None:
    advisor.locator("#waiting .card", has_text=text).click()
    advisor.get_by_role("button", name=message("desk.claim")).click()
    expect(advisor.locator("#reply")).to_be_visible()


def show_details(advisor: Page) -> Page:
    details = advisor.locator("#details")
    if not details.is_visible():
        advisor.locator("#details-open").click()
    return details


def end(advisor: Page) -> None:
    show_details(advisor).get_by_role("button", name=message("desk.end_button")).click()
    expect(advisor.locator("#reply")).to_be_hidden()
    if advisor.viewport_size["width"] < 1100:
        advisor.locator("#details-close").click()


def add_note(advisor: Page, text: str) -> None:
    if not advisor.locator("#note").is_visible():
        advisor.locator("#note-part summary").click()
    advisor.get_by_label(message("desk.note_label")).fill(text)
    advisor.get_by_role("button", name=message("desk.add_note")).click()
    expect(advisor.locator("#thread .memo", has_text=text)).to_have_count(1)


def back_to_list(advisor: Page) -> None:
    if advisor.locator("#back").is_visible():
        advisor.locator("#back").click()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
)
def test_what_was_closed_is_found_and_stands_beside_the_next(
    browser: Any, url: str, axe: str, width: int, scheme: str
) -> None:
    first, second = f"Parking {uuid.uuid4()}", f"Lockers {uuid.uuid4()}"
    faults: list[str] = []
    with two_pages(browser, url, width, scheme) as (employee, advisor):
        advisor.locator("#advisors button").click()
        hand_over(employee, url, first)
        open_waiting(advisor, first)
        add_note(advisor, f"Call back about {first}")
        faults += findings(advisor, axe)
        end(advisor)
        add_note(advisor, "Settled")
        expect(advisor.locator("#thread .memo")).to_have_count(2)
        back_to_list(advisor)
        advisor.locator("#closed-part summary").click()
        advisor.get_by_label(message("desk.closed_search")).fill(first)
        found = advisor.locator("#closed .card")
        expect(found).to_have_count(1)
        faults += findings(advisor, axe)
        found.click()
        expect(advisor.locator("#thread")).to_contain_text(first)
        back_to_list(advisor)
        hand_over(employee, url, second)
        open_waiting(advisor, second)
        details = show_details(advisor)
        expect(details.locator("#earlier .card")).to_have_count(1)
        details.get_by_label(message("desk.tags")).fill(f"tag {second}")
        details.get_by_label(message("desk.urgent")).check()
        details.get_by_role("button", name=message("desk.save")).click()
        expect(advisor.locator("#thread")).to_contain_text(f"tag {second}")
        faults += findings(advisor, axe)
        assert fits(advisor)
        if width < 1100:
            advisor.locator("#details-close").click()
        back_to_list(advisor)
        advisor.get_by_label(message("desk.filter")).select_option(f"tag/tag {second}")
        expect(advisor.locator("#mine .card")).to_have_count(1)
        faults += findings(advisor, axe)
        advisor.locator("#mine .card").click()
        show_details(advisor)
        details.locator("#earlier .card").click()
        expect(advisor.locator("#thread")).to_contain_text(first)
        faults += findings(advisor, axe)
    assert faults == []
