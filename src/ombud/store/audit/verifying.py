"""Verifies the audit chain: every record follows from the one before, and every row matches its
digest."""

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
    """A record of the chain, parsed."""

    number: int
    at: str
    kind: str
    hash: str
    rows: dict[str, str | None]
    facts: dict[str, Any]


class Broken(NamedTuple):
    """The first fault of the chain."""

    number: int
    """Number of the first wrong record; for a row without a record, the number of the next one."""
    why: Why
    message: str


class Verified(NamedTuple):
    """The result of a verification."""

    records: int
    head: str
    """Hash of the last record; empty if there is none."""
    rows: dict[str, int]
    """Table -> rows that match the chain."""
    adopted: int
    """Answers from before the chain began."""
    erased: dict[str, int]
    """Reason -> answers that lost content lawfully."""
    broken: Broken | None


class RawRecord(NamedTuple):
    number: int
    text: str
    hash: str

    @property
    def fits(self) -> bool:
        return hash_of(self.text) == self.hash

    @property
    def record(self) -> dict[str, Any]:
        """Return the parsed text; empty if it cannot be parsed."""
        try:
            record = json.loads(self.text)
        except ValueError:
            return {}
        return record if isinstance(record, dict) else {}


class ChainState:
    """The state that the records describe up to a point."""

    def __init__(self) -> None:
        self.number, self.hash, self.before = 0, ZERO, ""
        self.hashes: set[str] = set()
        self.state: dict[str, tuple[str | None, int]] = {}
        """Row -> its digest, and the number of the record that says so."""
        self.setups: dict[str, int] = {}
        self.erased: dict[str, str] = {}
        self.adopted = 0
        self.broken: Broken | None = None

    def take(self, raw: RawRecord, following: RawRecord | None) -> None:
        record = raw.record
        self.broken = find_fault(self, raw, record, following)
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
    """Verify the whole chain and every row that it covers.

    head: a hash noted before; if the chain lacks it, records were cut off or rewritten. Records
    appended meanwhile are no fault. Reads in batches, so that nobody waits long.
    """
    seal(store)
    chain = ChainState()
    read_records(store, chain, on_progress)
    counts = dict.fromkeys(TABLES, 0)
    faults = [chain.broken] if chain.broken else []
    if not chain.broken and not chain.number:
        faults.append(Broken(1, "missing", "There is no record at all, not even the first."))
    if not chain.broken and head and head.lower() not in chain.hashes:
        reason = "records were cut off its end, or it was made anew"
        noted = f"The hash that was noted is not in the chain: {reason}."
        faults.append(Broken(chain.number + 1, "cut", noted))
    if not faults:
        faults += check_rows(store, chain, counts, on_progress)
        faults += check_setups(store, chain)
    first = min(faults, key=lambda one: one.number, default=None)
    return Verified(
        records=chain.number,
        head=chain.hash if chain.number else "",
        rows=counts,
        adopted=chain.adopted,
        erased=dict(Counter(chain.erased.values())),
        broken=first,
    )


def read_head(store: Store) -> Link | None:
    """Return the last record; None if there is none."""
    seal(store)
    with store.read() as db:
        newest_first = select(records).order_by(records.c.number.desc())
        row = db.execute(newest_first.limit(1)).first()
    return parse_link(RawRecord(*row)) if row else None


def read_links(store: Store, numbers: Sequence[int]) -> list[Link]:
    """Return records by number, without unreadable ones."""
    query = select(records).where(records.c.number.in_(numbers))
    with store.read() as db:
        rows = db.execute(query.order_by(records.c.number)).all()
    links = []
    for row in rows:
        link = parse_link(RawRecord(*row))
        if link:
            links.append(link)
    return links


def parse_link(raw: RawRecord) -> Link | None:
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


def read_records(store: Store, chain: ChainState, on_progress: OnProgress) -> None:
    """Verify the records after the last verified one, up to the first fault."""
    with store.read() as db:
        total = last_number(db)
    waiting: RawRecord | None = None
    for raw in all_records(store, chain.number):
        if waiting:
            chain.take(waiting, raw)
            if chain.broken:
                return
            if waiting.number % _BATCH == 0:
                on_progress("records", waiting.number, max(total, waiting.number))
        waiting = raw
    if waiting:
        chain.take(waiting, None)
    on_progress("records", total, total)


def all_records(store: Store, last: int) -> Iterator[RawRecord]:
    while True:
        with store.read() as db:
            after = select(records).where(records.c.number > last)
            rows = db.execute(after.order_by(records.c.number).limit(_BATCH)).all()
        for row in rows:
            yield RawRecord(*row)
        if len(rows) < _BATCH:
            return
        last = rows[-1].number


REQUIRED_FIELDS = {"rows", "facts", "kind", "at"}
"""Fields of every record beside its number and the previous hash."""


def find_fault(
    chain: ChainState, raw: RawRecord, record: dict[str, Any], following: RawRecord | None
) -> Broken | None:
    """Explain why a record does not follow from the one before; None if it does."""
    next_number = chain.number + 1
    if raw.number > next_number:
        return missing_fault(next_number, raw.number - 1)
    if raw.fits and follows(chain, raw.number, record):
        return None
    after = trusted_record(following)
    if raw.fits and record.get("previous") == chain.before:
        return inserted_fault(raw.number - 1, "the next one does not follow from it")
    if raw.fits and is_swapped(raw.number, record, after):
        return misplaced_fault(raw.number, record)
    if after.get("previous") == chain.hash:
        return inserted_fault(raw.number, f"the next one follows from record {raw.number - 1}")
    if not raw.fits:
        reason = "its hash is that of other words"
        return Broken(raw.number, "changed", f"Record {raw.number} was changed: {reason}.")
    return explain_rehashed(raw, record, following, after)


def follows(chain: ChainState, number: int, record: dict[str, Any]) -> bool:
    """Tell whether the record has its number and names the hash before it."""
    if record.get("number") != number or record.get("previous") != chain.hash:
        return False
    return record.keys() >= REQUIRED_FIELDS


def trusted_record(following: RawRecord | None) -> dict[str, Any]:
    """Return the next record; empty if there is none or its hash is wrong."""
    if following and following.fits:
        return following.record
    return {}


def is_swapped(number: int, record: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tell whether this record and the next have each other's numbers."""
    return record.get("number") != number and after.get("number") == number


def explain_rehashed(
    raw: RawRecord, record: dict[str, Any], following: RawRecord | None, after: dict[str, Any]
) -> Broken:
    """Explain a record whose hash matches its text. after: the next record, if it can be
    trusted."""
    followed = not following or after.get("previous") == raw.hash
    if record.get("number") != raw.number:
        return explain_renumbered(raw.number, record, followed)
    return explain_rewritten(raw.number, followed, is_last=not following)


def inserted_fault(number: int, why: str) -> Broken:
    return Broken(number, "inserted", f"Record {number} was put in: {why}.")


def missing_fault(first: int, last: int) -> Broken:
    records = f"Records {first} to {last} are" if last > first else f"Record {first} is"
    return Broken(first, "missing", f"{records} missing.")


def misplaced_fault(number: int, record: dict[str, Any]) -> Broken:
    own = record.get("number")
    message = f"Record {number} stands in the place of another: it says it is {own}."
    return Broken(number, "reordered", message)


def explain_renumbered(number: int, record: dict[str, Any], followed: bool) -> Broken:
    """Explain a record with a valid hash and a wrong number."""
    own = record.get("number")
    if followed and isinstance(own, int) and own > number:
        message = f"Record {number} is missing; those after it were given new numbers."
        return Broken(number, "missing", message)
    return misplaced_fault(number, record)


def explain_rewritten(number: int, followed: bool, *, is_last: bool) -> Broken:
    """Explain that this record or the one before it was changed and given a new hash."""
    if number == 1 or not followed:
        message = f"Record {number} was changed and given a new hash: it names another before it."
        return Broken(number, "changed", message)
    before = number - 1
    message = f"Record {before} was changed and given a new hash: record {number} names another one"
    doubt = ", or was changed itself" if is_last else ""
    return Broken(before, "changed", f"{message}{doubt}.")


# Rows ---------------------------------------------------------------------------------------------


def check_rows(
    store: Store, chain: ChainState, counts: dict[str, int], on_progress: OnProgress
) -> list[Broken]:
    """Compare every row with its digest and every digest with its row."""
    unmatched: set[str] = set()
    for row_name, (digest, _) in chain.state.items():
        if digest:
            unmatched.add(row_name)
    total = len(unmatched)
    done = 0
    doubtful: set[str] = set()
    for name in TABLES:
        for row in all_rows(store, name):
            key = f"{name}/{row.id}"
            unmatched.discard(key)
            if chain.state.get(key, (None, 0))[0] == digest_of(row):
                counts[name] += 1
            else:
                doubtful.add(key)
            done += 1
            if done % _BATCH == 0:
                on_progress("rows", done, max(total, done))
    on_progress("rows", total, total)
    return check_again(store, chain, sorted(doubtful | unmatched), counts)


def all_rows(store: Store, name: str) -> Iterator[Any]:
    last = ""
    while True:
        with store.read() as db:
            rows = rows_after(db, name, last, _BATCH)
        yield from rows
        if len(rows) < _BATCH:
            return
        last = rows[-1].id


def check_again(
    store: Store, chain: ChainState, doubtful: Sequence[str], counts: dict[str, int]
) -> list[Broken]:
    """Check the mismatched rows again with the records appended meanwhile, which may have changed
    them lawfully."""
    if not doubtful:
        return []
    read_records(store, chain, lambda *_: None)
    if chain.broken:
        return [chain.broken]
    with store.read() as db:
        catch_up(db, chain)
        waiting = unsealed_rows(db) - chain.state.keys()
        digests = current_digests(db, doubtful)
    faults: list[Broken] = []
    for key in doubtful:
        digest, number = chain.state.get(key, (None, 0))
        if digest == digests.get(key):
            counts[key.partition("/")[0]] += bool(digest)
        elif key not in waiting:
            faults.append(row_fault(key, digest, number, key in digests, chain))
    return faults


def current_digests(db: Connection, keys: Sequence[str]) -> dict[str, str]:
    """Return `table/id` -> digest of the present row, without missing rows."""
    ids_of: dict[str, list[str]] = {name: [] for name in TABLES}
    for key in keys:
        name, _, identity = key.partition("/")
        ids_of[name].append(identity)
    digests: dict[str, str] = {}
    for name, ids in ids_of.items():
        for row in rows_of(db, name, ids):
            digests[f"{name}/{row.id}"] = digest_of(row)
    return digests


def catch_up(db: Connection, chain: ChainState) -> None:
    """Read the latest records in the transaction that reads the rows."""
    query = select(records).where(records.c.number > chain.number)
    rows = db.execute(query.order_by(records.c.number)).all()
    raws = [RawRecord(*row) for row in rows]
    for raw, following in zip_longest(raws, raws[1:]):
        chain.take(raw, following)
        if chain.broken:
            return


def row_fault(key: str, digest: str | None, number: int, there: bool, chain: ChainState) -> Broken:
    name, _, identity = key.partition("/")
    if digest is None:
        message = f"The {name} {identity} was put in: no record speaks of it."
        if number:
            message = (
                f"The {name} {identity} was put in again: record {number} says that it was erased."
            )
        return Broken(number or chain.number + 1, "inserted", message)
    if not there:
        return Broken(number, "missing", f"The {name} {identity} of record {number} is missing.")
    return Broken(number, "changed", f"The {name} {identity} of record {number} was changed.")


def check_setups(store: Store, chain: ChainState) -> list[Broken]:
    """Check that every setup named by a record is stored unchanged."""
    with store.read() as db:
        stored = {row.digest: hash_of(row.content) for row in db.execute(select(setups))}
    if stored.keys() - chain.setups.keys():
        # Setups may have been added since, with answers that are not sealed yet.
        seal(store)
        read_records(store, chain, lambda *_: None)
    faults = []
    for digest, number in chain.setups.items():
        if digest not in stored:
            change = f"The set-up {digest[:12]} of record {number} is missing."
            faults.append(Broken(number, "missing", change))
    numbers = dict(chain.setups)
    for digest, now in stored.items():
        if now != digest or digest not in numbers:
            number = numbers.get(digest, chain.number + 1)
            why: Why = "changed" if digest in numbers else "inserted"
            change = "was changed" if digest in numbers else "was put in: no record names it"
            faults.append(Broken(number, why, f"The set-up {digest[:12]} {change}."))
    return faults
