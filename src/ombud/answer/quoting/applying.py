"""The row of a table that applies: by what the question names, or by the grade, length of service
and country of the asker."""

import re
from collections.abc import Iterator, Mapping, Sequence

from babel.units import format_unit

from ombud.answer.quoting.spans import AnswerSpan, is_row, run_of, table_head
from ombud.messages import message
from ombud.text import (
    KeyRow,
    exactly_named_row,
    key_rows,
    message_language,
    moved,
    named_countries,
    row_in_range,
    split_words,
)
from ombud.types import Question

DISPLAY_MONTHS_BELOW = 24
"""Less service is shown in months."""
WITH_COUNTRY = re.compile(
    r"all|and|based|colleagues|compan(?:y|ies)|employees|everyone|for|from|group|offices?|only"
    r"|sites?|staff|teams?|the|workers|full|part|time|fixed|term|permanent|temporary|regular|new"
    r"|united|states|america|kingdom|great|britain|northern|ireland",
    re.IGNORECASE,
)
"""Words of a label that say no more than the country beside them, how people are employed there,
and those of its longer names."""
MOST_BESIDE_COUNTRY = 1
"""Other words: "HR Great Britain" is for whoever works there; "Accommodation Coordinator, HR US"
names who sees a record."""
OF_PLACES = re.compile(r"\b(?:place|city|town|location|office|site|where)", re.IGNORECASE)
"""In the name of a column of places."""
PLACE = re.compile(r"[A-Z]\w{3,}(?:[ -][A-Z]\w+)*")
MOST_APPLYING = 2
"""A table of which more rows apply tells nobody apart."""


Applying = Mapping[tuple[str, int], str]
"""`AnswerSpan.place` of a row -> what it applies by, such as "G6"."""


def applying_rows(pieces: Sequence[AnswerSpan], question: Question) -> Applying:
    """Return the rows that the question names, else those that what is known of the asker picks. A
    table of which most rows apply is left as it is."""
    applying: dict[tuple[str, int], str] = {}
    for rows in tables_of(pieces):
        matching = rows_named(rows, question) or rows_of_asker(rows, question)
        if len(matching) <= MOST_APPLYING and len(matching) < len(rows):
            applying |= {rows[number].place: fact for number, fact in matching.items()}
    return applying


def named_rows(spans: Sequence[AnswerSpan], question: Question) -> set[tuple[str, int]]:
    """Return the places of the rows that the question names by their key, each the only one of its
    table."""
    named: set[tuple[str, int]] = set()
    for rows in tables_of(spans):
        if len(rows) > 1:
            named.update(rows[number].place for number in rows_named_by_key(rows, question))
    return named


def tables_of(spans: Sequence[AnswerSpan]) -> Iterator[list[AnswerSpan]]:
    """Yield the rows of each table."""
    seen: set[tuple[str, int]] = set()
    for span in spans:
        if is_row(span.text) and span.place not in seen:
            rows = run_of(span, spans)
            seen.update(row.place for row in rows)
            yield rows


def rows_named(rows: Sequence[AnswerSpan], question: Question) -> dict[int, str]:
    """Match rows by a range that contains a figure of the question, or by a key or place that it
    names."""
    keys, language = _keys(rows), rows[0].hit.chunk.language
    in_range = row_in_range(question.text, keys, language)
    return (
        (dict([in_range]) if in_range else {})
        or rows_named_by_key(rows, question)
        or rows_of_place(rows, question)
    )


def rows_of_asker(rows: Sequence[AnswerSpan], question: Question) -> dict[int, str]:
    """Match rows by the asker's grade, length of service or country."""
    keys, language = _keys(rows), rows[0].hit.chunk.language
    grade, country = question.asker.grade or "", question.asker.country
    if grade:
        in_range = row_in_range(grade, keys, language)
        exact = exactly_named_row(grade, keys, language)
        number = in_range[0] if in_range else exact
        if number is not None:
            return {number: grade}
    lengths, display = length_of_service(question)
    for length in lengths:
        in_range = row_in_range(length, keys, language, durations=True)
        if in_range:
            return {in_range[0]: display}
    labels = [(number, _label(row)) for number, row in enumerate(rows)]
    return {n: country for n, label in labels if country and is_of_country(label, country)}


def rows_named_by_key(rows: Sequence[AnswerSpan], question: Question) -> dict[int, str]:
    text = f"{question.facts} {question.text}"
    named = exactly_named_row(text, _keys(rows), rows[0].hit.chunk.language)
    return (
        {}
        if named is None
        else {named: message("answer.asked_row", message_language(question.text))}
    )


def rows_of_place(rows: Sequence[AnswerSpan], question: Question) -> dict[int, str]:
    """Match rows whose label lists a place that the question names."""
    columns = table_head(rows[0]).strip().strip("|").split("|")
    places: dict[int, str] = {}
    text = f" {' '.join(split_words(question.text.lower()))} "
    for number, row in enumerate(rows) if OF_PLACES.search(columns[0]) else ():
        for part in re.split(r",|/|\band\b|\(.*", _label(row)):
            name = part.strip(" .*_")
            if PLACE.fullmatch(name) and f" {' '.join(split_words(name.lower()))} " in text:
                places[number] = name
    return places


def _keys(rows: Sequence[AnswerSpan]) -> tuple[KeyRow, ...]:
    table = "\n".join([table_head(rows[0]), *(row.text for row in rows)])
    return key_rows(table, rows[0].hit.chunk.language)


def _label(row: AnswerSpan) -> str:
    return row.text.strip().strip("|").split("|")[0].strip(" *_")


def is_of_country(label: str, country: str) -> bool:
    """Tell whether a label, brackets aside, names a country and little else. "All other US
    locations" is not such a label."""
    if country not in named_countries(label):
        return False
    plain = re.sub(r"\([^)]*\)", "", label)
    named = named_countries(plain)
    others = 0
    for word in re.findall(r"[^\W\d_]{3,}", plain):
        if word.lower() == "other":
            return False
        is_name = named_countries(plain.replace(word, "")) != named
        others += not is_name and not WITH_COUNTRY.fullmatch(word)
    return others <= MOST_BESIDE_COUNTRY


def length_of_service(question: Question) -> tuple[list[str], str]:
    """Return the asker's length of service in years and in months, and as display text. Empty if it
    is not known to the year."""
    first, last = question.began or (None, None)
    day = question.as_of
    if not (first and last and day) or moved(first, "year", 1) <= last:
        return [], ""
    months = (day.year - last.year) * 12 + day.month - last.month
    count, unit = (months, "month") if months < DISPLAY_MONTHS_BELOW else (months // 12, "year")
    display = format_unit(count, f"duration-{unit}", locale="en")
    return [f"{months / 12:.2f} years", f"{months} months"], display
