"""Ratings of answers: a thumb and a comment, the latest of each rater."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.errors import NotFound
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import answer_feedback as feedback

LONGEST_COMMENT = 2000


class Feedback(NamedTuple):
    """A rating of an answer by one rater."""

    answer_id: str
    rater: str
    thumb: int
    """1 or -1."""
    comment: str
    at: str


def rate_answer(store: Store, answer_id: str, rater: str, thumb: int, comment: str = "") -> None:
    """Store a rating in place of the rater's earlier one. Raises NotFound for an unknown answer."""
    same = (feedback.c.answer_id == answer_id) & (feedback.c.rater == rater)
    with store.write() as db:
        if db.execute(select(answers.c.id).where(answers.c.id == answer_id)).first() is None:
            raise NotFound(f"There is no answer `{answer_id}`.")
        db.execute(delete(feedback).where(same))
        row = Feedback(answer_id, rater, thumb, comment[:LONGEST_COMMENT], now())
        db.execute(insert(feedback).values(**row._asdict()))


def feedback_on(store: Store, answer_id: str) -> list[Feedback]:
    """Return the ratings of one answer, oldest first."""
    query = select(feedback).where(feedback.c.answer_id == answer_id).order_by(feedback.c.at)
    with store.read() as db:
        return [Feedback(**row._mapping) for row in db.execute(query)]


def list_feedback(store: Store) -> Iterator[Feedback]:
    """Yield all ratings, oldest first."""
    query = select(feedback).order_by(feedback.c.at, feedback.c.answer_id, feedback.c.rater)
    with store.read() as db:
        rows = db.execute(query).all()
    for row in rows:
        yield Feedback(**row._mapping)


def read_thumbs(store: Store) -> dict[str, int]:
    """Return answer -> 1 or -1, by the majority of its raters; answers with a tie are left out."""
    total = func.sum(feedback.c.thumb)
    query = select(feedback.c.answer_id, total).group_by(feedback.c.answer_id)
    thumbs: dict[str, int] = {}
    with store.read() as db:
        for identity, balance in db.execute(query):
            if balance:
                thumbs[identity] = 1 if balance > 0 else -1
    return thumbs


def now() -> str:
    return datetime.now(UTC).isoformat()
