"""Documents as they are, beside the blocks that a reader would make of them.

`NAME.blocks` is written by hand: a line `--- kind` opens a block, `--- heading 2` one of level 2.
An office file stands unpacked in a folder, so that its parts can be read and compared."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ombud.documents import parse
from ombud.types import Block, Document

FOLDER = Path(__file__).parent / "documents"
EXPECTED = sorted(FOLDER.glob("*.blocks"))


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.stem)
def test_a_document_is_read_as_a_reader_would(expected: Path) -> None:
    name = expected.stem
    facts = Document(id="0123456789abcdef", source="golden", uri=name, title="", language="en")
    document = parse(content(FOLDER / name), facts)
    assert "".join(map(written, document.blocks)) == expected.read_text(encoding="utf-8")


def test_every_document_has_its_blocks() -> None:
    documents = {path.name for path in FOLDER.iterdir() if path.suffix != ".blocks"}
    assert documents == {path.stem for path in EXPECTED}


def content(path: Path) -> bytes:
    """The bytes of a file; of a folder those of an archive with its files."""
    if path.is_file():
        return path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part in files_below(path):
            archive.writestr(part.relative_to(path).as_posix(), part.read_bytes())
    return packed.getvalue()


def files_below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path


def written(block: Block) -> str:
    level = f" {block.level}" if block.kind == "heading" else ""
    return f"--- {block.kind}{level}\n{block.text}\n"
