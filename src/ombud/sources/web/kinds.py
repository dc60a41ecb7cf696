"""What an answer of a web server is: its kind, and its text."""

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from ombud.sources.matching import plugin_endings
from ombud.sources.web.urls import path_of

_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
    "message/rfc822": ".eml",
    "application/vnd.oasis.opendocument.text": ".odt",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
}
_VAGUE = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/zip",
        "text/plain",
        "application/download",
        "application/force-download",
    }
)
"""Types that servers give to what they do not know: the address says more."""
_BY_NAME = {suffix: suffix for suffix in _TYPES.values()} | {".htm": ".html", ".markdown": ".md"}
_ZIPPED = frozenset({".docx", ".xlsx", ".pptx", ".odt"})
_TEXTS = frozenset({".html", ".txt", ".md", ".csv"})
_NOT_READ = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?"
    r"|css|js|mjs|map|json|woff2?|ttf|eot"
    r"|mp[34]|m4[av]|mov|avi|webm|og[gv]|wav"
    r"|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|msi|dmg|iso|apk|deb|rpm|jar"
    r"|rss|atom|ics|vcf)$",
    re.IGNORECASE,
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?\s*([\w-]+)", re.IGNORECASE)
_CHARSET = re.compile(r"charset=[\"']?\s*([\w-]+)", re.IGNORECASE)


def worth_asking(url: str) -> bool:
    """False for pictures, programs and the like, by their ending."""
    return not _NOT_READ.search(path_of(url)) or bool(_plugin_kind(url))


def _plugin_kind(url: str) -> str:
    """The ending of an address that a parser of a plugin reads; else empty."""
    suffix = PurePosixPath(path_of(url)).suffix.lower()
    return suffix if suffix in plugin_endings() else ""


def kind_of(url: str, headers: Mapping[str, str], body: bytes | None = None) -> str:
    """The ending that content of this kind gets; empty for what is no document.

    body: what it really is wins over what the server calls it, once it is there.
    """
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    vague = media_type in _VAGUE
    plugin = _plugin_kind(url)
    if plugin and (vague or media_type not in _TYPES):
        return plugin
    by_name = _BY_NAME.get(PurePosixPath(path_of(url)).suffix.lower(), "")
    kind = _TYPES.get(media_type, "")
    if vague and by_name:
        kind = by_name
    if body is not None:
        return _kind_of_body(body, media_type, kind, by_name)
    return kind if media_type else kind or ".html"


def _kind_of_body(body: bytes, media_type: str, kind: str, by_name: str) -> str:
    """What the bytes are; `kind` and `by_name` are what the server and the address say."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_ZIP):
        return next((zipped for zipped in (kind, by_name) if zipped in _ZIPPED), "")
    signed = _kind_of_signature(start)
    if signed:
        return signed
    if kind in {".pdf", *_ZIPPED}:
        return ""  # neither what it is called nor a page
    unnamed = not kind and not media_type
    if unnamed and b"\0" not in start:
        return ".html" if b"<" in start else ".txt"
    return _text_or_nothing(kind, body)


def _text_or_nothing(kind: str, body: bytes) -> str:
    """Empty for what is called a text and is none."""
    if kind in _TEXTS and _is_binary(body):
        return ""
    return kind


_ZIP = b"PK\x03\x04"


def _kind_of_signature(start: bytes) -> str:
    """Of bytes that say themselves what they are; else empty."""
    if start.startswith(b"%PDF-"):
        return ".pdf"
    if start[:100].lower().startswith((b"<!doctype html", b"<html")):
        return ".html"
    return ""


def text_of(body: bytes, headers: Mapping[str, str]) -> str:
    """Decoded as the server or the page says, else as UTF-8 or Windows-1252."""
    text = declared_text(body, headers)
    if text is not None:
        return text
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def declared_text(body: bytes, headers: Mapping[str, str]) -> str | None:
    """Decoded by byte order mark, header or the page itself; None where none of these says how."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, errors="replace")
    for name in _named_encodings(body, headers):
        encoding = _ALIASES.get(name.lower(), name)
        try:
            if name and codecs.lookup(encoding)._is_text_encoding:
                return body.decode(encoding, errors="replace")
        except LookupError:
            continue
    return None


def _named_encodings(body: bytes, headers: Mapping[str, str]) -> Iterator[str]:
    """As the header calls it, then as the page does."""
    header = _CHARSET.search(headers.get("content-type", ""))
    if header:
        yield header.group(1)
    inside = _META_CHARSET.search(body[:4096])
    if inside:
        yield inside.group(1).decode("ascii")


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ALIASES = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
}
"""As browsers read them."""


def _is_binary(body: bytes) -> bool:
    return body.count(0) > len(body) // 1000 and not body.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    )
