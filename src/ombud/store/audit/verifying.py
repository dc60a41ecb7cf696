"""Walking the chain: does every record follow from the one before, and is every row what the chain
says it is?"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, select

from ombud.store.audit.chain import (
    TABLES,
    ZERO,
    digest_of,
    hash_of,
    last_number,
    rows_after,
    rows_of,
)
from ombud.store.audit.sealing import seal, unsealed_rows
from ombud.store.database import Store
from ombud.store.tables import audit as records
from ombud.store.tables import setup as setups

Why = Literal["changed", "missing", "inserted", "reordered", "cut"]
OnProgress = Callable[[str, int, int], None]
_BATCH = 1000


class Link(NamedTuple):
    """One record, read."""

    number: int
    at: str
    kind: str
    hash: str
    rows: dict[str, str | None]
    facts: dict[str, Any]


class Broken(NamedTuple):
    number: int
    """Of the first record that does not hold; for a row that no record speaks of, the one that
    would come next."""
    why: Why
    said: str


class Verified(NamedTuple):
    records: int
    head: str
    """Hash of the last record; empty where there is none."""
    rows: dict[str, int]
    """Table -> rows that stand as the chain says."""
    adopted: int
    """Answers that were there before the chain began."""
    erased: dict[str, int]
    """Reason -> answers that lost content, lawfully."""
    broken: Broken | None


class _Raw(NamedTuple):
    number: int
    text: str
    hash: str

    @property
    def fits(self) -> bool:
        return hash_of(self.text) == self.hash

    @property
    def record(self) -> dict[str, Any]:
        """What it says; empty where that cannot be read."""
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


class _Walk:
    """What the records say, as far as they were read."""

    def __init__(self) -> None:
        self.number, self.hash, self.before = 0, ZERO, ""
        self.hashes: set[str] = set()
        self.state: dict[str, tuple[str | None, int]] = {}
        """Row -> its digest, and the number of the record that says so."""
        self.setups: dict[str, int] = {}
        self.erased: dict[str, str] = {}
        self.adopted = 0
        self.broken: Broken | None = None

    def take(self, raw: _Raw, following: _Raw | None) -> None:
        record = raw.record
        self.broken = _fault(self, raw, record, following)
        if self.broken:
            return
        self.number, self.hash, self.before = raw.number, raw.hash, self.hash
        self.hashes.add(raw.hash)
        facts = record["facts"]
        for row, digest in record["rows"].items():
            self.state[row] = (digest, raw.number)
            if record["kind"] == "erasure" and row.startswith("answer/"):
                self.erased[row] = str(facts.get("reason", ""))
        if facts.get("setup"):
            self.setups.setdefault(facts["setup"], raw.number)
        if record["kind"] == "genesis":
            self.adopted = int(facts.get("adopted", {}).get("answer", 0))


def verify_chain(
    store: Store, head: str = "", on_progress: OnProgress = lambda *_: None
) -> Verified:
    """Walk the whole chain and every row it speaks of.

    head: a hash that was noted before; where it is not in the chain, records were cut off or made
    anew. What others append meanwhile is no fault. Reads in pieces, so that nobody waits long."""
    seal(store)
    walk = _Walk()
    _read_records(store, walk, on_progress)
    counts = dict.fromkeys(TABLES, 0)
    found = [walk.broken] if walk.broken else []
    if not walk.broken and not walk.number:
        found.append(Broken(1, "missing", "There is no record at all, not even the first."))
    if not walk.broken and head and head.lower() not in walk.hashes:
        said = "records were cut off its end, or it was made anew"
        noted = f"The hash that was noted is not in the chain: {said}."
        found.append(Broken(walk.number + 1, "cut", noted))
    if not found:
        found += _check_rows(store, walk, counts, on_progress)
        found += _check_setups(store, walk)
    first = min(found, key=lambda one: one.number, default=None)
    return Verified(
        records=walk.number,
        head=walk.hash if walk.number else "",
        rows=counts,
        adopted=walk.adopted,
        erased=dict(Counter(walk.erased.values())),
        broken=first,
    )


def read_head(store: Store) -> Link | None:
    """The last record; None where there is none."""
    seal(store)
    with store.read() as db:
        newest_first = select(records).order_by(records.c.number.desc())
        row = db.execute(newest_first.limit(1)).first()
    return _link(_Raw(*row)) if row else None


def read_links(store: Store, numbers: Sequence[int]) -> list[Link]:
    """Records by their numbers; those that cannot be read are left out."""
    query = select(records).where(records.c.number.in_(numbers))
    with store.read() as db:
        rows = db.execute(query.order_by(records.c.number)).all()
    links = []
    for row in rows:
        link = _link(_Raw(*row))
        if link:
            links.append(link)
    return links


def _link(raw: _Raw) -> Link | None:
    record = raw.record
    if not record:
        return None
    return Link(
        number=raw.number,
        at=record["at"],
        kind=record["kind"],
        hash=raw.hash,
        rows=record.get("rows", {}),
        facts=record.get("facts", {}),
    )


# Records ------------------------------------------------------------------------------------------


def _read_records(store: Store, walk: _Walk, on_progress: OnProgress) -> None:
    """Everything after what was walked already, as long as it holds."""
    with store.read() as db:
        total = last_number(db)
    waiting: _Raw | None = None
    for raw in _all_records(store, walk.number):
        if waiting:
            walk.take(waiting, raw)
            if walk.broken:
                return
            if waiting.number % _BATCH == 0:
                on_progress("records", waiting.number, max(total, waiting.number))
        waiting = raw
    if waiting:
        walk.take(waiting, None)
    on_progress("records", total, total)


def _all_records(store: Store, last: int) -> Iterator[_Raw]:
    while True:
        with store.read() as db:
            after = select(records).where(records.c.number > last)
            rows = db.execute(after.order_by(records.c.number).limit(_BATCH)).all()
        for row in rows:
            yield _Raw(*row)
        if len(rows) < _BATCH:
            return
        last = rows[-1].number


_KEYS = {"rows", "facts", "kind", "at"}
"""What every record has beside its number and the hash before it."""


def _fault(walk: _Walk, raw: _Raw, record: dict[str, Any], following: _Raw | None) -> Broken | None:
    """Why this record does not follow from the one before; None where it does."""
    wanted = walk.number + 1
    if raw.number > wanted:
        return _gap(wanted, raw.number - 1)
    if raw.fits and _follows(walk, raw.number, record):
        return None
    after = _believed(following)
    if raw.fits and record.get("previous") == walk.before:
        return _put_in(raw.number - 1, "the next one does not follow from it")
    if raw.fits and _is_swapped(raw.number, record, after):
        return _misplaced(raw.number, record)
    if after.get("previous") == walk.hash:
        return _put_in(raw.number, f"the next one follows from record {raw.number - 1}")
    if not raw.fits:
        said = "its hash is that of other words"
        return Broken(raw.number, "changed", f"Record {raw.number} was changed: {said}.")
    return _rehashed(raw, record, following, after)


def _follows(walk: _Walk, number: int, record: dict[str, Any]) -> bool:
    """Whether the record stands where it says, after the one that it names."""
    if record.get("number") != number or record.get("previous") != walk.hash:
        return False
    return record.keys() >= _KEYS


def _believed(following: _Raw | None) -> dict[str, Any]:
    """What the next record says; empty where there is none or its hash is not its own."""
    if following and following.fits:
        return following.record
    return {}


def _is_swapped(number: int, record: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the next record says that it is this one, and this one that it is another."""
    return record.get("number") != number and after.get("number") == number


def _rehashed(
    raw: _Raw, record: dict[str, Any], following: _Raw | None, after: dict[str, Any]
) -> Broken:
    """The fault of a record whose hash is its own. after: the next record, as far as it is to be
    believed."""
    followed = not following or after.get("previous") == raw.hash
    if record.get("number") != raw.number:
        return _renumbered(raw.number, record, followed)
    return _rewritten(raw.number, followed, is_last=not following)


def _put_in(number: int, why: str) -> Broken:
    return Broken(number, "inserted", f"Record {number} was put in: {why}.")


def _gap(first: int, last: int) -> Broken:
    records = f"Records {first} to {last} are" if last > first else f"Record {first} is"
    return Broken(first, "missing", f"{records} missing.")


def _misplaced(number: int, record: dict[str, Any]) -> Broken:
    own = record.get("number")
    said = f"Record {number} stands in the place of another: it says it is {own}."
    return Broken(number, "reordered", said)


def _renumbered(number: int, record: dict[str, Any], followed: bool) -> Broken:
    """A record with a hash of its own that says it is another."""
    own = record.get("number")
    if followed and isinstance(own, int) and own > number:
        said = f"Record {number} is missing; those after it were given new numbers."
        return Broken(number, "missing", said)
    return _misplaced(number, record)


def _rewritten(number: int, followed: bool, *, is_last: bool) -> Broken:
    """This record or the one before it was changed and given a new hash."""
    if number == 1 or not followed:
        said = f"Record {number} was changed and given a new hash: it names another before it."
        return Broken(number, "changed", said)
    before = number - 1
    said = f"Record {before} was changed and given a new hash: record {number} names another one"
    doubt = ", or was changed itself" if is_last else ""
    return Broken(before, "changed", f"{said}{doubt}.")


# Rows ---------------------------------------------------------------------------------------------


def _check_rows(
    store: Store, walk: _Walk, counts: dict[str, int], on_progress: OnProgress
) -> list[Broken]:
    """Every row of the tables against its digest, and every digest against its row."""
    left: set[str] = set()
    for row_name, (digest, _) in walk.state.items():
        if digest:
            left.add(row_name)
    total = len(left)
    done = 0
    doubtful: set[str] = set()
    for name in TABLES:
        for row in _all_rows(store, name):
            key = f"{name}/{row.id}"
            left.discard(key)
            if walk.state.get(key, (None, 0))[0] == digest_of(row):
                counts[name] += 1
            else:
                doubtful.add(key)
            done += 1
            if done % _BATCH == 0:
                on_progress("rows", done, max(total, done))
    on_progress("rows", total, total)
    return _look_again(store, walk, sorted(doubtful | left), counts)


def _all_rows(store: Store, name: str) -> Iterator[Any]:
    last = ""
    while True:
        with store.read() as db:
            rows = rows_after(db, name, last, _BATCH)
        yield from rows
        if len(rows) < _BATCH:
            return
        last = rows[-1].id


def _look_again(
    store: Store, walk: _Walk, doubtful: Sequence[str], counts: dict[str, int]
) -> list[Broken]:
    """Rows that did not fit, with the records that were appended meanwhile: others may have changed
    them by right."""
    if not doubtful:
        return []
    _read_records(store, walk, lambda *_: None)
    if walk.broken:
        return [walk.broken]
    with store.read() as db:
        _catch_up(db, walk)
        waiting = unsealed_rows(db) - walk.state.keys()
        digests = _digests(db, doubtful)
    faults: list[Broken] = []
    for key in doubtful:
        digest, number = walk.state.get(key, (None, 0))
        if digest == digests.get(key):
            counts[key.partition("/")[0]] += bool(digest)
        elif key not in waiting:
            faults.append(_row_fault(key, digest, number, key in digests, walk))
    return faults


def _digests(db: Connection, keys: Sequence[str]) -> dict[str, str]:
    """`table/id` -> digest of the row as it stands; without those that are not there."""
    ids_of: dict[str, list[str]] = {name: [] for name in TABLES}
    for key in keys:
        name, _, identity = key.partition("/")
        ids_of[name].append(identity)
    digests: dict[str, str] = {}
    for name, ids in ids_of.items():
        for row in rows_of(db, name, ids):
            digests[f"{name}/{row.id}"] = digest_of(row)
    return digests


def _catch_up(db: Connection, walk: _Walk) -> None:
    """The last few records, in the transaction that reads the rows."""
    query = select(records).where(records.c.number > walk.number)
    rows = db.execute(query.order_by(records.c.number)).all()
    raws = [_Raw(*row) for row in rows]
    for raw, following in zip_longest(raws, raws[1:]):
        walk.take(raw, following)
        if walk.broken:
            return


def _row_fault(key: str, digest: str | None, number: int, there: bool, walk: _Walk) -> Broken:
    name, _, identity = key.partition("/")
    if digest is None:
        said = f"The {name} {identity} was put in: no record speaks of it."
        if number:
            said = (
                f"The {name} {identity} was put in again: record {number} says that it was erased."
            )
        return Broken(number or walk.number + 1, "inserted", said)
    if not there:
        return Broken(number, "missing", f"The {name} {identity} of record {number} is missing.")
    return Broken(number, "changed", f"The {name} {identity} of record {number} was changed.")


def _check_setups(store: Store, walk: _Walk) -> list[Broken]:
    """What answered: every set-up that a record names stands there as it was."""
    with store.read() as db:
        kept = {row.digest: hash_of(row.content) for row in db.execute(select(setups))}
    if kept.keys() - walk.setups.keys():
        # Others may have been added after the records were read, and their answers not be taken
        # into the chain yet: answers are written first.
        seal(store)
        _read_records(store, walk, lambda *_: None)
    found = []
    for digest, number in walk.setups.items():
        if digest not in kept:
            said = f"The set-up {digest[:12]} of record {number} is missing."
            found.append(Broken(number, "missing", said))
    known = dict(walk.setups)
    for digest, now in kept.items():
        if now != digest or digest not in known:
            number = known.get(digest, walk.number + 1)
            why: Why = "changed" if digest in known else "inserted"
            said = "was changed" if digest in known else "was put in: no record names it"
            found.append(Broken(number, why, f"The set-up {digest[:12]} {said}."))
    return found
