"""Numbers as Excel shows them: its codes for dates, amounts, percentages and fractions.

Month and day names are English. The short date, whose order of day and month depends on who looks,
is shown as 2026-03-31."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from xml.etree.ElementTree import Element

from ombud.documents.office.xlsx_codes import FormatToken, section_for
from ombud.documents.office.xlsx_dates import is_date, shown_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Codes that files name by number only."""
_POINT = FormatToken("code", ".")
_COMMA = FormatToken("code", ",")
_SLASH = FormatToken("code", "/")
_ZERO = FormatToken("code", "0")


def read_formats(root: Element | None) -> list[str]:
    """The code of each cell style."""
    if root is None:
        return []
    own = {}
    for node in root.iterfind("numFmts/numFmt"):
        own[node.get("numFmtId", "")] = node.get("formatCode", "")
    used = [node.get("numFmtId", "0") for node in root.iterfind("cellXfs/xf")]
    return [own.get(number) or _built_in(number) for number in used]


def read_struck(root: Element | None) -> list[bool]:
    """Tell of each cell style whether it is struck out."""
    if root is None:
        return []
    fonts = [is_struck(font) for font in root.iterfind("fonts/font")]
    styles = []
    for style in root.iterfind("cellXfs/xf"):
        font = style.get("fontId", "")
        styles.append(font.isdigit() and int(font) < len(fonts) and fonts[int(font)])
    return styles


def is_struck(look: Element) -> bool:
    """Tell whether a font or the look of a run is struck out."""
    strike = look.find("strike")
    return strike is not None and strike.get("val", "1") not in {"0", "false"}


def _built_in(number: str) -> str:
    return BUILT_IN.get(int(number) if number.isdigit() else 0, "General")


def shown(value: float, code: str, from_1904: bool = False) -> str:
    """A number by a code; by General where the code is beyond us or hides the number."""
    if not abs(value) < 1e300:
        return general(value)
    tokens, size = section_for(code, value)
    if is_date(tokens):
        return shown_date(value, tokens, from_1904) or general(value)
    if any(map(_is_general, tokens)):
        return _around(general(size), tokens).strip()
    try:
        text = _number(size, tokens).strip()
    except (InvalidOperation, OverflowError):
        return general(value)
    has_words = any(token.kind == "literal" for token in tokens)
    return text if text or has_words else general(value)


def general(value: float) -> str:
    """Up to 10 digits that count, as many as a cell of usual width has room for."""
    if value == int(value) and abs(value) < 1e11:
        return str(int(value))
    text = f"{value:.10g}".upper()
    return text.replace("E-0", "E-").replace("E+0", "E+")


def _is_general(token: FormatToken) -> bool:
    return token.kind == "code" and token.text.lower() in {"general", "@"}


def _around(number: str, tokens: Sequence[FormatToken]) -> str:
    """The words of a code, with the number in place of each of its codes."""
    parts = []
    for token in tokens:
        parts.append(number if token.kind == "code" else token.text)
    return "".join(parts)


def _number(value: float, tokens: list[FormatToken]) -> str:
    if not any(token.is_place for token in tokens):
        return "".join(token.text for token in tokens if _is_as_written(token))
    sign = "-" if value < 0 else ""
    percents = tokens.count(FormatToken("code", "%"))
    number = abs(Decimal(repr(value))) * 100**percents
    if _SLASH in tokens:
        return sign + _fraction(number, tokens)
    for position, token in enumerate(tokens):
        if token.kind == "code" and token.text[0] in "Ee":
            return sign + _scientific(number, tokens[:position], tokens[position:])
    return _decimal(number, sign, tokens)


def _is_as_written(token: FormatToken) -> bool:
    return token.kind == "literal" or token.text == "%"


def _places(tokens: Sequence[FormatToken]) -> int:
    """How many digits go there."""
    return sum(token.is_place for token in tokens)


def _point(tokens: list[FormatToken]) -> int:
    """Where the decimal point stands; the end without one."""
    return tokens.index(_POINT) if _POINT in tokens else len(tokens)


def _scientific(number: Decimal, mantissa: list[FormatToken], power: list[FormatToken]) -> str:
    """mantissa, power: tokens before and from the "E" on."""
    decimals = _places(mantissa[_point(mantissa) :])
    digits, exponent = f"{number:.{decimals}E}".split("E")
    sign = exponent[0]
    size = exponent[1:].zfill(power.count(_ZERO))
    return f"{digits}E{sign}{size}"


def _decimal(number: Decimal, sign: str, tokens: list[FormatToken]) -> str:
    point = _point(tokens)
    before = tokens[:point]
    after = tokens[point:]
    places = [position for position, token in enumerate(before) if token.is_place]
    is_grouped = False
    if places:
        # Commas between digits part thousands, those behind the last one divide by a thousand each.
        first, last = places[0], places[-1]
        is_grouped = _COMMA in tokens[first:last]
        thousands = tokens[last:].count(_COMMA)
        number /= 1000**thousands
    unit = Decimal(1).scaleb(-_places(after))
    rounded = number.quantize(unit, ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    text = _whole(whole, before, is_grouped)
    text += _decimals(decimals, after)
    return sign + text if rounded else text


def _whole(digits: str, tokens: list[FormatToken], is_grouped: bool) -> str:
    """Digits before the point, put into their places from the right."""
    waiting = list(digits.lstrip("0"))
    places_left = _places(tokens)
    written = 0
    parts = []
    for token in reversed(tokens):
        if _is_as_written(token):
            parts.append(token.text)
        if not token.is_place:
            continue
        places_left -= 1
        # The first place takes all digits that are left.
        room = len(waiting) if places_left == 0 else 1
        for _ in range(max(1, room)):
            digit = waiting.pop() if waiting else _blank(token)
            if is_grouped and _ends_group(digit, written):
                parts.append(",")
            parts.append(digit)
            written += len(digit)
    return "".join(reversed(parts))


def _ends_group(digit: str, written: int) -> bool:
    """Whether a comma stands behind a digit. written: digits to its right."""
    return digit != "" and written > 0 and written % 3 == 0


def _blank(place: FormatToken) -> str:
    """What stands in a place that has no digit."""
    return "0" if place.text == "0" else ""


def _decimals(digits: str, tokens: list[FormatToken]) -> str:
    """The point and the digits behind it; a zero where the code says # or ? is left out."""
    needed = _needed(digits, tokens)
    waiting = iter(digits[:needed])
    parts = []
    for token in tokens:
        if token == _POINT or _is_as_written(token):
            parts.append(token.text)
        elif token.is_place:
            parts.append(next(waiting, ""))
    text = "".join(parts)
    return text if needed else text.rstrip(".")


def _needed(digits: str, tokens: list[FormatToken]) -> int:
    """How many of the digits are shown."""
    places = [token for token in tokens if token.is_place]
    needed = len(digits)
    for digit, place in zip(reversed(digits), reversed(places), strict=True):
        if digit != "0" or place == _ZERO:
            break
        needed -= 1
    return needed


def _rounded_fraction(exact: Fraction, below: Sequence[FormatToken]) -> Fraction:
    """below: tokens behind the slash."""
    digits = ""
    places = 0
    for token in below:
        if token.text in {"?", "#", "0"}:
            places += 1
        elif token.text.isdigit():
            digits += token.text
    if digits:
        denominator = int(digits)
        return Fraction(round(exact * denominator), denominator)
    width = min(max(1, places), 6)
    return exact.limit_denominator(10**width - 1)


def _fraction(number: Decimal, tokens: list[FormatToken]) -> str:
    """With the denominator that a code gives ("# ?/8"), or the best of so many digits."""
    slash = tokens.index(_SLASH)
    part = _rounded_fraction(Fraction(number), tokens[slash + 1 :])
    if FormatToken("literal", " ") not in tokens[:slash]:
        return f"{part.numerator}/{part.denominator}"
    whole, rest = divmod(part.numerator, part.denominator)
    if not rest:
        return str(whole)
    fraction = f"{rest}/{part.denominator}"
    return f"{whole} {fraction}" if whole else fraction
