"""Convert Confluence's storage format to plain HTML: macros, links, tasks and dates become the text
that a reader sees.

The format is XML with a vocabulary of its own (`ac:`, `ri:`). An HTML parser does not know that
`<ri:page/>` is closed, takes CDATA for a comment and lets a paragraph end a macro around it, so
these elements are resolved here before HTML is parsed. End tags without a start are ignored."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape, unescape
from typing import NamedTuple

from ombud.errors import SourceError

DEEPEST = 500
"""Open elements. Real pages stay below 50."""


class RenderedPage(NamedTuple):
    html: str
    excerpts: Mapping[str, str]
    """Name -> HTML of the page's excerpts; the first one is also under ""."""


Person = Callable[[str, str], str]
"""(account-id | userkey | username, its value) -> display name."""
Include = Callable[[str, str], RenderedPage | None]
"""(key of the space, "" for the page's own; title) -> that page; None if it may not be included."""
Address = Callable[[str, Mapping[str, str]], str]
"""(element of a resource such as `ri:page`, or `a`; its attributes) -> its url; empty if
unknown."""


class Surroundings(NamedTuple):
    """Look-ups of what a page refers to."""

    person: Person
    include: Include
    address: Address


_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)((?:\"[^\"<]*\"|'[^'<]*'|[^\"'<>])*)>")
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARKUP = re.compile(r"<[^<>]*>")
_PARAGRAPH = re.compile(r"</?(?:p|div)\b[^<>]*>")
_VOID = frozenset({"br", "hr"})
_HTML_NAMES = (
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre div "
    "table thead tbody tfoot tr th td caption br hr a abbr b big "
    "cite code del em font i ins kbd q s samp small span strike strong sub sup tt u var"
)
_HTML = frozenset(_HTML_NAMES.split())
_COPIED_ATTRIBUTES = ("colspan", "rowspan", "start", "style", "id")
"""Attributes that the HTML parser reads; others change without the text changing."""
_SILENT_NAMES = (
    "ac:emoticon ac:task-id ac:task-uuid ac:adf-attribute ac:adf-mark "
    "script style template iframe object svg colgroup col head title"
)
_SILENT = frozenset(_SILENT_NAMES.split())
_BLOCKS = frozenset(
    {"ac:layout", "ac:layout-section", "ac:layout-cell", "ac:caption", "ac:adf-node"}
)
_VISIBLE_PARAMETER = {"status": "title", "jira": "key"}
"""Macro -> the only parameter that a reader sees."""


def render(storage: str, around: Surroundings) -> RenderedPage:
    """Convert a page to HTML; raises SourceError if it nests too deeply."""
    page = _Page(around, sha256(storage.encode(errors="replace")).hexdigest()[:8])
    for kind, text, attributes in tokenise(storage):
        if kind == "text":
            page.stack[-1].parts.append(text)
        elif kind == "open":
            page.open(text, attributes)
        else:
            page.close(text)
    while len(page.stack) > 1:
        page.close_last()
    html = "".join([*page.stack[0].parts, *page.take_notes()])
    return RenderedPage(html, page.excerpts)


def has_text(html: str) -> bool:
    return any(map(str.isalnum, unescape(_MARKUP.sub(" ", html))))


def tokenise(storage: str) -> Iterator[tuple[str, str, str]]:
    """Yield (text | open | close, HTML or name, attributes); a self-closing element is opened and
    closed."""
    at = 0
    while (start := storage.find("<", at)) >= 0:
        yield "text", storage[at:start], ""
        tag = _TAG.match(storage, start)
        if storage.startswith(_CDATA, start):
            end, at = find_end(storage, "]]>", start)
            yield "text", escape(storage[start + len(_CDATA) : end]), ""
        elif storage.startswith("<!--", start):
            _, at = find_end(storage, "-->", start)
        elif tag:
            slash, name, rest = tag.groups()
            yield ("close" if slash else "open"), name.lower(), rest
            if not slash and rest.endswith("/"):
                yield "close", name.lower(), ""
            at = tag.end()
        else:
            yield "text", "&lt;", ""
            at = start + 1
    yield "text", storage[at:], ""


_CDATA = "<![CDATA["


def find_end(storage: str, mark: str, start: int) -> tuple[int, int]:
    """Find the next end mark and return its start and end; the end of the text without one."""
    end = storage.find(mark, start)
    if end < 0:
        return len(storage), len(storage)
    return end, end + len(mark)


@dataclass
class _Element:
    name: str
    attributes: Mapping[str, str]
    parts: list[str] = field(default_factory=list)
    """HTML of the content that is visible in its place."""
    named: dict[str, str] = field(default_factory=dict)
    """HTML of named content: parameters, body, plain, status."""
    target: tuple[str, Mapping[str, str]] = ("", {})
    """The resource (`ri:`) inside."""

    @property
    def inner(self) -> str:
        return "".join(self.parts)


_NAMED = {
    "ac:rich-text-body": "*body",
    "ac:plain-text-body": "*plain",
    "ac:task-status": "*status",
    "ac:task-body": "*body",
    "ac:adf-fallback": "*fallback",
}
"""Elements that are named content of their parent, under names that no parameter can have."""


class _Page:
    """A page that is being converted: a stack of open elements, excerpts and footnotes."""

    def __init__(self, around: Surroundings, key: str) -> None:
        """key: distinguishes its footnotes from those of included pages."""
        self.stack = [_Element("", {})]
        self.excerpts: dict[str, str] = {}
        self._around = around
        self._key = key
        self._notes: list[str] = []
        self._number = itertools.count(1)

    def take_notes(self) -> Iterator[str]:
        """Yield the footnotes that are not in the text yet."""
        if self._notes:
            yield f"<div>{''.join(self._notes)}</div>"
        self._notes = []

    def open(self, name: str, rest: str) -> None:
        if name in _VOID:
            self.stack[-1].parts.append(f"<{name}>")
            return
        if len(self.stack) > DEEPEST:
            raise SourceError(
                f"The page nests more than {DEEPEST} elements.",
                hint="Simplify it, or leave it out.",
            )
        attributes: dict[str, str] = {}
        for key, double, single in _ATTRIBUTE.findall(rest):
            attributes[key] = unescape(double or single)
        self.stack.append(_Element(name, attributes))

    def close(self, name: str) -> None:
        open_names = [element.name for element in self.stack[1:]]
        if name not in open_names:
            return
        while self.stack[-1].name != name:
            self.close_last()
        self.close_last()

    def close_last(self) -> None:
        element = self.stack.pop()
        around = self.stack[-1]
        name = element.name
        if name in _SILENT:
            return
        if name.startswith("ri:"):
            # An attachment contains the page that it belongs to.
            around.target = (name, {**element.target[1], **element.attributes})
        elif name == "ac:parameter":
            around.named[element.attributes.get("ac:name", "")] = element.inner
            if element.target[0]:
                around.target = element.target
        elif name in _NAMED:
            around.named[_NAMED[name]] = element.inner
        else:
            if name == "ac:link" and around.name == "ac:parameter":
                around.target = element.target
            around.parts.append(self._html(element))

    def _html(self, element: _Element) -> str:
        if element.name in {"ac:structured-macro", "ac:macro"}:
            return self._macro(element.attributes.get("ac:name", "").lower(), element)
        if element.name == "ac:link":
            return self._link(element)
        if element.name == "a":
            return self._linked(element.inner, "a", element.attributes)
        if element.name in _WRITERS:
            return _WRITERS[element.name](element)
        if element.name in _BLOCKS:
            return f"<div>{element.inner}</div>"
        if element.name in _HTML:
            copied = ""
            for key in _COPIED_ATTRIBUTES:
                if key in element.attributes:
                    copied += f' {key}="{escape(element.attributes[key])}"'
            return f"<{element.name}{copied}>{element.inner}</{element.name}>"
        return element.inner

    def _macro(self, name: str, element: _Element) -> str:
        named = element.named
        if name in _VISIBLE_PARAMETER:
            return f"<span>{named.get(_VISIBLE_PARAMETER[name], '')}</span>"
        if name in {"include", "excerpt-include"}:
            return self._included(name, element)
        if name == "footnote":
            return self._footnote(named.get("*body") or named.get("*plain", ""))
        if name == "display-footnotes":
            return "".join(self.take_notes())
        if name == "excerpt":
            self._keep_excerpt(element)
        if name in _SILENT:
            return ""
        if named.get("hidden") == "true":  # excerpts and properties for other pages
            return f"<div hidden>{named.get('*body', '')}</div>"
        return self._body_of(name, element)

    def _body_of(self, name: str, element: _Element) -> str:
        """Write the bodies of a macro; its other content is not visible."""
        named = element.named
        title = named.get("title", "")
        heading = f"<p><strong>{title}</strong></p>" if has_text(title) else ""
        if "*plain" in named:
            return f"{heading}<pre>\n{named['*plain']}</pre>"
        if "*body" in named:
            # Panels and expanders have a visible title; that of another macro may be a setting.
            visible_title = heading if name in _TITLED else ""
            return f"<div>{visible_title}{named['*body']}</div>"
        if element.target[0] in {"ri:attachment", "ri:user"}:
            return self._named(element.target)
        return ""

    def _keep_excerpt(self, element: _Element) -> None:
        body = element.named.get("*body", "")
        name = unescape(element.named.get("name", ""))
        self.excerpts.setdefault(name, body)
        self.excerpts.setdefault("", body)

    def _footnote(self, note: str) -> str:
        """Write the mark of a footnote and keep its text for the macro that lists footnotes, or the
        end of the page."""
        number = next(self._number)
        place = f"footnote-{self._key}-{number}"
        # Paragraphs inside would end the paragraph of the note.
        text = _PARAGRAPH.sub(" ", note).strip()
        self._notes.append(f'<p id="{place}"><sup>{number}</sup> {text}</p>')
        return f'<sup><a href="#{place}">{number}</a></sup>'

    def _included(self, macro: str, element: _Element) -> str:
        kind, attributes = element.target
        if kind == "ri:page":
            title = attributes.get("ri:content-title", "")
        else:
            named = element.named.get("", "").strip()
            title = unescape(_MARKUP.sub("", named))
        if not title:
            return ""
        page = self._around.include(attributes.get("ri:space-key", ""), title)
        html = None
        if page is not None and macro == "include":
            html = page.html
        elif page is not None:
            html = page.excerpts.get(unescape(element.named.get("name", "")))
        if html is None:
            return f"<p>Included page: {escape(title)}</p>"
        return f"<div>{html}</div>"

    def _link(self, element: _Element) -> str:
        """Write the words of a link, or the name of its target. A file's name is added to other
        words, as the file is a document."""
        kind, attributes = element.target
        name = self._named(element.target)
        words = element.inner.strip()
        if not has_text(words):
            words = name or escape(element.attributes.get("ac:anchor", ""))
        elif kind == "ri:attachment" and name not in words:
            words = f"{words} ({name})"
        return self._linked(words, kind, attributes)

    def _linked(self, words: str, kind: str, attributes: Mapping[str, str]) -> str:
        url = self._around.address(kind, attributes)
        return f'<a href="{escape(url)}">{words}</a>' if url else f"<span>{words}</span>"

    def _named(self, target: tuple[str, Mapping[str, str]]) -> str:
        kind, attributes = target
        if kind == "ri:user":
            for key in ("account-id", "userkey", "username"):
                value = attributes.get(f"ri:{key}")
                if value:
                    name = self._around.person(key, value) or value
                    return escape(f"@{name}")
            return ""
        attribute = _TITLE_OF.get(kind, "")
        return escape(attributes.get(attribute, ""))


def write_image(element: _Element) -> str:
    """Write the description of an image; the HTML parser counts images without one."""
    return escape(element.attributes.get("ac:alt", "")) + element.inner or "<img>"


def write_placeholder(element: _Element) -> str:
    """Hide text that only editors see."""
    return f"<span hidden>{element.inner}</span>"


def write_task(element: _Element) -> str:
    status = element.named.get("*status", "")
    mark = "x" if status.strip() == "complete" else " "
    body = element.named.get("*body", "")
    return f"<li>[{mark}] {body}</li>"


def write_extension(element: _Element) -> str:
    return element.inner if has_text(element.inner) else element.named.get("*fallback", "")


def write_time(element: _Element) -> str:
    if has_text(element.inner):
        return element.inner
    return escape(element.attributes.get("datetime", ""))


_WRITERS: Mapping[str, Callable[[_Element], str]] = {
    "ac:image": write_image,
    "ac:placeholder": write_placeholder,
    "ac:task-list": lambda element: f"<ul>{element.inner}</ul>",
    "ac:task": write_task,
    "ac:adf-extension": write_extension,
    "time": write_time,
}
"""Element -> function that writes it as HTML."""
_TITLE_OF = {
    "ri:page": "ri:content-title",
    "ri:blog-post": "ri:content-title",
    "ri:attachment": "ri:filename",
    "ri:space": "ri:space-key",
    "ri:url": "ri:value",
}
"""Resource -> the attribute that names it."""
_TITLED = frozenset(
    {"info", "note", "warning", "tip", "success", "error", "panel", "expand", "ui-expand"}
)
