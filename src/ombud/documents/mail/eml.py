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

from ombud.documents.blocks import ParsedFile, heading, list_of, paragraph, tidy
from ombud.documents.encodings import decode
from ombud.documents.html import fragment
from ombud.documents.plain import read as read_plain
from ombud.errors import SourceError
from ombud.types import Block

MOST_PARTS = 200
"""Announced in one message. The library takes time quadratic in the depth of parts, and nests calls
with it."""
LONGEST_HEADER = 2000
"""Characters that are shown; a mailing to a thousand people names them all."""
_NESTING = re.compile(rb"boundary\s*=|^content-type:\s*message/", re.IGNORECASE | re.MULTILINE)
_HEADER = re.compile(
    rb"^(?:from|to|subject|date|received|return-path|message-id|mime-version|content-type"
    rb"|delivered-to|x-[\w-]+|dkim-signature|reply-to|cc|sender)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_PEOPLE_AND_DATE = ("from", "to", "cc", "date")


def read(data: bytes, pages: int) -> ParsedFile:
    """Raises SourceError for what has no header of a message, and for messages in messages without
    end."""
    del pages
    if not _HEADER.search(data[:8192]):
        raise SourceError(
            "The file is no e-mail message.", hint="Save it again from the mail program as .eml."
        )
    nested = sum(1 for _ in _NESTING.finditer(data))
    if nested > MOST_PARTS:
        raise SourceError(
            f"The message nests more than {MOST_PARTS} parts in each other.",
            hint="Save its parts as files instead.",
        )
    try:
        message = email.message_from_bytes(data, policy=compat32)
        body = list(_body(message))
        attached = list(_attachments(message))
    except (MessageError, ValueError, LookupError, RecursionError) as error:
        raise SourceError(
            "The message is broken.", hint="Save it again from the mail program as .eml."
        ) from error
    head = {name: header(message.get(name)) for name in ("subject", *_PEOPLE_AND_DATE)}
    return ParsedFile(list(laid_out(head, body, attached)), head["subject"])


def laid_out(head: dict[str, str], body: list[Block], attached: list[str]) -> Iterator[Block]:
    """The blocks of a message. head: lower-case names of headers -> what they say."""
    subject = head.get("subject")
    if subject:
        yield heading(subject, 1)
    filled_in = [name for name in _PEOPLE_AND_DATE if head.get(name)]
    if filled_in:
        lines = [f"{name.capitalize()}: {head[name]}" for name in filled_in]
        yield paragraph("\n".join(lines))
    yield from map(_below_subject, body) if subject else body
    if attached:
        yield paragraph("Attachments:")
        yield from list_of([f"- {name}" for name in attached])


def _below_subject(block: Block) -> Block:
    """Headings of the text are one level deeper than that of the message."""
    if block.kind != "heading":
        return block
    level = min(block.level + 1, 6)
    return block.model_copy(update={"level": level})


def header(value: object) -> str:
    """A header with its encoded words read: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" -> "Grüße"."""
    raw = str(value or "")[: LONGEST_HEADER * 4]
    try:
        pieces = decode_header(raw)
    except (MessageError, ValueError):
        return tidy(raw)
    words = []
    for piece, charset in pieces:
        words.append(_decoded(piece, charset) if isinstance(piece, bytes) else piece)
    return tidy("".join(words))[:LONGEST_HEADER]


def _decoded(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8")
    except (LookupError, ValueError):
        # The charset that was promised is unknown or wrong.
        return data.decode("cp1252", errors="replace")


def _body(part: Message) -> Iterator[Block]:
    """The text of a message: of alternatives the richest, which stands last."""
    if part.get_content_maintype() == "message" or _is_attached(part):
        return
    if not part.is_multipart():
        yield from _text(part)
        return
    if part.get_content_subtype() != "alternative":
        for inner in _parts(part):
            yield from _body(inner)
        return
    for alternative in reversed(_parts(part)):
        blocks = list(_body(alternative))
        if blocks:
            yield from blocks
            return


def _parts(part: Message) -> list[Message]:
    """The parts of one that has several."""
    return [inner for inner in part.get_payload() if isinstance(inner, Message)]


def _text(part: Message) -> Iterator[Block]:
    kind = part.get_content_type()
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return
    if kind not in {"text/plain", "text/html"}:
        return
    charset = part.get_content_charset()
    text = _decoded(data, charset) if charset else decode(data).text
    if kind == "text/html":
        yield from fragment(text)
    else:
        yield from read_plain(text.encode("utf-8", errors="replace"), 0).blocks


def _is_attached(part: Message) -> bool:
    is_file = part.get_filename() is not None and part.get_content_maintype() != "multipart"
    return is_file or part.get_content_disposition() == "attachment"


def _is_shown_picture(part: Message) -> bool:
    """Whether the text shows it in its place."""
    return bool(part.get("content-id")) and part.get_content_maintype() == "image"


def _attachments(message: Message) -> Iterator[str]:
    """Names of files, subjects of messages; pictures that the text shows are part of it."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.get_content_type() == "message/rfc822":
            yield _subject(part) or "message"
        elif part.is_multipart():
            waiting.extend(reversed(_parts(part)))
        elif _is_attached(part) and not _is_shown_picture(part):
            yield header(part.get_filename()) or part.get_content_type()


def _subject(attached: Message) -> str:
    """Of an attached message."""
    payload = attached.get_payload()
    if not isinstance(payload, list) or not payload:
        return ""
    first = payload[0]
    return header(first.get("subject")) if isinstance(first, Message) else ""
