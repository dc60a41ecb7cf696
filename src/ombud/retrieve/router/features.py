"""What a question looks like, in numbers: how many things it asks, what it compares, how wide it
opens.

Every feature is a count or a flag of the part that asks; only a few look at the whole text. None is
a plain length
alone: the training questions were written so that length gives nothing away.
"""

import re
from collections.abc import Sequence
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
OPENS = ("overview", "process", "from_to", "before_after", "now_what", "per", "together")


def router_features(text: str) -> dict[str, float]:
    """Feature -> value, always the same names in the same order; an empty text has zeros."""
    asked = asking(text)
    part, read = " ".join(asked), question_words(" ".join(asked))
    found = _lengths(text, part, read) | _asks(part, read) | _lists(part, read, asked)
    found |= _cues(text, part) | _groups(text, part)
    return found | _together(found)


@lru_cache(maxsize=8192)
def values(text: str) -> tuple[float, ...]:
    """The values alone, in that order; training reads each text many times."""
    return tuple(map(float, router_features(text).values()))


def _lengths(text: str, part: str, read: Sequence[str]) -> dict[str, float]:
    all_words, asked = _spoken(question_words(text)), _spoken(read)
    told = question_sentences(text)
    return {
        "words": log1p(len(all_words)),
        "asked words": log1p(len(asked)),
        "few words": len(all_words) <= 8,
        "very few words": len(all_words) <= 5,
        "few asked": len(asked) <= 5,
        "many asked": len(asked) > 28,
        "story": log1p(max(0, len(all_words) - len(asked))),
        "sentences": min(len(told), 6),
        "asking sentences": min(sum(bool(pattern("reading", "asking").search(s)) for s in told), 5),
        "nothing asked": not any(pattern("reading", "asking").search(s) for s in told),
        "declined": bool(pattern("reading", "declined").search(tidy(text))),
        "narrowed": bool(pattern("reading", "narrowed").search(part)),
    }


def _asks(part: str, read: Sequence[str]) -> dict[str, float]:
    """How many things are asked: question marks, and clauses that begin like a question."""
    clauses = _clauses(read)
    wh, auxiliary = (
        sum(begins(clause) for clause, _ in clauses) for begins in (_begins_wh, _begins_auxiliary)
    )
    linked = sum(
        mark in _listed("link") or mark == ","
        for clause, mark in clauses
        if _begins_wh(clause) or _begins_auxiliary(clause)
    )
    marks, anywhere = len(MARKED.findall(part)), sum(word in _listed("wh") for word in read)
    found: dict[str, float] = {f"question marks {n}": marks == n for n in range(3)}
    found["question marks 3"] = marks >= 3
    for name, count in (
        ("asks", wh + auxiliary),
        ("wh asks", wh),
        ("yes-no asks", auxiliary),
        ("wh words", anywhere),
    ):
        found |= {f"{name} {n}+": count >= n for n in (1, 2, 3)}
    return found | {
        "asks 4+": wh + auxiliary >= 4,
        "linked asks": min(linked, 3),
        "no verb": not any(word in _verbs() for word in read),
        "of me": min(sum(word in ("i", "my", "me") for word in read), 4),
        "of us": min(sum(word in ("we", "our", "us") for word in read), 3),
    }


def _lists(part: str, read: Sequence[str], asked: Sequence[str]) -> dict[str, float]:
    last = question_words(asked[-1]) if asked else []
    return {
        f"count {mark}": min(read.count(mark), 4) for mark in (",", "and", "or", "/", ":", ";", "-")
    } | {
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
    after = max((len(_after_mark(sentence)) for sentence in asked), default=0)
    found: dict[str, float] = {f"things {n}": things == n for n in (1, 2, 3)}
    return found | {
        "things 2+": things >= 2,
        "things 3+": things >= 3,
        "things 4+": things >= 4,
        "after mark 2": after == 2,
        "after mark 3+": after >= 3,
    }


def _things_of(sentence: str) -> int:
    """Of one sentence; an alternative ("or can I") asks the same thing once more."""
    begins = sum(
        _begins_wh(clause) or (_begins_auxiliary(clause) and before != "or")
        for clause, before in _clauses(question_words(sentence))
    )
    return max(1, begins, len(_after_mark(sentence)), 3 if _noun_list(sentence) else 0)


def _after_mark(sentence: str) -> list[str]:
    """Short pieces that stand listed after a colon or dash: "Victimisation: definition,
    sanction?"."""
    found = AFTER_MARK.search(sentence)
    pieces = [piece for piece in PARTS.split(found[1].strip()) if piece] if found else []
    pieces = [piece for piece in pieces if piece not in ANSWERS]
    return pieces if len(pieces) > 1 and all(len(piece.split()) <= 5 for piece in pieces) else []


def _noun_list(sentence: str) -> bool:
    return bool(LISTED.search(sentence)) and not pattern("cue", "examples").search(sentence)


def _cues(text: str, part: str) -> dict[str, float]:
    found = {
        f"cue {name}": min(len(pattern("cue", name).findall(part)), 2) for name in cues()["cue"]
    }
    whole = tidy(text)
    return {
        **found,
        **{f"whole {name}": min(len(pattern("cue", name).findall(whole)), 3) for name in WHOLE},
    }


def _groups(text: str, part: str) -> dict[str, float]:
    """How many different subjects, kinds of fact, groups of people and places are named."""
    facets = {name: bool(pattern("facet", name).search(part)) for name in cues()["facet"]}
    topics = sum(bool(topic.search(part)) for topic in _topics())
    told = sum(bool(topic.search(tidy(text))) for topic in _topics())
    groups = len({name.lower().rstrip("s") for name in pattern("names", "groups").findall(part)})
    places = len(set(pattern("names", "places").findall(part)))
    found: dict[str, float] = {f"facet {name}": seen for name, seen in facets.items()}
    for name, count, most in (
        ("facets", sum(facets.values()), 4),
        ("topics", topics, 4),
        ("groups", groups, 3),
        ("places", places, 2),
    ):
        found |= {f"{name} {n}+": count >= n for n in range(1, most + 1)}
    return found | {"topics told": min(told - topics, 6)}


def _together(found: dict[str, float]) -> dict[str, float]:
    """Where two signs mean more than their sum."""
    single = not (found["asks 2+"] or found["question marks 2"] or found["question marks 3"])
    compares = any(found[f"cue {name}"] for name in COMPARES)
    opens = any(found[f"cue {name}"] for name in OPENS)
    value = single and not compares and found["cue one_value"] > 0
    return {
        "single": single,
        "compares": compares,
        "opens": opens,
        "single compares": single and compares,
        "or between topics": found["count or"] and found["topics 2+"],
        "or of one topic": found["count or"] and not found["topics 2+"],
        "those told": found["cue each_of_those"] and found["topics told"] >= 2,
        "position told": found["cue position"] and found["topics told"] >= 2,
        "one thing": found["things 1"] and not compares and not opens,
        "one thing, two topics": found["things 1"] and found["topics 2+"],
        "two things": found["things 2"] and not opens,
        "single opens": single and opens,
        "single plain": single and not compares and not opens,
        "single value": value,
        "single topics": single and found["topics 2+"] and not value,
        "single list": single and found["listed"],
        "list compared": found["listed"] and compares,
        "list of topics": found["listed"] and found["topics 3+"],
        "many": found["asks 3+"]
        or found["question marks 3"]
        or (found["listed"] and found["asks 2+"]),
    }


def _clauses(read: Sequence[str]) -> list[tuple[list[str], str]]:
    """(words, mark or link before them) of each stretch between marks and links."""
    found: list[tuple[list[str], str]] = []
    clause, before, links = list[str](), "", _listed("link")
    for word in [*read, "."]:
        if word in links or word[0] in MARKS:
            if clause:
                found.append((clause, before))
                clause = []
            before = word
        else:
            clause.append(word)
    return found


def _begins_wh(clause: Sequence[str]) -> bool:
    spoken, wh = _unskipped(clause), _listed("wh")
    return bool(spoken) and (
        spoken[0] in wh
        or (len(spoken) > 1 and spoken[0] in _listed("before_wh") and spoken[1] in wh)
    )


def _begins_auxiliary(clause: Sequence[str]) -> bool:
    spoken = _unskipped(clause)
    return len(spoken) > 1 and spoken[0] in _listed("auxiliary")


def _unskipped(clause: Sequence[str]) -> list[str]:
    return [word for word in clause if word not in _listed("skipped")]


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
    return tuple(re.compile(rf"\b(?:{line})") for line in cues()["topic"]["names"].split("\n"))
