"""An answer as the text of a message, with its citations as annotations."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from ombud.types import Answer, Citation, Contact, Person

_MARK = re.compile(r"\[(\d{1,3})\]")


def message_text(answer: Answer) -> str:
    """The answer, what can be asked instead, and whom to turn to where the answer sends there."""
    parts = [answer.text]
    if (
        answer.suggestions
        and answer.action == "clarify"
        and answer.suggestions[0] not in answer.text
    ):
        parts.append("\n".join(f"- {one}" for one in answer.suggestions))
    if answer.contacts and answer.action in ("contact", "handoff"):
        parts.append("\n".join(_contact(one) for one in answer.contacts))
    return "\n\n".join(parts)


def _contact(contact: Contact) -> str:
    reached = [part for part in (contact.mail, contact.phone) if part]
    return f"- {contact.name}" + (f": {', '.join(reached)}" if reached else "")


def annotations(text: str, answer: Answer, person: Person, base: str) -> list[dict[str, Any]]:
    """One for each marker in the text: where it stands, and the page with the passage marked."""
    found: list[dict[str, Any]] = []
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
        found.append({"type": "url_citation", "url_citation": cited})
    return found


def address(citation: Citation, person: Person, base: str) -> str:
    """base: of this server, without a slash at its end."""
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
    """Claims as they come, and at the end what is still missing of the answer."""

    def __init__(self) -> None:
        self.told = ""
        self._claims = 0
        self._seen: list[Citation] = []

    def claim(self, index: int, text: str, citations: Sequence[Citation]) -> str:
        """What to send for this claim; empty where it changes one that was sent."""
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
        piece = f"\n\n{whole}" if self.told else whole
        self.told += piece
        return piece

    def rest(self, text: str) -> str:
        """What is missing; where the answer became another one than was told, all of it again."""
        piece = text[len(self.told) :]
        if not text.startswith(self.told):
            piece = "\n\n".join(("", "---", text))
        self.told += piece
        return piece
