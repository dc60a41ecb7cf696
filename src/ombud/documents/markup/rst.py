"""Parse reStructuredText by docutils, which converts it to HTML.

docutils (public domain and BSD) rather than xberg, which loses footnotes and repeats notes. It may
not include files, and treats unknown syntax, such as the directives of Sphinx, as text."""

import re
from collections import defaultdict
from typing import Any, ClassVar

from ombud.documents.blocks import ParsedFile
from ombud.documents.encodings import decode
from ombud.documents.markup import html

_TARGET = re.compile(r"\s*<[^<>]*>$")
_STRUCK = ("strike", "del", "s", "line-through")
_WITHOUT_TEXT = ("toctree", "index", "highlight", "include", "literalinclude", "automodule")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse what a reader of the rendered page sees."""
    from docutils.core import publish_string

    text, loss = decode(data)
    register_unknown_directives()
    settings = {
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "_disable_config": True,
        "halt_level": 5,  # never
        "report_level": 5,
        "embed_stylesheet": False,
        "stylesheet_path": "",
        "initial_header_level": 2,
        "line_length_limit": len(text) + 1,
        "output_encoding": "utf-8",
    }
    page = publish_string(text, writer=make_writer(), settings_overrides=settings)
    parsed = html.read(page, pages)
    return parsed._replace(loss=parsed.loss + loss)


def make_writer() -> Any:
    from docutils.nodes import SkipNode
    from docutils.writers.html5_polyglot import HTMLTranslator, Writer

    class _Translator(HTMLTranslator):  # type: ignore[misc]
        """Writes struck words as such, and no marks of notes, which HTML adds by itself."""

        def visit_label(self, node: Any) -> None:
            raise SkipNode

        def visit_header(self, node: Any) -> None:
            """Leave headers and footers in place: they name what the page applies to."""

        visit_footer = depart_header = depart_footer = visit_header

        def visit_inline(self, node: Any) -> None:
            is_struck = any(name in _STRUCK for name in node["classes"])
            self.body.append("<s>" if is_struck else "<span>")

        def depart_inline(self, node: Any) -> None:
            is_struck = any(name in _STRUCK for name in node["classes"])
            self.body.append("</s>" if is_struck else "</span>")

    writer = Writer()
    writer.translator_class = _Translator
    return writer


def register_unknown_directives() -> None:
    """Make docutils treat unknown directives and roles as text."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles

    if getattr(directives, "knows_everything", False):
        return

    class _Unknown(Directive):  # type: ignore[misc]
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec: ClassVar = defaultdict(
            lambda: directives.unchanged, {"class": directives.unchanged}
        )

        def run(self) -> list[Any]:
            if self.name in _WITHOUT_TEXT:
                return []
            inside = nodes.container()
            for argument in self.arguments:
                inside += nodes.paragraph(argument, argument)
            self.state.nested_parse(self.content, self.content_offset, inside)
            return [inside]

    def take_for_text(name: str, rawtext: str, text: str, *_: Any, **__: Any) -> Any:
        words = _TARGET.sub("", text)
        return [nodes.inline(rawtext, words, classes=[name])], []

    find_directive, find_role = directives.directive, roles.role

    def directive(name: str, *where: Any) -> Any:
        registered, messages = find_directive(name, *where)
        return (registered or _Unknown), ([] if registered is None else messages)

    def role(name: str, *where: Any) -> Any:
        registered, messages = find_role(name, *where)
        return (registered or take_for_text), ([] if registered is None else messages)

    directives.directive, roles.role = directive, role
    directives.knows_everything = True
