"""How widely a statement holds: "all", "always", "normally"."""

import re
from functools import cache

from ombud.text.dates import MONTHS
from ombud.text.scope.parties import leading_party
from ombud.text.scope.vocabulary import scope_words
from ombud.text.wording import term_pattern

_DENIED_ANY = re.compile(
    r"\b(?:not|never|no|nobody|without|cannot|n't|if|unless|whether|neither|nor|none|nothing"
    r"|before)\b[^.;]{0,60}\b(?:any\w*|all|every\w*|each|always)\b"
)
_MONTHS = "|".join(MONTHS)
_FLOATING = re.compile(
    r"\bevery (?:\d|two|three|four|five|six|second|third|other|day|week|month|quarter|year|time\b"
    rf"|{_MONTHS})\w*"
    r"|\b(?:you|they|we|must|may|can|will|are|have|should) all\b|\ball (?=by |three|two|four)"
    r"|\b(?:anything|anyone|everything|anybody|everyone) (?:more|less|longer|shorter|else|above"
    r"|below|over|beyond|who|that|present)\b|\bany other\b|,? all \w+ by you"
)
"""A rate, or a word that stands for what was just named."""
_ONLY = re.compile(r"\b(?:only|solely|exclusively) (?:the |your |an? )?")


def wide_words(text: str) -> list[str]:
    """Words in a text of small letters by which it holds for everyone, everything or always; not
    the "any" of a denial or a condition."""
    said = _pattern("bound").sub(" ", text)
    said = _DENIED_ANY.sub(" ", said)
    said = _FLOATING.sub(" ", said)
    return _pattern("wide").findall(said)


def licenses_wide(text: str) -> bool:
    """Whether a passage of small letters speaks of everyone, everything or each."""
    return bool(_pattern("licensing").search(text))


def names_only(text: str) -> bool:
    """Whether it holds for one alone: "only the manager may"."""
    return any(leading_party(text[match.end() :]) for match in _ONLY.finditer(text))


def may_be_only(text: str) -> bool:
    """Whether a passage limits or denies at all, so that "only" may sum it up."""
    return bool(_pattern("restricting").search(text))


def is_hedged(text: str) -> bool:
    return bool(_pattern("hedges").search(text))


def is_certain(text: str) -> bool:
    return bool(_pattern("certain").search(text))


def excepts(text: str) -> bool:
    return bool(_pattern("exceptions").search(text))


def rules_out_exceptions(text: str) -> bool:
    return bool(_pattern("never").search(text))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return term_pattern(scope_words()["quantifiers"][name])
