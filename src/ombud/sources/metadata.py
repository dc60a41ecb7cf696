"""Check and read document metadata; front matter, ombud.yaml, patterns and settings share its
keys."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any

import yaml
from pydantic import ValidationError

from ombud.errors import BadRequest, SourceError
from ombud.text import read_country
from ombud.types import Document

METADATA_KEYS = (
    "title",
    "country",
    "audience",
    "effective_from",
    "effective_to",
    "supersedes",
    "status",
    "owner",
    "mandatory",
    "language",
    "topic",
)
AUDIENCE_KEYS = ("roles", "grades", "groups", "contracts")
STATUS = ("draft", "published", "withdrawn")
LARGEST_YAML = 256 * 1024
MAX_BRACKETS = 500
"""The YAML scanner takes time quadratic in their nesting."""


def normalise_metadata(layer: Mapping[str, Any], where: str, *, strict: bool) -> dict[str, Any]:
    """Check metadata and name it as the fields of `Document`; raises SourceError naming `where` and
    the key.

    strict: an unknown key is an error; otherwise it is ignored, as real front matter has many."""
    facts: dict[str, Any] = {}
    for key, value in layer.items():
        if key in METADATA_KEYS:
            if value is not None:
                facts |= read_value(str(key), value, where)
        elif strict:
            raise unknown_key(str(key), where)
    return facts


def unknown_key(key: str, where: str) -> SourceError:
    near = get_close_matches(key, METADATA_KEYS, n=1)
    if near:
        hint = f"Did you mean `{near[0]}`?"
    else:
        hint = f"Known: {', '.join(METADATA_KEYS)}."
    return SourceError(f"{where}: `{key}` is not a known key.", hint=hint)


def apply_metadata(document: Document, facts: Mapping[str, Any]) -> Document:
    """Copy a document with normalised metadata. Raises SourceError for metadata that no document
    can have, as a plugin may give it."""
    try:
        return Document.model_validate(document.model_dump() | dict(facts))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        field = ".".join(map(str, first["loc"]))
        complaint = first["msg"].lower()
        raise SourceError(
            f"Its source gives it a `{field}` that cannot be: {complaint}.",
            hint="Facts of a source are made by `normalise_metadata`.",
        ) from wrong


def read_yaml(text: str, where: str) -> Any:
    """Parse YAML without aliases, as a few lines of them can expand to gigabytes."""
    if len(text) > LARGEST_YAML:
        raise SourceError(f"{where} is larger than {LARGEST_YAML // 1024} KiB.")
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise SourceError(
            f"{where} nests too many brackets.", hint="Write lists and maps on lines of their own."
        )
    try:
        if "*" in text and any(isinstance(one, yaml.AliasToken) for one in yaml.scan(text)):
            raise SourceError(
                f"{where} uses YAML aliases, which are not read.", hint="Write the values out."
            )
        return yaml.safe_load(text)
    # PyYAML's own constructors raise the last three on tags such as `!!bool maybe`.
    except (
        yaml.YAMLError,
        ValueError,
        RecursionError,
        LookupError,
        AttributeError,
        TypeError,
    ) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise SourceError(
            f"{where} is not valid YAML{line}.", hint="Check its indentation and quotes."
        ) from wrong


def read_value(key: str, value: Any, where: str) -> dict[str, Any]:
    if key in _READERS:
        field, read = _READERS[key]
        return {field: read(value, where)}
    if key == "status" and value not in STATUS:
        raise SourceError(f"{where}: status = {value!r} is not one of {', '.join(STATUS)}.")
    if isinstance(value, bool):
        hint = "YAML reads NO, yes and the like as true or false: quote them."
        raise SourceError(f"{where}: {key} is not a text.", hint=hint)
    if not isinstance(value, str | int | float):
        raise SourceError(f"{where}: {key} is not a text.")
    return {key: str(value).strip()}


def read_countries(value: Any, where: str) -> tuple[str, ...]:
    # An unquoted NO arrives as False, which must not become "everywhere".
    codes: set[str] = set()
    values: Sequence[Any] = [] if value == "" else [value]
    if isinstance(value, list | tuple):
        values = value
    for written in values:
        if isinstance(written, bool) or not str(written).strip():
            hint = "Leave it out for everywhere; YAML reads NO as false: quote it."
            raise SourceError(f"{where}: country = {value!r} is no country.", hint=hint)
        try:
            codes.add(read_country(str(written)))
        except BadRequest as unknown:
            raise SourceError(f"{where}: country: {unknown}", hint=unknown.hint) from unknown
    return tuple(sorted(codes))


def read_audience(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    # A value that cannot be read must not become "everyone".
    if not isinstance(value, Mapping):
        raise SourceError(
            f"{where}: audience is not a map.", hint="Such as audience: {roles: [manager]}."
        )
    audience: dict[str, tuple[str, ...]] = {}
    for key, listed in value.items():
        if key not in AUDIENCE_KEYS:
            raise SourceError(
                f"{where}: audience has no `{key}`.", hint=f"Known: {', '.join(AUDIENCE_KEYS)}."
            )
        values = listed if isinstance(listed, list | tuple) else [listed]
        audience[key] = tuple(sorted(map(str, values)))
    return audience


def read_day(value: Any, where: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError as wrong:
        raise SourceError(
            f"{where} = {value!r} is not a day.", hint="Write days as 2026-01-31."
        ) from wrong


def read_mandatory(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise SourceError(f"{where}: mandatory = {value!r} is neither true nor false.")
    return value


_READERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "country": ("countries", read_countries),
    "audience": ("audience", read_audience),
    "effective_from": ("effective_from", lambda day, at: read_day(day, f"{at}: effective_from")),
    "effective_to": ("effective_to", lambda day, at: read_day(day, f"{at}: effective_to")),
    "mandatory": ("mandatory", read_mandatory),
}
"""Key -> (field of `Document`, function that checks and reads its value); other keys are texts."""
