"""Tell the kind of a web server's response, and decode its text."""

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
"""Types that servers use for unknown files; the ending of the address is more reliable."""
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


def may_be_document(url: str) -> bool:
    """Tell by its ending whether an address may be a document: no picture, program or the like."""
    return not _NOT_READ.search(path_of(url)) or bool(plugin_kind(url))


def plugin_kind(url: str) -> str:
    """Return the ending of an address if a parser of a plugin reads it, else an empty string."""
    suffix = PurePosixPath(path_of(url)).suffix.lower()
    return suffix if suffix in plugin_endings() else ""


def kind_of(url: str, headers: Mapping[str, str], body: bytes | None = None) -> str:
    """Return the file ending of a response; empty if it is no document.

    body: takes precedence over what the server calls it."""
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    vague = media_type in _VAGUE
    plugin = plugin_kind(url)
    if plugin and (vague or media_type not in _TYPES):
        return plugin
    by_name = _BY_NAME.get(PurePosixPath(path_of(url)).suffix.lower(), "")
    kind = _TYPES.get(media_type, "")
    if vague and by_name:
        kind = by_name
    if body is not None:
        return kind_of_body(body, media_type, kind, by_name)
    return kind if media_type else kind or ".html"


def kind_of_body(body: bytes, media_type: str, kind: str, by_name: str) -> str:
    """Tell the kind of bytes. kind: by the server. by_name: by the address."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_ZIP):
        return next((zipped for zipped in (kind, by_name) if zipped in _ZIPPED), "")
    signed = kind_of_signature(start)
    if signed:
        return signed
    if kind in {".pdf", *_ZIPPED}:
        return ""  # neither of the kind it is called nor a page
    unnamed = not kind and not media_type
    if unnamed and b"\0" not in start:
        return ".html" if b"<" in start else ".txt"
    return "" if kind in _TEXTS and is_binary(body) else kind


_ZIP = b"PK\x03\x04"


def kind_of_signature(start: bytes) -> str:
    """Tell the kind of bytes with a signature; empty for others."""
    if start.startswith(b"%PDF-"):
        return ".pdf"
    if start[:100].lower().startswith((b"<!doctype html", b"<html")):
        return ".html"
    return ""


def text_of(body: bytes, headers: Mapping[str, str]) -> str:
    """Decode as the server or the page says, else as UTF-8 or Windows-1252."""
    text = declared_text(body, headers)
    if text is not None:
        return text
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def declared_text(body: bytes, headers: Mapping[str, str]) -> str | None:
    """Decode a body by its byte order mark, header or the page itself; None if none of these names
    an encoding."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, errors="replace")
    for name in named_encodings(body, headers):
        encoding = _ALIASES.get(name.lower(), name)
        try:
            if name and codecs.lookup(encoding)._is_text_encoding:
                return body.decode(encoding, errors="replace")
        except LookupError:
            continue
    return None


def named_encodings(body: bytes, headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the encoding that the header names, then the one that the page names."""
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


def is_binary(body: bytes) -> bool:
    return body.count(0) > len(body) // 1000 and not body.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    )
