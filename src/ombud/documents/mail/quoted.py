"""The old text that a reply quotes, which is no rule of today; what is forwarded stays."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.documents.markup.html import shallow
from ombud.documents.plain import unix_lines
from ombud.text import detect_language

FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|vb|vs|pd|enc|doorst)\s*:", re.IGNORECASE)
"""How programs begin the subject of a forwarded message, in the languages of Europe."""


def without_quoted_text(text: str, is_reply: bool) -> tuple[str, int]:
    """A plain text without the messages that it quotes, and how many passages these are.

    is_reply: whether the message answers another, which its program then puts below the answer."""
    lines = unix_lines(text).split("\n")
    passages = 0
    start = _quoted_from(lines) if is_reply else len(lines)
    if any(line.strip() for line in lines[start:]):
        passages += 1
    left: list[str] = []
    is_inside = False
    for line in lines[:start]:
        is_quoted = line.lstrip().startswith(">")
        passages += is_quoted and not is_inside
        is_inside = is_quoted
        left.append("" if is_quoted else line)
    return "\n".join(left), passages


def _quoted_from(lines: list[str]) -> int:
    """The number of the line in which the header of a quoted message begins."""
    # The patterns take time quadratic in a line, and headers are short.
    text = "\n".join(line.strip() if len(line) < 300 else "" for line in lines)
    header = _header(text)
    if header is None:
        return len(lines)
    begins = header.end() - len(header.group().lstrip())
    return text.count("\n", 0, begins)


def _header(text: str) -> re.Match[str] | None:
    """The first header of a quoted message, such as "On 3 March Ann wrote:"."""
    from mailparser_reply.parser import EmailMessage

    message = EmailMessage(text=text, languages=[detect_language(text)])
    found: re.Match[str] | None = message.HEADER_REGEX.search(text)
    return found


def without_quoted_html(source: str, is_reply: bool) -> tuple[str, int]:
    """The same of HTML."""
    tree = LexborHTMLParser(shallow(source))
    passages = 0
    while quoted := tree.css_first("blockquote[type=cite], .gmail_quote, .yahoo_quoted"):
        quoted.decompose()
        passages += 1
    while prefix := tree.css_first(".moz-cite-prefix, .gmail_attr"):
        prefix.decompose()
    rest = tree.css_first("#appendonsend, #divRplyFwdMsg")
    if rest is None and is_reply and not passages:
        rest = _header_element(tree)
    if rest is not None:
        _remove_from(rest)
        passages += 1
    return (tree.html or "", passages) if passages else (source, 0)


def _header_element(tree: LexborHTMLParser) -> LexborNode | None:
    """The element that begins with the header of a quoted message, as Outlook writes it."""
    for node in tree.css("p, div"):
        text = node.text(separator="\n").strip()
        header = _header(text) if len(text) < 1000 else None
        if header is not None and not text[: header.start()].strip():
            return node
    return None


def _remove_from(node: LexborNode) -> None:
    """Remove an element and everything behind it."""
    above = node.parent
    while node.next is not None:
        node.next.decompose()
    node.decompose()
    while above is not None and above.tag != "body":
        while above.next is not None:
            above.next.decompose()
        above = above.parent
