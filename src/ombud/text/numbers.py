"""The one reader of written numbers, with dates and units: proof, retrieval and metrics see the
same values.

How a number is read, in this order:

1.  Blanks (ordinary, fixed, thin) and apostrophes group thousands in every language: "2 500",
    "12 500,50", "1'000". One blank before exactly three digits, first group of one to three digits
    that is no zero: in "in 2025 100 people" nothing is grouped, nor in telephone numbers, nor after
    a word that numbers are labels of ("section 20 500"). Where grouped and apart are both possible
    ("take 3 500 mg") it is one number: then a claim with "500 mg" is refused rather than proven.
2.  Of points and commas together the last is the decimal mark: "1,250.50", "1.250,50".
3.  A mark that repeats groups, in threes or as in India: "1.250.000", "1,00,000". Other repeated
    marks make no number but a label, "1.2.3", which equals only itself.
4.  One mark that three digits do not follow, or with a zero or four digits before it, is the
    decimal mark: "1,5", "0.125", "2024,500".
5.  What is left may be either: "1.250" and "1,250". The comma is the decimal mark where the
    language's locale (Babel) says so, as in German, and groups elsewhere. The point always groups:
    people write English in every country, and a decimal with three places is rarer in rules for
    people than a thousand in the manner of the Continent.

A number has one value. Where two readings are possible no other is tried: a claim is borne out by
an equal value only.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from ombud.text.phrases import holds_any

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SHORT_MONTHS = tuple(month[:3] for month in MONTHS)
_MONTH_OF = dict(zip(SHORT_MONTHS, MONTHS, strict=True))
_DATE_IN_DIGITS = re.compile(
    r"\b(?:(\d{4})-(0[1-9]|1[0-2])-(\d\d)|(\d\d?)\.(0?[1-9]|1[0-2])\.(\d{4}))\b"
)
SMALL_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = (
    {word: str(value) for value, word in enumerate(SMALL_NUMBERS)}
    | {word: str(10 * value) for value, word in enumerate(TENS, start=2)}
    | {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}
)
DIGITS = r"\d+(?:[.,]\d+)*"
"""Pattern of a number in digits, in a text that went through `join_groups`."""

_BLANK = "[ \u00a0\u2007\u2009\u202f]"
LETTERS = re.compile(r"[a-z]+")
_IN_DIGITS = re.compile(DIGITS)
_LAST_MARK = re.compile(r"(.*)([.,])(\d+)", re.DOTALL)
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3}")
_APOSTROPHES = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:['’ʼ]\d{3})+(?!\d)")
_BLANKS = re.compile(
    r"(?:(?<![\w.,:/+])(?<!\d-\d\d-)|(?<=eur|gbp|usd|chf|EUR|GBP|USD|CHF))"
    rf"\+?\d+(?:{_BLANK}\d+)+"
)
"""A run of digits and blanks; not inside a time or a date, but directly after a currency."""
_THOUSANDS = re.compile(rf"(?<!\d)[1-9]\d{{0,2}}(?:{_BLANK}\d{{3}})+(?!\d)")
_YEARS = re.compile(rf"(?:[1-9]\d{{3,}}{_BLANK})*")
_PART_OF_TELEPHONE = re.compile(r"\d\d|(?!19|20)\d{4}|\d{5,}")
_TELEPHONE_LENGTH = 7
"""Digits of the shortest telephone number that is told by its groups."""
_LABELLED = re.compile(
    r"(?:§"
    r"|\b(?:(?:section|article|clause|paragraph|page|chapter|rule|option|step|item|table|figure)s?"
    r"|sec|art|nr|no(?=\.)|number|annex|appendix|schedule|room|grade|level|version"
    r"|abschnitt|absatz|abs|artikel|seite|ziffer|kapitel|nummer|anlage|tabelle|schritt|stufe"
    r"|chapitre|numéro|annexe|tableau|étape|página|sección|artículo|capítulo|número|anexo|tabla"
    r"|tele(?:ph|f)one?|téléphone|teléfono|phone|tel|tél|fax|mobile|hotline|ext)\.?:?)"
    r" ?$",
    re.IGNORECASE,
)
_LABEL_LENGTH = 16
"""Characters looked back for a word of `_LABELLED`."""


DURATIONS = frozenset({"week", "month", "year"})
_WRITTEN: Mapping[str, str] = {
    "day": r"days?\b|daily\b",
    "week": r"week(?:s|ly)?\b",
    "month": r"month(?:s|ly)?\b",
    "year": r"year(?:s|ly)?\b|annual",
    "hour": r"hour(?:s|ly)?\b|hrs?\b",
    "minute": r"minutes?\b|mins?\b",
    "percent": r"%|per ?cent\b",
    "pound": r"£|gbp\b|pounds?\b|quid\b|sterling\b",
    "euro": r"€|eur\b|euros?\b",
    "dollar": r"\$|usd\b|dollars?\b|bucks\b",
    **{month: rf"{month}\b" for month in MONTHS},
}
"""Unit -> how it is written."""
_MAY = re.compile(r"(?<=[a-z,(] )May\b")


def join_groups(text: str) -> str:
    """Remove blanks and apostrophes inside numbers: "2 500,50" becomes "2500,50"."""
    if holds_any(text, "'’ʼ"):
        text = _APOSTROPHES.sub(digits_of, text)
    return _BLANKS.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    """Join the grouped numbers of a run of digits and blanks."""
    run = match[0]
    start = match.start()
    before = match.string[max(0, start - _LABEL_LENGTH) : start]
    if _LABELLED.search(before):
        return run
    years = _YEARS.match(run)
    leading = years[0] if years else ""
    groups = run[len(leading) :]
    if is_telephone(groups):
        return run
    return leading + _THOUSANDS.sub(digits_of, groups)


def digits_of(match: re.Match[str]) -> str:
    return "".join(filter(str.isdecimal, match[0]))


def is_telephone(groups: str) -> bool:
    """Tell whether groups look like a telephone number, such as "30 123 456 78", and not like
    thousands."""
    if len("".join(groups.split())) < _TELEPHONE_LENGTH:
        return False
    if groups[0] in "0+":
        return True
    other_groups = _THOUSANDS.sub("", groups).split()
    return any(map(_PART_OF_TELEPHONE.fullmatch, other_groups))


def plain_decimal(number: str, language: str = "en") -> str:
    """Return the value of a number in digits as a plain decimal: "1250.5" of "1,250.50" and
    "1.250,50". Labels such as "1.2.3" stay.

    `language` decides only what a lone comma before three digits is. The value is text, because a
    model may write numbers of thousands of digits."""
    parts = _LAST_MARK.fullmatch(number)
    if not parts:
        return _whole(number)
    whole, mark, fraction = parts.groups()
    is_decimal_comma = whole.isdigit() and mark == "," and decimal_mark(language) == ","
    if is_grouped(number) and not is_decimal_comma:
        return _whole(number)
    if not whole.isdigit() and (mark in whole or not is_grouped(whole)):
        return number.replace(",", ".")
    fraction = fraction.rstrip("0")
    if not fraction:
        return _whole(whole)
    return f"{_whole(whole)}.{fraction}"


def _whole(number: str) -> str:
    """Remove group marks and leading zeros."""
    return "".join(filter(str.isdecimal, number)).lstrip("0") or "0"


def is_grouped(number: str) -> bool:
    """Tell whether one kind of mark separates groups of digits, and nothing else does."""
    has_both = "," in number and "." in number
    return not has_both and bool(_GROUPS.fullmatch(number))


@cache
def decimal_mark(language: str) -> str:
    """Return the decimal mark of a language's locale; a point if it is unknown."""
    # By far the most is English: no need to read the data of locales, which takes 50 ms.
    if language[:2] in {"", "en"}:
        return "."
    from babel import localedata

    if not localedata.exists(language[:2]):
        return "."
    return str(localedata.load(language[:2])["number_symbols"]["latn"]["decimal"])


def spell_out(text: str) -> str:
    """Normalise to lower case, dates as "31 march 2026", full month names, joined groups of digits,
    and number words above twenty as digits."""
    plain = unicodedata.normalize("NFKC", text).lower()
    if any(map(str.isdecimal, plain)):
        plain = join_groups(_DATE_IN_DIGITS.sub(spelt_date, plain))
        plain = month_beside_day().sub(full_name, plain)
    if "one " in plain:
        plain = counting_one().sub("1 ", plain)
    return _compound().sub(_sum, plain) if "ty" in plain else plain


def numbers_in(text: str, language: str = "en") -> set[str]:
    """Return numbers as plain decimals: "1,250.00" and "1 250" are 1250, "five" is 5, "twenty-five"
    is 25. "one" is a number only where something is counted: "one week", not "one of us"."""
    return numbers_of_plain(spell_out(text), language)


def numbers_of_plain(plain: str, language: str = "en") -> set[str]:
    """Return the numbers of a text that went through `spell_out`."""
    numbers = _values(plain, language)
    for word in LETTERS.findall(plain):
        if word in NUMBER_WORDS and word != "one":
            numbers.add(NUMBER_WORDS[word])
    return numbers


def digits_in(text: str, language: str = "") -> set[str]:
    """Return numbers written in digits as plain decimals; of dates the day, month and year."""
    normal = unicodedata.normalize("NFKC", text)
    return _values(join_groups(normal), language)


def _values(plain: str, language: str) -> set[str]:
    """Yield the values of numbers in digits."""
    return {plain_decimal(number, language) for number in _IN_DIGITS.findall(plain)}


def _sum(match: re.Match[str]) -> str:
    tens = int(NUMBER_WORDS[match[1]])
    ones = int(NUMBER_WORDS[match[2]])
    return str(tens + ones)


@cache
def counting_one() -> re.Pattern[str]:
    return re.compile(
        r"\bone (?=(?:(?!that |this |each |every |per |a |the )[a-z]+ )?"
        r"(?:day|week|month|year|hour)s?\b)"
    )


@cache
def _compound() -> re.Pattern[str]:
    tens = "|".join(TENS)
    ones = "|".join(SMALL_NUMBERS[1:10])
    return re.compile(rf"\b({tens})[- ]({ones})\b")


# Dates --------------------------------------------------------------------------------------------


def spelt_date(match: re.Match[str]) -> str:
    if match[1]:
        year, month, day = match.group(1, 2, 3)
    else:
        day, month, year = match.group(4, 5, 6)
    name = MONTHS[int(month) - 1]
    return f"{int(day)} {name} {year}"


def full_name(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    return _MONTH_OF[name[:3]]


@cache
def month_beside_day() -> re.Pattern[str]:
    names = "|".join([*MONTHS, *SHORT_MONTHS, "sept"])
    behind = rf"(?<=\d[ \u00a0])({names})\b\.?"
    in_front = rf"\b({names})\b\.?(?=[ \u00a0]\d)"
    return re.compile(f"{behind}|{in_front}")


# Units and currencies -----------------------------------------------------------------------------


def units_named(text: str) -> set[str]:
    """Return units, currencies and months anywhere in a text: a table has its unit in the head and
    its number in a row."""
    plain = spell_out(text)
    named = {name for name, pattern in _units().items() if pattern.search(plain)}
    # "You may" is no month, "in May" and "1 May" are.
    is_month = may_beside_number().search(plain) or _MAY.search(text)
    if not is_month:
        named.discard("may")
    return named


@cache
def _units() -> Mapping[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    for name, written in _WRITTEN.items():
        patterns[name] = re.compile(rf"(?<![a-z])(?:{written})")
    return patterns


@cache
def may_beside_number() -> re.Pattern[str]:
    number = rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)}))(?:st|nd|rd|th)?"
    return re.compile(rf"{number}[ -]?(?:[a-z]+[ -])??may\b|(?<![a-z])may ?\d")
