"""An answer as an Adaptive Card (schema 1.5, which Teams shows on desktops and phones)."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ombud.channels.openai.wording import address, message_text
from ombud.types import Answer, Citation, Person

Element = dict[str, Any]
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
MOST_SOURCES = 8
LONGEST_QUOTE = 600
"""Characters. Teams refuses messages above 28 kB."""
SOURCES = "sources"
_ROW = re.compile(r"\|.*\|\s*(?:\[\d+\]\s*)*$")
_RULE = re.compile(r"[\s|:-]+")
_MARKUP = re.compile(r"([\\`*_\[\]()<>#])")
_CITED = re.compile(r"(?:\s*\[\d+\])+\s*$")


def answer_card(answer: Answer, person: Person, base: str, offer: bool) -> Element:
    """base: our own address, to open documents at; offer: whether a person can be asked for."""
    body: list[Element] = [_text(_kind(answer), weight="Bolder", color="Accent", size="Small")]
    for block in message_text(answer).split("\n\n"):
        body.extend(_block(block))
    actions: list[Element] = []
    if answer.citations:
        body.append(_sources(answer.citations, person, base))
        count = min(len(answer.citations), MOST_SOURCES)
        title = f"Sources ({count})"
        actions.append(
            {"type": "Action.ToggleVisibility", "title": title, "targetElements": [SOURCES]}
        )
    if offer:
        reason = answer.offer or "asked"
        data = {"ombud": "person", "reason": reason, "topic": answer.topic}
        actions.append(_submit("Talk to a person", data))
    if answer.id:
        for title, thumb in (("Helpful", 1), ("Not helpful", -1)):
            rated = {"ombud": "rate", "answer": answer.id, "thumb": thumb}
            actions.append(_submit(title, rated))
    return _card(body, actions)


def notice_card(text: str, *, person: bool = False, link: tuple[str, str] | None = None) -> Element:
    """A sentence of ours, with a button to ask for a person, and one that opens a page (title,
    address)."""
    actions: list[Element] = []
    if person:
        actions.append(_submit("Talk to a person", {"ombud": "person", "reason": "asked"}))
    if link:
        title, url = link
        actions.append({"type": "Action.OpenUrl", "title": title, "url": url})
    return _card([_text(text)], actions)


def _card(body: list[Element], actions: list[Element]) -> Element:
    return {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.5",
        "msteams": {"width": "Full"},
        "body": body,
        "actions": actions,
    }


def _kind(answer: Answer) -> str:
    """As the chat page calls it."""
    if answer.action == "handoff":
        return "Needs a person"
    if answer.action == "clarify":
        return "Tell me a little more" if answer.suggestions else "Here to help"
    if answer.outcome == "full":
        return "Answered"
    if answer.outcome == "partial":
        return "Partly answered"
    if answer.action == "contact":
        return "Not sure" if answer.claims else "Not in the documents"
    return "Outside what I cover"


def _text(text: str, **looks: Any) -> Element:
    return {"type": "TextBlock", "text": text, "wrap": True, **looks}


def _block(block: str) -> list[Element]:
    """A paragraph or list as it is, a table as one."""
    lines = [line for line in block.strip().splitlines() if line.strip()]
    if not lines:
        return []
    rows = [line for line in lines if _ROW.match(line.strip())]
    if len(rows) != len(lines):
        return [_text(block.strip())]
    return [_table(rows)]


def _table(lines: Sequence[str]) -> Element:
    has_header = len(lines) > 1 and bool(_RULE.fullmatch(lines[1]))
    kept = [line for line in lines if not _RULE.fullmatch(line)]
    cells = list(map(_cells, kept))
    width = max(map(len, cells))
    rows = [_row(row + [""] * (width - len(row))) for row in cells]
    columns = [{"width": 1} for _ in range(width)]
    return {
        "type": "Table",
        "firstRowAsHeader": has_header,
        "columns": columns,
        "rows": rows,
    }


def _cells(line: str) -> list[str]:
    """The marks that follow a row go into its last cell."""
    marks = _CITED.search(line.strip())
    inside = line.strip()[: marks.start()] if marks else line.strip()
    cells = [cell.strip() for cell in inside.strip().strip("|").split("|")]
    if marks:
        cells[-1] = f"{cells[-1]} {marks[0].strip()}"
    return cells


def _row(cells: Sequence[str]) -> Element:
    shown = [{"type": "TableCell", "items": [_text(cell)]} for cell in cells]
    return {"type": "TableRow", "cells": shown}


def _sources(citations: Sequence[Citation], person: Person, base: str) -> Element:
    items: list[Element] = []
    for number, citation in enumerate(citations[:MOST_SOURCES], start=1):
        page = f", page {citation.page}" if citation.page else ""
        items.append(_text(f"{number}. {_plain(citation.title)}{page}", weight="Bolder"))
        items.append(_text(_plain(_shortened(citation.quote)), isSubtle=True))
        if urlsplit(base).scheme in {"http", "https"}:
            url = address(citation, person, base)
            opened = {"type": "Action.OpenUrl", "title": "Open document", "url": url}
            items.append({"type": "ActionSet", "actions": [opened]})
    return {"type": "Container", "id": SOURCES, "isVisible": False, "items": items}


def _shortened(quote: str) -> str:
    said = " ".join(quote.split())
    return said if len(said) <= LONGEST_QUOTE else f"{said[:LONGEST_QUOTE]}…"


def _plain(text: str) -> str:
    """What stands in a document is shown, not followed: no links, no marks of Markdown."""
    return _MARKUP.sub(r"\\\1", text)


def _submit(title: str, data: dict[str, Any]) -> Element:
    return {"type": "Action.Submit", "title": title, "data": data}
