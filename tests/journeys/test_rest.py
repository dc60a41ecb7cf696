"""Of a long table some rows are shown; the rest is one click away."""

from collections.abc import Iterator

import pytest

from journeys.browsers import NewPage, ask, needs_chromium, playwright
from journeys.test_chat import address
from ombud.app import Workspace
from web.running import make_workspace

__all__ = ["address"]

pytestmark = [pytest.mark.slow, needs_chromium]

ROWS = "".join(
    f"| parking zone {zone} behind hall {number} of the northern plant | {number * 5} euros a month |\n"
    for number, zone in enumerate("ABCDEFGHIJKL", start=1)
)
HANDBOOK = {
    "global/parking.md": "---\ntitle: Parking\n---\n# Parking\n\n## Prices\n\n"
    f"| Zone | Price of a parking space |\n| --- | --- |\n{ROWS}\n",
    "global/travel.md": "---\ntitle: Travel\n---\n# Travel\n\nHotels are booked in the travel tool.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"), handbook=HANDBOOK)
    yield made
    made.close()


def test_what_a_table_has_more_leads_to_the_document(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, "What is the price of a parking space a month?")
    more = turn.get_by_role("link", name="more in this table")
    with page.context.expect_page() as opened:
        more.click()
    document = opened.value
    playwright.expect(document.get_by_role("heading", level=1)).to_have_text("Parking")
    playwright.expect(document.locator("mark").first).to_be_in_viewport()
    playwright.expect(document.locator("main")).to_contain_text("parking zone L behind hall 12")
