"""HTML by selectolax (lexbor): what a person reads on the page, walked without recursion."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.documents.blocks import ParsedFile, pipe_table, tidy, visible
from ombud.documents.plain import decode
from ombud.errors import SourceError
from ombud.types import Block

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""

_HIDDEN = frozenset(
    (
        *(
            "script",
            "style",
            "noscript",
            "template",
            "svg",
            "math",
            "nav",
            "aside",
            "button",
            "select",
            "iframe",
        ),
        *("object", "head", "dialog", "footer", "canvas", "audio", "video", "-comment"),
    )
)
_INLINE = frozenset(
    (
        *(
            "a",
            "abbr",
            "b",
            "bdi",
            "bdo",
            "big",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
        ),
        *(
            "label",
            "mark",
            "q",
            "s",
            "samp",
            "small",
            "span",
            "strike",
            "strong",
            "sub",
            "sup",
            "time",
            "tt",
            "u",
        ),
        *("var", "wbr", "img", "br", "-text", "input", "ruby", "rt", "rp", "rb"),
    )
)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*?(/?)>")
_VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}
_WRAPPERS = re.compile(
    r"</?(?:div|span|b|i|u|em|strong|font|section|article|center|small|big|a|p)\b[^<>]*>",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?\s*([\w-]+)", re.IGNORECASE)
_WIDEST = 200
"""Columns a cell may span; a hostile page says a thousand million."""


def read(data: bytes, pages: int) -> ParsedFile:
    """The main part of a page: <main> or <article> when there is one, else the body without its
    furniture."""
    del pages
    tree = LexborHTMLParser(_shallow(_decode(data)))
    title = tree.css_first("title")
    root = (
        tree.css_first("main")
        or tree.css_first("[role=main]")
        or _only(tree, "article")
        or tree.body
    )
    blocks = list(_walk(root)) if root else []
    if tree.body and sum(len(b.text) for b in blocks) < 200:
        # An empty <main> that a script would fill, or a page that puts only its search box there.
        whole = list(_walk(tree.body))
        blocks = (
            whole
            if sum(len(b.text) for b in whole) > 4 * sum(len(b.text) for b in blocks)
            else blocks
        )
    return ParsedFile(blocks, tidy(title.text()) if title else "")


def fragment(source: str) -> Iterator[Block]:
    """The blocks of a piece of HTML inside another format."""
    body = LexborHTMLParser(_shallow(source)).body
    if body:
        yield from _walk(body)


def _decode(data: bytes) -> str:
    named = _CHARSET.search(data[:4096])
    if named and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode(named.group(1).decode("ascii"), errors="replace")
        except LookupError:
            pass
    return decode(data)


def _only(tree: LexborHTMLParser, tag: str) -> LexborNode | None:
    found = tree.css(tag)
    return found[0] if len(found) == 1 else None


def _shallow(source: str) -> str:
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


def _walk(root: LexborNode) -> Iterator[Block]:
    """Blocks of a subtree in reading order. Loose words between block elements become
    paragraphs."""
    words: list[str] = []
    # Nodes compare by their HTML, which would take time quadratic in the page.
    node, end = root.child, root.mem_id
    while node is not None:
        descend = False
        tag = node.tag or ""
        if tag == "-text":
            words.append(node.text_content or "")
        elif tag == "br":
            words.append("\n")
        elif tag == "img":
            words.append(str(node.attributes.get("alt") or ""))
        elif _is_hidden(node, tag):
            pass
        elif tag in _INLINE:
            descend = node.child is not None
        else:
            yield from _paragraph(words)
            made = _element(node, tag)
            if made is not None:
                yield from made
            else:
                descend = node.child is not None
        if descend:
            node = node.child
            continue
        while node is not None and node.next is None and node.mem_id != end:
            node = node.parent
            if node is not None and node.tag not in _INLINE:
                yield from _paragraph(words)
        node = None if node is None or node.mem_id == end else node.next
    yield from _paragraph(words)


def _paragraph(words: list[str]) -> Iterator[Block]:
    text = tidy("".join(words))
    words.clear()
    if text:
        yield Block(kind="text", text=text)


def _is_hidden(node: LexborNode, tag: str) -> bool:
    if (
        tag in _HIDDEN
        or "hidden" in node.attributes
        or node.attributes.get("aria-hidden") == "true"
    ):
        return True
    if tag != "header":
        return False
    parent = node.parent
    while parent is not None and parent.tag not in {"main", "article", "section"}:
        parent = parent.parent
    return parent is None


def _element(node: LexborNode, tag: str) -> list[Block] | None:
    """Blocks of an element that is read as a whole; None means: look at what is inside."""
    if re.fullmatch(r"h[1-6]", tag):
        text = tidy(_text(node))
        return [Block(kind="heading", text=text, level=int(tag[1]))] if text else []
    if tag == "summary":
        text = tidy(_text(node))
        return [Block(kind="text", text=text)] if text else []
    if tag in {"ul", "ol"}:
        text = "\n".join(_items(node))
        return [Block(kind="list", text=text)] if text else []
    if tag == "pre":
        text = visible(node.text()).strip("\n")
        return [Block(kind="code", text=text)] if text.strip() else []
    if tag == "table" and not _is_layout(node):
        text = pipe_table(_rows(node))
        return [Block(kind="table", text=text)] if text else []
    return None


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
        if tag == "-text":
            parent = inner.parent.tag if inner.parent else ""
            words.append("" if parent in {"script", "style"} else inner.text_content or "")
        elif tag == "img":
            words.append(str(inner.attributes.get("alt") or ""))
        elif tag not in _INLINE or tag == "br":
            words.append(" ")
    return "".join(words)


def _items(root: LexborNode) -> Iterator[str]:
    """Lines of a list with its nested lists, two spaces further in for each level; a stack instead
    of recursion."""
    stack: list[tuple[LexborNode | None, int, int]] = [(root.child, 0, _first(root))]
    ordered = [root.tag == "ol"]
    while stack:
        node, depth, number = stack.pop()
        if node is None:
            ordered.pop()
            continue
        stack.append((node.next, depth, number + (node.tag == "li")))
        if node.tag == "li":
            text, inner = _own_words(node)
            if text:
                yield f"{'  ' * depth}{f'{number}.' if ordered[-1] else '-'} {text}"
            for nested in reversed(inner):
                stack.append((nested.child, depth + 1, _first(nested)))
                ordered.append(nested.tag == "ol")
        elif node.tag in {"ul", "ol"}:
            stack.append((node.child, depth + 1, _first(node)))
            ordered.append(node.tag == "ol")


def _first(node: LexborNode) -> int:
    start = str(node.attributes.get("start") or "1")
    return int(start) if re.fullmatch(r"[0-9]{1,6}", start) else 1


def _own_words(item: LexborNode) -> tuple[str, list[LexborNode]]:
    """(words of the item itself, lists nested in it)."""
    words: list[str] = []
    nested: list[LexborNode] = []
    node, end = item.child, item.mem_id
    while node is not None:
        tag = node.tag or ""
        descend = False
        if tag in {"ul", "ol"}:
            nested.append(node)
        elif tag == "-text":
            words.append(node.text_content or "")
        elif tag not in _HIDDEN:
            words.append("" if tag in _INLINE and tag != "br" else " ")
            descend = node.child is not None
        if descend:
            node = node.child
            continue
        while node is not None and node.next is None and node.mem_id != end:
            node = node.parent
        node = None if node is None or node.mem_id == end else node.next
    return tidy("".join(words)), nested


def _rows(table: LexborNode) -> list[list[str]]:
    """Cells by row; a cell that spans columns or rows is written into each of them, as a reader
    would see it."""
    rows: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}
    for line in table.css("tr"):
        row: list[str] = []
        cells = [cell for cell in line.iter() if cell.tag in {"td", "th"}]
        while cells or len(row) in below:
            if len(row) in below:
                text, left = below.pop(len(row))
                if left > 1:
                    below[len(row)] = (text, left - 1)
                row.append(text)
                continue
            cell = cells.pop(0)
            text = tidy(_text(cell))
            for _ in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan")) > 1:
                    below[len(row)] = (text, down - 1)
                row.append(text)
        rows.append(row)
    return rows


def _span(cell: LexborNode, name: str) -> int:
    number = str(cell.attributes.get(name) or "1")
    return max(1, min(int(number), _WIDEST)) if re.fullmatch(r"[0-9]{1,9}", number) else 1
