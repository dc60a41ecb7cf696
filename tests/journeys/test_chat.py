"""The chat as people use it: a real Chromium, a real server, a real workspace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from journeys.browsers import NewPage, ask, findings, fits, needs_chromium, playwright
from ombud.app import Workspace
from ombud.messages import message
from ombud.store import list_feedback
from web.running import LEAVE_DE, LEAVE_GB, SMILE, make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]

LEAVE = "How many days of annual leave do I have?"
HOME = "May I work from home, and on how many days a week?"
VISITORS = "What do visitors of the laboratory wear?"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


def test_an_answer_its_source_and_the_document(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, HOME)
    turn.locator(".cite").first.click()
    panel = page.get_by_role("complementary")
    playwright.expect(panel.locator(".source.on mark")).to_have_count(1)
    marked = panel.locator(".source.on mark").inner_text()
    assert marked in SMILE
    playwright.expect(panel.locator(".source.on blockquote")).to_contain_text(SMILE)
    with page.context.expect_page() as opened:
        panel.get_by_role("link", name="Open document").first.click()
    document = opened.value
    playwright.expect(document.get_by_role("heading", level=1)).to_have_text("Remote work")
    playwright.expect(document.locator("mark").first).to_be_in_viewport()
    assert marked.startswith(document.locator("mark").first.inner_text())


def test_a_thumb_and_a_comment_with_the_keyboard_alone(
    new_page: NewPage, workspace: Workspace, axe: str
) -> None:
    page = new_page()
    turn = ask(page, HOME)
    down = turn.get_by_role("button", name="Not helpful")
    playwright.expect(down).to_have_attribute("aria-pressed", "false")
    down.focus()
    page.keyboard.press("Enter")
    playwright.expect(down).to_have_attribute("aria-pressed", "true")
    playwright.expect(turn.get_by_role("button", name="Helpful", exact=True)).to_have_attribute(
        "aria-pressed", "false"
    )
    page.keyboard.press("Tab")
    page.keyboard.type("Which days?")
    playwright.expect(turn.get_by_label("What should we know?")).to_have_value("Which days?")
    assert findings(page, axe) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    playwright.expect(turn.locator(".feedback [role=status]")).to_have_text(
        message("thread.thanks_for_comment")
    )
    playwright.expect(down).to_be_focused()
    (kept,) = list_feedback(workspace.store)
    assert (kept.thumb, kept.comment) == (-1, "Which days?")


def test_a_table_row_is_cited_as_a_table(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, "What is the cap for a hotel night in Paris?")
    playwright.expect(turn.locator("td", has_text="EUR 220").first).to_be_visible()
    turn.locator(".cite").first.click()
    playwright.expect(
        page.locator("#panel .source td mark", has_text="EUR 220").first
    ).to_be_visible()


def test_the_country_changes_the_answer_and_is_remembered(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_label("Country").select_option("GB")
    playwright.expect(ask(page, LEAVE)).to_contain_text(LEAVE_GB)
    page.get_by_label("Country").select_option("DE")
    playwright.expect(page.locator(".turn")).to_have_count(0)
    page.locator(".sample", has_text=LEAVE).first.click()
    playwright.expect(page.locator(".turn")).to_contain_text(LEAVE_DE)
    playwright.expect(page.locator(".turn")).not_to_contain_text(LEAVE_GB)
    assert page.get_by_label("Country").locator("option:checked").inner_text() == "Germany"
    page.reload()
    playwright.expect(page.get_by_label("Country")).to_have_value("DE")


def test_who_has_chosen_no_country_is_asked_for_it(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, "How many days of leave does an employee get in a year?")
    playwright.expect(turn.locator(".badge")).to_have_text(message("thread.badge_clarify"))
    turn.locator(".chip", has_text="Germany").click()
    answered = page.locator(".turn").last
    playwright.expect(answered.locator(".body")).to_contain_text(LEAVE_DE)
    playwright.expect(answered).not_to_contain_text(message("thread.only_global"))
    answered.locator(".cite").first.click()
    panel = page.get_by_role("complementary")
    playwright.expect(panel.locator(".source.on .meta")).to_contain_text("Germany")
    playwright.expect(panel.locator(".source.on mark").first).to_be_visible()
    with page.context.expect_page() as opened:
        panel.get_by_role("link", name="Open document").first.click()
    playwright.expect(opened.value.locator("mark").first).to_be_in_viewport()


def test_a_reload_keeps_the_conversation_and_its_sources(new_page: NewPage) -> None:
    page = new_page()
    ask(page, HOME)
    page.reload()
    playwright.expect(page.locator(".turn .asked")).to_contain_text(HOME)
    page.locator(".turn .cite").first.click()
    playwright.expect(page.locator("#panel .source.on mark")).to_have_count(1)
    page.get_by_role("button", name="New conversation").click()
    page.reload()
    playwright.expect(page.locator(".turn")).to_have_count(0)


def test_dark_light_and_as_the_system_has_it(new_page: NewPage) -> None:
    page = new_page(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    look = page.get_by_role("button", name="Appearance")
    look.click()
    assert page.evaluate(ground) == light
    look.click()
    playwright.expect(look).to_have_accessible_name("Appearance: dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    look.click()
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark


def test_a_telephone_needs_no_scrolling_sideways(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    assert fits(page)
    turn = ask(page, "What is the cap for a hotel night in Paris?")
    assert fits(page)
    turn.locator(".cite").first.tap()
    panel = page.get_by_role("dialog", name="Source")
    playwright.expect(panel).to_be_in_viewport()
    assert fits(page)
    address = panel.get_by_role("link", name="Open document").first.get_attribute("href")
    page.mouse.click(195, 40)
    playwright.expect(panel).to_be_hidden()
    page.goto(page.url.rstrip("/") + str(address))
    playwright.expect(page.locator("mark").first).to_be_visible()
    assert fits(page)


def test_the_keyboard_is_enough(new_page: NewPage) -> None:
    page = new_page()
    playwright.expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(HOME)
    page.keyboard.press("Enter")
    playwright.expect(page.locator(".turn .badge")).to_have_count(1)
    first = page.locator(".turn .cite").first
    for _ in range(30):
        page.keyboard.press("Shift+Tab")
        if first.evaluate("node => node === document.activeElement"):
            break
    playwright.expect(first).to_be_focused()
    page.keyboard.press("Enter")
    playwright.expect(page.locator('[data-numbers~="1"]')).to_be_focused()
    page.keyboard.press("Escape")
    playwright.expect(page.get_by_role("complementary")).to_be_hidden()
    playwright.expect(first).to_be_focused()


def test_a_screen_reader_hears_the_finished_answer(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, HOME)
    status = page.locator("#say")
    playwright.expect(status).to_contain_text("2 days a week")
    playwright.expect(status).to_contain_text(turn.locator(".badge").inner_text())
    assert "Source 1: Remote work" in str(turn.locator(".cite").first.get_attribute("aria-label"))


def test_hostile_documents_and_questions_stay_text(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, VISITORS)
    playwright.expect(turn).to_contain_text("yellow badge <img src=x onerror=window.hurt=3>")
    turn.locator(".cite").first.click()
    playwright.expect(page.locator("#panel .source.on mark")).to_contain_text(
        "<script>window.hurt=4</script>"
    )
    playwright.expect(page.locator("#panel .source.on h3")).to_contain_text("<img src=x onerror=")
    ask(page, f"{VISITORS} <img src=x onerror=window.hurt=5>")
    assert page.locator("#log img, #panel img, #log script, #panel script").count() == 0
    assert page.evaluate("window.hurt === undefined")
    page.goto(page.url.rstrip("/") + str(page.locator("#panel a").first.get_attribute("href")))
    playwright.expect(page.locator("mark").first).to_contain_text("<script>window.hurt=4</script>")
    assert page.evaluate("window.hurt === undefined")


def test_html_from_elsewhere_is_refused_by_the_browser(new_page: NewPage) -> None:
    page = new_page(complaining=True)
    refused = page.evaluate(
        "() => { try { document.body.innerHTML = '<p>x</p>'; return false } catch { return true } }"
    )
    assert refused


def test_the_server_gone_keeps_the_question_and_asks_again(
    browser: Any, tmp_path: Path, new_page: NewPage
) -> None:
    workspace = make_workspace(tmp_path)
    page = new_page(complaining=True)
    with running(workspace) as url:
        page.goto(url)
    page.get_by_label("Your question").fill(HOME)
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("alert")).to_contain_text(message("thread.unreachable"))
    playwright.expect(page.get_by_label("Your question")).to_have_value(HOME)
    playwright.expect(page.locator(".turn")).to_have_count(0)
    with running(workspace, port=int(url.rsplit(":", 1)[1])):
        page.get_by_role("button", name="Try again").click()
        playwright.expect(page.locator(".turn .badge")).to_have_count(1)
        playwright.expect(page.get_by_role("alert")).to_be_hidden()
        playwright.expect(page.get_by_label("Your question")).to_have_value("")
    workspace.close()


def test_an_answer_can_be_stopped_and_asked_again(new_page: NewPage) -> None:
    page = new_page()
    page.route("**/chat/ask", lambda route: None)  # a server that takes its time
    page.get_by_label("Your question").fill(HOME)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop").click()
    playwright.expect(page.locator(".turn")).to_contain_text("Stopped.")
    page.unroute_all()
    page.get_by_role("button", name="Ask again", exact=True).click()
    playwright.expect(page.locator(".turn .badge")).to_have_count(1)


def test_a_question_sent_before_the_scripts_have_loaded_is_asked(new_page: NewPage) -> None:
    page = new_page()
    held: list[Any] = []
    page.route("**/stream.js", lambda route: held.append(route))
    page.reload(wait_until="commit")
    box = page.get_by_label("Your question")
    playwright.expect(page.get_by_role("button", name="Send")).to_be_disabled()
    box.fill(HOME)
    box.press("Enter")
    for one in held:
        one.continue_()
    playwright.expect(page.locator(".turn .badge")).to_have_count(1)
    playwright.expect(page.locator(".asked")).to_contain_text(HOME)
    playwright.expect(box).to_have_value("")


def test_what_is_not_there_offers_a_person(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, "My manager is bullying and harassing me, what can I do?")
    playwright.expect(turn.locator(".badge")).to_have_text(message("thread.badge_person"))
    card = turn.locator(".contacts")
    playwright.expect(card.get_by_role("heading")).to_have_text(message("thread.also_contact"))
    assert card.get_by_role("link").get_attribute("href") == "mailto:people@example.org"


def test_copy_and_how_it_was_found(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, HOME)
    turn.get_by_role("button", name="Copy the answer").click()
    playwright.expect(page.locator("#say")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "[1] Remote work (handbook/global/remote.md)" in copied
    turn.get_by_text("How was this found?").click()
    playwright.expect(turn.locator(".how")).to_contain_text("Confidence")
    playwright.expect(turn.locator(".how")).to_contain_text(message("thread.how_no_model"))
    link = turn.locator(".how").get_by_role("link", name="Remote work")
    playwright.expect(link).to_be_visible()
    with page.expect_popup() as opened:
        link.click()
    playwright.expect(opened.value.get_by_role("heading", name="Remote work").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(new_page: NewPage, axe: str, scheme: str, width: int) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": width, "height": 844}, bypass_csp=True)
    faults = findings(page, axe)
    turn = ask(page, "What is the cap for a hotel night in Paris?")
    turn.get_by_text("How was this found?").click()
    faults += findings(page, axe)
    turn.locator(".cite").first.click()
    playwright.expect(page.locator("#panel .source td mark").first).to_be_visible()
    faults += findings(page, axe)
    page.goto(page.url.rstrip("/") + str(page.locator("#panel a").first.get_attribute("href")))
    faults += findings(page, axe)
    assert faults == []
