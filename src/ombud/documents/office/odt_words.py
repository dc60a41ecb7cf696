"""The words of OpenDocument paragraphs with what their spans look like: struck, hidden, raised,
linked."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import tidy
from ombud.documents.runs import link, run

_SKIPPED = (
    "annotation", "tracked-changes", "frame", "custom-shape", "table", "ruby-text", "bookmark",
    "title", "desc", "page-number", "page-count", "sheet-name",
)  # fmt: skip
"""Not words of the paragraph in which they are anchored; some are read apart."""
_DEEPEST_STYLE = 9


@dataclass(frozen=True)
class SpanLook:
    """How words look; None where nothing is said of it."""

    is_struck: bool | None = None
    is_hidden: bool | None = None
    is_raised: bool | None = None

    def over(self, outer: "SpanLook") -> "SpanLook":
        """This look, and the outer one where it says nothing."""
        return SpanLook(
            outer.is_struck if self.is_struck is None else self.is_struck,
            outer.is_hidden if self.is_hidden is None else self.is_hidden,
            outer.is_raised if self.is_raised is None else self.is_raised,
        )


@dataclass
class OdtRuns:
    """Reads the words of one document."""

    looks: dict[str, tuple[str, SpanLook]] = field(default_factory=dict)
    """Style -> (its parent, its own look)."""

    def add(self, root: Element) -> None:
        """Take over the styles of a part."""
        for style in root.iter("style"):
            if style.get("family") in {"text", "paragraph"}:
                look = _look(style.find("text-properties"))
                self.looks[style.get("name", "")] = style.get("parent-style-name", ""), look

    def read(self, node: Element) -> str:
        """Text of a paragraph as printed, with the marks of its notes."""
        return self._words(node, self._look_of(node, SpanLook()))

    def _words(self, node: Element, look: SpanLook) -> str:
        words = [_marked(node.text or "", look)]
        for child in node:
            words += [self._child(child, look), _marked(child.tail or "", look)]
        return "".join(words)

    def _child(self, child: Element, look: SpanLook) -> str:
        if child.tag in {"s", "tab", "line-break"}:
            return " "
        if child.tag == "note":
            return run(tidy(child.findtext("note-citation") or ""), footnote_ref=True)
        if child.tag in {"hidden-text", "hidden-paragraph"}:
            return run(child.get("string-value", "") or "".join(child.itertext()), hidden=True)
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


def _marked(words: str, look: SpanLook) -> str:
    return run(
        words,
        struck=look.is_struck is True,
        hidden=look.is_hidden is True,
        superscript=look.is_raised is True,
    )


def _look(properties: Element | None) -> SpanLook:
    if properties is None:
        return SpanLook()
    line = properties.get("text-line-through-style") or properties.get("text-line-through-type")
    display = properties.get("display")
    position = properties.get("text-position")
    return SpanLook(
        is_struck=line != "none" if line else None,
        is_hidden=display == "none" if display else None,
        is_raised=_is_raised(position) if position else None,
    )


def _is_raised(position: str) -> bool:
    """Tell whether a position such as "super 58%" or "33% 58%" lies above the line."""
    height = position.split()[0].removesuffix("%") if position.split() else ""
    return height == "super" or (height.isdigit() and int(height) > 0)
