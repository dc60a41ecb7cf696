"""The conversations of a browser: found again, named, deleted, taken back, kept; and what is asked
anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.browsers import NewPage, ask, findings, fits, needs_chromium, playwright
from ombud.app import Workspace
from ombud.messages import message
from web.running import HANDBOOK, LEAVE_GB, make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
LEAVE = "How many days of annual leave do I have?"
HOME = "May I work from home, and on how many days a week?"
CAPS = "What may a hotel night cost?"
EXTRA = {
    "global/m2.md": "---\ntitle: Approvals of M2\naudience: {grades: [M2]}\n---\n# Approvals\n\n"
    "Managers of this grade approve relocation budgets of up to 9,000 euros a year by themselves.\n",
    "global/parking.md": "---\ntitle: Parking\n---\n# Parking places\n\n## Fees of parking places\n\n"
    "| Site of the parking place | Fee a month for cars | Fee a month for motorbikes "
    "| Fee a day for visitors | Office that sells permits |\n"
    "|---|---|---|---|---|\n"
    "| Paris parking place near the river | EUR 95 for each car a month | EUR 25 for each motorbike "
    "| EUR 12 for each visitor | Reception of the first floor |\n"
    "| Lyon parking place near the station | EUR 45 for each car a month | EUR 15 for each motorbike "
    "| EUR 6 for each visitor | Reception of the ground floor |\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"), handbook={**HANDBOOK, **EXTRA})
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


def test_a_conversation_is_found_named_and_deleted(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 1100, "height": 720})
    page.get_by_label("Country").select_option("GB")
    ask(page, LEAVE)
    page.get_by_role("button", name="New conversation").click()
    ask(page, HOME)
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Conversations")
    playwright.expect(dialog.get_by_role("listitem")).to_have_count(2)
    page.keyboard.type("26 days")
    playwright.expect(dialog.get_by_role("listitem")).to_have_count(1)
    dialog.get_by_role("button", name="Rename").click()
    page.keyboard.type("My leave")
    page.keyboard.press("Enter")
    dialog.get_by_role("searchbox").fill("")
    playwright.expect(dialog.get_by_role("listitem").filter(has_text="My leave")).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_label("Country").select_option("DE")
    page.keyboard.press("Control+k")
    dialog.get_by_role("button", name="My leave", exact=False).first.click()
    playwright.expect(page.locator(".turn .body")).to_contain_text("26 days")
    playwright.expect(page.get_by_label("Country")).to_have_value("GB")

    page.keyboard.press("Control+k")
    dialog.get_by_role("button", name="Delete: My leave").click()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    playwright.expect(dialog.get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("Escape")
    playwright.expect(page.locator(".turn")).to_have_count(0)


def test_on_a_wide_screen_conversations_stand_beside_the_chat(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 1440, "height": 860})
    side = page.get_by_role("navigation", name="Conversations")
    ask(page, LEAVE)
    page.get_by_role("button", name="New conversation").click()
    ask(page, HOME)
    today = side.get_by_role("list", name=message("thread.today"))
    playwright.expect(today.get_by_role("listitem")).to_have_count(2)
    chosen = side.locator("[aria-current]")
    playwright.expect(chosen).to_contain_text(HOME)
    today.get_by_role("listitem").last.hover()
    side.get_by_role("button", name=f"{message('thread.pin')}: {LEAVE}").click()
    pinned = side.get_by_role("list", name=message("thread.pinned"))
    playwright.expect(pinned).to_contain_text(LEAVE)
    pinned.get_by_role("button", name=LEAVE, exact=False).first.click()
    playwright.expect(chosen).to_contain_text(LEAVE)
    playwright.expect(page.locator(".turn .asked")).to_contain_text(LEAVE)
    page.keyboard.press("Control+k")
    page.keyboard.type("work from home")
    playwright.expect(side.get_by_role("listitem")).to_have_count(1)
    assert fits(page)
    opener = page.get_by_role("banner").get_by_role("button", name="Conversations")
    opener.click()
    playwright.expect(side).to_be_hidden()
    page.reload()
    playwright.expect(opener).to_have_attribute("aria-expanded", "false")
    page.set_viewport_size({"width": 1000, "height": 860})
    opener.click()
    dialog = page.get_by_role("dialog", name="Conversations")
    playwright.expect(dialog.get_by_role("list", name=message("thread.pinned"))).to_be_visible()


def test_a_new_conversation_and_another_country_can_be_taken_back(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_label("Country").select_option("GB")
    ask(page, LEAVE)
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("button", name="Undo").click()
    playwright.expect(page.locator(".turn .body")).to_contain_text(LEAVE_GB[:40])
    page.get_by_label("Country").select_option("DE")
    playwright.expect(page.locator(".turn")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    playwright.expect(page.get_by_label("Country")).to_have_value("GB")
    playwright.expect(page.locator(".turn .body")).to_contain_text(LEAVE_GB[:40])
    # It goes on where it was.
    ask(page, HOME)
    playwright.expect(page.locator(".turn")).to_have_count(2)


def test_a_question_is_edited_asked_again_and_recalled(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, "What may a hotle nigth cost?")
    turn.locator(".mine").hover()
    turn.get_by_role("button", name="Edit and ask again").click()
    page.get_by_label("Your question").first.fill(CAPS)
    page.get_by_role("button", name="Ask", exact=True).click()
    playwright.expect(page.locator(".turn .badge")).to_have_count(2)
    playwright.expect(page.locator(".turn").first).to_have_class("turn old")
    playwright.expect(page.locator(".turn").last.locator(".asked")).to_contain_text(CAPS)
    page.locator(".turn").last.get_by_role("button", name="Ask again", exact=True).click()
    playwright.expect(page.locator(".turn .badge")).to_have_count(3)
    box = page.locator("#question")
    box.focus()
    page.keyboard.press("ArrowUp")
    playwright.expect(box).to_have_value(CAPS)


def test_it_is_kept_as_markdown_with_its_sources(new_page: NewPage, tmp_path: Path) -> None:
    page = new_page()
    ask(page, HOME)
    page.get_by_label(message("chat.export_conversation")).click()
    with page.expect_download() as started:
        page.get_by_role("button", name="As Markdown").click()
    kept = tmp_path / "kept.md"
    started.value.save_as(kept)
    text = kept.read_text(encoding="utf-8")
    assert f"## {HOME}" in text
    assert "1. Remote work (" in text


def test_a_grade_opens_what_is_written_for_it(new_page: NewPage) -> None:
    page = new_page()
    question = "Who approves relocation budgets of up to 9,000 euros?"
    turn = ask(page, question)
    playwright.expect(turn.locator(".body")).not_to_contain_text("9,000 euros a year")
    page.get_by_label("More about you").click()
    page.get_by_label("Grade").select_option("M2")
    turn = ask(page, question)
    playwright.expect(turn.locator(".body")).to_contain_text("9,000 euros a year")
    turn.locator(".cite").first.click()
    panel = page.get_by_role("complementary")
    playwright.expect(panel.locator(".source.on mark").first).to_contain_text("9,000 euros")


def test_the_day_that_rules_are_asked_for(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_label("More about you").click()
    page.get_by_label("Rules as of").fill("2023-06-01")
    page.keyboard.press("Tab")
    turn = ask(page, CAPS)
    # The page on travel came into force in 2024.
    playwright.expect(turn.locator(".body")).not_to_contain_text("EUR 220")


def test_a_second_tab_goes_on(new_page: NewPage, address: str) -> None:
    page = new_page()
    ask(page, HOME)
    other = page.context.new_page()
    other.goto(address)
    playwright.expect(other.locator(".turn .body")).to_contain_text("2 days a week")
    ask(other, CAPS)
    playwright.expect(page.locator(".turn .badge")).to_have_count(2)


def test_on_a_telephone_rows_are_cards_with_their_source(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    turn = ask(page, "What does a parking place cost a month for cars and motorbikes?")
    playwright.expect(turn.get_by_role("row")).to_have_count(3)
    card = turn.get_by_role("row").last
    cell = card.get_by_role("cell", name="EUR 15 for each motorbike")
    playwright.expect(cell).to_be_visible()
    cites = card.locator(".cites .cite")
    playwright.expect(cites).to_have_count(1)
    inside, source, about = card.bounding_box(), cites.first.bounding_box(), cell.bounding_box()
    assert inside
    assert source
    assert about
    assert inside["width"] <= 390
    assert source["y"] > about["y"]
    assert min(source["width"], source["height"]) >= 24
    assert fits(page)
    cites.first.click()
    panel = page.get_by_role("dialog")
    # All rows stand in one table, on one card.
    playwright.expect(panel.locator(".source")).to_have_count(1)
    marked = panel.locator(".source tbody tr").filter(has=page.locator("mark"))
    # The text around a quote is loaded after its card.
    playwright.expect(marked.nth(1)).to_be_visible()
    assert fits(page)
    for one in panel.locator(".source, .source footer a, .source footer button").all():
        box = one.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390


def test_menus_close_on_what_comes_next(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 1440, "height": 860})
    turn = ask(page, CAPS)
    turn.locator(".cite").first.click()
    panel = page.get_by_role("complementary")
    menu = page.get_by_label("Export this conversation")
    opened = page.locator("details.menu[open]")
    menu.click()
    playwright.expect(opened).to_have_count(1)
    page.keyboard.press("Escape")
    playwright.expect(opened).to_have_count(0)
    playwright.expect(menu).to_be_focused()
    playwright.expect(panel).to_be_visible()
    menu.click()
    page.get_by_label("More about you").click()
    playwright.expect(opened).to_have_count(1)
    page.get_by_label("Rules as of").click()
    playwright.expect(opened).to_have_count(1)
    page.locator(".notice").click()
    playwright.expect(opened).to_have_count(0)
    menu.click()
    ask(page, LEAVE)
    playwright.expect(opened).to_have_count(0)


def test_on_paper_each_number_has_its_source(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, HOME)
    listed = turn.locator(".on-paper li")
    playwright.expect(listed.first).to_be_hidden()
    page.emulate_media(media="print")
    playwright.expect(listed.first).to_contain_text("Remote work")
    playwright.expect(listed.first).to_contain_text("2 days a week")
    playwright.expect(page.locator("#side")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_in_list_and_menus(
    new_page: NewPage, axe: str, scheme: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 860}, color_scheme=scheme)
    turn = ask(page, HOME)
    page.get_by_label("More about you").click()
    assert findings(page, axe) == []
    turn.locator(".mine").hover()
    turn.get_by_role("button", name="Edit and ask again").click()
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    listed = page.locator(".talks li").first
    listed.hover()
    listed.get_by_role("button", name="Delete", exact=False).click()
    assert findings(page, axe) == []
    assert fits(page)
