"""What do passages cost on an engine: disk, writing, a search? `python benchmarks/scaling/capacity.py 5000 lance s3`.

Synthetic passages of 120 words out of 20,000, unit vectors of 384 numbers, 4.5 kB of tokens each. Each engine writes them in
batches of 500, is maintained once, and answers 100 hybrid searches. s3 is moto's server on this machine, s3-cache the same with
`index.cache` (the questions asked once before), milvus is milvus-lite's: they say what the calls cost, not what a cluster does.
In place of a number: `sample`, the passages of the sample (`make sample/.ombud/synced`).
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from index.makers import EVERYTHING, chunk
from index.places import place_for, requests_log
from ombud.app import Workspace
from ombud.index import Engine, Row, blocking, open_backend, open_engine

WORDS = 20_000
LENGTH = 120
DIMENSION = 384
TOKENS = 4_500
BATCH = 500
SEARCHES = 100


def passages(count: int) -> list[Row]:
    rng = np.random.default_rng(7)
    made: list[Row] = []
    for number in range(count):
        words = rng.zipf(1.3, LENGTH) % WORDS
        text = " ".join(f"w{word}" for word in words)
        vector = rng.normal(size=(1, DIMENSION)).astype(np.float32)
        vector /= np.linalg.norm(vector)
        made.append(Row(chunk(f"d{number}", text=text), "s", text, vector, rng.bytes(TOKENS)))
    return made


def sample() -> list[Row]:
    engine = Workspace(Path("sample")).engine
    return list(blocking(engine.rows(sorted(blocking(engine.documents())))))


def open_one(place: str, cache: Path | None) -> Engine:
    backend = open_backend(place, cache) if cache else open_backend(place)
    return backend.open(
        ".", fingerprint="synthetic", dimension=DIMENSION, fresh_seconds=5 if "s3" in place else 0
    )


def requests_made() -> int:
    time.sleep(0.5)  # what the server writes of them
    return requests_log().read_bytes().count(b" HTTP/1.1")


def measure(kind: str, rows: list[Row], folder: Path) -> dict[str, object]:
    place = place_for(kind.partition("-")[0], folder)
    engine = open_engine(place, fingerprint="synthetic", dimension=DIMENSION)
    begun = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        blocking(engine.upsert([row.chunk.document_id for row in batch], batch))
    written = time.perf_counter() - begun
    blocking(engine.maintain())
    engine = open_one(place, folder / "cache" if kind.endswith("-cache") else None)
    rng = np.random.default_rng(8)
    embedded = [row for row in rows if row.vectors is not None]
    picked = [embedded[place] for place in rng.integers(len(embedded), size=SEARCHES)]
    search_all(engine, picked if kind.endswith("-cache") else picked[:5])
    before = requests_made() if kind.startswith("s3") else 0
    seconds = search_all(engine, picked)
    requests = (requests_made() - before) / SEARCHES if kind.startswith("s3") else None
    size = open_backend(place).size()
    return {
        "engine": kind,
        "passages": len(rows),
        "written_per_second": round(len(rows) / written),
        "kilobytes_per_passage": round(size / len(rows) / 1024, 1) if size else None,
        "requests_per_search": requests,
        "search_p50_ms": round(1000 * statistics.median(seconds), 1),
        "search_p95_ms": round(1000 * statistics.quantiles(seconds, n=20)[18], 1),
    }


def search_all(engine: Engine, rows: list[Row]) -> list[float]:
    """Seconds of each."""
    seconds: list[float] = []
    for row in rows:
        words = " ".join(row.terms.split()[:6])
        assert row.vectors is not None
        begun = time.perf_counter()
        blocking(engine.search(words, row.vectors[0], EVERYTHING, 30, "hybrid"))
        seconds.append(time.perf_counter() - begun)
    return seconds


def main() -> None:
    rows = sample() if sys.argv[1] == "sample" else passages(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        for kind in sys.argv[2:]:
            print(json.dumps(measure(kind, rows, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
