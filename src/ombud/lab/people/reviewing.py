"""Proposed pairs of question and answer that people accept, put right or reject.

A case that nobody has looked at may not decide whether something is released: what passes is tagged
`accepted`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.cases.quotes import normalise
from ombud.lab.people.criteria import criteria_set
from ombud.lab.people.ratings import (
    NOTE,
    FaultyCell,
    Rating,
    SheetRow,
    read_ratings,
    read_sheet,
    sheet_text,
)
from ombud.types import Case, Chunk, Reference

ACCEPTED = "accepted"
SYNTHETIC = "synthetic"
HARVESTED = "harvested"
EDITED = "edited"
DECISIONS = ("accept", "edit", "reject")
CRITERIA = "hypa"
_TEXTS = ("item", "type", "expect", "question", "answer", "document", "passage")
_FILLED = ("decision", "rater", NOTE)


class ReviewTask(NamedTuple):
    """A pair, and the passage that it was made from."""

    case: Case
    passage: str


class PairReview(NamedTuple):
    """A reviewer's decision on one pair."""

    case: str
    reviewer: str
    decision: str
    """One of `DECISIONS`."""
    question: str
    answer: str
    """Both as they stand in the sheet, changed or not."""


class Reviewed(NamedTuple):
    """Result of a review: which cases of a dataset were accepted, rejected or left open."""

    accepted: tuple[Case, ...]
    """Tagged so; those that were put right are tagged `edited` too."""
    rejected: tuple[str, ...]
    disputed: tuple[str, ...]
    """Pairs on which people decided differently: they are not accepted."""
    open: tuple[str, ...]
    """Pairs that nobody decided on."""
    ratings: tuple[Rating, ...] = ()
    """The six questions, for `ombud lab agree`."""
    wrong: tuple[FaultyCell, ...] = ()
    """Cells that are no answer to their question."""

    def shares(self) -> dict[str, tuple[int, int]]:
        """Criterion -> how often yes, of how many ratings."""
        yes: Counter[str] = Counter()
        rated: Counter[str] = Counter()
        for rating in self.ratings:
            yes[rating.criterion] += rating.value > 0
            rated[rating.criterion] += 1
        return {criterion: (yes[criterion], count) for criterion, count in rated.items()}


def review_tasks(cases: Sequence[Case], chunks: Iterable[Chunk] = ()) -> tuple[ReviewTask, ...]:
    """Each case with the indexed passage that holds its evidence, or with its quotes where none
    does. Cases that are accepted already are left out."""
    proposed = [case for case in cases if ACCEPTED not in case.tags]
    by_document: dict[str, list[Chunk]] = {}
    wanted = {item.document for case in proposed for item in case.evidence}
    for chunk in chunks:
        if chunk.uri in wanted:
            by_document.setdefault(chunk.uri, []).append(chunk)
    return tuple(ReviewTask(case, _passage(case, by_document)) for case in proposed)


def _passage(case: Case, by_document: Mapping[str, Sequence[Chunk]]) -> str:
    texts: dict[str, None] = {}
    for item in case.evidence:
        wanted = normalise(item.quote)
        own = item.quote
        for chunk in by_document.get(item.document, ()):
            if wanted and wanted in normalise(chunk.text):
                own = "\n".join(filter(None, (*chunk.trail, chunk.header, chunk.text)))
                break
        texts[own] = None
    return "\n\n".join(texts)


def review_sheet(tasks: Iterable[ReviewTask]) -> str:
    """A CSV with one line a pair, the six questions and a decision to fill in."""
    rows: list[dict[str, object]] = []
    for task in tasks:
        case = task.case
        rows.append(
            {
                "item": case.id,
                "type": case.type,
                "expect": case.expect,
                "question": case.question,
                "answer": _answer(case),
                "document": ", ".join(dict.fromkeys(item.document for item in case.evidence)),
                "passage": task.passage,
            }
        )
    return sheet_text((*_TEXTS, *criteria_set(CRITERIA).criteria, *_FILLED), rows)


def _answer(case: Case) -> str:
    """The reference that a reviewer may change: the first."""
    return case.references[0].text if case.references else ""


def read_reviews(paths: Sequence[Path], cases: Sequence[Case]) -> Reviewed:
    """Read the decisions in one or more sheets. Raises BadRequest for an unreadable sheet, a case
    outside the dataset and an unknown decision."""
    by_id = {case.id: case for case in cases}
    reviews: list[PairReview] = []
    for path in paths:
        for row in read_sheet(path, ("item", "question", "answer", "decision")):
            if row.cells["item"] not in by_id:
                raise BadRequest(
                    f"{row.place}: the case `{row.cells['item']}` is not in the dataset.",
                    hint="Give the dataset that the sheet was written from.",
                )
            review = _review(row, by_id[row.cells["item"]], path.stem)
            if review:
                reviews.append(review)
    rated = read_ratings(paths, criteria_set(CRITERIA).levels, items={})
    return apply_reviews(cases, reviews)._replace(ratings=rated.ratings, wrong=rated.wrong)


def _review(row: SheetRow, case: Case, sheet: str) -> PairReview | None:
    """None where nothing was decided; a changed question or answer is a decision."""
    cells = row.cells
    decision = cells["decision"].casefold()
    changed = bool(cells["question"]) and _is_changed(case, cells["question"], cells["answer"])
    if not decision and not changed:
        return None
    if decision and decision not in DECISIONS:
        raise BadRequest(
            f"{row.place}: `{cells['decision']}` is no decision.",
            hint=f"Write one of {', '.join(DECISIONS)}.",
        )
    if not cells["question"]:
        raise BadRequest(f"{row.place}: the question is gone.", hint="Write `reject` instead.")
    reviewer = cells.get("rater") or sheet
    return PairReview(
        case=case.id,
        reviewer=reviewer,
        decision=decision or "edit",
        question=cells["question"],
        answer=cells["answer"],
    )


def _is_changed(case: Case, question: str, answer: str) -> bool:
    before = (" ".join(case.question.split()), " ".join(_answer(case).split()))
    return before != (" ".join(question.split()), " ".join(answer.split()))


def apply_reviews(cases: Sequence[Case], reviews: Iterable[PairReview]) -> Reviewed:
    """Accepted is what everybody who decided on it accepted, in the same words."""
    by_case: dict[str, dict[str, PairReview]] = {}
    for review in reviews:
        by_case.setdefault(review.case, {})[review.reviewer] = review
    accepted: list[Case] = []
    rejected: list[str] = []
    disputed: list[str] = []
    undecided: list[str] = []
    for case in cases:
        own = list(by_case.get(case.id, {}).values())
        outcomes = {_outcome(case, review) for review in own}
        if ACCEPTED in case.tags and not own:
            accepted.append(case)
        elif not own:
            undecided.append(case.id)
        elif len(outcomes) > 1:
            disputed.append(case.id)
        elif own[0].decision == "reject":
            rejected.append(case.id)
        else:
            accepted.append(_accepted(case, own[0]))
    return Reviewed(tuple(accepted), tuple(rejected), tuple(disputed), tuple(undecided))


def _outcome(case: Case, review: PairReview) -> tuple[str, ...]:
    if review.decision == "reject":
        return ("reject",)
    if not _is_changed(case, review.question, review.answer):
        return ("accept",)
    return ("accept", " ".join(review.question.split()), " ".join(review.answer.split()))


def _accepted(case: Case, review: PairReview) -> Case:
    """With the reviewer's words. Its id stays, for that decides the split."""
    tags = dict.fromkeys((*case.tags, ACCEPTED))
    if not _is_changed(case, review.question, review.answer):
        return case.model_copy(update={"tags": tuple(tags)})
    tags[EDITED] = None
    references: tuple[Reference, ...] = case.references[1:]
    if review.answer:
        persona = case.references[0].persona if case.references else None
        references = (Reference(text=review.answer, persona=persona), *references)
    changes = {"question": review.question, "references": references, "tags": tuple(tags)}
    return case.model_copy(update=changes)


def unreviewed(cases: Iterable[Case]) -> tuple[str, ...]:
    """Cases that were made or taken from conversations, and that nobody accepted."""
    ids: list[str] = []
    for case in cases:
        proposed = SYNTHETIC in case.tags or HARVESTED in case.tags
        if proposed and ACCEPTED not in case.tags:
            ids.append(case.id)
    return tuple(ids)
