"""YAML between two lines of `---` at the very start of a Markdown file."""

import re
from pathlib import PurePosixPath
from typing import Any

import yaml

from ombud.documents.encodings import decode
from ombud.errors import SourceError

LONGEST = 16_384
"""Characters; real front matter has a few hundred."""

MOST_BRACKETS = 500
"""The YAML scanner takes time quadratic in their nesting."""

_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_MAPPING = re.compile(r"^[ \t]*[\w\"'{?&-][^\n]*:|^\s*[{&]", re.MULTILINE)
_MARKDOWN = {".md", ".markdown", ".mdx"}

_YAML_ERRORS = (
    yaml.YAMLError,
    ValueError,
    LookupError,
    AttributeError,
    RecursionError,
    OverflowError,
)
"""What the reader of YAML raises on broken files, dates such as 2024-02-31 included."""


def front_matter(data: bytes, uri: str) -> dict[str, Any]:
    """The values at the head of a Markdown file; {} when it has none or is no Markdown file.

    Dates may come as datetime.date. Raises SourceError naming the line when the YAML is broken,
    longer than 16 kB or uses anchors and aliases, which can be made to grow without end."""
    if PurePosixPath(uri).suffix.lower() not in _MARKDOWN:
        return {}
    if not data.lstrip(b"\xef\xbb\xbf").startswith(b"---"):
        return {}
    values, _ = split(decode(data).text)
    return values


def split(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body). A rule `---` that opens no mapping is part of the body."""
    fenced = _FENCE.match(text)
    if not fenced:
        return {}, text
    inside = fenced.group(1)
    body = text[fenced.end() :]
    if not inside.strip():
        return {}, body
    if not _MAPPING.search(inside):
        return {}, text
    if len(inside) > LONGEST:
        raise SourceError(
            "The front matter is longer than 16 kB.", hint="Move the text below the second `---`."
        )
    values = _load(inside)
    if values is None:
        return {}, body
    if not isinstance(values, dict):
        return {}, text
    return {str(name): value for name, value in values.items()}, body


def _load(inside: str) -> Any:
    """What the YAML says; raises SourceError."""
    # YAML takes a tab after a value for an error; editors leave them there, unseen.
    inside = re.sub(r"[ \t\r]+$", "", inside, flags=re.MULTILINE)
    if inside.count("[") + inside.count("{") > MOST_BRACKETS:
        raise SourceError(
            "The front matter nests too many brackets.",
            hint="Keep only plain values and lists there.",
        )
    try:
        _check_no_aliases(inside)
        return yaml.safe_load(inside)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        problem = error.problem or error.context
        raise SourceError(
            f"The front matter is not valid YAML: line {line}, {problem}.",
            hint="Put values with `:` or `#` between quotes.",
        ) from error
    except _YAML_ERRORS as error:
        problem = str(error).splitlines()[0] if str(error) else "too deep"
        raise SourceError(
            f"The front matter, from line 2, is not valid: {problem}.",
            hint="Dates are written YYYY-MM-DD.",
        ) from error


def _check_no_aliases(inside: str) -> None:
    """Raises SourceError for an anchor or alias. Most have neither mark, and are not read twice."""
    if not ("&" in inside or "*" in inside):
        return
    for token in yaml.scan(inside, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            line = token.start_mark.line + 2
            raise SourceError(
                f"The front matter uses an anchor or alias in line {line}.",
                hint="Write the value out.",
            )
