"""Gives cards the form of Adaptive Cards (schema 1.5, supported by Teams on desktop and mobile)."""

from collections.abc import Sequence
from typing import Any

from ombud.channels.chats.cards import Button, Card, CardSource, CardTable
from ombud.messages import message

Element = dict[str, Any]
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
SOURCES = "sources"
MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]()<>#"})
"""Escapes Markdown, so that text of a document cannot add links or formatting."""


def adaptive_card(card: Card) -> Element:
    body: list[Element] = []
    if card.heading:
        body.append(text_block(card.heading, weight="Bolder", color="Accent", size="Small"))
    if card.note:
        body.append(text_block(card.note, isSubtle=True))
    for part in card.parts:
        body.append(table(part) if isinstance(part, CardTable) else text_block(part))
    actions: list[Element] = []
    if card.sources:
        body.append(source_list(card.sources))
        title = message("channels.sources", count=len(card.sources))
        actions.append(
            {"type": "Action.ToggleVisibility", "title": title, "targetElements": [SOURCES]}
        )
    if card.suggestions:
        body.append({"type": "ActionSet", "actions": list(map(execute_button, card.suggestions))})
    thumbs = [execute_button(one) for one in card.buttons if one.kind == "rate"]
    actions += [execute_button(one) for one in card.buttons if one.kind != "rate"]
    if thumbs:
        actions.append(
            {"type": "Action.ShowCard", "title": message("channels.rate"), "card": rating(thumbs)}
        )
    return {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.5",
        "msteams": {"width": "Full"},
        "body": body,
        "actions": actions,
    }


def notice_card(text: str, link: tuple[str, str] | None = None) -> Element:
    """Make a card with a short notice, and optionally a button that opens a page (title,
    address)."""
    card = adaptive_card(Card(parts=[text]))
    if link:
        title, url = link
        card["actions"] = [{"type": "Action.OpenUrl", "title": title, "url": url}]
    return card


def rating(thumbs: Sequence[Element]) -> Element:
    comment = {
        "type": "Input.Text",
        "id": "comment",
        "isMultiline": True,
        "placeholder": message("channels.comment"),
    }
    return {"type": "AdaptiveCard", "body": [comment], "actions": list(thumbs)}


def execute_button(button: Button) -> Element:
    return {
        "type": "Action.Execute",
        "title": button.title,
        "verb": button.kind,
        "data": dict(button.data),
    }


def text_block(text: str, **looks: Any) -> Element:
    return {"type": "TextBlock", "text": text, "wrap": True, **looks}


def table(part: CardTable) -> Element:
    rows: list[Element] = []
    for row in part.rows:
        items = [{"type": "TableCell", "items": [text_block(text)]} for text in row]
        rows.append({"type": "TableRow", "cells": items})
    columns = [{"width": 1} for _ in part.rows[0]]
    return {
        "type": "Table",
        "firstRowAsHeader": part.has_header,
        "columns": columns,
        "rows": rows,
    }


def source_list(sources: Sequence[CardSource]) -> Element:
    items: list[Element] = []
    for source in sources:
        title = source.title.translate(MARKUP)
        if source.page:
            title = message("notices.title_page", title=title, page=source.page)
        items.append(text_block(f"{source.number}. {title}", weight="Bolder"))
        items.append(text_block(source.quote.translate(MARKUP), isSubtle=True))
        if source.url:
            title = message("thread.open_document")
            opened = {"type": "Action.OpenUrl", "title": title, "url": source.url}
            items.append({"type": "ActionSet", "actions": [opened]})
    return {"type": "Container", "id": SOURCES, "isVisible": False, "items": items}
