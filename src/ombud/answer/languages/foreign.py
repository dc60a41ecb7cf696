"""What is answered to a question in a language that neither the embedder nor the documents know.

It was searched for in English words of policies (retrieve/strategies/thesaurus). What these find is
shown under a sentence in the asker's language; without them nothing is guessed."""

from collections.abc import Sequence

from ombud.answer import wording
from ombud.answer.bodies import NOTHING, Body, outside_body, quoted_body
from ombud.answer.languages.language import elsewhere_pattern, sentence
from ombud.answer.parts import AnswerParts
from ombud.answer.quoting.spans import AnswerSpan
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
    spans: Sequence[AnswerSpan],
    parts: AnswerParts,
    *,
    near: bool,
    sure: bool,
    alarming: bool,
) -> Body:
    """Quotes where enough was understood, else what is read and whom to ask.

    near, sure: the documents are close enough to be shown, and to be called the answer. alarming:
    it may be of a person in need, who is never told that this is outside."""
    language = translation.language
    shown: Body | None = None
    if near and is_understood(translation):
        answers = sure and translation.understood >= WELL_UNDERSTOOD
        shown = _quotes(translation, spans, parts, answers=answers)
    if shown:
        return shown
    if not alarming and elsewhere_pattern(language).search(fold(question.text)):
        return _outside(language, parts)
    return Body(
        outcome="denied",
        action="contact",
        composed=NOTHING._replace(text=f"{wording.unread('unread', language)}\n\n"),
    )


def is_understood(translation: Translation | None) -> bool:
    """Whether what was found can be about what was asked; None: it was read as it is."""
    return translation is None or translation.understood >= LEAST_UNDERSTOOD


def _quotes(
    translation: Translation, spans: Sequence[AnswerSpan], parts: AnswerParts, *, answers: bool
) -> Body | None:
    body = quoted_body(translation.question, spans, "partial", parts, apologise=False)
    if body is None:
        return None
    opening = wording.unread("answered" if answers else "closest", translation.language)
    text = f"{opening}\n\n{body.composed.text}"
    if answers:
        return body._replace(composed=body.composed._replace(text=text))
    return body._replace(
        outcome="denied",
        action="contact",
        composed=body.composed._replace(text=f"{text}\n\n"),
    )


def _outside(language: str, parts: AnswerParts) -> Body:
    body = outside_body(parts, language)
    text = f"{body.composed.text} {sentence('english_too', language)}".strip()
    return body._replace(composed=body.composed._replace(text=text))
