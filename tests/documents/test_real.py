"""Real handbooks, laws and reports, where they are at hand: nothing fails, and known passages are
found."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from ombud.documents import Worker, chunk, kinds, parse
from ombud.errors import SourceError
from ombud.settings import DocumentSettings, IndexSettings
from ombud.types import Document

DATA = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real documents in {DATA}")


def facts(path: Path) -> Document:
    uri = path.relative_to(DATA).as_posix()
    return Document(
        id=hashlib.sha256(uri.encode()).hexdigest()[:16], source="s", uri=uri, title="", language=""
    )


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
        for made in chunk(document, IndexSettings(), words):
            assert made.text == document.text[made.start : made.end]
            assert words(" > ".join(made.trail) + "\n" + made.text) <= 256
            assert not any(
                mark in made.text for mark in ("{% include", "{% page", "{{<", "<td", "</details>")
            )
            kept += words(made.text)
        whole += words(document.text)
    # Files that hold front matter only.
    assert set(failed.values()) <= {"The file is empty.", "The file holds no text."}
    assert len(failed) <= 4
    # Some headings stand in the trail alone; nothing else is lost.
    assert whole > 400_000
    assert kept > 0.95 * whole


def test_every_document_parses() -> None:
    """Each PDF, Word and HTML file of all, and each of whatever kind of those that are bundled."""
    paths = {p for p in DATA.rglob("*") if p.suffix in {".pdf", ".docx", ".html"}}
    paths = {path for path in paths if "faults" not in path.parts}  # some of these must be refused
    read_by_us = kinds() - {".md", ".txt"}
    bundled = {p for p in (DATA / "documents").rglob("*") if p.suffix in read_by_us}
    failed: dict[str, str] = {}
    with Worker(DocumentSettings()) as worker:
        for path in sorted(paths | bundled):
            try:
                document = worker.parse(path.read_bytes(), facts(path))
            except SourceError as wrong:
                failed[path.name] = str(wrong)
                continue
            assert document.blocks
            assert path.suffix != ".pdf" or all(block.page for block in document.blocks)
    assert len(paths) >= 60
    assert len(bundled) == 78
    assert failed == {}


def bare(heading: str) -> str:
    return re.sub(r"[\W_]", "", heading.casefold())


@pytest.mark.parametrize("suffix", [".docx", ".pdf"])
def test_headings_against_the_published_truth(suffix: str) -> None:
    folder = DATA / "documents/docling"
    wanted: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(folder.glob(f"*{suffix}")):
        truth = [folder / "groundtruth" / name for name in (f"{path.name}.md", f"{path.stem}.md")]
        text = next((p.read_text(encoding="utf-8") for p in truth if p.exists()), "")
        wanted.update(
            (path.name, bare(line)) for line in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
        )
        blocks = read(f"documents/docling/{path.name}").blocks
        found.update((path.name, bare(block.text)) for block in blocks if block.kind == "heading")
    assert wanted.total() >= 15
    assert (wanted & found).total() >= 0.98 * wanted.total()


def test_arabic_is_read_from_the_right_letter_by_letter() -> None:
    """Also where one glyph stands for two letters, as in the Arabic for "solving problems"."""
    path = DATA / "documents/docling/right_to_left_01.pdf"
    document = parse(path.read_bytes(), facts(path))
    assert document.blocks[0].kind == "heading"
    assert document.blocks[0].text == "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R و Python"


def test_slides_sheets_and_messages() -> None:
    deck = read("documents/docling/powerpoint_sample.pptx")
    assert {block.page for block in deck.blocks} == {1, 2, 3}
    assert any(
        "| R4 | True | False | True | False | True | False |" in block.text for block in deck.blocks
    )
    corner = [b.kind for b in read("documents/docling/xlsx_06_edge_cases_.xlsx").blocks]
    assert corner == ["heading", "table", "heading", "table", "heading", "table", "table"]
    assert "- test.txt" in read("documents/docling/eml_with_attachment.eml").text
    assert read("documents/markitdown/test_outlook_msg.msg").title == "Test Email Message"
    assert "  - bullet list 2.1" in read("documents/docling/text_document_01.odt").text


def test_the_bias_audit_rule() -> None:
    document = read("ll144/LL144.pdf")
    headings = [block.text for block in document.blocks if block.kind == "heading"]
    assert "§ 5-301 Bias Audit." in headings
    tables = [block for block in document.blocks if block.kind == "table"]
    male = next(table for table in tables if "| Male | 1390 | 667 | 48% | 1.00 |" in table.text)
    assert male.page == 5
    clause = next(
        block for block in document.blocks if "(b) Where an AEDT selects candidates" in block.text
    )
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
    assert all(
        len(made.text) <= 512 for made in chunk(document, IndexSettings(chunk_tokens=512), len)
    )
