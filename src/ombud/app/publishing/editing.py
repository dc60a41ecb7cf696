"""Writes metadata into a draft: into the front matter of a Markdown file, or into `ombud.yaml` for
any other.

Only the lines of these keys change, and the result is parsed again: if it is not as intended,
nothing is written and the error names the lines to write by hand.
"""

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
    """Return a Markdown file with these values in its front matter. Raises BadRequest if they
    cannot be written safely, SourceError if the front matter is broken."""
    before = front_matter(data, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise BadRequest(
            f"{name} is not UTF-8, so its metadata cannot be written.", hint="Save it as UTF-8."
        ) from wrong
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = newline.join(yaml_lines(changes))
    head = _HEAD.match(text) if before else None
    if before and not head:
        raise unwritable(name, changes)
    if head:
        replaced = {*changes, "draft", "published"} if "status" in changes else set(changes)
        rest = without_keys(head[2], replaced)
        inside = newline.join(part for part in (rest, lines) if part)
        end = head[3].lstrip("\r\n")
        made = f"{head[1]}{inside}{newline}{end}{text[head.end() :]}"
    else:
        body = text.removeprefix("\ufeff")
        made = f"---{newline}{lines}{newline}---{newline}{newline}{body}"
    written = made.encode("utf-8")
    if not has_metadata(written, name, before, changes):
        raise unwritable(name, changes)
    return written


def has_metadata(
    written: bytes, name: str, before: Mapping[str, Any], changes: Mapping[str, Any]
) -> bool:
    """Tell whether the new front matter equals the old one except for the changes."""
    try:
        after = front_matter(written, name)
        wanted = normalise_metadata({**before, **changes}, name, strict=False)
        return normalise_metadata(after, name, strict=False) == wanted
    except SourceError:
        return False


def with_sidecar_entry(text: str, name: str, where: str, changes: Mapping[str, Any]) -> str:
    """Return an `ombud.yaml` with these values for the file `name` of its folder; comments stay.
    Raises BadRequest if they cannot be written safely."""
    before = as_table(read_yaml(text, where))
    files = as_table(before.get("files"))
    entry = {**as_table(files.get(name)), **changes}
    lines = text.splitlines()
    own = entry_lines(lines, name)
    if own:
        del lines[own[0] : own[1]]
    at = end_of_files(lines)
    indent = indent_of(lines)
    added = [f"{indent}{json.dumps(name, ensure_ascii=False)}:"]
    added += [f"{indent}{indent}{line}" for line in yaml_lines(entry)]
    if at is None:
        lines += ["files:"]
        at = len(lines)
    lines[at:at] = added
    made = "\n".join(lines) + "\n"
    try:
        after = as_table(read_yaml(made, where))
    except SourceError:
        after = {}
    wanted_files = {key: value for key, value in files.items() if key != name}
    wanted = {**before, "files": {**wanted_files, name: comparable(entry)}}
    if comparable(after) != comparable(wanted) or list(as_table(after.get("files")))[-1:] != [name]:
        raise unwritable(f"{where} ({name})", changes)
    return made


def yaml_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}: {yaml_value(value)}" for key, value in values.items()]


def yaml_value(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    if is_plain and value.lower() not in _WORDS_OF_YAML:
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def without_keys(head: str, keys: Set[str]) -> str:
    """Return the front matter without these keys and what is indented below them."""
    lines: list[str] = []
    is_dropped = False
    for line in head.splitlines():
        begins = re.match(r"([\w-]+|\"[^\"]*\"|'[^']*')[ \t]*:", line)
        if begins:
            is_dropped = begins[1].strip("\"'") in keys
        if not is_dropped:
            lines.append(line)
    return ("\r\n" if "\r\n" in head else "\n").join(lines)


def entry_lines(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """Return the lines of this file's entry; None if they cannot be identified."""
    for number, line in enumerate(lines):
        begins = re.match(r"([ \t]+)(.+?)[ \t]*:[ \t]*$", line)
        if not begins or begins[2].strip("\"'") != name:
            continue
        end = number + 1
        while end < len(lines) and lines[end].startswith(begins[1] + " "):
            end += 1
        return number, end
    return None


def end_of_files(lines: Sequence[str]) -> int | None:
    """Return the line after the block `files:`; None if there is no such block."""
    end = None
    for number, line in enumerate(lines):
        if re.match(r"files[ \t]*:[ \t]*(#.*)?$", line) or (
            end is not None and line[:1] in (" ", "\t") and line.strip()
        ):
            end = number + 1
        elif end is not None and line.strip() and not line.startswith("#"):
            break
    return end


def indent_of(lines: Sequence[str]) -> str:
    for line in lines:
        if line[:1] == " " and line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())]
    return "  "


def comparable(value: Any) -> Any:
    """Convert dates to text, to compare values with parsed ones."""
    if isinstance(value, Mapping):
        return {str(key): comparable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(comparable, value))
    return value.isoformat() if isinstance(value, date) else value


def as_table(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def unwritable(where: str, changes: Mapping[str, Any]) -> BadRequest:
    return BadRequest(
        f"The metadata of {where} cannot be written without risk to what stands there.",
        hint="Write it by hand and try again: " + ", ".join(yaml_lines(changes)) + ".",
    )
