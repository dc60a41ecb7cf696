"""In which role a sentence has a number: "up to two weeks" is at most, "from May" begins."""

import re
from functools import cache
from typing import NamedTuple

from ombud.text.numbers import NUMBER

POINTS = frozenset({"date", "time", "age", "nth day", "nth week", "nth month", "nth year"})
"""Kinds of quantities that are a point and no amount."""
_LEAD_TIMES = frozenset({"days", "working days", "minutes"})
_BEFORE = (
    ("range", rf"between|(?:{NUMBER})(?: ?[ap]\.?m\.?| [a-z%€£$]+)? ?-?(?:[-–]|to-?|and|or)"),
    ("within", r"within(?: the (?:first|next|following))?|(?:no|not) later than"),
    ("within", r"in the first|at the latest(?: by)?"),
    ("least", r"≥|at least|(?:no|not) (?:less|fewer|shorter|earlier) than"),
    ("least", r"(?:a )?minimum(?: is| of|:)?|min\.?"),
    ("most", r"≤|up to(?: a (?:total|maximum) of| the)?|at (?:the )?most"),
    ("most", r"(?:no|not) (?:more|longer|higher) than"),
    ("most", r"(?:not|never) (?:to )?(?:exceed|cost more than|be more than)"),
    ("most", r"limited to|capped at|(?:a )?max(?:imum)?(?: of|\.)?"),
    ("most", r"<|less than|fewer than|under|below|as much as"),
    ("most", r"(?:cap|maximum|limit|ceiling)s?\b[^.;,]{0,40}(?:\bis|\bare|:|\bof)"),
    ("least", r"minimum\b[^.;,]{0,40}(?:\bis|\bare|:|\bof)"),
    ("above", r">|above|over|more than|exceed(?:s|ing)?|longer than|greater than|higher than"),
    ("above", r"in excess of|beyond"),
    ("every", r"every|once every|once in"),
    ("after", r"after|following|once|completed?|completing|upon"),
)
"""(role, cues in front of an amount); the first that is found counts."""
_BEFORE_POINT = (
    ("by", r"by|until|till|before|up to|through|(?:no|not) later than|latest(?: by)?"),
    ("by", r"ends?|expires?"),
    ("from", r"from|since|after|starting|as of|effective|beginning|begins?|starts?"),
)
_AFTER = (
    ("range", rf" ?-?(?:[-–]|to-?|and|or) ?(?:{NUMBER})"),
    ("least", r"\+"),
    ("least", r",? or (?:more|over|older|above|longer)"),
    ("least", r",? (?:and (?:over|above|older)|minimum\b|at (?:the )?least)"),
    ("most", r",? (?:or (?:less|fewer|under|younger)|at (?:the )?most|maximum\b)"),
    ("within", r" at the latest"),
)
_AHEAD = r"s?['’]? ?(?:\w+ ){0,2}?(?:before|ahead|in advance|prior|beforehand|earlier)\b"
_FRAME = r"(?:^|\W)(?:{})$"
_FILLER = re.compile(
    r"(?: (?:about|around|approximately|roughly|the|an?|total of|age|the age of|on|of))+$"
)


class _Cue(NamedTuple):
    role: str
    pattern: re.Pattern[str]


class _Cues(NamedTuple):
    before: tuple[_Cue, ...]
    any_before: re.Pattern[str]
    """Any of them: in front of most amounts there is none."""
    before_point: tuple[_Cue, ...]
    after: tuple[_Cue, ...]
    ahead: re.Pattern[str]


@cache
def _cues() -> _Cues:
    return _Cues(
        before=_compiled(_BEFORE, _FRAME),
        any_before=re.compile(_FRAME.replace("{}", "|".join(words for _, words in _BEFORE))),
        before_point=_compiled(_BEFORE_POINT, r"\b(?:{})$"),
        after=_compiled(_AFTER, "{}"),
        ahead=re.compile(_AHEAD),
    )


def _compiled(cues: tuple[tuple[str, str], ...], frame: str) -> tuple[_Cue, ...]:
    compiled: list[_Cue] = []
    for role, words in cues:
        pattern = frame.replace("{}", words)
        compiled.append(_Cue(role, re.compile(pattern)))
    return tuple(compiled)


def role_of(kind: str, before: str, after: str) -> str:
    """The role of a quantity of a kind (see `Quantity`) between two texts.

    exact, most, least, within, above, after, ahead, every, by, from; or range.
    """
    if kind in _LEAD_TIMES and _cues().ahead.match(after):
        return "ahead"
    role = _role_after(after)
    if role == "within" and kind in POINTS:
        return "by"
    return role or _role_before(kind, before) or "exact"


def _role_after(after: str) -> str:
    for role, pattern in _cues().after:
        if pattern.match(after):
            return role
    return ""


def _role_before(kind: str, before: str) -> str:
    bare = _FILLER.sub("", f" {before}")
    if kind in POINTS:
        for role, pattern in _cues().before_point:
            if pattern.search(bare):
                return role
    # The filler may be the cue's own end, such as "a maximum of".
    texts = [text for text in dict.fromkeys((before, bare)) if _cues().any_before.search(text)]
    if not texts:
        return ""
    for role, pattern in _cues().before:
        if any(map(pattern.search, texts)):
            return role
    return ""
