"""Whether a claim widens, parts or limits what its passage says plainly: "whatever the reason",
"only some", "weekends excluded", "this is optional". English only."""

from collections.abc import Iterator, Sequence

from ombud.answer.proof.aligning import AlignedAssertion, Alignment, split_assertions
from ombud.text import Excess, Sentence, find_excesses

MESSAGES: dict[Excess, str] = {
    "concession": "it says that in every case, the cited text does not",
    "part": "it says that of a part, the cited text does not",
    "exception": "it names an exception, the cited text does not",
    "freedom": "it leaves it open, the cited text does not",
    "limit": "it says “only”, the cited text does not",
}


def objections(
    claim: Sequence[Sentence], alignment: Alignment, question: str, language: str
) -> Iterator[str]:
    """question: its own words may be said again."""
    if language[:2] != "en":
        return
    asked = question.lower()
    closest: Sequence[AlignedAssertion] = ()
    for sentence in claim:
        for assertion in split_assertions(sentence, language):
            # "This is optional" goes on from what stands before it.
            closest = alignment.closest(assertion) or closest
            if not closest:
                continue
            stated = "\n".join(one.text_with_above for one in closest)
            for excess in find_excesses(assertion.text, f"{stated}\n{asked}"):
                yield MESSAGES[excess]
