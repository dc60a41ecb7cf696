"""Confluence's storage format -> plain HTML: macros, links, tasks and dates become the text that a
reader sees.

The format is XML with a vocabulary of its own (`ac:`, `ri:`). An HTML parser does not know that
`<ri:page/>` is closed, takes CDATA for a comment and lets a paragraph end a macro around it; so
everything that is not HTML is resolved here, element by element, before one looks at it. Leniently:
an end without a beginning is passed over."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)((?:\"[^\"<]*\"|'[^'<]*'|[^\"'<>])*)>")
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARKUP = re.compile(r"<[^<>]*>")
_VOID = frozenset({"br", "hr"})
_HTML = frozenset(
    (
        *(
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "li",
            "dl",
            "dt",
            "dd",
            "blockquote",
            "pre",
            "div",
        ),
        *(
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "th",
            "td",
            "caption",
            "br",
            "hr",
            "a",
            "abbr",
            "b",
            "big",
        ),
        *(
            "cite",
            "code",
            "del",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
            "q",
            "s",
            "samp",
            "small",
            "span",
            "strike",
        ),
        *("strong", "sub", "sup", "tt", "u", "var"),
    )
)
_KEPT = ("colspan", "rowspan", "start")
"""Attributes that the reader of the HTML looks at; others change without the text changing."""
_SILENT = frozenset(
    (
        *(
            "ac:emoticon",
            "ac:placeholder",
            "ac:task-id",
            "ac:task-uuid",
            "ac:adf-attribute",
            "ac:adf-mark",
        ),
        *(
            "script",
            "style",
            "template",
            "iframe",
            "object",
            "svg",
            "colgroup",
            "col",
            "head",
            "title",
        ),
    )
)
_BLOCKS = frozenset(
    {"ac:layout", "ac:layout-section", "ac:layout-cell", "ac:caption", "ac:adf-node"}
)
_SHOWN = {"status": "title", "jira": "key"}
"""Macro -> the parameter that is all a reader sees of it."""


def render(storage: str, person: Person, include: Include) -> RenderedPage:
    """Raises SourceError for a page that nests without end."""
    page = _Page(person, include)
    for kind, text, attributes in _tokens(storage):
        if kind == "text":
            page.stack[-1].parts.append(text)
        elif kind == "open":
            page.open(text, attributes)
        else:
            page.close(text)
    while len(page.stack) > 1:
        page.close_last()
    return RenderedPage("".join(page.stack[0].parts), page.excerpts)


def has_text(html: str) -> bool:
    return any(c.isalnum() for c in unescape(_MARKUP.sub(" ", html)))


def _tokens(storage: str) -> Iterator[tuple[str, str, str]]:
    """(text | open | close, HTML or name, attributes). An element that closes itself is opened and
    closed."""
    at = 0
    while (start := storage.find("<", at)) >= 0:
        yield "text", storage[at:start], ""
        if storage.startswith("<![CDATA[", start):
            end = storage.find("]]>", start)
            yield "text", escape(storage[start + 9 : end if end >= 0 else len(storage)]), ""
            at = end + 3 if end >= 0 else len(storage)
        elif storage.startswith("<!--", start):
            end = storage.find("-->", start)
            at = end + 3 if end >= 0 else len(storage)
        elif tag := _TAG.match(storage, start):
            slash, name, rest = tag.group(1), tag.group(2).lower(), tag.group(3)
            yield ("close" if slash else "open"), name, rest
            if not slash and rest.endswith("/"):
                yield "close", name, ""
            at = tag.end()
        else:
            yield "text", "&lt;", ""
            at = start + 1
    yield "text", storage[at:], ""


@dataclass
class _Element:
    name: str
    attributes: Mapping[str, str]
    parts: list[str] = field(default_factory=list)
    """HTML of what stands inside, as far as it is shown in its place."""
    said: dict[str, str] = field(default_factory=dict)
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
    def __init__(self, person: Person, include: Include) -> None:
        self.stack = [_Element("", {})]
        self.excerpts: dict[str, str] = {}
        self._person, self._include = person, include

    def open(self, name: str, rest: str) -> None:
        if name in _VOID:
            self.stack[-1].parts.append(f"<{name}>")
            return
        if len(self.stack) > DEEPEST:
            raise SourceError(
                f"The page nests more than {DEEPEST} elements.",
                hint="Simplify it, or leave it out.",
            )
        attributes = {
            key: unescape(double or single) for key, double, single in _ATTRIBUTE.findall(rest)
        }
        self.stack.append(_Element(name, attributes))

    def close(self, name: str) -> None:
        if any(element.name == name for element in self.stack[1:]):
            while self.stack[-1].name != name:
                self.close_last()
            self.close_last()

    def close_last(self) -> None:
        element, around = self.stack.pop(), self.stack[-1]
        name = element.name
        if name in _SILENT:
            return
        if name.startswith("ri:"):
            around.target = (name, element.attributes)
        elif name == "ac:parameter":
            around.said[element.attributes.get("ac:name", "")] = element.inner
            around.target = element.target if element.target[0] else around.target
        elif name in _NAMED:
            around.said[_NAMED[name]] = element.inner
        else:
            if name == "ac:link":
                around.target = element.target if around.name == "ac:parameter" else around.target
            around.parts.append(self._html(element))

    def _html(self, element: _Element) -> str:
        name, inner, attributes = element.name, element.inner, element.attributes
        if name in {"ac:structured-macro", "ac:macro"}:
            return self._macro(attributes.get("ac:name", "").lower(), element)
        if name == "ac:link":
            return self._link(element)
        if name == "ac:image":
            return escape(attributes.get("ac:alt", "")) + inner
        if name == "ac:task-list":
            return f"<ul>{inner}</ul>"
        if name == "ac:task":
            mark = "x" if element.said.get("*status", "").strip() == "complete" else " "
            return f"<li>[{mark}] {element.said.get('*body', '')}</li>"
        if name == "ac:adf-extension":
            return inner if has_text(inner) else element.said.get("*fallback", "")
        if name == "time":
            return inner if has_text(inner) else escape(attributes.get("datetime", ""))
        if name in _BLOCKS:
            return f"<div>{inner}</div>"
        if name not in _HTML:
            return inner
        kept = "".join(f' {key}="{escape(attributes[key])}"' for key in _KEPT if key in attributes)
        return f"<{name}{kept}>{inner}</{name}>"

    def _macro(self, name: str, element: _Element) -> str:
        said = element.said
        title = said.get("title", "")
        heading = f"<p><strong>{title}</strong></p>" if has_text(title) else ""
        if name in _SHOWN:
            return f"<span>{said.get(_SHOWN[name], '')}</span>"
        if name in {"include", "excerpt-include"}:
            return self._included(name, element)
        if name == "excerpt":
            return self._excerpt(element)
        if name in _SILENT:
            return ""
        # Not what stands loose inside: in a macro only its bodies are shown.
        if "*plain" in said:
            return f"{heading}<pre>\n{said['*plain']}</pre>"
        if "*body" in said:
            # Panels and expanders have a title that is shown; of an unknown macro it may be a
            # setting.
            return f"<div>{heading if name in _TITLED else ''}{said['*body']}</div>"
        return (
            self._named(element.target) if element.target[0] in {"ri:attachment", "ri:user"} else ""
        )

    def _excerpt(self, element: _Element) -> str:
        body = element.said.get("*body", "")
        for name in (unescape(element.said.get("name", "")), ""):
            self.excerpts.setdefault(name, body)
        # Hidden, it is only there for other pages to show.
        return "" if element.said.get("hidden") == "true" else f"<div>{body}</div>"

    def _included(self, macro: str, element: _Element) -> str:
        kind, attributes = element.target
        named = element.said.get("", "").strip()
        title = (
            attributes.get("ri:content-title", "")
            if kind == "ri:page"
            else unescape(_MARKUP.sub("", named))
        )
        found = self._include(attributes.get("ri:space-key", ""), title) if title else None
        if found is not None and macro == "include":
            return f"<div>{found.html}</div>"
        if found is not None:
            body = found.excerpts.get(unescape(element.said.get("name", "")))
            if body is not None:
                return f"<div>{body}</div>"
        return f"<p>Included page: {escape(title)}</p>" if title else ""

    def _link(self, element: _Element) -> str:
        """Its own words, or the name of what it leads to; a file's name beside other words, for it
        is a document."""
        name, words = self._named(element.target), element.inner.strip()
        if not has_text(words):
            return f"<span>{name or escape(element.attributes.get('ac:anchor', ''))}</span>"
        if element.target[0] == "ri:attachment" and name not in words:
            return f"<span>{words} ({name})</span>"
        return f"<span>{words}</span>"

    def _named(self, target: tuple[str, Mapping[str, str]]) -> str:
        kind, attributes = target
        if kind == "ri:user":
            for key in ("account-id", "userkey", "username"):
                if value := attributes.get(f"ri:{key}"):
                    return escape(f"@{self._person(key, value) or value}")
            return ""
        keys = {
            "ri:page": "ri:content-title",
            "ri:blog-post": "ri:content-title",
            "ri:attachment": "ri:filename",
            "ri:space": "ri:space-key",
            "ri:url": "ri:value",
        }
        return escape(attributes.get(keys.get(kind, ""), ""))


_TITLED = frozenset(
    {"info", "note", "warning", "tip", "success", "error", "panel", "expand", "ui-expand"}
)
