"""Progress of long jobs, for other processes and the API."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, insert, select

from ombud.store.database import Store
from ombud.store.tables import progress as jobs


def save_progress(store: Store, job: str, state: Mapping[str, Any]) -> None:
    """Replace the progress of `job`."""
    text = json.dumps(dict(state), default=str)
    with store.write() as db:
        db.execute(delete(jobs).where(jobs.c.job == job))
        db.execute(insert(jobs).values(job=job, said=text))


def read_progress(store: Store, job: str) -> dict[str, Any]:
    """Return the progress of a job; empty if it never ran."""
    query = select(jobs.c.said).where(jobs.c.job == job)
    with store.read() as db:
        stored = db.execute(query).scalar()
    return dict(json.loads(stored)) if stored else {}
