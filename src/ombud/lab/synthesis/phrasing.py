"""How people put things: sentences of a passage, subjects of headings, styles of a question.
English only."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

STYLES = {"plain": 0.4, "terse": 0.2, "colloquial": 0.2, "typos": 0.2}
"""Style -> its share of the proposals."""

WORD = re.compile(r"[^\W_]+(?:['’&-][^\W_]+)*")
_MARKS = re.compile(r"[*`~]+|(?<![\w])_+|_+(?![\w])|\\(?=\W)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_ITEM = re.compile(r"\s*(?:[-*•–·+]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?:\[[ xX]\]\s*)?")
_LEADING = re.compile(rf"^{_ITEM.pattern}|^\s*(?:#{{1,6}}|>)\s+")
_STOP = re.compile(r"[.!?]['\"”’)\]*_]*(\s+)(?=[\"'“(*_\[]{0,3}[A-Z0-9])")
_LINE = re.compile(r"[^\n]+(?:(?<![.!?:|\n])\n(?=[a-z])[^\n]+)*")
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nos|mr|mrs|ms|dr|st|sec|art|inc|ltd|u\.s|approx)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:Q\s*[:.]|(?:§\s*|step|part|section|article|phase|chapter|appendix|annex|level|rule|tip|"
    r"question)?\s*[#\d][\d.\-–]*[a-z]?\s*[:.)–-]+|§\s*[\d.-]+|[IVX]{1,4}[.)])\s+",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"https?:|www\.|[@#<>{}=|$^;\\/\[\]~…→↗]|\.\w{2,4}\b|\.\.\.|[A-Z]{2,}_|\?$|_|\b[a-z]+[A-Z]"
)
VAGUE = re.compile(
    r"\b(?:this|these|those|it|that|they|them|here|above|below|else|there)\b", re.IGNORECASE
)
_QUESTION_WORDS = frozenset({"how", "what"})
_LONG_WORD = re.compile(r"(?<![\w'’-])[a-z]{5,}(?![\w'’-])")
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
    written = []
    for phrase in data()["words"][name].split("|"):
        written.append(re.escape(phrase.strip()))
    return re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    """Words as they are written, without marks; hyphens and apostrophes stay inside."""
    return WORD.findall(text)


def content(text: str) -> list[str]:
    """The words that carry the meaning, lower case."""
    stop_words = listed("stop")
    carrying = []
    for word in words_of(text):
        lowered = word.lower()
        if lowered not in stop_words:
            carrying.append(lowered)
    return carrying


def plain(text: str) -> str:
    """Text as it is read out: no Markdown marks, no list marks, one line."""
    text = _LINK.sub(r"\1", text)
    lines = []
    for line in text.split("\n"):
        lines.append(_LEADING.sub("", line).strip())
    without_marks = _MARKS.sub("", " ".join(lines))
    return " ".join(without_marks.split())


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences and list items of a stretch, without list marks; table rows and
    headings are lines.

    A line that goes on in small letters after a line without a full stop is one sentence with it.
    """
    end = len(text) if end is None else end
    spans = []
    for line in _LINE.finditer(text[start:end]):
        for begin, stop in _cut_line(text, start + line.start(), start + line.end()):
            stretch = text[begin:stop]
            first = begin + len(stretch) - len(stretch.lstrip())
            last = begin + len(stretch.rstrip())
            if first < last:
                spans.append((first, last))
    return spans


def _cut_line(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of one line or list item, without its mark."""
    mark = _ITEM.match(text, begin, end)
    if mark:
        begin = mark.end()
    for stop in _STOP.finditer(text, begin, end):
        if _SHORT.search(text, max(begin, stop.start() - 12), stop.start() + 1):
            continue
        yield begin, stop.start(1)
        begin = stop.end()
    yield begin, end


_DETERMINED = re.compile(
    r"(?:the|a|an|our|my|your|its|their|all|any|each|[\w-]+ing)\s", re.IGNORECASE
)


def is_determined(subject: str) -> bool:
    """Whether it has an article or is something that one does."""
    return bool(_DETERMINED.match(subject))


def determined(subject: str) -> str:
    """The subject with `the`, unless it is determined already."""
    return subject if is_determined(subject) else f"the {subject}"


def bare(heading: str) -> str:
    """A heading without marks, numbers, brackets and symbols; empty when it names nothing that can
    be asked about."""
    text = plain(heading)
    for _ in range(2):
        text = _NUMBERED.sub("", text).strip()
    text = re.sub(r"\s*\([^()]*\)", "", text)
    text = _FOREIGN.sub("", text).strip(" :.-–—,*&!'\"“”")
    inner = text.removesuffix("?")
    return "" if _is_odd(inner) else text


def _is_odd(heading: str) -> bool:
    if _ODD.search(heading) or "(" in heading or ")" in heading:
        return True
    if heading.count('"') % 2:
        return True
    # A comma in a list is well, one before an afterthought is not.
    return "," in heading and not re.search(r", .*(?:and|or|&) ", heading)


def is_subject(phrase: str) -> bool:
    """Whether a heading can stand where a thing stands in a question: not generic, not a
    sentence."""
    words = [word.lower() for word in words_of(phrase)]
    if not 0 < len(words) <= 9 or not re.search(r"[a-z]{3}|[A-Z]{2}", phrase):
        return False
    if phrase.endswith("?") or VAGUE.search(phrase) or re.search(r": | [-–—] ", phrase):
        return False
    if not (listed("banned") | listed("finite")).isdisjoint(words):
        return False
    not_first = listed("pronouns") | listed("not_first")
    if words[0] in not_first or words[-1] in listed("no_subject_end"):
        return False
    return _has_meaning(words)


def _has_meaning(words: Sequence[str]) -> bool:
    empty = listed("generic") | listed("stop")
    return not all(word in empty or word.isdigit() for word in words)


def own(text: str) -> str:
    """What is told to `you`, as the reader would say it: you are -> I am, your -> my."""
    for pattern, in_first_person in _FIRST_PERSON:
        text = pattern.sub(in_first_person, text)
    return text


_FIRST_PERSON = [
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"\b(are|were) you\b", "am I"),
        (r"\byou are\b|\byou[’']re\b", "I am"),
        (r"\byou were\b", "I was"),
        (r"\byou[’']ve\b", "I have"),
        (r"\byou[’']ll\b", "I will"),
        (r"\byou[’']d\b", "I would"),
        (r"\byourself\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (
            r"\b(to|for|with|from|by|of|on|about"
            r"|(?:give|tell|help|allow|send|let|entitle|enable)s?) you\b",
            r"\1 me",
        ),
        (
            r"\byou(?=[.?,]|$| (?:through|in|with|up|out|at|by|about|from|as|on|per|directly)\b)",
            "me",
        ),
        (r"\byou\b", "I"),
    )
]


def simpler(text: str) -> str:
    """The same with everyday words for office words."""
    for word, everyday in data()["simpler"].items():
        text = re.sub(rf"(?<=\s){word}(?=[\s.,?!])", everyday, text)
    return text


def keywords(question: str) -> str:
    """What one would type into a search box."""
    words = words_of(question)
    for place, word in enumerate(words[:6]):
        if word.lower() in _QUESTION_WORDS:
            words = words[place:]
            break
    kept = []
    for word, after in pairwise([*words, ""]):
        asks_amount = word.lower() in _QUESTION_WORDS and after in {"many", "much", "long"}
        if asks_amount or word.lower() not in listed("stop"):
            kept.append(word)
    return " ".join(kept).lower()


def dress(question: str, style: str, chance: Random) -> str:
    """The question in a style; `terse` must have been asked for by its own template."""
    if style == "colloquial":
        simple = simpler(question)
        small = simple[0].lower() + simple[1:]
        if re.match(r"(?:I|[A-Z]{2,})\b", simple):
            small = simple
        frame: str = chance.choice(data()["style"]["colloquial"])
        return frame.format(question=small, Question=simple)
    if style == "typos":
        return mistyped(question, chance)
    return question


def mistyped(text: str, chance: Random) -> str:
    """One or two slips of the finger in longer words; names, numbers and abbreviations keep their
    spelling."""
    words = [match.span() for match in _LONG_WORD.finditer(text)]
    slips = chance.choice((1, 2))
    chosen = chance.sample(words, min(len(words), slips))
    for start, end in sorted(chosen, reverse=True):
        slip = _slip(text[start:end], chance)
        text = text[:start] + slip + text[end:]
    return text


def _slip(word: str, chance: Random) -> str:
    # The first letter stays: people mistype it least, and the word stays readable.
    swaps = []
    for at in range(1, len(word) - 1):
        if word[at] != word[at + 1]:
            swaps.append(at)
    kind = chance.choice(("swap", "drop", "double"))
    if kind == "swap" and swaps:
        at = chance.choice(swaps)
        swapped = word[at + 1] + word[at]
        return word[:at] + swapped + word[at + 2 :]
    at = chance.randrange(1, len(word) - 1)
    instead = word[at] * 2 if kind == "double" else ""
    return word[:at] + instead + word[at + 1 :]
