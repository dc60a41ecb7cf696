"""Formats an answer as a message, with its citations as annotations."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from ombud.types import Answer, Citation, Contact, Person

_MARK = re.compile(r"\[(\d{1,3})\]")


def message_text(answer: Answer) -> str:
    """Return the answer with its suggestions or contacts, where its action needs them."""
    parts = [answer.text]
    if (
        answer.suggestions
        and answer.action == "clarify"
        and answer.suggestions[0] not in answer.text
    ):
        parts.append("\n".join(f"- {one}" for one in answer.suggestions))
    if answer.contacts and answer.action in ("contact", "handoff"):
        parts.append("\n".join(contact_line(one) for one in answer.contacts))
    return "\n\n".join(parts)


def contact_line(contact: Contact) -> str:
    reached = [part for part in (contact.mail, contact.phone) if part]
    return f"- {contact.name}" + (f": {', '.join(reached)}" if reached else "")


def annotations(text: str, answer: Answer, person: Person, base: str) -> list[dict[str, Any]]:
    """Return one annotation for each citation marker: its place in the text and a link to the
    highlighted passage."""
    marks: list[dict[str, Any]] = []
    for mark in _MARK.finditer(text):
        number = int(mark[1])
        if not 1 <= number <= len(answer.citations):
            continue
        citation = answer.citations[number - 1]
        cited = {
            "start_index": mark.start(),
            "end_index": mark.end(),
            "url": address(citation, person, base),
            "title": citation.title,
        }
        marks.append({"type": "url_citation", "url_citation": cited})
    return marks


def address(citation: Citation, person: Person, base: str) -> str:
    """Return the link to a cited passage. base: address of this server, without a trailing
    slash."""
    values = [
        ("digest", citation.version),
        ("start", str(citation.start)),
        ("end", str(citation.end)),
    ]
    for name in ("country", "grade", "contract"):
        value = getattr(person, name)
        if value:
            values.append((name, value))
    values += [("role", role) for role in person.roles]
    return f"{base}/documents/{citation.document_id}?{urlencode(values)}#cited"


class GrowingText:
    """Text of a streamed answer: claims as they are proven, then the rest."""

    def __init__(self) -> None:
        self.sent = ""
        self._claims = 0
        self._seen: list[Citation] = []

    def claim(self, index: int, text: str, citations: Sequence[Citation]) -> str:
        """Return the text to send for a claim; empty if it replaces one that was sent."""
        if index != self._claims:
            return ""
        self._claims += 1
        numbers: list[int] = []
        for citation in citations:
            if citation not in self._seen:
                self._seen.append(citation)
            numbers.append(self._seen.index(citation) + 1)
        marked = text.rstrip()
        gap = "\n\n" if marked.endswith("|") else " "
        whole = marked + gap + "".join(f"[{number}]" for number in numbers)
        piece = f"\n\n{whole}" if self.sent else whole
        self.sent += piece
        return piece

    def rest(self, text: str) -> str:
        """Return the missing rest of the answer, or all of it if it differs from what was sent."""
        piece = text[len(self.sent) :]
        if not text.startswith(self.sent):
            piece = "\n\n".join(("", "---", text))
        self.sent += piece
        return piece
