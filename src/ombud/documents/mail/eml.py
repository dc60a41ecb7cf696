"""Parse e-mail (MIME) messages: the subject as heading, sender, recipients and text.

Attachments and attached messages are documents of their own; quoted text of replies is left
out."""

import email
import mimetypes
import re
from collections import Counter
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.policy import compat32
from pathlib import PurePosixPath

from ombud.documents.blocks import AttachedFile, ParsedFile, heading, list_of, paragraph, tidy
from ombud.documents.encodings import decode
from ombud.documents.mail.quoted import FORWARDED, remove_quoted, without_quoted_text
from ombud.documents.markup.html import blocks_of, fragment
from ombud.documents.plain import paragraphs
from ombud.errors import SourceError
from ombud.types import Block, Loss

MAX_PARTS = 200
"""Parts of a message. The library takes time quadratic in their depth, and nests calls."""
LONGEST_HEADER = 2000
"""Characters of a header; a mailing to a thousand people names them all."""
_NESTING = re.compile(rb"boundary\s*=|^content-type:\s*message/", re.IGNORECASE | re.MULTILINE)
_HEADER = re.compile(
    rb"^(?:from|to|subject|date|received|return-path|message-id|mime-version|content-type"
    rb"|delivered-to|x-[\w-]+|dkim-signature|reply-to|cc|sender)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f/\\]+")
_PEOPLE_AND_DATE = ("from", "to", "cc", "date")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse a message; raises SourceError without a message header, and for too many nested
    messages."""
    del pages
    if not _HEADER.search(data[:8192]):
        raise SourceError(
            "The file is no e-mail message.", hint="Save it again from the mail program as .eml."
        )
    nested = sum(1 for _ in _NESTING.finditer(data))
    if nested > MAX_PARTS:
        raise SourceError(
            f"The message nests more than {MAX_PARTS} parts in each other.",
            hint="Save its parts as files instead.",
        )
    try:
        return read_message(email.message_from_bytes(data, policy=compat32))
    except (MessageError, ValueError, LookupError, RecursionError) as error:
        raise SourceError(
            "The message is broken.", hint="Save it again from the mail program as .eml."
        ) from error


def read_message(message: Message) -> ParsedFile:
    """Read the document of a message, and the files attached to it."""
    head = {name: header(message.get(name)) for name in ("subject", *_PEOPLE_AND_DATE)}
    body = _Body(
        is_forward=FORWARDED.match(head["subject"]) is not None,
        is_reply=bool(message.get("in-reply-to") or message.get("references")),
    )
    blocks = list(body.read(message))
    attached = tuple(with_unique_names(find_attachments(message)))
    laid_out = list(layout_blocks(head, blocks, attached))
    return ParsedFile(laid_out, head["subject"], body.loss, attached)


def layout_blocks(
    head: dict[str, str], body: list[Block], attached: tuple[AttachedFile, ...]
) -> Iterator[Block]:
    """Yield the blocks of a message. head: lower-case header -> value."""
    subject = head.get("subject")
    if subject:
        yield heading(subject, 1)
    lines = [f"{name.capitalize()}: {head[name]}" for name in _PEOPLE_AND_DATE if head.get(name)]
    if lines:
        yield paragraph("\n".join(lines))
    yield from map(below_subject, body) if subject else body
    if attached:
        yield paragraph("Attachments:")
        yield from list_of([f"- {file.name}" for file in attached])


def below_subject(block: Block) -> Block:
    """Move a heading of the text one level below the subject."""
    if block.kind != "heading":
        return block
    level = min(block.level + 1, 6)
    return block.model_copy(update={"level": level})


def header(value: object) -> str:
    """Decode a header: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" -> "Grüße"."""
    raw = str(value or "")[: LONGEST_HEADER * 4]
    try:
        pieces = decode_header(raw)
    except (MessageError, ValueError):
        return tidy(raw)
    words = []
    for piece, charset in pieces:
        words.append(decode_words(piece, charset) if isinstance(piece, bytes) else piece)
    return tidy("".join(words))[:LONGEST_HEADER]


def decode_words(data: bytes, charset: str | None) -> str:
    """Decode a few words, in some way even if their encoding is unknown."""
    try:
        return decode(data, charset or "").text
    except SourceError:
        return data.decode("cp1252", errors="replace")


class _Body:
    """Reads the text of a message and counts what it leaves out."""

    def __init__(self, *, is_forward: bool, is_reply: bool) -> None:
        self.loss = Loss()
        self._is_forward = is_forward
        self._is_reply = is_reply

    def read(self, part: Message) -> Iterator[Block]:
        """Yield the blocks of a part; of alternatives those of the richest, which is last."""
        if part.get_content_maintype() == "message" or is_attached(part):
            return
        if not part.is_multipart():
            yield from self._text(part)
            return
        if part.get_content_subtype() != "alternative":
            for inner in inner_parts(part):
                yield from self.read(inner)
            return
        for alternative in reversed(inner_parts(part)):
            blocks = list(self.read(alternative))
            if blocks:
                yield from blocks
                return

    def _text(self, part: Message) -> Iterator[Block]:
        kind = part.get_content_type()
        data = part.get_payload(decode=True)
        if kind not in {"text/plain", "text/html"} or not isinstance(data, bytes):
            return
        if not data.strip():
            return
        text, loss = decode(data, part.get_content_charset() or "")
        quoted = 0
        if kind == "text/html":
            tree = fragment(text)
            if not self._is_forward:
                quoted = remove_quoted(tree, self._is_reply)
            yield from blocks_of(tree)
        else:
            if not self._is_forward:
                text, quoted = without_quoted_text(text, self._is_reply)
            yield from paragraphs(text)
        self.loss += loss + Loss(quoted=quoted) if quoted else loss


def inner_parts(part: Message) -> list[Message]:
    """List the parts of a part that has several."""
    return [inner for inner in part.get_payload() if isinstance(inner, Message)]


def is_attached(part: Message) -> bool:
    disposition = str(part.get("content-disposition") or "")
    # Parsing headers costs more than everything else about a short message.
    if "name" not in f"{disposition}{part.get('content-type')}".lower():
        return bool(disposition) and part.get_content_disposition() == "attachment"
    is_file = part.get_filename() is not None and part.get_content_maintype() != "multipart"
    return is_file or part.get_content_disposition() == "attachment"


def find_attachments(message: Message) -> Iterator[AttachedFile]:
    """Yield attached files and messages; pictures within the text are part of it."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.get_content_type() == "message/rfc822":
            for inner in inner_parts(part) if part.is_multipart() else []:
                subject = header(inner.get("subject")) or "message"
                yield AttachedFile(f"{subject}.eml", inner.as_bytes())
        elif part.is_multipart():
            waiting.extend(reversed(inner_parts(part)))
        elif part.get("content-id") and part.get_content_maintype() == "image":
            continue
        elif is_attached(part):
            data = part.get_payload(decode=True)
            yield AttachedFile(attachment_name(part), data if isinstance(data, bytes) else b"")


def attachment_name(part: Message) -> str:
    """Return the name of an attached file, with an ending by its type if it has none."""
    name = header(part.get_filename()) or "attachment"
    if PurePosixPath(name).suffix:
        return name
    return name + (mimetypes.guess_extension(part.get_content_type()) or "")


def with_unique_names(files: Iterator[AttachedFile]) -> Iterator[AttachedFile]:
    """Give files unique names without path separators: the second "rules.pdf" becomes
    "rules (2).pdf"."""
    taken = Counter[str]()
    for file in files:
        name = _NOT_IN_NAMES.sub("_", file.name)[-150:].strip(". ")
        taken[name] += 1
        path = PurePosixPath(name)
        again = f"{path.stem} ({taken[name]}){path.suffix}"
        yield file._replace(name=name if taken[name] == 1 else again)
