"""Which words a corpus writes small: so a heading's capitals can be told from those of names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ombud.lab.synthesis.phrasing import WORD, is_determined, listed, words_of

# Not the parts of addresses.
_SMALL = re.compile(r"(?<![.@/#\w-])[a-z]+(?:[-'’][a-z]+)*\b(?![.@/]\w)")
_UPPER = re.compile(r"\b[A-Z]{2,}\b")
# Only capitals in the middle of a sentence say anything.
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?:[-'’][a-z]+)*\b")
_INSIDE = re.compile(r"[a-z,] ")
_POSSESSIVE = ("'s", "’s")
_ALWAYS = {"I": "I", "May": "May", "A": "a", "An": "an", "The": "the"}
_ARTICLES = (" the ", " a ", " an ", " our ", "your ")


class CorpusVocabulary:
    """How often each word of a corpus is written small, with a capital, or in capitals alone."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)
        self._small_text: str | None = None
        self._lowered_phrases: dict[str, str] = {}
        self._small = Counter(_SMALL.findall(self._text))
        self._upper = Counter(_UPPER.findall(self._text))
        self._capital = Counter(_CAPITAL.findall(self._text))

    def lowered(self, phrase: str) -> str:
        """The phrase as it would stand inside a sentence."""
        if phrase not in self._lowered_phrases:
            self._lowered_phrases[phrase] = self._lowered(phrase)
        return self._lowered_phrases[phrase]

    def _lowered(self, phrase: str) -> str:
        shouted = phrase.isupper() and len(phrase.split()) > 1
        further = words_of(phrase)[1:]
        capitalised = any(word[0].isupper() for word in further)
        if capitalised and not shouted and self._is_title(phrase):
            return phrase
        return WORD.sub(lambda match: self._word(match.group(), shouted), phrase)

    def with_article(self, subject: str) -> str:
        """The subject with `the` where the corpus mostly writes it with an article or a pronoun."""
        if is_determined(subject):
            return subject
        if self._small_text is None:
            self._small_text = self._text.lower()
        places = 0
        articles = 0
        for place in _places(self._small_text, subject.lower()):
            places += 1
            before = self._small_text[max(0, place - 5) : place]
            articles += before.endswith(_ARTICLES)
        return f"the {subject}" if articles and articles * 2 >= places else subject

    def common(self, phrase: str) -> str:
        """The phrase in small letters but for words that are never written so."""

        def lower(match: re.Match[str]) -> str:
            word = match.group()
            return word.lower() if self._is_written_small(word) else word

        return WORD.sub(lower, phrase)

    def is_name(self, phrase: str) -> bool:
        """Whether a person is called by name in it."""
        words = words_of(phrase)
        for word, after in pairwise([*words, ""]):
            if not _is_first_name(word):
                continue
            if len(words) == 1 or word.endswith(_POSSESSIVE):
                return True
            if after[:1].isupper() and not self._is_common(after):
                return True
        return False

    def _is_written_small(self, word: str) -> bool:
        if word[1:].islower():
            return self._small[word.lower()] > 0 or not self._capital[word]
        return word.isupper() and self._small[word.lower()] > 0

    def _is_title(self, phrase: str) -> bool:
        """Whether the corpus writes the phrase with its capitals inside sentences too."""
        for word in words_of(phrase):
            if not word[0].isupper() and word not in listed("stop"):
                return False
        inside = 0
        for place in _places(self._text, phrase):
            inside += bool(_INSIDE.match(self._text[place - 2 : place]))
        return inside > self._text.count(f" {phrase.lower()}")

    def _word(self, word: str, shouted: bool) -> str:
        """shouted: the phrase around it is in capitals alone."""
        small = self._small[word.lower()]
        if word.islower() and not small and self._capital[word.capitalize()] > 2:
            # Titles made of file names are all small.
            return word.capitalize()
        if word in _ALWAYS:
            return _ALWAYS[word]
        if word.isupper() and len(word) > 1:
            is_small = small > (0 if shouted else 2 * self._upper[word])
        else:
            is_small = _is_capitalised(word) and small * 2 >= self._capital[word]
        return word.lower() if is_small else word

    def _is_common(self, word: str) -> bool:
        return self._small[word.lower()] > self._capital[word]


def _is_first_name(word: str) -> bool:
    if not word[0].isupper():
        return False
    return word.removesuffix("'s").removesuffix("’s").lower() in listed("names")


def _is_capitalised(word: str) -> bool:
    """`Travel`, `Mother-in-law`: one capital at its beginning."""
    letters = word[1:].replace("'", "").replace("’", "").replace("-", "")
    return word[0].isupper() and letters.islower()


def _places(text: str, phrase: str) -> Iterator[int]:
    """Where a phrase stands; many times faster than a pattern on megabytes."""
    place = text.find(phrase) if phrase else -1
    while place >= 0:
        yield place
        place = text.find(phrase, place + len(phrase))
