"""Bytes become text: by a byte order mark, by what the file declares, as UTF-8, else by a guess
that says so where it is not certain.

charset-normalizer alone takes short texts of Western Europe for Mac Roman, Baltic or Chinese. So it
is asked only for scripts that are not Latin, where it is right; between Latin encodings the
language decides that the text then makes sense in."""

import codecs
import re
import unicodedata
from typing import NamedTuple

from ombud.errors import SourceError
from ombud.text import language_margin
from ombud.types import Loss

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LATIN = (
    "cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "cp850", "cp852", "mac_roman",
)  # fmt: skip
"""The usual one first: it is taken where the others explain the text no better."""
_OTHERS = [
    "cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "gb18030", "big5",
    "cp932", "euc_jp", "cp949",
]  # fmt: skip
_AS_BROWSERS_DO = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030",
    "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
"""What files hold that declare one of these."""


class Decoded(NamedTuple):
    text: str
    loss: Loss = Loss()
    """What is not certain, or could not be read."""


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text of a file. declared: the encoding that it names itself.

    Raises SourceError for binary data and where the encoding cannot be determined."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace").removeprefix("\ufeff")
            return _checked(text)
    named = _declared(data, declared)
    if named is not None:
        return _checked(named)
    if data.count(0) > len(data) // 1000:
        return _checked(_utf_16(data))
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if not broken:
        return Decoded(text)
    if sum(character > "\x7f" for character in text) > 2 * broken:
        # Most of what is not ASCII is UTF-8: a few bytes were damaged.
        return Decoded(text, Loss(undecodable=broken))
    guess = _guessed_latin(data) if _is_latin(data) else _guessed_other(data)
    if guess is None:
        raise SourceError(
            "The encoding of the file cannot be determined.", hint="Save it again as UTF-8."
        )
    _checked(guess.text)
    return guess


def _declared(data: bytes, declared: str) -> str | None:
    """The text by the encoding that the file names; None where that is none or wrong."""
    try:
        encoding = codecs.lookup(declared).name
        return data.decode(_AS_BROWSERS_DO.get(encoding, encoding))
    except (LookupError, ValueError, TypeError):
        return None


def _checked(text: str) -> Decoded:
    """The text; raises SourceError for what was none before it was decoded."""
    beginning = text[:10_000]
    strange = sum(map(beginning.count, filter(_is_strange, set(beginning))))
    if strange > len(beginning) // 50:
        raise _not_text()
    return Decoded(text, Loss(undecodable=text.count("\ufffd")))


def _not_text() -> SourceError:
    return SourceError("The file is not text.", hint="Give it the ending of its real format.")


def _is_strange(character: str) -> bool:
    """Tell whether it stands in no text: what could not be decoded, control characters, and what
    Unicode has no character for."""
    if character == "\ufffd" or unicodedata.category(character) in {"Cn", "Cs"}:
        return True
    return character < " " and character not in "\t\r\n\f"


def _utf_16(data: bytes) -> str:
    """Text in which every other byte is a zero, as ASCII in UTF-16 is; raises SourceError."""
    zeros_first, zeros_second = data[::2].count(0), data[1::2].count(0)
    encoding = "utf-16-be" if zeros_first > zeros_second else "utf-16-le"
    is_mixed = min(zeros_first, zeros_second) > len(data) // 100
    if is_mixed or max(zeros_first, zeros_second) < len(data) // 5:
        raise _not_text()
    return data.decode(encoding, errors="replace")


def _is_latin(data: bytes) -> bool:
    """Tell whether bytes beyond ASCII stand one by one, between letters of ASCII."""
    beyond = sum(byte > 127 for byte in data)
    in_runs = sum(map(len, re.findall(rb"[\x80-\xff]{3,}", data)))
    return 2 * in_runs < beyond


def _guessed_latin(data: bytes) -> Decoded | None:
    """The text in the encoding in which its language is plainest; None where none fits."""
    texts = {encoding: text for encoding in _LATIN if (text := _strictly(data, encoding))}
    if not texts:
        return None
    sense = {}
    for encoding, text in texts.items():
        telling = [line for line in text.splitlines() if not line.isascii()]
        sense[encoding] = language_margin("\n".join(telling))
    best = max(sense, key=lambda encoding: sense[encoding])
    usual = _LATIN[0]
    if usual in texts and sense[best] < sense[usual] + 1:
        best = usual
        doubt = 0.0
    else:
        rivals = [sense[encoding] for encoding in texts if texts[encoding] != texts[best]]
        doubt = max(rivals, default=0.0)
    is_certain = sense[best] - doubt >= 1
    notes = () if is_certain else (f"its encoding was guessed ({best})",)
    return Decoded(texts[best], Loss(notes=notes))


def _strictly(data: bytes, encoding: str) -> str:
    """The text; empty where a byte means nothing in the encoding, or a control character."""
    try:
        text = data.decode(encoding)
    except ValueError:
        return ""
    return "" if re.search("[\x7f-\x9f]", text) else text


def _guessed_other(data: bytes) -> Decoded | None:
    """The text by charset-normalizer; None where two encodings explain it alike."""
    from charset_normalizer import from_bytes

    matches = from_bytes(data, cp_isolation=_OTHERS)
    best = matches.best()
    if best is None:
        return None
    for other in matches:
        is_as_good = (other.chaos, other.coherence) == (best.chaos, best.coherence)
        if is_as_good and str(other) != str(best):
            return None
    return Decoded(str(best))
