"""References between clauses: "pursuant to section 20-871" of a law, "section 7 of the leave
policy" of a handbook."""

import re
from collections.abc import Iterator

from ombud.graph.phrases import StatedTriplet
from ombud.types import Chunk

_WORD = (
    r"(?:[Ss]ections?|§§?|[Aa]rticles?|[Aa]rt\.|[Aa]nnex|[Aa]ppendix|[Ss]chedule|[Cc]hapter"
    r"|[Pp]art)"
)
_NUMBER = r"[A-Z]?\d[\w.-]*\w|\d+"
_NAME = r"(?!See\b)[A-Z][\w’'-]*(?:\.[A-Z]\b\.?)*"
_REFERENCE = re.compile(
    rf"(?<!\w)({_WORD})\s*((?:{_NUMBER})(?:\s?\(\w{{1,3}}\))*)"
    rf"((?:\s+of\s+(?:the\s+)?[Tt]itle\s+\d+)?\s+of\s+(?:the\s+)?{_NAME}"
    rf"(?:\s+(?:(?:of|and|on|for|to)\s+)?(?:the\s+)?{_NAME}){{0,7}}"
    r"|\s+of\s+(?:the\s+)?[Tt]itle\s+\d+"
    r"|\s+of\s+(?:the\s+)?[a-z][a-z -]{2,30}?\s(?:policy|floor|handbook|agreement|act|code|law"
    r"|rules|regulations)"
    r"|\s+[A-Z]{2}\w*(?:\s[A-Z]{2}\w*)?)?"
)
_HEADING = re.compile(
    rf"\W*({_WORD})?\s*((?:{_NUMBER})(?:\(\w\))*)[.:]?\s+(.{{3,120}})", re.IGNORECASE
)


def find_references(chunk: Chunk) -> Iterator[StatedTriplet]:
    """What this clause refers to, and what a clause with a number of its own is about.

    The clause is the section of a law that the trail names ("§ 5-301"), else the document.
    References inside one document without its name ("see section 7") say nothing to who stands
    outside, and are left out."""
    here, about = _place(chunk)
    if about:
        yield StatedTriplet(here, "is about", about)
    for match in _REFERENCE.finditer(chunk.text):
        word, number, document = match.groups()
        if not document and not _is_of_law(word, number):
            continue
        target = f"{_singular(word)} {number}"
        if document:
            target += f" {document.strip()}"
        if target != here and not re.search(r"\bof this\b", target):
            yield StatedTriplet(here, "refers to", target)


def _place(chunk: Chunk) -> tuple[str, str]:
    """(name of the clause that the chunk belongs to, its title), the title empty for a document."""
    for heading in reversed(chunk.trail):
        match = _HEADING.match(heading)
        if not match:
            continue
        word, number, title = match.groups()
        if _is_of_law(word or "", number):
            return f"{_singular(word or '§')} {number}", title.strip(" .")
    return chunk.title, ""


def _is_of_law(word: str, number: str) -> bool:
    """Numbers such as 20-871 and 1607.4, and paragraphs, are known outside of their document."""
    if re.match(r"\d+[-.:]\d{2,}", number):
        return True
    return word.startswith("§") and bool(re.match(r"\d+[-.:]\d", number))


def _singular(word: str) -> str:
    plain = word.lower()
    if plain.startswith(("§", "section")):
        return "section"
    if plain.startswith("art"):
        return "article"
    return plain
