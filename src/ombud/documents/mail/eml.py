"""E-mail messages: the subject as heading, who wrote to whom, what they wrote, and what was
attached.

Attachments are named, not read: what matters should be a document of its own.
"""

import email
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.policy import compat32

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.html import fragment
from ombud.documents.plain import decode
from ombud.documents.plain import read as read_plain
from ombud.errors import SourceError
from ombud.types import Block

MOST_PARTS = 200
"""Announced in one message. The library takes time quadratic in the depth of parts, and nests calls
with it."""
LONGEST_HEADER = 2000
"""Characters that are shown; a mailing to a thousand people names them all."""
_NESTING = re.compile(rb"boundary\s*=|^content-type:\s*message/", re.IGNORECASE | re.MULTILINE)
_HEADER = re.compile(rb"^(?:from|to|subject|date|received|return-path|message-id|mime-version|content-type|delivered-to"
                     rb"|x-[\w-]+|dkim-signature|reply-to|cc|sender)\s*:", re.IGNORECASE | re.MULTILINE)  # fmt: skip


def read(data: bytes, pages: int) -> ParsedFile:
    """Raises SourceError for what has no header of a message, and for messages in messages without
    end."""
    del pages
    if not _HEADER.search(data[:8192]):
        raise SourceError(
            "The file is no e-mail message.", hint="Save it again from the mail program as .eml."
        )
    if sum(1 for _ in _NESTING.finditer(data)) > MOST_PARTS:
        raise SourceError(
            f"The message nests more than {MOST_PARTS} parts in each other.",
            hint="Save its parts as files instead.",
        )
    try:
        message = email.message_from_bytes(data, policy=compat32)
        body = list(_body(message))
        attached = list(_attachments(message))
    except (MessageError, ValueError, LookupError, RecursionError) as wrong:
        raise SourceError(
            "The message is broken.", hint="Save it again from the mail program as .eml."
        ) from wrong
    head = {name: header(message.get(name)) for name in ("subject", "from", "to", "cc", "date")}
    return ParsedFile(list(laid_out(head, body, attached)), head["subject"])


def laid_out(head: dict[str, str], body: list[Block], attached: list[str]) -> Iterator[Block]:
    """The blocks of a message. head: lower-case names of headers -> what they say."""
    if head.get("subject"):
        yield Block(kind="heading", text=head["subject"], level=1)
    known = [
        f"{name.capitalize()}: {head[name]}"
        for name in ("from", "to", "cc", "date")
        if head.get(name)
    ]
    if known:
        yield Block(kind="text", text="\n".join(known))
    for block in body:
        # Headings of the text stand below the subject.
        deeper = (
            {"level": min(block.level + 1, 6)}
            if block.kind == "heading" and head.get("subject")
            else {}
        )
        yield block.model_copy(update=deeper)
    if attached:
        yield Block(kind="text", text="Attachments:")
        yield Block(kind="list", text="\n".join(f"- {name}" for name in attached))


def header(value: object) -> str:
    """A header with its encoded words read: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" -> "Grüße"."""
    raw = str(value or "")[: LONGEST_HEADER * 4]
    try:
        pieces = decode_header(raw)
    except (MessageError, ValueError):
        return tidy(raw)
    said = "".join(
        _decoded(piece, charset) if isinstance(piece, bytes) else piece for piece, charset in pieces
    )
    return tidy(said)[:LONGEST_HEADER]


def _decoded(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8")
    except (LookupError, ValueError):
        # The charset that was promised is unknown or wrong.
        return data.decode("cp1252", errors="replace")


def _body(part: Message, depth: int = 0) -> Iterator[Block]:
    """The text of a message: of alternatives the richest, which stands last."""
    if part.get_content_maintype() == "message" or _is_attached(part):
        return
    if not part.is_multipart():
        yield from _text(part)
        return
    inner = [one for one in part.get_payload() if isinstance(one, Message)]
    if part.get_content_subtype() == "alternative":
        for one in reversed(inner):
            if found := list(_body(one, depth + 1)):
                yield from found
                return
        return
    for one in inner:
        yield from _body(one, depth + 1)


def _text(part: Message) -> Iterator[Block]:
    kind = part.get_content_type()
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip() or kind not in {"text/plain", "text/html"}:
        return
    charset = part.get_content_charset()
    text = _decoded(data, charset) if charset else decode(data)
    if kind == "text/html":
        yield from fragment(text)
    else:
        yield from read_plain(text.encode("utf-8", errors="replace"), 0).blocks


def _is_attached(part: Message) -> bool:
    named = part.get_filename() is not None and part.get_content_maintype() != "multipart"
    return part.get_content_disposition() == "attachment" or named


def _attachments(message: Message) -> Iterator[str]:
    """Names of files, subjects of messages; pictures that the text shows are part of it."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            first = inner[0] if isinstance(inner, list) and inner else None
            yield header(first.get("subject") if isinstance(first, Message) else None) or "message"
        elif part.is_multipart():
            waiting.extend(
                reversed([one for one in part.get_payload() if isinstance(one, Message)])
            )
        elif _is_attached(part) and not (
            part.get("content-id") and part.get_content_maintype() == "image"
        ):
            yield header(part.get_filename()) or part.get_content_type()
