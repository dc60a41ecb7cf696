"""The one reader of written numbers: proof, retrieval, metrics and synthesis see the same values.

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
from functools import cache

from ombud.text.dates import spell_dates, spell_months
from ombud.text.phrases import holds_any

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
NUMBER = rf"(?<![\w.,])(?:{DIGITS}|(?:{'|'.join(NUMBER_WORDS)})\b)"
"""The same or a number word, in a text that went through `spell_out`."""

_BLANK = "[ \u00a0\u2007\u2009\u202f]"
_HAS_DIGIT = re.compile(r"\d")
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


def join_groups(text: str) -> str:
    """`text` without the blanks and apostrophes inside of numbers: "2 500,50" as "2500,50"."""
    if holds_any(text, "'’ʼ"):
        text = _APOSTROPHES.sub(_digits_of, text)
    return _BLANKS.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    """A run of digits and blanks, with those numbers joined that are written in groups."""
    run = match[0]
    start = match.start()
    before = match.string[max(0, start - _LABEL_LENGTH) : start]
    if _LABELLED.search(before):
        return run
    years = _YEARS.match(run)
    leading = years[0] if years else ""
    groups = run[len(leading) :]
    if _is_telephone(groups):
        return run
    return leading + _THOUSANDS.sub(_digits_of, groups)


def _digits_of(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match[0])


def _is_telephone(groups: str) -> bool:
    """Whether groups that are no thousands, such as 78 of "30 123 456 78", stand in a long run, or
    it begins as a telephone number does."""
    if len("".join(groups.split())) < _TELEPHONE_LENGTH:
        return False
    if groups[0] in "0+":
        return True
    other_groups = _THOUSANDS.sub("", groups).split()
    return any(map(_PART_OF_TELEPHONE.fullmatch, other_groups))


def plain_decimal(number: str, language: str = "en") -> str:
    """The value of a number in digits as a plain decimal: "1250.5" of "1,250.50" and "1.250,50".

    A label such as "1.2.3" comes back as itself. `language` is that of the text (ISO 639-1); it
    decides only what a lone comma before three digits is. Text and not float, because a model may
    write numbers of thousands of digits.
    """
    parts = _LAST_MARK.fullmatch(number)
    if not parts:
        return _whole(number)
    whole, mark, fraction = parts.groups()
    if _is_grouped(number) and not _is_decimal_comma(whole, mark, language):
        return _whole(number)
    if not whole.isdigit() and (mark in whole or not _is_grouped(whole)):
        return number.replace(",", ".")
    fraction = fraction.rstrip("0")
    if not fraction:
        return _whole(whole)
    return f"{_whole(whole)}.{fraction}"


def _whole(number: str) -> str:
    """Without marks and leading zeros."""
    digits = number if number.isdecimal() else re.sub(r"\D", "", number)
    return digits.lstrip("0") or "0"


def _is_grouped(number: str) -> bool:
    """Whether one kind of mark parts groups of digits, and nothing else does."""
    has_both = "," in number and "." in number
    return not has_both and bool(_GROUPS.fullmatch(number))


def _is_decimal_comma(whole: str, mark: str, language: str) -> bool:
    """Whether the only mark of a number is a comma, and decimals stand behind it."""
    return whole.isdigit() and mark == "," and decimal_mark(language) == ","


@cache
def decimal_mark(language: str) -> str:
    """What stands before the decimals in a language, by its locale; a point where none is known."""
    # By far the most is English: no need to read the data of locales, which takes 50 ms.
    if language[:2] in {"", "en"}:
        return "."
    from babel import localedata

    if not localedata.exists(language[:2]):
        return "."
    return str(localedata.load(language[:2])["number_symbols"]["latn"]["decimal"])


def spell_out(text: str) -> str:
    """Lower case, with dates as "31 march 2026", months in full, groups of digits joined and number
    words above twenty as digits."""
    plain = unicodedata.normalize("NFKC", text).lower()
    if _HAS_DIGIT.search(plain):
        plain = join_groups(spell_dates(plain))
        plain = spell_months(plain)
    if "one " in plain:
        plain = _counting_one().sub("1 ", plain)
    return _compound().sub(_sum, plain) if "ty" in plain else plain


def numbers_in(text: str, language: str = "en") -> set[str]:
    """Numbers as plain decimals: "1,250.00" and "1 250" are 1250, "five" is 5, "twenty-five" is 25.

    "one" is a number only where something is counted: "one week", not "one of us".
    """
    return numbers_of_plain(spell_out(text), language)


def numbers_of_plain(plain: str, language: str = "en") -> set[str]:
    """The same of a text that went through `spell_out`."""
    numbers = _values(plain, language)
    for word in re.findall(r"[a-z]+", plain):
        if word in NUMBER_WORDS and word != "one":
            numbers.add(NUMBER_WORDS[word])
    return numbers


def digits_in(text: str, language: str = "") -> set[str]:
    """Numbers written in digits, as plain decimals; of dates the day, month and year."""
    normal = unicodedata.normalize("NFKC", text)
    return _values(join_groups(normal), language)


def _values(plain: str, language: str) -> set[str]:
    """Of the numbers in digits."""
    return {plain_decimal(number, language) for number in _IN_DIGITS.findall(plain)}


def _sum(match: re.Match[str]) -> str:
    tens = int(NUMBER_WORDS[match[1]])
    ones = int(NUMBER_WORDS[match[2]])
    return str(tens + ones)


@cache
def _counting_one() -> re.Pattern[str]:
    return re.compile(
        r"\bone (?=(?:(?!that |this |each |every |per |a |the )[a-z]+ )?"
        r"(?:day|week|month|year|hour)s?\b)"
    )


@cache
def _compound() -> re.Pattern[str]:
    tens = "|".join(TENS)
    ones = "|".join(SMALL_NUMBERS[1:10])
    return re.compile(rf"\b({tens})[- ]({ones})\b")
