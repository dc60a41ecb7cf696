"""A page's canvas as HTML: every part's words in their order, and none that spoils the others."""

from typing import Any

import pytest

from ombud.documents import parse
from ombud.sources.sharepoint.pages import render
from ombud.sources.web.pages import document
from ombud.types import Document
from sources.sharepoint.site import other_part, text_part


def canvas(*parts: Any) -> dict[str, Any]:
    return {"horizontalSections": [{"columns": [{"webparts": [part]} for part in parts]}]}


def blocks(title: str, said: dict[str, Any]) -> list[tuple[str, str]]:
    blank = Document(id="0" * 16, source="hr", uri="hr/SitePages/1.html", title="")
    return [
        (block.kind, block.text)
        for block in parse(document(title, render(title, said)), blank).blocks
    ]


def test_text_keeps_its_headings_lists_and_tables() -> None:
    html = "<h2>Days</h2><ul><li>26 in all</li></ul><table><tr><th>Year</th><th>Days</th></tr>"
    html += "<tr><td>2026</td><td>26</td></tr></table>"
    kinds = [kind for kind, _ in blocks("Leave", canvas(text_part(html)))]
    assert kinds == ["heading", "heading", "list", "table"]


def test_other_parts_say_what_they_show() -> None:
    said = canvas(
        other_part({"title": "Forms <2026>", "empty": " "}, {"html": "<p>Bring <b>it</b>.</p>"})
    )
    assert [text for _, text in blocks("Sick & well", said)] == [
        "Sick & well",
        "Forms <2026>",
        "Bring it.",
    ]


@pytest.mark.parametrize(
    "open_end", ["<!-- ", "<div><table><tr><td>", "<script>", "<p title='", "</div></main></body>"]
)
def test_what_is_left_open_ends_with_its_part(open_end: str) -> None:
    said = canvas(text_part(f"<p>First.</p>{open_end}"), text_part("<p>Second.</p>"))
    assert [text for _, text in blocks("Leave", said)] == ["Leave", "First.", "Second."]


@pytest.mark.parametrize(
    "odd",
    [
        None,
        5,
        [],
        {},
        {"innerHtml": None},
        {"innerHtml": 5},
        {"data": []},
        {"data": {"serverProcessedContent": None}},
        {
            "data": {
                "serverProcessedContent": {
                    "htmlStrings": [None, {"value": 3}],
                    "searchablePlainTexts": "x",
                }
            }
        },
    ],
)
def test_odd_parts_are_passed_over(odd: Any) -> None:
    said = canvas(odd, text_part("<p>Words.</p>"))
    assert [text for _, text in blocks("Leave", said)] == ["Leave", "Words."]


@pytest.mark.parametrize(
    "said",
    [{}, {"horizontalSections": None, "verticalSection": None}, {"horizontalSections": [{}]}],
)
def test_a_page_without_parts_is_its_title(said: dict[str, Any]) -> None:
    assert blocks("Leave", said) == [("heading", "Leave")]


def test_a_part_that_nests_without_end_is_left_to_the_parser() -> None:
    assert "<b>" * 2000 in render("Leave", canvas(text_part("<b>" * 2000)))
