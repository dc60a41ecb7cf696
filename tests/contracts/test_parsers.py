"""What every parser of untrusted files must do, in a process of its own or in this one."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from documents.hostile import FILES, good_pdf
from ombud.documents import Chunking, DocumentParser, Worker, chunk, open_parsers, parse
from ombud.documents.parsing import PARSERS
from ombud.documents.worker import InlineParser
from ombud.errors import BadSetting, ModelError, SourceError, UnknownName
from ombud.settings import DocumentSettings, IndexSettings
from ombud.sources.matching import is_document
from ombud.types import Document

LIMITS = DocumentSettings(seconds=30, memory_mb=2048, size_mb=2, pages=2)


def facts(uri: str) -> Document:
    return Document(id="0123456789abcdef", source="s", uri=uri, title="", language="")


@pytest.fixture(scope="module", params=[2, 0], ids=["process", "inline"])
def parser(request: pytest.FixtureRequest) -> Iterator[DocumentParser]:
    first, *others = open_parsers(LIMITS.model_copy(update={"processes": request.param}))
    yield first
    for opened in (first, *others):
        opened.close()


def test_the_settings_choose() -> None:
    assert [type(parser) for parser in open_parsers(DocumentSettings(processes=3))] == [Worker] * 3
    assert [type(parser) for parser in open_parsers(DocumentSettings(processes=0))] == [
        InlineParser
    ]


def test_it_returns_what_parse_returns(parser: DocumentParser) -> None:
    data = "# Urlaub\n\nBeschäftigte haben Anspruch auf dreißig Tage.\n\n| a | b |\n|--|--|\n| 1 | 2 |\n".encode()
    assert parser.parse(data, facts("urlaub.md")) == parse(data, facts("urlaub.md"))
    assert parser.parse(good_pdf(), facts("good.pdf")) == parse(good_pdf(), facts("good.pdf"))


POLICY = (
    b"# Pay\n\nThe Annual Cash Bonus (ACB) is paid in March. It is paid with the salary.\n\n"
    b"## Leave\n\nLeave is asked for in writing. Paid Time Off (PTO) is 25 days a year.\n"
)


def words(text: str) -> int:
    return len(text.split())


def initials(texts: Sequence[str]) -> Any:
    """Unit vectors that tell texts apart by their first letter."""
    return np.eye(26, dtype=np.float32)[[ord(text[0].lower()) - ord("a") for text in texts]]


@pytest.mark.parametrize("chunker", ["structure", "sentence", "semantic", "fixed"])
def test_it_cuts_as_chunk_does(parser: DocumentParser, chunker: str) -> None:
    settings = IndexSettings(chunker=chunker, chunk_tokens=32, percentile=50)
    contents = parser.read(POLICY, facts("pay.md"), Chunking(settings, words, initials))
    document = parse(POLICY, facts("pay.md"))
    assert contents.document == document
    assert contents.chunks == chunk(document, settings, words, initials)
    assert contents.abbreviations == [("ACB", "Annual Cash Bonus"), ("PTO", "Paid Time Off")]
    assert parser.cut(document, Chunking(settings, words, initials)) == contents


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (IndexSettings(chunker="no-such-chunker"), UnknownName),
        (IndexSettings(chunker="semantic"), BadSetting),
        (IndexSettings(chunker="pattern", pattern="("), BadSetting),
    ],
)
def test_a_wrong_setting_is_no_fault_of_the_document(
    parser: DocumentParser, settings: IndexSettings, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        parser.read(POLICY, facts("pay.md"), Chunking(settings, words))
    assert parser.parse(b"Text", facts("a.txt")).text == "Text"


def test_an_embedder_that_fails_is_no_fault_of_the_document(parser: DocumentParser) -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise ModelError("The embedder is away.")

    with pytest.raises(ModelError, match="away"):
        parser.read(
            POLICY, facts("pay.md"), Chunking(IndexSettings(chunker="semantic"), words, fail)
        )
    assert parser.parse(b"Text", facts("a.txt")).text == "Text"


@pytest.mark.parametrize(
    ("uri", "data", "why"),
    [
        ("a.docx", b"PK\x03\x04 and then nothing of an archive", "."),
        ("a.txt", b"", "empty"),
        ("a.exe", b"MZ", "no parser for `.exe`"),
        ("a.md", b"x" * 3 * 2**20, "3 MB; the limit is 2"),
        ("a.pdf", FILES["many-pages.pdf"](), "3,000 pages; the limit is 2"),
        ("a.odt", FILES["truncated.odt"](), r"broken|not"),
        ("a.eml", FILES["endless.eml"](), "200 parts"),
    ],
)
def test_a_bad_file_costs_one_clear_error(
    parser: DocumentParser, uri: str, data: bytes, why: str
) -> None:
    with pytest.raises(SourceError, match=why) as wrong:
        parser.parse(data, facts(uri))
    assert wrong.value.hint
    assert parser.parse(b"Text", facts("a.txt")).text == "Text"


def test_threads_take_turns(parser: DocumentParser) -> None:
    texts: dict[int, str] = {}

    def read(number: int) -> None:
        texts[number] = parser.parse(f"Document {number}".encode(), facts("a.txt")).text

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: f"Document {number}" for number in range(8)}


def test_it_can_be_used_after_it_was_closed(parser: DocumentParser) -> None:
    parser.warm()
    parser.close()
    assert parser.parse(b"Text", facts("a.txt")).text == "Text"


def test_what_is_read_from_folders_is_read_beside_pages_too() -> None:
    """A file attached to a page counts as a document where its ending has a parser."""
    assert [ending for ending in PARSERS if not is_document(f"rules.{ending.lstrip('.')}")] == []
