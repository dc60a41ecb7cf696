"""The canvas of a SharePoint page -> HTML: the words of its web parts, in the order in which they
are read.

A text part is HTML already. Any other part says for the site's own search which words it shows, and
in which HTML; that is what is taken. Pictures, links without words, and what a part fetches when it
is opened are not in there."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ombud.sources.web.pages import DEEPEST, depth_of


def render(title: str, canvas: Mapping[str, Any]) -> str:
    """The title as heading, and a division for each part; nothing that an odd part says spoils the
    others."""
    parts = "".join(f"<div>{words}</div>\n" for part in _parts(canvas) if (words := _words(part)))
    return f"<h1>{escape(title)}</h1>\n{parts}" if title else parts


def _parts(canvas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for section in _rows(canvas.get("horizontalSections")):
        for column in _rows(section.get("columns")):
            yield from _rows(column.get("webparts"))
    beside = canvas.get("verticalSection")
    if isinstance(beside, dict):
        yield from _rows(beside.get("webparts"))


def _words(part: Mapping[str, Any]) -> str:
    text = part.get("innerHtml")
    if isinstance(text, str):
        return _closed(text)
    data = part.get("data")
    said = data.get("serverProcessedContent") if isinstance(data, dict) else None
    content = said if isinstance(said, dict) else {}
    plain = "".join(
        f"<p>{escape(words)}</p>" for words in _values(content.get("searchablePlainTexts"))
    )
    return plain + "".join(_closed(html) for html in _values(content.get("htmlStrings")))


def _values(pairs: Any) -> Iterator[str]:
    """Of a list of keys and values."""
    for pair in _rows(pairs):
        value = pair.get("value")
        if isinstance(value, str) and value.strip():
            yield value


def _closed(html: str) -> str:
    """What is open at its end, such as a comment, must not swallow the next part."""
    if depth_of(html) > DEEPEST:
        return html  # the parser will say what is wrong with it
    body = LexborHTMLParser(html).body
    return (body.inner_html or "") if body else ""


def _rows(value: Any) -> Iterator[Mapping[str, Any]]:
    for row in value if isinstance(value, list) else ():
        if isinstance(row, dict):
            yield row
