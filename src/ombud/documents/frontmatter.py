"""Read front matter: values between two lines of `---` (YAML) or `+++` (TOML), or in a JSON object,
at the start of a Markdown file; blank lines may precede them."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

import yaml

from ombud.documents.encodings import decode
from ombud.errors import SourceError

LONGEST = 16_384
"""Characters; real front matter has a few hundred."""

MAX_BRACKETS = 500
"""The YAML scanner takes time quadratic in their nesting."""

_FENCE = re.compile(
    r"\ufeff?\s*(?:(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<inside>.*?)(?:^|\n)"
    r"(?:(?P=mark)|\.\.\.)[ \t]*(?:\r?\n|$)|(?=\{\s*\"))",
    re.DOTALL,
)
_MAPPING = re.compile(r"^[ \t]*[\w\"'{?&-][^\n]*:|^\s*[{&]", re.MULTILINE)
_MARKDOWN = {".md", ".markdown", ".mdx"}

_ERRORS = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)
"""Exceptions of YAML, TOML and JSON readers for broken files, and for dates such as 2024-02-31."""


def front_matter(data: bytes, uri: str) -> dict[str, Any]:
    """Read the front matter of a Markdown file; {} for other files. Drafts of site generators get
    the `status` "draft", an expiry date becomes `effective_to`.

    Dates may be datetime.date. Raises SourceError naming the line if the front matter is broken,
    longer than 16 kB, or uses anchors and aliases, which can expand endlessly."""
    if PurePosixPath(uri).suffix.lower() not in _MARKDOWN:
        return {}
    values, _ = split(decode(data).text)
    return values | read_lifetime(values)


def split(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into front matter and body. A rule `---` without a mapping below it is part of
    the body."""
    opening = _FENCE.match(text)
    if not opening:
        return {}, text
    if not opening["mark"]:
        return split_json(text, opening.end())
    inside = opening["inside"]
    body = text[opening.end() :]
    if not inside.strip():
        return {}, body
    is_yaml = opening["mark"] == "---"
    if is_yaml and not _MAPPING.search(inside):
        return {}, text
    if len(inside) > LONGEST:
        raise SourceError(
            "The front matter is longer than 16 kB.",
            hint=f"Move the text below the second `{opening['mark']}`.",
        )
    if inside.count("[") + inside.count("{") > MAX_BRACKETS:
        raise SourceError(
            "The front matter nests too many brackets.",
            hint="Keep only plain values and lists there.",
        )
    values = load_yaml(inside) if is_yaml else load_toml(inside)
    if values is None:
        return {}, body
    if not isinstance(values, dict):
        return {}, text
    return {str(name): value for name, value in values.items()}, body


def split_json(text: str, start: int) -> tuple[dict[str, Any], str]:
    """Split a text whose JSON front matter begins at `start`."""
    head = text[start : start + LONGEST]
    try:
        values, end = json.JSONDecoder().raw_decode(head)
    except _ERRORS as error:
        raise invalid_error(error, "Close the object, within 16 kB.") from error
    return values, text[start + end :]


def load_toml(inside: str) -> Any:
    try:
        return tomllib.loads(inside.replace("\r\n", "\n"))
    except _ERRORS as error:
        raise invalid_error(error, "Put texts between quotes.") from error


def load_yaml(inside: str) -> Any:
    """Parse YAML; raises SourceError."""
    # YAML rejects a tab after a value, but editors leave them there unseen.
    inside = re.sub(r"[ \t\r]+$", "", inside, flags=re.MULTILINE)
    try:
        check_no_aliases(inside)
        return yaml.safe_load(inside)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        problem = error.problem or error.context
        raise SourceError(
            f"The front matter is not valid YAML: line {line}, {problem}.",
            hint="Put values with `:` or `#` between quotes.",
        ) from error
    except _ERRORS as error:
        raise invalid_error(error, "Dates are written YYYY-MM-DD.") from error


def invalid_error(error: BaseException, hint: str) -> SourceError:
    problem = str(error).splitlines()[0] if str(error) else "too deep"
    return SourceError(f"The front matter, from line 2, is not valid: {problem}.", hint=hint)


def read_lifetime(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read status and last day from the keys that site generators use."""
    lifetime: dict[str, Any] = {}
    if isinstance(values.get("status"), str):
        lifetime["status"] = values["status"].strip().lower()
    for name, value in values.items():
        key = name.replace("_", "").replace("-", "").lower()
        if (key, read_switch(value)) in {("draft", True), ("published", False)}:
            lifetime["status"] = "draft"
        elif key.startswith("expir") or key in {"validuntil", "validto", "unpublishdate"}:
            last_day = read_day(name, value)
            if last_day and "effective_to" not in values:
                lifetime["effective_to"] = last_day
    return lifetime


def read_switch(value: Any) -> bool | None:
    """Read true or false, also written as a text or a number; None for anything else."""
    word = str(value).strip().lower()
    if word in {"true", "yes", "on", "1"}:
        return True
    return False if word in {"false", "no", "off", "0"} else None


def read_day(name: str, value: Any) -> date | None:
    """Read the day on which a page expires; None if it says that it does not."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    written = str(value).strip()
    if not any(map(str.isdigit, written)):
        return None
    try:
        return datetime.fromisoformat(written).date()
    except ValueError as wrong:
        raise SourceError(
            f"The front matter's `{name}` is no day: {written!r}.", hint="Write days as 2026-01-31."
        ) from wrong


def check_no_aliases(inside: str) -> None:
    """Raise SourceError for an anchor or alias; a text without their marks is not scanned."""
    if not ("&" in inside or "*" in inside):
        return
    for token in yaml.scan(inside, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            line = token.start_mark.line + 2
            raise SourceError(
                f"The front matter uses an anchor or alias in line {line}.",
                hint="Write the value out.",
            )
