"""Which countries a text names, and the words that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.text.names.countries import _listed, named_countries


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("How much leave is there in France?", ("FR",)),
        ("what about the French office", ("FR",)),
        ("uk holidays", ("GB",)),
        ("the U.K. and the U.S. rules", ("GB", "US")),
        ("Northern Ireland and Ireland", ("GB", "IE")),
        ("England or Scotland?", ("GB",)),
        ("Wie viel Urlaub gibt es in Deutschland?", ("DE",)),
        ("im französischen Büro", ("FR",)),
        ("Combien de congés en Allemagne ?", ("DE",)),
        ("mes collègues allemands", ("DE",)),
        ("le bureau français", ("FR",)),
        ("¿Y en España?", ("ES",)),
        ("la oficina alemana de EE.UU.", ("DE", "US")),
        ("aux États-Unis", ("US",)),
        ("in den USA oder in Osterreich", ("US", "AT")),
        ("in the us", ("US",)),
        ("the us office", ("US",)),
        ("US policy on PTO", ("US",)),
        ("the French get more than we do", ("FR",)),
        ("my German colleagues", ("DE",)),
        ("Spanish bank holidays", ("ES",)),
        ("UK-based staff", ("GB",)),
        ("can I work from Turkey", ("TR",)),
        ("in china", ("CN",)),
        ("the Polish office", ("PL",)),
        ("work in Jordan for a month", ("JO",)),
        ("from Germany to France and back to Germany", ("DE", "FR")),
    ],
)
def test_countries_are_found(text: str, codes: tuple[str, ...]) -> None:
    assert named_countries(text) == codes


@pytest.mark.parametrize(
    "text",
    [
        "Can you tell us more?",
        "us employees never hear anything",
        "TELL US ABOUT IT",
        "Turkey dinner for the team",
        "Polish the report",
        "polish my shoes in the office",
        "The china cups broke",
        "Jordan said so",
        "Talk to Jordan about it",
        "Chad's laptop",
        "in Jordan's team",
        "Georgia is my manager",
        "Holland approved it",
        "I speak Spanish in the office",
        "Do you pay for a French course?",
        "I am German, working in London",
        "the English version",
        "a danish pastry at breakfast",
        "in New Mexico or New Jersey",
        "Made in China",
        "10 GB of storage",
        "suede shoes on an island",
        "my manager Frances",
        "",
    ],
)
def test_words_and_people_are_not_countries(text: str) -> None:
    assert named_countries(text) == ()


def test_only_known_countries_are_named() -> None:
    assert named_countries("in France, Spain and Germany", {"DE", "FR"}) == ("FR", "DE")
    assert named_countries("in France", ()) == ()


def test_sixty_countries_and_more_are_known_by_their_english_names() -> None:
    listed = _listed()["country"]
    assert len(listed) >= 60
    for code, names in listed.items():
        assert code.isupper()
        for name in names.get("names", ())[:1]:
            assert named_countries(f"the rules in {name}") == (code,), name


@given(st.text(max_size=200))
def test_no_text_is_an_error(text: str) -> None:
    assert len(set(named_countries(text))) == len(named_countries(text))
