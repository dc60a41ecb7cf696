"""Parse messages saved by Outlook: their properties are turned into an e-mail message.

By olefile rather than xberg, which returns neither the attachments nor the HTML of a message."""

import io
import re
from email.encoders import encode_base64
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from typing import Any

from olefile import OleFileIO

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.encodings import decode
from ombud.documents.mail.eml import MAX_PARTS, read_message
from ombud.errors import SourceError

_HEADERS = {"Subject": "0037", "From": "0C1A", "To": "0E04", "Cc": "0E03", "In-Reply-To": "1042"}
"""Header -> number of its property."""
_LINES = re.compile(
    r"^(Date|In-Reply-To|References):(.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE
)


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse a message; raises SourceError if it is none."""
    del pages
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        raise SourceError(
            "The file is no Outlook message.", hint="Save it from Outlook as .msg, or as .eml."
        )
    try:
        with OleFileIO(io.BytesIO(data)) as file:
            if not file.exists("__properties_version1.0"):
                raise ValueError("no message")
            return read_message(StoredMessage(file).to_message())
    except SourceError:
        raise
    except Exception as error:  # olefile raises anything on broken files
        raise SourceError(
            "The message is broken.", hint="Save it again from Outlook, as .eml."
        ) from error


class StoredMessage:
    """A message in one of the storages of a compound file."""

    def __init__(self, file: OleFileIO, place: tuple[str, ...] = ()) -> None:
        self._file = file
        self._place = place

    def to_message(self) -> Message:
        """Build the message with its texts and attachments."""
        if len(self._place) > MAX_PARTS:
            raise SourceError(
                "The message nests too many messages.", hint="Save its parts as files instead."
            )
        message = MIMEMultipart()
        for name, number in _HEADERS.items():
            if words := tidy(self._words(number)):
                message[name] = words
        for name, value in _LINES.findall(self._words("007D")):
            if name not in message:
                message[name] = tidy(value)
        self._add_texts(message)
        for child in self._storages("__attach_version1.0_"):
            StoredMessage(self._file, (*self._place, child))._attach_to(message)
        return message

    def _add_texts(self, message: Message) -> None:
        html = self._stream("1013", "0102")
        source = decode(html).text if html else self._words("1013")
        texts = MIMEMultipart("alternative")
        texts.attach(MIMEText(self._words("1000"), "plain", "utf-8"))
        texts.attach(MIMEText(source, "html", "utf-8"))
        message.attach(texts)

    def _attach_to(self, message: Message) -> None:
        """Attach the file or message in this storage."""
        inner = (*self._place, "__substg1.0_3701000D")
        name = self._words("3707") or self._words("3704") or self._words("3001")
        if self._file.exists([*inner, "__properties_version1.0"]):
            message.attach(MIMEMessage(StoredMessage(self._file, inner).to_message()))
            return
        maintype, _, subtype = self._words("370E").partition("/")
        if not subtype or maintype in {"message", "multipart"}:
            maintype, subtype = "application", "octet-stream"
        part = MIMENonMultipart(maintype, subtype)
        part.set_payload(self._stream("3701", "0102"))
        encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=tidy(name) or "attachment")
        if cid := self._words("3712"):
            part["Content-ID"] = cid
        message.attach(part)

    def _storages(self, start: str) -> list[str]:
        depth = len(self._place)
        names = set()
        for path in self._file.listdir(streams=True, storages=True):
            is_below = tuple(path[:depth]) == self._place and len(path) > depth
            if is_below and path[depth].startswith(start):
                names.add(path[depth])
        return sorted(names)

    def _words(self, number: str) -> str:
        """Read a text property, in UTF-16 or in the sender's encoding."""
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
