"""Cases, hits and answers in one line each."""

from typing import Any

from ombud.types import Answer, Case, Chunk, Citation, Hit, Passage, Reference


def hit(
    text: str, uri: str = "hr/leave.md", start: int = 0, score: float = 1.0, **chunk: Any
) -> Hit:
    fields: dict[str, Any] = {
        "id": f"{uri}-{start}",
        "document_id": uri,
        "title": uri,
        "digest": "d1",
    }
    fields |= {"end": start + len(text)} | chunk
    return Hit(chunk=Chunk(uri=uri, text=text, start=start, **fields), score=score)


def gold(quote: str = "", uri: str = "hr/leave.md", **passage: Any) -> Passage:
    return Passage(document=uri, quote=quote, **passage)


def case(*evidence: Passage, references: tuple[str, ...] = (), **fields: Any) -> Case:
    given: dict[str, Any] = {"id": "c1", "question": "How much leave do I have?"} | fields
    return Case(
        evidence=evidence, references=tuple(Reference(text=text) for text in references), **given
    )


def cites(quote: str, uri: str = "hr/leave.md", start: int = 0, **fields: Any) -> Citation:
    given: dict[str, Any] = {
        "chunk_id": "x",
        "document_id": uri,
        "title": uri,
        "digest": "d1",
    } | fields
    return Citation(uri=uri, quote=quote, start=start, end=start + len(quote), **given)


def says(text: str, *citations: Citation, **fields: Any) -> Answer:
    given: dict[str, Any] = {"outcome": "full"} | fields
    return Answer(text=text, citations=citations, **given)
