"""The conversations of a browser: found again, named, deleted, taken back, kept; and what is asked
anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.browsers import NewPage, ask, findings, fits, needs_chromium, playwright
from ombud.app import Workspace
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
    page = new_page()
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
    page.get_by_label("Keep this conversation").click()
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


def test_on_a_telephone_a_wide_table_shows_its_sources(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    turn = ask(page, "What does a parking place cost a month for cars and motorbikes?")
    cites = turn.locator(".cites .cite")
    playwright.expect(cites).to_have_count(2)
    for place in range(2):
        box = cites.nth(place).bounding_box()
        assert box
        assert 0 <= box["x"] <= 390 - box["width"]
    assert fits(page)
    cites.first.click()
    panel = page.get_by_role("dialog")
    # Both rows stand in one table, on one card.
    playwright.expect(panel.locator(".source")).to_have_count(1)
    playwright.expect(
        panel.locator(".source tbody tr").filter(has=page.locator("mark"))
    ).to_have_count(2)
    assert fits(page)
    for one in panel.locator(".source, .source footer a, .source footer button").all():
        box = one.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390


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
    dialog = page.get_by_role("dialog", name="Conversations")
    dialog.get_by_role("button", name="Delete", exact=False).first.click()
    assert findings(page, axe) == []
    assert fits(page)
