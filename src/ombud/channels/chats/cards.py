"""Lays out an answer as a card, before a platform gives it its form."""

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from ombud.channels.chats.address import Post
from ombud.channels.chats.groups import Reason
from ombud.channels.openai.wording import address, contact_line
from ombud.messages import message
from ombud.types import Answer, Citation, Person

_ROW = re.compile(r"\|.*\|\s*(?:\[\d+\]\s*)*$")
_RULE = re.compile(r"[\s|:-]+")
_CITED = re.compile(r"(?:\s*\[\d+\])+\s*$")
Rows = list[list[str]]


class CardTable(NamedTuple):
    rows: Rows
    has_header: bool


class CardSource(NamedTuple):
    """A cited passage."""

    number: int
    title: str
    page: int | None
    quote: str
    url: str
    """Our page on which it is marked; empty where we have no address."""


class Button(NamedTuple):
    """Something that people can choose, and what we need to know then."""

    kind: Literal["ask", "person", "rate", "take_back"]
    title: str
    data: Mapping[str, Any] = {}


class Card(NamedTuple):
    """A message in parts."""

    heading: str = ""
    note: str = ""
    """Why only the employee sees it."""
    parts: Sequence[str | CardTable] = ()
    """Paragraphs in Markdown, and tables."""
    sources: Sequence[CardSource] = ()
    suggestions: Sequence[Button] = ()
    buttons: Sequence[Button] = ()


def card_of(post: Post, base: str, *, has_desk: bool, knows_people: bool) -> Card:
    """Lay out a message. base: our own address, for links to documents; has_desk: somebody can take
    over; knows_people: people sign in, so links need not describe them."""
    private = post.address.private
    note = message(f"channels.only_you_{private}") if private in get_args(Reason) else ""
    answer = post.answer
    if answer is None:
        buttons = (
            [Button("take_back", message("channels.no_person"))] if post.asks_for_person else []
        )
        return Card(note=note, parts=[post.text], buttons=buttons)
    asker = Person() if knows_people else post.session.asker
    own: list[Button] = []
    if has_desk and not post.session.is_handed_over:
        data = {"answer": answer.id, "reason": answer.offer or "asked", "topic": answer.topic}
        own.append(Button("person", message("thread.talk_to_person"), data))
    if answer.id:
        own.append(Button("rate", message("thread.helpful"), {"answer": answer.id, "thumb": 1}))
        own.append(
            Button("rate", message("thread.not_helpful"), {"answer": answer.id, "thumb": -1})
        )
    return Card(
        heading=answer_heading(answer),
        note=note,
        parts=answer_parts(answer),
        sources=source_lines(answer.citations, asker, base),
        suggestions=[
            Button("ask", text, {"text": text, "answer": answer.id}) for text in answer.suggestions
        ],
        buttons=own,
    )


def answer_heading(answer: Answer) -> str:
    """Return the heading that the chat page shows for such an answer."""
    if answer.action == "handoff":
        return message("thread.badge_person")
    if answer.action == "clarify":
        return message("thread.badge_clarify" if answer.suggestions else "thread.badge_here")
    if answer.outcome == "full":
        return message("thread.badge_full")
    if answer.outcome == "partial":
        return message("thread.badge_partial")
    if answer.action == "contact":
        return message("thread.badge_not_sure" if answer.claims else "thread.badge_none")
    return message("thread.badge_outside")


def answer_parts(answer: Answer) -> list[str | CardTable]:
    """Split an answer into paragraphs and tables; contacts follow where its action needs them."""
    blocks = answer.text.split("\n\n")
    if answer.contacts and answer.action in ("contact", "handoff"):
        blocks.append("\n".join(contact_line(one) for one in answer.contacts))
    parts: list[str | CardTable] = []
    for block in blocks:
        lines = [line for line in block.strip().splitlines() if line.strip()]
        if lines and all(_ROW.match(line.strip()) for line in lines):
            parts.append(table_of(lines))
        elif lines:
            parts.append(block.strip())
    return parts


def table_of(lines: Sequence[str]) -> CardTable:
    has_header = len(lines) > 1 and bool(_RULE.fullmatch(lines[1]))
    rows = [split_row(line) for line in lines if not _RULE.fullmatch(line)]
    width = max(map(len, rows))
    return CardTable([row + [""] * (width - len(row)) for row in rows], has_header)


def split_row(line: str) -> list[str]:
    """Split a table row. Citation markers after the row go into its last cell."""
    marks = _CITED.search(line.strip())
    inside = line.strip()[: marks.start()] if marks else line.strip()
    cells = [cell.strip() for cell in inside.strip().strip("|").split("|")]
    if marks:
        cells[-1] = f"{cells[-1]} {marks[0].strip()}"
    return cells


def source_lines(citations: Sequence[Citation], asker: Person, base: str) -> list[CardSource]:
    has_address = urlsplit(base).scheme in {"http", "https"}
    lines: list[CardSource] = []
    for number, citation in enumerate(citations[:8], start=1):
        # Teams refuses messages above 28 kB.
        quote = shorten(citation.quote, 600, placeholder="…")
        url = address(citation, asker, base) if has_address else ""
        lines.append(CardSource(number, citation.title, citation.page, quote, url))
    return lines
