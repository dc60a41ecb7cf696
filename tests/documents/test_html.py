"""HTML -> blocks, annotations and losses, as a reader sees the page."""

import pytest

from ombud.documents import parse
from ombud.types import Document, Loss

FORM = "https://hr.example/form"


def parsed(body: str, head: str = "") -> Document:
    page = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    facts = Document(id="x", source="s", uri="hr/leave.html", title="", language="en")
    return parse(page.encode(), facts)


def texts(body: str, head: str = "") -> list[str]:
    return [block.text for block in parsed(body, head).blocks]


@pytest.mark.parametrize(
    ("style", "mark"),
    [
        (".old{display:none}", 'class="old"'),
        ("p .x,.old{color:red} p .old { display : none !important }", 'class="old"'),
        ("/* .a{} */ @media screen{.old{visibility:hidden}}", 'class="old"'),
        ("<!-- .old{display:none} -->", 'class="old"'),
        ("span{display:inline} #o{display:none}", 'id="o"'),
        ("", 'style="DISPLAY: None"'),
        ("", 'style="color:red;mso-hide:all"'),
        ("", "hidden"),
    ],
)
def test_what_a_page_hides_is_not_read(style: str, mark: str) -> None:
    document = parsed(f"<p>Pay 5 <span {mark}>or 6 </span>euros.</p>", f"<style>{style}</style>")
    assert document.text == "Pay 5 euros."
    assert document.loss == Loss(hidden=1)


@pytest.mark.parametrize(
    "style",
    [
        "@media print{.old{display:none}}",
        "@media (max-width:9em){.old{display:none}}",
        ".old{display:none} p .old{display:inline}",
        ".old:hover{display:none} %%{display:none}",
        ".old{display:none",
        "}}}{{{.old{color:red}",
    ],
)
def test_what_a_page_shows_is_read(style: str) -> None:
    body = '<p>Pay 5 <span class="old">or 6 </span>euros.</p>'
    is_open = style.endswith("none")  # browsers close the last rule
    expected = "Pay 5 euros." if is_open else "Pay 5 or 6 euros."
    assert parsed(body, f"<style>{style}</style>").text == expected


@pytest.mark.parametrize(
    "row",
    [
        "<tr hidden><td>Van</td><td>7</td></tr>",
        '<tr style="display:none"><td>Van</td><td>7</td></tr>',
        "<tr><td hidden>Van</td><td hidden>7</td></tr>",
    ],
)
def test_hidden_rows_and_cells(row: str) -> None:
    document = parsed(f"<table><tr><th>Car<th>Cents</tr>{row}<tr><td>Bike<td>9</tr></table>")
    assert document.text == "| Car | Cents |\n| --- | --- |\n| Bike | 9 |"
    assert document.loss.hidden


@pytest.mark.parametrize("tag", ["s", "del", "strike"])
def test_struck_words_in_lists_tables_and_whole_blocks(tag: str) -> None:
    struck = f"<{tag}>old</{tag}>"
    document = parsed(
        f"<ul><li>{struck}</li><li>{struck} new</li></ul><table><tr><td>A<td>{struck} 5</table>"
        f"<{tag}><p>gone</p><ul><li>gone too</li></ul></{tag}><h2>{struck} Title</h2>"
    )
    assert [b.text for b in document.blocks] == ["- new", "| A | 5 |\n| --- | --- |", "Title"]
    assert "gone" in " ".join(a.text for a in document.annotations if a.kind == "struck")


def test_words_struck_by_a_style() -> None:
    head = "<style>.c5{text-decoration:line-through}</style>"
    body = (
        '<p>Take <span class="c5">five</span> <b style="text-decoration: underline line-through">'
        "six</b> two days.</p><ul class=c5><li>no</li></ul>"
    )
    assert texts(body, head) == ["Take two days."]


def test_links_keep_their_addresses() -> None:
    document = parsed(
        f'<p>See <a href="{FORM}">the <b>form</b></a>, <a href="javascript:x()">this</a> and '
        f'<a href="https://www.google.com/url?q={FORM}%2Fb&amp;sa=D">that</a>.</p>'
    )
    assert document.text == "See the form, this and that."
    links = [(document.text[a.start : a.end], a.url) for a in document.annotations]
    assert links == [("the form", FORM), ("that", f"{FORM}/b")]


@pytest.mark.parametrize(
    ("reference", "note"),
    [
        ('<sup><a href="#n">1</a></sup>', '<p id="n">1 In Kenya 26.</p>'),
        ('<a href="#n"><sup>[1]</sup></a>', '<p id="n"><sup>1</sup> In Kenya 26.</p>'),
        ('<sup><a href="#n">[1]</a></sup>', '<p><a id="n" href="#b">[1]</a> In Kenya 26.</p>'),
        (
            '<sup><a href="#n">1</a></sup>',
            '<ol><li id="n"><p>In Kenya 26. <a href="#b">↩</a></p></li></ol>',
        ),
        ("<sup>1</sup>", "<p><sup>1</sup> In Kenya 26.</p>"),
    ],
)
def test_a_footnote_mark_leads_to_its_note(reference: str, note: str) -> None:
    document = parsed(f"<p>Staff get 25{reference} days.</p>{note}")
    text, below = document.text.split("\n\n")
    assert text == "Staff get 25 [1] days."
    assert below.removeprefix("- ") == "[1] In Kenya 26."
    assert [a.text for a in document.annotations] == ["In Kenya 26."]


def test_panels_that_a_reader_can_open_are_read() -> None:
    body = (
        '<button aria-controls="a">Gifts?</button><div id="a" hidden>None.</div>'
        '<a href="#b">Dogs?</a><div id="b" style="display:none">On Fridays.</div>'
        "<details><summary>Cats?</summary>Never.</details><dialog open>Call 112.</dialog>"
        "<div hidden>Draft.</div><dialog>Log in.</dialog><button>Print</button>"
    )
    assert texts(body) == [
        "Gifts?", "None.", "Dogs?", "On Fridays.", "Cats?", "Never.", "Call 112.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tabs", "first", "second"),
    [
        (
            '<button role="tab" aria-controls="d">Kenya</button>'
            '<button role="tab" aria-controls="f">Peru</button>',
            'id="d"',
            'id="f" hidden',
        ),
        ('<li role="tab">Kenya</li><li role="tab">Peru</li>', "", "hidden"),
        (
            '<a data-bs-toggle="tab" href="#d">Kenya</a><a data-bs-toggle="tab" href="#f">Peru</a>',
            'id="d"',
            'id="f"',
        ),
    ],
)
def test_tabs_become_headings(tabs: str, first: str, second: str) -> None:
    document = parsed(
        f'<h2>Leave</h2><div><div role="tablist">{tabs}</div>'
        f'<div role="tabpanel" {first}><p>26 days.</p></div>'
        f'<div role="tabpanel" {second}><p>30 days.</p></div></div><p>Ask early.</p>'
    )
    assert [(block.text, block.level) for block in document.blocks] == [
        ("Leave", 2),
        ("Kenya", 3),
        ("26 days.", 0),
        ("Peru", 3),
        ("30 days.", 0),
        ("Leave", 2),
        ("Ask early.", 0),
    ]


def test_what_stands_around_the_content() -> None:
    body = (
        "<nav>Home</nav><header><h1>Leave</h1><p>For Kenya, from 2026.</p><nav>Menu</nav></header>"
        "<main><p>Staff get 26 days.</p><aside>Ask early.</aside>"
        "<section><header>Who</header>All.<footer>In force since May.</footer></section></main>"
        "<footer>Imprint</footer>"
    )
    assert texts(body) == [
        "Leave", "For Kenya, from 2026.", "Staff get 26 days.", "Ask early.", "Who", "All.",
        "In force since May.",
    ]  # fmt: skip
    body = "<header><h1>Acme</h1></header><div><h1>Leave</h1><p>26 days.</p></div>"
    assert texts(body) == ["Leave", "26 days."]


def test_words_that_only_screen_readers_miss() -> None:
    body = (
        '<p><i aria-hidden="true">home</i><span aria-hidden="true">26</span> days'
        '<span aria-hidden="true"> ›</span></p>'
    )
    assert texts(body) == ["26 days"]


def test_definitions_stand_with_their_terms() -> None:
    body = "<dl><dt>Core time:</dt><dd>9 to 2.</dd><dt>A</dt><dt>B</dt><dd><p>C</p><p>D</p></dl>"
    assert texts(body) == ["Core time: 9 to 2.", "A, B: C", "D"]


def test_items_with_several_paragraphs_and_other_numbers() -> None:
    body = (
        '<ol type="a" start="3"><li><p>One</p><p>more</p></li><li value="7">Two<ul><li>in</ul></ol>'
        '<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"> open</li></ul>'
    )
    assert texts(body) == ["c. One\n  more\ng. Two\n  - in", "- [x] done\n- [ ] open"]


def test_tables_in_tables() -> None:
    inner = "<table><tr><td>late<td>6 %</tr><tr><td>night<td>18 %</tr></table>"
    head = "<tr><th>Site<th>Bonus</tr>"
    assert texts(f"<table>{head}<tr><td>Lyon<td>{inner}</tr></table>") == [
        "| Site | Bonus |\n| --- | --- |\n| Lyon | late 6 %; night 18 % |"
    ]
    assert texts(f"<table><tr><td>Menu<td><p>Pay</p>{inner}</tr></table>") == [
        "Menu", "Pay", "| late | 6 % |\n| --- | --- |\n| night | 18 % |",
    ]  # fmt: skip


def test_headings_that_name_rows_and_headings_of_sections() -> None:
    rows = "<tr><td><h3>Small</h3><td>9</tr><tr><td><h3>Large</h3><td>21</tr>"
    assert texts(f"<table>{rows}</table>") == ["| Small | 9 |\n| --- | --- |\n| Large | 21 |"]
    layout = "<table><tr><td><h2>Pay</h2><p>9 euros.</p><td>Menu</tr></table>"
    assert texts(layout) == ["Pay", "9 euros.", "Menu"]


def test_comments_of_google_docs_and_word() -> None:
    body = (
        '<p>Two days.<sup><a href="#cmnt1" id="cmnt_ref1">[a]</a></sup></p>'
        '<div><p><a href="#cmnt_ref1" id="cmnt1">[a]</a><span>ten?</span></p></div>'
        '<div style="mso-element:comment-list"><p>twelve?</p></div>'
    )
    assert texts(body) == ["Two days."]


def test_pictures_without_a_description_are_reported() -> None:
    document = parsed('<p>See <img src="a.png"> and <img alt="the plan"><img alt="">.</p>')
    assert document.text == "See and the plan."
    assert document.loss == Loss(pictures=1)


def test_marks_of_the_parser_cannot_be_forged() -> None:
    assert parsed("<p>Pay \ufdd0\ufdd1 5 \ufdd4\ufdd6 euros.</p>").text == "Pay 5 euros."
