"""Of a table that several passages share people are told how much more there is."""

from collections.abc import Iterator

import pytest

from answer.asking import NOBODY, ask, company
from ombud.app import Workspace

ZONES = "ABCDEFGHIJKL"
ROWS = "".join(
    f"| parking zone {zone} behind hall {number} of the northern plant | {number * 5} euros a month |\n"
    for number, zone in enumerate(ZONES, start=1)
)
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "parking.md": (
        f"# Parking\n\n## Prices\n\n| Zone | Price of a parking space |\n| --- | --- |\n{ROWS}\n",
        {},
    ),
    "closing.md": (
        "# Closing days\n\n## Feast days\n\n| Depot | Feast | Date |\n| --- | --- | --- |\n"
        "| Ghent | Labour Day | 1 May |\n\n## End of the year\n\n"
        "| Depot | First day closed | Last day closed |\n| --- | --- | --- |\n"
        "| Ghent | 23 December | 2 January |\n",
        {},
    ),
    "travel.md": ("# Travel\n\nHotels are booked in the travel tool.\n", {}),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("tables"), files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


def test_rows_that_another_passage_holds_are_counted(workspace: Workspace) -> None:
    answer = ask(workspace, "What is the price of a parking space a month?", NOBODY)
    shown = sum(f"parking zone {zone} " in answer.text for zone in ZONES)
    assert 0 < shown < len(ZONES)
    assert f"*{len(ZONES) - shown} more in this table.*" in answer.text
    assert answer.text.count("more in this table") == 1


def test_a_row_stands_under_the_head_of_its_own_table(workspace: Workspace) -> None:
    answer = ask(workspace, "What is the last day on which the Ghent depot is closed?", NOBODY)
    lines = answer.text.splitlines()
    (row,) = [number for number, line in enumerate(lines) if "23 December" in line]
    assert lines[row - 2] == "| Depot | First day closed | Last day closed |"
