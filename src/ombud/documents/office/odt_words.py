"""Read the words of OpenDocument paragraphs with the look of their spans: struck, hidden, raised,
linked."""

from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.blocks import tidy
from ombud.documents.runs import link, run

_SKIPPED = (
    "annotation", "tracked-changes", "frame", "custom-shape", "table", "ruby-text", "bookmark",
    "title", "desc", "page-number", "page-count", "sheet-name",
)  # fmt: skip
"""Elements that are not words of the paragraph that anchors them; some are read separately."""
_DEEPEST_STYLE = 9


class SpanLook(NamedTuple):
    """The look of words; None means unspecified."""

    is_struck: bool | None = None
    is_hidden: bool | None = None
    is_raised: bool | None = None

    def over(self, outer: "SpanLook") -> "SpanLook":
        """Combine this look with the outer one, which counts where this is unspecified."""
        both = zip(self, outer, strict=True)
        return SpanLook(*(beyond if own is None else own for own, beyond in both))


@dataclass
class OdtRuns:
    """Reads the words of one document."""

    looks: dict[str, tuple[str, SpanLook]] = field(default_factory=dict)
    """Style -> (parent, own look)."""

    def add(self, root: Element) -> None:
        """Add the styles of a part."""
        for style in root.iter("style"):
            if style.get("family") in {"text", "paragraph"}:
                look = read_look(style.find("text-properties"))
                self.looks[style.get("name", "")] = style.get("parent-style-name", ""), look

    def read(self, node: Element) -> str:
        """Read a paragraph as printed, with the marks of its notes."""
        if any(hider.get("is-hidden") == "true" for hider in node.iter("hidden-paragraph")):
            return run("hidden", hidden=True)
        return self._words(node, self._look_of(node, SpanLook()))

    def _words(self, node: Element, look: SpanLook) -> str:
        words = [mark_words(node.text or "", look)]
        for child in node:
            words += [self._child(child, look), mark_words(child.tail or "", look)]
        return "".join(words)

    def _child(self, child: Element, look: SpanLook) -> str:
        if child.tag in {"s", "tab", "line-break"}:
            return " "
        if child.tag == "note":
            return run(tidy(child.findtext("note-citation") or ""), footnote_ref=True)
        if child.tag == "hidden-text" and child.get("is-hidden") == "true":
            return run("hidden", hidden=True)
        if child.tag in _SKIPPED:
            return ""
        words = self._words(child, self._look_of(child, look))
        return link(words, child.get("href", "")) if child.tag == "a" else words

    def _look_of(self, node: Element, look: SpanLook) -> SpanLook:
        name = node.get("style-name", "")
        own = SpanLook()
        for _ in range(_DEEPEST_STYLE):
            name, outer = self.looks.get(name, ("", SpanLook()))
            own = own.over(outer)
        return own.over(look)


def mark_words(words: str, look: SpanLook) -> str:
    return run(
        words,
        struck=look.is_struck is True,
        hidden=look.is_hidden is True,
        superscript=look.is_raised is True,
    )


def read_look(properties: Element | None) -> SpanLook:
    if properties is None:
        return SpanLook()
    line = properties.get("text-line-through-style") or properties.get("text-line-through-type")
    display = properties.get("display")
    position = properties.get("text-position")
    return SpanLook(
        is_struck=line != "none" if line else None,
        is_hidden=display == "none" if display else None,
        is_raised=is_raised(position) if position else None,
    )


def is_raised(position: str) -> bool:
    """Tell whether a position such as "super 58%" or "33% 58%" is above the line."""
    height = position.split()[0].removesuffix("%") if position.split() else ""
    return height == "super" or (height.isdigit() and int(height) > 0)
