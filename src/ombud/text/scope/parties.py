"""Who a statement speaks of and who acts in it: "you", "your manager", "HR"."""

import re
from functools import cache, lru_cache

from ombud.text.scope.vocabulary import scope_words
from ombud.text.wording import beginning

EMPLOYEE = "employee"
COMPANY = "company"
_OPENING = (
    r"^\W*(?:(?:yes|no|also|then|as|for|only|all|the|your|a|an|any|every|each|both|our|line"
    r"|most|new|some|these|those|other|further|however|and|or|but|so)\b[\s,]*)*"
)


@lru_cache(maxsize=4096)
def parties_in(text: str) -> frozenset[str]:
    """Groups of `scope.toml` that a text in small letters names."""
    return frozenset(party for party, _, _ in party_spans(text))


@lru_cache(maxsize=4096)
def leading_party(text: str) -> str:
    """Of a clause in small letters: who it begins with; empty where that is nobody."""
    opening = _opening().match(text)
    if not opening:
        return ""
    for party, start, _ in party_spans(text):
        if start == opening.end():
            return party
    return ""


@lru_cache(maxsize=8192)
def party_spans(text: str) -> tuple[tuple[str, int, int], ...]:
    """(party, start, end) in reading order."""
    found: list[tuple[str, int, int]] = []
    for match in _pattern().finditer(text):
        found.append((str(match.lastgroup), match.start(), match.end()))
    return tuple(found)


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(_OPENING)


@cache
def _pattern() -> re.Pattern[str]:
    groups: list[str] = []
    words_of_all: list[str] = []
    # Longer names first, so that a works council is no council of something else.
    for party, words in scope_words()["parties"].items():
        alternatives = sorted(words, key=_descending_length)
        words_of_all += alternatives
        either = "|".join(map(_alternative, alternatives))
        groups.append(f"(?P<{party}>{either})")
    groups.sort(key=_is_common)
    return re.compile(rf"\b{beginning(words_of_all)}(?:{'|'.join(groups)})(?!\w)")


def _descending_length(word: str) -> int:
    return -len(word)


def _is_common(group: str) -> bool:
    return group.startswith((f"(?P<{EMPLOYEE}>", f"(?P<{COMPANY}>"))


def _alternative(word: str) -> str:
    if word == "legal":  # "the legal minimum" is nobody
        return r"legal(?![ -](?!and\b|or\b|must\b|may\b)\w)"
    closed = re.escape(word.rstrip("*")).replace(r"\ ", r"[\s-]")
    return closed + r"\w*" if word.endswith("*") else closed
