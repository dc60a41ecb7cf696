"""Acronyms and other abbreviations of the organisation, expanded for the search: its own list, and
what its documents explain."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadSetting
from ombud.store import Explained
from ombud.text import analyse

COLUMNS = ("abbreviation", "expansion", "country")
REQUIRED = COLUMNS[:2]


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
        abbreviations = {entry.abbreviation for entry in entries if entry.abbreviation}
        # Longest first, so that "401(k)" and "W-2" are read whole.
        longest_first = sorted(abbreviations, key=lambda word: -len(word))
        alternatives = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._abbreviation = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)

    def expansions(self, text: str, country: str | None) -> list[str]:
        """Expand the acronyms in `text`: return the expansions of its abbreviations, in order and
        without repetition, the person's country first."""
        expansions: dict[str, None] = {}
        for word in self._abbreviation.findall(text):
            entry = self._entry(word, country)
            if entry and entry.expansion.casefold() not in text.casefold():
                expansions[entry.expansion] = None
        return list(expansions)

    def _entry(self, word: str, country: str | None) -> GlossaryEntry | None:
        """Return the country's entry, else the global one."""
        everywhere: GlossaryEntry | None = None
        for entry in self._entries.get(word.casefold(), ()):
            if entry.as_written and entry.abbreviation != word:
                continue
            if entry.country and entry.country == country:
                return entry
            if not entry.country:
                everywhere = everywhere or entry
        return everywhere


def read_glossary(path: Path, explained: Iterable[Explained] = ()) -> Glossary:
    """Read a CSV with the columns abbreviation, expansion and optionally country; a missing file is
    empty. Raises BadSetting.

    explained: expansions in the documents, which the file overrides."""
    own = _read(path)
    return Glossary([*own, *explained_entries(own, explained)])


class _Meanings:
    """The expansions of one abbreviation in the documents of one country."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def add(self, meaning: tuple[str, ...]) -> None:
        self._counts[meaning] += 1

    def agreed(self) -> tuple[str, ...] | None:
        """Return the expansion of most documents; None if there is none."""
        (best, times), *others = self._counts.most_common(2)
        if others and others[0][1] == times:
            return None
        return best


def explained_entries(
    own: Sequence[GlossaryEntry], explained: Iterable[Explained]
) -> Iterator[GlossaryEntry]:
    """Return an entry for each abbreviation on whose expansion most documents of a country
    agree."""
    meanings_of: dict[tuple[str, str], _Meanings] = {}
    as_written: dict[tuple[str, tuple[str, ...]], Explained] = {}
    for explanation in explained:
        meaning = tuple(analyse(explanation.expansion))
        if not meaning:
            continue
        short = explanation.abbreviation.casefold()
        as_written.setdefault((short, meaning), explanation)
        for country in explanation.countries or ("",):
            meanings_of.setdefault((short, country), _Meanings()).add(meaning)
    in_file = {(entry.abbreviation.casefold(), entry.country) for entry in own}
    for (short, country), meanings in meanings_of.items():
        agreed = meanings.agreed()
        if agreed is None or (short, country) in in_file or (short, "") in in_file:
            continue
        first = as_written[short, agreed]
        yield GlossaryEntry(
            first.abbreviation,
            first.expansion,
            country,
            as_written=True,
        )


def _read(path: Path) -> list[GlossaryEntry]:
    if not path.is_file():
        return []
    rows = _rows(path)
    if not rows:
        return []
    for column in REQUIRED:
        if column not in rows[0]:
            raise BadSetting(
                f"{path} has no column `{column}`.", hint=f"The first line is {','.join(COLUMNS)}."
            )
    return list(map(_entry, rows))


def _entry(row: Mapping[str, str | None]) -> GlossaryEntry:
    return GlossaryEntry(
        abbreviation=_cell(row, "abbreviation"),
        expansion=_cell(row, "expansion"),
        country=_cell(row, "country"),
    )


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong}.", hint="It is a UTF-8 CSV file."
        ) from wrong


def _cell(row: Mapping[str, str | None], column: str) -> str:
    return (row.get(column) or "").strip()
