"""An employee with a German browser asks in German, on a phone, and reads German until a person
has taken over."""

from collections.abc import Iterator
from functools import partial

import pytest

from journeys.browsers import NewPage, Page, findings, fits, needs_chromium, playwright
from ombud.app import Workspace
from ombud.messages import message
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
german = partial(message, language="de")
expect = playwright.expect


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("workspace")
    workspace: Workspace = make_workspace(home)
    with running(workspace) as url:
        yield url
    workspace.close()


@pytest.fixture
def page(new_page: NewPage, address: str) -> Page:
    page = new_page(locale="de-DE", viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(address)
    return page


def test_a_german_browser_gets_german_from_question_to_person(page: Page, axe: str) -> None:
    assert page.locator("html").get_attribute("lang") == "de"
    expect(page.get_by_role("heading", level=2).first).to_have_text(german("chat.hello"))
    page.get_by_label(german("chat.country")).select_option(label="Deutschland")
    page.get_by_label(german("chat.your_question")).fill("Wie viele Urlaubstage habe ich im Jahr?")
    page.get_by_role("button", name=german("chat.send")).click()
    turn = page.locator(".turn").last
    expect(turn.locator(".badge").first).to_be_visible()
    badges = ("full", "partial", "not_sure", "none", "clarify")
    assert turn.locator(".badge").first.inner_text() in {
        german(f"thread.badge_{one}") for one in badges
    }
    expect(turn.get_by_role("button", name=german("thread.ask_again"), exact=True)).to_be_visible()
    page.get_by_role("button", name=german("chat.talk_to_person")).first.click()
    expect(page.locator("#log")).to_contain_text(german("thread.asked_for_person"))
    expect(page.locator("#bar")).to_contain_text(german("thread.no_longer_needed"))
    assert findings(page, axe) == []
    assert fits(page)


def test_a_chosen_language_stays(page: Page) -> None:
    page.get_by_label(german("page.menu")).click()
    page.get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.reload()
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        message("chat.hello", language="fr")
    )
