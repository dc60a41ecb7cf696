"""Messages saved by Outlook, by xberg, laid out as any other message."""

import asyncio
import re
from typing import Any

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.mail.eml import laid_out
from ombud.documents.plain import read as read_plain
from ombud.errors import SourceError
from ombud.types import Block

_LINE = re.compile(r"(Subject|From|To|Cc|Bcc|Date|Message-ID|Attachments?): ?(.*)")


def read(data: bytes, pages: int) -> ParsedFile:
    """Subject, people, date and text; raises SourceError when xberg cannot read it."""
    del pages
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        raise SourceError(
            "The file is no Outlook message.", hint="Save it from Outlook as .msg, or as .eml."
        )
    head: dict[str, str] = {}
    attached: list[str] = []
    lines = _extracted(data).split("\n")
    start = 0
    for line in lines:
        named = _LINE.fullmatch(line.strip())
        if named is None:
            break
        name = named[1].lower()
        if name.startswith("attachment"):
            files = re.split(r"[,;]", named[2])
            attached = [tidy(file) for file in files if file.strip()]
        else:
            head[name] = tidy(named[2])
        start += 1
    body = _body("\n".join(lines[start:]))
    return ParsedFile(list(laid_out(head, body, attached)), head.get("subject", ""))


def _body(text: str) -> list[Block]:
    if not text.strip():
        return []
    return read_plain(text.encode("utf-8", errors="replace"), 0).blocks


def _extracted(data: bytes) -> str:
    import xberg

    config = xberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,
        extraction_timeout_secs=None,
    )
    source = xberg.ExtractInput(
        kind="bytes",
        bytes=data,
        mime_type="application/vnd.ms-outlook",
        filename="message.msg",
    )

    async def extract() -> Any:
        return await xberg.extract(source, config)

    try:
        results = asyncio.run(extract()).results
    except (xberg.XbergError, RuntimeError) as error:
        raise SourceError(
            "The message is broken.", hint="Save it again from Outlook, as .eml."
        ) from error
    return str(results[0].content) if results else ""
