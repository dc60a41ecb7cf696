"""Format numbers as Excel displays them: dates, amounts, percentages and fractions.

Month and day names are English. The short date, whose order of day and month depends on the
reader's system, is written 2026-03-31."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from xml.etree.ElementTree import Element

from ombud.documents.office.xlsx_codes import FormatToken, section_for
from ombud.documents.office.xlsx_dates import format_date, is_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Formats that files name by number only."""
_GENERAL = ("general", "@")
_POINT = FormatToken("code", ".")
_COMMA = FormatToken("code", ",")
_SLASH = FormatToken("code", "/")
_ZERO = FormatToken("code", "0")


def read_formats(root: Element | None) -> list[str]:
    """Read the number format of each cell style."""
    if root is None:
        return []
    own = {}
    for node in root.iterfind("numFmts/numFmt"):
        own[node.get("numFmtId", "")] = node.get("formatCode", "")
    used = [node.get("numFmtId", "0") for node in root.iterfind("cellXfs/xf")]
    codes = []
    for number in used:
        built_in = int(number) if number.isdigit() else 0
        codes.append(own.get(number) or BUILT_IN.get(built_in, "General"))
    return codes


def read_struck(root: Element | None) -> list[bool]:
    """Read for each cell style whether it is struck out."""
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


def format_number(value: float, code: str, from_1904: bool = False) -> str:
    """Format a number by a code; by General if the code is unsupported or hides the number."""
    if not abs(value) < 1e300:
        return general(value)
    tokens, size = section_for(code, value)
    if is_date(tokens):
        return format_date(value, tokens, from_1904) or general(value)
    if any(token.kind == "code" and token.text.lower() in _GENERAL for token in tokens):
        return format_general(general(size), tokens).strip()
    try:
        text = format_digits(size, tokens).strip()
    except (InvalidOperation, OverflowError):
        return general(value)
    has_words = any(token.kind == "literal" for token in tokens)
    return text if text or has_words else general(value)


def general(value: float) -> str:
    """Write up to 10 significant digits, as many as fit a cell of usual width."""
    if value == int(value) and abs(value) < 1e11:
        return str(int(value))
    text = f"{value:.10g}".upper()
    return text.replace("E-0", "E-").replace("E+0", "E+")


def format_general(number: str, tokens: Sequence[FormatToken]) -> str:
    """Write the words of a format, with the number in place of its codes."""
    parts = []
    for token in tokens:
        parts.append(number if token.kind == "code" else token.text)
    return "".join(parts)


def format_digits(value: float, tokens: list[FormatToken]) -> str:
    if not any(token.is_place for token in tokens):
        return "".join(token.text for token in tokens if is_as_written(token))
    sign = "-" if value < 0 else ""
    percents = tokens.count(FormatToken("code", "%"))
    number = abs(Decimal(repr(value))) * 100**percents
    if _SLASH in tokens:
        return sign + format_fraction(number, tokens)
    for position, token in enumerate(tokens):
        if token.kind == "code" and token.text[0] in "Ee":
            return sign + format_scientific(number, tokens[:position], tokens[position:])
    return format_decimal(number, sign, tokens)


def is_as_written(token: FormatToken) -> bool:
    return token.kind == "literal" or token.text == "%"


def count_places(tokens: Sequence[FormatToken]) -> int:
    """Count the places of digits."""
    return sum(token.is_place for token in tokens)


def find_point(tokens: list[FormatToken]) -> int:
    """Find the decimal point; the end without one."""
    return tokens.index(_POINT) if _POINT in tokens else len(tokens)


def format_scientific(
    number: Decimal, mantissa: list[FormatToken], power: list[FormatToken]
) -> str:
    """Format a number with an exponent. mantissa, power: tokens before the "E" and from it on."""
    decimals = count_places(mantissa[find_point(mantissa) :])
    digits, exponent = f"{number:.{decimals}E}".split("E")
    sign = exponent[0]
    size = exponent[1:].zfill(power.count(_ZERO))
    return f"{digits}E{sign}{size}"


def format_decimal(number: Decimal, sign: str, tokens: list[FormatToken]) -> str:
    point = find_point(tokens)
    before = tokens[:point]
    after = tokens[point:]
    places = [position for position, token in enumerate(before) if token.is_place]
    is_grouped = False
    if places:
        # Commas between digits group thousands; each one after the last digit divides by 1,000.
        first, last = places[0], places[-1]
        is_grouped = _COMMA in tokens[first:last]
        thousands = tokens[last:].count(_COMMA)
        number /= 1000**thousands
    unit = Decimal(1).scaleb(-count_places(after))
    rounded = number.quantize(unit, ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    text = format_whole(whole, before, is_grouped)
    text += format_decimals(decimals, after)
    return sign + text if rounded else text


def format_whole(digits: str, tokens: list[FormatToken], is_grouped: bool) -> str:
    """Put the digits before the point into their places, from the right."""
    waiting = list(digits.lstrip("0"))
    places_left = count_places(tokens)
    written = 0
    parts = []
    for token in reversed(tokens):
        if is_as_written(token):
            parts.append(token.text)
        if not token.is_place:
            continue
        places_left -= 1
        # The first place takes all remaining digits.
        room = len(waiting) if places_left == 0 else 1
        for _ in range(max(1, room)):
            blank = "0" if token.text == "0" else ""
            digit = waiting.pop() if waiting else blank
            ends_group = written > 0 and written % 3 == 0
            if is_grouped and digit and ends_group:
                parts.append(",")
            parts.append(digit)
            written += len(digit)
    return "".join(reversed(parts))


def format_decimals(digits: str, tokens: list[FormatToken]) -> str:
    """Write the point and the digits after it; a zero for # or ? is left out."""
    needed = count_needed(digits, tokens)
    waiting = iter(digits[:needed])
    parts = []
    for token in tokens:
        if token == _POINT or is_as_written(token):
            parts.append(token.text)
        elif token.is_place:
            parts.append(next(waiting, ""))
    text = "".join(parts)
    return text if needed else text.rstrip(".")


def count_needed(digits: str, tokens: list[FormatToken]) -> int:
    """Count the digits that are written."""
    places = [token for token in tokens if token.is_place]
    needed = len(digits)
    for digit, place in zip(reversed(digits), reversed(places), strict=True):
        if digit != "0" or place == _ZERO:
            break
        needed -= 1
    return needed


def round_fraction(exact: Fraction, below: Sequence[FormatToken]) -> Fraction:
    """Round to a fraction. below: tokens after the slash."""
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


def format_fraction(number: Decimal, tokens: list[FormatToken]) -> str:
    """Format a fraction with the denominator of a format ("# ?/8"), or the best of as many
    digits."""
    slash = tokens.index(_SLASH)
    part = round_fraction(Fraction(number), tokens[slash + 1 :])
    if FormatToken("literal", " ") not in tokens[:slash]:
        return f"{part.numerator}/{part.denominator}"
    whole, rest = divmod(part.numerator, part.denominator)
    if not rest:
        return str(whole)
    fraction = f"{rest}/{part.denominator}"
    return f"{whole} {fraction}" if whole else fraction
