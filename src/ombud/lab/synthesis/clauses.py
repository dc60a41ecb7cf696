"""What stands before the number of a sentence, taken apart: its subject, its helping verb, the
rest."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from ombud.lab.synthesis.phrasing import listed

_POLITE = re.compile(r"^(?:Please|Always|Also|You should always)\s")
_PARTICIPLE = re.compile(r"(?:ed|en|been|had|made|given)$")
_PLURAL = re.compile(r"[^s']s$")
_SECOND_VERB = re.compile(r"\b(?:and|or) \w+s$")
LONGEST_SUBJECT = 8
LONGEST_MIDDLE = 12
"""Words."""


class QuestionClause(NamedTuple):
    subject: str
    helper: str
    middle: str


def split_clause(in_front: str) -> QuestionClause | None:
    """None where the words do not plainly fall into a subject, a verb and the rest."""
    words = _POLITE.sub("", in_front).split()
    if "," in in_front:
        return None
    if _is_instruction(words):
        return _checked(["I"], "do", ["have", "to", words[0].lower(), *words[1:]])
    if _holds(words, listed("subordinate")):
        return None
    for place in range(1, min(len(words), 10)):
        word = words[place].lower()
        subject = words[:place]
        middle = words[place + 1 :]
        if _is_helper(word, middle):
            return _checked(subject, word, middle)
        if word in _base_of_third() and not _is_plural(subject):
            return _checked(subject, "does", [_base_of_third()[word], *middle])
        if word in _third_of_base() and _is_plural(subject):
            return _checked(subject, "do", [word, *middle])
    return None


def _is_instruction(words: Sequence[str]) -> bool:
    """`Submit the form within 5 days`."""
    if len(words) < 2 or words[0].lower() not in listed("verbs"):
        return False
    return words[1].lower() in listed("objects")


def _is_helper(word: str, middle: Sequence[str]) -> bool:
    if word in {"has", "have"}:
        return bool(middle) and bool(_PARTICIPLE.search(middle[0].lower()))
    return word in listed("auxiliary")


def _is_plural(subject: Sequence[str]) -> bool:
    last = subject[-1].lower()
    return bool(_PLURAL.search(last)) or last in {"you", "we", "people", "staff"}


def _checked(subject: Sequence[str], helper: str, middle: Sequence[str]) -> QuestionClause | None:
    """The clause, unless something says that it was cut in the wrong place."""
    if not _is_whole_subject(subject) or not _is_whole_middle(middle):
        return None
    return QuestionClause(" ".join(subject), helper, " ".join(middle))


def _is_whole_subject(subject: Sequence[str]) -> bool:
    """A second verb, or a subject that begins in the middle, means that the cut is in the wrong
    place."""
    if len(subject) > LONGEST_SUBJECT:
        return False
    if subject[0].lower() in listed("places") | listed("no_subject"):
        return False
    second_verbs = listed("finite") | {"to", "always", "never"}
    # "opens and remains": one of them would keep its s.
    if _holds(subject, second_verbs) or _holds(subject, _base_of_third()):
        return False
    return not _holds(subject, listed("blurred") - {"i"})


def _is_whole_middle(middle: Sequence[str]) -> bool:
    if _holds(middle, listed("auxiliary") - {"have"}) or len(middle) > LONGEST_MIDDLE:
        return False
    if _SECOND_VERB.search(" ".join(middle[:3])):
        return False
    if not middle:
        return True
    return middle[-1][-1].isalnum() and middle[-1].lower() not in listed("dangling")


def _holds(words: Sequence[str], looked_for: frozenset[str] | dict[str, str]) -> bool:
    return any(word.lower() in looked_for for word in words)


@cache
def _third_of_base() -> dict[str, str]:
    """Base form -> form of the third person, of verbs that are hardly nouns or are common in front
    of numbers."""
    verbs = (listed("verbs") - listed("nouns_too")) | listed("more_verbs")
    return {verb: _third_person(verb) for verb in verbs}


@cache
def _base_of_third() -> dict[str, str]:
    return {third: base for base, third in _third_of_base().items()}


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|sh|ch|x|z|o)$", verb) else f"{verb}s"
