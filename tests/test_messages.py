"""Every string that people read stands in the catalogues, in each language, and is used.

A key is a literal wherever it is used, or the beginning of one that ends with an underscore.
"""

import ast
import string
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from babel.messages import jslexer
from babel.messages.pofile import read_po
from jinja2 import nodes

from ombud.messages import message
from ombud.web import layout

ROOT = Path(__file__).parents[1] / "src" / "ombud"
CATALOGUES = ROOT / "messages"
COMPLETE = ("de", "fr", "es", "nl")
EVERYWHERE = {"page", "chat", "thread", "documents", "answer", "notices"}
"""Domains of what employees see, complete in Spanish and Dutch too."""
READ_ALOUD = {"aria-label", "title", "placeholder", "alt"}
NAMES = {"ombud"}
SILENT = {"style", "script", "code", "kbd"}
ASIDE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for what an expression writes."""


def tell(faults: list[str]) -> None:
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@cache
def entries(language: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((CATALOGUES / language).glob("*.po")):
        keys: list[str] = []
        with path.open("rb") as file:
            for entry in read_po(file):
                if not entry.id:
                    continue
                key = entry.id if isinstance(entry.id, str) else entry.id[0]
                written = entry.string
                found[key] = (written,) if isinstance(written, str) else tuple(written or ())
                keys.append(key)
                assert key.startswith(f"{path.stem}."), f"{path}: {key}"
        assert keys == sorted(keys), f"{path}: keys are sorted"
    return found


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def languages() -> list[str]:
    return sorted(path.name for path in CATALOGUES.iterdir() if any(path.glob("*.po")))


def is_due(key: str, language: str) -> bool:
    return language in ("de", "fr") or (
        language in COMPLETE and key.partition(".")[0] in EVERYWHERE
    )


@pytest.mark.parametrize("language", COMPLETE)
def test_no_message_is_untranslated(language: str) -> None:
    missing = [key for key in entries("en") if is_due(key, language)]
    tell(
        [
            f"{language}: {key} is missing"
            for key in missing
            if not all(entries(language).get(key, ("",)))
        ]
    )


@pytest.mark.parametrize("language", languages())
def test_a_translation_has_the_placeholders_of_the_english_message(language: str) -> None:
    faults = []
    for key, forms in entries(language).items():
        english = entries("en").get(key)
        if english is None:
            faults.append(f"{language}: {key} is not in the English catalogue")
        elif len(forms) != len(english) or set.union(*map(placeholders, forms)) != set.union(
            *map(placeholders, english)
        ):
            faults.append(f"{language}: {key} has other placeholders or plural forms")
    tell(faults)


# Where messages are used --------------------------------------------------------------------------


def literals() -> Iterator[tuple[str, str]]:
    """Every string in the code, with its place."""
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "from ombud.messages import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value
    for name, tree in templates():
        for const in tree.find_all(nodes.Const):
            if isinstance(const.value, str):
                yield f"{name}:{const.lineno}", const.value
    for path in scripts():
        for line, key in keys_in_script(path.read_text(encoding="utf-8")):
            yield f"{path.name}:{line}", key


def keys_in_script(text: str) -> Iterator[tuple[int, str]]:
    """The first argument of each call of `t`, inside template strings too."""
    tokens = [token for token in jslexer.tokenize(text) if "comment" not in token.type]
    for name, bracket, argument in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (name.value, bracket.value, argument.type) == ("t", "(", "string"):
            yield argument.lineno, jslexer.unquote_string(argument.value)
    for token in tokens:
        if token.type == "template_string":
            for expression in token.value.split("${")[1:]:
                yield from keys_in_script(expression)


@cache
def templates() -> list[tuple[str, nodes.Template]]:
    folder = ROOT / "web" / "templates"
    environment = layout.templates
    return [
        (str(path.relative_to(folder)), environment.parse(path.read_text(encoding="utf-8")))
        for path in sorted(folder.rglob("*.html"))
    ]


def scripts() -> list[Path]:
    return sorted((ROOT / "web" / "static").glob("*.js"))


@cache
def script_tokens() -> list[tuple[str, Any]]:
    return [
        (path.name, token)
        for path in scripts()
        for token in jslexer.tokenize(path.read_text(encoding="utf-8"))
    ]


def test_every_message_is_used_and_every_used_one_exists() -> None:
    used: set[str] = set()
    begun: set[str] = set()
    faults = []
    domains = {key.partition(".")[0] for key in entries("en")}
    suffixes = {path.suffix[1:] for path in ROOT.rglob("*.*")}
    for place, text in literals():
        domain, _, name = text.partition(".")
        if (
            domain not in domains
            or not name.isidentifier()
            or not name.islower()
            or name in suffixes
        ):
            continue
        if name.endswith("_"):
            begun.add(text)
        else:
            used.add(text)
            if text not in entries("en"):
                faults.append(f"{place}: no message {text}")
    for key in entries("en"):
        if key not in used and not key.startswith(tuple(begun)):
            faults.append(f"{key} is used nowhere")
    tell(faults)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(KeyError):
        message("page.no_such_message")


# What stands beside the catalogues ----------------------------------------------------------------


class Visible(HTMLParser):
    """Collects the text that a page shows or that is read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        for name, value in attrs:
            if name in READ_ALOUD and value:
                self.found.append((self.getpos()[0], value))

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append((self.getpos()[0], data))


def is_wording(text: str) -> bool:
    """Whether somebody would have to translate it."""
    words = "".join(letter if letter.isalpha() else " " for letter in text).split()
    return any(word not in NAMES for word in words)


def written_by(node: nodes.Node) -> Iterator[nodes.Const]:
    """The strings that an expression may write: not arguments, tests and names of messages."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node
    elif isinstance(node, nodes.CondExpr):
        yield from written_by(node.expr1)
        if node.expr2 is not None:
            yield from written_by(node.expr2)
    elif isinstance(node, nodes.Or | nodes.And | nodes.Add):
        yield from written_by(node.left)
        yield from written_by(node.right)
    elif isinstance(node, nodes.Concat):
        for part in node.nodes:
            yield from written_by(part)
    elif isinstance(node, nodes.Filter) and node.node is not None:
        yield from written_by(node.node)


def test_templates_have_no_words_of_their_own() -> None:
    faults = []
    for path, tree in templates():
        parser = Visible()
        classes = [block for block in tree.find_all(nodes.Block) if block.name == "kind"]
        skipped = {id(output) for block in classes for output in block.find_all(nodes.Output)}
        for output in tree.find_all(nodes.Output):
            for node in output.nodes if id(output) not in skipped else ():
                if isinstance(node, nodes.TemplateData):
                    parser.feed(node.data)
                    continue
                parser.feed(ASIDE)
                for const in written_by(node):
                    if const.value[:1].isupper() or " " in const.value.strip():
                        faults.append(f"{path}:{const.lineno}: “{const.value}”")
        parser.close()
        faults += [f"{path}: “{text.strip()}”" for _, text in parser.found if is_wording(text)]
    tell(faults)


def test_scripts_have_no_words_of_their_own() -> None:
    faults = []
    for path, token in script_tokens():
        if token.type not in ("string", "template_string"):
            continue
        text = token.value[1:-1]
        first, _, rest = text.partition(" ")
        is_sentence = first[:1].isupper() and first[1:].islower() and bool(rest)
        if is_sentence or (text.endswith(".") and " " in text):
            faults.append(f"{path}:{token.lineno}: “{text}”")
    tell(faults)
