"""An answer that grows on the page while a chat model writes it, for a persona that was chosen
there."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import LEAVE, company
from answer.faulty import misbehaving
from answer.test_streaming import EXPIRES, FLOOR, TRUE, Slow, workspace
from ingest.shelf import Shelf
from journeys.browsers import CHROMIUM, needs_chromium, playwright
from web.running import running

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0})
    yield made
    made.workspace.close()


@pytest.fixture
def page() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page()
        opened.set_default_timeout(20_000)
        yield opened
        browser.close()


def test_claims_stand_on_the_page_before_the_model_has_finished(
    shelf: Shelf, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    slow = Slow()
    with misbehaving(slow) as server, running(workspace(shelf.home, server.url)) as url:
        page.goto(url)
        page.get_by_label("Country").select_option("GB")
        page.get_by_label("Written for").select_option("legal")
        page.get_by_role("textbox").fill(LEAVE)
        page.keyboard.press("Enter")
        shown = page.locator(".reply .body .claim")
        for number, (gate, text) in enumerate(zip(slow.let, (TRUE, EXPIRES, FLOOR), strict=True)):
            shown.nth(number).wait_for()
            assert text in shown.nth(number).inner_text()
            assert shown.count() == number + 1
            gate.set()
        sources = page.get_by_role("group", name="Sources of this answer")
        sources.wait_for()
        (asked,) = server.asked
        assert "a lawyer or compliance officer" in str(asked["messages"])
    chips = sources.get_by_role("button").all_inner_texts()
    assert chips == [
        "Leave in Great Britain · Annual leave / Carrying over",
        "Leave worldwide · Annual leave floor",
    ]
    assert page.locator(".badge").inner_text().strip() == "Answered"


def test_without_a_model_nobody_is_asked_for_whom_it_is(shelf: Shelf, page: Any) -> None:
    with running(shelf.workspace) as url:
        page.goto(url)
        page.get_by_label("Country").wait_for()
        assert page.get_by_label("Written for").count() == 0
