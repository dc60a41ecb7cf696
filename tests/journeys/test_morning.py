"""An advisor's morning, and the employee's side of it, each in a browser of their own."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from journeys.browsers import Page, findings, fits, needs_chromium
from journeys.test_desk import add_note, back_to_list, end, open_waiting
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
    with closing(Workspace(home)) as workspace, running(workspace) as address:
        yield address


def small_targets(page: Page) -> list[str]:
    """Controls that are smaller than 24 px."""
    visible = "button:visible, input:visible, select:visible, textarea:visible, summary:visible"
    boxes = [(one, one.bounding_box()) for one in page.locator(visible).all()]
    return [
        one.evaluate("(node) => node.outerHTML.slice(0, 120)")
        for one, box in boxes
        if box is None or min(box["width"], box["height"]) < 24
    ]


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
