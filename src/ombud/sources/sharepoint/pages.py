"""The canvas of a SharePoint page -> HTML: the words of its web parts, in the order in which they
are read.

A text part is HTML already. Any other part says for the site's own search which words it shows, in
which HTML, and where these lead; that is what is taken. Pictures, links without words, and what a
part fetches when it is opened are not in there."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ombud.sources.json_values import as_object, as_objects
from ombud.sources.web.pages import DEEPEST, complete_links, depth_of


def render(title: str, canvas: Mapping[str, Any], url: str = "") -> str:
    """The title as heading, and a division for each part; nothing that an odd part says spoils the
    others.

    url: of the page, from which its links count."""
    divisions = []
    for part in _parts(canvas):
        words = _words(part, url)
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


def _words(part: Mapping[str, Any], url: str) -> str:
    text = part.get("innerHtml")
    if isinstance(text, str):
        return _closed(text, url)
    content = as_object(as_object(part.get("data")).get("serverProcessedContent"))
    targets = {_item(key): link for key, link in _values(content.get("links"))}
    shown = []
    for key, words in _values(content.get("searchablePlainTexts")):
        target = targets.get(_item(key), "") if _item(key) else ""
        line = escape(words)
        if target:
            line = f'<a href="{escape(target)}">{line}</a>'
        shown.append(_closed(f"<p>{line}</p>", url))
    shown += [_closed(html, url) for _, html in _values(content.get("htmlStrings"))]
    return "".join(shown)


def _item(key: str) -> str:
    """The entry of a part's list that a key such as `items[0].title` belongs to; empty for what is
    of the whole part."""
    return key.partition("]")[0] if "]" in key else ""


def _values(pairs: Any) -> Iterator[tuple[str, str]]:
    """Of a list of keys and values."""
    for pair in as_objects(pairs):
        value = pair.get("value")
        if isinstance(value, str) and value.strip():
            yield str(pair.get("key", "")), value


def _closed(html: str, url: str) -> str:
    """What is open at its end, such as a comment, must not swallow the next part."""
    if depth_of(html) > DEEPEST:
        return html  # the parser will say what is wrong with it
    tree = LexborHTMLParser(html)
    complete_links(tree, url, url)
    return (tree.body.inner_html or "") if tree.body else ""
