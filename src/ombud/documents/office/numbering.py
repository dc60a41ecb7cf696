"""Automatic numbers of headings and items, counted by level and written in a format."""

DEEPEST = 9
"""Levels of a list."""
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class Counts:
    """The counters of a list, one for each level from 0."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def at(self, depth: int, start: int) -> int:
        """Return the number of a level, `start` if it has not begun."""
        return self._numbers.get(depth, start)

    def set(self, depth: int, number: int) -> None:
        self._numbers[depth] = number

    def begin(self, depth: int, start: int) -> None:
        """Count the first item of a level, unless it has begun."""
        self._numbers.setdefault(depth, start)

    def count(self, depth: int, start: int) -> int:
        """Count an item of a level and restart deeper ones. start: number of the first item."""
        number = self._numbers.get(depth)
        self.end(depth)
        self._numbers[depth] = start if number is None else number + 1
        return self._numbers[depth]

    def end(self, depth: int) -> None:
        """Restart the level and all deeper ones."""
        for ended in range(depth, DEEPEST):
            self._numbers.pop(ended, None)


def written(value: int, style: str) -> str:
    """Write a number in one of Word's formats: 4 -> 4, 04, d, D, iv, IV."""
    if style in {"lowerLetter", "upperLetter"} and value > 0:
        # z is followed by aa, then bb.
        rounds, position = divmod(value - 1, 26)
        letter = chr(ord("a") + position) * min(1 + rounds, 9)
        return letter if style == "lowerLetter" else letter.upper()
    if style in {"lowerRoman", "upperRoman"} and 0 < value < 4000:
        roman = roman_numeral(value)
        return roman if style == "lowerRoman" else roman.upper()
    return f"{value:02d}" if style == "decimalZero" else str(value)


def roman_numeral(value: int) -> str:
    numerals = []
    for size, letters in _ROMAN:
        numerals.append(letters * (value // size))
        value %= size
    return "".join(numerals)


def whole(text: str | None) -> int | None:
    """Parse a whole number of at most nine digits; None for anything else."""
    if text is None or len(text) >= 10:
        return None
    return int(text) if text.lstrip("-").isdigit() else None
