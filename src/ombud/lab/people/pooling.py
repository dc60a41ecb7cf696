"""Passages that runs found, to be graded by people: pooling, as at TREC.

The best passages of several runs are graded together, without saying who found them, so that a run
is not punished for finding what nobody had looked at (Sparck Jones & van Rijsbergen 1975)."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.cases.quotes import normalise
from ombud.lab.metrics.retrieval import carries_any
from ombud.lab.people.ratings import NOTE, RatingSet, read_ratings, sheet_text
from ombud.lab.report.comparing import RecordedRun
from ombud.types import Case, Hit, Passage

GRADES = (0, 1, 2)
"""Not relevant; helps; answers."""
GRADED = ("item", "value", "case", "document", "passage")
"""Columns that a graded pool must have."""
COLUMNS = ("item", "rater", "value", NOTE, "case", "question", "document", "heading", "passage")


class PooledPassage(NamedTuple):
    item: str
    """Of case, document and words: the same passage has the same id in every pool."""
    case: str
    question: str
    document: str
    """Its uri."""
    heading: str
    """Its place in the document, and the header of its table."""
    passage: str


def pool_passages(runs: Sequence[RecordedRun], depth: int) -> tuple[PooledPassage, ...]:
    """Pool the first `depth` passages of each case in each run, each once, without those that
    contain the case's evidence.

    Their order follows from digests: by question, and neither by rank nor by run."""
    pool: dict[str, PooledPassage] = {}
    for recorded in runs:
        for seen in recorded.observations:
            for hit in (seen.hits or ())[:depth]:
                passage = _pooled(seen.case, hit)
                if not carries_any(hit, seen.case.evidence):
                    pool[passage.item] = passage
    return tuple(sorted(pool.values(), key=_place))


def _place(passage: PooledPassage) -> tuple[str, str]:
    return sha256(passage.case.encode()).hexdigest(), passage.item


def _pooled(case: Case, hit: Hit) -> PooledPassage:
    chunk = hit.chunk
    words = "\0".join((case.id, chunk.uri, normalise(chunk.text)))
    place = " > ".join((chunk.title, *chunk.trail))
    return PooledPassage(
        item=sha256(words.encode()).hexdigest()[:12],
        case=case.id,
        question=case.question,
        document=chunk.uri,
        heading="\n".join(filter(None, (place, chunk.header))),
        passage=chunk.text,
    )


def pool_sheet(pool: Iterable[PooledPassage]) -> str:
    """Write a CSV with an empty column `value`."""
    return sheet_text(COLUMNS, [passage._asdict() for passage in pool])


def read_grades(paths: Sequence[Path]) -> RatingSet:
    """Read the grades that people gave; others than 0, 1 and 2 are wrong. Raises BadRequest if two
    people grade one passage differently."""
    grades: dict[str, float] = {}
    read = read_ratings(paths, {"": GRADES}, items={}, needed=GRADED)
    for rating in read.ratings:
        if grades.setdefault(rating.item, rating.value) != rating.value:
            raise BadRequest(
                f"The passage {rating.item} has the grades {grades[rating.item]:g} and "
                f"{rating.value:g}.",
                hint="Agree on one grade and put it into both lines.",
            )
    return read


def qrels_of_grades(read: RatingSet, cases: Iterable[Case] = ()) -> dict[str, dict[str, int]]:
    """Case -> document -> its highest grade, of graded passages and of the cases' own evidence; 0
    is kept, for it says that somebody looked."""
    qrels: dict[str, dict[str, int]] = {}

    def raise_grade(case: str, document: str, grade: int) -> None:
        grades = qrels.setdefault(case, {})
        grades[document] = max(grade, grades.get(document, 0))

    for case in cases:
        for item in case.evidence:
            raise_grade(case.id, item.document, item.grade)
    for rating in read.ratings:
        cells = read.cells[rating.item]
        raise_grade(cells["case"], cells["document"], int(rating.value))
    return qrels


def with_grades(cases: Iterable[Case], read: RatingSet) -> tuple[Case, ...]:
    """The cases with the relevant passages as further evidence; raises BadRequest for a grade of a
    case that is not there."""
    by_case: dict[str, dict[str, Passage]] = {}
    for rating in read.ratings:
        cells = read.cells[rating.item]
        relevant = by_case.setdefault(cells["case"], {})
        if rating.value:
            grade = 2 if rating.value > 1 else 1
            place = Passage(document=cells["document"], quote=cells["passage"], grade=grade)
            relevant[rating.item] = place
    widened: list[Case] = []
    for case in cases:
        graded = by_case.pop(case.id, {}).values()
        more = [place for place in graded if place not in case.evidence]
        widened.append(case.model_copy(update={"evidence": (*case.evidence, *more)}))
    if by_case:
        raise BadRequest(
            f"The case `{min(by_case)}` was graded and is not in the dataset.",
            hint="Give the dataset that the runs were made of.",
        )
    return tuple(widened)
