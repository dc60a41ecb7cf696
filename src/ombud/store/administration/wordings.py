"""Versions of prompts that people have written; a version never changes."""

from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import func, insert, select

from ombud.store.administration.tables import prompt_version as versions
from ombud.store.database import Store


class PromptVersion(NamedTuple):
    """A version of a prompt."""

    name: str
    number: int
    """Counted from 1."""
    text: str
    by: str
    """Pseudonym of the author."""
    at: str


def add_prompt_version(store: Store, name: str, text: str, by: str) -> PromptVersion:
    """Store a new version, unless the text equals the newest one."""
    with store.write() as db:
        newest = select(versions).where(versions.c.name == name).order_by(versions.c.number.desc())
        row = db.execute(newest.limit(1)).first()
        if row and row.text == text:
            return PromptVersion(**row._mapping)
        highest = select(func.coalesce(func.max(versions.c.number), 0))
        number = int(db.execute(highest.where(versions.c.name == name)).scalar_one()) + 1
        made = PromptVersion(name, number, text, by, datetime.now(UTC).isoformat())
        db.execute(insert(versions).values(**made._asdict()))
    return made


def prompt_versions(store: Store, name: str) -> list[PromptVersion]:
    """Return the versions of a prompt, newest first."""
    query = select(versions).where(versions.c.name == name).order_by(versions.c.number.desc())
    with store.read() as db:
        rows = db.execute(query).all()
    return [PromptVersion(**row._mapping) for row in rows]
