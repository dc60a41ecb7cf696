"""The row of a table that applies to the asker: by the country, grade, service, hours or amount
that they have said, or that is known of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ombud.answer import wording
from ombud.answer.quoting.runs import run_of
from ombud.answer.quoting.spans import AnswerSpan, is_row, table_head
from ombud.text import MONTHS, join_groups, named_countries, plain_wording, read_range, units_named
from ombud.types import Question

GRADE = re.compile(r"\b(?P<series>gs|[a-hm])[\s-]?(?P<number>\d{1,2})\b", re.IGNORECASE)
SERVICE = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?)\s+(?P<unit>years?|yrs?|months?)\b(?!\s+(?:old|ago|trial|term))"
)
WEEK = re.compile(r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>days?|hours?|hrs?|h)\s+(?:a|per)\s+week")
AMOUNT = re.compile(
    r"[£$€]\s?(?P<before>\d[\d,.]*)|(?P<after>\d[\d,.]*)\s?"
    r"(?:quid|pounds?|euros?|dollars?|bucks|eur|gbp|usd|[£$€])",
    re.IGNORECASE,
)
RANGE_WORDS = re.compile(
    r"less|than|under|below|until|most|maximum|first|more|over|above|from|least|after|and|plus"
    r"|the|for|years?|yrs|months?|days?|weeks?|hours?|per|service|completed|with|without"
    r"|amount|value|cost|eur|gbp|usd|euros?|pounds?|dollars?|each|employment|seniority|working"
)
UNITS = {
    "service": re.compile(r"year|month|service|yrs|seniority"),
    "days": re.compile(r"day"),
    "hours": re.compile(r"hour|\bh\b"),
    "amount": re.compile(r"[£$€]|eur|gbp|usd|pound|dollar|value|amount|cost|price|limit"),
}
"""What a label or the name of its column must speak of for a figure to be compared with it."""
IN_MONTHS = re.compile(r"\bmonths?\b")
YEARS = re.compile(r"\b(?:years?|yrs)\b")
CURRENCIES = {"euro", "pound", "dollar"}
OF_ASKER = re.compile(
    r"\b(?:i|i'?m|i'?ve|my|me|we|our|ich|mein\w*|je|j'ai|mon|yo|mi)\b", re.IGNORECASE
)
"""Words by which a question speaks of who asks: in "bonus for a G6" the grade is another's."""
MOST_OTHER_WORDS = 2
"""Of a label, beside its range: "Raffle prize above EUR 150" speaks of raffles."""
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


class Fact(NamedTuple):
    kind: str
    """country | grade | service | days | hours | amount | words."""
    said: str
    """As it is shown beside the row, such as `G6` or `4 years`; of words all that is asked."""
    value: float = 0.0
    series: str = ""
    """Of a grade, such as `g`."""
    whose: str = wording.APPLIES
    """Who is told of in front of it."""

    @property
    def shown(self) -> str:
        return f"{self.whose}: {self.said}"


def facts_of(question: Question) -> list[Fact]:
    """What the question says of its asker, and what is known of them."""
    text = join_groups(plain_wording(question.text))
    grades = list(_grades(text))
    if not OF_ASKER.search(text):
        grades = [grade._replace(whose=wording.APPLIES_ASKED) for grade in grades]
    facts = [*grades, *_grades(question.asker.grade or ""), *_service(text)]
    facts += [*_week(text), *_amounts(question.text)]
    facts.append(Fact("words", plain_wording(question.text)))
    if question.asker.country:
        facts.append(Fact("country", question.asker.country))
    return facts


def applying_rows(
    chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan], facts: Sequence[Fact]
) -> dict[tuple[str, int], str]:
    """(chunk id, start) of each row that applies -> the fact by which it does. Looked for in the
    tables of which a row was chosen; a table of which most rows apply is left as it is."""
    applying: dict[tuple[str, int], str] = {}
    seen: set[tuple[str, int]] = set()
    for span in chosen:
        if not is_row(span.text) or (span.hit.chunk.id, span.start) in seen:
            continue
        rows = run_of(span, everything)
        seen.update((row.hit.chunk.id, row.start) for row in rows)
        matching: dict[tuple[str, int], str] = {}
        for row in rows:
            said = _applies(row, facts)
            if said:
                matching[row.hit.chunk.id, row.start] = said
        matching = _named_before_country(matching)
        if len(matching) <= MOST_APPLYING and len(matching) < len(rows):
            applying |= matching
    return applying


def _named_before_country(matching: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], str]:
    """Where the question names a row, such as "Munich", that of the asker's country says less."""
    named = {row: said for row, said in matching.items() if said.startswith(wording.APPLIES_ASKED)}
    return named or dict(matching)


def applying_first(
    chosen: Sequence[AnswerSpan],
    everything: Sequence[AnswerSpan],
    applying: Mapping[tuple[str, int], str],
) -> list[AnswerSpan]:
    """The chosen spans; of a table of which rows apply these alone, for they suffice, where it
    stands, and first of all in the passage that leads. A number to call in the asker's country does
    not come before what was asked for."""
    first: list[AnswerSpan] = []
    others: list[AnswerSpan] = []
    for span in chosen:
        rows = run_of(span, everything) if is_row(span.text) else []
        matching = [row for row in rows if (row.hit.chunk.id, row.start) in applying]
        leads = span.hit.chunk.id == chosen[0].hit.chunk.id
        target = first if matching and leads else others
        target += [row for row in matching or [span] if row not in target]
    return [*first, *others]


def _applies(row: AnswerSpan, facts: Sequence[Fact]) -> str:
    """The fact that the label of a row names, and whose it is; empty where it names none."""
    label = row.text.strip().strip("|").split("|")[0].strip(" *_")
    column = _first_column(row)
    for fact in facts:
        if fact.kind == "country":
            if _is_of_country(label, fact.said):
                return fact.shown
        elif fact.kind == "words":
            name = _named(label, fact.said) if OF_PLACES.search(column) else ""
            if name:
                return f"{wording.APPLIES_ASKED}: {name}"
        elif fact.kind == "grade":
            if _holds_grade(label, fact):
                return fact.shown
        elif _measures(fact, f"{column} {label}".lower(), label):
            return fact.shown
    return ""


def _named(label: str, asked: str) -> str:
    """The place in a label, one of several between commas perhaps, that the question names; empty
    where it names none."""
    for part in re.split(r",|/|\band\b|\(.*", label):
        name = part.strip(" .*_")
        if PLACE.fullmatch(name) and re.search(rf"\b{re.escape(name.lower())}\b", asked):
            return name
    return ""


def _is_of_country(label: str, country: str) -> bool:
    """Whether a label names a country and little else; what is in brackets aside. "All other US
    locations" are those that another row does not name."""
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


def _measures(fact: Fact, heading: str, label: str) -> bool:
    """Whether a label is a range of what the fact counts, and holds it.

    heading: the label and the name of its column, in lower case."""
    if not UNITS[fact.kind].search(heading) or _other_words(label) > MOST_OTHER_WORDS:
        return False
    if fact.kind == "service":
        value = _in_unit_of(
            label.lower() if IN_MONTHS.search(label.lower()) else heading, fact.value
        )
        return value is not None and _holds(label, value)
    if fact.kind != "amount":
        return _holds(label, fact.value)
    named = units_named(heading) & CURRENCIES
    if named and not named & units_named(fact.said.lower()):
        return False
    return _holds(label, fact.value, with_end=True)


def _in_unit_of(text: str, years: float) -> float | None:
    """The service in the unit that a label names, years where it names none; None where it names
    two."""
    if not IN_MONTHS.search(text):
        return years
    return None if YEARS.search(text) else years * len(MONTHS)


def _other_words(label: str) -> int:
    """Words of a label that are neither figures nor what a range is told with."""
    words = re.findall(r"[^\W\d_]{3,}", label.lower())
    return sum(not RANGE_WORDS.fullmatch(word) for word in words)


def _first_column(row: AnswerSpan) -> str:
    return table_head(row).strip().strip("|").split("|")[0]


def _holds(label: str, value: float, *, with_end: bool = False) -> bool:
    """Whether a figure lies in the range that a label names. with_end: "up to 50" holds 50; of
    years another row says what is from the second year on."""
    named = read_range(label)
    if named is None or not named.holds(value):
        return False
    return with_end or value < named.high or not named.is_open


def _holds_grade(label: str, fact: Fact) -> bool:
    numbers: list[float] = []
    for match in GRADE.finditer(label):
        if match["series"].lower() == fact.series:
            numbers.append(float(match["number"]))
    if not numbers:
        return False
    if len(numbers) == 1 and re.search(r"\+|or above|and above|upwards|or higher", label):
        return fact.value >= numbers[0]
    return min(numbers) <= fact.value <= max(numbers)


def _grades(text: str) -> Iterator[Fact]:
    for match in GRADE.finditer(text):
        series = match["series"].lower()
        yield Fact(
            kind="grade",
            said=f"{series.upper()}{match['number']}",
            value=float(match["number"]),
            series=series,
        )


def _service(text: str) -> Iterator[Fact]:
    for match in SERVICE.finditer(text):
        number = _number(match["number"])
        is_month = match["unit"].startswith("month")
        yield Fact(
            kind="service",
            said=match[0],
            value=number / len(MONTHS) if is_month else number,
        )


def _week(text: str) -> Iterator[Fact]:
    for match in WEEK.finditer(text):
        kind = "days" if match["unit"].startswith("day") else "hours"
        yield Fact(
            kind=kind,
            said=match[0],
            value=_number(match["number"]),
        )


def _amounts(text: str) -> Iterator[Fact]:
    for match in AMOUNT.finditer(join_groups(text)):
        yield Fact(
            kind="amount",
            said=match[0],
            value=_number(match["before"] or match["after"]),
        )


def _number(text: str) -> float:
    plain = text.rstrip(".,").replace(",", "")
    return float(plain)
