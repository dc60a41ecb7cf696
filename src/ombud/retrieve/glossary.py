"""Abbreviations of the organisation, spelt out for the search."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadSetting

COLUMNS = ("abbreviation", "expansion", "country")


class Entry(NamedTuple):
    abbreviation: str
    expansion: str
    country: str
    """Empty = everywhere."""


class Glossary:
    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.abbreviation:
                self._entries.setdefault(entry.abbreviation.casefold(), []).append(entry)
        # Longest first, so that "401(k)" and "W-2" are read whole.
        known = sorted({e.abbreviation for e in entries if e.abbreviation}, key=lambda word: -len(word))
        self._known = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known)) or '(?!)'})(?!\w)", re.IGNORECASE)

    def expansions(self, text: str, country: str | None) -> list[str]:
        """What the abbreviations in `text` stand for, in order, each once; the person's country first."""
        found: dict[str, None] = {}
        for word in self._known.findall(text):
            entries = [e for e in self._entries.get(word.casefold(), ()) if e.country in ("", country)]
            for entry in sorted(entries, key=lambda e: e.country == "")[:1]:
                found[entry.expansion] = None
        return [e for e in found if e.casefold() not in text.casefold()]


def read_glossary(path: Path) -> Glossary:
    """A CSV with the columns abbreviation, expansion and, where wanted, country; a missing file is an empty one."""
    if not path.is_file():
        return Glossary()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as wrong:
        raise BadSetting(f"{path} cannot be read: {wrong}.", hint="It is a UTF-8 CSV file.") from wrong
    missing = [c for c in COLUMNS[:2] if rows and c not in rows[0]]
    if missing:
        raise BadSetting(f"{path} has no column `{missing[0]}`.", hint=f"The first line is {','.join(COLUMNS)}.")
    return Glossary([Entry(*((row.get(c) or "").strip() for c in COLUMNS)) for row in rows])
