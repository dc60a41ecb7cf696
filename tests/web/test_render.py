"""Markdown becomes HTML that looks right and can do nothing."""

import pytest

from ombud.types import Citation
from ombud.web.render import to_html

CITED = [
    Citation(
        chunk_id="c",
        document_id="d",
        title='Leave "GB" <b>',
        uri="u",
        page=4,
        quote="q",
        start=0,
        end=1,
        digest="x",
    ),
    Citation(
        chunk_id="c",
        document_id="d",
        title="Travel",
        uri="u",
        quote="q",
        start=2,
        end=3,
        digest="x",
    ),
]


def test_a_marker_becomes_a_button_that_says_its_source() -> None:
    html = to_html("26 days [1], and trips [2].", CITED)
    assert html.count("<button") == 2
    assert 'aria-label="Source 1: Leave &quot;GB&quot; ' in html
    assert 'page 4"' in html
    assert "<b>" not in html


@pytest.mark.parametrize("text", ["[3]", "[0]", "[12345]", "[x]", "\\[1]", "`[1]`", "[²]"])
def test_what_counts_no_citation_stays_text(text: str) -> None:
    assert "<button" not in to_html(f"See {text} here", CITED)


def test_a_marker_cannot_be_turned_into_a_link() -> None:
    html = to_html("26 days [1]\n\n[1]: https://evil.example", CITED)
    assert "href" not in html.split("<button")[0]
    assert '<button type="button"' in html


def test_lists_tables_and_headings_are_kept() -> None:
    html = to_html("# Rules\n\n- one\n- two\n\n| City | Cap |\n|---|--:|\n| Paris | 220 |\n")
    assert "<h3>Rules</h3>" in html
    assert html.count("<li>") == 2
    assert '<td class="number">220</td>' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](https://evil.example/pixel.png)",
        "[click](javascript:alert(1))",
        "[click](data:text/html,x)",
        "<button class=cite data-n=1>1</button>",
        "<a href='https://x' onclick='y'>z</a>",
    ],
)
def test_nothing_dangerous_gets_through(text: str) -> None:
    html = to_html(text)
    for forbidden in (
        "<script",
        "<img",
        "<button",
        'javascript:"',
        'href="javascript',
        'href="data',
        "<a href='",
    ):
        assert forbidden not in html


def test_links_of_an_answer_open_apart_and_tell_nothing() -> None:
    html = to_html("[the law](https://law.example)")
    assert 'href="https://law.example"' in html
    assert 'rel="noopener noreferrer"' in html


def test_markers_below_a_table_move_into_the_row_they_prove_and_equal_tables_join() -> None:
    row = "| City | Cap |\n|---|---|\n| {} | {} |\n\n{}\n\n"
    html = to_html(
        row.format("Paris", 220, "[1]") + row.format("Lyon", 130, "[2]") + "Then text [1].", CITED
    )
    assert html.count("<table>") == 1
    assert html.count("<th>") == 2
    paris, lyon = html.split("<tr>")[2:4]
    assert "220" in paris
    assert 'data-n="1"' in paris
    assert "Lyon" in lyon
    assert 'data-n="2"' in lyon
    assert html.count("<p>") == 1


def test_different_tables_stay_apart() -> None:
    html = to_html("| A |\n|---|\n| 1 |\n\n| B |\n|---|\n| 2 |\n\ntext\n\n| B |\n|---|\n| 3 |\n")
    assert html.count("<table>") == 3
