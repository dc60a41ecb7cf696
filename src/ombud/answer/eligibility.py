"""What an entitlement depends on, where no model writes: requirements of the section that answers,
each in its own words, and whether this asker meets them."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from babel.units import format_unit

from ombud.answer.bodies import Body, with_conditions
from ombud.answer.compose.conditions import LONGEST_CONDITION, MOST_CONDITIONS, State
from ombud.answer.languages import wording
from ombud.answer.proof.citing import Stored, as_markdown, citation_of
from ombud.answer.quoting.card import section_pieces
from ombud.answer.quoting.groups import status_words
from ombud.answer.quoting.sections import RankedSection
from ombud.answer.quoting.spans import LIST_MARK, AnswerSpan, is_row, points_back
from ombud.messages import message
from ombud.text import (
    Phrases,
    analyse,
    clauses_of,
    find_service,
    fold,
    moved,
    phrase_tables,
    split_words,
)
from ombud.types import AnswerCondition, ResolvedQuestion


def with_eligibility(
    body: Body, section: RankedSection, resolved: ResolvedQuestion, stored: Stored
) -> Body:
    """Return an answer with what its section asks of somebody, and "No" above it where the very
    sentence or row that answers asks for longer service."""
    conditions = find_conditions(section, resolved, stored)
    body = with_conditions(body._replace(conditions=conditions), resolved.language)
    unmet = [one for one in conditions if one.state == "not_met" and find_service(one.text)]
    if not any(one.citation.start <= section.lead.start < one.citation.end for one in unmet):
        return body
    text = f"**{message('answer.service_not_met', resolved.language)}**\n\n{body.composed.text}"
    return body._replace(composed=body.composed._replace(text=text))


def find_conditions(
    section: RankedSection, resolved: ResolvedQuestion, stored: Stored
) -> tuple[AnswerCondition, ...]:
    """Return the requirements of a section, if the question asks about an entitlement.

    A length of service is compared with what the asker said; it is asked for where they said
    nothing. What holds for a group is met or not only by what the asker says of themselves."""
    stored_section = section_pieces(section, stored) if asks_for_entitlement(resolved) else None
    if stored_section is None:
        return ()
    document, pieces, _ = stored_section
    on_service: list[AnswerCondition] = []
    others: list[AnswerCondition] = []
    for piece in pieces:
        length = find_service(piece.text, document.language)
        if not is_requirement(piece, section, names_service=length is not None):
            continue
        state, question, choices = (
            service_condition(length, resolved) if length else group_condition(piece, resolved)
        )
        condition = AnswerCondition(
            text=plain_text_of(piece),
            state=state,
            citation=citation_of(piece.hit.chunk, document, piece.start, piece.end),
            question=question,
            choices=choices,
        )
        (on_service if length else others).append(condition)
    return (*on_service, *others)[:MOST_CONDITIONS]


def asks_for_entitlement(resolved: ResolvedQuestion) -> bool:
    """Tell whether a clause of the question begins as "Can I" does."""
    asks = _words("asks", resolved.language)
    clauses = map(split_words, clauses_of(fold(resolved.standalone)))
    return any(words and any(asks.at(words, 0)) for words in clauses)


def is_requirement(piece: AnswerSpan, section: RankedSection, *, names_service: bool) -> bool:
    """Tell whether a statement says how long somebody must have worked, or which group is in or
    out, and can be read alone. Of a table only the row that answers counts."""
    plain, language = fold(piece.text), piece.hit.chunk.language
    is_other_row = is_row(piece.text) and piece.start != section.lead.start
    if is_other_row or points_back(piece.text) or len(piece.text) > LONGEST_CONDITION:
        return False
    if _words("free", language).values_in(plain):
        return False
    rules_on_group = status_words(piece.text) and _words("requires", language).values_in(plain)
    return names_service or bool(rules_on_group)


def plain_text_of(piece: AnswerSpan) -> str:
    mark = LIST_MARK.match(piece.text)
    text = as_markdown(piece.text[mark.end() if mark else 0 :].strip())
    if is_row(piece.text):
        text = " · ".join(filter(None, (cell.strip() for cell in text.split("|"))))
    return " ".join(text.replace("**", "").split())


def service_condition(
    length: tuple[int, str], resolved: ResolvedQuestion
) -> tuple[State, str, tuple[str, ...]]:
    """Compare the asker's time here with the length that a rule asks for."""
    count, unit = length
    if resolved.began:
        latest_start = moved(resolved.as_of, unit, -count)
        first, last = resolved.began
        if last and last <= latest_start:
            return "met", "", ()
        if first and first > latest_start:
            return "not_met", "", ()
    language = resolved.language
    written = format_unit(count, f"duration-{unit}", locale=language)
    return "unknown", *wording.service_question(written, language)


def group_condition(
    piece: AnswerSpan, resolved: ResolvedQuestion
) -> tuple[State, str, tuple[str, ...]]:
    """Compare the group of people that a requirement names with the asker's reply about it."""
    groups = status_words(piece.text)
    if not groups:
        return "unknown", "", ()
    question, (yes, no) = wording.group_question(groups[0], resolved.language)
    replies = (resolved.text, *resolved.earlier)
    own = status_words(" ".join((resolved.asker.contract or "", resolved.standalone)))
    is_of_group = yes in replies or bool(_stems(own) & _stems(groups))
    if not is_of_group and no not in replies:
        return "unknown", question, (yes, no)
    plain, of_rule = fold(piece.text), piece.hit.chunk.language
    denies = bool(_words("denies", of_rule).values_in(plain))
    if is_of_group == denies:
        return "not_met", "", ()
    says_more = bool(_words("or", of_rule).values_in(plain))
    return "unknown" if says_more else "met", "", ()


def _stems(groups: Sequence[str]) -> set[str]:
    return set(analyse(" ".join(groups)))


def _words(role: str, language: str) -> Phrases[str]:
    return _tables().get(language, _tables()["en"])[role]


@cache
def _tables() -> Mapping[str, Mapping[str, Phrases[str]]]:
    path = Path(__file__).with_suffix(".toml")
    return phrase_tables(tomllib.loads(path.read_text(encoding="utf-8")))
