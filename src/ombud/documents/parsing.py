"""Bytes become a `Document`: the ending of the uri decides who reads them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import PurePosixPath
from typing import cast

from ombud.documents.blocks import AttachedFile, ParsedFile, tidy, visible
from ombud.documents.runs import plain, settle
from ombud.errors import OmbudError, SetupError, SourceError, UnknownName
from ombud.registry import distribution_of, find, names
from ombud.text import detect_language, document_language
from ombud.types import Block, Document, Loss

Parser = Callable[[bytes, int], ParsedFile]
"""(bytes, most pages) -> ParsedFile; raises SourceError."""

PARSED_BY = "9"
"""Version of the parsers and chunkers: changes when they give other results from the same bytes.
Everything is then read again."""
PAGES = 2000
_CACHES = ("thumbs.db", "desktop.ini", ".ds_store")
_INCOMPLETE = ("crdownload", "download", "part", "partial", "tmp")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_SECTION = re.compile(
    r"\W*([0-9]|[ivx]+[.)]|(introduction|overview|purpose|scope|summary|contents|zweck)\b)",
    re.IGNORECASE,
)


def parse(data: bytes, facts: Document, pages: int = PAGES) -> Document:
    """`facts` with blocks, text, language and title filled in; runs in this process, without any
    protection.

    facts.language "" means: detect it. facts.title "" means: the first heading, the format's own
    title, or the file's name. Raises SourceError, one sentence and a hint, for anything that gives
    no text."""
    document, _ = parse_file(data, facts, pages)
    return document


def parse_file(
    data: bytes, facts: Document, pages: int = PAGES
) -> tuple[Document, tuple[AttachedFile, ...]]:
    """As `parse`, with the files inside that are documents of their own."""
    suffix = _suffix(facts.uri)
    read = _parser(suffix)
    if not data.strip():
        raise SourceError(
            "The file is empty.", hint="Remove it, or save it again from its program."
        )
    parsed = read(data, pages)
    settled = settle([_normal(block) for block in parsed.blocks])
    blocks = settled.blocks
    _check_not_empty(blocks, suffix)
    attached, unread = _sorted_out(parsed.attached)
    document = facts.model_copy(
        update={
            "blocks": blocks,
            "text": settled.text,
            "annotations": settled.annotations,
            "loss": parsed.loss + settled.loss + Loss(attachments=unread),
            "title": facts.title or _title(blocks, plain(parsed.title), facts.uri),
            "language": facts.language or document_language(settled.text),
            "parser": PARSED_BY,
        }
    )
    return document, attached


def _sorted_out(
    files: Sequence[AttachedFile],
) -> tuple[tuple[AttachedFile, ...], tuple[str, ...]]:
    """The attached files that can be read, and the names of those that cannot."""
    wanted = [file for file in files if not is_passing(file.name)]
    readable = tuple(file for file in wanted if f".{_suffix(file.name)}" in kinds())
    return readable, tuple(file.name for file in wanted if file not in readable)


def load_parser(uri: str) -> None:
    """Loads what reads such files, which takes up to a second the first time; what is wrong with it
    is told when it is used."""
    detect_language("Loaded.")
    with suppress(SourceError):
        _parser(_suffix(uri))


@contextmanager
def untrusted(uri: str) -> Iterator[None]:
    """Around work on an untrusted document: whatever it raises becomes a SourceError, so that a
    broken file costs one document only. Our own errors pass."""
    try:
        yield
    except OmbudError:
        raise
    except MemoryError as full:
        raise SourceError(
            "The file needs more memory than the parser may use.",
            hint="Raise [documents] memory_mb.",
        ) from full
    except RecursionError as deep:
        raise SourceError(
            "The file is nested too deeply.", hint="Save it again from its program."
        ) from deep
    except (Exception, SystemExit) as broken:  # a plugin's parser may end the process, too
        raise _parser_failed(_suffix(uri), broken) from broken


def _parser_failed(suffix: str, broken: BaseException) -> SourceError:
    """Of ours, and then the file is broken; or of a plugin, and then either of them may be."""
    package = distribution_of("parser", suffix)
    if not package:
        return SourceError(
            f"The file is broken ({type(broken).__name__}).",
            hint="Open it in its program and save it again.",
        )
    return SourceError(
        f"The parser `{suffix}` of the package `{package}` failed ({type(broken).__name__}).",
        hint="Save the file again, or update the package.",
    )


def kinds() -> frozenset[str]:
    """Endings of the files that can be read, such as ".pdf": ours and those of installed
    plugins."""
    return frozenset(f".{name}" for name in names("parser", PARSERS))


def is_passing(uri: str) -> bool:
    """Tell whether a file is no document but a trace of a program at work: a lock of an office
    program, a system's cache of pictures, a download that is not complete."""
    name = uri.rpartition("/")[2]
    is_lock = name.startswith(("~$", ".~lock."))
    return is_lock or name.lower() in _CACHES or _suffix(name) in _INCOMPLETE


def holds_documents(uri: str) -> bool:
    """Tell whether such a file may have others attached, which are documents of their own."""
    return _suffix(uri) in {"eml", "msg"}


def _suffix(uri: str) -> str:
    """Without the dot. A uri ends as the file's name does, in which `#` and `?` are letters like
    others."""
    return PurePosixPath(uri).suffix.lower().lstrip(".")


@cache
def _parser(suffix: str) -> Parser:
    try:
        return cast(Parser, find("parser", suffix, PARSERS))
    except UnknownName as unknown:
        kind = f"`.{suffix}` files" if suffix else "files without an ending"
        known = ", ".join(sorted(kinds()))
        raise SourceError(
            f"There is no parser for {kind}.", hint=f"Convert it to one of {known}."
        ) from unknown
    except SetupError as broken:  # a plugin that does not load costs its files, not the others
        raise SourceError(str(broken), hint=broken.hint) from broken


def _normal(block: Block) -> Block:
    """Composed characters, and no blank line inside a block, which would look like the end of
    it."""
    text = visible(block.text)
    if block.kind != "code":
        text = _BLANK_LINE.sub("", text)
    return block.model_copy(update={"text": text}) if text != block.text else block


def _check_not_empty(blocks: tuple[Block, ...], suffix: str) -> None:
    has_letters = any(character.isalnum() for block in blocks for character in block.text)
    if not has_letters:
        what = "pictures of text; it needs OCR" if suffix == "pdf" else "no text"
        raise SourceError(
            f"The file holds {what}.", hint="Run it through OCR first, or leave it out."
        )


def _title(blocks: tuple[Block, ...], own: str, uri: str) -> str:
    """The first heading if it stands for the whole document, the format's own title, or the file's
    name as words."""
    headings = [block for block in blocks if block.kind == "heading"]
    if headings and _stands_for_all(headings, blocks[0]):
        return headings[0].text
    return own or readable(uri)


def _stands_for_all(headings: list[Block], opening: Block) -> bool:
    """Whether the first heading is the title of a document that opens with that block."""
    first, *others = headings
    peers = [heading for heading in others if heading.level <= first.level]
    if not peers:
        return True
    # Of several equal headings the first is a title only where it opens the document and is no
    # section's name.
    return opening is first and first.level == 1 and not _SECTION.match(first.text)


def readable(uri: str) -> str:
    """The name of a file as words: `gb/annual-leave_2024.md` -> "Annual leave 2024"."""
    path = PurePosixPath(uri)
    stem = (
        path.parent.name
        if path.stem.lower() in {"index", "_index", "readme"} and path.parent.name
        else path.stem
    )
    words = tidy(re.sub(r"[-_+.]|%20", " ", stem))
    return words[:1].upper() + words[1:] or uri


PARSERS: dict[str, str] = {
    "adoc": "ombud.documents.markup.adoc:read",
    "asciidoc": "ombud.documents.markup.adoc:read",
    "csv": "ombud.documents.sheets.csv_table:read",
    "docx": "ombud.documents.office.docx:read",
    "docm": "ombud.documents.office.docx:read",
    "epub": "ombud.documents.markup.epub:read",
    "eml": "ombud.documents.mail.eml:read",
    "htm": "ombud.documents.markup.html:read",
    "html": "ombud.documents.markup.html:read",
    "markdown": "ombud.documents.markup.markdown:read",
    "md": "ombud.documents.markup.markdown:read",
    "mdx": "ombud.documents.markup.mdx:read",
    "msg": "ombud.documents.mail.msg:read",
    "ods": "ombud.documents.sheets.ods:read",
    "odt": "ombud.documents.office.odt:read",
    "pdf": "ombud.documents.pdf.parser:read",
    "pptm": "ombud.documents.office.pptx:read",
    "pptx": "ombud.documents.office.pptx:read",
    "rst": "ombud.documents.markup.rst:read",
    "rtf": "ombud.documents.markup.rtf:read",
    "tsv": "ombud.documents.sheets.csv_table:read",
    "txt": "ombud.documents.plain:read",
    "xht": "ombud.documents.markup.html:read",
    "xhtml": "ombud.documents.markup.html:read",
    "xls": "ombud.documents.sheets.xls:read",
    "xlsm": "ombud.documents.office.xlsx:read",
    "xlsx": "ombud.documents.office.xlsx:read",
}
"""Ending of the uri -> `(bytes, most pages) -> ParsedFile`; plugins register under
`ombud.parser`."""
