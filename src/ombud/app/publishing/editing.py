"""Metadata written into a draft: into the head of a Markdown file, into `ombud.yaml` for any other.

Only the lines of these keys are touched, and what comes out is read again: where it does not say
what it should, nothing is written and the lines are named for a person to write."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from datetime import date
from typing import Any

from ombud.documents import front_matter
from ombud.errors import BadRequest, SourceError
from ombud.sources import normalise_metadata, read_yaml

_HEAD = re.compile(
    r"(\ufeff?\s*---[ \t]*\r?\n)(.*?)((?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|$))", re.DOTALL
)
_PLAIN = re.compile(r"[A-Za-z][\w./@-]*")
_WORDS_OF_YAML = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
MARKDOWN = (".md", ".markdown", ".mdx")


def with_front_matter(data: bytes, name: str, changes: Mapping[str, Any]) -> bytes:
    """The bytes of a Markdown file whose head says these things, too. Raises BadRequest where it
    cannot be written safely, SourceError where the head is broken."""
    before = front_matter(data, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise BadRequest(
            f"{name} is not UTF-8, so its metadata cannot be written.", hint="Save it as UTF-8."
        ) from wrong
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = newline.join(_yaml_lines(changes))
    head = _HEAD.match(text) if before else None
    if before and not head:
        raise _unwritable(name, changes)
    if head:
        replaced = {*changes, "draft", "published"} if "status" in changes else set(changes)
        kept = _without_keys(head[2], replaced)
        inside = newline.join(part for part in (kept, lines) if part)
        end = head[3].lstrip("\r\n")
        made = f"{head[1]}{inside}{newline}{end}{text[head.end() :]}"
    else:
        body = text.removeprefix("\ufeff")
        made = f"---{newline}{lines}{newline}---{newline}{newline}{body}"
    written = made.encode("utf-8")
    if not _says(written, name, before, changes):
        raise _unwritable(name, changes)
    return written


def _says(written: bytes, name: str, before: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    """Whether the new head says what the old one said, but for the changes."""
    try:
        after = front_matter(written, name)
        wanted = normalise_metadata({**before, **changes}, name, strict=False)
        return normalise_metadata(after, name, strict=False) == wanted
    except SourceError:
        return False


def with_sidecar_entry(text: str, name: str, where: str, changes: Mapping[str, Any]) -> str:
    """The text of an `ombud.yaml` that also says this of the file `name` of its folder, after all
    that stands there; comments stay. Raises BadRequest where it cannot be written safely."""
    before = _table(read_yaml(text, where))
    files = _table(before.get("files"))
    entry = {**_table(files.get(name)), **changes}
    lines = text.splitlines()
    own = _own_lines(lines, name)
    if own:
        del lines[own[0] : own[1]]
    at = _end_of_files(lines)
    indent = _indent_of(lines)
    added = [f"{indent}{json.dumps(name, ensure_ascii=False)}:"]
    added += [f"{indent}{indent}{line}" for line in _yaml_lines(entry)]
    if at is None:
        lines += ["files:"]
        at = len(lines)
    lines[at:at] = added
    made = "\n".join(lines) + "\n"
    try:
        after = _table(read_yaml(made, where))
    except SourceError:
        after = {}
    wanted_files = {key: value for key, value in files.items() if key != name}
    wanted = {**before, "files": {**wanted_files, name: _as_read(entry)}}
    if _as_read(after) != _as_read(wanted) or list(_table(after.get("files")))[-1:] != [name]:
        raise _unwritable(f"{where} ({name})", changes)
    return made


def _yaml_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}: {_written(value)}" for key, value in values.items()]


def _written(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    if is_plain and value.lower() not in _WORDS_OF_YAML:
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _without_keys(head: str, keys: Set[str]) -> str:
    """The lines of a head but those of these keys, and what is indented below them."""
    kept: list[str] = []
    is_dropped = False
    for line in head.splitlines():
        begins = re.match(r"([\w-]+|\"[^\"]*\"|'[^']*')[ \t]*:", line)
        if begins:
            is_dropped = begins[1].strip("\"'") in keys
        if not is_dropped:
            kept.append(line)
    return ("\r\n" if "\r\n" in head else "\n").join(kept)


def _own_lines(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """Where the entry of this very file stands; None where there is none that can be told."""
    for number, line in enumerate(lines):
        begins = re.match(r"([ \t]+)(.+?)[ \t]*:[ \t]*$", line)
        if not begins or begins[2].strip("\"'") != name:
            continue
        end = number + 1
        while end < len(lines) and lines[end].startswith(begins[1] + " "):
            end += 1
        return number, end
    return None


def _end_of_files(lines: Sequence[str]) -> int | None:
    """The line behind the last one of `files:`; None where there is no such block."""
    end = None
    for number, line in enumerate(lines):
        if re.match(r"files[ \t]*:[ \t]*(#.*)?$", line) or (
            end is not None and line[:1] in (" ", "\t") and line.strip()
        ):
            end = number + 1
        elif end is not None and line.strip() and not line.startswith("#"):
            break
    return end


def _indent_of(lines: Sequence[str]) -> str:
    for line in lines:
        if line[:1] == " " and line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())]
    return "  "


def _as_read(value: Any) -> Any:
    """Dates as text, so that what is to be written can be set beside what was read."""
    if isinstance(value, Mapping):
        return {str(key): _as_read(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_as_read, value))
    return value.isoformat() if isinstance(value, date) else value


def _table(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _unwritable(where: str, changes: Mapping[str, Any]) -> BadRequest:
    return BadRequest(
        f"The metadata of {where} cannot be written without risk to what stands there.",
        hint="Write it by hand and try again: " + ", ".join(_yaml_lines(changes)) + ".",
    )
