"""What does the audit cost: one more record for each answer, and a walk along 100,000 of them?

Prints

    turn       keeping one answer with two messages and its record, in SQLite; median of 300
    verify     walking 100,000 records and the rows they speak of (answers of about 4.6 kB); target
    60 s memory     peak of the process

Run: python audit.py
"""

import json
import resource
import statistics
import tempfile
import time
import uuid
from contextlib import closing
from pathlib import Path

from record import keep, print_table, say, verdict
from sqlalchemy import insert

from ombud.store import Store, add_turn, new_conversation, open_store, read_head, verify_chain
from ombud.store.audit.chain import TABLES, canonical, digest_of, hash_of, new_salt, now, rows_of
from ombud.store.tables import audit
from ombud.types import Answer, Person, Question, Ranking, Trace

RECORDS, TURNS, BATCH = 100_000, 300, 200


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, closing(open_store("", Path(folder))) as store:
        turn = one_turn(store)
        fill(store)
        started, processor = time.perf_counter(), time.process_time()
        found = verify_chain(store)
        walked, worked = time.perf_counter() - started, time.process_time() - processor
        assert found.broken is None, found.broken
        assert found.records >= RECORDS
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        ("turn", f"{1000 * turn:.1f} ms", "", ""),
        ("verify", f"{walked:.1f} s ({worked:.1f} s of processor)", "60 s", verdict(walked, 60)),
        ("memory", f"{memory:.0f} MB", "", ""),
    ]
    print_table(("", f"{found.records:,} records", "target", ""), rows)
    figures = {
        "turn_ms": 1000 * turn,
        "verify_seconds": walked,
        "verify_cpu_seconds": worked,
        "peak_mb": memory,
    }
    keep("audit", {name: round(value, 2) for name, value in figures.items()}, found.records)


def made() -> Answer:
    ranking = tuple((f"{n:016x}-{n:012x}", n + 1, round(1 / (n + 1), 6)) for n in range(30))
    trace = Trace(
        rankings=tuple(
            Ranking(leg=f"GB/{kind}/standard", rows=ranking) for kind in ("sparse", "dense")
        )
    )
    return Answer(
        id=str(uuid.uuid4()),
        outcome="full",
        text="Full-time employees have 26 days. " * 20,
        trace=trace,
    )


def one_turn(store: Store) -> float:
    """Median seconds of one."""
    talk, seconds = new_conversation(store, Person(id="someone")), []
    for _ in range(TURNS):
        answer = made().model_copy(update={"conversation_id": talk})
        started = time.perf_counter()
        add_turn(store, Question(text="How many days of annual leave do I have?"), answer, "{}")
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def fill(store: Store) -> None:
    """Records up to RECORDS, as `add_turn` writes them, many in one transaction."""
    head = read_head(store)
    assert head
    number, before = head.number, head.hash
    answer, question = made().model_dump(mode="json"), Question(text="q").model_dump(mode="json")
    while number < RECORDS:
        ids = [str(uuid.uuid4()) for _ in range(BATCH)]
        rows = [
            {
                "id": i,
                "question": question,
                "answer": answer | {"id": i},
                "at": now(),
                "sensitive": False,
            }
            | {"salt": new_salt(), "record": number + 1 + at}
            for at, i in enumerate(ids)
        ]
        with store.write() as db:
            db.execute(insert(TABLES["answer"]), rows)
            digests = {row.id: digest_of(row) for row in rows_of(db, "answer", ids)}
            records = []
            for identity in ids:
                number += 1
                said = {
                    "v": 1,
                    "number": number,
                    "at": now(),
                    "kind": "answer",
                    "previous": before,
                    "facts": {},
                }
                record = canonical(said | {"rows": {f"answer/{identity}": digests[identity]}})
                before = hash_of(record)
                records.append({"number": number, "record": record, "hash": before})
            db.execute(insert(audit), records)
        if number % 20_000 < BATCH:
            say(f"{number:,} records of {len(json.dumps(answer)):,} bytes")


if __name__ == "__main__":
    main()
