"""Abbreviations of the organisation, spelt out for the search: its own list, and what its documents
explain."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadSetting
from ombud.store import Explained
from ombud.text import analyse

COLUMNS = ("abbreviation", "expansion", "country")


class GlossaryEntry(NamedTuple):
    abbreviation: str
    expansion: str
    country: str
    """Empty = everywhere."""
    as_written: bool = False
    """Found in this case only: "CHIP" in a document does not explain "chip in"."""


class Glossary:
    def __init__(self, entries: Sequence[GlossaryEntry] = ()) -> None:
        self._entries: dict[str, list[GlossaryEntry]] = {}
        for entry in entries:
            if entry.abbreviation:
                self._entries.setdefault(entry.abbreviation.casefold(), []).append(entry)
        # Longest first, so that "401(k)" and "W-2" are read whole.
        known = sorted(
            {e.abbreviation for e in entries if e.abbreviation}, key=lambda word: -len(word)
        )
        self._known = re.compile(
            rf"(?<!\w)(?:{'|'.join(map(re.escape, known)) or '(?!)'})(?!\w)", re.IGNORECASE
        )

    def expansions(self, text: str, country: str | None) -> list[str]:
        """What the abbreviations in `text` stand for, in order, each once; the person's country
        first."""
        found: dict[str, None] = {}
        for word in self._known.findall(text):
            entries = [
                e for e in self._entries.get(word.casefold(), ()) if e.country in ("", country)
            ]
            entries = [e for e in entries if not e.as_written or e.abbreviation == word]
            for entry in sorted(entries, key=lambda e: e.country == "")[:1]:
                found[entry.expansion] = None
        return [e for e in found if e.casefold() not in text.casefold()]


def read_glossary(path: Path, explained: Iterable[Explained] = ()) -> Glossary:
    """A CSV with the columns abbreviation, expansion and, where wanted, country; a missing file is
    an empty one.

    explained: what documents say of abbreviations; where the file has one, the file counts. Raises
    BadSetting."""
    own = _read(path)
    return Glossary([*own, *_found(own, explained)])


def _found(own: Sequence[GlossaryEntry], explained: Iterable[Explained]) -> Iterator[GlossaryEntry]:
    """An entry for each abbreviation that the documents of a country agree on, or more of them than
    on any other."""
    counts: dict[tuple[str, str], Counter[tuple[str, ...]]] = {}
    written: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {}
    for one in explained:
        meaning = tuple(analyse(one.expansion))
        for country in one.countries or ("",) if meaning else ():
            counts.setdefault((one.abbreviation.casefold(), country), Counter())[meaning] += 1
            written.setdefault(
                (one.abbreviation.casefold(), meaning), (one.abbreviation, one.expansion)
            )
    known = {(entry.abbreviation.casefold(), entry.country) for entry in own}
    for (short, country), meanings in counts.items():
        (best, times), *others = meanings.most_common(2)
        agreed = not others or others[0][1] < times
        if agreed and (short, country) not in known and (short, "") not in known:
            abbreviation, expansion = written[short, best]
            yield GlossaryEntry(abbreviation, expansion, country, as_written=True)


def _read(path: Path) -> list[GlossaryEntry]:
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong}.", hint="It is a UTF-8 CSV file."
        ) from wrong
    missing = [c for c in COLUMNS[:2] if rows and c not in rows[0]]
    if missing:
        raise BadSetting(
            f"{path} has no column `{missing[0]}`.", hint=f"The first line is {','.join(COLUMNS)}."
        )
    cells = [[(row.get(column) or "").strip() for column in COLUMNS] for row in rows]
    return [
        GlossaryEntry(abbreviation, expansion, country)
        for abbreviation, expansion, country in cells
    ]
