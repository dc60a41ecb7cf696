"""What a chat model says without any document: the baseline of studies, never of people.

Nothing of it can be proven, so every sentence is an unconfirmed claim and the trace says so."""

from datetime import date

from pydantic import BaseModel

from ombud.answer.bodies import Body
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Composed, inert
from ombud.models import Chat
from ombud.prompts import load
from ombud.retrieve import usage_of
from ombud.text import message_language, split_sentences
from ombud.types import Claim, Question

NOTE = "model only: nothing was searched, and nothing is proven"


class RememberedAnswer(BaseModel):
    answer: str


async def memory_body(question: Question, day: date, chat: Chat, parts: AnswerParts) -> Body:
    """Answer from the model alone, without documents. Raises ModelError: there is no fallback."""
    prompt = load("memory", chat.name, parts.knowledge.prompts)
    reply = await chat.reply(
        prompt.fill(
            organisation=parts.settings.general.name,
            date=day.isoformat(),
            country=question.asker.country or "not given",
        ),
        question.text,
        RememberedAnswer,
        temperature=0.0,
        seconds=parts.settings.models.timeout_seconds,
    )
    text = inert(reply.value.answer)
    claims: list[Claim] = []
    for start, end in split_sentences(text, message_language(question.text)):
        claims.append(Claim(text=text[start:end].strip(), verdict="unconfirmed"))
    return Body(
        outcome="full",
        action="none",
        composed=Composed(tuple(claims), (), text),
        is_written=True,
        spent=usage_of(reply, prompt),
        degraded=(NOTE,),
    )
