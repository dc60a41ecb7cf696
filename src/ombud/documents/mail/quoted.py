"""Remove the older messages that a reply quotes, which are not current; forwarded text stays."""

import re
from functools import cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.documents.plain import unix_lines

FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|vb|vs|pd|enc|doorst)\s*:", re.IGNORECASE)
"""Prefixes of the subject of forwarded messages, in the languages of Europe."""


def without_quoted_text(text: str, is_reply: bool) -> tuple[str, int]:
    """Remove quoted messages from a plain text, and count the passages.

    is_reply: the message answers another, which mail programs put below the answer."""
    lines = unix_lines(text).split("\n")
    passages = 0
    start = find_quoted_header(lines) if is_reply else len(lines)
    if any(line.strip() for line in lines[start:]):
        passages += 1
    unquoted: list[str] = []
    is_inside = False
    for line in lines[:start]:
        is_quoted = line.lstrip().startswith(">")
        passages += is_quoted and not is_inside
        is_inside = is_quoted
        unquoted.append("" if is_quoted else line)
    return "\n".join(unquoted), passages


def find_quoted_header(lines: list[str]) -> int:
    """Find the line in which the header of a quoted message begins; the end without one."""
    # The patterns take time quadratic in a line, and headers are short.
    text = "\n".join(line.strip() if len(line) < 300 else "" for line in lines)
    header = header_pattern().search(text)
    if header is None:
        return len(lines)
    begins = header.end() - len(header.group().lstrip())
    return text.count("\n", 0, begins)


@cache
def header_pattern() -> re.Pattern[str]:
    """Return the pattern of headers of quoted messages, such as "On 3 March Ann wrote:", in all
    languages, as the mail program's may differ from that of the text."""
    from mailparser_reply.parser import MAIL_LANGUAGES, EmailMessage

    languages = [name for name in MAIL_LANGUAGES if len(name) == len("en")]
    pattern: re.Pattern[str] = EmailMessage(text="", languages=languages).HEADER_REGEX
    return pattern


def remove_quoted(tree: LexborHTMLParser, is_reply: bool) -> int:
    """Remove the messages that a page quotes, and count the passages."""
    passages = 0
    while quoted := tree.css_first("blockquote[type=cite], .gmail_quote, .yahoo_quoted"):
        quoted.decompose()
        passages += 1
    while prefix := tree.css_first(".moz-cite-prefix, .gmail_attr"):
        prefix.decompose()
    rest = tree.css_first("#appendonsend, #divRplyFwdMsg")
    if rest is None and is_reply and not passages:
        rest = header_element(tree)
    if rest is not None:
        remove_from(rest)
        passages += 1
    return passages


def header_element(tree: LexborHTMLParser) -> LexborNode | None:
    """Find the element that begins with the header of a quoted message, as Outlook writes it."""
    for node in tree.css("p, div"):
        text = node.text(separator="\n").strip()
        header = header_pattern().search(text) if len(text) < 1000 else None
        if header is not None and not text[: header.start()].strip():
            return node
    return None


def remove_from(node: LexborNode) -> None:
    """Remove an element and everything behind it."""
    above = node.parent
    while node.next is not None:
        node.next.decompose()
    node.decompose()
    while above is not None and above.tag != "body":
        while above.next is not None:
            above.next.decompose()
        above = above.parent
