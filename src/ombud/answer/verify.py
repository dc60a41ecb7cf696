"""Proof: what a claim says must stand in what it cites. Deterministic, so that it cannot be talked round."""

import re
import unicodedata
from collections.abc import Iterable

from ombud.index import analyse

SUPPORT = 0.5
"""Least share of a claim's content terms that must occur in the cited passages."""
UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
NUMBER_WORDS = {word: str(i) for i, word in enumerate(UNITS.split())} | {
    word: str(10 * i) for i, word in enumerate(TENS.split(), start=2)
}
COMPOUND = re.compile(rf"\b({'|'.join(TENS.split()[:-1])})[- ]({'|'.join(UNITS.split()[1:10])})\b")
NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|except|unless|\w+n't)\b", re.IGNORECASE
)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Whether `quote` is what stands at start:end of the stored text, white space and typographic quotes aside."""
    return bool(quote.strip()) and _plain(text[start:end]) == _plain(quote)


def disagreements(claim: str, cited: Iterable[str], language: str = "en") -> list[str]:
    """What in `claim` the cited texts do not bear out, said for a reader; empty = supported."""
    passages = list(cited)
    if not passages:
        return ["it cites nothing"]
    text = "\n".join(passages)
    said = [f"`{n}` is not in the cited text" for n in sorted(numbers(claim) - numbers(text))]
    said += [f"`{name}` is not in the cited text" for name in sorted(_names(claim) - _names(text, all_words=True))]
    terms = set(analyse(claim, language))
    held = terms & set(analyse(text, language))
    if terms and len(held) / len(terms) < SUPPORT:
        said.append("most of its words are not in the cited text")
    if NEGATIONS.search(claim) and not NEGATIONS.search(text):
        said.append("it denies something, the cited text does not")
    return said


def numbers(text: str) -> set[str]:
    """Numbers as plain decimals: "1,250.00" and "1.250,00" are 1250, "five" is 5, "twenty-five" is 25."""
    spelt = COMPOUND.sub(lambda m: str(int(NUMBER_WORDS[m[1]]) + int(NUMBER_WORDS[m[2]])), text.lower())
    found = {_decimal(n) for n in NUMBER.findall(spelt)}
    return found | {
        NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", spelt) if word in NUMBER_WORDS and word != "one"
    }


def _decimal(number: str) -> str:
    whole, mark, last = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", number).groups()  # type: ignore[union-attr]
    if not mark:
        return str(int(number))
    digits = re.sub(r"\D", "", whole)
    # Three digits after a mark are thousands, unless the number begins with a zero.
    if len(last) == 3 and digits.strip("0"):
        return str(int(digits + last))
    fraction = last.rstrip("0")
    return f"{int(digits)}.{fraction}" if fraction else str(int(digits))


def _names(text: str, all_words: bool = False) -> set[str]:
    """Words in capitals and names inside a sentence; of a source, every word, for it may begin one there."""
    pattern = r"[^\W_]+" if all_words else r"\b[A-Z]{2,}\b|(?<=[a-z,;:] )[A-Z][a-z]{2,}\b"
    return {word.casefold() for word in re.findall(pattern, text)}


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[‘’‚‛′]", "'", re.sub(r"[“”„‟″]", '"', text))
    return " ".join(text.split())
