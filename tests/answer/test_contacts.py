"""Whom to ask."""

from pathlib import Path

import pytest

from ombud.answer import read_contacts
from ombud.answer.contacts import Contacts, most_alike, topic_of
from ombud.errors import BadSetting
from ombud.types import Chunk, Contact, Hit

TOML = """
[[contact]]
topic = "pay"
name = "UK payroll"
country = "GB"
mail = "payroll@example.com"

[[contact]]
topic = "pay"
name = "Group payroll"

[[contact]]
topic = "general"
name = "HR France"
country = "FR"

[[contact]]
topic = "general"
name = "HR"
phone = "+44 1632 960000"
"""


@pytest.fixture
def contacts(tmp_path: Path) -> Contacts:
    path = tmp_path / "contacts.toml"
    path.write_text(TOML, encoding="utf-8")
    return read_contacts(path)


@pytest.mark.parametrize(
    ("topic", "country", "name"),
    [
        ("pay", "GB", "UK payroll"),
        ("pay", "FR", "Group payroll"),
        ("pay", None, "Group payroll"),
        ("leave", "FR", "HR France"),
        ("", "FR", "HR France"),
        ("leave", "GB", "HR"),
        ("leave", None, "HR"),
        ("", None, "HR"),
    ],
)
def test_the_nearest_contact_is_offered(
    contacts: Contacts, topic: str, country: str | None, name: str
) -> None:
    assert [c.name for c in contacts.find(topic, country)] == [name]


def test_several_contacts_of_one_topic_are_all_offered() -> None:
    two = [
        Contact(topic="pay", name="A", country="GB"),
        Contact(topic="pay", name="B", country="GB"),
    ]
    assert Contacts(two).find("pay", "GB") == tuple(two)


def test_an_empty_country_is_everywhere_and_a_code_may_be_small(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        '[[contact]]\nname = "A"\ntopic = "pay"\ncountry = ""\n[[contact]]\nname = "B"\ntopic '
        '= "pay"\n'
    )
    assert [c.name for c in read_contacts(path).find("pay", "GB")] == ["A", "B"]
    path.write_text('[[contact]]\nname = "A"\ntopic = "pay"\ncountry = "gb"\n')
    assert [c.name for c in read_contacts(path).find("pay", "GB")] == ["A"]


def test_no_contact_is_made_up(contacts: Contacts, tmp_path: Path) -> None:
    assert Contacts().find("pay", "GB") == ()
    assert read_contacts(tmp_path / "missing.toml").find("pay", "GB") == ()
    assert Contacts([Contact(name="Nobody's")]).find("", None) == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[[contact]\n", "cannot be read"),
        (b"[[contact]]\nname = \"Caf\xe9\"\n", "cannot be read"),
        (b"[[contact]]\ntopic = \"pay\"\n", "name: field required"),
        (b"[[contact]]\nname = \"A\"\nfax = \"1\"\n", "fax"),
        (b"[contact]\nname = \"A\"\n", "contact"),
        (b"contact = 5\n", "contact"),
        (b"contact = \"HR\"\n", "contact"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_list_of_contacts_is_named(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "contacts.toml"
    path.write_bytes(content)
    with pytest.raises(BadSetting, match=said) as wrong:
        read_contacts(path)
    assert str(path) in str(wrong.value)
    assert wrong.value.hint


def hit(topic: str) -> Hit:
    return Hit(
        chunk=Chunk(
            id="c", document_id="d", title="T", uri="u", text="t", start=0, end=1, topic=topic
        ),
        score=1,
    )


@pytest.mark.parametrize(
    ("topics", "topic"),
    [
        ([], ""),
        ([""], ""),
        (["", "pay"], "pay"),
        (["pay", "leave"], "pay"),
        (["pay", "leave", "leave"], "pay"),  # 100 against 50 + 33
        (["", "leave", "pay", "pay"], "pay"),  # 50 against 33 + 25
    ],
)
def test_the_topic_is_that_of_most_of_the_evidence(topics: list[str], topic: str) -> None:
    assert topic_of([hit(t) for t in topics]) == topic


@pytest.mark.parametrize(
    ("topics", "kept"),
    [
        ([], []),
        (["pay"], []),
        (["respect", "leave", "leave"], ["leave", "leave"]),
        (["respect", "leave", "pay"], []),
        (["pay", "pay", "pay"], ["pay", "pay", "pay"]),
    ],
)
def test_what_may_mean_anything_has_the_topic_of_two(topics: list[str], kept: list[str]) -> None:
    assert [h.chunk.topic for h in most_alike([hit(t) for t in topics])] == kept
