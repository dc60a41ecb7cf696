"""Front matter: values, and one clear error for each way it can be wrong."""

from datetime import date

import pytest

from ombud.documents import front_matter, parse
from ombud.errors import SourceError
from ombud.types import Document


def test_values_keep_their_types() -> None:
    data = (
        b"---\ntitle: Leave\ncountry: [GB, IE]\neffective_from: 2024-03-01\n"
        b"mandatory: true\n---\n# Leave\n"
    )
    assert front_matter(data, "gb/leave.md") == {
        "title": "Leave",
        "country": ["GB", "IE"],
        "effective_from": date(2024, 3, 1),
        "mandatory": True,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"# Leave\n",
        b"",
        b"---\n",
        b"---\nA paragraph between rules\n---\n",
        b"Text\n---\na: 1\n---\n",
    ],
)
def test_a_file_without_it_has_none(data: bytes) -> None:
    assert front_matter(data, "leave.md") == {}


def test_only_markdown_has_it() -> None:
    assert front_matter(b"---\ntitle: x\n---\n", "leave.txt") == {}


def test_windows_line_ends_a_byte_order_mark_and_trailing_tabs() -> None:
    assert front_matter(
        b"\xef\xbb\xbf---\r\nweight: 8\t\r\ntitle: Leave\r\n---\r\nText", "a.md"
    ) == {
        "weight": 8,
        "title": "Leave",
    }


def test_broken_yaml_names_its_line() -> None:
    with pytest.raises(SourceError, match="line 3") as wrong:
        front_matter(b"---\ntitle: Leave\nowner: a: b\nx: y\n---\n", "a.md")
    assert wrong.value.hint


def test_anchors_are_refused() -> None:
    with pytest.raises(SourceError, match="anchor or alias in line 2"):
        front_matter(b"---\na: &x [1, 2]\nb: *x\n---\n", "a.md")


def test_it_may_not_be_a_book() -> None:
    with pytest.raises(SourceError, match="16 kB"):
        front_matter(b"---\na: " + b"x" * 20_000 + b"\n---\n", "a.md")


@pytest.mark.parametrize("values", [b"d: 2024-13-45", b"a: " + b"[" * 5000])
def test_values_that_cannot_be(values: bytes) -> None:
    with pytest.raises(SourceError, match="front matter"):
        front_matter(b"---\n" + values + b"\n---\n", "a.md")


HEADS = {
    "yaml": "---\n{}: {}\n---\n",
    "toml": "+++\n{} = {}\n+++\n",
    "json": '{{\n "{}": {}\n}}\n',
}


@pytest.mark.parametrize("before", ["", "\n\n", "\ufeff", "\ufeff\r\n \n"])
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_it_is_no_part_of_the_text(head: str, before: str) -> None:
    facts = Document(id="x", source="s", uri="a.md", title="")
    head = head.format("title", '"Leave"')
    page = f"{before}{head}Take a rest.\n"
    assert parse(page.encode(), facts).text == "Take a rest."
    assert front_matter(page.encode(), "a.md") == {"title": "Leave"}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draft", "true"),
        ("Draft", '"yes"'),
        ("published", "false"),
        ("status", '"Draft"'),
        ("published", "0"),
    ],
)
def test_what_is_not_published_is_a_draft(head: str, key: str, value: str) -> None:
    page = f"{head.format(key, value)}Take a rest.\n".encode()
    assert front_matter(page, "a.mdx")["status"] == "draft"


@pytest.mark.parametrize("key", ["draft: false", "published: true", "published: 2024-05-01"])
def test_what_is_published_is_no_draft(key: str) -> None:
    assert "status" not in front_matter(f"---\n{key}\n---\nText".encode(), "a.md")


@pytest.mark.parametrize(
    "head",
    [
        "---\nexpiryDate: 2022-05-01\n---\n",
        "---\nvalid_until: '2022-05-01'\n---\n",
        "---\nexpires: 2022-05-01T08:00:00Z\n---\n",
        "+++\nexpiryDate = 2022-05-01T00:00:00+02:00\n+++\n",
        '{"expiration-date": "2022-05-01"}\n',
    ],
)
def test_what_expires_has_a_last_day(head: str) -> None:
    assert front_matter(f"{head}Text".encode(), "a.md")["effective_to"] == date(2022, 5, 1)


def test_a_page_that_never_expires_and_one_with_a_day_that_is_none() -> None:
    assert "effective_to" not in front_matter(b"---\nexpires: never\n---\n", "a.md")
    with pytest.raises(SourceError, match="`expires`"):
        front_matter(b"---\nexpires: 31.02.2022\n---\n", "a.md")


@pytest.mark.parametrize(
    "head",
    ["+++\na = \n+++\n", "+++\na = " + "[" * 9000 + "\n+++\n", '{"a": }', '{"a": ' + "[" * 9000],
)
def test_a_broken_head_is_refused(head: str) -> None:
    with pytest.raises(SourceError, match="front matter"):
        front_matter(f"{head}\nText".encode(), "a.md")
