"""What is answered to a question in a language that neither the embedder nor the documents know.

It was searched for in English words of policies (retrieve/strategies/thesaurus). What these find is
shown under a sentence in the asker's language; without them nothing is guessed."""

from collections.abc import Sequence

from ombud.answer.bodies import NOTHING, Body, outside_body, quoted_body
from ombud.answer.languages.language import elsewhere_pattern
from ombud.answer.parts import AnswerParts
from ombud.answer.quoting.sections import RankedSection, choose_sections
from ombud.messages import find_message, message
from ombud.retrieve import Translation
from ombud.text import fold
from ombud.types import Question

LEAST_UNDERSTOOD = 0.15
"""Share of a question's words from which passages are shown."""
WELL_UNDERSTOOD = 0.5
"""Share from which passages that are sure enough are called the answer."""


def foreign_body(
    question: Question,
    translation: Translation,
    sections: Sequence[RankedSection],
    parts: AnswerParts,
    *,
    near: bool,
    sure: bool,
    alarming: bool,
) -> Body:
    """Quote if enough of a foreign question was understood; else say which languages are read and
    whom to ask.

    near, sure: the documents are close enough to be shown, and to be called the answer. alarming:
    somebody may be in need and must not be turned away."""
    language = translation.language
    quotes: Body | None = None
    if near and is_understood(translation):
        answers = sure and translation.understood >= WELL_UNDERSTOOD
        quotes = _quotes(translation, sections, parts, answers=answers)
    if quotes:
        return quotes
    if not alarming and elsewhere_pattern(language).search(fold(question.text)):
        body = outside_body(parts, language)
        text = f"{body.composed.text} {find_message('answer.english_too', language)}".strip()
        return body._replace(composed=body.composed._replace(text=text))
    return Body(
        outcome="denied",
        action="contact",
        composed=NOTHING._replace(text=f"{message('answer.unread', language)}\n\n"),
    )


def is_understood(translation: Translation | None) -> bool:
    """Tell whether the hits can be about the question; None: no translation was needed."""
    return translation is None or translation.understood >= LEAST_UNDERSTOOD


def _quotes(
    translation: Translation,
    sections: Sequence[RankedSection],
    parts: AnswerParts,
    *,
    answers: bool,
) -> Body | None:
    leading = choose_sections(sections)
    body = quoted_body(translation.question, leading, "partial", parts, apologise=False)
    if body is None:
        return None
    opening = message("answer.answered" if answers else "answer.closest", translation.language)
    text = f"{opening}\n\n{body.composed.text}"
    if answers:
        return body._replace(composed=body.composed._replace(text=text))
    return body._replace(
        outcome="denied",
        action="contact",
        composed=body.composed._replace(text=f"{text}\n\n"),
    )
