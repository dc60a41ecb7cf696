"""What an abbreviation stands for: the line that says so comes before all that merely use it."""

from collections.abc import Sequence

from ombud.answer.quoting.spans import AnswerSpan, is_row

BESIDE = 0.4
"""What is left of the likelihood of all else beside a definition: where one line suffices, nothing
else is said."""


def definitions_first(spans: Sequence[AnswerSpan], abbreviation: str) -> list[AnswerSpan]:
    """The rows that define the abbreviation before all other spans; these as they are where there
    is none."""
    defining: list[AnswerSpan] = []
    others: list[AnswerSpan] = []
    for span in spans:
        if _defines(span, abbreviation):
            defining.append(span._replace(score=1.0))
        else:
            others.append(span)
    if not defining:
        return others
    unlikely = [span._replace(score=BESIDE * span.score) for span in others]
    return [*defining, *unlikely]


def _defines(span: AnswerSpan, abbreviation: str) -> bool:
    if not is_row(span.text):
        return False
    first, *_ = span.text.strip().strip("|").split("|")
    return first.strip(" *_").casefold() == abbreviation.casefold()
