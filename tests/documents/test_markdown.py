"""Markdown and HTML -> blocks."""

import pytest

from ombud.documents import parse
from ombud.types import Block, Document


def blocks(source: str, ending: str = "md") -> list[tuple[str, str]]:
    return [(b.kind, b.text) for b in parsed(source, ending).blocks]


def parsed(source: str, ending: str = "md") -> Document:
    return parse(
        source.encode(), Document(id="x", source="s", uri=f"hr/annual-leave.{ending}", title="")
    )


def test_headings_keep_their_levels() -> None:
    found = parsed("# Leave\n\nText.\n\n### Carry over {#carry}\n\nMore\n").blocks
    assert found[0] == Block(kind="heading", text="Leave", level=1)
    assert found[2] == Block(kind="heading", text="Carry over", level=3)


def test_lists_keep_nesting_and_numbers() -> None:
    source = (
        "You need:\n\n3. a *form*\n   - signed\n   - [dated](https://x.example)\n4. a `receipt`\n"
    )
    assert blocks(source) == [
        ("text", "You need:"),
        ("list", "3. a form\n  - signed\n  - dated\n4. a receipt"),
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1. a\n1. b\n1. c\n", "1. a\n2. b\n3. c"),
        ("3. a\n1. b\n4. c\n", "3. a\n1. b\n4. c"),
    ],
)
def test_numbers_are_those_that_are_written_or_counted(source: str, text: str) -> None:
    assert blocks(source) == [("list", text)]


def test_pipe_tables_stay_tables() -> None:
    assert blocks("| Grade | Days |\n|--|:-:|\n| A | **25** |\n") == [
        ("table", "| Grade | Days |\n| --- | --- |\n| A | 25 |")
    ]


def test_code_stays_as_it_is() -> None:
    assert blocks("```\n{% raw %}\n  x\n```\n") == [("code", "{% raw %}\n  x")]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Ask {% include 'x.html' %}your manager.", "Ask your manager."),
        ("Ask {{< icon >}}your manager.", "Ask your manager."),
        ('See [the guide]({% page "/travel/" %}) first.', "See the guide first."),
        ('Write to {% slack_channel "travel" %}.', "Write to #travel."),
        ("{% comment %}secret{% endcomment %}Ask your manager.", "Ask your manager."),
        ("See [the guide]({{ site.url }}/x) first.", "See the guide first."),
        ("Staff get {{ days | round }} days.", "Staff get {{ days | round }} days."),
        ("Staff get {{site.days}} days.", "Staff get {{site.days}} days."),
        ('At least {{< param "min" >}} days.', 'At least {{< param "min" >}} days.'),
        ("Use `{{ name }}` and `{% x %}`.", "Use {{ name }} and {% x %}."),
        ("Dear {{Name of employee}}, welcome.", "Dear [Name of employee], welcome."),
        ("Ask <b>your</b><br>manager.<!-- or not -->", "Ask your manager."),
        ("An image ![of a form](a.png) here.", "An image of a form here."),
    ],
)
def test_what_is_not_text_goes_and_the_text_around_it_stays(source: str, text: str) -> None:
    assert blocks(source) == [("text", text)]


def test_a_shortcode_keeps_its_summary() -> None:
    source = '{{% details summary="Who approves" %}}\n\nYour manager.\n\n{{% /details %}}\n'
    assert blocks(source) == [("text", "Who approves"), ("text", "Your manager.")]


def test_an_html_table_in_markdown_survives_blank_lines() -> None:
    source = (
        "<table>\n\n<tr><th>Grade</th>\n\n    <th>Days</th></tr>\n\n"
        "<tr><td>A</td><td>25</td></tr>\n</table>\n\nAfter."
    )
    assert blocks(source) == [
        ("table", "| Grade | Days |\n| --- | --- |\n| A | 25 |"),
        ("text", "After."),
    ]


def test_text_is_the_blocks_joined_by_blank_lines() -> None:
    document = parsed("# A\n\ncafe\u0301\n\n- x\n")
    assert document.text == "A\n\ncaf\u00e9\n\n- x"


def test_html_leaves_the_furniture_out() -> None:
    page = (
        "<html><head><title>Intranet</title><style>p{}</style></head>"
        "<body><header>Logo</header><nav>Home</nav>"
        "<main><h1>Leave</h1><p>Take <b>25</b> days.<script>x()</script></p></main>"
        "<footer>2024</footer></body></html>"
    )
    document = parsed(page, "html")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "Leave"),
        ("text", "Take 25 days."),
    ]


def test_html_without_main_is_read_whole() -> None:
    page = (
        "<body><nav>Home</nav><div>Loose <i>words</i><p>One</p>after</div>"
        "<ul><li>x<ol start=3><li>y</ol><li>z</ul>"
    )
    assert blocks(page, "htm") == [
        ("text", "Loose words"),
        ("text", "One"),
        ("text", "after"),
        ("list", "- x\n  3. y\n- z"),
    ]


def test_spanning_cells_are_written_into_each_column_and_row() -> None:
    page = "<table><tr><th>A<th>B<th>C<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>"
    assert blocks(page, "html") == [
        ("table", "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 2 |\n| 1 | 3 | 4 |")
    ]


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert blocks("<table><tr><td>a|b<td>c</table>", "html") == [
        ("table", "| a\\|b | c |\n| --- | --- |")
    ]


@pytest.mark.parametrize("tag", ["div", "b", "span", "section"])
def test_a_hundred_thousand_nested_tags(tag: str) -> None:
    page = f"<body>{f'<{tag}>' * 100_000}deep{f'</{tag}>' * 100_000}</body>"
    assert blocks(page, "html") == [("text", "deep")]


def test_a_cell_that_says_it_spans_everything() -> None:
    page = "<table><tr><td colspan=1000000000 rowspan=100000>x<td>y<tr><td>z</table>"
    assert "x" in parsed(page, "html").text


@pytest.mark.parametrize(
    ("source", "ending", "title"),
    [
        ("# Leave\n\nText", "md", "Leave"),
        ("Text\n\n## Leave\n\nMore", "md", "Leave"),
        ("## Purpose\n\nText\n\n## Scope\n\nMore", "md", "Annual leave"),
        ("Text", "md", "Annual leave"),
        ("<title>Leave at work</title><p>Text", "html", "Leave at work"),
        ("Text", "txt", "Annual leave"),
    ],
)
def test_where_the_title_comes_from(source: str, ending: str, title: str) -> None:
    assert parsed(source, ending).title == title


def test_plain_text_has_paragraphs_and_lists() -> None:
    source = "First line\ngoes on.\r\n\r\n- one\r\n- two\n"
    assert blocks(source, "txt") == [("text", "First line goes on."), ("list", "- one\n- two")]


def test_mdx_is_markdown_without_its_code() -> None:
    source = (
        b"---\ntitle: Leave\n---\nimport Callout from './callout'\nimport {\n  Tabs,\n} from 'tabs'\n\n"
        b"# Leave\n\n{/* not yet agreed: 30 days */}\nYou get 25 days.\n\n"
        b"<Callout>Ask your manager.</Callout>\n\n```js\nimport x from 'y'\n```\n\nexport const days = 30\n"
    )
    document = parse(source, Document(id="x", source="s", uri="a.mdx", title=""))
    assert document.text == ("Leave\n\nYou get 25 days.\n\nAsk your manager.\n\nimport x from 'y'")


@pytest.mark.parametrize(
    "source",
    [
        '=== "Kenya"\n\n    26 days.\n\n    - more\n\n=== "Peru"\n\n    30 days.\n\nAsk early.\n',
        '<Tabs>\n<TabItem value="k" label="Kenya">\n26 days.\n\n- more\n</TabItem>\n'
        '<TabItem value="Peru">30 days.</TabItem>\n</Tabs>\n\nAsk early.\n',
        '{{< tabs >}}\n{{% tab "Kenya" %}}\n26 days.\n\n- more\n{{% /tab %}}\n'
        '{{% tab name="Peru" %}}\n30 days.\n{{% /tab %}}\n{{< /tabs >}}\nAsk early.\n',
        '{% tabs %}\n{% tab title="Kenya" %}\n26 days.\n\n- more\n{% endtab %}\n\n'
        '{% tab title="Peru" %}\n30 days.\n{% endtab %}\n{% endtabs %}\n\nAsk early.\n',
    ],
    ids=["mkdocs", "mdx", "hugo", "gitbook"],
)
def test_tabs_become_headings_and_what_follows_is_for_all(source: str) -> None:
    assert [(b.text, b.level) for b in parsed(f"# Leave\n\n{source}").blocks] == [
        ("Leave", 1),
        ("Kenya", 2),
        ("26 days.", 0),
        ("- more", 0),
        ("Peru", 2),
        ("30 days.", 0),
        ("Leave", 1),
        ("Ask early.", 0),
    ]


@pytest.mark.parametrize(
    "source",
    [
        '!!! note "Temps"\n    10 percent.\n',
        '???+ warning "Temps"\n\n    10 percent.\n',
        "> [!NOTE] Temps\n>\n> 10 percent.\n",
        ":::note Temps\n\n10 percent.\n\n:::\n",
    ],
)
def test_admonitions_keep_their_titles(source: str) -> None:
    assert blocks(source) == [("text", "Temps"), ("text", "10 percent.")]


def test_a_line_below_a_heading_is_no_tab() -> None:
    assert parsed("Leave\n===\n\nText\n").blocks[0] == Block(kind="heading", text="Leave", level=1)


def test_footnotes_lead_to_their_notes() -> None:
    document = parsed(
        "The week has 39 hours[^w] in four[^1] days, says `[^w]`; not [^x].\n\n"
        "[^w]: 37 in *Kenya*.\n[^1]: Five for temps.\n"
    )
    assert document.text == (
        "The week has 39 hours [w] in four [1] days, says [^w]; not [^x].\n\n"
        "[w] 37 in Kenya.\n\n[1] Five for temps."
    )
    assert [a.text for a in document.annotations] == ["37 in Kenya.", "Five for temps."]


def test_struck_hidden_and_raised_words_and_links() -> None:
    document = parsed(
        "Pay ~~5~~ <del>6</del> 7<sup>1</sup> euros for 9 m<sup>2</sup>, see "
        "[the form](https://hr.example/form).\n\n<div hidden>\n\n*secret*\n\n</div>\n\n"
        "<aside>\n💡 Ask\n\nearly.\n</aside>\n\n<del>\n\nAsk late.\n\n</del>\n"
    )
    assert document.text == "Pay 7 [1] euros for 9 m², see the form.\n\n💡 Ask\n\nearly."
    assert (document.loss.struck, document.loss.hidden) == (2, 1)
    assert [a.url for a in document.annotations if a.kind == "link"] == ["https://hr.example/form"]


def test_comments_may_hold_code() -> None:
    assert blocks("Ask<!-- see `x`\n\nor `y` --> me.\n\n{% comment %}`a`{% endcomment %}") == [
        ("text", "Ask me.")
    ]
    assert blocks("Write `{% raw %}` and {% raw %}{{ x }}{% endraw %}.") == [
        ("text", "Write {% raw %} and {{ x }}.")
    ]


def test_pictures_without_a_description_are_reported() -> None:
    assert parsed("See ![](a.png) and ![the plan](b.png).").loss.pictures == 1


def test_links_that_are_not_allowed_are_words() -> None:
    document = parsed(
        "Use [this](javascript:x()) or ![a plan](file:///x.png), [that](data:text/html,x)."
    )
    assert document.text == "Use this or a plan, that."
    assert document.annotations == ()
