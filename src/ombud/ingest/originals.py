"""Originals whose pages can be displayed: `ID-DIGEST.pdf` in a folder of the workspace, deleted
with their document."""

from collections.abc import Iterable
from pathlib import Path

from ombud.private_files import make_private_file, make_private_folder

PAGED_SUFFIXES = (".pdf",)


def keep_original(
    folder: Path | None, document_id: str, digest: str, *, uri: str, data: bytes
) -> None:
    """Store the bytes of a file whose pages can be drawn. If the disk is full, the document is
    indexed without its pages."""
    if folder is None or not uri.lower().endswith(PAGED_SUFFIXES):
        return
    path = original_path(folder, document_id, digest)
    if path.exists():
        return
    beside = path.with_suffix(".new")
    try:
        make_private_folder(folder)
        make_private_file(beside)
        beside.write_bytes(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)


def original_path(folder: Path, document_id: str, digest: str) -> Path:
    return folder / f"{document_id}-{digest}.pdf"


def drop_originals(folder: Path | None, ids: Iterable[str]) -> None:
    """Delete the originals of documents, every version of them."""
    if folder is None:
        return
    for document_id in ids:
        for path in originals_of(folder, document_id):
            path.unlink(missing_ok=True)


def originals_of(folder: Path, document_id: str) -> list[Path]:
    return sorted(folder.glob(f"{document_id}-*"))
