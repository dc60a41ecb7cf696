"""The canvas of a SharePoint page -> HTML: the words of its web parts, in the order in which they
are read.

A text part is HTML already. Any other part says for the site's own search which words it shows, and
in which HTML; that is what is taken. Pictures, links without words, and what a part fetches when it
is opened are not in there."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ombud.sources.json_values import as_object, as_objects
from ombud.sources.web.pages import DEEPEST, depth_of


def render(title: str, canvas: Mapping[str, Any]) -> str:
    """The title as heading, and a division for each part; nothing that an odd part says spoils the
    others."""
    divisions = []
    for part in _parts(canvas):
        words = _words(part)
        if words:
            divisions.append(f"<div>{words}</div>\n")
    content = "".join(divisions)
    return f"<h1>{escape(title)}</h1>\n{content}" if title else content


def _parts(canvas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for section in as_objects(canvas.get("horizontalSections")):
        for column in as_objects(section.get("columns")):
            yield from as_objects(column.get("webparts"))
    beside = as_object(canvas.get("verticalSection"))
    yield from as_objects(beside.get("webparts"))


def _words(part: Mapping[str, Any]) -> str:
    text = part.get("innerHtml")
    if isinstance(text, str):
        return _closed(text)
    content = as_object(as_object(part.get("data")).get("serverProcessedContent"))
    paragraphs = [
        f"<p>{escape(words)}</p>" for words in _values(content.get("searchablePlainTexts"))
    ]
    divisions = list(map(_closed, _values(content.get("htmlStrings"))))
    return "".join(paragraphs + divisions)


def _values(pairs: Any) -> Iterator[str]:
    """Of a list of keys and values."""
    for pair in as_objects(pairs):
        value = pair.get("value")
        if isinstance(value, str) and value.strip():
            yield value


def _closed(html: str) -> str:
    """What is open at its end, such as a comment, must not swallow the next part."""
    if depth_of(html) > DEEPEST:
        return html  # the parser will say what is wrong with it
    body = LexborHTMLParser(html).body
    return (body.inner_html or "") if body else ""
