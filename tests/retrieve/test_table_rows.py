"""The row that a question names by its key is in the first hit, in tables of any length."""

import asyncio
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.app import asking
from ombud.types import Chunk, Person

CITIES = [f"{start}{end}" for start in ("Nor", "Wes", "Eas", "Sou") for end in ("ton", "by", "ham")]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("rows"))
    for name, text in {**pages(), **tables()}.items():
        shelf.write(name, text)
    assert shelf.sync().ok
    yield shelf
    shelf.workspace.close()


def pages() -> dict[str, str]:
    prose = "Grade 7 and grade 79 may travel. Device S23 is popular, and S2 is not. Notice helps.\n"
    return {
        f"news-{n}.md": f"# News {n}\n\n{prose}\nThe hotel in Norton was {n}." for n in range(4)
    }


def tables() -> dict[str, str]:
    grades = [(f"Grade {n}", f"EUR {100 + 2 * n}") for n in range(1, 121)]
    codes = [(f"S{n}", f"Model {n * 7}") for n in range(1, 301)]
    caps = [(city, f"EUR {90 + n}") for n, city in enumerate(CITIES * 9)][: len(CITIES)]
    years = [(f"{low}-{low + 2} years", f"{low + 3} weeks") for low in range(0, 300, 2)]
    return {
        "grades.html": html("Hotel by grade", ("Grade", "Hotel"), grades),
        "devices.html": html("Devices", ("Code", "Device"), codes),
        "cities.html": html("Hotel by city", ("City", "Hotel"), caps),
        "notice.html": html("Notice periods", ("Service", "Notice"), years),
    }


def html(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"<h1>{title}</h1><table>"]
    for tag, cells in [("th", head), *(("td", row) for row in rows)]:
        lines.append(f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def hits(shelf: Shelf, question: str, person: Person | None = None) -> list[Chunk]:
    search = asking.search(shelf.workspace, question, person or Person())
    evidence, _ = asyncio.run(search)
    return [hit.chunk for hit in evidence.hits]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("hotel of grade 7", "| Grade 7 | EUR 114 |"),
        ("hotel of grade 79", "| Grade 79 | EUR 258 |"),
        ("which device is S23?", "| S23 | Model 161 |"),
        ("code s230", "| S230 | Model 1610 |"),
        ("device S2", "| S2 | Model 14 |"),
        ("hotel easham", "| Easham |"),
        ("notice after 5 years", "| 4-6 years | 7 weeks |"),
        ("how long is my notice with 251 years of service", "| 250-252 years | 253 weeks |"),
    ],
)
def test_the_row_of_a_key_is_in_the_first_hit(shelf: Shelf, question: str, row: str) -> None:
    first = hits(shelf, question)[0]
    assert any(line.startswith(row) for line in first.text.split("\n"))


def test_a_question_without_a_key_keeps_its_order(shelf: Shelf) -> None:
    assert hits(shelf, "which news are there about notice")[0].uri.startswith("docs/news")


def test_a_rule_that_holds_more_of_the_question_stays_first(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("phones.html", html("Telephones", ("Country", "Number"), [("Portugal", "+351")]))
    shelf.write("leave.md", "# Parental leave in Portugal\n\nParental leave is 20 weeks.")
    assert shelf.sync().ok
    assert hits(shelf, "parental leave portugal")[0].uri == "docs/leave.md"
    shelf.workspace.close()


def test_parts_of_a_table_that_a_person_may_not_read_are_not_looked_at(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    rows = "\n".join(f"| {n}-{n + 9} km | EUR {n} |" for n in range(0, 3000, 10))
    for country in ("GB", "FR"):
        text = f"# Moving\n\n| Distance | Help |\n| --- | --- |\n{rows}\n"
        shelf.write(f"{country}.md", text, country=country)
    assert shelf.sync().ok
    seen = hits(shelf, "help for moving 2345 km", Person(country="GB"))
    assert {chunk.uri for chunk in seen} == {"docs/GB.md"}
    assert "| 2340-2349 km |" in seen[0].text
    shelf.workspace.close()
