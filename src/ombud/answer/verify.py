"""Proof: what a claim says must stand in what it cites. Deterministic, so that it cannot be talked round."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from ombud.index import analyse, measures, measures_named, numbers

SUPPORT = 0.5
"""Least share of a claim's content terms that must occur in the cited passages."""
NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|except|unless|\w+n't)\b", re.IGNORECASE
)
CURRENCIES = {"pound": "gbp", "euro": "eur", "dollar": "usd"}
DENIED = re.compile(r"\b(?:not|never|cannot|\w+n't)\s+(?:be\s+|\w+ly\s+)?(\w+)", re.IGNORECASE)


def check_quote(quote: str, text: str, start: int, end: int) -> bool:
    """Whether `quote` is what stands at start:end of the stored text, white space and typographic quotes aside."""
    return bool(quote.strip()) and _plain(text[start:end]) == _plain(quote)


def disagreements(claim: str, cited: Iterable[str], language: str = "en") -> list[str]:
    """What in `claim` the cited texts do not bear out, said for a reader; empty = supported."""
    passages = list(cited)
    if not passages:
        return ["it cites nothing"]
    claim, text = _plain(claim), _plain("\n".join(passages))
    named = measures_named(text)
    known = _names(text, all_words=True) | named | {CURRENCIES[unit] for unit in named if unit in CURRENCIES}
    missing = (numbers(claim) - numbers(text), _names(claim) - known, measures(claim) - named)
    said = [f"`{what}` is not in the cited text" for group in missing for what in sorted(group)]
    terms = set(analyse(claim, language))
    held = terms & set(analyse(text, language))
    if terms and len(held) / len(terms) < SUPPORT:
        said.append("most of its words are not in the cited text")
    if NEGATIONS.search(claim) and not NEGATIONS.search(text):
        said.append("it denies something, the cited text does not")
    if not NEGATIONS.search(claim) and terms & _denied(text, language):
        said.append("the cited text denies something, it does not")
    return said


def _denied(text: str, language: str) -> set[str]:
    """Terms that `text` only ever names to deny them, such as accept of "may not accept"."""
    denied = Counter(term for word in DENIED.findall(text) for term in analyse(word, language))
    said = Counter(analyse(text, language))
    return {term for term, count in denied.items() if said[term] <= count}


def _names(text: str, all_words: bool = False) -> set[str]:
    """Words in capitals and names inside a sentence; of a source, every word, for it may begin one there."""
    pattern = r"[^\W_]+" if all_words else r"\b[A-Z]{2,}\b|(?<=[a-z,;:] )[A-Z][a-z]{2,}\b"
    return {word.casefold() for word in re.findall(pattern, text)}


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[‘’‚‛′]", "'", re.sub(r"[“”„‟″]", '"', text))
    return " ".join(text.split())
