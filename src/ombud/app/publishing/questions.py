"""What is asked of the index as it is and as it would be: cases, questions made from the drafts and
from what they replace, and past questions of people where that is allowed."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from typing import Literal, NamedTuple

from ombud.app.publishing.drafts import PolicyDraft
from ombud.app.publishing.sentences import changed_sentences
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest
from ombud.index import blocking
from ombud.lab import normalise, synthesise
from ombud.store import StoredAnswer, list_answers
from ombud.text import fold, redact
from ombud.types import Audience, Case, Chunk, Person, Question

OnProgress = Callable[[str, int, int], None]
SEEDS = (0, 1, 2, 3)
"""Times that questions are made from what has changed; each time others."""
QuestionOrigin = Literal["case", "log", "draft", "replaced"]


class CheckQuestion(NamedTuple):
    question: Question
    origin: QuestionOrigin
    case: Case | None = None
    about: str = ""
    """uri of the document that it was made from."""

    @property
    def country(self) -> str:
        """Empty where the asker has none."""
        return self.question.asker.country or ""


class QuestionChoices(NamedTuple):
    cases: Sequence[Case] = ()
    from_log: int = 0
    """Past questions, at most."""
    made: int = 20
    """Questions made from the drafts, and as many from what they replace, before each is asked for
    every country; as many again of sentences whose figures change."""
    countries: tuple[str, ...] = ()
    """Only people of these; empty = all."""


class CheckQuestions(NamedTuple):
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
    found: list[DraftPassages] = []
    for draft in drafts:
        old: tuple[Chunk, ...] = ()
        if draft.replaces:
            old = _chunks(live, draft.replaces.id)
        found.append(DraftPassages(draft, _chunks(shadow, draft.id), old))
    return found


def countries_of(live: Workspace, draft: PolicyDraft, only: Sequence[str]) -> tuple[str, ...]:
    """Countries whose people the draft concerns; "" for somebody without one, where no document
    knows a country."""
    known = sorted(live.audiences.current()["countries"])
    concerned = list(draft.countries)
    if draft.replaces and draft.countries:  # a draft that narrows concerns those who lose it, too
        concerned += list(draft.replaces.countries) or known
    countries = sorted(set(concerned)) or known or [""]
    return tuple(code for code in countries if not only or code in only)


def gather_questions(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
    on_progress: OnProgress,
) -> CheckQuestions:
    """All that is to be asked, each once. Raises BadRequest where that is nothing."""
    last_day = max(item.draft.begins for item in passages)
    notes: list[str] = []
    asked: list[CheckQuestion] = list(_of_cases(choices, last_day, notes))
    if choices.from_log:
        asked += _of_log(live, passages, choices, last_day, notes)
    if choices.made:
        asked += _made(live, passages, choices, notes, on_progress)
    unique: dict[tuple[object, ...], CheckQuestion] = {}
    for item in asked:
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


def _of_cases(
    choices: QuestionChoices, last_day: date, notes: list[str]
) -> Iterator[CheckQuestion]:
    """As their askers ask, on the day when all drafts are in force unless they name one."""
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


def _of_log(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
    last_day: date,
    notes: list[str],
) -> list[CheckQuestion]:
    """Those whose answers cited what is replaced come first, then the newest."""
    if not live.settings.lab.harvest:
        notes.append(
            "Past questions were left out: [lab] harvest = true says that people were told of it."
        )
        return []
    replaced = {item.draft.replaces.id for item in passages if item.draft.replaces}
    touching: list[CheckQuestion] = []
    others: list[CheckQuestion] = []
    for row in list_answers(live.store):
        item = _past_question(row, choices.countries, last_day)
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


def _past_question(row: StoredAnswer, countries: Sequence[str], day: date) -> CheckQuestion | None:
    """None for what is sensitive, erased, hangs on what was said before, or is of other
    countries."""
    question = row.question
    if question is None or row.sensitive or question.history:
        return None
    asker = question.asker
    if countries and asker.country not in countries:
        return None
    # Nothing of who asked but what decides which documents count.
    anybody = asker.model_copy(update={"id": ""})
    asked = Question(text=redact(question.text), asker=anybody, as_of=day)
    return CheckQuestion(asked, "log")


# Made questions -----------------------------------------------------------------------------------


def _made(
    live: Workspace,
    passages: Sequence[DraftPassages],
    choices: QuestionChoices,
    notes: list[str],
    on_progress: OnProgress,
) -> list[CheckQuestion]:
    """From the passages of the drafts, and of what they replace, for every country concerned."""
    share = -(-choices.made // len(passages))
    asked: list[CheckQuestion] = []
    count = headings = 0
    for item in passages:
        countries = countries_of(live, item.draft, choices.countries)
        for side in _sides_of(item):
            english = [chunk for chunk in side.chunks if chunk.language == "en"]
            made = _questions_of(english, side.changed, share, on_progress)
            foreign = [chunk for chunk in side.chunks if chunk.language != "en" or not made]
            by_heading = _headings_of(foreign, share)
            count += len(made)
            headings += len(by_heading)
            for text in (*made, *by_heading, *_sentence_questions(item, side.origin, share)):
                asked += _for_each(text, side, item.draft.begins, countries)
    notes.append(f"{count} questions were made by rules from the drafts and what they replace.")
    if headings:
        notes.append(f"{headings} headings were asked for where the rules made no question.")
    return asked


def _sentence_questions(item: DraftPassages, origin: QuestionOrigin, size: int) -> list[str]:
    """Of sentences whose figures the draft changes or adds; or that it takes out."""
    asked: list[str] = []
    for changed in changed_sentences(item.new, item.old):
        if bool(changed.after) == (origin == "draft"):
            asked.append(changed.question)
    return asked[:size]


def _headings_of(chunks: Sequence[Chunk], size: int) -> list[str]:
    """What is asked where no rule makes a question, as in other languages than English."""
    headings: dict[str, None] = {}
    for chunk in chunks:
        headings[" ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))] = None
    return list(headings)[:size]


class _Side(NamedTuple):
    """One document that questions are made from."""

    origin: QuestionOrigin
    uri: str
    audience: Audience
    chunks: tuple[Chunk, ...]
    changed: frozenset[str]
    """Ids of the passages that do not stand in the other document in the same words."""


def _sides_of(item: DraftPassages) -> Iterator[_Side]:
    draft = item.draft
    yield _Side(
        origin="draft",
        uri=draft.uri,
        audience=draft.metadata.get("audience", {}),
        chunks=item.new,
        changed=_changed(item.new, item.old),
    )
    if draft.replaces:
        yield _Side(
            origin="replaced",
            uri=draft.replaces.uri,
            audience=draft.replaces.audience,
            chunks=item.old,
            changed=_changed(item.old, item.new),
        )


def _changed(chunks: Sequence[Chunk], others: Sequence[Chunk]) -> frozenset[str]:
    there = {normalise(chunk.text) for chunk in others}
    return frozenset(chunk.id for chunk in chunks if normalise(chunk.text) not in there)


def _questions_of(
    chunks: Sequence[Chunk], changed: Collection[str], size: int, on_progress: OnProgress
) -> list[str]:
    """At most `size`, of passages that have changed first: these give more than one each."""
    made: dict[str, None] = {}
    news = [chunk for chunk in chunks if chunk.id in changed]
    rest = [chunk for chunk in chunks if chunk.id not in changed]
    for some, seeds in ((news, SEEDS), (rest, SEEDS[:1])):
        for seed in seeds if some else ():
            for case in synthesise(some, size, seed=seed, on_progress=on_progress).cases:
                made[case.question] = None
    return list(made)[:size]


def _for_each(
    text: str, side: _Side, day: date, countries: Sequence[str]
) -> Iterator[CheckQuestion]:
    for country in countries:
        asker = reader_of(side.audience, country)
        question = Question(text=text, asker=asker, as_of=day)
        yield CheckQuestion(question, side.origin, about=side.uri)


def reader_of(audience: Audience, country: str) -> Person:
    """Somebody who may read what is written for this audience."""
    return Person(
        country=country or None,
        roles=audience.get("roles", ())[:1],
        groups=audience.get("groups", ())[:1],
        grade=next(iter(audience.get("grades", ())), None),
        contract=next(iter(audience.get("contracts", ())), None),
    )


def _chunks(workspace: Workspace, document_id: str) -> tuple[Chunk, ...]:
    rows = blocking(workspace.engine.rows([document_id]))
    in_order = sorted(rows, key=lambda row: row.chunk.start)
    return tuple(row.chunk for row in in_order)
