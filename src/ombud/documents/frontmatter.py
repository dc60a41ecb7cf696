"""YAML between two lines of `---` at the very start of a Markdown file."""

import re
from pathlib import PurePosixPath
from typing import Any

import yaml

from ombud.documents.plain import decode
from ombud.errors import SourceError

LONGEST = 16_384
"""Characters; real front matter has a few hundred."""

MOST_BRACKETS = 500
"""The YAML scanner takes time quadratic in their nesting."""

_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_MARKDOWN = {".md", ".markdown"}


def front_matter(data: bytes, uri: str) -> dict[str, Any]:
    """The values at the head of a Markdown file; {} when it has none or is no Markdown file.

    Dates may come as datetime.date. Raises SourceError naming the line when the YAML is broken,
    longer than 16 kB or uses anchors and aliases, which can be made to grow without end."""
    if PurePosixPath(uri).suffix.lower() not in _MARKDOWN or not data.lstrip(
        b"\xef\xbb\xbf"
    ).startswith(b"---"):
        return {}
    return split(decode(data))[0]


def split(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body). A rule `---` that opens no mapping is part of the body."""
    fenced = _FENCE.match(text)
    if not fenced:
        return {}, text
    inside = fenced.group(1)
    if not inside.strip():
        return {}, text[fenced.end() :]
    if not re.search(r"^[ \t]*[\w\"'{?&-][^\n]*:|^\s*[{&]", inside, re.MULTILINE):
        return {}, text
    if len(inside) > LONGEST:
        raise SourceError(
            "The front matter is longer than 16 kB.", hint="Move the text below the second `---`."
        )
    values = _load(inside)
    if values is None:
        return {}, text[fenced.end() :]
    return (values, text[fenced.end() :]) if isinstance(values, dict) else ({}, text)


def _load(inside: str) -> Any:
    # YAML takes a tab after a value for an error; editors leave them there, unseen.
    inside = re.sub(r"[ \t\r]+$", "", inside, flags=re.MULTILINE)
    if inside.count("[") + inside.count("{") > MOST_BRACKETS:
        raise SourceError(
            "The front matter nests too many brackets.",
            hint="Keep only plain values and lists there.",
        )
    try:
        for token in yaml.scan(inside, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
                line = token.start_mark.line + 2
                raise SourceError(
                    f"The front matter uses an anchor or alias in line {line}.",
                    hint="Write the value out.",
                )
        values = yaml.safe_load(inside)
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        line = mark.line + 2 if mark else 1
        raise SourceError(
            f"The front matter is not valid YAML: line {line}, {wrong.problem or wrong.context}.",
            hint="Put values with `:` or `#` between quotes.",
        ) from wrong
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as wrong:
        raise SourceError(
            f"The front matter, from line 2, is not valid: {str(wrong).splitlines()[0] if str(wrong) else 'too deep'}.",
            hint="Dates are written YYYY-MM-DD.",
        ) from wrong
    return {str(k): v for k, v in values.items()} if isinstance(values, dict) else values
