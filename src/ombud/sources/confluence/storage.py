"""Confluence's storage format -> plain HTML: macros, links, tasks and dates become the text that a
reader sees.

The format is XML with a vocabulary of its own (`ac:`, `ri:`). An HTML parser does not know that
`<ri:page/>` is closed, takes CDATA for a comment and lets a paragraph end a macro around it; so
everything that is not HTML is resolved here, element by element, before one looks at it. Leniently:
an end without a beginning is passed over."""

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
    """Name -> HTML of the page's excerpts; the first one is called "" as well."""


Person = Callable[[str, str], str]
"""(account-id | userkey | username, its value) -> the name to show."""
Include = Callable[[str, str], RenderedPage | None]
"""(key of the space, "" for the page's own; title) -> that page; None when it cannot be shown to
every reader."""
Address = Callable[[str, Mapping[str, str]], str]
"""(element of a resource such as `ri:page`, or `a`; its attributes) -> where it lies on the web;
empty where that is not known."""


class Surroundings(NamedTuple):
    """What a page says that is not in its own text."""

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
_KEPT = ("colspan", "rowspan", "start", "style", "id")
"""Attributes that the reader of the HTML looks at; others change without the text changing."""
_SILENT_NAMES = (
    "ac:emoticon ac:task-id ac:task-uuid ac:adf-attribute ac:adf-mark "
    "script style template iframe object svg colgroup col head title"
)
_SILENT = frozenset(_SILENT_NAMES.split())
_BLOCKS = frozenset(
    {"ac:layout", "ac:layout-section", "ac:layout-cell", "ac:caption", "ac:adf-node"}
)
_SHOWN = {"status": "title", "jira": "key"}
"""Macro -> the parameter that is all a reader sees of it."""


def render(storage: str, around: Surroundings) -> RenderedPage:
    """Raises SourceError for a page that nests without end."""
    page = _Page(around, sha256(storage.encode(errors="replace")).hexdigest()[:8])
    for kind, text, attributes in _tokens(storage):
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


def _tokens(storage: str) -> Iterator[tuple[str, str, str]]:
    """(text | open | close, HTML or name, attributes). An element that closes itself is opened and
    closed."""
    at = 0
    while (start := storage.find("<", at)) >= 0:
        yield "text", storage[at:start], ""
        tag = _TAG.match(storage, start)
        if storage.startswith(_CDATA, start):
            end, at = _end_of(storage, "]]>", start)
            yield "text", escape(storage[start + len(_CDATA) : end]), ""
        elif storage.startswith("<!--", start):
            _, at = _end_of(storage, "-->", start)
        elif tag:
            yield from _tag_tokens(tag)
            at = tag.end()
        else:
            yield "text", "&lt;", ""
            at = start + 1
    yield "text", storage[at:], ""


_CDATA = "<![CDATA["


def _end_of(storage: str, mark: str, start: int) -> tuple[int, int]:
    """Where what begins at `start` ends, and where it goes on after the mark that ends it."""
    end = storage.find(mark, start)
    if end < 0:
        return len(storage), len(storage)
    return end, end + len(mark)


def _tag_tokens(tag: re.Match[str]) -> Iterator[tuple[str, str, str]]:
    slash, name, rest = tag.groups()
    name = name.lower()
    yield ("close" if slash else "open"), name, rest
    if not slash and rest.endswith("/"):
        yield "close", name, ""


@dataclass
class _Element:
    name: str
    attributes: Mapping[str, str]
    parts: list[str] = field(default_factory=list)
    """HTML of what stands inside, as far as it is shown in its place."""
    named: dict[str, str] = field(default_factory=dict)
    """HTML of what stands inside under a name: parameters, body, plain, status."""
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
"""Elements that belong to the one around them, under a name that no parameter can have."""


class _Page:
    def __init__(self, around: Surroundings, key: str) -> None:
        """key: sets its footnotes apart from those of pages that are shown inside."""
        self.stack = [_Element("", {})]
        self.excerpts: dict[str, str] = {}
        self._around = around
        self._key = key
        self._notes: list[str] = []
        self._number = itertools.count(1)

    def take_notes(self) -> Iterator[str]:
        """The footnotes that were not shown yet."""
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
            # An attachment holds the page that it belongs to.
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
            return _plain_html(element)
        return element.inner

    def _macro(self, name: str, element: _Element) -> str:
        named = element.named
        if name in _SHOWN:
            return f"<span>{named.get(_SHOWN[name], '')}</span>"
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
        if named.get("hidden") == "true":  # excerpts and properties that only other pages show
            return f"<div hidden>{named.get('*body', '')}</div>"
        return self._body_of(name, element)

    def _body_of(self, name: str, element: _Element) -> str:
        """What a macro shows: not what stands loose inside, only its bodies."""
        named = element.named
        title = named.get("title", "")
        heading = f"<p><strong>{title}</strong></p>" if has_text(title) else ""
        if "*plain" in named:
            return f"{heading}<pre>\n{named['*plain']}</pre>"
        if "*body" in named:
            # Panels and expanders have a title that is shown; of an unknown macro it may be a
            # setting.
            shown = heading if name in _TITLED else ""
            return f"<div>{shown}{named['*body']}</div>"
        if element.target[0] in {"ri:attachment", "ri:user"}:
            return self._named(element.target)
        return ""

    def _keep_excerpt(self, element: _Element) -> None:
        body = element.named.get("*body", "")
        name = unescape(element.named.get("name", ""))
        self.excerpts.setdefault(name, body)
        self.excerpts.setdefault("", body)

    def _footnote(self, note: str) -> str:
        """The mark of a footnote, whose text stands where the page shows all of them, or at its
        end."""
        number = next(self._number)
        place = f"footnote-{self._key}-{number}"
        self._notes.append(f'<p id="{place}"><sup>{number}</sup> {_inline(note)}</p>')
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
        """Its own words, or the name of what it leads to; a file's name beside other words, for it
        is a document."""
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


def _inline(html: str) -> str:
    """Without the paragraphs around it, which would end the one that it is put into."""
    return _PARAGRAPH.sub(" ", html).strip()


def _image(element: _Element) -> str:
    """Its words; what has none is counted by the reader of the HTML."""
    return escape(element.attributes.get("ac:alt", "")) + element.inner or "<img>"


def _placeholder(element: _Element) -> str:
    """What editors alone see, as what other hidden words are in HTML."""
    return f"<span hidden>{element.inner}</span>"


def _task_list(element: _Element) -> str:
    return f"<ul>{element.inner}</ul>"


def _task(element: _Element) -> str:
    status = element.named.get("*status", "")
    mark = "x" if status.strip() == "complete" else " "
    body = element.named.get("*body", "")
    return f"<li>[{mark}] {body}</li>"


def _extension(element: _Element) -> str:
    return element.inner if has_text(element.inner) else element.named.get("*fallback", "")


def _time(element: _Element) -> str:
    if has_text(element.inner):
        return element.inner
    return escape(element.attributes.get("datetime", ""))


def _plain_html(element: _Element) -> str:
    kept = ""
    for key in _KEPT:
        if key in element.attributes:
            value = escape(element.attributes[key])
            kept += f' {key}="{value}"'
    return f"<{element.name}{kept}>{element.inner}</{element.name}>"


_WRITERS: Mapping[str, Callable[[_Element], str]] = {
    "ac:image": _image,
    "ac:placeholder": _placeholder,
    "ac:task-list": _task_list,
    "ac:task": _task,
    "ac:adf-extension": _extension,
    "time": _time,
}
"""Element -> what makes HTML of it."""
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
