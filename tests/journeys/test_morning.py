"""An advisor's morning, and the employee's side of it, each in a browser of their own."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from journeys.browsers import Page, findings, fits, needs_chromium
from journeys.test_desk import (
    add_note,
    back_to_list,
    end,
    hand_over,
    open_waiting,
    show_details,
)
from journeys.test_handover import ask, expect, said, two_pages
from ombud.app import Workspace
from ombud.messages import message
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
LEAVE = "How many days of annual leave do I have?"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("morning")
    make_workspace(home).close()
    with (home / "ombud.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n[handoff]\nfirst_response_minutes = 30\n")
    with closing(Workspace(home)) as workspace, running(workspace) as address:
        yield address


SMALL = """() => [...document.querySelectorAll("button, input, select, textarea, summary")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.type !== "hidden")
  .map((one) => one.closest("label") ?? one)
  .filter((one) => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 24)
  .map((one) => one.outerHTML.slice(0, 120))"""
"""Controls, each with its label, that are smaller than 24 px."""


def small_targets(page: Page) -> list[str]:
    return list(page.evaluate(SMALL))


def rate(employee: Page, score: int, comment: str) -> None:
    """Answer the question by keyboard."""
    form = employee.locator("form.rating")
    form.get_by_label(str(score), exact=True).focus()
    employee.keyboard.press("Space")
    employee.keyboard.press("Tab")
    employee.keyboard.type(comment)
    employee.keyboard.press("Tab")
    employee.keyboard.press("Enter")
    expect(form).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_matter_is_taken_answered_ended_rated_and_found_again(
    browser: Any, url: str, axe: str, width: int, scheme: str
) -> None:
    matter, comment = f"My locker {uuid.uuid4()}", f"Quick help {uuid.uuid4()}"
    with two_pages(browser, url, width, scheme) as (employee, advisor):
        advisor.locator("#advisors button").click()
        ask(employee, LEAVE)
        employee.locator("#person").click()
        expect(employee.locator(".event[data-kind=handoff]")).to_have_count(1)
        open_waiting(advisor, LEAVE)
        expect(employee.locator(".event[data-kind=joined]")).to_have_count(1)
        employee.locator("#question").fill(matter)
        employee.keyboard.press("Enter")
        expect(said(advisor, matter)).to_have_count(1)
        add_note(advisor, "Asked facilities")
        advisor.locator("#words").fill("Your locker is open again.")
        advisor.keyboard.press("Enter")
        expect(said(employee, "Your locker is open again.")).to_have_count(1)
        assert employee.locator("form.rating").count() == 0
        end(advisor)
        expect(employee.locator("form.rating")).to_be_visible()
        faults = findings(employee, axe)
        assert fits(employee)
        assert small_targets(employee) == []
        rate(employee, 4, comment)
        employee.reload()
        expect(said(employee, matter)).to_have_count(1)
        assert employee.locator("form.rating").count() == 0
        back_to_list(advisor)
        advisor.locator("#closed-part summary").click()
        advisor.get_by_label(message("desk.closed_search")).fill(matter)
        found = advisor.locator("#closed .card")
        expect(found).to_have_count(1)
        expect(found).to_contain_text(message("desklive.rated", score=4))
        found.click()
        expect(advisor.locator("#thread")).to_contain_text(comment)
        faults += findings(advisor, axe)
        assert fits(advisor)
    assert faults == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light")])
def test_a_late_response_is_told_in_words_and_a_snoozed_conversation_comes_back(
    browser: Any, url: str, axe: str, width: int, scheme: str
) -> None:
    matter = f"A wet floor {uuid.uuid4()}"
    with two_pages(browser, url, width, scheme) as (employee, advisor):
        hand_over(employee, url, matter)
        advisor.locator("#advisors button").click()
        card = advisor.locator("#waiting .card", has_text=matter)
        due = message("desklive.due", time="").strip()
        expect(card.locator(".due")).to_contain_text(due)
        advisor.clock.set_fixed_time(datetime.now(UTC) + timedelta(hours=1))
        advisor.reload()
        late = message("desklive.late", time="").strip()
        expect(card.locator(".due.late")).to_contain_text(late)
        faults = findings(advisor, axe)
        assert small_targets(advisor) == []
        open_waiting(advisor, matter)
        details = show_details(advisor)
        details.get_by_label(message("desk.snooze_until"), exact=True).fill("2099-01-01T09:00")
        faults += findings(advisor, axe)
        assert fits(advisor)
        details.locator("#snooze").get_by_role("button", name=message("desk.snooze")).press("Enter")
        expect(advisor.locator("#wake")).to_be_visible()
        if width < 1100:
            advisor.locator("#details-close").click()
        back_to_list(advisor)
        expect(advisor.locator("#snoozed .card", has_text=matter)).to_have_count(1)
        faults += findings(advisor, axe)
        assert small_targets(advisor) == []
        talk = advisor.locator("#snoozed .card").get_attribute("data-id")
        body = {"id": str(uuid.uuid4()), "text": f"Dry now: {matter}"}
        employee.request.post(f"{url}/api/v1/conversations/{talk}/messages", data=body)
        expect(advisor.locator("#mine .card", has_text=f"Dry now: {matter}")).to_have_count(1)
        expect(advisor.locator("#snoozed-part")).to_be_hidden()
    assert faults == []
