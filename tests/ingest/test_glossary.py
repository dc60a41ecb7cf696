"""Abbreviations that documents explain: from the sync into a search, and gone with their
document."""

from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.index import open_engine
from ombud.ingest import Generation, rebuild_index
from ombud.retrieve import read_glossary
from ombud.store import Explained, list_abbreviations, save_abbreviations

BONUS = "# Pay\n\nThe Annual Cash Bonus (ACB) is paid in June.\n"


def spelt(shelf: Shelf, text: str, country: str | None = None) -> list[str]:
    explained = list_abbreviations(shelf.workspace.store)
    return read_glossary(shelf.home / "glossary.csv", explained).expansions(text, country)


def test_what_a_document_explains_is_spelt_out_as_long_as_it_is_there(shelf: Shelf) -> None:
    shelf.write("pay.md", BONUS)
    shelf.sync()
    assert spelt(shelf, "When is the ACB paid?") == ["Annual Cash Bonus"]
    shelf.write("pay.md", BONUS.replace("Annual Cash Bonus", "Additional Cash Benefit"))
    shelf.sync()
    assert spelt(shelf, "When is the ACB paid?") == ["Additional Cash Benefit"]
    shelf.remove("pay.md")
    shelf.sync(allow_deletes=True)
    assert spelt(shelf, "When is the ACB paid?") == []


def test_a_document_for_some_explains_nothing_to_all_from_the_moment_it_is_for_some(
    shelf: Shelf,
) -> None:
    shelf.write("pay.md", BONUS)
    shelf.sync()
    shelf.write("pay.md", BONUS, audience="{roles: [manager]}")
    shelf.sync()
    assert spelt(shelf, "ACB") == []
    shelf.write("pay.md", BONUS, status="draft")
    shelf.sync()
    assert spelt(shelf, "ACB") == []
    shelf.write("pay.md", BONUS)
    shelf.sync()
    assert spelt(shelf, "ACB") == ["Annual Cash Bonus"]


def test_it_counts_in_the_document_s_countries(shelf: Shelf) -> None:
    shelf.write(
        "de.md",
        "# BEM\n\nBetriebliches Eingliederungsmanagement (BEM) begins after six weeks.\n",
        country="DE",
    )
    shelf.sync()
    assert spelt(shelf, "BEM?", "DE") == ["Betriebliches Eingliederungsmanagement"]
    assert spelt(shelf, "BEM?", "GB") == spelt(shelf, "BEM?") == []


def test_the_own_glossary_wins(shelf: Shelf) -> None:
    shelf.write("pay.md", BONUS)
    shelf.sync()
    (shelf.home / "glossary.csv").write_text(
        "abbreviation,expansion,country\nacb,bonus of the year,\n", "utf-8"
    )
    assert spelt(shelf, "ACB") == ["bonus of the year"]


def test_a_rebuild_reads_documents_from_before(shelf: Shelf) -> None:
    shelf.write("pay.md", BONUS)
    shelf.sync()
    save_abbreviations(shelf.workspace.store, shelf.document("pay.md").id, ())
    assert spelt(shelf, "ACB") == []
    engine = open_engine(f"lance://{shelf.home / 'other'}", fingerprint="", dimension=0)
    rebuild_index(shelf.workspace.ingest, lambda _: Generation(engine, lambda: None))
    assert spelt(shelf, "ACB") == ["Annual Cash Bonus"]


def test_nothing_is_remembered_of_a_document_that_is_not_there(shelf: Shelf) -> None:
    save_abbreviations(shelf.workspace.store, "0123456789abcdef", [("ACB", "Annual Cash Bonus")])
    assert list_abbreviations(shelf.workspace.store) == []


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    return tmp_path / "missing.csv"


def test_where_documents_disagree_the_more_frequent_counts_and_in_a_tie_none(nowhere: Path) -> None:
    plan, claim = (
        ("PIP", "Performance Improvement Plan", ()),
        ("PIP", "personal injury protection", ()),
    )
    tie = [Explained(*plan), Explained(*claim)]
    assert read_glossary(nowhere, tie).expansions("PIP", None) == []
    assert read_glossary(
        nowhere, [*tie, Explained("PIP", "performance improvement plans", ())]
    ).expansions("PIP", None) == ["Performance Improvement Plan"]


def test_a_word_is_not_taken_for_an_abbreviation(nowhere: Path) -> None:
    glossary = read_glossary(
        nowhere, [Explained("CHIP", "Children's Health Insurance Program", ())]
    )
    assert glossary.expansions("does the company chip in?", "US") == []
    assert glossary.expansions("what is CHIP?", "US") == ["Children's Health Insurance Program"]
