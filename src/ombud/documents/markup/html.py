"""HTML by selectolax (lexbor): what a person reads on the page, walked without recursion."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.documents.blocks import BlockKind, ParsedFile, pipe_table, tidy, visible
from ombud.documents.encodings import decode
from ombud.documents.markup.looks import Looks, looks_of
from ombud.documents.markup.tables import TableCell, is_layout, own_rows, spread
from ombud.documents.office.numbering import whole, written
from ombud.documents.runs import run
from ombud.errors import SourceError
from ombud.types import Block, Loss

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""

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
_SHORTEST = 200
"""Characters of a main part; what has fewer is probably not what a reader came for."""


_LISTS = ("ul", "ol", "menu")
_STYLES = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Type of a list -> the style of its numbers."""


def read(data: bytes, pages: int) -> ParsedFile:
    """The main part of a page: <main> or <article> when there is one, else the body without its
    furniture."""
    del pages
    named = _CHARSET.search(data[:4096])
    text, loss = decode(data, named.group(1).decode("ascii") if named else "")
    return read_page(text, loss)


def read_page(source: str, loss: Loss) -> ParsedFile:
    """Read a page that is decoded; loss: what was lost by that."""
    tree = LexborHTMLParser(shallow(source))
    looks = looks_of(tree)
    title = tree.css_first("title")
    root = _main_part(tree)
    blocks = _blocks_below(root, looks) if root else []
    length = sum(len(block.text) for block in blocks)
    if tree.body and length < _SHORTEST:
        # An empty <main> that a script would fill, or a page that puts only its search box there.
        of_body = _blocks_below(tree.body, looks)
        if sum(len(block.text) for block in of_body) > 4 * length:
            root = tree.body
            blocks = of_body
    if root is not None and root.tag != "body":
        blocks = [*_head_blocks(root, tree, looks), *blocks]
    pictures = len(root.css("img:not([alt])")) if root else 0
    found = ParsedFile(blocks, tidy(title.text()) if title else "", loss)
    return found._replace(loss=loss + Loss(pictures=pictures)) if pictures else found


def fragment(source: str) -> list[Block]:
    """The blocks of a piece of HTML inside another format, which has no frame around it."""
    tree = LexborHTMLParser(f"<main>{shallow(source)}")
    return _blocks_below(tree.body, looks_of(tree)) if tree.body else []


def _head_blocks(root: LexborNode, tree: LexborHTMLParser, looks: Looks) -> list[Block]:
    """The header with the title of the page, where it stands before its main part."""
    for header in tree.css("header:has(h1)"):
        is_inside = any(header.mem_id == inner.mem_id for inner in root.css("header"))
        if header.mem_id not in looks.furniture and not is_inside:
            return _blocks_below(header, looks)
    return []


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]"):
        marked = tree.css_first(selector)
        if marked:
            return marked
    articles = tree.css("article")
    return articles[0] if len(articles) == 1 else tree.body


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


class _Marks(NamedTuple):
    """What the words of an element carry."""

    superscript: bool = False
    struck: bool = False
    link: str = ""


_NO_MARKS = _Marks()


class _Walk:
    """The nodes of a subtree in reading order, without recursion, and the words among them."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks) -> None:
        self._looks = looks
        self._words: list[str] = []
        self._marks = marks
        self._outer_marks: list[tuple[int, _Marks]] = []
        self._note = ""
        """The mark of the note that begins here, which its own words may begin with."""
        self.is_note = False
        # Nodes compare by their HTML, which would take time quadratic in the page.
        self._end = root.mem_id
        self._open(root)
        node = root.child
        while node is not None:
            child = node.child if self._enter(node, node.tag or "") else None
            node = child if child is not None else self._after(node)

    def _after(self, node: LexborNode) -> LexborNode | None:
        """The next node outside of this one; None at the end of the subtree."""
        self._close(node)
        while node.next is None and node.mem_id != self._end:
            parent = node.parent
            if parent is None:
                return None
            self._leave(parent)
            self._close(parent)
            node = parent
        return None if node.mem_id == self._end else node.next

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Take in a node; whether to go on with its children."""
        raise NotImplementedError

    def _leave(self, node: LexborNode) -> None:
        """Called after the last child of a node, the root included."""

    def _inline(self, node: LexborNode, tag: str) -> bool | None:
        """Take in what is part of a line or not seen; whether to go on with its children, None for
        other nodes."""
        if tag == "-text":
            self._take(node.text_content or "")
            return False
        if tag == "-comment" or self._is_replaced(node):
            return False
        if tag not in _INLINE:
            return None
        if tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._take(node.attributes.get("alt") or "")
        elif tag == "input" and node.attributes.get("type") == "checkbox":
            self._words.append("[x] " if "checked" in node.attributes else "[ ] ")
        self._open(node)
        return True

    def _is_replaced(self, node: LexborNode) -> bool:
        """Leave out what is not seen, and put its mark for a link to a note."""
        key = node.mem_id
        looks = self._looks
        if key in looks.furniture:
            return True
        if key in looks.references:
            mark = looks.references[key]
            self._words.append(run(mark, footnote_ref=True, struck=self._marks.struck))
            return True
        if key in looks.hidden and node.text().strip():
            self._words.append(run("hidden", hidden=True))
        return key in looks.hidden

    def _open(self, node: LexborNode) -> None:
        """Begin an element that words stand in."""
        self._note = self._looks.notes.get(node.mem_id, self._note)
        marks = self._marked(node)
        if marks != self._marks:
            self._outer_marks.append((node.mem_id, self._marks))
            self._marks = marks

    def _marked(self, node: LexborNode) -> _Marks:
        """The marks of the words in an element that stands here."""
        superscript, struck, link = self._marks
        key = node.mem_id
        if node.tag == "a":
            link = node.attributes.get("href") or link
        if link.startswith("https://www.google.com/url?"):
            # Google Docs puts an address of its own before that of a link.
            link = parse_qs(urlsplit(link).query).get("q", [link])[0]
        is_raised = superscript or key in self._looks.raised
        return _Marks(is_raised, struck or key in self._looks.struck, link)

    def _close(self, node: LexborNode) -> None:
        if self._outer_marks and self._outer_marks[-1][0] == node.mem_id:
            _, self._marks = self._outer_marks.pop()

    def _take(self, words: str) -> None:
        superscript, struck, link = self._marks
        if self._note and words.strip():
            self._words.append(run(self._note, footnote_ref=True, struck=struck))
            words = _without_mark(words, self._note)
            self._note = ""
            self.is_note = True
        self._words.append(run(words, superscript=superscript, struck=struck, link=link))


def _without_mark(words: str, mark: str) -> str:
    """The words of a note without its mark, where they begin with it."""
    rest = words.lstrip(" \n\t[(")
    if not rest.startswith(mark):
        return words
    behind = rest.removeprefix(mark)
    return words if behind[:1].isalnum() else behind.lstrip("]).:")


class _Line(_Walk):
    """All words under a node; block elements and line breaks count as white space, rows of inner
    tables are set apart by semicolons."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks) -> None:
        super().__init__(root, looks, marks)
        self.text = tidy("".join(self._words)).rstrip(";")
        self.source = "".join(self._words)

    def _enter(self, node: LexborNode, tag: str) -> bool:
        goes_on = self._inline(node, tag)
        if goes_on is not None:
            return goes_on
        self._words.append(" ")
        self._open(node)
        return True

    def _leave(self, node: LexborNode) -> None:
        if node.tag == "tr" and node.mem_id != self._end:
            while self._words[-1:] == [" "]:
                self._words.pop()
            self._words.append("; ")
        elif node.tag not in _INLINE and node.mem_id != self._end:
            self._words.append(" ")


class _BlockWalk(_Walk):
    """What a reader sees of a subtree. Loose words between block elements become paragraphs."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks, depth: int) -> None:
        self.blocks: list[Block] = []
        self._depth = depth
        """Lists around the subtree."""
        self._term = ""
        """What the definition that comes next defines."""
        self._section: Block | None = None
        """The heading that counts here."""
        self._outer_sections: list[Block | None] = []
        """Those that count again behind the tabs which are open."""
        self._has_left_tabs = False
        super().__init__(root, looks, marks)
        self._end_paragraph()
        self._add(_block("text", self._term))

    def _enter(self, node: LexborNode, tag: str) -> bool:
        goes_on = self._inline(node, tag)
        if goes_on is not None:
            return goes_on
        self._end_paragraph()
        if node.mem_id in self._looks.labels:
            self._begin_tab(self._looks.labels[node.mem_id])
        blocks = self._element(node, tag)
        if blocks is None:
            self._open(node)
            return True
        self._add(blocks)
        return False

    def _leave(self, node: LexborNode) -> None:
        if node.tag in _INLINE:
            return
        self._end_paragraph()
        if node.mem_id in self._looks.labels and self._outer_sections:
            self._section = self._outer_sections.pop()
            self._has_left_tabs = True

    def _begin_tab(self, label: str) -> None:
        self._outer_sections.append(self._section)
        level = self._section.level if self._section else 1
        self._add(_block("heading", tidy(label), level=min(level + 1, 6)))

    def _add(self, blocks: list[Block]) -> None:
        """Append blocks; what goes on behind tabs is not for the last of them only."""
        for block in blocks:
            if block.kind == "heading":
                self._section = block
            elif self._has_left_tabs and self._section:
                self.blocks.append(self._section)
            self._has_left_tabs = False
            self.blocks.append(block)

    def _end_paragraph(self) -> None:
        self._add(_block("text", tidy("".join(self._words))))
        self._words.clear()

    def _element(self, node: LexborNode, tag: str) -> list[Block] | None:
        """Blocks of an element that is read as a whole; None means: look at what is inside."""
        # What lies in more lists and definitions is read as part of the item around it.
        may_nest = self._depth < 50
        if tag in _HEADINGS:
            return _block("heading", self._line(node), level=int(tag[1]))
        if tag == "dt":
            self._term = ", ".join(filter(None, (self._term, self._line(node))))
            return []
        if tag == "dd" and may_nest:
            return self._definition(node)
        if tag in {"summary", "button", "caption"}:
            return _block("text", self._line(node))
        if tag in _LISTS and may_nest:
            return _block("list", "\n".join(self._items(node)))
        if tag == "pre":
            source = _Line(node, self._looks, self._marks).source
            return _block("code", visible(source).strip("\n"))
        if tag == "table" and not is_layout(node):
            return list(self._table(node))
        return None

    def _line(self, node: LexborNode) -> str:
        return _Line(node, self._looks, self._marks).text

    def _inside(self, node: LexborNode, around: LexborNode) -> "_BlockWalk":
        return _BlockWalk(node, self._looks, self._marked(around), self._depth + 1)

    def _definition(self, node: LexborNode) -> list[Block]:
        """The term stands before the first words of its definition."""
        blocks = self._inside(node, node).blocks
        term = self._term
        self._term = ""
        if term and blocks and blocks[0].kind == "text":
            words = f"{term.rstrip(':')}: {blocks[0].text}"
            return [*_block("text", words), *blocks[1:]]
        return [*_block("text", term), *blocks]

    def _items(self, root: LexborNode) -> Iterator[str]:
        """Lines of a list, what lies below the first line of an item two spaces further in."""
        start = whole(root.attributes.get("start"))
        number = 1 if start is None else start
        style = _STYLES.get(root.attributes.get("type") or "", "decimal")
        for node in root.iter():
            if node.mem_id in self._looks.hidden:
                yield run("hidden", hidden=True)
            elif node.tag in _LISTS:
                yield from self._inner_list(node)
            elif node.tag == "li":
                value = whole(node.attributes.get("value"))
                number = number if value is None else value
                marker = f"{written(number, style)}." if root.tag == "ol" else "-"
                yield from self._item_lines(self._inside(node, root), marker)
                number += 1

    def _item_lines(self, item: "_BlockWalk", marker: str) -> Iterator[str]:
        """Lines of an item; the number of a note is its mark."""
        lines = [line for block in item.blocks for line in block.text.split("\n")]
        if lines and item.blocks[0].kind != "list":
            yield f"{'-' if item.is_note else marker} {lines.pop(0)}"
        for line in lines:
            yield f"  {line}"

    def _inner_list(self, node: LexborNode) -> Iterator[str]:
        """Lines of a list that stands between the items of another."""
        self._depth += 1
        lines = self._items(node) if self._depth < 50 else iter([self._line(node)])
        for line in lines:
            yield f"  {line}"
        self._depth -= 1

    def _table(self, table: LexborNode) -> Iterator[Block]:
        """The caption, then the cells; one that spans columns or rows is written into each of them,
        as a reader would see it."""
        looks = self._looks
        for caption in table.iter():
            if caption.tag == "caption" and caption.mem_id not in looks.hidden:
                yield from self._inside(caption, table).blocks
        around = self._marked(table)
        rows: list[list[TableCell]] = []
        for line in own_rows(table):
            marks = around._replace(struck=around.struck or line.mem_id in looks.struck)
            cells: list[TableCell] = []
            for node in line.iter():
                if not looks.hidden.isdisjoint((node.mem_id, line.mem_id)):
                    yield Block(kind="text", text=run("hidden", hidden=True))
                elif node.tag in {"td", "th"}:
                    cells.append(TableCell(node, _Line(node, looks, marks).text))
            rows.append(cells)
        yield from _block("table", pipe_table(spread(rows)))


def _blocks_below(root: LexborNode, looks: Looks) -> list[Block]:
    return _BlockWalk(root, looks, _NO_MARKS, 0).blocks


def _block(kind: BlockKind, text: str, level: int = 0) -> list[Block]:
    """One block, none without words."""
    return [Block(kind=kind, text=text, level=level)] if text.strip() else []
