"""The picture of a term: one well-formed file that needs nothing else, in which nothing lies over
anything."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from ombud.graph import Neighbourhood, draw_graph
from ombud.store import Edge
from ombud.types import Chunk, Triplet

SVG = "{http://www.w3.org/2000/svg}"


def around(
    *said: tuple[str, str, str], keys: tuple[str, ...] = ("term",), left_out: int = 0
) -> Neighbourhood:
    edges = []
    for number, (subject, predicate, thing) in enumerate(said):
        triplet = Triplet(
            subject=subject, predicate=predicate, object=thing, chunk_id=f"d-{number}"
        )
        edges.append(Edge(triplet, "d", subject.casefold(), thing.casefold()))
    chunks = {
        f"d-{n}": Chunk(
            id=f"d-{n}",
            document_id="d",
            title=f"Policy {n % 3}",
            uri="u",
            text="",
            start=0,
            end=0,
            page_from=n,
        )
        for n in range(len(said))
    }
    return Neighbourhood(keys, tuple(edges), chunks, left_out)


def parsed(found: Neighbourhood, term: str = "term") -> ElementTree.Element:
    return ElementTree.fromstring(draw_graph(term, found))


def boxes(picture: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """x0, y0, x1, y1 of the cards and of the term."""
    found = []
    for one in picture.iter(f"{SVG}rect"):
        if one.get("class") in ("card", "term"):
            x, y, width, height = (
                float(one.attrib[name]) for name in ("x", "y", "width", "height")
            )
            found.append((x, y, x + width, y + height))
    return found


def words(picture: ElementTree.Element) -> str:
    return " ".join("".join(one.itertext()) for one in picture.iter(f"{SVG}text"))


MANY = [(f"subject {n} " + "with many words " * (n % 5), "must keep", "term") for n in range(15)]
MANY += [
    ("term", "may have", f"object {n} " + "and a long condition of it " * (n % 7))
    for n in range(25)
]
MANY += [
    (f"far {n}", "refers to", f"subject {n % 9} " + "with many words " * (n % 9 % 5))
    for n in range(12)
]


@pytest.mark.parametrize(
    "said",
    [
        [],
        [("term", "is", "x")],
        [("x", "is", "term"), ("x", "may", "y"), ("y", "must", "term")],
        MANY,
        [("W" * 300, "M" * 70, "term")],
        [("term", "means", "年次有給休暇は二十日です" * 9)],
    ],
)
def test_nothing_lies_over_anything(said: list[tuple[str, str, str]]) -> None:
    picture = parsed(around(*said))
    found = boxes(picture)
    for a, b in combinations(found, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    assert all(x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height for x0, y0, x1, y1 in found)
    assert len(found) <= 41


def test_it_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    made = draw_graph("<script>", around(("<b onload=x>&\0", "must", "term"), keys=("term",)))
    for one in ElementTree.fromstring(made).iter():
        assert one.tag.removeprefix(SVG) in {
            "svg",
            "title",
            "desc",
            "style",
            "rect",
            "g",
            "text",
            "tspan",
            "path",
        }
        assert not [name for name in one.attrib if name.startswith("on") or "href" in name]
    assert not re.search(r"url\(|@import", made)
    assert made.count("http") == 1  # its own namespace


def test_it_is_said_to_who_cannot_see_it() -> None:
    picture = parsed(around(("employer", "must keep", "term")), "term")
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == "What the documents say of term"
    assert picture.findtext(f"{SVG}title") == "What the documents say of term"
    assert "employer must keep term" in (picture.findtext(f"{SVG}desc") or "")


def test_light_and_dark_are_in_it() -> None:
    style = parsed(around(("a", "is", "term"))).findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme:dark" in style


def test_what_it_says() -> None:
    said = (
        ("employer", "must not use", "term"),
        ("term", "means", "a thing"),
        ("term", "is short for", "long name"),
    )
    picture = parsed(around(*said, keys=("term", "long name")))
    text = words(picture)
    assert "employer" in text
    assert "must not use" in text
    assert "is short for long name" in text
    assert "Policy 0" in text
    assert "prohibited" in text
    assert "defined" in text
    assert "required" not in text  # the legend has what is there
    assert len(boxes(picture)) == 3


def test_the_same_statement_of_two_documents_stands_once() -> None:
    picture = parsed(
        around(("HR", "must sign", "term"), ("HR", "must sign", "Term"), keys=("term",))
    )
    assert words(picture).count("must sign") == 1
    assert "+1" in words(picture)


def test_what_is_not_drawn_is_counted() -> None:
    many = [("term", "has", f"thing {n}") for n in range(50)]
    assert "13 more statements are not drawn." in words(parsed(around(*many, left_out=3)))
    assert "not drawn" not in words(parsed(around(*many[:10])))


def test_a_long_side_goes_on_at_the_other() -> None:
    picture = parsed(around(*[("term", "has", f"thing {n}") for n in range(20)]))
    sides = {x0 for x0, _, _, _ in boxes(picture)}
    assert len(sides) == 3


def test_a_picture_stands_on_every_page_any_number_of_times() -> None:
    assert " id=" not in draw_graph("term", around(*MANY))
