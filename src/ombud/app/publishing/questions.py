"""The questions of a check: cases, headings and changed figures of drafts and of what they replace,
and past questions where allowed."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal, NamedTuple

from ombud.app.publishing.drafts import PolicyDraft
from ombud.app.publishing.sentences import changed_sentences
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest
from ombud.index import blocking
from ombud.lab import normalise
from ombud.store import StoredAnswer, list_answers
from ombud.text import fold, redact
from ombud.types import Audience, Case, Chunk, Person, Question

QuestionOrigin = Literal["case", "log", "draft", "replaced"]


class CheckQuestion(NamedTuple):
    """A question with its origin."""

    question: Question
    origin: QuestionOrigin
    case: Case | None = None
    about: str = ""
    """Uri of the document from which it was made."""

    @property
    def country(self) -> str:
        """Return the asker's country; empty if there is none."""
        return self.question.asker.country or ""


class QuestionChoices(NamedTuple):
    """The kinds and numbers of questions to ask."""

    cases: Sequence[Case] = ()
    from_log: int = 0
    """Largest number of past questions."""
    made: int = 20
    """Number of headings of the drafts, and as many of what they replace, before each is asked for
    every country; as many again of sentences with changed figures."""
    countries: tuple[str, ...] = ()
    """Only askers of these; empty = all."""


class CheckQuestions(NamedTuple):
    """All questions of a check."""

    asked: tuple[CheckQuestion, ...]
    notes: tuple[str, ...]


class DraftPassages(NamedTuple):
    """The passages of a draft and of what it replaces."""

    draft: PolicyDraft
    new: tuple[Chunk, ...]
    old: tuple[Chunk, ...]


def passages_of(
    live: Workspace, shadow: Workspace, drafts: Sequence[PolicyDraft]
) -> list[DraftPassages]:
    passages: list[DraftPassages] = []
    for draft in drafts:
        old: tuple[Chunk, ...] = ()
        if draft.replaces:
            old = chunks_of(live, draft.replaces.id)
        passages.append(DraftPassages(draft, chunks_of(shadow, draft.id), old))
    return passages


def countries_of(live: Workspace, draft: PolicyDraft, only: Sequence[str]) -> tuple[str, ...]:
    """Return the countries whose people the draft concerns; "" for somebody without one if no
    document has a country."""
    served = sorted(live.audiences.current()["countries"])
    concerned = list(draft.countries)
    if draft.replaces and draft.countries:  # those who lose it are concerned as well
        concerned += list(draft.replaces.countries) or served
    countries = sorted(set(concerned)) or served or [""]
    return tuple(code for code in countries if not only or code in only)


def gather_questions(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
) -> CheckQuestions:
    """Collect the distinct questions. Raises BadRequest if there are none."""
    last_day = max(item.draft.begins for item in passages)
    notes: list[str] = []
    questions: list[CheckQuestion] = list(case_questions(choices, last_day, notes))
    if choices.from_log:
        questions += past_questions(live, passages, choices, last_day, notes)
    if choices.made:
        questions += made_questions(live, passages, choices, notes)
    unique: dict[tuple[object, ...], CheckQuestion] = {}
    for item in questions:
        question = item.question
        key = (question.text, question.asker, question.as_of, question.history)
        unique.setdefault(key, item)
    if not unique:
        raise BadRequest(
            "There is nothing to ask.",
            hint="Give cases with --cases, or look at --country and --made.",
        )
    return CheckQuestions(tuple(unique.values()), tuple(notes))


# Cases --------------------------------------------------------------------------------------------


def case_questions(
    choices: QuestionChoices, last_day: date, notes: list[str]
) -> Iterator[CheckQuestion]:
    """Yield the questions of cases with their askers, on the first day when all drafts are in force
    unless they name one."""
    left_out = 0
    for case in choices.cases:
        if choices.countries and case.person.country not in choices.countries:
            left_out += 1
            continue
        question = Question(
            text=case.question,
            asker=case.person,
            history=case.history,
            as_of=case.as_of or last_day,
        )
        yield CheckQuestion(question, "case", case=case)
    if left_out:
        notes.append(f"{left_out} cases of people of other countries were left out.")


# Past questions -----------------------------------------------------------------------------------


def past_questions(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
    last_day: date,
    notes: list[str],
) -> list[CheckQuestion]:
    """Return past questions: first those whose answers cited what is replaced, then the newest."""
    if not live.settings.lab.harvest:
        notes.append(
            "Past questions were left out: [lab] harvest = true says that people were told of it."
        )
        return []
    replaced = {item.draft.replaces.id for item in passages if item.draft.replaces}
    touching: list[CheckQuestion] = []
    others: list[CheckQuestion] = []
    for row in list_answers(live.store):
        item = past_question(row, choices.countries, last_day)
        if item is None or row.answer is None:
            continue
        cited = {citation.document_id for citation in row.answer.citations}
        (touching if cited & replaced else others).append(item)
    unique: dict[tuple[str, str], CheckQuestion] = {}
    for item in (*reversed(touching), *reversed(others)):
        unique.setdefault((fold(item.question.text), item.country), item)
    chosen = list(unique.values())[: choices.from_log]
    notes.append(f"{len(chosen)} past questions, without names and numbers of people.")
    return chosen


def past_question(row: StoredAnswer, countries: Sequence[str], day: date) -> CheckQuestion | None:
    """Convert a past question; None if it is sensitive, erased, a follow-up, or of another
    country."""
    question = row.question
    if question is None or row.sensitive or question.history:
        return None
    asker = question.asker
    if countries and asker.country not in countries:
        return None
    # Only what decides which documents apply to the asker.
    anybody = asker.model_copy(update={"id": ""})
    anonymous = Question(text=redact(question.text), asker=anybody, as_of=day)
    return CheckQuestion(anonymous, "log")


# Made questions -----------------------------------------------------------------------------------


def made_questions(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
    notes: list[str],
) -> list[CheckQuestion]:
    """Make questions from the passages of the drafts and of what they replace, for every country
    concerned."""
    share = -(-choices.made // len(passages))
    questions: list[CheckQuestion] = []
    count = 0
    for item in passages:
        countries = countries_of(live, item.draft, choices.countries)
        for side in sides_of(item):
            made = (*headings_of(side, share), *sentence_questions(item, side.origin, share))
            count += len(made)
            for text in made:
                questions += for_each_country(text, side, item.draft.begins, countries)
    notes.append(
        f"{count} headings and changed figures of the drafts and what they replace were asked for."
    )
    return questions


def sentence_questions(item: DraftPassages, origin: QuestionOrigin, size: int) -> list[str]:
    """Make questions of sentences whose figures the draft changes, adds or removes."""
    sentences: list[str] = []
    for changed in changed_sentences(item.new, item.old):
        if bool(changed.after) == (origin == "draft"):
            sentences.append(changed.question)
    return sentences[:size]


def headings_of(side: "DraftSide", size: int) -> list[str]:
    """Return at most `size` headings, those of changed passages first."""
    by_change = sorted(side.chunks, key=lambda chunk: chunk.id not in side.changed)
    headings: dict[str, None] = {}
    for chunk in by_change:
        headings[" ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))] = None
    return list(headings)[:size]


class DraftSide(NamedTuple):
    """A document from which questions are made."""

    origin: QuestionOrigin
    uri: str
    audience: Audience
    chunks: tuple[Chunk, ...]
    changed: frozenset[str]
    """Ids of the passages whose text the other document lacks."""


def sides_of(item: DraftPassages) -> Iterator[DraftSide]:
    draft = item.draft
    yield DraftSide(
        origin="draft",
        uri=draft.uri,
        audience=draft.metadata.get("audience", {}),
        chunks=item.new,
        changed=changed_ids(item.new, item.old),
    )
    if draft.replaces:
        yield DraftSide(
            origin="replaced",
            uri=draft.replaces.uri,
            audience=draft.replaces.audience,
            chunks=item.old,
            changed=changed_ids(item.old, item.new),
        )


def changed_ids(chunks: Sequence[Chunk], others: Sequence[Chunk]) -> frozenset[str]:
    there = {normalise(chunk.text) for chunk in others}
    return frozenset(chunk.id for chunk in chunks if normalise(chunk.text) not in there)


def for_each_country(
    text: str, side: DraftSide, day: date, countries: Sequence[str]
) -> Iterator[CheckQuestion]:
    for country in countries:
        asker = reader_of(side.audience, country)
        question = Question(text=text, asker=asker, as_of=day)
        yield CheckQuestion(question, side.origin, about=side.uri)


def reader_of(audience: Audience, country: str) -> Person:
    """Return a person who may read what is written for this audience."""
    return Person(
        country=country or None,
        roles=audience.get("roles", ())[:1],
        groups=audience.get("groups", ())[:1],
        grade=next(iter(audience.get("grades", ())), None),
        contract=next(iter(audience.get("contracts", ())), None),
    )


def chunks_of(workspace: Workspace, document_id: str) -> tuple[Chunk, ...]:
    rows = blocking(workspace.engine.rows([document_id]))
    in_order = sorted(rows, key=lambda row: row.chunk.start)
    return tuple(row.chunk for row in in_order)
