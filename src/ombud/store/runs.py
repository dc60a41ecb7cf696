"""What the lab stores: runs, observations of cases, scores, and looks at sealed splits."""

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

OBSERVATIONS_PER_BLOCK = 200
"""Observations read at once; one more query joins their chunks."""
MAX_IN_VALUES = 500
"""Values in one IN list."""
EVERY_FIRST: Mapping[str, int] = {}
"""Every metric in its first version."""
NOT_SCORED = "the judge could not be asked: "
"""Prefix of the reason of a score that a later run has to try again."""
_KEEP = text(
    "INSERT INTO lab_passage (chunk_id, document_id, chunk) "
    "VALUES (:chunk_id, :document_id, :chunk)"
    " ON CONFLICT (chunk_id) DO NOTHING"
)


class Done(NamedTuple):
    """A finished case: its place in the dataset, the observation, its scores by (metric,
    version)."""

    place: int
    observation: Observation
    scores: tuple[Score, ...]


# Runs ---------------------------------------------------------------------------------------------


def start_run(store: Store, run: Run) -> None:
    with store.write() as db:
        db.execute(insert(runs).values(id=run.id, **run_columns(run)))


def save_run(store: Store, run: Run) -> None:
    """Store a run's changed fields."""
    own_row = update(runs).where(runs.c.id == run.id)
    with store.write() as db:
        db.execute(own_row.values(**run_columns(run)))


def list_runs(store: Store, *, study: str = "", digest: str = "") -> list[Run]:
    """Return runs, newest first; only of one sweep, or of one digest, if given."""
    query = select(runs.c.run).order_by(runs.c.started.desc(), runs.c.id)
    if study:
        query = query.where(runs.c.study == study)
    if digest:
        query = query.where(runs.c.digest == digest)
    with store.read() as db:
        stored = db.execute(query).scalars().all()
    return [load_record(Run, row) for row in stored]


def find_run(store: Store, name: str) -> Run:
    """Return a run by its id, the beginning of its id, or its name, of which the newest counts;
    `last` is the newest of all.

    Raises NotFound, naming some that exist.
    """
    with store.read() as db:
        exact = db.execute(select(runs.c.run).where(runs.c.id == name)).scalar()
    if exact is not None:
        return load_record(Run, exact)
    runs_by_age = list_runs(store)
    run = best_match(runs_by_age, name)
    if run:
        return run
    examples = ", ".join(f"{run.id} ({run.name})" for run in runs_by_age[:5])
    newest = examples or "none yet; `ombud lab run DATASET` makes one"
    raise NotFound(f"There is no run `{name}`.", hint=f"The newest: {newest}.")


def best_match(runs_by_age: Sequence[Run], name: str) -> Run | None:
    """Return the best match of `runs_by_age`, which is sorted newest first."""
    for run in runs_by_age:
        if run.id == name:
            return run
    for run in runs_by_age:
        if run.name == name:
            return run
    if name == "last" and runs_by_age:
        return runs_by_age[0]
    if len(name) < 3:
        return None
    for run in runs_by_age:
        if run.id.startswith(name):
            return run
    return None


def delete_run(store: Store, run_id: str) -> None:
    """Remove a run with its rows and scores, and passages that no other run uses. Looks stay
    counted."""
    with store.write() as db:
        for table in (scores, replies, rows):
            db.execute(delete(table).where(table.c.run_id == run_id))
        db.execute(delete(runs).where(runs.c.id == run_id))
        drop_unused_passages(db)


def forget_cases(store: Store, case_ids: Sequence[str]) -> int:
    """Remove cases from every run with their scores, and blank what judges replied in these runs;
    its price stays. Returns how many rows there were."""
    removed = 0
    with store.write() as db:
        for some in batches(case_ids, MAX_IN_VALUES):
            of_cases = select(rows.c.run_id, rows.c.place).where(rows.c.case_id.in_(some))
            affected = db.execute(of_cases).all()
            for run_id, place in affected:
                for table in (scores, rows):
                    at = (table.c.run_id == run_id) & (table.c.place == place)
                    db.execute(delete(table).where(at))
            in_runs = replies.c.run_id.in_({run_id for run_id, _ in affected})
            db.execute(update(replies).where(in_runs).values(reply="{}"))
            removed += len(affected)
        if removed:
            drop_unused_passages(db)
    return removed


def drop_unused_passages(db: Connection) -> None:
    """Delete passages that no run uses."""
    unused = set(db.execute(select(passages.c.chunk_id)).scalars())
    for hits in db.execute(select(rows.c.hits)).scalars():
        unused -= chunk_ids_of(hits)
    for some in batches(sorted(unused), MAX_IN_VALUES):
        is_unused = passages.c.chunk_id.in_(some)
        db.execute(delete(passages).where(is_unused))


# Cases of a run -----------------------------------------------------------------------------------


def save_done(
    store: Store, run_id: str, done: Sequence[Done], versions: Mapping[str, int] = EVERY_FIRST
) -> None:
    """Store finished cases with their scores in one transaction, in place of earlier failures.

    versions: of each metric's formula.
    """
    if not done:
        return
    chunks: dict[str, Chunk] = {}
    for finished in done:
        for hit in finished.observation.hits or ():
            chunks[hit.chunk.id] = hit.chunk
    places = [finished.place for finished in done]
    with store.write() as db:
        insert_passages(db, chunks.values())
        before = (rows.c.run_id == run_id) & rows.c.place.in_(places)
        db.execute(delete(rows).where(before))
        db.execute(insert(rows), [observation_row(run_id, finished) for finished in done])
        scores_by_place = {finished.place: finished.scores for finished in done}
        write_scores(db, run_id, scores_by_place, versions)


def done_places(store: Store, run_id: str) -> dict[int, bool]:
    """Return place in the dataset -> whether the target failed there."""
    query = select(rows.c.place, rows.c.failed).where(rows.c.run_id == run_id)
    with store.read() as db:
        return {row.place: bool(row.failed) for row in db.execute(query)}


def read_observations(
    store: Store, run_id: str, case_id: str | None = None
) -> Iterator[tuple[int, Observation]]:
    """Yield (place, observation) in the order of the dataset, in blocks, so that a large run needs
    little memory.

    Hits whose document was purged meanwhile are left out.
    """
    in_order = select(rows).where(rows.c.run_id == run_id).order_by(rows.c.place)
    if case_id is not None:
        in_order = in_order.where(rows.c.case_id == case_id)
    after = -1
    while True:
        following = in_order.where(rows.c.place > after)
        with store.read() as db:
            block = db.execute(following.limit(OBSERVATIONS_PER_BLOCK)).all()
            chunk_ids: set[str] = set()
            for row in block:
                chunk_ids |= chunk_ids_of(row.hits)
            chunks = read_passages(db, chunk_ids)
        for row in block:
            yield row.place, parse_observation(row.observation, row.hits, chunks)
        if len(block) < OBSERVATIONS_PER_BLOCK:
            return
        after = block[-1].place


# Scores -------------------------------------------------------------------------------------------


def save_scores(
    store: Store,
    run_id: str,
    scores_by_place: Mapping[int, Sequence[Score]],
    versions: Mapping[str, int] = EVERY_FIRST,
    first: int = 0,
) -> None:
    """Store scores by place, in place of earlier ones of the same metrics, in one transaction.

    versions: of each metric's formula. first: position of the first metric among all of the run.
    """
    with store.write() as db:
        write_scores(db, run_id, scores_by_place, versions, first)


def scored_places(store: Store, run_id: str) -> dict[int, set[str]]:
    """Return place in the dataset -> metrics that have a score there."""
    query = select(scores.c.place, scores.c.metric).where(scores.c.run_id == run_id)
    metrics: dict[int, set[str]] = {}
    with store.read() as db:
        for row in db.execute(query):
            metrics.setdefault(row.place, set()).add(row.metric)
    return metrics


def score_versions(store: Store, run_id: str) -> dict[str, set[tuple[str, int]]]:
    """Return metric -> (who scored it, version of its formula) of all scores of a run."""
    query = select(scores.c.metric, scores.c.by, scores.c.version)
    versions: dict[str, set[tuple[str, int]]] = {}
    with store.read() as db:
        for row in db.execute(query.where(scores.c.run_id == run_id).distinct()):
            versions.setdefault(row.metric, set()).add((row.by, row.version))
    return versions


def judged_places(
    store: Store, run_id: str, by: str, versions: Mapping[str, int]
) -> dict[int, set[str]]:
    """Return place in the dataset -> metrics that this judge has scored there in these versions."""
    query = select(scores.c.place, scores.c.metric, scores.c.version, scores.c.reason).where(
        scores.c.run_id == run_id, scores.c.by == by
    )
    metrics: dict[int, set[str]] = {}
    with store.read() as db:
        for row in db.execute(query):
            is_same = versions.get(row.metric) == row.version
            if is_same and not row.reason.startswith(NOT_SCORED):
                metrics.setdefault(row.place, set()).add(row.metric)
    return metrics


def read_scores(store: Store, run_id: str) -> list[Score]:
    """Return all scores of a run, in the order of the dataset and of the metrics' first
    appearance."""
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
    """Count a look at a dataset's sealed cases; returns how often the most-viewed of these cases
    has been seen, this look included.

    A dataset that loses or gains a case keeps its count. case_ids: empty means all of them.
    """
    with store.write() as db:
        look = insert(looks).values(
            dataset=run.dataset,
            dataset_digest=run.dataset_digest,
            cases=json.dumps(list(case_ids)) if case_ids else "",
            run_id=run.id,
            at=now(),
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
    """Count how often the sealed cases of each dataset were looked at, by the digest of the
    dataset."""
    query = select(looks.c.dataset_digest, func.count()).group_by(looks.c.dataset_digest)
    with store.read() as db:
        return {digest: int(count) for digest, count in db.execute(query)}


# Inside -------------------------------------------------------------------------------------------


def run_columns(run: Run) -> dict[str, str]:
    started = run.started or datetime.now(UTC)
    # Stored, although JSON for clients leaves it out.
    fields = json.loads(run.model_dump_json()) | {"dataset_path": run.dataset_path}
    return {
        "name": run.name,
        "digest": run.digest,
        "study": run.study,
        "state": run.state,
        "started": started.isoformat(),
        "run": json.dumps(fields, ensure_ascii=False),
    }


def observation_row(run_id: str, done: Done) -> dict[str, Any]:
    seen = done.observation
    return {
        "run_id": run_id,
        "place": done.place,
        "case_id": seen.case.id,
        "failed": bool(seen.error),
        "observation": seen.model_dump_json(exclude={"hits"}, exclude_defaults=True),
        "hits": None if seen.hits is None else hits_json(seen.hits),
    }


def hits_json(hits: Sequence[Hit]) -> str:
    """Serialise hits as [chunk id, score, found by]; their chunks are stored separately, each
    once."""
    return json.dumps([[hit.chunk.id, hit.score, hit.found_by] for hit in hits])


def chunk_ids_of(hits: str | None) -> set[str]:
    """Return the chunk ids in a result of `hits_json`."""
    return {chunk_id for chunk_id, _, _ in json.loads(hits or "[]")}


def parse_observation(stored: str, hits: str | None, chunks: Mapping[str, Chunk]) -> Observation:
    seen = load_record(Observation, stored)
    if hits is None:
        return seen
    hits_with_chunks = []
    for chunk_id, score, found_by in json.loads(hits):
        chunk = chunks.get(chunk_id)
        if chunk:
            hits_with_chunks.append(Hit(chunk=chunk, score=score, found_by=tuple(found_by)))
    return seen.model_copy(update={"hits": tuple(hits_with_chunks)})


def insert_passages(db: Connection, chunks: Iterable[Chunk]) -> None:
    by_id = {chunk.id: chunk for chunk in chunks}
    query = select(passages.c.chunk_id).where(passages.c.chunk_id.in_(by_id))
    existing = set(db.execute(query).scalars())
    new = []
    for identity, chunk in by_id.items():
        if identity in existing:
            continue
        row = {
            "chunk_id": identity,
            "document_id": chunk.document_id,
            "chunk": chunk.model_dump_json(exclude_defaults=True),
        }
        new.append(row)
    if new:
        db.execute(_KEEP, new)


def read_passages(db: Connection, chunk_ids: set[str]) -> dict[str, Chunk]:
    chunks: dict[str, Chunk] = {}
    for some in batches(sorted(chunk_ids), MAX_IN_VALUES):
        is_wanted = passages.c.chunk_id.in_(some)
        for row in db.execute(select(passages.c.chunk_id, passages.c.chunk).where(is_wanted)):
            chunks[row.chunk_id] = Chunk.model_validate_json(row.chunk)
    return chunks


def write_scores(
    db: Connection,
    run_id: str,
    scores_by_place: Mapping[int, Sequence[Score]],
    versions: Mapping[str, int],
    first: int = 0,
) -> None:
    """Write scores. A metric has one value for each place; the last one wins."""
    new: list[dict[str, Any]] = []
    places: dict[str, list[int]] = {}
    for place, scores_there in scores_by_place.items():
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


def now() -> str:
    return datetime.now(UTC).isoformat()
