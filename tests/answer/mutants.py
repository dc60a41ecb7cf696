"""Claims with one thing changed so that they are false. Shares no code with what proves claims."""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple


class Mutant(NamedTuple):
    kind: str
    text: str


NUMBERS = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "sixty",
    "ninety",
]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
UNITS = [
    (r"\bworking days\b", "calendar days"),
    (r"\bcalendar days\b", "working days"),
    (r"\bbusiness days\b", "weeks"),
    (r"(?<!working )(?<!calendar )(?<!business )\bdays\b(?! a week| off)", "weeks"),
    (r"\bday\b(?= a | per )", "week"),
    (r"\bweeks\b", "months"),
    (r"\bmonths\b", "years"),
    (r"\byears\b", "months"),
    (r"\bhours\b", "minutes"),
    (r"\bminutes\b", "hours"),
    (r"\bhour\b", "day"),
    (r"\bEUR\b", "USD"),
    (r"\beuros\b", "pounds"),
    (r"\bGBP\b", "EUR"),
    (r"\bUSD\b", "GBP"),
    (r"£", "€"),
    (r"\bpounds?\b", "euros"),
    (r"\b(a|per|each|every|calendar) year\b", r"\1 month"),
    (r"\b(a|per|each|every|calendar) month\b", r"\1 year"),
    (r"\b(a|per|each|every) week\b", r"\1 month"),
    (r"\b(a|per|each|every) day\b", r"\1 week"),
    (r"\bmile\b", "kilometre"),
    (r"\blitres\b", "gallons"),
    (r"\bcents\b", "dollars"),
    (r"(?<=\d) ?%", " euros"),
    (r"\bpercent\b", "euros"),
    (r"\bfortnight\b", "month"),
]
DENIALS = [
    (r"\b(is|are|was|were|may|must|can|could|will|should|does|do|has|have) not\b", r"\1"),
    (r"\bcannot\b", "can"),
    (r"\b(\w+)n't\b", r"\1"),
    (r"\bneed not\b", "must"),
    (r"\bnever\b", "always"),
    (r"\bwithout\b", "with"),
    (r"\bunless\b", "if"),
    (r"\bexcept\b", "including"),
    (r"\bnobody\b", "everybody"),
    (r"\bnothing\b", "everything"),
    (r"\bno longer\b", "still"),
    (r"\bneither\b(.*?)\bnor\b", r"both\1and"),
    (r"(?<!\w)no (?=[a-z])(?!later|more|less)", "a "),
    (r"\bnot\b ", ""),
]
DENYING = [
    (r"\b(is|are|may|must|can|will|should)\b(?! not)(?! no\b)(?! never)", r"\1 not"),
    (r"\b(has|needs) to\b", "does not have to"),
    (r"\b(have|need) to\b", "do not have to"),
    (r"(?<=you )(get|receive|pay|keep|lose|earn|have|need)\b(?! to\b| not\b| no\b)", r"do not \1"),
    (
        r"\b(require|get|receive|pay|keep|count|start|cover|need)s\b(?! to\b| not\b| no\b)",
        r"does not \1",
    ),
    (r"\b(cost|reimburse|run|last)s\b", r"does not \1"),
    (r"\bapplies\b", "does not apply"),
]
MODALS = [
    (r"\b(must|may) not\b", "need not"),
    (r"\bcannot\b", "need not"),
    (r"\b(do|does) not (have|need) to\b", "must not"),
    (r"\bneed not\b", "must not"),
    (r"\bmust\b", "may"),
    (r"\b(has|have|needs?) to\b", "may"),
    (r"\bmay\b", "must"),
    (r"\bcan\b", "must"),
    (r"\bshould\b", "need not"),
    (r"\bentitled\b", "obliged"),
    (r"\brequires?\b", "may need"),
    (r"\ballowed\b", "required"),
    (r"\bis required\b", "is optional"),
    (r"\bcompulsory\b", "optional"),
]
COMPARATORS = [
    (r"\bat least\b", "at most"),
    (r"\bat most\b", "at least"),
    (r"\bup to\b", "at least"),
    (r"\bmore than\b", "less than"),
    (r"\bless than\b", "more than"),
    (r"\bno later than\b", "no earlier than"),
    (r"\bwithin\b(?= \w+ )", "after"),
    (r"\bno more than\b", "at least"),
    (r"\bminimum\b", "maximum"),
    (r"\bmaximum\b", "minimum"),
    (r"\bover\b", "under"),
    (r"\bunder\b", "over"),
    (r"\bbefore\b", "after"),
    (r"\bafter\b", "before"),
    (r"\bbeyond\b", "below"),
    (r"\bor more\b", "or less"),
    (r"\blonger than\b", "shorter than"),
]
NAME = re.compile(r"(?<=[\w,;:)”\"] )(?:[A-Z]{2,5}\b(?!/)|[A-Z]\d\b|[A-Z][a-zäöüé]{2,}\b)")
NOT_NAMES = {*MONTHS, *WEEKDAYS, "EUR", "GBP", "USD", "VAT", "PIN", "PTO"}


def names_in(claims: Sequence[str]) -> list[str]:
    """Names that stand inside sentences: what another name is taken from."""
    return sorted({n for text in claims for n in NAME.findall(text)} - NOT_NAMES)


def mutants(text: str, names: Sequence[str]) -> Iterator[Mutant]:
    """At most two of a kind, at places that the text itself decides."""
    for kind, made in (
        ("number", _numbers(text)),
        ("date", _dates(text)),
        ("unit", _swapped(text, UNITS)),
        ("negation", [*_swapped(text, DENIALS), *_swapped(text, DENYING)]),
        ("modal verb", _swapped(text, MODALS)),
        ("name", _names(text, names)),
        ("comparator", _swapped(text, COMPARATORS)),
    ):
        distinct = list(dict.fromkeys(m for m in made if m != text))
        for one in sorted(distinct, key=lambda m: _draw(m, 10**6))[:2]:
            yield Mutant(kind, one)


def _draw(seed: str, size: int) -> int:
    return int(sha256(seed.encode()).hexdigest()[:8], 16) % size


def _swapped(text: str, swaps: Sequence[tuple[str, str]]) -> list[str]:
    made, taken = [], [False] * len(text)
    for pattern, new in swaps:
        for match in re.finditer(pattern, text):
            if any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            made.append(text[: match.start()] + match.expand(new) + text[match.end() :])
    return made


def _numbers(text: str) -> Iterator[str]:
    dated = rf"(?! ?(?:{'|'.join(MONTHS)})\b)"
    for match in re.finditer(
        rf"(?<![\w.,:])(\d+(?:,\d{{3}})*(?:\.\d+)?)(?![\d:])(?!\w)(?!st |nd |rd |th ){dated}", text
    ):
        if re.search(rf"(?:{'|'.join(MONTHS)}) $", text[: match.start()]):
            continue
        old = match[1]
        if re.fullmatch(r"20[23]\d", old):
            continue
        value = float(old.replace(",", ""))
        new = [value + 1, value + 2, value * 2, max(0.5, value - 1), value + 10][
            _draw(text + old, 5)
        ]
        new = new if new != value else value + 3
        decimals = len(old.partition(".")[2])
        said = f"{new:,.{decimals}f}" if "," in old else f"{new:.{decimals}f}"
        if said != old:
            yield text[: match.start(1)] + said + text[match.end(1) :]
    for match in re.finditer(rf"\b({'|'.join(NUMBERS)})\b", text, re.IGNORECASE):
        others = [n for n in NUMBERS if n != match[1].lower()]
        other = others[_draw(text + match[1], len(others))]
        said = other.capitalize() if match[1][0].isupper() else other
        yield text[: match.start()] + said + text[match.end() :]


def _dates(text: str) -> Iterator[str]:
    for names in (MONTHS, WEEKDAYS):
        for match in re.finditer(rf"\b({'|'.join(names)})(?=s?\b)", text):
            others = [n for n in names if n != match[1]]
            yield (
                text[: match.start()]
                + others[_draw(text + match[1], len(others))]
                + text[match.end() :]
            )
    month = "|".join(MONTHS)
    for match in re.finditer(
        rf"\b(\d\d?)(?=(?: (?:and|to) \d\d?)? (?:{month})\b)|(?<=[a-z] )(\d\d?)(?=\b)", text
    ):
        if not match[2] or re.search(rf"(?:{month}) $", text[: match.start()]):
            yield text[: match.start()] + str(int(match[0]) % 28 + 1) + text[match.end() :]
    for match in re.finditer(r"\b20[23]\d\b", text):
        yield text[: match.start()] + str(int(match[0]) + 1) + text[match.end() :]
    for match in re.finditer(r"\b([01]?\d|2[0-3]):([0-5]\d)\b", text):
        next_hour = (int(match[1]) + 1) % 24
        yield f"{text[: match.start()]}{next_hour:02}:{match[2]}{text[match.end() :]}"


def _names(text: str, names: Sequence[str]) -> Iterator[str]:
    for match in NAME.finditer(text):
        old = match[0]
        alike = [n for n in names if n not in text and _shape(n) == _shape(old)]
        if old not in NOT_NAMES and alike:
            yield text[: match.start()] + alike[_draw(text + old, len(alike))] + text[match.end() :]


def _shape(name: str) -> tuple[bool, bool]:
    """Whether it is in capitals, and a letter with a number such as M2."""
    return name.isupper(), name[1:2].isdigit()
