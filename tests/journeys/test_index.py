"""`ombud index` as people run it."""

from pathlib import Path

from journeys.command import HANDBOOK, ombud, workspace


def asked(home: Path) -> str:
    answer = ombud(
        "ask",
        "How many days of annual leave do employees have?",
        "--country",
        "FR",
        "--json",
        cwd=home,
    )
    return str(answer.json["text"])


def test_the_index_is_looked_at_tidied_and_made_anew(tmp_path: Path) -> None:
    home = workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    before = ombud("index", "stats", "--json", cwd=home).json
    assert (before["documents"], before["passages"], before["embedder"]) == (
        len(HANDBOOK),
        len(HANDBOOK),
        "none",
    )
    assert f"documents    {len(HANDBOOK)}\n" in ombud("index", "stats", cwd=home).out
    assert "31 days" in asked(home)

    assert "it was" in ombud("index", "optimize", cwd=home).out
    assert ombud("index", "optimize", "--json", cwd=home).json["megabytes"] >= 0
    assert "31 days" in asked(home)

    (home / "ombud.toml").write_text(
        '[plan]\nabstain = 0.05\n[index]\nchunker = "fixed"\n', encoding="utf-8"
    )
    made = ombud("index", "rebuild", "--json", cwd=home).json
    assert made == {"documents": len(HANDBOOK), "chunks": len(HANDBOOK), "missing": []}
    after = ombud("index", "stats", "--json", cwd=home).json
    assert after["generation"] != before["generation"]
    assert "31 days" in asked(home)
    assert "5 passages of 5 documents" in ombud("index", "rebuild", cwd=home).out


def test_nothing_to_look_at_is_said(tmp_path: Path) -> None:
    nowhere = ombud("index", "stats", cwd=tmp_path)
    assert nowhere.code != 0
    assert nowhere.out == ""
    assert nowhere.err.strip()
