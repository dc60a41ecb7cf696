"""Mistyped words of a question, read as words that its documents have or that everyone knows.

Doubtful words stay as they were typed: a wrong reading is worse than none."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from ombud.text.language import detect_language

WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’][A-Za-zÀ-ɏ]+)*")
GLUED = re.compile(r"[\w@/\\#.:_+-]*[\d@/\\#_+.:][\w@/\\#.:_+-]*\w")
"""Numbers, addresses, paths, names of accounts: nothing in them is a word."""
PAIR = re.compile(r"(?<![\w@/#.'’-])(?=([A-Za-z]+) ([A-Za-z]+)(?![\w@/#'’-]))")
THOUSANDS = re.compile(
    r"(?<![\w.,'’/-])([1-9]\d{0,2})[kK](?![\w'’-])"
    r"(?!\s+(?:runs?|race|walk|steps|monitors?|screens?|displays?|resolution|tv|video)\b)"
)
"""50k; not a 10k run, nor a 4k monitor."""
PARTICLES = frozenset(["away", "back", "down", "into", "over", "with"])
"""What ends a verb: whoever has to "hand over work" asks for no handover of work."""
SHORTEST = 4
"""Letters below which every word is next to another."""
LONG = 7
"""Letters from which two edits still leave one word."""
LONGEST = 30
COMMON = 30_000
"""Rank up to which an English word that no document has may have been meant."""
VERY_COMMON = 4_000
"""The same for a word of few letters, and for the parts of two words written as one."""
APART = 3
"""How much oftener documents must have two words as one than the rarer of them."""
LOOKED_AT = 400
"""Characters of a message that are read; a longer one is found by its many words."""
MOST_UNKNOWN = 0.5
"""Share of words that are not English from which a message may be in another language."""
MOST_COST = 3.0
SURE = 0.9
"""Cost below which a word is read even in a message that may be."""
SLIP = 0.6
"""Cost of a slip of the hand: two letters swapped, one doubled."""
LEAST_WORTH = -4.5
"""Least likelihood of a reading: two edits to a rare word that documents lack are a guess."""
VOWELS = re.compile("[aeiouy]+")
SAME_SOUND = str.maketrans("czkq", "ssss")
SUFFIXES = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "able", "ful", "ish")
OTHERS = ("de", "fr", "es")


class SpellingChange(NamedTuple):
    typed: str
    meant: str


class SpellingReading(NamedTuple):
    text: str
    """As it was meant."""
    changes: tuple[SpellingChange, ...] = ()


class Vocabulary:
    """Words that count as right: those of documents, with how often they stand there, and English
    ones. Not changed once made, so any thread may ask it."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def holds(self, word: str) -> bool:
        if word in self._counts or is_english(word):
            return True
        return any(map(self._is_root, _roots(word)))

    def _is_root(self, word: str) -> bool:
        return word in self._counts or is_english(word)

    def only_inflects(self, word: str) -> bool:
        """Whether a word is held for an ending alone: the list has nearly all endings that English
        words take, so "submited" may well be a slip."""
        if word in self._counts or is_english(word) or not word.isalpha():
            return False
        return all(map(is_english, filter(self._is_root, _roots(word))))

    def count(self, word: str) -> int:
        """How often documents have it."""
        return self._counts.get(word, 0)

    def may_be_meant(self, word: str, typed: str, cost: float) -> bool:
        """Whether it is usual enough to have been meant, in place of what was typed."""
        if self.count(word) >= 2 or (word in _typed() and len(word) >= LONG):
            return True
        most = COMMON if len(typed) > 5 or cost <= SLIP else VERY_COMMON
        return english_ranks().get(word, COMMON + 1) <= most

    def near(self, word: str, most: int) -> list[str]:
        """Words at most so many edits away with the first letter of `word`; where there is none,
        those with another first letter."""
        candidates: list[str] = []
        for length in range(len(word) - most, len(word) + most + 1):
            candidates += self._by_start.get((word[0], length), ())
        rows = process.extract(
            word,
            candidates,
            scorer=OSA.distance,
            score_cutoff=most,
            limit=None,
        )
        if rows:
            return [str(row[0]) for row in rows]
        return sorted(_with_other_start(word) & self._candidates)

    @cached_property
    def _candidates(self) -> frozenset[str]:
        own = [word for word, count in self._counts.items() if count >= 2 and len(word) > 2]
        english = [word for word, rank in english_ranks().items() if rank <= COMMON]
        return frozenset([*own, *english, *_typed()])

    @cached_property
    def _by_start(self) -> dict[tuple[str, int], list[str]]:
        """By first letter and length."""
        words_of: dict[tuple[str, int], list[str]] = {}
        for word in sorted(self._candidates):
            words_of.setdefault((word[0], len(word)), []).append(word)
        return words_of


def _with_other_start(word: str) -> set[str]:
    """All that one edit makes of the first letter."""
    rest = word[1:]
    others = {rest, rest[0] + word[0] + rest[1:]}
    for letter in ascii_lowercase:
        others.update((letter + rest, letter + word))
    return others


def read_spelling(
    text: str, vocabulary: Vocabulary, kept: frozenset[str] = frozenset()
) -> SpellingReading:
    """The text with its mistyped words as they were meant; as it is where it is not English.

    kept: words, in lower case, that are right whatever the vocabulary says."""
    unknown = [word for word in unknown_words(text, vocabulary) if word.lower() not in kept]
    changes = _joined(text, unknown, vocabulary)
    for change in changes:
        unknown = [word for word in unknown if word not in change.typed.split()]
    most_cost = MOST_COST if _mostly_english(text) else SURE
    for word in dict.fromkeys(unknown):
        is_doubtful = vocabulary.holds(word.lower())
        most = min(most_cost, SLIP) if is_doubtful else most_cost
        meant = correction_of(word.lower(), vocabulary, most)
        if meant:
            changes.append(SpellingChange(word, _as_cased(meant, word)))
    return _applied(text, changes)


def spell_out(text: str) -> str:
    """A message in English with "whats" as "what's", "pls" as "please" and "50k" as "50,000"; in
    capitals short forms are abbreviations, and a 401k is no sum."""
    forms = _content()["short_forms"]

    def written(match: re.Match[str]) -> str:
        typed = match.group()
        meant = "" if typed.isupper() and len(typed) > 1 else forms.get(typed.lower())
        return _as_cased(meant, typed) if meant else typed

    text = THOUSANDS.sub(_thousands, text)
    return re.sub(r"(?<![\w@/#.'’-])[A-Za-z]+(?![\w@/#'’-]|\.\w)", written, text)


def _thousands(match: re.Match[str]) -> str:
    number = match[1]
    is_round = len(number) < 3 or number.endswith(("0", "5"))
    return f"{number},000" if is_round else match.group()


def unknown_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """Words of a message in English that are perhaps mistyped, as they stand there."""
    beginning = _beginning(text)
    words = list(surface_words(beginning))
    unknown: list[str] = []
    plain = any(map(str.islower, words[1:]))
    for place, word in enumerate(words):
        is_name = place > 0 and plain and word[0].isupper()
        if _is_candidate(word) and not is_name and not _is_right(word.lower(), vocabulary):
            unknown.append(word)
    if not unknown or not _is_english_message(beginning, words):
        return []
    return unknown


def _is_right(word: str, vocabulary: Vocabulary) -> bool:
    return vocabulary.holds(word) and not vocabulary.only_inflects(word)


def correction_of(word: str, vocabulary: Vocabulary, most_cost: float = MOST_COST) -> str:
    """What a word in lower case was meant to be; empty where that is not clear."""
    costs = _costs(word, vocabulary)
    best = _likeliest(costs, vocabulary)
    if most_cost == MOST_COST and (not best or costs[best] > 1.0):
        split = _split(word, vocabulary)
        if split:
            return split
    if not best or costs[best] > most_cost:
        return ""
    return best if _worth(best, costs[best], vocabulary) >= LEAST_WORTH else ""


def _costs(word: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Each word that may have been meant, and what it takes to get there."""
    most = 2 if len(word) >= LONG else 1
    costs: dict[str, float] = {}
    for candidate in vocabulary.near(word, most):
        cost = _cost(word, candidate)
        if vocabulary.may_be_meant(candidate, word, cost):
            costs[candidate] = cost
    for candidate in _by_sound(word):
        if vocabulary.may_be_meant(candidate, word, 1.0):
            costs[candidate] = min(costs.get(candidate, 1.0), 1.0)
    return costs


def _likeliest(costs: Mapping[str, float], vocabulary: Vocabulary) -> str:
    best, most = "", 0.0
    for word, cost in sorted(costs.items()):
        worth = _worth(word, cost, vocabulary)
        if not best or worth > most:
            best, most = word, worth
    return best


def surface_words(text: str) -> Iterator[str]:
    """Words of a text, without what is glued to figures or marks."""
    for match in WORD.finditer(GLUED.sub(_blank, text)):
        yield match.group()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _is_candidate(word: str) -> bool:
    """Neither short nor an abbreviation, a name, or in letters that English has not."""
    if not SHORTEST <= len(word) <= LONGEST or not (word.isascii() and word.isalpha()):
        return False
    if not VOWELS.search(word.lower()):
        return False
    return word.islower() or word.istitle()


def _is_english_message(text: str, words: list[str]) -> bool:
    """A message without English words may still be one, all mistyped: what stands in other
    languages' lists tells."""
    read = [word.lower() for word in words if len(word) > 1]
    for language in OTHERS:
        others = _stop_words(language)
        if any(word in others and not is_english(word) for word in read):
            return False
        if _function_words(read, language) > _function_words(read, "en"):
            return False
    if _function_words(read, "en") or _share_unknown(read) <= MOST_UNKNOWN:
        return True
    return detect_language(text) == "en"


def _mostly_english(text: str) -> bool:
    read = [word.lower() for word in surface_words(_beginning(text))]
    return _share_unknown(read) <= MOST_UNKNOWN


def _share_unknown(words: list[str]) -> float:
    longer = [word for word in words if len(word) > 2]
    unknown = [word for word in longer if not _is_known_english(word)]
    return len(unknown) / max(len(longer), 1)


def _is_known_english(word: str) -> bool:
    return is_english(word) or any(map(is_english, _roots(word)))


def is_english(word: str) -> bool:
    return word in english_ranks() or word in _typed()


def _roots(word: str) -> list[str]:
    """What may stand before an ending; "'s" too."""
    plain = re.sub(r"['’].*", "", word)
    roots = [] if plain == word else [plain]
    for suffix in SUFFIXES:
        root = word.removesuffix(suffix)
        if root != word and len(root) >= SHORTEST:
            roots.append(root)
    return roots


def _function_words(words: list[str], language: str) -> int:
    return sum(word in _stop_words(language) for word in words)


def _cost(typed: str, meant: str) -> float:
    """Edits, slips of the hand for less: doubled letters, swapped ones, vowels as they sound."""
    cost = float(OSA.distance(typed, meant))
    if _undoubled(typed) == _undoubled(meant):
        cost = 0.5
    elif sorted(typed) == sorted(meant):
        cost *= 0.6
    elif _as_heard(typed) == _as_heard(meant):
        cost *= 0.8
    if typed[0] != meant[0]:
        cost += 0.8
    if meant.startswith(typed) or typed.startswith(meant):
        # The end of a word is seldom left out, or too much.
        cost += 0.3
    if len(meant) < SHORTEST:
        cost += 0.4
    return cost


def _worth(word: str, cost: float, vocabulary: Vocabulary) -> float:
    """How likely a word was meant, up to a constant: near, in the documents, and usual."""
    own = math.log1p(vocabulary.count(word))
    rank = english_ranks().get(word, len(english_ranks()))
    usual = math.log(len(english_ranks()) / rank)
    return 0.4 * own + 0.25 * usual - 3.0 * cost


def _as_heard(word: str) -> str:
    return _undoubled(VOWELS.sub("-", word.translate(SAME_SOUND)))


def _undoubled(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", word)


def _by_sound(word: str) -> Iterator[str]:
    """The word with another spelling of its ending."""
    for ending, spellings in _content()["endings"].items():
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            yield from (stem + spelling for spelling in spellings)


def _split(word: str, vocabulary: Vocabulary) -> str:
    """Two words written as one; empty where that is not clear."""
    best, most = "", 0.0
    for place in range(1, len(word)):
        first, second = word[:place], word[place:]
        if not (_is_part(first, vocabulary) and _is_part(second, vocabulary)):
            continue
        if len(word) - max(len(first), len(second)) < 4 and _particles().isdisjoint(
            (first, second)
        ):
            continue
        ranks = english_ranks()
        usual = -math.log(ranks.get(first, COMMON)) - math.log(ranks.get(second, COMMON))
        if not best or usual > most:
            best, most = f"{first} {second}", usual
    return best


def _is_part(word: str, vocabulary: Vocabulary) -> bool:
    if len(word) < SHORTEST:
        return word in _particles()
    usual = english_ranks().get(word, COMMON) <= VERY_COMMON
    return usual or vocabulary.count(word) >= 5


def _joined(text: str, unknown: list[str], vocabulary: Vocabulary) -> list[SpellingChange]:
    """Words that were written as two, of which one is none: "a nother"; or that documents have as
    one far oftener than a part of them: "intern ships"."""
    changes: list[SpellingChange] = []
    last = ""
    for first, second in _pairs(text):
        if first == last:  # of a word that is joined already
            last = ""
            continue
        whole = (first + second).lower()
        if first in unknown or second in unknown:
            is_one = _is_usual(whole, vocabulary)
        else:
            is_one = _is_one_word(first.lower(), second.lower(), vocabulary)
        if is_one:
            changes.append(SpellingChange(f"{first} {second}", _as_cased(whole, first)))
            last = second
    return changes


def _is_usual(word: str, vocabulary: Vocabulary) -> bool:
    is_english = english_ranks().get(word, COMMON + 1) <= COMMON
    return is_english or (len(word) >= LONG and vocabulary.count(word) >= 2)


def may_be_joined(text: str) -> bool:
    """Whether two words of a message that are right by themselves are one English word, too."""
    pairs = _pairs(text.lower())
    return any(min(map(len, pair)) >= SHORTEST and is_english("".join(pair)) for pair in pairs)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Words of a message that stand side by side."""
    for match in PAIR.finditer(_beginning(text)):
        yield match[1], match[2]


def _is_one_word(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether documents have two words that are right by themselves as one."""
    parts = (first, second)
    if second in PARTICLES or any(len(part) < SHORTEST for part in parts):
        return False
    whole = first + second
    of_one = {whole, whole.removesuffix("s")}
    joined = sum(map(vocabulary.count, of_one))
    return joined >= max(2, APART * min(map(vocabulary.count, parts)))


def _as_cased(meant: str, typed: str) -> str:
    return meant[0].upper() + meant[1:] if typed[0].isupper() else meant


def _applied(text: str, changes: list[SpellingChange]) -> SpellingReading:
    if not changes:
        return SpellingReading(text)
    meant_of = {change.typed: change.meant for change in changes}
    typed = "|".join(map(re.escape, meant_of))
    beginning = _beginning(text)
    meant = re.sub(
        rf"(?<![\w@/#])(?:{typed})(?![\w@/#])",
        lambda match: meant_of[match.group()],
        beginning,
    )
    return SpellingReading(meant + text[len(beginning) :], tuple(changes))


def _beginning(text: str) -> str:
    """What is read of a message, in whole words."""
    if len(text) <= LOOKED_AT:
        return text
    return text[:LOOKED_AT].rpartition(" ")[0]


@cache
def english_ranks() -> dict[str, int]:
    """Word -> its place by frequency, from 1."""
    path = Path(__file__).with_name("english.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    words = [line for line in lines if line and not line.startswith("#")]
    return {word: rank for rank, word in enumerate(words, start=1)}


@cache
def _stop_words(language: str) -> frozenset[str]:
    path = Path(__file__).parent / "stopwords" / f"{language}.txt"
    return frozenset(path.read_text(encoding="utf-8").split())


@cache
def _particles() -> frozenset[str]:
    return frozenset(_content()["particles"].split())


@cache
def _typed() -> frozenset[str]:
    return frozenset(_content()["typed"].split())


@cache
def _content() -> dict[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
