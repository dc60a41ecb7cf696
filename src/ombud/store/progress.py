"""What a long job says of itself while it works, for whoever asks: the terminal of another process,
the API."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, insert, select

from ombud.store.database import Store
from ombud.store.tables import progress as jobs


def save_progress(store: Store, job: str, said: Mapping[str, Any]) -> None:
    """Replace what `job` said last."""
    text = json.dumps(dict(said), default=str)
    with store.write() as db:
        db.execute(delete(jobs).where(jobs.c.job == job))
        db.execute(insert(jobs).values(job=job, said=text))


def read_progress(store: Store, job: str) -> dict[str, Any]:
    """Empty when it never ran."""
    query = select(jobs.c.said).where(jobs.c.job == job)
    with store.read() as db:
        said = db.execute(query).scalar()
    return dict(json.loads(said)) if said else {}
