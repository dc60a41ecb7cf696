"""Storage format -> what a reader sees: as HTML, and as the blocks that the HTML parser makes of
it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.sources.confluence.storage import (
    DEEPEST,
    Include,
    RenderedPage,
    Surroundings,
    has_text,
    render,
)
from ombud.types import Document

PEOPLE = {"5b10": "Jane Doe"}
PLACES = {"Pay": "https://wiki.test/pay", "https://out.test": "https://out.test"}


def nothing(space: str, title: str) -> RenderedPage | None:
    return None


def address(kind: str, attributes: Mapping[str, str]) -> str:
    return PLACES.get(attributes.get("ri:content-title", attributes.get("href", "")), "")


def rendered(storage: str, include: Include = nothing) -> RenderedPage:
    return render(
        storage,
        Surroundings(lambda kind, value: PEOPLE.get(value, ""), include, address),
    )


def html(storage: str) -> str:
    return rendered(storage).html


def parsed(storage: str) -> Document:
    page = f"<html><head><title>T</title></head><body>{html(storage)}</body></html>"
    return parse(page.encode(), Document(id="0" * 16, source="hr", uri="hr/HR/1.html", title="T"))


def blocks(storage: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in parsed(storage).blocks]


def macro(name: str, inside: str = "", /, **parameters: str) -> str:
    said = "".join(
        f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items()
    )
    head = f'<ac:structured-macro ac:name="{name}" ac:schema-version="1">'
    return f"{head}{said}{inside}</ac:structured-macro>"


def rich(text: str) -> str:
    return f"<ac:rich-text-body>{text}</ac:rich-text-body>"


def plain(text: str) -> str:
    return f"<ac:plain-text-body><![CDATA[{text}]]></ac:plain-text-body>"


@pytest.mark.parametrize("name", ["info", "note", "warning", "tip", "panel", "expand"])
def test_panels_keep_title_and_text(name: str) -> None:
    panel = macro(name, rich("<p>Inside.</p><p>More.</p>"), title="Mind &amp; heed")
    storage = f"<p>Before.</p>{panel}<p>After.</p>"
    texts = ["Before.", "Mind & heed", "Inside.", "More.", "After."]
    assert blocks(storage) == [("text", text) for text in texts]


def test_a_macro_inside_a_paragraph_stays_where_it_stands() -> None:
    storage = f"<p>One {macro('info', rich('<p>two</p>'))} three</p>"
    assert [text for _, text in blocks(storage)] == ["One", "two", "three"]


def test_code_keeps_lines_and_signs() -> None:
    storage = macro(
        "code", plain("if a < b && c:\n    print(']')"), language="python", title="Example"
    )
    assert blocks(storage) == [("text", "Example"), ("code", "if a < b && c:\n    print(']')")]


def test_the_end_of_cdata_can_be_written_in_code() -> None:
    assert blocks(macro("code", plain("a[b[0]]]]><![CDATA[> 1"))) == [("code", "a[b[0]]> 1")]


def test_a_status_is_its_title() -> None:
    assert blocks(f"<p>State: {macro('status', colour='Green', title='IN FORCE')}.</p>") == [
        ("text", "State: IN FORCE.")
    ]


def test_tasks_show_whether_they_are_done() -> None:
    def task(number: int, status: str, body: str) -> str:
        head = f"<ac:task-id>{number}</ac:task-id><ac:task-uuid>x-{number}</ac:task-uuid>"
        state = f"<ac:task-status>{status}</ac:task-status>"
        return f"<ac:task>{head}{state}<ac:task-body>{body}</ac:task-body></ac:task>"

    tasks = task(1, "complete", "Sign") + task(2, "incomplete", "<span>Send</span>")
    storage = f"<ac:task-list>{tasks}</ac:task-list>"
    assert blocks(storage) == [("list", "- [x] Sign\n- [ ] Send")]


def test_a_date_is_its_day() -> None:
    assert blocks('<p>From <time datetime="2026-04-01" /> on.</p>') == [
        ("text", "From 2026-04-01 on.")
    ]


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ('<ac:link><ri:page ri:content-title="Sick &amp; leave" /></ac:link>', "Sick & leave"),
        (
            '<ac:link ac:anchor="a"><ri:page ri:content-title="T"/>'
            "<ac:link-body>see <em>it</em></ac:link-body></ac:link>",
            "see it",
        ),
        (
            '<ac:link><ri:page ri:content-title="T"/>'
            "<ac:plain-text-link-body><![CDATA[A <b> C]]></ac:plain-text-link-body></ac:link>",
            "A <b> C",
        ),
        ('<ac:link><ri:attachment ri:filename="form.pdf"/></ac:link>', "form.pdf"),
        (
            '<ac:link><ri:attachment ri:filename="form.pdf"/>'
            "<ac:link-body>the form</ac:link-body></ac:link>",
            "the form (form.pdf)",
        ),
        ('<ac:link><ri:user ri:account-id="5b10" /></ac:link>', "@Jane Doe"),
        ('<ac:link><ri:user ri:account-id="77:ab" /></ac:link>', "@77:ab"),
        ('<ac:link><ri:user ri:userkey="5b10" /></ac:link>', "@Jane Doe"),
        ('<ac:link ac:anchor="part-2" />', "part-2"),
        ('<a href="https://example.com">out</a>', "out"),
    ],
)
def test_links_are_their_words_or_what_they_lead_to(link: str, text: str) -> None:
    assert blocks(f"<p>Read {link} now.</p>") == [("text", f"Read {text} now.")]


def test_what_shows_no_words_leaves_none() -> None:
    silent = [
        macro("toc", maxLevel="3"),
        macro("children", sort="title"),
        macro("style", plain("p { color: red }")),
        '<ac:emoticon ac:name="smile" ac:emoji-fallback=":)" />',
        "<ac:placeholder>Write here</ac:placeholder>",
        '<ac:image><ri:attachment ri:filename="logo.png" /></ac:image>',
        "<!-- a remark -->",
    ]
    assert blocks(f"<p>Text{''.join(silent)}.</p>") == [("text", "Text.")]


def test_an_image_is_its_alternative_text() -> None:
    assert blocks('<p><ac:image ac:alt="Org chart"><ri:url ri:value="x"/></ac:image></p>') == [
        ("text", "Org chart")
    ]


def test_an_unknown_macro_keeps_its_body_and_no_settings() -> None:
    assert blocks(macro("vendor-box", rich("<p>Kept.</p>"), title="setting-7", width="400")) == [
        ("text", "Kept.")
    ]


def test_macros_lie_in_macros() -> None:
    inner = macro("expand", rich(macro("code", plain("x = 1")) + "<p>End.</p>"), title="More")
    assert blocks(macro("section", rich(macro("column", rich(inner))))) == [
        ("text", "More"),
        ("code", "x = 1"),
        ("text", "End."),
    ]


def test_tables_stay_tables() -> None:
    cell = f"<td>{macro('status', title='OPEN')}</td>"
    rows = f"<tr><th>A</th><th>B</th></tr><tr><td>1</td>{cell}</tr>"
    storage = f"<table><colgroup><col /><col /></colgroup><tbody>{rows}</tbody></table>"
    assert blocks(storage) == [("table", "| A | B |\n| --- | --- |\n| 1 | OPEN |")]


def test_an_empty_cell_that_closes_itself_keeps_its_column() -> None:
    storage = "<table><tbody><tr><td>A</td><td>B</td></tr><tr><td /><td>2</td></tr></tbody></table>"
    assert blocks(storage) == [("table", "| A | B |\n| --- | --- |\n|  | 2 |")]


def test_a_panel_of_the_new_editor_is_said_once() -> None:
    attribute = '<ac:adf-attribute key="panel-type">custom</ac:adf-attribute>'
    node = '<ac:adf-node type="panel">' + attribute + "{}</ac:adf-node>"
    content = node.format("<ac:adf-content><p>Said.</p></ac:adf-content>")
    fallback = "<ac:adf-fallback><div><p>Said.</p></div></ac:adf-fallback>"
    assert blocks(f"<ac:adf-extension>{content}{fallback}</ac:adf-extension>") == [
        ("text", "Said.")
    ]
    assert blocks(f"<ac:adf-extension>{node.format('')}{fallback}</ac:adf-extension>") == [
        ("text", "Said.")
    ]


def test_a_file_shown_in_the_page_is_named() -> None:
    named = '<ac:parameter ac:name="name"><ri:attachment ri:filename="a.docx"/></ac:parameter>'
    storage = macro("view-file", named)
    assert blocks(f"<p>{storage}</p>") == [("text", "a.docx")]


def included(name: str, title: str, more: str = "") -> str:
    link = f'<ac:link><ri:page ri:content-title="{title}"/></ac:link>'
    return macro(name, f'<ac:parameter ac:name="">{link}</ac:parameter>{more}')


def test_included_pages_and_excerpts_are_shown() -> None:
    source = macro("excerpt", rich("<p>First.</p>")) + macro(
        "excerpt", rich("<p>Second.</p>"), name="two"
    )

    def include(space: str, title: str) -> RenderedPage | None:
        return rendered(source) if (space, title) == ("", "Rules & more") else None

    def shown(storage: str) -> str:
        return rendered(storage, include).html

    assert "First." in shown(included("include", "Rules &amp; more"))
    assert "Second." in shown(included("include", "Rules &amp; more"))
    assert "Second." not in shown(included("excerpt-include", "Rules &amp; more"))
    named = '<ac:parameter ac:name="name">two</ac:parameter>'
    assert "Second." in shown(included("excerpt-include", "Rules &amp; more", named))
    assert shown(included("include", "Other")) == "<p>Included page: Other</p>"


def test_words_outside_of_html_are_never_markup() -> None:
    storage = '<p>a < b</p><script>alert(1)</script><p onclick="x()">c</p>'
    assert html(storage) == "<p>a &lt; b</p><p>c</p>"


def test_named_characters_are_read() -> None:
    assert blocks("<p>50&nbsp;&euro; &ndash; &lt;net&gt;</p>") == [("text", "50 € – <net>")]


def test_broken_markup_is_read_as_far_as_it_goes() -> None:
    assert [text for _, text in blocks("<p>One</b> <strong>two<p>three</p></table>four")] == [
        "One two",
        "three",
        "four",
    ]
    assert html("<p>x <![CDATA[never ends") == "<p>x never ends</p>"
    assert html("<p>x <!-- never ends") == "<p>x </p>"


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(SourceError, match="nests more than") as wrong:
        html("<div>" * (DEEPEST + 1))
    assert wrong.value.hint


def test_only_letters_and_digits_are_text() -> None:
    assert not has_text("<p>&nbsp;</p><div title='x'>–</div>")
    assert has_text("<p>5</p>")


@given(st.text(alphabet="<>/!-[]ac:riptd \"'=CDATA&;x\n", max_size=200))
def test_anything_can_be_read(storage: str) -> None:
    html(storage)
