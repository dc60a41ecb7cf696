"""Abbreviations that a text explains where it first uses them: "Annual Cash Bonus (ACB)", "ACB
(Annual Cash Bonus)".

The algorithm is that of Schwartz and Hearst, "A Simple Algorithm for Identifying Abbreviation
Definitions in Biomedical Text", Pacific Symposium on Biocomputing 2003: a short form in or before
brackets, and the shortest words beside it in which its characters occur in order, the first one at
the beginning of a word. Policies have more brackets that explain nothing than papers have, so its
rules are stricter here (`_is_short`, `_is_long`, `_at_start`, `_is_word`); and where the initials
of the last words are the short form, these words are taken: the shortest ones would make "to Travel
Permit" of "Time to Travel Permit (TTP)"."""

import re

from ombud.text.sentences import split_sentences


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MOST_CHARACTERS = 120
_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
_PART = re.compile(r"[^\W_]+")
_SHORT = re.compile(r"[^\W_](?:[^\W_]|[&/.-](?=[^\W_])|\.$){1,9}")
_MARKS = " \t\"'“”‘’«»„*_`|"
"""What stands around a term and is no part of it; in Markdown also emphasis and the edge of a
table's cell."""
_EDGE = re.compile(r"[,;:.!?|\n\t]\s*|\s[–—-]\s")
"""No term goes over one of these."""
_LINKS = _set("a an and at by de der des die du et for für in la le of on or the to und y")
_OPENERS = _set(
    "a an any each every our the this your das der die ein eine la le les un une el los"
)
_NO_SHORT = _set("I II III IV VI VII VIII IX XI XII AM PM NB OK NO YES USD EUR GBP CHF")
_MOST_LETTERS = 3
"""Letters of a short form that may lie inside a word: two names in a row explain each other
rarely."""


def find_abbreviations(text: str, language: str = "en") -> list[tuple[str, str]]:
    """(abbreviation, expansion) pairs that `text` defines, in the order of their first definition,
    each pair once.

    An abbreviation that the same text also writes in small letters as a word ("AID" and "aid") is
    left out, for it would be found in every question that has the word."""
    found: dict[tuple[str, str], None] = {}
    for start, end in split_sentences(text, language):
        sentence = text[start:end]
        for bracket in _BRACKETS.finditer(sentence):
            pair = _pair(sentence[: bracket.start()], bracket[1])
            if pair:
                found[pair] = None
    return [pair for pair in found if not _is_word(pair[0], text)]


def _pair(before: str, inside: str) -> tuple[str, str] | None:
    """The definition that a bracket makes with the words before it; None where it makes none."""
    inside = re.split(r"[,;]\s", inside, maxsplit=1)[0].strip(_MARKS)
    before = _EDGE.split(before.rstrip(_MARKS))[-1]
    if _is_short(inside):
        words = " ".join(before.split()[-_longest(inside) :])
        long = _by_initials(inside, words) or _shortest(inside, words)
        return (inside, long) if long and _is_long(inside, long) else None
    short = before.split()[-1].strip(_MARKS) if before.split() else ""
    if _is_short(short) and len(inside.split()) <= _longest(short):
        first, *others = inside.split()
        words = " ".join(others) if first.lower() in _OPENERS and others else inside
        # Here the whole bracket is the expansion, or none of it.
        whole = words in (_by_initials(short, words), _shortest(short, words))
        return (short, words) if whole and _is_long(short, words) else None
    return None


def _longest(short: str) -> int:
    """Words of a long form, at most: min(|A| + 5, 2|A|) for the |A| characters of the short one."""
    return min(len(short) + 5, 2 * len(short))


def _is_short(text: str) -> bool:
    """Two to ten characters without a blank, at least two capitals or one beside a figure ("R&D",
    "W2", "LoA")."""
    if not _SHORT.fullmatch(text) or text in _NO_SHORT:
        return False
    capitals = sum(c.isupper() for c in text)
    return capitals >= 2 or (capitals == 1 and any(c.isdigit() for c in text) and text[0].isalpha())


def _by_initials(short: str, words: str) -> str:
    """The end of `words` whose initials are the letters of `short`, small words with or without
    theirs."""
    letters = [c.lower() for c in short if c.isalnum()]
    parts = list(_PART.finditer(words))
    for skipping in (True, False):
        left = letters.copy()
        for part in reversed(parts):
            if skipping and part.group().lower() in _LINKS:
                continue
            if part.group()[0].lower() != left.pop():
                break
            if not left:
                return words[part.start() :].strip(_MARKS)
    return ""


def _shortest(short: str, words: str) -> str:
    """The shortest end of `words` that holds the characters of `short` in order, the first at a
    word's beginning."""
    place = len(words)
    for index in range(len(short) - 1, -1, -1):
        wanted = short[index].lower()
        if not wanted.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            words[place].lower() != wanted or (index == 0 and not _starts_word(words, place))
        ):
            place -= 1
        if place < 0:
            return ""
    return words[place:].strip(_MARKS)


def _starts_word(words: str, place: int) -> bool:
    return place == 0 or not words[place - 1].isalnum()


def _is_long(short: str, long: str) -> bool:
    """Longer than the short form, not holding it, its words accounted for: of those with a meaning
    at most one goes without a letter, else a sentence's words are taken for a name's."""
    parts = _PART.findall(long)
    if not len(short) + 2 < len(long) <= _MOST_CHARACTERS or short.lower() in (
        part.lower() for part in parts
    ):
        return False
    if (
        parts[0].lower() in _OPENERS | _LINKS
        or any(part.isdigit() for part in parts)
        or set(long) & set("()[]<>")
    ):
        return False
    return _at_start(short, parts)


def _at_start(short: str, parts: list[str]) -> bool:
    """Whether the letters are mostly initials: at least half of them, and of all words with a
    meaning but one."""
    letters = [c.lower() for c in short if c.isalnum()]
    words = [part.lower() for part in parts if part.lower() not in _LINKS]
    place, initials = 0, 0
    for word in words:
        if word[0] in letters[place:]:
            place, initials = letters.index(word[0], place) + 1, initials + 1
    return (
        2 * initials >= len(letters)
        and len(letters) - initials <= _MOST_LETTERS
        and len(words) - initials <= 1
    )


def _is_word(short: str, text: str) -> bool:
    return short.isalpha() and bool(re.search(rf"(?<!\w){re.escape(short.lower())}(?!\w)", text))
