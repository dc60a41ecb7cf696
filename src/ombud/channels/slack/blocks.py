"""Gives cards the form of Slack's Block Kit."""

import json
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from ombud.app import conversing
from ombud.channels.chats.cards import Button, Card, CardSource, CardTable
from ombud.messages import format_day, message

Block = dict[str, Any]
MOST_TEXT = 2900
"""Characters of a section; Slack refuses more than 3,000."""
THUMBS = {1: "👍", -1: "👎"}


def blocks_of(card: Card) -> list[Block]:
    """Show the first line whole; Slack folds the sections below it when they are long."""
    blocks: list[Block] = []
    if card.note:
        blocks.append(context(card.note))
    if card.heading:
        blocks.append(context(f"*{card.heading}*"))
    for number, part in enumerate(card.parts):
        text = table_text(part) if isinstance(part, CardTable) else markdown_text(part)
        pieces = [text[at : at + MOST_TEXT] for at in range(0, len(text), MOST_TEXT)]
        blocks += [section(piece, expand=number == 0) for piece in pieces]
    if card.sources:
        blocks.append(section("\n".join(map(source_text, card.sources))[:MOST_TEXT]))
    for buttons in (card.suggestions, card.buttons):
        if buttons:
            elements = [button(one, number) for number, one in enumerate(buttons[:25])]
            blocks.append({"type": "actions", "elements": elements})
    return blocks[:50]


def summary(card: Card) -> str:
    """Return what notifications show of a card."""
    texts = [table_text(part) if isinstance(part, CardTable) else part for part in card.parts]
    return escape("\n\n".join(filter(None, [card.note, card.heading, *texts])))[:MOST_TEXT]


def escape(text: str) -> str:
    """Escape the characters that begin links, mentions and entities, so that text of a document or
    a person adds none."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_text(text: str) -> str:
    """Convert our Markdown: headings and bold text are written otherwise in Slack."""
    lines: list[str] = []
    for line in escape(text).splitlines():
        if line.startswith("#"):
            line = f"*{line.lstrip('# ')}*"
        lines.append(line.replace("**", "*"))
    return "\n".join(lines)


def table_text(table: CardTable) -> str:
    """Align the columns, since Slack allows one real table a message."""
    widths = [max(map(len, column)) for column in zip_longest(*table.rows, fillvalue="")]
    lines: list[str] = []
    for row in table.rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append(escape(" │ ".join(cells).rstrip()))
    if table.has_header:
        lines.insert(1, "─┼─".join("─" * width for width in widths))
    return "\n".join(["```", *lines, "```"])


def source_text(source: CardSource) -> str:
    title = escape(source.title).replace("|", "¦")
    linked = f"<{source.url}|{title}>" if source.url else title
    if source.page:
        linked = message("notices.title_page", title=linked, page=source.page)
    return f"{source.number}. {linked}\n> {escape(source.quote)}"


def section(text: str, *, expand: bool = False) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, "expand": expand}


def context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}


def button(one: Button, number: int) -> Block:
    title = THUMBS.get(one.data.get("thumb", 0), one.title)
    short = title if len(title) <= 75 else f"{title[:74]}…"
    return {
        "type": "button",
        "action_id": f"{one.kind}-{number}",
        "text": {"type": "plain_text", "text": short, "emoji": True},
        "value": json.dumps(dict(one.data), ensure_ascii=False)[:2000],
    }


def comment_view(data: str) -> Block:
    """Make the window that asks for a comment on a rating. data: of the button."""
    comment = {
        "type": "input",
        "block_id": "comment",
        "optional": True,
        "label": {"type": "plain_text", "text": message("channels.comment")},
        "element": {"type": "plain_text_input", "action_id": "comment", "multiline": True},
    }
    return {
        "type": "modal",
        "callback_id": "rate",
        "private_metadata": data,
        "title": {"type": "plain_text", "text": message("thread.thanks")},
        "submit": {"type": "plain_text", "text": message("thread.send")},
        "blocks": [comment],
    }


def home_view(hello: str, talks: Sequence[conversing.Listed], base: str) -> Block:
    """Make the home tab with the person's own conversations, newest first."""
    blocks = [section(escape(hello), expand=True)]
    for talk in talks[:20]:
        is_with_person = talk.session.is_handed_over
        state = message("channels.with_person" if is_with_person else "channels.with_assistant")
        day = f"{format_day(talk.at.date())} · " if talk.at else ""
        blocks.append(section(f"*{escape(talk.title)}*\n{day}{state}"))
    if not talks:
        blocks.append(section(message("channels.no_questions")))
    if base:
        blocks.append(section(f"<{base}/|{message('channels.open_page')}>"))
    return {"type": "home", "blocks": blocks}


def plain_text(text: str) -> str:
    """Return what somebody typed: mentions are dropped, links are their labels."""
    return "".join(text_pieces(text)).strip()


def text_pieces(text: str) -> Iterable[str]:
    before, *marked = text.split("<")
    yield unescape(before)
    for piece in marked:
        inside, _, after = piece.partition(">")
        address, _, label = inside.partition("|")
        if not address.startswith("@"):
            yield unescape(label or address.lstrip("#!"))
        yield unescape(after)


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
