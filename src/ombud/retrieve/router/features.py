"""What a question looks like, in numbers: how many things it asks, what it compares, how wide it
opens.

Every feature is a count or a flag of the part that asks; only a few look at the whole text. None is
a plain length alone: the training questions were written so that length gives nothing away.
"""

import re
from collections.abc import Mapping, Sequence, Set
from functools import cache, lru_cache
from math import log1p

from ombud.retrieve.router.reading import (
    asking,
    cues,
    pattern,
    question_sentences,
    question_words,
    tidy,
)

MARKS = frozenset('?:,;()=/&.!"-–—')
LISTED = re.compile(r"[\w' -]+,[^,.?!;:]{2,40}(?:,[^,.?!;:]{2,40})*,? (?:and|or|&|n|plus) [^,]")
AFTER_MARK = re.compile(r"(?::| -| –|—)\s+([^:?.!]+)")
PARTS = re.compile(r"\s*(?:,|;|/|&|\band\b|\bplus\b|\bn\b)\s*(?:and\b|&)?\s*")
MARKED = re.compile(r"[?][?!]*")
ITEM = re.compile(r",\s*[\w'-]+(?: [\w'-]+){0,2}(?=,|\s*\?|\s+and\b|\s+or\b|$)")
ANSWERS = frozenset({"yes", "no", "right", "true", "correct", "yes or no", "or not"})
WHOLE = ("overview", "process", "both", "versus", "same", "now_what", "compare", "people", "only")
"""Cues that also count where they stand outside the part that asks."""
COMPARES = ("versus", "same", "differ", "than", "prevail", "both", "compare")
JOINT_SIGNS: Mapping[str, tuple[str, ...]] = {
    "single compares": ("single", "compares"),
    "or between topics": ("count or", "topics 2+"),
    "or of one topic": ("count or", "not topics 2+"),
    "those told": ("cue each_of_those", "topics told 2+"),
    "position told": ("cue position", "topics told 2+"),
    "one thing": ("things 1", "not compares", "not opens"),
    "one thing, two topics": ("things 1", "topics 2+"),
    "two things": ("things 2", "not opens"),
    "single opens": ("single", "opens"),
    "single plain": ("single", "not compares", "not opens"),
    "single value": ("single", "not compares", "cue one_value"),
    "single topics": ("single", "topics 2+", "not single value"),
    "single list": ("single", "listed"),
    "list compared": ("listed", "compares"),
    "list of topics": ("listed", "topics 3+"),
}
"""Feature -> the signs that must all be there, or absent; a later one may name an earlier one."""
OF_ME = frozenset({"i", "my", "me"})
OF_US = frozenset({"we", "our", "us"})
OPENS = ("overview", "process", "from_to", "before_after", "now_what", "per", "together")


def router_features(text: str) -> dict[str, float]:
    """Feature -> value, always the same names in the same order; an empty text has zeros."""
    asked = asking(text)
    part = " ".join(asked)
    read = question_words(part)
    features = {
        **_lengths(text, part, read),
        **_asks(read, question_marks=len(MARKED.findall(part))),
        **_lists(part, read, asked),
        **_cues(text, part),
        **_groups(text, part),
    }
    return {**features, **_together(features)}


@lru_cache(maxsize=8192)
def values(text: str) -> tuple[float, ...]:
    """The values alone, in that order; training reads each text many times."""
    return tuple(map(float, router_features(text).values()))


def _lengths(text: str, part: str, read: Sequence[str]) -> dict[str, float]:
    words = len(_spoken(question_words(text)))
    asked = len(_spoken(read))
    sentences = question_sentences(text)
    asks = pattern("reading", "asking")
    asking_sentences = len(list(filter(asks.search, sentences)))
    return {
        "words": log1p(words),
        "asked words": log1p(asked),
        "few words": words <= 8,
        "very few words": words <= 5,
        "few asked": asked <= 5,
        "many asked": asked > 28,
        "story": log1p(max(0, words - asked)),
        "sentences": min(len(sentences), 6),
        "asking sentences": min(asking_sentences, 5),
        "nothing asked": not asking_sentences,
        "declined": bool(pattern("reading", "declined").search(tidy(text))),
        "narrowed": bool(pattern("reading", "narrowed").search(part)),
    }


def _asks(read: Sequence[str], *, question_marks: int) -> dict[str, float]:
    """How many things are asked: question marks, and clauses that begin like a question."""
    wh = auxiliary = linked = 0
    for clause, before in _clauses(read):
        begins_wh = _begins_wh(clause)
        begins_auxiliary = _begins_auxiliary(clause)
        wh += begins_wh
        auxiliary += begins_auxiliary
        is_linked = before == "," or before in _listed("link")
        linked += is_linked and (begins_wh or begins_auxiliary)
    return {
        "question marks 0": question_marks == 0,
        "question marks 1": question_marks == 1,
        "question marks 2": question_marks == 2,
        "question marks 3": question_marks >= 3,
        **_at_least("asks", wh + auxiliary, 3),
        **_at_least("wh asks", wh, 3),
        **_at_least("yes-no asks", auxiliary, 3),
        **_at_least("wh words", _count(read, _listed("wh")), 3),
        "asks 4+": wh + auxiliary >= 4,
        "linked asks": min(linked, 3),
        "no verb": not _count(read, _verbs()),
        "of me": min(_count(read, OF_ME), 4),
        "of us": min(_count(read, OF_US), 3),
    }


def _at_least(name: str, count: int, most: int) -> dict[str, float]:
    """`NAME 1+`, `NAME 2+` … up to `most`, each true where there are so many."""
    features: dict[str, float] = {}
    for least in range(1, most + 1):
        features[f"{name} {least}+"] = count >= least
    return features


def _count(read: Sequence[str], words: Set[str]) -> int:
    return sum(word in words for word in read)


def _lists(part: str, read: Sequence[str], asked: Sequence[str]) -> dict[str, float]:
    last = question_words(asked[-1]) if asked else []
    counts: dict[str, float] = {}
    for mark in (",", "and", "or", "/", ":", ";", "-"):
        counts[f"count {mark}"] = min(read.count(mark), 4)
    return {
        **counts,
        "last clauses": min(len(_clauses(last)), 6),
        "last ,": min(last.count(","), 4),
        "last and": min(last.count("and"), 3),
        "last or": min(last.count("or"), 2),
        "listed": bool(LISTED.search(part)),
        "items 2+": len(ITEM.findall(part)) >= 2,
        **_things(asked),
    }


def _things(asked: Sequence[str]) -> dict[str, float]:
    """How many things are asked for, however they are put: by clauses, by question marks, by
    lists."""
    things = sum(map(_things_of, asked))
    after = max(map(len, map(_after_mark, asked)), default=0)
    return {
        "things 1": things == 1,
        "things 2": things == 2,
        "things 3": things == 3,
        "things 2+": things >= 2,
        "things 3+": things >= 3,
        "things 4+": things >= 4,
        "after mark 2": after == 2,
        "after mark 3+": after >= 3,
    }


def _things_of(sentence: str) -> int:
    """Of one sentence; an alternative ("or can I") asks the same thing once more."""
    begins = 0
    for clause, before in _clauses(question_words(sentence)):
        asks_anew = before != "or" and _begins_auxiliary(clause)
        begins += asks_anew or _begins_wh(clause)
    listed = 3 if _noun_list(sentence) else 0
    return max(1, begins, len(_after_mark(sentence)), listed)


def _after_mark(sentence: str) -> list[str]:
    """Short pieces that stand listed after a colon or dash: "Victimisation: definition,
    sanction?"."""
    listed = AFTER_MARK.search(sentence)
    if not listed:
        return []
    pieces = PARTS.split(listed[1].strip())
    pieces = [piece for piece in pieces if piece and piece not in ANSWERS]
    all_short = all(len(piece.split()) <= 5 for piece in pieces)
    return pieces if len(pieces) > 1 and all_short else []


def _noun_list(sentence: str) -> bool:
    if not LISTED.search(sentence):
        return False
    return not pattern("cue", "examples").search(sentence)


def _cues(text: str, part: str) -> dict[str, float]:
    counts: dict[str, float] = {}
    for name in cues()["cue"]:
        counts[f"cue {name}"] = min(_cue_count(name, part), 2)
    whole = tidy(text)
    for name in WHOLE:
        counts[f"whole {name}"] = min(_cue_count(name, whole), 3)
    return counts


def _cue_count(name: str, text: str) -> int:
    return len(pattern("cue", name).findall(text))


def _groups(text: str, part: str) -> dict[str, float]:
    """How many different subjects, kinds of fact, groups of people and places are named."""
    facets: dict[str, float] = {}
    for name in cues()["facet"]:
        facets[f"facet {name}"] = bool(pattern("facet", name).search(part))
    topics = _topics_in(part)
    groups = pattern("names", "groups").findall(part)
    places = pattern("names", "places").findall(part)
    return {
        **facets,
        **_at_least("facets", int(sum(facets.values())), 4),
        **_at_least("topics", topics, 4),
        **_at_least("groups", len({name.lower().rstrip("s") for name in groups}), 3),
        **_at_least("places", len(set(places)), 2),
        "topics told": min(_topics_in(tidy(text)) - topics, 6),
    }


def _topics_in(text: str) -> int:
    return sum(bool(topic.search(text)) for topic in _topics())


def _together(features: Mapping[str, float]) -> dict[str, float]:
    """Where two signs mean more than their sum."""
    several_asks = ("asks 2+", "question marks 2", "question marks 3")
    first: dict[str, float] = {
        "single": not any(features[name] for name in several_asks),
        "compares": any(features[f"cue {name}"] for name in COMPARES),
        "opens": any(features[f"cue {name}"] for name in OPENS),
    }
    signs = {**features, **first, "topics told 2+": features["topics told"] >= 2}
    together: dict[str, float] = {}
    for name, needed in JOINT_SIGNS.items():
        joint = all(_has(signs, sign) for sign in needed)
        together[name] = joint
        signs[name] = joint
    listed_asks = signs["listed"] and signs["asks 2+"]
    many = signs["asks 3+"] or signs["question marks 3"] or listed_asks
    return {**first, **together, "many": many}


def _has(signs: Mapping[str, float], sign: str) -> bool:
    """Whether a sign is there; of one with `not ` before it, whether it is absent."""
    wanted = sign.removeprefix("not ")
    return bool(signs[wanted]) is (wanted == sign)


def _clauses(read: Sequence[str]) -> list[tuple[list[str], str]]:
    """(words, mark or link before them) of each stretch between marks and links."""
    clauses: list[tuple[list[str], str]] = []
    clause: list[str] = []
    before = ""
    links = _listed("link")
    for word in [*read, "."]:
        if word not in links and word[0] not in MARKS:
            clause.append(word)
            continue
        if clause:
            clauses.append((clause, before))
            clause = []
        before = word
    return clauses


def _begins_wh(clause: Sequence[str]) -> bool:
    words = _unskipped(clause)
    wh = _listed("wh")
    if not words or words[0] in wh:
        return bool(words)
    if len(words) < 2 or words[0] not in _listed("before_wh"):
        return False
    return words[1] in wh


def _begins_auxiliary(clause: Sequence[str]) -> bool:
    words = _unskipped(clause)
    return len(words) > 1 and words[0] in _listed("auxiliary")


def _unskipped(clause: Sequence[str]) -> list[str]:
    skipped = _listed("skipped")
    return [word for word in clause if word not in skipped]


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(cues()["clauses"][name].split())


@cache
def _verbs() -> frozenset[str]:
    return _listed("wh") | _listed("auxiliary") | _listed("verb")


def _spoken(read: Sequence[str]) -> list[str]:
    return [word for word in read if word[0].isalnum()]


@cache
def _topics() -> tuple[re.Pattern[str], ...]:
    lines = cues()["topic"]["names"].split("\n")
    return tuple(re.compile(rf"\b(?:{line})") for line in lines)
