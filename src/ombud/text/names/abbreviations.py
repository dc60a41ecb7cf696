"""Abbreviations that a text explains where it first uses them: "Annual Cash Bonus (ACB)", "ACB
(Annual Cash Bonus)".

The algorithm is that of Schwartz and Hearst, "A Simple Algorithm for Identifying Abbreviation
Definitions in Biomedical Text", Pacific Symposium on Biocomputing 2003: a short form in or before
brackets, and the shortest words beside it in which its characters occur in order, the first one at
the beginning of a word. Policies have more brackets that explain nothing than papers have, so its
rules are stricter here (`is_short`, `is_long`, `at_start`, `find_abbreviations`); and where the
initials of the last words are the short form, these words are taken: the shortest ones would make
"to Travel Permit" of "Time to Travel Permit (TTP)"."""

import re
from collections.abc import Iterator

from ombud.text.phrases import WORD, word_runs
from ombud.text.sentences import split_sentences


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MOST_CHARACTERS = 120
_LEAST_LONGER = 3
"""Characters that an expansion has more than its abbreviation."""
_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
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
_CODE_MARKS = frozenset("()[]<>")
_MOST_LETTERS = 3
"""Letters of a short form that may lie inside a word: two names in a row explain each other
rarely."""
_LOOKED_BACK = 2 * _MOST_CHARACTERS
"""Characters before a bracket that may hold an expansion with the marks around it; the whole
sentence would make a long one with many brackets quadratic."""


def find_abbreviations(text: str, language: str = "en") -> list[tuple[str, str]]:
    """Return the (abbreviation, expansion) pairs that `text` defines, in order and without
    repetition.

    An abbreviation that the text also writes as a word in small letters ("AID" and "aid") is left
    out, because every question with that word would match."""
    definitions: list[tuple[str, str]] = []
    for start, end in split_sentences(text, language):
        sentence = text[start:end]
        definitions += _definitions(sentence)
    if not definitions:
        return []
    words = set(word_runs(text))
    distinct = dict.fromkeys(definitions)
    return [pair for pair in distinct if pair[0].lower() not in words]


def _definitions(sentence: str) -> Iterator[tuple[str, str]]:
    for bracket in _BRACKETS.finditer(sentence):
        before = _words_before(sentence, bracket.start())
        definition = _definition(before, bracket[1])
        if definition:
            yield definition


def _words_before(sentence: str, end: int) -> str:
    """Return the whole words near enough to `end` to be an expansion."""
    start = max(0, end - _LOOKED_BACK)
    before = sentence[start:end]
    if start and not sentence[start - 1].isspace():
        _, _, before = before.partition(" ")
    return before


def _definition(before: str, inside: str) -> tuple[str, str] | None:
    """Return what a bracket defines with the words before it; None if nothing."""
    beginning, *_ = re.split(r"[,;]\s", inside, maxsplit=1)
    inside = beginning.strip(_MARKS)
    *_, part_before = _EDGE.split(before.rstrip(_MARKS))
    words_before = part_before.split()
    if is_short(inside):
        return short_inside(inside, words_before)
    if not words_before:
        return None
    short = words_before[-1].strip(_MARKS)
    if not is_short(short):
        return None
    return long_inside(short, inside)


def short_inside(short: str, words_before: list[str]) -> tuple[str, str] | None:
    """Match "Annual Cash Bonus (ACB)"."""
    longest = _longest(short)
    words = " ".join(words_before[-longest:])
    long = by_initials(short, words) or _shortest(short, words)
    if not long or not is_long(short, long):
        return None
    return short, long


def long_inside(short: str, inside: str) -> tuple[str, str] | None:
    """Match "ACB (Annual Cash Bonus)": the whole bracket is the expansion, or none of it."""
    words = inside
    parts = inside.split()
    if len(parts) > _longest(short):
        return None
    if len(parts) > 1 and parts[0].lower() in _OPENERS:
        words = " ".join(parts[1:])
    is_whole = words in (by_initials(short, words), _shortest(short, words))
    if not is_whole or not is_long(short, words):
        return None
    return short, words


def _longest(short: str) -> int:
    """Return the most words of a long form: min(|A| + 5, 2|A|) for |A| characters of the short
    one."""
    return min(len(short) + 5, 2 * len(short))


def is_short(text: str) -> bool:
    """Tell whether a word can be an abbreviation: two to ten characters without a blank, at least
    two capitals or one beside a digit ("R&D", "W2", "LoA")."""
    if not _SHORT.fullmatch(text) or text in _NO_SHORT:
        return False
    capitals = sum(map(str.isupper, text))
    if capitals >= 2:
        return True
    has_figure = any(map(str.isdigit, text))
    return capitals == 1 and has_figure and text[0].isalpha()


def by_initials(short: str, words: str) -> str:
    """Return the last words whose initials are the letters of `short`, small words counted or
    not."""
    parts = list(WORD.finditer(words))
    content = [part for part in parts if part[0].lower() not in _LINKS]
    for candidates in (content, parts):
        start = start_of_initials(_letters(short), candidates)
        if start is not None:
            return words[start:].strip(_MARKS)
    return ""


def start_of_initials(letters: list[str], parts: list[re.Match[str]]) -> int | None:
    """Return where the words with these initials begin, read from the end."""
    if len(parts) < len(letters):
        return None
    ending = parts[len(parts) - len(letters) :]
    if [part.group()[0].lower() for part in ending] != letters:
        return None
    return ending[0].start()


def _letters(short: str) -> list[str]:
    return [character.lower() for character in short if character.isalnum()]


def _shortest(short: str, words: str) -> str:
    """Return the fewest last words that have the characters of `short` in order, the first one at a
    word's beginning."""
    place = len(words)
    for index in range(len(short) - 1, -1, -1):
        wanted = short[index].lower()
        if not wanted.isalnum():
            continue
        place = place_before(place, wanted, words, begins_word=index == 0)
        if place < 0:
            return ""
    return words[place:].strip(_MARKS)


def place_before(end: int, wanted: str, words: str, *, begins_word: bool) -> int:
    """Return the last place of a character before `end`; -1 if there is none."""
    for place in range(end - 1, -1, -1):
        if words[place].lower() != wanted:
            continue
        if not begins_word or place == 0 or not words[place - 1].isalnum():
            return place
    return -1


def is_long(short: str, long: str) -> bool:
    """Tell whether words can be an expansion: longer than the short form, without it, and at most
    one content word unaccounted for."""
    if len(long) > _MOST_CHARACTERS or len(long) < len(short) + _LEAST_LONGER:
        return False
    if not _CODE_MARKS.isdisjoint(long):
        return False
    words = WORD.findall(long.lower())
    first = words[0]
    if first in _OPENERS or first in _LINKS:
        return False
    if short.lower() in words or any(map(str.isdigit, words)):
        return False
    return at_start(short, words)


def at_start(short: str, words: list[str]) -> bool:
    """Tell whether the letters are mostly initials: at least half of them, and of all content words
    but one."""
    letters = _letters(short)
    place = 0
    initials = 0
    others = 0
    for word in words:
        if word in _LINKS:
            continue
        if word[0] in letters[place:]:
            place = letters.index(word[0], place) + 1
            initials += 1
        else:
            others += 1
    inside_words = len(letters) - initials
    return inside_words <= min(initials, _MOST_LETTERS) and others <= 1
