"""Metadata: which layer wins, what a change of it costs, who then sees the document."""

from datetime import date
from typing import Any

import pytest

from ingest.shelf import Shelf, counts
from ombud.app import library
from ombud.ingest import sync_sources
from ombud.sources import FolderSource

LEAVE = "# Annual leave\n\nEmployees have 26 days of paid annual leave.\n"
MANAGER = {"roles": ("manager",)}


@pytest.mark.parametrize(
    ("front", "glob", "defaults", "pattern", "fact", "winner"),
    [
        ("FR", "DE", "US", "IT", "GB", ("FR",)),
        (None, "DE", "US", "IT", "GB", ("DE",)),
        (None, None, "US", "IT", "GB", ("US",)),
        (None, None, None, "IT", "GB", ("IT",)),
        (None, None, None, None, "GB", ("GB",)),
        (None, None, None, None, None, ()),
        ("FR", None, None, None, "GB", ("FR",)),
        ("[]", "DE", "US", "IT", "GB", ()),
        ("[FR, BE]", None, None, None, "GB", ("BE", "FR")),
        ("null", "DE", None, None, None, ("DE",)),
    ],
)
def test_the_strongest_layer_wins(
    shelf: Shelf,
    front: str | None,
    glob: str | None,
    defaults: str | None,
    pattern: str | None,
    fact: str | None,
    winner: tuple[str, ...],
) -> None:
    shelf.write("x/leave.md", LEAVE, **({"country": front} if front else {}))
    lines = [f"defaults: {{country: {defaults}}}" if defaults else ""]
    lines += [f"files: {{'*.md': {{country: {glob}}}}}" if glob else ""]
    shelf.write("x/ombud.yaml", "\n".join(lines))
    options: dict[str, Any] = {"patterns": {"x/**": {"country": pattern}} if pattern else {}}
    shelf.sync(facts={"country": fact or ""}, **options)
    assert shelf.document("x/leave.md").countries == winner
    assert {c.countries for c in shelf.chunks()} == {winner}


def test_front_matter_is_of_markdown_only_and_unknown_keys_are_ignored(shelf: Shelf) -> None:
    shelf.write(
        "leave.md",
        LEAVE,
        layout="page",
        permalink="/x",
        title="Leave",
        mandatory="true",
        owner="HR",
    )
    shelf.write("leave.txt", "---\ncountry: GB\n---\nLeave is granted.\n")
    assert counts(shelf.sync()) == {"added": 2}
    document = shelf.document("leave.md")
    assert (document.title, document.mandatory, document.owner) == ("Leave", True, "HR")
    assert "permalink" not in document.text
    assert shelf.document("leave.txt").countries == ()


def test_a_changed_country_moves_the_rows_without_cutting_anew(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.sync(facts={"country": "GB"})
    ids = [c.id for c in shelf.chunks()]
    assert shelf.found("annual leave", "GB") == {"leave.md"}
    assert counts(shelf.sync(facts={"country": "FR"})) == {"updated": 1}
    assert [c.id for c in shelf.chunks()] == ids
    assert shelf.found("annual leave", "GB") == set()
    assert shelf.found("annual leave", "FR") == {"leave.md"}
    assert counts(shelf.sync(facts={"country": "FR"})) == {"unchanged": 1}


def test_a_changed_audience_hides_at_once(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    assert shelf.found("annual leave") == {"leave.md"}
    shelf.write("ombud.yaml", "defaults: {audience: {roles: [manager]}}")
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.found("annual leave") == set()
    assert shelf.found("annual leave", roles=("manager",)) == {"leave.md"}
    shelf.remove("ombud.yaml")
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.found("annual leave") == {"leave.md"}


def test_a_draft_is_not_shown_until_it_is_published(shelf: Shelf) -> None:
    shelf.write("ombud.yaml", "defaults: {status: draft}")
    shelf.write("leave.md", LEAVE)
    shelf.sync()
    assert shelf.found("annual leave") == set()
    shelf.write("ombud.yaml", "defaults: {status: published}")
    shelf.sync()
    assert shelf.found("annual leave") == {"leave.md"}


def test_a_changed_title_is_indexed_anew(shelf: Shelf) -> None:
    shelf.write("leave.md", "The days off are granted by the manager.\n")
    shelf.sync()
    assert shelf.found("marsupials") == set()
    shelf.write("ombud.yaml", "files: {leave.md: {title: Marsupials}}")
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.document("leave.md").title == "Marsupials"
    assert shelf.found("marsupials") == {"leave.md"}
    assert {c.title for c in shelf.chunks()} == {"Marsupials"}
    shelf.remove("ombud.yaml")
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.document("leave.md").title == "Leave"


def test_a_title_and_language_that_parsing_found_stay_when_facts_change(shelf: Shelf) -> None:
    shelf.write(
        "conges.md",
        "# Congés annuels\n\nLes salariés ont droit à trente jours de congés payés par an.\n",
    )
    shelf.sync()
    shelf.sync(facts={"country": "FR"})
    document = shelf.document("conges.md")
    assert (document.title, document.language, document.countries) == (
        "Congés annuels",
        "fr",
        ("FR",),
    )
    assert {c.title for c in shelf.chunks()} == {"Congés annuels"}


def test_other_chunk_settings_cut_everything_anew(shelf: Shelf) -> None:
    text = "# Leave\n\n" + " ".join(
        f"Rule number {n} of the long handbook is kept by everyone." for n in range(40)
    )
    shelf.write("leave.md", text)
    shelf.sync()
    few = len(shelf.chunks())
    parts = shelf.workspace.ingest
    index = parts.settings.index.model_copy(update={"chunk_tokens": 64})
    finer = parts._replace(settings=parts.settings.model_copy(update={"index": index}))
    (report,) = sync_sources(finer, [FolderSource("docs", shelf.folder)])
    assert counts(report) == {"updated": 1}
    assert len(shelf.chunks()) > few


# Who sees what ------------------------------------------------------------------------------------


def test_a_document_of_one_country_is_never_shown_in_another(shelf: Shelf) -> None:
    for code in ("GB", "FR", "DE"):
        shelf.write(f"{code}.md", LEAVE.replace("26", code), country=code)
    shelf.write("both.md", LEAVE, country="[GB, FR]")
    shelf.write("all.md", LEAVE)
    shelf.sync()
    assert shelf.found("annual leave", "GB") == {"GB.md", "both.md", "all.md"}
    assert shelf.found("annual leave", "FR") == {"FR.md", "both.md", "all.md"}
    assert shelf.found("annual leave", "DE") == {"DE.md", "all.md"}
    assert shelf.found("annual leave", "ES") == {"all.md"}
    assert shelf.found("annual leave") == {"all.md"}


def test_between_keys_all_inside_a_key_any(shelf: Shelf) -> None:
    shelf.write(
        "pay.md",
        "# Pay\n\nThe pay band is secret.\n",
        audience="{roles: [manager, hr], grades: [G5]}",
    )
    shelf.sync()
    assert shelf.found("pay band", roles=("hr",), grade="G5") == {"pay.md"}
    assert shelf.found("pay band", roles=("hr",)) == set()
    assert shelf.found("pay band", roles=("hr",), grade="G4") == set()
    assert shelf.found("pay band", grade="G5") == set()


# Dates --------------------------------------------------------------------------------------------

OLD, NEW = (
    "# Leave rules\n\nYou have 25 days of leave.\n",
    "# Leave rules\n\nYou have 28 days of leave.\n",
)


def versions(shelf: Shelf) -> None:
    shelf.write("old.md", OLD, effective_from="2020-01-01")
    shelf.write("new.md", NEW, effective_from="2025-07-01", supersedes="docs/old.md")
    shelf.sync()


def in_force(shelf: Shelf, day: str) -> set[str]:
    return shelf.found("days of leave", as_of=date.fromisoformat(day))


def test_both_ends_are_inclusive(shelf: Shelf) -> None:
    shelf.write("a.md", OLD, effective_from="2025-01-01", effective_to="2025-12-31")
    shelf.sync()
    days = ("2024-12-31", "2025-01-01", "2025-12-31", "2026-01-01")
    assert [bool(in_force(shelf, day)) for day in days] == [False, True, True, False]


def test_a_successor_ends_its_predecessor_the_day_before_it_begins(shelf: Shelf) -> None:
    versions(shelf)
    assert shelf.document("old.md").effective_to == date(2025, 6, 30)
    assert in_force(shelf, "2025-06-30") == {"old.md"}
    assert in_force(shelf, "2025-07-01") == {"new.md"}


def test_without_its_successor_the_predecessor_is_in_force_again(shelf: Shelf) -> None:
    versions(shelf)
    shelf.remove("new.md")
    shelf.sync()
    assert shelf.document("old.md").effective_to is None
    assert in_force(shelf, "2025-07-01") == {"old.md"}


def test_also_when_the_successor_is_deleted_by_hand(shelf: Shelf) -> None:
    versions(shelf)
    library.delete_document(shelf.workspace, "docs/new.md")
    assert in_force(shelf, "2025-07-01") == {"old.md"}


def test_a_successor_that_comes_later_or_begins_another_day(shelf: Shelf) -> None:
    shelf.write("old.md", OLD)
    shelf.sync()
    for day, last in (("2025-07-01", date(2025, 6, 30)), ("2025-09-01", date(2025, 8, 31))):
        shelf.write("new.md", NEW, effective_from=day, supersedes="docs/old.md")
        assert counts(shelf.sync())["unchanged"] == 1
        assert shelf.document("old.md").effective_to == last
        assert {c.effective_to for c in shelf.chunks() if c.uri == "docs/old.md"} == {last}


def test_its_own_end_stands_when_it_is_earlier(shelf: Shelf) -> None:
    shelf.write("old.md", OLD, effective_to="2025-03-31")
    shelf.write("new.md", NEW, effective_from="2025-07-01", supersedes="docs/old.md")
    shelf.sync()
    assert shelf.document("old.md").effective_to == date(2025, 3, 31)
    shelf.remove("new.md")
    shelf.sync()
    assert shelf.document("old.md").effective_to == date(2025, 3, 31)


@pytest.mark.parametrize("front", [{"status": "draft"}, {"effective_from": "null"}])
def test_a_draft_or_undated_successor_ends_nothing(shelf: Shelf, front: dict[str, str]) -> None:
    shelf.write("old.md", OLD)
    shelf.write(
        "new.md", NEW, **({"effective_from": "2025-07-01", "supersedes": "docs/old.md"} | front)
    )
    shelf.sync()
    assert shelf.document("old.md").effective_to is None


def test_a_successor_in_another_source_counts(shelf: Shelf) -> None:
    shelf.write("old.md", OLD)
    shelf.sync()
    other = shelf.home / "other"
    other.mkdir()
    (other / "new.md").write_text(
        f"---\neffective_from: 2025-07-01\nsupersedes: docs/old.md\n---\n{NEW}"
    )
    sync_sources(shelf.workspace.ingest, [FolderSource("other", other)])
    assert shelf.document("old.md").effective_to == date(2025, 6, 30)
    shelf.write("old.md", OLD + "\nAnd a word more.\n")
    shelf.sync()
    assert shelf.document("old.md").effective_to == date(2025, 6, 30)


def test_a_predecessor_edited_beside_its_successor_keeps_its_end(shelf: Shelf) -> None:
    versions(shelf)
    shelf.write("old.md", OLD.replace("25", "24"), effective_from="2020-01-01")
    shelf.sync()
    assert in_force(shelf, "2025-07-01") == {"new.md"}
    assert shelf.document("old.md").effective_to == date(2025, 6, 30)
