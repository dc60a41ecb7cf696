"""Passages that runs found, to be graded by people: pooling, as at TREC.

The best passages of several runs are graded together, without saying who found them, so that a run
is not punished for finding what nobody had looked at (Sparck Jones & van Rijsbergen 1975). What is
still ungraded counts as not relevant in most metrics, so its share is said beside them."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.cases.quotes import normalise
from ombud.lab.metrics.retrieval import carries_any
from ombud.lab.people.sheets import read_sheet, sheet_text
from ombud.lab.report.comparing import RecordedRun
from ombud.types import Case, Hit, Passage

GRADES: Mapping[str, int] = {"0": 0, "1": 1, "2": 2}
"""Not relevant; helps; answers."""
COLUMNS = ("item", "case", "question", "document", "heading", "passage", "grade")


class PooledPassage(NamedTuple):
    item: str
    """Of case, document and words: the same passage has the same id in every pool."""
    case: str
    question: str
    document: str
    """Its uri."""
    heading: str
    """Its place in the document, and the header of its table."""
    text: str


class GradedPassage(NamedTuple):
    passage: PooledPassage
    grade: int


class Grading(NamedTuple):
    """What came back of a pool."""

    graded: tuple[GradedPassage, ...]
    ungraded: tuple[str, ...]
    """Places of lines without a grade."""
    wrong: tuple[str, ...]
    """Places of lines with something else than 0, 1 or 2, and what it is."""

    @property
    def items(self) -> frozenset[str]:
        return frozenset(one.passage.item for one in self.graded)


class UnjudgedShare(NamedTuple):
    """Of the passages that a run has at the depth."""

    run: str
    name: str
    unjudged: int
    passages: int
    cases: int
    """Cases with at least one that nobody has graded."""

    @property
    def share(self) -> float | None:
        return self.unjudged / self.passages if self.passages else None


def pool_passages(
    runs: Sequence[RecordedRun], depth: int, judged: Iterable[str] = ()
) -> tuple[PooledPassage, ...]:
    """The first `depth` passages of each case in each run, each once, without those that hold the
    case's evidence or are in `judged` (items of earlier pools).

    Their order follows from digests: by question, and neither by rank nor by run."""
    known = set(judged)
    pool: dict[str, PooledPassage] = {}
    for recorded in runs:
        for seen in recorded.observations:
            for hit in (seen.hits or ())[:depth]:
                passage = _pooled(seen.case, hit)
                if passage.item not in known and not carries_any(hit, seen.case.evidence):
                    pool[passage.item] = passage
    return tuple(sorted(pool.values(), key=_place))


def _place(passage: PooledPassage) -> tuple[str, str]:
    return sha256(passage.case.encode()).hexdigest(), passage.item


def _pooled(case: Case, hit: Hit) -> PooledPassage:
    chunk = hit.chunk
    words = "\0".join((case.id, chunk.uri, normalise(chunk.text)))
    item = sha256(words.encode()).hexdigest()[:12]
    place = " > ".join((chunk.title, *chunk.trail))
    return PooledPassage(
        item=item,
        case=case.id,
        question=case.question,
        document=chunk.uri,
        heading="\n".join(filter(None, (place, chunk.header))),
        text=chunk.text,
    )


def pool_sheet(pool: Iterable[PooledPassage]) -> str:
    """A CSV with an empty column `grade`."""
    rows: list[dict[str, object]] = []
    for passage in pool:
        rows.append(
            {
                "item": passage.item,
                "case": passage.case,
                "question": passage.question,
                "document": passage.document,
                "heading": passage.heading,
                "passage": passage.text,
            }
        )
    return sheet_text(COLUMNS, rows)


def read_grades(paths: Sequence[Path]) -> Grading:
    """The grades that people gave. Raises BadRequest for a file that is no pool, and where two
    lines grade one passage differently."""
    graded: dict[str, GradedPassage] = {}
    ungraded: list[str] = []
    wrong: list[str] = []
    for path in paths:
        for row in read_sheet(path, COLUMNS):
            cells = row.cells
            if not cells["grade"]:
                ungraded.append(row.place)
                continue
            if cells["grade"] not in GRADES:
                wrong.append(f"{row.place}: `{cells['grade']}`")
                continue
            passage = PooledPassage(
                item=cells["item"],
                case=cells["case"],
                question=cells["question"],
                document=cells["document"],
                heading=cells["heading"],
                text=cells["passage"],
            )
            found = GradedPassage(passage, GRADES[cells["grade"]])
            before = graded.setdefault(passage.item, found)
            if before.grade != found.grade:
                raise BadRequest(
                    f"{row.place}: this passage was graded {before.grade} before.",
                    hint="Agree on one grade and put it into both lines.",
                )
    return Grading(tuple(graded.values()), tuple(ungraded), tuple(wrong))


def qrels_of_grades(
    graded: Iterable[GradedPassage], cases: Iterable[Case] = ()
) -> dict[str, dict[str, int]]:
    """Case -> document -> its highest grade, of graded passages and of the cases' own evidence; 0
    is kept, for it says that somebody looked."""
    qrels: dict[str, dict[str, int]] = {}
    for case in cases:
        for item in case.evidence:
            _raise_grade(qrels, case.id, item.document, item.grade)
    for one in graded:
        _raise_grade(qrels, one.passage.case, one.passage.document, one.grade)
    return qrels


def _raise_grade(qrels: dict[str, dict[str, int]], case: str, document: str, grade: int) -> None:
    grades = qrels.setdefault(case, {})
    grades[document] = max(grade, grades.get(document, 0))


def with_grades(cases: Iterable[Case], graded: Iterable[GradedPassage]) -> tuple[Case, ...]:
    """The cases with the relevant passages as further evidence; raises BadRequest for a grade of a
    case that is not there."""
    by_case: dict[str, list[Passage]] = {}
    for one in graded:
        relevant = by_case.setdefault(one.passage.case, [])
        if one.grade:
            grade = 2 if one.grade > 1 else 1
            place = Passage(document=one.passage.document, quote=one.passage.text, grade=grade)
            relevant.append(place)
    widened: list[Case] = []
    for case in cases:
        more = [place for place in by_case.pop(case.id, []) if place not in case.evidence]
        widened.append(case.model_copy(update={"evidence": (*case.evidence, *more)}))
    if by_case:
        raise BadRequest(
            f"The case `{min(by_case)}` was graded and is not in the dataset.",
            hint="Give the dataset that the runs were made of.",
        )
    return tuple(widened)


def unjudged_share(recorded: RecordedRun, depth: int, judged: Iterable[str]) -> UnjudgedShare:
    """How many of a run's first `depth` passages nobody has graded."""
    known = set(judged)
    passages = 0
    unjudged = 0
    cases = 0
    for seen in recorded.observations:
        open_before = unjudged
        for hit in (seen.hits or ())[:depth]:
            passages += 1
            is_known = _pooled(seen.case, hit).item in known or carries_any(hit, seen.case.evidence)
            unjudged += not is_known
        cases += unjudged > open_before
    return UnjudgedShare(recorded.run.id, recorded.run.name, unjudged, passages, cases)
