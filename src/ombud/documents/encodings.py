"""Decode bytes: by a byte order mark, by the declared encoding, as UTF-8, else by a guess, which is
reported if it is uncertain.

charset-normalizer takes short Western European texts for Mac Roman, Baltic or Chinese, so it is
only used for other scripts. Between Latin encodings the one wins in which the text is plainest in
its language."""

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
"""The most usual one first: it wins unless another explains the text better."""
_OTHERS = [
    "cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "gb18030", "big5",
    "cp932", "euc_jp", "cp949",
]  # fmt: skip
_AS_BROWSERS_DO = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030",
    "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
"""Declared encoding -> the superset that browsers read it as."""


class Decoded(NamedTuple):
    text: str
    loss: Loss = Loss()
    """Uncertain encodings and unreadable characters."""


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decode a file. declared: the encoding that it names itself.

    Raises SourceError for binary data, and if the encoding cannot be determined."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace").removeprefix("\ufeff")
            return check_text(text)
    named = decode_declared(data, declared)
    if named is not None:
        return check_text(named)
    if data.count(0) > len(data) // 1000:
        return check_text(decode_utf_16(data))
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if not broken:
        return Decoded(text)
    if sum(character > "\x7f" for character in text) > 2 * broken:
        # Most characters beyond ASCII are UTF-8: a few bytes are damaged.
        return Decoded(text, Loss(undecodable=broken))
    # Bytes beyond ASCII stand one by one between ASCII letters in Latin scripts, else in runs.
    beyond_ascii = sum(byte > 127 for byte in data)
    in_runs = sum(map(len, re.findall(rb"[\x80-\xff]{3,}", data)))
    guess = guess_latin(data) if 2 * in_runs < beyond_ascii else guess_other(data)
    if guess is None:
        raise SourceError(
            "The encoding of the file cannot be determined.", hint="Save it again as UTF-8."
        )
    check_text(guess.text)
    return guess


def decode_declared(data: bytes, declared: str) -> str | None:
    """Decode by the encoding that the file names; None if that is unknown or wrong."""
    try:
        encoding = codecs.lookup(declared).name
        return data.decode(_AS_BROWSERS_DO.get(encoding, encoding))
    except (LookupError, ValueError, TypeError):
        return None


def check_text(text: str) -> Decoded:
    """Check a decoded text; raises SourceError if the file was not text."""
    beginning = text[:10_000]
    if "\ufffd" not in text and "".join(beginning.split()).isprintable():
        return Decoded(text)
    strange = sum(map(beginning.count, filter(is_strange, set(beginning))))
    if strange > len(beginning) // 50:
        raise not_text_error()
    return Decoded(text, Loss(undecodable=text.count("\ufffd")))


def not_text_error() -> SourceError:
    return SourceError("The file is not text.", hint="Give it the ending of its real format.")


def is_strange(character: str) -> bool:
    """Tell whether a character occurs in no text: undecodable, control and unassigned
    characters."""
    if character == "\ufffd" or unicodedata.category(character) in {"Cn", "Cs"}:
        return True
    return character < " " and character not in "\t\r\n\f"


def decode_utf_16(data: bytes) -> str:
    """Decode UTF-16, in which every other byte of ASCII is a zero; raises SourceError."""
    zeros_first, zeros_second = data[::2].count(0), data[1::2].count(0)
    encoding = "utf-16-be" if zeros_first > zeros_second else "utf-16-le"
    is_mixed = min(zeros_first, zeros_second) > len(data) // 100
    if is_mixed or max(zeros_first, zeros_second) < len(data) // 5:
        raise not_text_error()
    return data.decode(encoding, errors="replace")


def guess_latin(data: bytes) -> Decoded | None:
    """Decode in the Latin encoding in which the text's language is plainest; None if none fits."""
    texts = {encoding: text for encoding in _LATIN if (text := decode_strictly(data, encoding))}
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


def decode_strictly(data: bytes, encoding: str) -> str:
    """Decode; empty if a byte is undefined in the encoding or a control character."""
    try:
        text = data.decode(encoding)
    except ValueError:
        return ""
    return "" if re.search("[\x7f-\x9f]", text) else text


def guess_other(data: bytes) -> Decoded | None:
    """Decode by charset-normalizer; None if two encodings explain the text equally well."""
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
