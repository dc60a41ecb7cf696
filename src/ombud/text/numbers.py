"""Numbers, dates, durations and amounts in a text, the same however they are written."""

import re
import unicodedata

UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
NUMBER_WORDS = (
    {word: str(i) for i, word in enumerate(UNITS.split())}
    | {word: str(10 * i) for i, word in enumerate(TENS.split(), start=2)}
    | {"thousand": "1000", "million": "1000000", "billion": "1000000000"}
)
COMPOUND = re.compile(rf"\b({'|'.join(TENS.split()[:-1])})[- ]({'|'.join(UNITS.split()[1:10])})\b")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join([*MONTHS, *(month[:3] for month in MONTHS), "sept"])
_DATED = re.compile(r"\b(?:(\d{4})-(0[1-9]|1[0-2])-(\d\d)|(\d\d?)\.(0?[1-9]|1[0-2])\.(\d{4}))\b")
_MONTH_BY_NUMBER = re.compile(rf"(?<=\d[ \u00a0])({_MONTH})\b\.?|\b({_MONTH})\b\.?(?=[ \u00a0]\d)")

MEASURES = {
    "day": r"days?\b|daily\b",
    "week": r"week(?:s|ly)?\b",
    "month": r"month(?:s|ly)?\b",
    "year": r"year(?:s|ly)?\b|annual",
    "hour": r"hour(?:s|ly)?\b|hrs?\b",
    "minute": r"minutes?\b|mins?\b",
    "percent": r"%|per ?cent\b",
    "pound": r"£|gbp\b|pounds?\b|sterling\b",
    "euro": r"€|eur\b|euros?\b",
    "dollar": r"\$|usd\b|dollars?\b",
} | {month: rf"{month}\b" for month in MONTHS}
_ANYWHERE = {name: re.compile(rf"(?<![a-z])(?:{written})") for name, written in MEASURES.items()}
_COUNTED = {
    name: re.compile(
        rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)}))(?:st|nd|rd|th)?[ -]?(?:[a-z]+[ -])??(?:{written})"
    )
    for name, written in MEASURES.items()
}
_BEFORE = {
    name: re.compile(rf"(?<![a-z])(?:{MEASURES[name]}) ?\d")
    for name in ("pound", "euro", "dollar", *MONTHS)
}
_ONE = re.compile(r"\bone (?=(?:[a-z]+ )?(?:day|week|month|year|hour)s?\b)")


def spell_out(text: str) -> str:
    """Lower case, with dates as "31 march 2026", months in full and number words above twenty as
    digits."""
    plain = unicodedata.normalize("NFKC", text).lower()
    plain = _DATED.sub(_date, plain)
    plain = _MONTH_BY_NUMBER.sub(
        lambda m: next(n for n in MONTHS if n.startswith((m[1] or m[2])[:3])), plain
    )
    plain = _ONE.sub("1 ", plain)
    return COMPOUND.sub(lambda m: str(int(NUMBER_WORDS[m[1]]) + int(NUMBER_WORDS[m[2]])), plain)


def numbers_in(text: str) -> set[str]:
    """Numbers as plain decimals: "1,250.00" and "1.250,00" are 1250, "five" is 5, "twenty-five" is
    25.

    "one" is a number only where something is counted: "one week", not "one of us".
    """
    plain = spell_out(text)
    words = {
        NUMBER_WORDS[word]
        for word in re.findall(r"[a-z]+", plain)
        if word in NUMBER_WORDS and word != "one"
    }
    return {plain_decimal(n) for n in NUMBER.findall(plain)} | words


def measured_units(text: str) -> set[str]:
    """Units, currencies and months that stand beside a number: what a claim may not change."""
    plain = spell_out(text)
    counted = {name for name, pattern in _COUNTED.items() if pattern.search(plain)}
    return counted | {name for name, pattern in _BEFORE.items() if pattern.search(plain)}


def units_named(text: str) -> set[str]:
    """The same wherever they stand: a table has its unit in the head and its number in a row."""
    plain = spell_out(text)
    named = {name for name, pattern in _ANYWHERE.items() if pattern.search(plain)}
    # "You may" is no month, "in May" and "1 May" are.
    return (
        named
        if "may" in measured_units(text) or re.search(r"(?<=[a-z,(] )May\b", text)
        else named - {"may"}
    )


def _date(match: re.Match[str]) -> str:
    year, month, day = match.group(1, 2, 3) if match[1] else match.group(6, 5, 4)
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}"


def plain_decimal(number: str) -> str:
    """A written number as a plain decimal, its thousands marks left out."""
    whole, mark, last = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", number).groups()  # type: ignore[union-attr]
    if not mark:
        return _whole(number)
    digits = re.sub(r"\D", "", whole)
    # Three digits after a mark are thousands, unless the number begins with a zero.
    if len(last) == 3 and digits.strip("0"):
        return _whole(digits + last)
    fraction = last.rstrip("0")
    return f"{_whole(digits)}.{fraction}" if fraction else _whole(digits)


def _whole(digits: str) -> str:
    return (
        digits.lstrip("0") or "0"
    )  # int() refuses thousands of digits, and a model may well write them
