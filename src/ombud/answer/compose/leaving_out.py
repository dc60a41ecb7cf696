"""Which claims of a draft stand without those that were not confirmed, and what is said of them."""

import re
from collections.abc import Collection, Sequence
from functools import cache

from ombud.answer.compose.drafts import DraftClaim
from ombud.answer.languages.language import written_in
from ombud.answer.proof.citing import Composed
from ombud.answer.wording import first_left_out, left_out
from ombud.text import WORDS, term_pattern


def leans(claim: str) -> bool:
    """Whether a claim goes on from the one before it: "However, …", "It also …"."""
    return bool(_opening().match(claim.lower()))


def standing_places(
    claims: Sequence[DraftClaim], failed: Collection[int], *, first_fell: bool = False
) -> list[int]:
    """Places of the claims that may be shown: not those that failed, nor those that lean on one
    that did, for alone they would speak of something else.

    first_fell: the claim before all these did."""
    standing: list[int] = []
    fell_before = first_fell
    for place, claim in enumerate(claims):
        fell_before = place in failed or (fell_before and leans(claim.text))
        if not fell_before:
            standing.append(place)
    return standing


def with_left_out(composed: Composed, count: int, *, first: bool) -> Composed:
    """The answer with what is said of `count` claims that were left out; first: the one that
    answers the question is among them."""
    if not composed.claims or not (count or first):
        return composed
    language = written_in(composed.text, "en")
    paragraphs = [composed.text]
    if first:
        paragraphs.insert(0, first_left_out(language))
    if count > first:
        paragraphs.append(left_out(count - first, language))
    return composed._replace(text="\n\n".join(paragraphs))


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{term_pattern(WORDS['leaning']['en']).pattern})")
