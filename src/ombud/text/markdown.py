"""Markdown of documents: tables read row by row, for "30 days" alone says little, and texts written
with their links."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ombud.types import Annotation, Citation

RULE_ROW = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
_CELLS = re.compile(r"(?<!\\)\|")
_IN_LABEL = str.maketrans({"[": "&#91;", "]": "&#93;"})
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29"})


class TableLine(NamedTuple):
    """A line of a text; of a row of a table its cells with the names of their columns."""

    text: str
    names: Sequence[str] = ()
    cells: Sequence[str] = ()


def read_lines(text: str) -> Iterator[TableLine]:
    """Return the lines in order, without heads and rules of Markdown tables."""
    names: list[str] = []
    for line, following in pairwise([*text.split("\n"), ""]):
        if not line.lstrip().startswith("|"):
            names = []
            yield TableLine(line)
        elif RULE_ROW.match(line):
            continue
        elif RULE_ROW.match(following):
            names = _cells(line)
        else:
            yield TableLine(line, names, _cells(line))


def read_rows(text: str) -> str:
    """Return Markdown tables as a line per row, `column: cell; column: cell`; other lines stay."""
    lines = []
    for line in read_lines(text):
        lines.append(named_cells(line.names, line.cells) if line.cells else line.text)
    return "\n".join(lines)


def named_cells(names: Sequence[str], cells: Sequence[str]) -> str:
    named: list[str] = []
    columns = names[: len(cells)]
    for name, cell in zip_longest(columns, cells, fillvalue=""):
        if not cell:
            continue
        if name:
            cell = f"{name}: {cell}"
        named.append(cell)
    return "; ".join(named)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line.strip().strip("|"))]


def with_links(
    text: str, start: int, annotations: Sequence[Annotation], escape: Callable[[str], str]
) -> str:
    """Write `text`, which begins at `start` of its document, as Markdown with its links.

    Each link names its host. escape: makes Markdown of plain words."""
    parts: list[str] = []
    done = 0
    for link in sorted(annotations, key=lambda one: one.start):
        is_inside = link.start < start + len(text) and link.end > start
        if link.kind != "link" or not is_inside:
            continue
        first = max(link.start - start, done)
        last = max(min(link.end - start, len(text)), first)
        words = text[first:last]
        if not words.strip():
            continue
        parts.append(before_link(escape(text[done:first])))
        parts.append(_link(words, link.url, escape))
        done = last
    parts.append(escape(text[done:]))
    return "".join(parts)


def links_of_words(text: str, cited: Citation) -> list[Annotation]:
    """Find the words of a quote's links in a text of other wording, for `with_links`."""
    links: list[Annotation] = []
    for link in cited.annotations:
        words = cited.quote[link.start - cited.start : link.end - cited.start].strip()
        at = _place_of(words, text)
        if at >= 0:
            links.append(link.model_copy(update={"start": at, "end": at + len(words)}))
    return links


def link_host(words: str, url: str) -> str:
    """Name the place that a link leads to; empty where its words are that place already."""
    place = _place(url)
    return "" if words.strip().casefold() in (place, url.casefold()) else place


def _place(url: str) -> str:
    """Return the host of a web address without a user name, or an e-mail address."""
    parts = urlsplit(url)
    place = parts.path if parts.scheme.lower() == "mailto" else parts.hostname or ""
    readable = unquote(place).casefold()
    is_plain = all(letter.isalnum() or letter in ".-_+@" for letter in readable)
    return readable if is_plain else place


def _place_of(words: str, text: str) -> int:
    """Return where the words stand in the text as whole words; -1 if they do not."""
    at = text.find(words) if words else -1
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(words) : at + len(words) + 1]
        if not any(map(str.isalnum, around)):
            return at
        at = text.find(words, at + 1)
    return at


def before_link(markdown: str) -> str:
    """Escape a final exclamation mark or backslash, which could turn the link into a picture."""
    return markdown[:-1] + {"!": "&#33;", "\\": "&#92;"}.get(markdown[-1:], markdown[-1:])


def _link(words: str, url: str, escape: Callable[[str], str]) -> str:
    host = link_host(words, url)
    label = f"{words.rstrip()} ({host})" if host else words.rstrip()
    space = words[len(words.rstrip()) :]
    written = escape(label.translate(_IN_LABEL))
    return f"[{written}]({url.translate(_IN_ADDRESS)}){space}"
