"""Real handbooks, laws and reports, where they are at hand: nothing fails, and known passages are found."""

import hashlib
from pathlib import Path

import pytest

from ombud.documents import Worker, chunk, parse
from ombud.errors import SourceError
from ombud.settings import Documents, Index
from ombud.types import Document

DATA = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real documents in {DATA}")


def facts(path: Path) -> Document:
    uri = path.relative_to(DATA).as_posix()
    return Document(id=hashlib.sha256(uri.encode()).hexdigest()[:16], source="s", uri=uri, title="", language="")


def read(name: str) -> Document:
    return parse((DATA / name).read_bytes(), facts(DATA / name))


def words(text: str) -> int:
    return len(text.split())


def test_every_handbook_page_parses_and_chunks() -> None:
    failed, kept, whole = {}, 0, 0
    for path in sorted((DATA / "handbooks").rglob("*.md")):
        try:
            document = parse(path.read_bytes(), facts(path))
        except SourceError as wrong:
            failed[path.name] = str(wrong)
            continue
        for made in chunk(document, Index(), words):
            assert made.text == document.text[made.start : made.end]
            assert words(" > ".join(made.trail) + "\n" + made.text) <= 256
            assert not any(mark in made.text for mark in ("{% include", "{% page", "{{<", "<td", "</details>"))
            kept += words(made.text)
        whole += words(document.text)
    # Files that hold front matter only.
    assert set(failed.values()) <= {"The file is empty.", "The file holds no text."}
    assert len(failed) <= 4
    # Some headings stand in the trail alone; nothing else is lost.
    assert whole > 400_000
    assert kept > 0.95 * whole


def test_every_pdf_word_and_html_file_parses() -> None:
    paths = [p for p in sorted(DATA.rglob("*")) if p.suffix in {".pdf", ".docx", ".html"}]
    with Worker(Documents()) as worker:
        for path in paths:
            document = worker.parse(path.read_bytes(), facts(path))
            assert document.blocks
            assert path.suffix != ".pdf" or all(block.page for block in document.blocks)
    assert len(paths) >= 60


def test_the_bias_audit_rule() -> None:
    document = read("ll144/LL144.pdf")
    headings = [block.text for block in document.blocks if block.kind == "heading"]
    assert "§ 5-301 Bias Audit." in headings
    tables = [block for block in document.blocks if block.kind == "table"]
    male = next(table for table in tables if "| Male | 1390 | 667 | 48% | 1.00 |" in table.text)
    assert male.page == 5
    clause = next(block for block in document.blocks if "(b) Where an AEDT selects candidates" in block.text)
    assert clause.page == 5


def test_word_numbers_against_the_published_truth() -> None:
    document = read("documents/docling/unit_test_headers_numbered.docx")
    truth = (DATA / "documents/docling/groundtruth/unit_test_headers_numbered.docx.md").read_text()
    wanted = [line.lstrip("# ") for line in truth.splitlines() if line.startswith("#")]
    got = [
        block.text.replace(". ", " ", 1) if block.text[0].isdigit() else block.text
        for block in document.blocks
        if block.kind == "heading"
    ]
    assert [w for w in wanted if w not in got and w.upper() != w] == []


def test_japanese_is_recognised_and_cut() -> None:
    path = max((DATA / "handbooks/gitlab-2026-ja").rglob("*.md"), key=lambda p: p.stat().st_size)
    document = parse(path.read_bytes(), facts(path))
    assert document.language == "ja"
    assert all(len(made.text) <= 512 for made in chunk(document, Index(chunk_tokens=512), len))
