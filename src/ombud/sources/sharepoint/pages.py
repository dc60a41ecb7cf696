"""Convert the canvas of a SharePoint page to HTML: the text of its web parts in reading order.

A text part is HTML already. Other parts list their visible text, HTML and links for the site's
search, which is used here. Pictures, links without words, and content that a part loads later are
not included."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ombud.sources.json_values import as_object, as_objects
from ombud.sources.web.pages import DEEPEST, complete_links, depth_of


def render(title: str, canvas: Mapping[str, Any], url: str = "") -> str:
    """Write the title as heading and a division for each part; a broken part does not affect the
    others.

    url: address of the page, for relative links."""
    divisions = []
    for part in web_parts(canvas):
        words = part_html(part, url)
        if words:
            divisions.append(f"<div>{words}</div>\n")
    content = "".join(divisions)
    return f"<h1>{escape(title)}</h1>\n{content}" if title else content


def web_parts(canvas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for section in as_objects(canvas.get("horizontalSections")):
        for column in as_objects(section.get("columns")):
            yield from as_objects(column.get("webparts"))
    beside = as_object(canvas.get("verticalSection"))
    yield from as_objects(beside.get("webparts"))


def part_html(part: Mapping[str, Any], url: str) -> str:
    text = part.get("innerHtml")
    if isinstance(text, str):
        return close_html(text, url)
    content = as_object(as_object(part.get("data")).get("serverProcessedContent"))
    targets = {list_entry(key): link for key, link in text_pairs(content.get("links"))}
    pieces = []
    for key, words in text_pairs(content.get("searchablePlainTexts")):
        target = targets.get(list_entry(key), "") if list_entry(key) else ""
        line = escape(words)
        if target:
            line = f'<a href="{escape(target)}">{line}</a>'
        pieces.append(close_html(f"<p>{line}</p>", url))
    pieces += [close_html(html, url) for _, html in text_pairs(content.get("htmlStrings"))]
    return "".join(pieces)


def list_entry(key: str) -> str:
    """Return the list entry of a key, such as `items[0` of `items[0].title`; empty for keys of the
    whole part."""
    return key.partition("]")[0] if "]" in key else ""


def text_pairs(pairs: Any) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a list of keys and values that have a text."""
    for pair in as_objects(pairs):
        value = pair.get("value")
        if isinstance(value, str) and value.strip():
            yield str(pair.get("key", "")), value


def close_html(html: str, url: str) -> str:
    """Close open elements and comments, which would swallow the next part."""
    if depth_of(html) > DEEPEST:
        return html  # the parser will report it
    tree = LexborHTMLParser(html)
    complete_links(tree, url, url)
    return (tree.body.inner_html or "") if tree.body else ""
