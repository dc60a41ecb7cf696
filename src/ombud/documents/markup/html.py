"""Parse HTML by selectolax (lexbor): the text that a person reads on the page, walked without
recursion."""

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
from ombud.documents.runs import run, unmarked
from ombud.errors import SourceError
from ombud.types import Block, Loss

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""

_INLINE = frozenset((
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "img", "br", "-text", "input", "ruby", "rt", "rp", "rb",
))  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*(?<!/)>")
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
"""Characters of a main part; one with fewer is probably not the content."""
_LISTS = ("ul", "ol", "menu")
_STYLES = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Type of a list -> style of its numbers."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse the main part of a page: <main> or <article> if there is one, else the body without
    navigation and the like."""
    del pages
    charset = _CHARSET.search(data[:4096])
    text, loss = decode(data, charset.group(1).decode("ascii") if charset else "")
    return read_page(text, loss)


def read_page(source: str, loss: Loss) -> ParsedFile:
    """Parse a decoded page. loss: the loss of decoding."""
    tree = LexborHTMLParser(shallow(source))
    looks = looks_of(tree)
    title = tree.css_first("title")
    root = main_part(tree)
    blocks = blocks_below(root, looks) if root else []
    length = sum(len(block.text) for block in blocks)
    if tree.body and length < _SHORTEST:
        # An empty <main> that a script would fill, or one with only a search box.
        body_blocks = blocks_below(tree.body, looks)
        if sum(len(block.text) for block in body_blocks) > 4 * length:
            root = tree.body
            blocks = body_blocks
    if root is not None and root.tag != "body":
        blocks = [*head_blocks(root, tree, looks), *blocks]
    pictures = len(root.css("img:not([alt])")) if root else 0
    if pictures:
        loss += Loss(pictures=pictures)
    return ParsedFile(blocks, tidy(title.text()) if title else "", loss)


def fragment(source: str) -> LexborHTMLParser:
    """Parse a piece of HTML inside another format."""
    return LexborHTMLParser(f"<main>{shallow(source)}")


def blocks_of(tree: LexborHTMLParser) -> list[Block]:
    return blocks_below(tree.body, looks_of(tree)) if tree.body else []


def head_blocks(root: LexborNode, tree: LexborHTMLParser, looks: Looks) -> list[Block]:
    """Read the header with the title of the page, if it precedes the main part."""
    for header in tree.css("header:has(h1)"):
        is_inside = any(header.mem_id == inner.mem_id for inner in root.css("header"))
        if header.mem_id not in looks.furniture and not is_inside:
            return blocks_below(header, looks)
    return []


def main_part(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]"):
        marked = tree.css_first(selector)
        if marked:
            return marked
    articles = tree.css("article")
    return articles[0] if len(articles) == 1 else tree.body


def shallow(source: str) -> str:
    """Remove tags without meaning from a source that nests too deeply; raises SourceError if that
    does not help."""
    if tag_depth(source) <= DEEPEST:
        return source
    flat = _WRAPPERS.sub(" ", source)
    if tag_depth(flat) > DEEPEST:
        raise SourceError(
            f"The page nests more than {DEEPEST} tags.", hint="Export it again from its origin."
        )
    return flat


def tag_depth(source: str) -> int:
    """Count the depth of tags, or return more if there are too few for that to matter."""
    most = source.count("<") - source.count("</")
    if most <= DEEPEST:
        return most
    deepest = depth = 0
    for close, name in _TAG.findall(source):
        if name.lower() in _VOID:
            continue
        if not close:
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
    return deepest


class _Marks(NamedTuple):
    """The marks of the words in an element."""

    superscript: bool = False
    struck: bool = False
    link: str = ""


_NO_MARKS = _Marks()


class _Walk:
    """Walks the nodes of a subtree in reading order, without recursion, and collects words."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks) -> None:
        self._looks = looks
        self._words: list[str] = []
        self._marks = marks
        self._outer_marks: list[tuple[int, _Marks]] = []
        self._note = ""
        """Mark of the note that begins here, with which its words may begin."""
        self.is_note = False
        # Nodes compare by their HTML, which would take time quadratic in the page.
        self._end = root.mem_id
        self._open(root)
        node = root.child
        while node is not None:
            child = node.child if self._enter(node, node.tag or "") else None
            node = child if child is not None else self._after(node)

    def _after(self, node: LexborNode) -> LexborNode | None:
        """Return the next node after this one and its content; None at the end of the subtree."""
        if self._outer_marks:
            self._close(node)
        following = node.next
        while following is None:
            parent = node.parent
            if parent is None:
                return None
            self._leave(parent)
            self._close(parent)
            if parent.mem_id == self._end:
                return None
            node = parent
            following = node.next
        return following

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Process a node; tell whether to go on with its children."""
        raise NotImplementedError

    def _leave(self, node: LexborNode) -> None:
        """Called after the last child of a node, the root included."""

    def _inline(self, node: LexborNode, tag: str) -> bool | None:
        """Process an inline or invisible node; tell whether to go on with its children, None for
        other nodes."""
        if tag == "-text":
            self._take(node.text_content or "")
            return False
        if node.mem_id in self._looks.replaced:
            self._replace(node)
            return False
        if tag not in _INLINE:
            return False if tag == "-comment" else None
        if tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._take(node.attributes.get("alt") or "")
        elif tag == "input" and node.attributes.get("type") == "checkbox":
            self._words.append("[x] " if "checked" in node.attributes else "[ ] ")
        self._open(node)
        return True

    def _replace(self, node: LexborNode) -> None:
        """Leave out an invisible node, and write the mark of a link to a note."""
        key = node.mem_id
        looks = self._looks
        if key in looks.furniture:
            return
        if key in looks.references:
            mark = looks.references[key]
            self._words.append(run(mark, footnote_ref=True, struck=self._marks.struck))
        elif node.text().strip():
            self._words.append(run("hidden", hidden=True))

    def _open(self, node: LexborNode) -> None:
        """Begin an element that contains words."""
        if self._looks.notes:
            self._note = self._looks.notes.get(node.mem_id, self._note)
        marks = self._marked(node)
        if marks is not self._marks:
            self._outer_marks.append((node.mem_id, self._marks))
            self._marks = marks

    def _marked(self, node: LexborNode) -> _Marks:
        """Return the marks of the words in an element."""
        key = node.mem_id
        looks = self._looks
        if key not in looks.marked:
            return self._marks
        superscript, struck, link = self._marks
        if node.tag == "a":
            link = node.attributes.get("href") or link
        if link.startswith("https://www.google.com/url?"):
            # Google Docs wraps the address of a link in one of its own.
            link = parse_qs(urlsplit(link).query).get("q", [link])[0]
        return _Marks(superscript or key in looks.raised, struck or key in looks.struck, link)

    def _close(self, node: LexborNode) -> None:
        if self._outer_marks and self._outer_marks[-1][0] == node.mem_id:
            _, self._marks = self._outer_marks.pop()

    def _take(self, words: str) -> None:
        superscript, struck, link = self._marks
        if self._note and words.strip():
            self._words.append(run(self._note, footnote_ref=True, struck=struck))
            words = without_mark(words, self._note)
            self._note = ""
            self.is_note = True
        if self._marks is _NO_MARKS:
            self._words.append(unmarked(words))
        else:
            self._words.append(run(words, superscript=superscript, struck=struck, link=link))


def without_mark(words: str, mark: str) -> str:
    """Remove the mark of a note from the beginning of its words."""
    rest = words.lstrip(" \n\t[(")
    if not rest.startswith(mark):
        return words
    behind = rest.removeprefix(mark)
    return words if behind[:1].isalnum() else behind.lstrip("]).:")


class _Line(_Walk):
    """Joins all words under a node; block elements and line breaks become white space, rows of
    inner tables are separated by semicolons."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks) -> None:
        super().__init__(root, looks, marks)
        self.source = "".join(self._words)
        self.text = tidy(self.source).rstrip(";")

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


def read_line(node: LexborNode, looks: Looks, marks: _Marks) -> str:
    """Read the words under a node as one line."""
    words = node.child
    is_plain = marks is _NO_MARKS and node.mem_id not in looks.marked and not looks.notes
    is_lone = words is not None and words.tag == "-text" and words.next is None
    if is_plain and is_lone:
        # Most cells and headings contain nothing else.
        return tidy(unmarked(node.text())).rstrip(";")
    return _Line(node, looks, marks).text


class _BlockWalk(_Walk):
    """Reads the blocks of a subtree. Loose words between block elements become paragraphs."""

    def __init__(self, root: LexborNode, looks: Looks, marks: _Marks, depth: int) -> None:
        self.blocks: list[Block] = []
        self._depth = depth
        """Number of lists around the subtree."""
        self._term = ""
        """Term of the next definition."""
        self._section: Block | None = None
        """The heading in force."""
        self._outer_sections: list[Block | None] = []
        """Headings in force again after the open tabs."""
        self._has_left_tabs = False
        super().__init__(root, looks, marks)
        self._end_paragraph()
        self._add(make_block("text", self._term))

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
        self._add(make_block("heading", tidy(label), level=min(level + 1, 6)))

    def _add(self, blocks: list[Block]) -> None:
        """Append blocks; text after tabs gets the heading from before them."""
        for block in blocks:
            if block.kind == "heading":
                self._section = block
            elif self._has_left_tabs and self._section:
                self.blocks.append(self._section)
            self._has_left_tabs = False
            self.blocks.append(block)

    def _end_paragraph(self) -> None:
        if not self._words:
            return
        self._add(make_block("text", tidy("".join(self._words))))
        self._words.clear()

    def _element(self, node: LexborNode, tag: str) -> list[Block] | None:
        """Read an element that is read as a whole; None for one whose content is walked."""
        if tag in {"p", "div"}:
            return None
        # Deeper lists and definitions are read as part of the item around them.
        may_nest = self._depth < 50
        if tag in _HEADINGS:
            return make_block("heading", self._line(node), level=int(tag[1]))
        if tag == "dt":
            self._term = ", ".join(filter(None, (self._term, self._line(node))))
            return []
        if tag == "dd" and may_nest:
            return self._definition(node)
        if tag in {"summary", "button", "caption"}:
            return make_block("text", self._line(node))
        if tag in _LISTS and may_nest:
            return make_block("list", "\n".join(self._items(node)))
        if tag == "pre":
            source = _Line(node, self._looks, self._marks).source
            return make_block("code", visible(source).strip("\n"))
        if tag == "table" and not is_layout(node):
            return list(self._table(node))
        return None

    def _line(self, node: LexborNode) -> str:
        return read_line(node, self._looks, self._marks)

    def _inside(self, node: LexborNode, around: LexborNode) -> "_BlockWalk":
        return _BlockWalk(node, self._looks, self._marked(around), self._depth + 1)

    def _definition(self, node: LexborNode) -> list[Block]:
        """Read a definition, with the term before its first words."""
        blocks = self._inside(node, node).blocks
        term = self._term
        self._term = ""
        if term and blocks and blocks[0].kind == "text":
            words = f"{term.rstrip(':')}: {blocks[0].text}"
            return [*make_block("text", words), *blocks[1:]]
        return [*make_block("text", term), *blocks]

    def _items(self, root: LexborNode) -> Iterator[str]:
        """Yield the lines of a list; further lines of an item are indented by two spaces."""
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
        """Yield the lines of an item; the number of a note is its mark."""
        lines = [line for block in item.blocks for line in block.text.split("\n")]
        if lines and item.blocks[0].kind != "list":
            yield f"{'-' if item.is_note else marker} {lines.pop(0)}"
        for line in lines:
            yield f"  {line}"

    def _inner_list(self, node: LexborNode) -> Iterator[str]:
        """Yield the lines of a list between the items of another."""
        self._depth += 1
        lines = self._items(node) if self._depth < 50 else iter([self._line(node)])
        for line in lines:
            yield f"  {line}"
        self._depth -= 1

    def _table(self, table: LexborNode) -> Iterator[Block]:
        """Yield the caption, then the cells; one that spans columns or rows is written into each of
        them."""
        looks = self._looks
        for caption in table.iter():
            if caption.tag == "caption" and caption.mem_id not in looks.hidden:
                yield from self._inside(caption, table).blocks
        around = self._marked(table)
        rows: list[list[TableCell]] = []
        for line in own_rows(table):
            marks = around._replace(struck=True) if line.mem_id in looks.struck else around
            cells: list[TableCell] = []
            is_hidden = line.mem_id in looks.hidden
            for node in line.iter():
                if is_hidden or node.mem_id in looks.hidden:
                    yield Block(kind="text", text=run("hidden", hidden=True))
                elif node.tag in {"td", "th"}:
                    cells.append(TableCell(node, read_line(node, looks, marks)))
            rows.append(cells)
        yield from make_block("table", pipe_table(spread(rows)))


def blocks_below(root: LexborNode, looks: Looks) -> list[Block]:
    return _BlockWalk(root, looks, _NO_MARKS, 0).blocks


def make_block(kind: BlockKind, text: str, level: int = 0) -> list[Block]:
    """Make a block; none without words."""
    return [Block(kind=kind, text=text, level=level)] if text.strip() else []
