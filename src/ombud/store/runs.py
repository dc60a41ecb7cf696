"""What the lab remembers: runs, what was observed case by case, scores, looks at sealed splits."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, text, update

from ombud.errors import NotFound
from ombud.store.database import Store
from ombud.store.queries import batches
from ombud.store.tables import lab_look as looks
from ombud.store.tables import lab_passage as passages
from ombud.store.tables import lab_reply as replies
from ombud.store.tables import lab_row as rows
from ombud.store.tables import lab_run as runs
from ombud.store.tables import lab_score as scores
from ombud.types import Chunk, Hit, Observation, Run, Score, load_record

_BLOCK = 200
"""Observations read at once: their chunks are joined to them in one more query."""
_MOST = 500
"""Values in one IN list."""
EVERY_FIRST: Mapping[str, int] = {}
"""Every metric in its first version."""
NOT_ASKED = "the judge could not be asked: "
"""How the reason of a score begins that is to be tried again."""
_KEEP = text(
    "INSERT INTO lab_passage (chunk_id, document_id, chunk) "
    "VALUES (:chunk_id, :document_id, :chunk)"
    " ON CONFLICT (chunk_id) DO NOTHING"
)


class Done(NamedTuple):
    """A case that is finished: its place in the dataset, what was observed, its scores by (metric,
    version)."""

    place: int
    observation: Observation
    scores: tuple[Score, ...]


# Runs ---------------------------------------------------------------------------------------------


def start_run(store: Store, run: Run) -> None:
    with store.write() as db:
        db.execute(insert(runs).values(id=run.id, **_columns(run)))


def save_run(store: Store, run: Run) -> None:
    """Take over what changed of a run."""
    own_row = update(runs).where(runs.c.id == run.id)
    with store.write() as db:
        db.execute(own_row.values(**_columns(run)))


def list_runs(store: Store, *, study: str = "", digest: str = "") -> list[Run]:
    """Newest first; of one sweep, or of one digest, when given."""
    query = select(runs.c.run).order_by(runs.c.started.desc(), runs.c.id)
    if study:
        query = query.where(runs.c.study == study)
    if digest:
        query = query.where(runs.c.digest == digest)
    with store.read() as db:
        stored = db.execute(query).scalars().all()
    return [load_record(Run, row) for row in stored]


def find_run(store: Store, name: str) -> Run:
    """A run by its id, the beginning of its id, or its name, of which the newest counts; `last` is
    the newest of all.

    Raises NotFound, naming some that are there.
    """
    known = list_runs(store)
    run = _run_named(known, name)
    if run:
        return run
    examples = ", ".join(f"{run.id} ({run.name})" for run in known[:5])
    newest = examples or "none yet; `ombud lab run DATASET` makes one"
    raise NotFound(f"There is no run `{name}`.", hint=f"The newest: {newest}.")


def _run_named(known: Sequence[Run], name: str) -> Run | None:
    """The first of `known`, newest first, that fits best."""
    for run in known:
        if run.id == name:
            return run
    for run in known:
        if run.name == name:
            return run
    if name == "last" and known:
        return known[0]
    if len(name) < 3:
        return None
    for run in known:
        if run.id.startswith(name):
            return run
    return None


def delete_run(store: Store, run_id: str) -> None:
    """Remove a run with its rows and scores, and the passages that no other run shows. Looks stay
    counted."""
    with store.write() as db:
        for table in (scores, replies, rows):
            db.execute(delete(table).where(table.c.run_id == run_id))
        db.execute(delete(runs).where(runs.c.id == run_id))
        _drop_unused_passages(db)


def _drop_unused_passages(db: Connection) -> None:
    """Those that no run shows."""
    unused = set(db.execute(select(passages.c.chunk_id)).scalars())
    for hits in db.execute(select(rows.c.hits)).scalars():
        unused -= _chunk_ids(hits)
    for some in batches(sorted(unused), _MOST):
        is_unused = passages.c.chunk_id.in_(some)
        db.execute(delete(passages).where(is_unused))


# Cases of a run -----------------------------------------------------------------------------------


def save_done(
    store: Store, run_id: str, done: Sequence[Done], versions: Mapping[str, int] = EVERY_FIRST
) -> None:
    """Keep finished cases with their scores: one transaction. A case that failed before is
    replaced.

    versions: of each metric's formula."""
    if not done:
        return
    chunks: dict[str, Chunk] = {}
    for finished in done:
        for hit in finished.observation.hits or ():
            chunks[hit.chunk.id] = hit.chunk
    places = [finished.place for finished in done]
    with store.write() as db:
        _keep_passages(db, chunks.values())
        before = (rows.c.run_id == run_id) & rows.c.place.in_(places)
        db.execute(delete(rows).where(before))
        db.execute(insert(rows), [_row(run_id, finished) for finished in done])
        given = {finished.place: finished.scores for finished in done}
        _put_scores(db, run_id, given, versions)


def done_places(store: Store, run_id: str) -> dict[int, bool]:
    """Place in the dataset -> whether the target failed there."""
    query = select(rows.c.place, rows.c.failed).where(rows.c.run_id == run_id)
    with store.read() as db:
        return {row.place: bool(row.failed) for row in db.execute(query)}


def read_observations(
    store: Store, run_id: str, case_id: str | None = None
) -> Iterator[tuple[int, Observation]]:
    """(place, observation) in the order of the dataset, a block at a time: also a large run needs
    little memory.

    A hit whose document was purged meanwhile is left out.
    """
    in_order = select(rows).where(rows.c.run_id == run_id).order_by(rows.c.place)
    if case_id is not None:
        in_order = in_order.where(rows.c.case_id == case_id)
    after = -1
    while True:
        following = in_order.where(rows.c.place > after)
        with store.read() as db:
            block = db.execute(following.limit(_BLOCK)).all()
            wanted: set[str] = set()
            for row in block:
                wanted |= _chunk_ids(row.hits)
            chunks = _passages(db, wanted)
        for row in block:
            yield row.place, _observation(row.observation, row.hits, chunks)
        if len(block) < _BLOCK:
            return
        after = block[-1].place


# Scores -------------------------------------------------------------------------------------------


def save_scores(
    store: Store,
    run_id: str,
    given: Mapping[int, Sequence[Score]],
    versions: Mapping[str, int] = EVERY_FIRST,
    first: int = 0,
) -> None:
    """Put scores (by place) beside or instead of those that are there: one transaction.

    versions: of each metric's formula. first: place of the first metric among all of the run."""
    with store.write() as db:
        _put_scores(db, run_id, given, versions, first)


def scored_places(store: Store, run_id: str) -> dict[int, set[str]]:
    """Place in the dataset -> metrics that are scored there."""
    query = select(scores.c.place, scores.c.metric).where(scores.c.run_id == run_id)
    metrics: dict[int, set[str]] = {}
    with store.read() as db:
        for row in db.execute(query):
            metrics.setdefault(row.place, set()).add(row.metric)
    return metrics


def score_versions(store: Store, run_id: str) -> dict[str, set[tuple[str, int]]]:
    """Metric -> (who gave it, version of its formula) of all that scored a run."""
    query = select(scores.c.metric, scores.c.by, scores.c.version)
    versions: dict[str, set[tuple[str, int]]] = {}
    with store.read() as db:
        for row in db.execute(query.where(scores.c.run_id == run_id).distinct()):
            versions.setdefault(row.metric, set()).add((row.by, row.version))
    return versions


def judged_places(
    store: Store, run_id: str, by: str, versions: Mapping[str, int]
) -> dict[int, set[str]]:
    """Place in the dataset -> metrics that this judge has given there in these versions."""
    query = select(scores.c.place, scores.c.metric, scores.c.version, scores.c.reason).where(
        scores.c.run_id == run_id, scores.c.by == by
    )
    metrics: dict[int, set[str]] = {}
    with store.read() as db:
        for row in db.execute(query):
            is_same = versions.get(row.metric) == row.version
            if is_same and not row.reason.startswith(NOT_ASKED):
                metrics.setdefault(row.place, set()).add(row.metric)
    return metrics


def read_scores(store: Store, run_id: str) -> list[Score]:
    """All scores of a run, in the order of the dataset and of their metrics' first appearance."""
    query = (
        select(rows.c.case_id, scores.c.metric, scores.c.by, scores.c.value, scores.c.reason)
        .join(rows, (rows.c.run_id == scores.c.run_id) & (rows.c.place == scores.c.place))
        .where(scores.c.run_id == run_id)
        .order_by(scores.c.place, scores.c.number)
    )
    with store.read() as db:
        return [Score.model_construct(**row._mapping) for row in db.execute(query)]


# Looks at sealed splits ---------------------------------------------------------------------------


def add_look(store: Store, run: Run, case_ids: Sequence[str] = ()) -> int:
    """Count a look at sealed cases of a dataset, by its name; returns how often the case of these
    that was seen most often has been, this look included. A dataset that loses or gains a case is
    no new one. case_ids: empty = all of them."""
    with store.write() as db:
        look = insert(looks).values(
            dataset=run.dataset,
            dataset_digest=run.dataset_digest,
            cases=json.dumps(list(case_ids)) if case_ids else "",
            run_id=run.id,
            at=_now(),
        )
        db.execute(look)
        same = (looks.c.dataset == run.dataset) | (looks.c.dataset_digest == run.dataset_digest)
        written = db.execute(select(looks.c.cases).where(same)).scalars().all()
    seen = [json.loads(cases or "[]") for cases in written]
    whole = sum(not cases for cases in seen)
    if not case_ids:
        return len(seen)
    counted = Counter(case for cases in seen for case in cases)
    return whole + max(counted[case] for case in case_ids)


def count_looks(store: Store) -> dict[str, int]:
    """Digest of a dataset's sealed cases -> looks at them so far."""
    query = select(looks.c.dataset_digest, func.count()).group_by(looks.c.dataset_digest)
    with store.read() as db:
        return {digest: int(count) for digest, count in db.execute(query)}


# Inside -------------------------------------------------------------------------------------------


def _columns(run: Run) -> dict[str, str]:
    started = run.started or datetime.now(UTC)
    # What nobody else is shown is kept here.
    fields = json.loads(run.model_dump_json()) | {"dataset_path": run.dataset_path}
    return {
        "name": run.name,
        "digest": run.digest,
        "study": run.study,
        "state": run.state,
        "started": started.isoformat(),
        "run": json.dumps(fields, ensure_ascii=False),
    }


def _row(run_id: str, done: Done) -> dict[str, Any]:
    seen = done.observation
    return {
        "run_id": run_id,
        "place": done.place,
        "case_id": seen.case.id,
        "failed": bool(seen.error),
        "observation": seen.model_dump_json(exclude={"hits"}, exclude_defaults=True),
        "hits": None if seen.hits is None else _hits_json(seen.hits),
    }


def _hits_json(hits: Sequence[Hit]) -> str:
    """A list of [chunk id, score, found by]; the chunks are kept apart, each once."""
    return json.dumps([[hit.chunk.id, hit.score, hit.found_by] for hit in hits])


def _chunk_ids(hits: str | None) -> set[str]:
    """Of what `_hits_json` gave."""
    return {chunk_id for chunk_id, _, _ in json.loads(hits or "[]")}


def _observation(kept: str, hits: str | None, chunks: Mapping[str, Chunk]) -> Observation:
    seen = load_record(Observation, kept)
    if hits is None:
        return seen
    found = []
    for chunk_id, score, found_by in json.loads(hits):
        chunk = chunks.get(chunk_id)
        if chunk:
            found.append(Hit(chunk=chunk, score=score, found_by=tuple(found_by)))
    return seen.model_copy(update={"hits": tuple(found)})


def _keep_passages(db: Connection, chunks: Iterable[Chunk]) -> None:
    given = {chunk.id: chunk for chunk in chunks}
    query = select(passages.c.chunk_id).where(passages.c.chunk_id.in_(given))
    known = set(db.execute(query).scalars())
    new = []
    for identity, chunk in given.items():
        if identity in known:
            continue
        row = {
            "chunk_id": identity,
            "document_id": chunk.document_id,
            "chunk": chunk.model_dump_json(exclude_defaults=True),
        }
        new.append(row)
    if new:
        db.execute(_KEEP, new)


def _passages(db: Connection, wanted: set[str]) -> dict[str, Chunk]:
    found: dict[str, Chunk] = {}
    for some in batches(sorted(wanted), _MOST):
        is_wanted = passages.c.chunk_id.in_(some)
        for row in db.execute(select(passages.c.chunk_id, passages.c.chunk).where(is_wanted)):
            found[row.chunk_id] = Chunk.model_validate_json(row.chunk)
    return found


def _put_scores(
    db: Connection,
    run_id: str,
    given: Mapping[int, Sequence[Score]],
    versions: Mapping[str, int],
    first: int = 0,
) -> None:
    """A metric has one value a place, whoever gave it: the last one counts."""
    new: list[dict[str, Any]] = []
    places: dict[str, list[int]] = {}
    for place, scores_there in given.items():
        for number, score in enumerate(scores_there, start=first):
            places.setdefault(score.metric, []).append(place)
            row = {
                "run_id": run_id,
                "place": place,
                "number": number,
                "metric": score.metric,
                "by": score.by,
                "version": versions.get(score.metric, 1),
                "value": score.value,
                "reason": score.reason.replace("\0", ""),
            }
            new.append(row)
    for metric, some in places.items():
        same = delete(scores).where(
            scores.c.run_id == run_id,
            scores.c.metric == metric,
            scores.c.place.in_(some),
        )
        db.execute(same)
    if new:
        db.execute(insert(scores), new)


def _now() -> str:
    return datetime.now(UTC).isoformat()
