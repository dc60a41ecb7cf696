"""Markdown of a document's words: its links are live, and nothing else in it is."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ombud.answer import as_markdown
from ombud.text import link_host, with_links
from ombud.types import Annotation

URL = "https://hr.example/forms"
COMMON = MarkdownIt("commonmark").enable("table")


def link(text: str, words: str, url: str = URL, start: int = 0) -> Annotation:
    first = text.index(words) + start
    return Annotation(start=first, end=first + len(words), kind="link", url=url)


def live(markdown: str) -> list[tuple[str, str]]:
    """(kind, address) of what a reader's program would follow or load."""
    found: list[tuple[str, str]] = []
    for block in COMMON.parse(markdown):
        for token in block.children or ():
            if token.type in ("link_open", "image"):
                address = token.attrs.get("href") or token.attrs.get("src")
                found.append((token.type, str(address)))
    return found


def written(text: str, *links: Annotation, start: int = 0) -> str:
    return with_links(text, start, links, escape=str)


def test_a_link_names_its_host_and_stays_in_its_sentence() -> None:
    text = "Fill in the form and wait."
    assert written(text, link(text, "form")) == f"Fill in the [form (hr.example)]({URL}) and wait."


def test_words_that_are_the_address_already_need_no_host() -> None:
    assert [link_host(words, URL) for words in (URL, "hr.example", "form")] == [
        "",
        "",
        "hr.example",
    ]
    assert link_host("a@hr.example", "mailto:a@hr.example") == ""
    assert link_host("write to us", "mailto:a@hr.example") == "a@hr.example"


def test_the_host_is_the_one_that_a_browser_goes_to() -> None:
    assert link_host("portal", "https://bank.example@evil.example/") == "evil.example"
    assert link_host("evil.example.bank.example", "https://evil.example/") == "evil.example"


@pytest.mark.parametrize(
    "url", ["https://hr.example/a(b)c", "https://hr.example/x)y", "https://hr.example/?a=[1]"]
)
def test_brackets_in_an_address_do_not_end_it(url: str) -> None:
    ((kind, address),) = live(written("form", link("form", "form", url)))
    assert kind == "link_open"
    assert address.replace("%28", "(").replace("%29", ")").replace("%5B", "[").replace(
        "%5D", "]"
    ) == (url)


@pytest.mark.parametrize("text", ["See! form", "See!form", "\\!form", "see [x]form", "form](x)"])
def test_what_stands_before_a_link_does_not_make_it_another(text: str) -> None:
    assert live(written(text, link(text, "form"))) == [("link_open", URL)]


def test_links_are_placed_by_offsets_of_the_document() -> None:
    text = "🏡 home office rules"
    made = written(text, link(text, "rules", start=400), start=400)
    assert made == f"🏡 home office [rules (hr.example)]({URL})"


def test_a_link_in_a_row_stays_in_its_cell() -> None:
    row = "| Adoption | the form \\| sheet |"
    linked = written(row, link(row, "form \\| sheet"))
    table = f"| Kind | How |\n| --- | --- |\n{linked}"
    cells = [token.content for token in COMMON.parse(table) if token.type == "inline"]
    assert cells[2:] == ["Adoption", f"the [form | sheet (hr.example)]({URL})"]


def test_footnote_marks_and_struck_words_are_no_links() -> None:
    marks: Sequence[Annotation] = (
        Annotation(start=0, end=3, kind="footnote", text="unpaid"),
        Annotation(start=3, end=3, kind="struck", text="old"),
    )
    assert written("[1] days", *marks) == "[1] days"


@example(before="![\\", words="<", after="")
@given(
    st.text(alphabet="ab ![]()<>\\`*_\n|", max_size=30),
    st.text(alphabet="ab ![]()<>\\|", min_size=1, max_size=10),
    st.text(alphabet="ab ![]()<>\\`*_\n|", max_size=30),
)
def test_no_text_around_a_link_can_send_readers_elsewhere(
    before: str, words: str, after: str
) -> None:
    text = f"{before}{words}{after}"
    one = Annotation(start=len(before), end=len(before) + len(words), kind="link", url=URL)
    assert set(live(as_markdown(text, 0, [one]))) <= {("link_open", URL)}
