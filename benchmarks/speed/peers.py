"""How long does a search take beside what others offer? The same chunks, vectors and questions, in
one run.

Timed is a search without a chat model, from the question to the best passages: ombud without
filters (one scope, as the peers) and with them (what a workspace does), its index in memory as a
server keeps it, LlamaIndex, Haystack, LangChain, RAGLite, LanceDB, Chroma (vectors only), and bm25s
with numpy. Each peer runs in a process of its own; they take turns, so that what else the machine
does meets all alike. The question is embedded once by our embedder; figures are given without and
with it. The peers are no dependency of ours and
live in environments of their own (RAGLite's keeps numpy below 2):

    python3 -m venv /tmp/peerspeed
    /tmp/peerspeed/bin/pip install llama-index-core llama-index-retrievers-bm25 haystack-ai
    langchain-community \
        langchain-classic rank-bm25 faiss-cpu chromadb lancedb bm25s
    python3 -m venv /tmp/raglite
    /tmp/raglite/bin/pip install raglite duckdb-extension-fts duckdb-extension-vss

Licences, none of which is shipped: llama-index-*, langchain-*, faiss-cpu, bm25s, DuckDB MIT;
haystack-ai, chromadb, lancedb, rank-bm25 Apache-2.0; RAGLite MPL-2.0. What is not there is left out; without
the first nothing is measured. The corpora are those of `corpus.py`. Writes
research/results/speed-peers.md, each size its section, but not with --quick.
Run: python peers.py [--peers /tmp/peerspeed] [--raglite /tmp/raglite] [--sizes 1000 20000 100000]
[--quick] """

import argparse
import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from corpus import open_corpus
from record import ROOT, commit, keep, machine, percentile, print_table, say, source
from search import EVERYTHING, sample_questions

from ombud.app import Workspace, asking
from ombud.index import blocking
from ombud.ingest.rows import searchable
from ombud.models import Embedder, open_embedder
from ombud.retrieve import search
from ombud.settings import IndexSettings
from ombud.types import Question

HERE = Path(__file__).parent
QUESTIONS = {1_000: 200, 20_000: 100, 100_000: 30}
"""Chunks -> questions that are timed; the slowest need seconds for one."""
TOO_SLOW = {100_000: ("llama_index", "haystack", "raglite")}
"""Chunks -> peers that are not asked: the slowest at 20,000, for a question or to be built; a run
stays short."""
WARM_UP, TURN, POOL = 10, 10, 30
HEAD = (
    "",
    "n",
    "built s",
    "search p50",
    "p95",
    "ratio",
    "+ embedding p50",
    "p95",
    "ratio",
    "shared",
)
OURS, FILTERED = "ombud, one scope", "ombud, filters"
STEPS = {"strategy": "preparing the question", "search": "the engine", "graph": "contradictions"}
PEERS = {
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "langchain": "LangChain",
    "raglite": "RAGLite",
    "chroma": "Chroma, vectors only",
    "lancedb": "LanceDB",
    "plain": "bm25s + numpy",
}
LOADING = 300
"""Seconds that our index may take to be read into memory."""
IDLE = 0.05
"""Seconds of the processor in a second below which nothing is read ahead any more."""
PATIENCE = 300
"""Seconds for a turn of one peer; who needs longer is asked no more."""


class Timed(NamedTuple):
    """Milliseconds of one search without embedding, of embedding, and what was found."""

    search: float
    embed: float
    found: tuple[str, ...]


class Measured(NamedTuple):
    built: float | None
    version: str
    timed: Sequence[Timed]
    steps: Sequence[Mapping[str, float]]
    """Seconds of ombud's own steps, for each question."""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--peers", type=Path, default=Path("/tmp/peerspeed"), help="environment of all but RAGLite"
    )
    parser.add_argument(
        "--raglite", type=Path, default=Path("/tmp/raglite"), help="environment of RAGLite"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", choices=QUESTIONS, default=list(QUESTIONS), help="of chunks"
    )
    parser.add_argument("--quick", action="store_true", help="1k chunks only; writes no page")
    parser.add_argument(
        "--minutes", type=float, default=5, help="the longest that a peer may take to be built"
    )
    options = parser.parse_args(arguments)
    homes = {name: options.raglite if name == "raglite" else options.peers for name in PEERS}
    pythons = {
        name: home / "bin/python" for name, home in homes.items() if (home / "bin/python").is_file()
    }
    if "plain" not in pythons:
        print(
            "The peers' environment is not there, nothing is measured: the head of peers.py says how it is made."
        )
        return
    for size in options.sizes[: 1 if options.quick else None]:
        load = os.getloadavg()[0]
        measured, left_out = _measure(size, pythons, 60 * options.minutes)
        rows = _rows(measured)
        _keep(size, measured)
        print(f"\n{size:,} chunks, milliseconds")
        print_table(HEAD, rows)
        print("\n".join([_around(measured), *left_out]))
        if not options.quick:
            _write_page(size, _section(size, measured, rows, left_out, load))


# Measuring ----------------------------------------------------------------------------------------


def _measure(
    size: int, pythons: Mapping[str, Path], most: float
) -> tuple[dict[str, Measured], list[str]]:
    """What each took, and a sentence for each that is missing."""
    workspace = open_corpus(size)
    # By itself, for a workspace remembers the vectors of what it was asked.
    embedder = open_embedder(workspace.settings.models, workspace.data / "models")
    assert embedder
    questions = sample_questions(QUESTIONS[size] + WARM_UP)
    missing = [
        f"{name}: its environment is not there."
        for one, name in PEERS.items()
        if one not in pythons
    ]
    slow = TOO_SLOW.get(size, ())
    missing += [f"{PEERS[one]}: not asked, among the slowest at fewer chunks." for one in slow]
    contenders: dict[str, Ours | Peer] = {
        name: Ours(open_corpus(size), questions, name) for name in (OURS, FILTERED)
    }
    with tempfile.TemporaryDirectory(prefix="ombud-bench-") as folder:
        say(f"{size:,} chunks: written for the peers")
        _write(workspace, embedder, questions, Path(folder))
        workspace.close()
        for one, python in ((one, python) for one, python in pythons.items() if one not in slow):
            peer = Peer(one, python, Path(folder))
            say(f"{PEERS[one]} is built")
            try:
                peer.build(most)
            except TimeoutError:
                missing.append(f"{PEERS[one]}: not built in {most / 60:g} minutes.")
            except ChildProcessError as error:
                missing.append(f"{PEERS[one]}: ended, {error}.")
            else:
                contenders[PEERS[one]] = peer
        say("statements and sentences are read ahead")
        _wait_until_idle()
        for contender in contenders.values():
            if isinstance(contender, Ours):
                contender.settle()
        say("turns begin")
        try:
            timed = _take_turns(contenders, embedder, questions, missing)
        finally:
            say("turns have ended")
            for contender in contenders.values():
                contender.close()
    measured = {
        name: Measured(one.built, one.version, timed[name][WARM_UP:], one.steps[WARM_UP:])
        for name, one in contenders.items()
    }
    return measured, missing


def _take_turns(
    contenders: dict[str, "Ours | Peer"],
    embedder: Embedder,
    questions: Sequence[Question],
    missing: list[str],
) -> dict[str, list[Timed]]:
    """Of each that answered everything; who does not is closed and taken from the contenders."""
    timed: dict[str, list[Timed]] = {name: [] for name in contenders}
    names = list(contenders)
    for turn, start in enumerate(range(0, len(questions), TURN)):
        numbers = range(start, min(start + TURN, len(questions)))
        embedded = [_embed(embedder, questions[number].text) for number in numbers]
        first = turn % len(names)
        order = [*names[first:], *names[:first]]
        for name in order if turn % 2 else order[::-1]:
            try:
                timed[name] += contenders[name].ask(numbers, embedded) if name in contenders else []
            except (TimeoutError, ChildProcessError) as error:
                contenders.pop(name).close()
                missing.append(f"{name}: gave no answer any more. {error}".strip())
        say(f"{numbers.stop} of {len(questions)} questions")
    return timed


def _embed(embedder: Embedder, text: str) -> float:
    began = time.perf_counter()
    embedder.embed([text])
    return 1000 * (time.perf_counter() - began)


def _write(
    workspace: Workspace, embedder: Embedder, questions: Sequence[Question], folder: Path
) -> None:
    """What peers_child.py reads: chunks as they are searched here, with the vectors that we
    search."""
    vectors = []
    with (folder / "chunks.jsonl").open("w", encoding="utf-8") as file:
        for row in blocking(workspace.engine.rows(list(blocking(workspace.engine.documents())))):
            if row.vectors is not None:
                file.write(
                    json.dumps([row.chunk.id, searchable(row.chunk, IndexSettings())]) + "\n"
                )
                vectors.append(row.vectors[0])
    texts = [question.text for question in questions]
    np.save(folder / "vectors.npy", np.array(vectors, np.float32))
    np.save(
        folder / "question_vectors.npy", np.concatenate([embedder.embed([text]) for text in texts])
    )
    (folder / "questions.json").write_text(json.dumps(texts), encoding="utf-8")


def _wait_until_idle() -> None:
    """Until statements, and a small index's sentences, are read ahead, as a server does before
    anybody asks."""
    busy = 1.0
    while busy > IDLE:
        before = time.process_time()
        time.sleep(1)
        busy = time.process_time() - before


class Ours:
    """ombud, in this process, with a loop that stays, as when it serves."""

    version = ""

    def __init__(self, workspace: Workspace, questions: Sequence[Question], name: str) -> None:
        self._workspace, self._questions, self._filtered = workspace, questions, name == FILTERED
        began = time.perf_counter()
        if not workspace.warm(LOADING):
            raise SystemExit(f"The index was not in memory after {LOADING} s.")
        self.built = time.perf_counter() - began
        self._loop = asyncio.new_event_loop()
        self.steps: list[Mapping[str, float]] = []

    def ask(self, numbers: Sequence[int], embedded: Sequence[float]) -> list[Timed]:
        timed = []
        for number, embed in zip(numbers, embedded, strict=True):
            question, index = self._questions[number], self._workspace.index
            plan = asking.plan_of(self._workspace, question.asker, {}).plan
            resolved = asking.resolve(self._workspace, question)
            where = asking.filter_of(resolved, plan) if self._filtered else EVERYTHING
            assert index.embedder
            index.embedder.embed(
                [question.text]
            )  # remembered: the peers are given the question's vector as well
            began = time.perf_counter()
            found = self._loop.run_until_complete(search(question, plan, where, index))
            seconds = time.perf_counter() - began
            self.steps.append(found.seconds)
            hits = (*found.evidence.local, *found.evidence.shared)
            timed.append(Timed(1000 * seconds, embed, tuple(hit.chunk.id for hit in hits)))
        return timed

    def settle(self) -> None:
        """As a server at its start."""
        self._workspace.settle()

    def close(self) -> None:
        self._loop.close()
        self._workspace.close()


class Peer:
    """A process with one peer, given files and asked by numbers."""

    built: float | None = None
    version = ""
    steps: Sequence[Mapping[str, float]] = ()

    def __init__(self, name: str, python: Path, folder: Path) -> None:
        self._log = folder / f"{name}.log"
        # RAGLite's database keeps its extensions below the home folder.
        own = {**os.environ, "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        own.pop("PYTHONPATH", None)
        own.pop("OPENBLAS_NUM_THREADS", None)  # ours, set by importing ombud
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [python, HERE / "peers_child.py", name, folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=own,
            )

    def build(self, most: float) -> None:
        """Raises TimeoutError, ChildProcessError; it is closed then."""
        try:
            told = self._read(most)
        except (TimeoutError, ChildProcessError):
            self.close()
            raise
        self.built, self.version = told["seconds"], told["version"]

    def ask(self, numbers: Sequence[int], embedded: Sequence[float]) -> list[Timed]:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(list(numbers)).encode() + b"\n")
        self._process.stdin.flush()
        answers = self._read(PATIENCE)
        rows = zip(answers, embedded, strict=True)
        return [Timed(1000 * seconds, embed, tuple(found)) for (seconds, found), embed in rows]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self, most: float) -> Any:
        """The next line; it is written at once, so the first byte is enough to wait for."""
        assert self._process.stdout
        if not select.select([self._process.stdout], [], [], most)[0]:
            raise TimeoutError
        line = self._process.stdout.readline()
        if not line:
            said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise ChildProcessError(said[-1] if said else "without a word")
        return json.loads(line)


# Telling ------------------------------------------------------------------------------------------


class Figures(NamedTuple):
    """Milliseconds: p50, p95 without embedding the question, p50, p95 with it."""

    p50: float
    p95: float
    whole_p50: float
    whole_p95: float


def _figures(one: Measured) -> Figures:
    bare, whole = [t.search for t in one.timed], [t.search + t.embed for t in one.timed]
    return Figures(*(percentile(times, share) for times in (bare, whole) for share in (0.5, 0.95)))


def _shared(one: Measured, ours: Measured) -> float:
    pairs = [(set(a.found), set(b.found)) for a, b in zip(ours.timed, one.timed, strict=True)]
    return mean(len(a & b) / len(a) for a, b in pairs if a)


def _rows(measured: Mapping[str, Measured]) -> list[list[str]]:
    ours, rows = _figures(measured[OURS]), []
    for name, one in measured.items():
        own = _figures(one)
        built = "" if one.built is None else f"{one.built:.1f}"
        bare = [f"{own.p50:.1f}", f"{own.p95:.1f}", f"{own.p50 / ours.p50:.2f}"]
        whole = [
            f"{own.whole_p50:.1f}",
            f"{own.whole_p95:.1f}",
            f"{own.whole_p50 / ours.whole_p50:.2f}",
        ]
        label = f"{name} {one.version}".strip()
        rows.append(
            [
                label,
                str(len(one.timed)),
                built,
                *bare,
                *whole,
                f"{_shared(one, measured[OURS]):.2f}",
            ]
        )
    return rows


def _keep(size: int, measured: Mapping[str, Measured]) -> None:
    for name, one in measured.items():
        own = {f"{key}_ms": round(value, 2) for key, value in _figures(one)._asdict().items()}
        built = None if one.built is None else round(one.built, 1)
        keep(
            "peers",
            {"chunks": size, "what": name, "version": one.version, "built_s": built, **own},
            len(one.timed),
        )


def _section(
    size: int,
    measured: Mapping[str, Measured],
    rows: Sequence[Sequence[str]],
    left_out: Sequence[str],
    load: float,
) -> str:
    ours = _figures(measured[OURS]).p50
    ratios = {
        name: _figures(one).p50 / ours
        for name, one in measured.items()
        if name not in (OURS, FILTERED)
    }
    faster = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
    slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio >= 1]
    said = f"Faster than ombud, one scope: {', '.join(faster) or 'none'}. Slower: {', '.join(slower) or 'none'}."
    table = [f"| {' | '.join(cells)} |" for cells in (HEAD, *rows)]
    table.insert(1, "|---" * len(HEAD) + "|")
    about = f"Commit {commit()}, load before {load:.1f}, after {os.getloadavg()[0]:.1f}, its own included."
    return "\n".join(
        [
            f"{size:,} chunks, milliseconds",
            "",
            *table,
            "",
            said,
            _around(measured),
            *left_out,
            about,
            "",
        ]
    )


def _write_page(size: int, section: str) -> None:
    """The page with this section in the place of the size's former one."""
    page = ROOT / "research/results/speed-peers.md"
    former = page.read_text(encoding="utf-8").split("\n## ")[1:] if page.is_file() else []
    sections = {int(text.partition(" ")[0].replace(",", "")): text for text in former} | {
        size: section
    }
    texts = [_header(), *(f"## {sections[known].strip()}\n" for known in sorted(sections))]
    page.write_text("\n".join(texts), encoding="utf-8")


def _around(measured: Mapping[str, Measured]) -> str:
    """What ombud's time consists of."""
    said = []
    for name in (OURS, FILTERED):
        spent = [
            percentile([1000 * one.get(step, 0.0) for one in measured[name].steps], 0.5)
            for step in STEPS
        ]
        said.append(
            ", ".join(f"{what} {ms:.1f}" for what, ms in zip(STEPS.values(), spent, strict=True))
        )
    return f"Of ombud's search (p50, ms): in one scope {said[0]}; with filters {said[1]}."


def _header() -> str:
    known = machine()
    origin = (
        f"commit {commit()} (code {source()}), {known['cpu']}, {known['cores']} cores, {known['memory_gb']} GB, "
        f"Python {known['python']}"
    )
    text = (HERE / "peers_header.md").read_text(encoding="utf-8")
    return text.format(origin=origin, best=8, turn=TURN, pool=POOL)


if __name__ == "__main__":
    main(sys.argv[1:])
