"""Messages saved by Outlook: their properties become a message as any other, which is read as one.

By olefile rather than xberg, which gives neither the attachments nor the HTML of a message."""

import email
import io
import re
from email.message import EmailMessage
from email.policy import compat32
from typing import Any

from olefile import OleFileIO

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.encodings import decode
from ombud.documents.mail.eml import MOST_PARTS, read_message
from ombud.errors import SourceError

_HEADERS = {"Subject": "0037", "From": "0C1A", "To": "0E04", "Cc": "0E03"}
"""Header -> the number of the property that holds it."""
_LINES = re.compile(
    r"^(Date|In-Reply-To|References):(.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE
)


def read(data: bytes, pages: int) -> ParsedFile:
    """Subject, people, date, text and attachments; raises SourceError for what is no message."""
    del pages
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        raise SourceError(
            "The file is no Outlook message.", hint="Save it from Outlook as .msg, or as .eml."
        )
    try:
        with OleFileIO(io.BytesIO(data)) as file:
            if not file.exists("__properties_version1.0"):
                raise ValueError("no message")
            made = _StoredMessage(file).made().as_bytes()
            return read_message(email.message_from_bytes(made, policy=compat32))
    except SourceError:
        raise
    except Exception as error:  # olefile raises all kinds on broken files
        raise SourceError(
            "The message is broken.", hint="Save it again from Outlook, as .eml."
        ) from error


class _StoredMessage:
    """A message in one of the storages of a compound file."""

    def __init__(self, file: OleFileIO, place: tuple[str, ...] = ()) -> None:
        self._file = file
        self._place = place

    def made(self) -> EmailMessage:
        """The message with its texts and attachments."""
        if len(self._place) > MOST_PARTS:
            raise SourceError(
                "The message nests too many messages.", hint="Save its parts as files instead."
            )
        message = EmailMessage()
        for name, number in _HEADERS.items():
            message[name] = tidy(self._words(number))
        for name, value in _LINES.findall(self._words("007D")):
            if name not in message:
                message[name] = tidy(value)
        self._add_texts(message)
        for child in self._storages("__attach_version1.0_"):
            _StoredMessage(self._file, (*self._place, child))._attach_to(message)
        return message

    def _add_texts(self, message: EmailMessage) -> None:
        text = self._words("1000")
        html = self._stream("1013", "0102")
        message.set_content(text)
        if html or self._words("1013"):
            source = decode(html).text if html else self._words("1013")
            message.add_alternative(source, subtype="html")

    def _attach_to(self, message: EmailMessage) -> None:
        """Attach the file or message that this storage holds."""
        inner = (*self._place, "__substg1.0_3701000D")
        name = self._words("3707") or self._words("3704") or self._words("3001")
        if self._file.exists([*inner, "__properties_version1.0"]):
            held = _StoredMessage(self._file, inner).made()
            message.add_attachment(held)
            return
        data = self._stream("3701", "0102")
        maintype, _, subtype = (self._words("370E") or "application/octet-stream").partition("/")
        message.add_attachment(
            data,
            maintype=maintype,
            subtype=subtype or "octet-stream",
            filename=tidy(name) or None,
            cid=self._words("3712") or None,
        )

    def _storages(self, start: str) -> list[str]:
        depth = len(self._place)
        names = set()
        for path in self._file.listdir(streams=True, storages=True):
            is_below = tuple(path[:depth]) == self._place and len(path) > depth
            if is_below and path[depth].startswith(start):
                names.add(path[depth])
        return sorted(names)

    def _words(self, number: str) -> str:
        """A property of text, in UTF-16 or in the encoding of its sender."""
        wide = self._stream(number, "001F")
        if wide:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        narrow = self._stream(number, "001E")
        return decode(narrow.rstrip(b"\0")).text if narrow else ""

    def _stream(self, number: str, kind: str) -> bytes:
        path = [*self._place, f"__substg1.0_{number}{kind}"]
        if not self._file.exists(path):
            return b""
        stream: Any = self._file.openstream(path)
        data: bytes = stream.read()
        return data
