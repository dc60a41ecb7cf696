"""Parse bytes into a `Document`; the ending of the uri selects the parser."""

import re
from collections.abc import Callable, Iterator
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

PARSED_BY = "16"
"""Version of the parsers and chunkers: when their results for the same bytes change, it does, and
everything is read again."""
PAGES = 2000
_CACHES = ("thumbs.db", "desktop.ini", ".ds_store")
_INCOMPLETE = ("crdownload", "download", "part", "partial", "tmp")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_SECTION = re.compile(
    r"\W*([0-9]|[ivx]+[.)]|(introduction|overview|purpose|scope|summary|contents|zweck)\b)",
    re.IGNORECASE,
)


def parse(data: bytes, facts: Document, pages: int = PAGES) -> Document:
    """Parse a file in this process, without any protection, and fill in blocks, text, language and
    title of `facts`.

    An empty facts.language is detected; an empty facts.title becomes the first heading, the
    format's own title, or the file's name. Raises SourceError for files without text."""
    document, _ = parse_file(data, facts, pages)
    return document


def parse_file(
    data: bytes, facts: Document, pages: int = PAGES
) -> tuple[Document, tuple[AttachedFile, ...]]:
    """Parse a file as `parse` does, and return the attached files that are documents."""
    suffix = suffix_of(facts.uri)
    read = find_parser(suffix)
    if not data.strip():
        raise SourceError(
            "The file is empty.", hint="Remove it, or save it again from its program."
        )
    parsed = read(data, pages)
    settled = settle([normalise(block) for block in parsed.blocks])
    blocks = settled.blocks
    check_not_empty(blocks, suffix)
    files = [file for file in parsed.attached if not is_passing(file.name)]
    attached = tuple(file for file in files if f".{suffix_of(file.name)}" in kinds())
    unread = tuple(file.name for file in files if file not in attached)
    document = facts.model_copy(
        update={
            "blocks": blocks,
            "text": settled.text,
            "annotations": settled.annotations,
            "loss": parsed.loss + settled.loss + Loss(attachments=unread),
            "title": facts.title or choose_title(blocks, plain(parsed.title), facts.uri),
            "language": facts.language or document_language(settled.text),
            "parser": PARSED_BY,
        }
    )
    return document, attached


def load_parser(uri: str) -> None:
    """Load the parser of a file, which takes up to a second the first time; errors are reported
    when it is used."""
    detect_language("Loaded.")
    with suppress(SourceError):
        find_parser(suffix_of(uri))


@contextmanager
def untrusted(uri: str) -> Iterator[None]:
    """Turn exceptions of work on an untrusted document into SourceErrors, so that a broken file
    concerns one document only. Our own errors pass."""
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
        raise parser_error(suffix_of(uri), broken) from broken


def parser_error(suffix: str, broken: BaseException) -> SourceError:
    """Make the error for a failed parser: with ours the file is broken, with a plugin's it may be
    either of them."""
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
    """Return the file endings that can be read, such as ".pdf", including those of plugins."""
    return frozenset(f".{name}" for name in names("parser", PARSERS))


def is_passing(uri: str) -> bool:
    """Tell whether a file is only temporary: a lock of an office program, a system's cache of
    pictures, an incomplete download."""
    name = uri.rpartition("/")[2]
    is_lock = name.startswith(("~$", ".~lock."))
    return is_lock or name.lower() in _CACHES or suffix_of(name) in _INCOMPLETE


def holds_documents(uri: str) -> bool:
    """Tell by its ending whether a file may have others attached."""
    return suffix_of(uri) in {"eml", "msg"}


def suffix_of(uri: str) -> str:
    """Return the ending without the dot. A uri ends with the file's name, in which `#` and `?` are
    ordinary letters."""
    return PurePosixPath(uri).suffix.lower().lstrip(".")


@cache
def find_parser(suffix: str) -> Parser:
    try:
        return cast(Parser, find("parser", suffix, PARSERS))
    except UnknownName as unknown:
        kind = f"`.{suffix}` files" if suffix else "files without an ending"
        endings = ", ".join(sorted(kinds()))
        raise SourceError(
            f"There is no parser for {kind}.", hint=f"Convert it to one of {endings}."
        ) from unknown
    except SetupError as broken:  # a plugin that cannot be loaded must not stop other files
        raise SourceError(str(broken), hint=broken.hint) from broken


def normalise(block: Block) -> Block:
    """Normalise a block: composed characters, and no blank line, which would look like its end."""
    text = visible(block.text)
    if block.kind != "code":
        text = _BLANK_LINE.sub("", text)
    return block.model_copy(update={"text": text}) if text != block.text else block


def check_not_empty(blocks: tuple[Block, ...], suffix: str) -> None:
    has_letters = any(character.isalnum() for block in blocks for character in block.text)
    if not has_letters:
        what = "pictures of text; it needs OCR" if suffix == "pdf" else "no text"
        raise SourceError(
            f"The file holds {what}.", hint="Run it through OCR first, or leave it out."
        )


def choose_title(blocks: tuple[Block, ...], own: str, uri: str) -> str:
    """Return the first heading if it is a title, the format's own title, or the file's name as
    words."""
    headings = [block for block in blocks if block.kind == "heading"]
    if headings and is_title(headings, blocks[0]):
        return headings[0].text
    return own or readable(uri)


def is_title(headings: list[Block], opening: Block) -> bool:
    """Tell whether the first heading is the title of a document that begins with that block."""
    first, *others = headings
    peers = [heading for heading in others if heading.level <= first.level]
    if not peers:
        return True
    # Of several headings of its level, the first is a title only if it opens the document and is
    # not the name of a section.
    return opening is first and first.level == 1 and not _SECTION.match(first.text)


def readable(uri: str) -> str:
    """Write the name of a file as words: `gb/annual-leave_2024.md` -> "Annual leave 2024"."""
    path = PurePosixPath(uri)
    stem = (
        path.parent.name
        if path.stem.lower() in {"index", "_index", "readme"} and path.parent.name
        else path.stem
    )
    words = tidy(re.sub(r"[-_+.]|%20", " ", stem))
    return words[:1].upper() + words[1:] or uri


_READERS = {
    "markup.adoc": "adoc asciidoc",
    "markup.epub": "epub",
    "markup.html": "htm html xht xhtml",
    "markup.markdown": "markdown md",
    "markup.mdx": "mdx",
    "markup.rst": "rst",
    "markup.rtf": "rtf",
    "mail.eml": "eml",
    "mail.msg": "msg",
    "office.docx": "docm docx",
    "office.odt": "odt",
    "office.pptx": "pptm pptx",
    "office.xlsx": "xlsm xlsx",
    "pdf.parser": "pdf",
    "plain": "txt",
    "sheets.csv_table": "csv tsv",
    "sheets.ods": "ods",
    "sheets.xls": "xls",
}
PARSERS = {
    ending: f"ombud.documents.{module}:read"
    for module, endings in _READERS.items()
    for ending in endings.split()
}
"""Ending of the uri -> `(bytes, most pages) -> ParsedFile`; plugins register under
`ombud.parser`."""
