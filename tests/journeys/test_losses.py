"""What is not indexed is said by name: by `ombud sync`, and wherever a document is looked at."""

from pathlib import Path

import pytest

from journeys.command import ombud, workspace

STRUCK = "# Commuting\n\nEach commuter gets ~~40~~ 55 euros a month for the train.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    files = {"pay.md": "# Pay\n\nPay is monthly.\n", "train.md": STRUCK}
    made = workspace(tmp_path, files=files)
    docs = made / "docs"
    (docs / "plan.vsdx").write_bytes(b"x")
    (docs / "broken.docx").write_bytes(b"PK\x03\x04")
    (docs / "copies").mkdir()
    (docs / "copies" / "pay.md").write_bytes((docs / "pay.md").read_bytes())
    (docs / "linked.md").symlink_to("pay.md")
    return made


def test_sync_names_every_loss_and_fails_where_a_document_is_lost(home: Path) -> None:
    first = ombud("sync", "docs", cwd=home)
    assert first.code == 1
    lines = [line.strip() for line in first.out.splitlines()]
    assert "left out of docs/train.md: 1 struck passage" in lines
    assert "not read: docs/plan.vsdx: there is no parser for `.vsdx`" in lines
    assert "not read: docs/copies/pay.md: it is a copy of docs/pay.md" in lines
    assert "not read: docs/linked.md: it is a link to docs/pay.md" in lines
    assert lines[-1] == "1 document is indexed, but not whole"
    assert "docs/broken.docx" in first.err
    (home / "docs" / "broken.docx").unlink()
    second = ombud("sync", cwd=home)
    assert second.code == 0
    assert "left out of" not in second.out
    assert "1 document is indexed, but not whole" in second.out
    (home / "docs" / "train.md").write_text(STRUCK.replace("~~40~~ ", ""), encoding="utf-8")
    assert "not whole" not in ombud("sync", cwd=home).out


def test_the_same_as_json(home: Path) -> None:
    (source,) = ombud("sync", "docs", "--json", cwd=home).json["sources"]
    assert [one["uri"] for one in source["failed"]] == ["docs/broken.docx"]
    (lost,) = source["lost"]
    assert (lost["uri"], lost["loss"]["struck"]) == ("docs/train.md", 1)
    assert source["incomplete"] == 1
    assert {one["uri"] for one in source["left_out"]} == {
        "docs/plan.vsdx",
        "docs/copies/pay.md",
        "docs/linked.md",
    }


def test_a_long_list_is_cut_and_counted(home: Path) -> None:
    for number in range(40):
        (home / "docs" / f"{number}.vsdx").write_bytes(b"x")
    out = ombud("sync", "docs", cwd=home).out
    assert out.count("not read: docs/") == 20
    assert "not read: 23 more; `ombud sync --json` names all" in out


def test_a_document_says_what_was_left_out_of_it(home: Path) -> None:
    ombud("sync", "docs", cwd=home)
    assert "left out: 1 struck passage" in ombud("documents", "show", "docs/train.md", cwd=home).out
    shown = ombud("documents", "show", "docs/train.md", "--json", cwd=home).json
    assert shown["loss"]["struck"] == 1
    assert "left out" not in ombud("documents", "show", "docs/pay.md", cwd=home).out
