"""HTML by selectolax (lexbor): what a person reads on the page, walked without recursion."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.documents.blocks import BlockKind, ParsedFile, pipe_table, tidy, visible
from ombud.documents.encodings import Decoded, decode
from ombud.errors import SourceError
from ombud.types import Block

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""

_HIDDEN = frozenset((
    "script", "style", "noscript", "template", "svg", "math", "nav", "aside", "button", "select",
    "iframe", "object", "head", "dialog", "footer", "canvas", "audio", "video", "-comment",
))  # fmt: skip
_INLINE = frozenset((
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "img", "br", "-text", "input", "ruby", "rt", "rp", "rb",
))  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*?(/?)>")
_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
))  # fmt: skip
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_WRAPPERS = re.compile(
    r"</?(?:div|span|b|i|u|em|strong|font|section|article|center|small|big|a|p)\b[^<>]*>",
    re.IGNORECASE,
)
_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,200}encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE
)
_WIDEST = 200
"""Columns a cell may span; a hostile page says a thousand million."""
_SHORTEST = 200
"""Characters of a main part; what has fewer is probably not what a reader came for."""


def read(data: bytes, pages: int) -> ParsedFile:
    """The main part of a page: <main> or <article> when there is one, else the body without its
    furniture."""
    del pages
    text, loss = _decode(data)
    tree = LexborHTMLParser(shallow(text))
    title = tree.css_first("title")
    root = _main_part(tree)
    blocks = _BlockWalk(root).blocks if root else []
    if tree.body and _length(blocks) < _SHORTEST:
        # An empty <main> that a script would fill, or a page that puts only its search box there.
        whole = _BlockWalk(tree.body).blocks
        if _length(whole) > 4 * _length(blocks):
            blocks = whole
    return ParsedFile(blocks, tidy(title.text()) if title else "", loss)


def fragment(source: str) -> list[Block]:
    """The blocks of a piece of HTML inside another format."""
    body = LexborHTMLParser(shallow(source)).body
    return _BlockWalk(body).blocks if body else []


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]"):
        marked = tree.css_first(selector)
        if marked:
            return marked
    articles = tree.css("article")
    return articles[0] if len(articles) == 1 else tree.body


def _length(blocks: list[Block]) -> int:
    """Characters of all blocks together."""
    return sum(len(block.text) for block in blocks)


def _decode(data: bytes) -> Decoded:
    named = _CHARSET.search(data[:4096])
    return decode(data, named.group(1).decode("ascii") if named else "")


def shallow(source: str) -> str:
    """The source, without tags that mean nothing when it nests too deeply; raises SourceError if
    that does not help."""
    if _depth(source) <= DEEPEST:
        return source
    flat = _WRAPPERS.sub(" ", source)
    if _depth(flat) > DEEPEST:
        raise SourceError(
            f"The page nests more than {DEEPEST} tags.", hint="Export it again from its origin."
        )
    return flat


def _depth(source: str) -> int:
    deepest = depth = 0
    for close, name, empty in _TAG.findall(source):
        if name.lower() not in _VOID and not empty:
            depth = max(0, depth - 1) if close else depth + 1
            deepest = max(deepest, depth)
    return deepest


class _Walk:
    """The nodes of a subtree in reading order, without recursion."""

    def __init__(self, root: LexborNode) -> None:
        # Nodes compare by their HTML, which would take time quadratic in the page.
        self._end = root.mem_id
        node = root.child
        while node is not None:
            child = node.child if self._enter(node, node.tag or "") else None
            node = child if child is not None else self._after(node)

    def _after(self, node: LexborNode) -> LexborNode | None:
        """The next node outside of this one; None at the end of the subtree."""
        while node.next is None and node.mem_id != self._end:
            parent = node.parent
            if parent is None:
                return None
            self._leave(parent)
            node = parent
        return None if node.mem_id == self._end else node.next

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Take in a node; whether to go on with its children."""
        raise NotImplementedError

    def _leave(self, node: LexborNode) -> None:
        """Called after the last child of a node, the root included."""


class _BlockWalk(_Walk):
    """What a reader sees of a subtree. Loose words between block elements become paragraphs."""

    def __init__(self, root: LexborNode) -> None:
        self.blocks: list[Block] = []
        self._words: list[str] = []
        super().__init__(root)
        self._end_paragraph()

    def _enter(self, node: LexborNode, tag: str) -> bool:
        words = _loose_words(node, tag)
        if words is not None:
            self._words.append(words)
            return False
        if _is_hidden(node, tag):
            return False
        if tag in _INLINE:
            return True
        self._end_paragraph()
        blocks = _element(node, tag)
        if blocks is None:
            return True
        self.blocks += blocks
        return False

    def _leave(self, node: LexborNode) -> None:
        if node.tag not in _INLINE:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        self.blocks += _block("text", tidy("".join(self._words)))
        self._words.clear()


def _loose_words(node: LexborNode, tag: str) -> str | None:
    """What a text, line break or picture says; None for any other node."""
    if tag == "-text":
        return node.text_content or ""
    if tag == "br":
        return "\n"
    if tag == "img":
        return str(node.attributes.get("alt") or "")
    return None


def _is_hidden(node: LexborNode, tag: str) -> bool:
    if tag in _HIDDEN or "hidden" in node.attributes:
        return True
    if node.attributes.get("aria-hidden") == "true":
        return True
    if tag != "header":
        return False
    parent = node.parent
    while parent is not None and parent.tag not in {"main", "article", "section"}:
        parent = parent.parent
    return parent is None


def _element(node: LexborNode, tag: str) -> list[Block] | None:
    """Blocks of an element that is read as a whole; None means: look at what is inside."""
    if tag in _HEADINGS:
        return _block("heading", tidy(_text(node)), level=int(tag[1]))
    if tag == "summary":
        return _block("text", tidy(_text(node)))
    if tag in {"ul", "ol"}:
        return _block("list", "\n".join(_items(node)))
    if tag == "pre":
        return _block("code", visible(node.text()).strip("\n"))
    if tag == "table" and not _is_layout(node):
        return _block("table", pipe_table(_rows(node)))
    return None


def _block(kind: BlockKind, text: str, level: int = 0) -> list[Block]:
    """One block, none without words."""
    return [Block(kind=kind, text=text, level=level)] if text.strip() else []


def _is_layout(table: LexborNode) -> bool:
    """A table of one column, or one that holds tables or headings, only arranges the page."""
    if table.css_first("table table, h1, h2, h3") is not None:
        return True
    return table.css_first("td + td, th + td, td + th, th + th") is None


def _text(node: LexborNode) -> str:
    """All words under a node; block elements and line breaks count as white space."""
    words = []
    for inner in node.traverse(include_text=True):
        tag = inner.tag or ""
        if tag == "-text" and inner.parent and inner.parent.tag in {"script", "style"}:
            continue
        loose = _loose_words(inner, tag)
        if loose is not None:
            words.append(loose)
        elif tag not in _INLINE:
            words.append(" ")
    return "".join(words)


@dataclass
class _OpenList:
    """A list whose items are being read."""

    node: LexborNode | None
    """The child that comes next."""
    depth: int
    number: int
    """Of the next item."""
    is_ordered: bool

    @property
    def marker(self) -> str:
        return f"{self.number}." if self.is_ordered else "-"


def _open_list(root: LexborNode, depth: int) -> _OpenList:
    start = str(root.attributes.get("start") or "1")
    return _OpenList(
        node=root.child,
        depth=depth,
        number=int(start) if re.fullmatch(r"[0-9]{1,6}", start) else 1,
        is_ordered=root.tag == "ol",
    )


def _items(root: LexborNode) -> Iterator[str]:
    """Lines of a list with its nested lists, two spaces further in for each level; a stack instead
    of recursion."""
    stack = [_open_list(root, 0)]
    while stack:
        opened = stack[-1]
        node = opened.node
        if node is None:
            stack.pop()
            continue
        opened.node = node.next
        if node.tag == "li":
            item = _ItemWalk(node)
            if item.text:
                yield f"{'  ' * opened.depth}{opened.marker} {item.text}"
            opened.number += 1
            for nested in reversed(item.nested):
                stack.append(_open_list(nested, opened.depth + 1))
        elif node.tag in {"ul", "ol"}:
            stack.append(_open_list(node, opened.depth + 1))


class _ItemWalk(_Walk):
    """The words of a list item itself, and the lists nested in it."""

    def __init__(self, item: LexborNode) -> None:
        self.nested: list[LexborNode] = []
        self._words: list[str] = []
        super().__init__(item)
        self.text = tidy("".join(self._words))

    def _enter(self, node: LexborNode, tag: str) -> bool:
        if tag in {"ul", "ol"}:
            self.nested.append(node)
            return False
        if tag == "-text":
            self._words.append(node.text_content or "")
            return False
        if tag in _HIDDEN:
            return False
        if tag not in _INLINE or tag == "br":
            self._words.append(" ")
        return True


def _rows(table: LexborNode) -> list[list[str]]:
    """Cells by row; a cell that spans columns or rows is written into each of them, as a reader
    would see it."""
    rows: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}
    for line in table.css("tr"):
        cells = [cell for cell in line.iter() if cell.tag in {"td", "th"}]
        rows.append(_row(cells, below))
    return rows


def _row(cells: list[LexborNode], below: dict[int, tuple[str, int]]) -> list[str]:
    """The cells of one row. below: column -> text from above, and in how many rows it still
    stands."""
    row: list[str] = []
    waiting = deque(cells)
    while waiting or len(row) in below:
        column = len(row)
        if column in below:
            text, left = below.pop(column)
            if left > 1:
                below[column] = (text, left - 1)
            row.append(text)
            continue
        cell = waiting.popleft()
        text = tidy(_text(cell))
        across = _span(cell, "colspan")
        down = _span(cell, "rowspan")
        if down > 1:
            spanned = range(column, column + across)
            below.update(dict.fromkeys(spanned, (text, down - 1)))
        row += [text] * across
    return row


def _span(cell: LexborNode, name: str) -> int:
    number = str(cell.attributes.get(name) or "1")
    if not re.fullmatch(r"[0-9]{1,9}", number):
        return 1
    return max(1, min(int(number), _WIDEST))
