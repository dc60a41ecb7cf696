"""Words by which a statement holds for more, for less or more freely than another: "whatever the
reason", "only some of it", "except the first", "this is optional"."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple, get_args

from ombud.text.scope.vocabulary import scope_words
from ombud.text.wording import term_pattern

Excess = Literal["concession", "part", "exception", "freedom", "limit"]
_EITHER = re.compile(r"\bwhether (?!in )[^,.;]{2,60}? or ")
"""A concession without a word of its own: "whether you speak there or listen"."""


_ONLY_WHERE = re.compile(r"\bonly\b[^,.;:]{0,30}\b(?:if|when|where|after|once|until|with)\b")
"""A condition, which is compared as one."""


class _Words(NamedTuple):
    says: re.Pattern[str]
    means_nothing: re.Pattern[str]
    borne_out: re.Pattern[str]


def find_excesses(text: str, stated: str) -> Iterator[Excess]:
    """Kinds of excess that a text in small letters has and what is stated does not bear out."""
    for kind in get_args(Excess):
        words = _words(kind)
        plain = words.means_nothing.sub(" ", text)
        if kind == "limit":
            plain = _ONLY_WHERE.sub(" ", plain)
        says = words.says.search(plain) or (kind == "concession" and _EITHER.search(plain))
        if says and not words.borne_out.search(stated):
            yield kind


@cache
def _words(kind: Excess) -> _Words:
    listed = scope_words()["excesses"][kind]
    return _Words(
        says=term_pattern(listed["says"]),
        means_nothing=term_pattern(listed["means_nothing"]),
        borne_out=term_pattern(listed["borne_out"]),
    )
