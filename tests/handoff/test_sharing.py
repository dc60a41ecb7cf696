"""Files and links that advisors send, as employees see them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from copies import open_copy
from handoff.talks import add
from ombud.handoff import DeskEvent, keep_event, transcript
from ombud.handoff.desks.desk import DeskLink
from ombud.handoff.sharing import safe_url
from ombud.store import Store, new_conversation, read_events
from ombud.types import Event, HandedOver, Person, Said

FILE = DeskLink(name="payslip.pdf", url="https://files.example.org/payslip.pdf")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_copy(tmp_path)
    yield opened
    opened.close()


def received(store: Store, link: DeskLink, language: str = "en", text: str = "") -> list[Event]:
    """The events of a conversation in which Ana sent this."""
    talk = new_conversation(store, Person(id="ann", language=language))
    add(store, talk, HandedOver(ticket_id=f"ticket-{talk}", desk="webhook", reason="asked"))
    event = DeskEvent(kind="message", entry_id="1", name="Ana", text=text, links=(link,))
    with store.write() as db:
        keep_event(db, talk, f"ticket-{talk}", event)
    return read_events(store, talk)


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "Ana sent a file: payslip.pdf"),
        ("de", "Ana hat eine Datei geschickt: payslip.pdf"),
        ("fr", "Ana a envoyé un fichier : payslip.pdf"),
        ("ja", "Ana sent a file: payslip.pdf"),
    ],
)
def test_a_file_is_told_in_the_language_of_the_employee(
    store: Store, language: str, note: str
) -> None:
    events = received(store, FILE, language, text="As promised.")
    said = events[-1].what
    assert isinstance(said, Said)
    assert [(link.note, link.url) for link in said.links] == [(note, FILE.url)]
    assert f"As promised.\n{note} {FILE.url}" in transcript(store, events, "")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//a.example/x",
        "https://",
        "https://user:word@a.example/",
        "https://a.example/\u202egpj.exe",
        "https://a.example/\nx",
        "https://a.example/" + "x" * 3000,
        "mxc://a.example/b",
    ],
)
def test_an_address_that_is_not_safe_to_open_is_left_out(store: Store, url: str) -> None:
    assert safe_url(url) == ""
    said = received(store, FILE.model_copy(update={"url": url}))[-1].what
    assert isinstance(said, Said)
    assert said.links[0].url == ""
    assert "payslip.pdf" in said.links[0].note


def test_a_name_cannot_hide_how_it_ends(store: Store) -> None:
    said = received(store, DeskLink(name="fdp.\u202egpj\n" + "x" * 500))[-1].what
    assert isinstance(said, Said)
    assert "\u202e" not in said.links[0].note
    assert len(said.links[0].note) < 250


def test_what_has_neither_name_nor_address_is_told_as_well(store: Store) -> None:
    said = received(store, DeskLink(kind="link"))[-1].what
    assert isinstance(said, Said)
    assert said.links[0].note.startswith("Ana sent something")
