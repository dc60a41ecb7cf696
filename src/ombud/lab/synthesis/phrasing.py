"""How people put things: sentences of a passage, subjects of headings, styles of a question.
English only."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

STYLES = {"plain": 0.4, "terse": 0.2, "colloquial": 0.2, "typos": 0.2}
"""Style -> its share of the proposals."""

_WORD = re.compile(r"[^\W_]+(?:['’&-][^\W_]+)*")
_MARKS = re.compile(r"[*`~]+|(?<![\w])_+|_+(?![\w])|\\(?=\W)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_ITEM = re.compile(r"\s*(?:[-*•–·+]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?:\[[ xX]\]\s*)?")
_LEADING = re.compile(rf"^{_ITEM.pattern}|^\s*(?:#{{1,6}}|>)\s+")
_STOP = re.compile(r"[.!?]['\"”’)\]*_]*(\s+)(?=[\"'“(*_\[]{0,3}[A-Z0-9])")
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nos|mr|mrs|ms|dr|st|sec|art|inc|ltd|u\.s|approx)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:Q\s*[:.]|(?:§\s*|step|part|section|article|phase|chapter|appendix|annex|level|rule|tip|question)?\s*"
    r"[#\d][\d.\-–]*[a-z]?\s*[:.)–-]+|§\s*[\d.-]+|[IVX]{1,4}[.)])\s+",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"https?:|www\.|[@#<>{}=|$^;\\/\[\]~…→↗]|\.\w{2,4}\b|\.\.\.|[A-Z]{2,}_|\?$|_|\b[a-z]+[A-Z]"
)
VAGUE = re.compile(
    r"\b(?:this|these|those|it|that|they|them|here|above|below|else|there)\b", re.IGNORECASE
)
_FOREIGN = re.compile(r"[^\x20-\x7e\xa0-\xff‐-”…€]")


@cache
def data() -> dict[str, Any]:
    """The templates and word lists of questions.toml."""
    with Path(__file__).with_name("questions.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def listed(name: str) -> frozenset[str]:
    """One of the word lists of questions.toml."""
    return frozenset(data()["words"][name].split())


@cache
def phrases(name: str) -> re.Pattern[str]:
    """One of the phrase lists of questions.toml, as a pattern that starts at a word."""
    found = [phrase.strip() for phrase in data()["words"][name].split("|")]
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(phrase) for phrase in found)})(?!\w)", re.IGNORECASE
    )


def words_of(text: str) -> list[str]:
    """Words as they are written, without marks; hyphens and apostrophes stay inside."""
    return _WORD.findall(text)


def content(text: str) -> list[str]:
    """The words that carry the meaning, lower case."""
    return [
        word for word in (word.lower() for word in words_of(text)) if word not in listed("stop")
    ]


def plain(text: str) -> str:
    """Text as it is read out: no Markdown marks, no list marks, one line."""
    text = _LINK.sub(r"\1", text)
    lines = (_LEADING.sub("", line).strip() for line in text.split("\n"))
    return " ".join(_MARKS.sub("", " ".join(lines)).split())


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences and list items of a stretch, without list marks; table rows and
    headings are lines.

    A line that goes on in small letters after a line without a full stop is one sentence with it.
    """
    spans: list[tuple[int, int]] = []
    end = len(text) if end is None else end
    for line in re.finditer(r"[^\n]+(?:(?<![.!?:|\n])\n(?=[a-z])[^\n]+)*", text[start:end]):
        begin, stop = start + line.start(), start + line.end()
        mark = _ITEM.match(text, begin, stop)
        begin = mark.end() if mark else begin
        for cut in _STOP.finditer(text, begin, stop):
            if not _SHORT.search(text, max(begin, cut.start() - 12), cut.start() + 1):
                spans.append((begin, cut.start(1)))
                begin = cut.end()
        spans.append((begin, stop))
    trimmed = (
        (at + len(text[at:to]) - len(text[at:to].lstrip()), at + len(text[at:to].rstrip()))
        for at, to in spans
    )
    return [span for span in trimmed if span[0] < span[1]]


_DETERMINED = re.compile(
    r"(?:the|a|an|our|my|your|its|their|all|any|each|[\w-]+ing)\s", re.IGNORECASE
)


def determined(subject: str) -> str:
    """The subject with `the`, unless it has an article or is something that one does."""
    return subject if _DETERMINED.match(subject) else f"the {subject}"


def _places(text: str, phrase: str) -> list[int]:
    """Where a phrase stands; many times faster than a pattern on megabytes."""
    found, at = [], text.find(phrase) if phrase else -1
    while at >= 0:
        found.append(at)
        at = text.find(phrase, at + len(phrase))
    return found


# Not the parts of addresses.
_SMALL = re.compile(r"(?<![.@/#\w-])[a-z]+(?:[-'’][a-z]+)*\b(?![.@/]\w)")


class CorpusVocabulary:
    """Which words this corpus writes small: so a heading's capitals can be told from those of
    names."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)
        self._small_text: str | None = None
        self._known: dict[str, str] = {}
        self._small: Counter[str] = Counter(
            re.findall(r"(?<![.@/#\w-])[a-z]+(?:[-'’][a-z]+)*\b(?![.@/]\w)", self._text)
        )
        self._upper: Counter[str] = Counter(re.findall(r"\b[A-Z]{2,}\b", self._text))
        # Only capitals in the middle of a sentence say anything.
        self._capital: Counter[str] = Counter(
            re.findall(r"(?<=[a-z,] )[A-Z][a-z]+(?:[-'’][a-z]+)*\b", self._text)
        )

    def lowered(self, phrase: str) -> str:
        """The phrase as it would stand inside a sentence."""
        if phrase not in self._known:
            self._known[phrase] = self._lowered(phrase)
        return self._known[phrase]

    def _lowered(self, phrase: str) -> str:
        shouted = phrase.isupper() and len(phrase.split()) > 1
        found = words_of(phrase)
        if (
            len(found) > 1
            and not shouted
            and any(word[0].isupper() for word in found[1:])
            and self._named(phrase)
        ):
            return phrase
        return _WORD.sub(lambda match: self._word(match.group(), shouted), phrase)

    def with_article(self, subject: str) -> str:
        """The subject with `the` where the corpus mostly writes it with an article or a pronoun."""
        if _DETERMINED.match(subject):
            return subject
        if self._small_text is None:
            self._small_text = self._text.lower()
        small = subject.lower()
        places = _places(self._small_text, small)
        before = [self._small_text[max(0, at - 5) : at] for at in places]
        articles = sum(word.endswith((" the ", " a ", " an ", " our ", "your ")) for word in before)
        return f"the {subject}" if articles and articles * 2 >= len(places) else subject

    def common(self, phrase: str) -> str:
        """The phrase in small letters but for words that are never written so."""
        return _WORD.sub(
            lambda word: word.group().lower() if self._is_small(word.group()) else word.group(),
            phrase,
        )

    def _is_small(self, word: str) -> bool:
        if not word[1:].islower() and not word.isupper():
            return False
        return self._small[word.lower()] > 0 or (word[1:].islower() and not self._capital[word])

    def _named(self, phrase: str) -> bool:
        if not all(word[0].isupper() or word in listed("stop") for word in words_of(phrase)):
            return False
        inside = sum(
            bool(re.match(r"[a-z,] ", self._text[at - 2 : at]))
            for at in _places(self._text, phrase)
        )
        return inside > self._text.count(f" {phrase.lower()}")

    def _word(self, word: str, shouted: bool) -> str:
        small = self._small[word.lower()]
        if word.islower() and not small and self._capital[word.capitalize()] > 2:
            # Titles made of file names are all small.
            return word.capitalize()
        if word in {"I", "May"}:
            return word
        if word in {"A", "An", "The"}:
            return word.lower()
        if word.isupper() and len(word) > 1:
            return word.lower() if small > (0 if shouted else 2 * self._upper[word]) else word
        if not (
            word[0].isupper()
            and word[1:].replace("'", "").replace("’", "").replace("-", "").islower()
        ):
            return word
        return word.lower() if small * 2 >= self._capital[word] else word

    def is_name(self, phrase: str) -> bool:
        """Whether a person is called by name in it."""
        found = words_of(phrase)
        for at, word in enumerate(found):
            if word[0].isupper() and word.removesuffix("'s").removesuffix("’s").lower() in listed(
                "names"
            ):
                after = found[at + 1] if at + 1 < len(found) else ""
                if (
                    len(found) == 1
                    or word.endswith(("'s", "’s"))
                    or (after[:1].isupper() and not self._common(after))
                ):
                    return True
        return False

    def _common(self, word: str) -> bool:
        return self._small[word.lower()] > self._capital[word]


def bare(heading: str) -> str:
    """A heading without marks, numbers, brackets and symbols; empty when it names nothing that can
    be asked about."""
    text = plain(heading)
    for _ in range(2):
        text = _NUMBERED.sub("", text).strip()
    text = re.sub(r"\s*\([^()]*\)", "", text)
    text = _FOREIGN.sub("", text).strip(" :.-–—,*&!'\"“”")
    inner = text.removesuffix("?")
    odd = _ODD.search(inner) or "(" in inner or ")" in inner or inner.count('"') % 2
    # A comma in a list is well, one before an afterthought is not.
    apart = "," in inner and not re.search(r", .*(?:and|or|&) ", inner)
    return "" if odd or apart else text


def is_subject(phrase: str) -> bool:
    """Whether a heading can stand where a thing stands in a question: not generic, not a
    sentence."""
    found = [word.lower() for word in words_of(phrase)]
    if not found or len(found) > 9 or not re.search(r"[a-z]{3}|[A-Z]{2}", phrase):
        return False
    if phrase.endswith("?") or re.search(r": | [-–—] ", phrase) or VAGUE.search(phrase):
        return False
    if any(word in listed("banned") or word in listed("finite") for word in found):
        return False
    if found[0] in listed("pronouns") | listed("not_first"):
        return False
    if found[-1] in {"and", "or", "to", "for", "of", "the", "a", "with", "in", "on"}:
        return False
    return not all(word in listed("generic") | listed("stop") or word.isdigit() for word in found)


def own(text: str) -> str:
    """What is told to `you`, as the reader would say it: you are -> I am, your -> my."""
    for pattern, said in _OWN:
        text = pattern.sub(said, text)
    return text


_OWN = [
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (r"\b(are|were) you\b", "am I"),
        (r"\byou are\b|\byou[’']re\b", "I am"),
        (r"\byou were\b", "I was"),
        (r"\byou[’']ve\b", "I have"),
        (r"\byou[’']ll\b", "I will"),
        (r"\byou[’']d\b", "I would"),
        (r"\byourself\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (r"\b(to|for|with|from|by|of|on|about|(?:give|tell|help|allow|send|let|entitle|enable)s?) you\b", r"\1 me"),
        (r"\byou(?=[.?,]|$| (?:through|in|with|up|out|at|by|about|from|as|on|per|directly)\b)", "me"),
        (r"\byou\b", "I"),
    )
]  # fmt: skip


def simpler(text: str) -> str:
    """The same with everyday words for office words."""
    for word, said in data()["simpler"].items():
        text = re.sub(rf"(?<=\s){word}(?=[\s.,?!])", said, text)
    return text


def keywords(question: str) -> str:
    """What one would type into a search box."""
    words = words_of(question)
    asks = next((at for at, word in enumerate(words[:6]) if word.lower() in {"how", "what"}), 0)
    words = words[asks:]
    kept = [
        word
        for at, word in enumerate(words)
        if word.lower() not in listed("stop")
        or (
            word.lower() in {"how", "what"}
            and words[at + 1 : at + 2] in (["many"], ["much"], ["long"])
        )
    ]
    return " ".join(kept).lower()


def dress(question: str, style: str, chance: Random) -> str:
    """The question in a style; `terse` must have been asked for by its own template."""
    if style == "colloquial":
        said = simpler(question)
        small = said if re.match(r"(?:I|[A-Z]{2,})\b", said) else said[0].lower() + said[1:]
        frame: str = chance.choice(data()["style"]["colloquial"])
        return frame.format(question=small, Question=said)
    if style == "typos":
        return mistyped(question, chance)
    return question


def mistyped(text: str, chance: Random) -> str:
    """One or two slips of the finger in longer words; names, numbers and abbreviations keep their
    spelling."""
    places = [match.span() for match in re.finditer(r"(?<![\w'’-])[a-z]{5,}(?![\w'’-])", text)]
    for start, end in sorted(
        chance.sample(places, min(len(places), chance.choice((1, 2)))), reverse=True
    ):
        text = text[:start] + _slip(text[start:end], chance) + text[end:]
    return text


def _slip(word: str, chance: Random) -> str:
    # The first letter stays: people mistype it least, and the word stays readable.
    swaps = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    kind = chance.choice(("swap", "drop", "double"))
    if kind == "swap" and swaps:
        at = chance.choice(swaps)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    at = chance.randrange(1, len(word) - 1)
    return word[:at] + (word[at] * 2 if kind == "double" else "") + word[at + 1 :]
