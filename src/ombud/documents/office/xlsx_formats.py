"""Numbers as Excel shows them: its codes for dates, amounts, percentages and fractions.

Month and day names are English. The short date, whose order of day and month depends on who looks,
is shown as 2026-03-31."""

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from xml.etree.ElementTree import Element

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Codes that files name by number only."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<code>General|AM/PM|A/P|[yY]+|[mM]+|[dD]+|[hH]+|[sS]+|[Ee][+-]|[0#?]|[.,%/@])|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[0-9.]+)")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Token = tuple[str, str]
"""("code" | "elapsed" | "literal", text)"""


def read_formats(root: Element | None) -> list[str]:
    """The code of each cell style."""
    if root is None:
        return []
    own = {
        node.get("numFmtId", ""): node.get("formatCode", "")
        for node in root.iterfind("numFmts/numFmt")
    }
    used = [node.get("numFmtId", "0") for node in root.iterfind("cellXfs/xf")]
    return [
        own.get(number) or BUILT_IN.get(int(number) if number.isdigit() else 0, "General")
        for number in used
    ]


def shown(value: float, code: str, from_1904: bool = False) -> str:
    """A number by a code; by General where the code is beyond us or hides the number."""
    if not abs(value) < 1e300:
        return general(value)
    tokens, size = _section(code, value)
    codes = [text.lower() for kind, text in tokens if kind == "code"]
    if any(kind == "elapsed" for kind, _ in tokens) or any(text[0] in "ymdhs" for text in codes):
        return _date(value, tokens, from_1904) or general(value)
    if "general" in codes or "@" in codes:
        return "".join(general(size) if kind == "code" else text for kind, text in tokens).strip()
    try:
        text = _number(size, tokens).strip()
    except (InvalidOperation, OverflowError):
        return general(value)
    return text or ("" if any(kind == "literal" for kind, _ in tokens) else general(value))


def general(value: float) -> str:
    """Up to 10 digits that count, as many as a cell of usual width has room for."""
    if value == int(value) and abs(value) < 1e11:
        return str(int(value))
    text = f"{value:.10g}".upper()
    return text.replace("E-0", "E-").replace("E+0", "E+")


@lru_cache(maxsize=1024)
def _sections(code: str) -> list[tuple[list[Token], tuple[str, float] | None]]:
    """Tokens and condition of each section; the fourth is for text."""
    sections: list[tuple[list[Token], tuple[str, float] | None]] = [([], None)]
    for found in _TOKEN.finditer(code[:500]):
        tokens, _ = sections[-1]
        if found["literal"] == ";":
            sections.append(([], None))
        elif found["code"]:
            tokens.append(("code", found["code"]))
        elif found["bracket"] is not None:
            if condition := _CONDITION.fullmatch(found["bracket"]):
                sections[-1] = (tokens, (condition[1], float(condition[2])))
            elif re.fullmatch(r"h+|m+|s+", found["bracket"], re.IGNORECASE):
                tokens.append(("elapsed", found["bracket"].lower()))
        else:
            said = (
                found["quoted"] or found["escaped"] or found["currency"] or found["literal"] or ""
            )
            tokens.append(("literal", said or (" " if found[0].startswith("_") else "")))
    return sections[:3]


def _section(code: str, value: float) -> tuple[list[Token], float]:
    """(tokens of the section for a value, the value as that section says it: where it has a sign,
    without one)."""
    sections = _sections(code)
    for tokens, condition in sections:
        if condition and _holds(value, *condition):
            return tokens, value
    if any(condition for _, condition in sections):
        return sections[-1][0], value
    if value < 0 and len(sections) > 1:
        return sections[1][0], -value
    if value == 0 and len(sections) > 2:
        return sections[2][0], value
    return sections[0][0], value


def _holds(value: float, sign: str, limit: float) -> bool:
    return {"<": value < limit, ">": value > limit, "<=": value <= limit, ">=": value >= limit, "=": value == limit,
            "<>": value != limit}[sign]  # fmt: skip


def _number(value: float, tokens: list[Token]) -> str:
    codes = [text for kind, text in tokens if kind == "code"]
    if not any(code in "0#?" for code in codes):
        return "".join(text for kind, text in tokens if kind == "literal" or text == "%")
    point = next((at for at, token in enumerate(tokens) if token == ("code", ".")), len(tokens))
    power = next(
        (at for at, (kind, text) in enumerate(tokens) if kind == "code" and text[0] in "Ee"), None
    )
    sign = "-" if value < 0 else ""
    number = abs(Decimal(repr(value))) * 100 ** codes.count("%")
    if ("code", "/") in tokens:
        return sign + _fraction(number, tokens)
    if power is not None:
        digits = sum(1 for kind, text in tokens[point:power] if kind == "code" and text in "0#?")
        mantissa, exponent = f"{number:.{digits}E}".split("E")
        least = sum(1 for kind, text in tokens[power:] if (kind, text) == ("code", "0"))
        return f"{sign}{mantissa}E{exponent[0]}{exponent[1:].zfill(least)}"
    places = [
        at for at, (kind, text) in enumerate(tokens[:point]) if kind == "code" and text in "0#?"
    ]
    commas = [at for at, token in enumerate(tokens) if token == ("code", ",")]
    # Commas between digits part thousands, those behind the last one divide by a thousand each.
    number /= 1000 ** sum(1 for at in commas if places and at > places[-1])
    grouped = any(places[0] < at < places[-1] for at in commas) if places else False
    decimals = sum(1 for kind, text in tokens[point:] if kind == "code" and text in "0#?")
    whole, _, rest = f"{number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}".partition(
        "."
    )
    rounds_to_nothing = not (whole + rest).strip("0")
    return (
        ("" if rounds_to_nothing else sign)
        + _whole(whole, tokens[:point], grouped)
        + _rest(rest, tokens[point:])
    )


def _whole(digits: str, tokens: list[Token], grouped: bool) -> str:
    """Digits before the point, put into their places from the right."""
    left, said, count = list(digits.lstrip("0")), [], 0
    places = sum(1 for kind, text in tokens if kind == "code" and text in "0#?")
    for kind, text in reversed(tokens):
        if kind == "literal" or text == "%":
            said.append(text)
        elif text in "0#?":
            places -= 1
            room = max(1, len(left)) if places == 0 else 1
            for _ in range(room):
                digit = left.pop() if left else "0" if text == "0" else ""
                if digit and grouped and count and count % 3 == 0:
                    said.append(",")
                said.append(digit)
                count += bool(digit)
    return "".join(reversed(said))


def _rest(digits: str, tokens: list[Token]) -> str:
    """The point and the digits behind it; a zero where the code says # or ? is left out."""
    needed, said, at = len(digits), [], 0
    optional = [text != "0" for kind, text in tokens if kind == "code" and text in "0#?"]
    while needed and optional[needed - 1] and digits[needed - 1] == "0":
        needed -= 1
    for kind, text in tokens:
        if kind == "literal" or text in ".%":
            said.append(text)
        elif text in "0#?":
            said.append(digits[at] if at < needed else "")
            at += 1
    return "".join(said).rstrip(".") if not needed else "".join(said)


def _fraction(number: Decimal, tokens: list[Token]) -> str:
    slash = tokens.index(("code", "/"))
    below = [text for kind, text in tokens[slash + 1 :]]
    fixed = "".join(text for text in below if text.isdigit() and text != "0")
    width = max(1, sum(1 for text in below if text in ("?", "#", "0")))
    exact = Fraction(number)
    part = (
        Fraction(round(exact * int(fixed)), int(fixed))
        if fixed
        else exact.limit_denominator(10 ** min(width, 6) - 1)
    )
    whole, left = divmod(part.numerator, part.denominator)
    if ("literal", " ") not in tokens[:slash]:
        return f"{part.numerator}/{part.denominator}"
    return (
        f"{whole}"
        if not left
        else f"{whole} {left}/{part.denominator}"
        if whole
        else f"{left}/{part.denominator}"
    )


def _date(value: float, tokens: list[Token], from_1904: bool) -> str:
    """A day count as a date, "" outside of the calendar."""
    elapsed = any(kind == "elapsed" for kind, _ in tokens)
    if not 0 <= value < 2_958_466:
        return ""
    fine = any(kind == "code" and text == "0" for kind, text in tokens)
    seconds = round(value * 86400, 3 if fine else 0)
    # Excel believes that 1900 was a leap year.
    first = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 if value >= 60 else 31)  # noqa: DTZ001
    try:
        moment = first + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    twelve = any(kind == "code" and text.upper() in {"AM/PM", "A/P"} for kind, text in tokens)
    said, before = [], ""
    for at, (kind, text) in enumerate(tokens):
        low = text.lower()
        if kind == "elapsed":
            said.append(str(int(seconds // {"h": 3600, "m": 60, "s": 1}[low[0]])))
            before = low
        elif kind == "literal" or low in {".", ",", "/", "-"}:
            said.append(text)
        elif low[0] == "m" and (before[:1] == "h" or _next_is_seconds(tokens[at + 1 :])):
            said.append(f"{moment.minute:0{min(len(low), 2)}d}")
            before = low
        elif low == "0":
            said.append(f"{moment.microsecond // 1000:03d}"[:1])
        else:
            said.append(_piece(moment, low, text, twelve))
            before = low
    return "" if elapsed and seconds < 0 else "".join(said).strip()


def _next_is_seconds(tokens: list[Token]) -> bool:
    return next(
        (text[0].lower() == "s" for kind, text in tokens if kind == "elapsed" or text[0].isalpha()),
        False,
    )


def _piece(moment: datetime, code: str, text: str, twelve: bool) -> str:
    """One code of a date: "mmm" -> "Mar"."""
    if code[0] == "y":
        return f"{moment.year % 100:02d}" if len(code) < 3 else f"{moment.year:04d}"
    if code[0] == "m":
        name = _MONTHS[moment.month - 1]
        return {1: str(moment.month), 2: f"{moment.month:02d}", 3: name[:3], 5: name[0]}.get(
            len(code), name
        )
    if code[0] == "d":
        name = _DAYS[moment.weekday()]
        return {1: str(moment.day), 2: f"{moment.day:02d}", 3: name[:3]}.get(len(code), name)
    if code[0] == "h":
        return f"{(moment.hour - 1) % 12 + 1 if twelve else moment.hour:0{min(len(code), 2)}d}"
    if code[0] == "s":
        return f"{moment.second:0{min(len(code), 2)}d}"
    if code in {"am/pm", "a/p"}:
        half = text.split("/")[moment.hour >= 12]
        return half.upper() if code == "am/pm" else half
    return text if code in "/.,%" else ""
