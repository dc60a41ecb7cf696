"""What the last answer quoted is likelier to hold the answer to what is asked about it."""

from answer.quoting.test_fitness import span
from ombud.answer.quoting.continuing import favour_shown
from ombud.answer.quoting.spans import AnswerSpan
from ombud.types import Message, Question

RULE = "Call your manager by nine on the first day."
OTHER = "Leave is asked for three weeks before it begins."


def scored(text: str, uri: str, score: float) -> AnswerSpan:
    made = span(text)
    chunk = made.hit.chunk.model_copy(update={"uri": uri, "title": uri, "trail": ()})
    hit = made.hit.model_copy(update={"chunk": chunk})
    return made._replace(hit=hit, score=score)


def asked(*history: Message) -> Question:
    return Question(text="by what time", history=history)


def test_the_document_of_the_last_answer_is_twice_as_likely() -> None:
    spans = [scored(OTHER, "leave.md", 0.5), scored(RULE, "sickness.md", 0.4)]
    answer = Message(
        role="assistant", content="Call your manager by nine on the **first** day. [1]"
    )
    first, second = favour_shown(spans, asked(Message(role="user", content="sick"), answer))
    assert first.text == RULE
    assert round(first.score, 3) == 0.571  # odds 2/3 doubled are 4/3
    assert (second.text, second.score) == (OTHER, 0.5)


def test_nothing_changes_without_an_answer_before() -> None:
    spans = [scored(OTHER, "leave.md", 0.5), scored(RULE, "sickness.md", 0.4)]
    assert favour_shown(spans, asked()) == spans
    assert favour_shown(spans, asked(Message(role="user", content=RULE))) == spans
