"""A message that asks several things: what each of them is, and what answers it."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.assessing import Assessment, assess_alone
from ombud.answer.bodies import Body
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Composed
from ombud.answer.quoting.card import answer_card
from ombud.answer.quoting.sections import RankedSection, choose_sections
from ombud.answer.quoting.spans import points_back, section_of
from ombud.index import Filter
from ombud.messages import message
from ombud.text import analyse, message_language, split_sentences
from ombud.types import Plan, Question

LEAST_ITEMS = 3
"""Of an enumeration; two things are often one, such as "terms and conditions"."""
LONGEST_ITEM = 3
"""Words."""
PUNCTUATION = "|*.,;:?!()[]{}“”\"'…"
JOINING = (" and ", " und ", " et ", " y ", " & ")


class QuestionPart(NamedTuple):
    name: str
    """As the message has it."""
    question: str
    """That stands alone."""
    is_question: bool
    """As it was written; an item of an enumeration is none."""


def question_parts(text: str, language: str) -> list[QuestionPart]:
    """Return what a message asks: its questions, or the items of an enumeration, each behind the
    words in front of the first. Empty where it asks one thing."""
    questions: list[QuestionPart] = []
    for start, end in split_sentences(text, language):
        sentence = text[start:end].strip()
        if sentence.endswith("?"):
            questions.append(QuestionPart(sentence, sentence, is_question=True))
    if len(questions) < 2:
        return split_enumeration(text, language)
    stand_alone = all(_stands_alone(thing.question, language) for thing in questions)
    return questions if stand_alone else []


def _stands_alone(question: str, language: str) -> bool:
    return not points_back(question) and len(set(analyse(question, language))) > 1


def split_enumeration(text: str, language: str) -> list[QuestionPart]:
    joined = text.strip(" ?.!")
    for word in JOINING:
        joined = joined.replace(word, ", ")
    parts = [part.strip() for part in joined.split(",") if part.strip()]
    if len(parts) < LEAST_ITEMS:
        return []
    *frame, first = parts[0].split()
    items = [first, *parts[1:]]
    if any(len(item.split()) > LONGEST_ITEM or not analyse(item, language) for item in items):
        return []
    things: list[QuestionPart] = []
    for item in items:
        question = " ".join((*frame, f"{item}?"))
        things.append(QuestionPart(item, question, is_question=False))
    return things


def missing_codes(question: Question, composed: Composed) -> list[str]:
    """Return the codes in a question, such as "L23", that nothing shown has."""
    words = {word.strip(PUNCTUATION).casefold() for word in composed.text.split()}
    for citation in composed.citations:
        names = f"{citation.title} {' '.join(citation.trail)}"
        words |= {word.strip(PUNCTUATION).casefold() for word in names.split()}
    codes = dict.fromkeys(filter(_is_code, (w.strip(PUNCTUATION) for w in question.text.split())))
    return [code for code in codes if code.casefold() not in words]


def _is_code(word: str) -> bool:
    """Tell whether a word begins with a letter and has a digit: "30h" is an amount."""
    return word[:1].isalpha() and word.isalnum() and any(map(str.isdigit, word))


def with_missing(body: Body, names: Sequence[str], language: str) -> Body:
    """Say what of a question is not answered."""
    if not names:
        return body
    missing = tuple(message("answer.no_section", language, name=name) for name in names)
    text = "\n\n".join((body.composed.text, *missing))
    return body._replace(
        outcome="partial",
        composed=body.composed._replace(text=text),
        missing=missing,
    )


def several_body(
    question: Question, where: Filter, parts: AnswerParts, plan: Plan, language: str
) -> Body | None:
    """Quote the section that answers each of several things, and say which have none. None if one
    thing is asked, or no section answers."""
    things = question_parts(question.text, language)
    if not things:
        return None
    sections: list[RankedSection] = []
    unanswered: list[str] = []
    for thing in things:
        assessed = assess_alone(thing.question, question, where, parts, plan)
        section = section_on_part(thing, assessed)
        if section is None:
            unanswered.append(thing.name)
        elif section not in sections:
            sections.append(section)
    if len(sections) < 2 and not things[0].is_question:
        return None  # commas of a sentence, no enumeration
    composed = answer_card(sections, question, parts.stored, folded=True)
    if not composed.claims:
        return None
    body = Body(
        outcome="full",
        action="none",
        composed=composed,
        evidence=tuple(section.chunk.id for section in sections),
    )
    return with_missing(body, unanswered, message_language(question.text))


def section_on_part(thing: QuestionPart, assessed: Assessment) -> RankedSection | None:
    """Return the section that answers a question with enough confidence; for an enumerated item the
    likeliest whose heading or title has its words."""
    if thing.is_question:
        return choose_sections(assessed.sections)[0] if assessed.is_sure else None
    for section in assessed.sections:
        chunk = section.chunk
        heading = f"{chunk.title} {section_of(section.lead)}"
        if set(analyse(thing.name, chunk.language)) <= set(analyse(heading, chunk.language)):
            return section
    return None
