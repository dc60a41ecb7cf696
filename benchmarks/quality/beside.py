"""From question to answer beside LlamaIndex and RAGLite: the same files, embedding model and chat
model.

One server plays the chat model for all (tests/models/grounded.py): it says what was recorded for a
question as far as the sentences stand in the prompt that it was sent, else that the documents do
not answer. So what differs is what each pipeline finds, hands over, and shows in the end. Each runs
in a process of its own, with its own way to search, its own prompt and the same embedding model;
they take turns question by question. beside_asked.py says what is asked. The others are no
dependency of ours and live in environments of their own:

    python3 -m venv /tmp/beside-llama
    /tmp/beside-llama/bin/pip install llama-index-core llama-index-retrievers-bm25
        llama-index-llms-openai onnxruntime tokenizers
    python3 -m venv /tmp/raglite
    /tmp/raglite/bin/pip install raglite duckdb-extension-fts duckdb-extension-vss

Licences, none of which is shipped: LlamaIndex, bm25s, onnxruntime, DuckDB MIT; tokenizers
Apache-2.0; RAGLite MPL-2.0. kotaemon is not on the package index. Prints the tables; with --write
writes research/results/beside.md. Indexing takes some ten minutes, with --keep FOLDER once only.
Run: make beside, or python benchmarks/quality/beside.py [--llama /tmp/beside-llama]
[--raglite /tmp/raglite] [--keep FOLDER] [--answers FILE] [--first N] [--write]"""

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from baseline import TOML
from beside_asked import Asked, everything
from corpora import needs
from figures import Row, differences, header, table
from record import ROOT, SHARED, percentile, say

from models.grounded import Call, plain, serve
from ombud.app import Workspace, library
from ombud.lab import compare, wilson_interval
from ombud.models.embed import minilm
from ombud.models.embed.onnx_graph import build_int8

CHILD = Path(__file__).with_name("beside_child.py")
NAMES = {
    "ombud": "ombud",
    "ombud_alone": "ombud, the question alone",
    "llama": "LlamaIndex",
    "llama_fused": "LlamaIndex, BM25 and vectors",
    "raglite": "RAGLite",
    "raglite_hybrid": "RAGLite, BM25 and vectors",
}
INDEX_OF = {"ombud_alone": "ombud", "raglite_hybrid": "raglite"}
"""Who searches the index of another."""
OURS, COMPARED = "ombud", "ombud_alone"
"""`ombud` lets the model say first what a question means, for which texts are recorded for the
drafts' questions alone."""
WARM_UP = (
    "How many days of annual leave do I get?",
    "Can I work from home, and how often?",
    "What may a hotel cost on a business trip?",
    "Which gifts may I accept?",
    "What do I do when I am ill?",
)
"""Asked before the first that counts."""
TIMED = ("drafts", "apart", "unanswerable")
"""The other groups ask the same questions again, which ombud remembers."""
PATIENCE = 3600
"""Seconds for an index or an answer."""


class Answered(NamedTuple):
    """What one pipeline made of one question."""

    asked: Asked
    text: str
    told: Sequence[bool]
    """Of each statement of the script: whether the model said it."""
    shown: Sequence[bool]
    """Whether it stands in the answer; the last may be one that was invented."""
    tokens: int
    """Of all that the model was sent, forms of the replies included."""
    seconds: float
    """Without the model's."""

    @property
    def is_right(self) -> bool:
        return all(self.shown[at] for at in self.asked.required)

    @property
    def is_handed_over(self) -> bool:
        """Whether the model was shown all that a right answer needs."""
        return all(self.told[at] for at in self.asked.required)

    @property
    def refuses(self) -> bool:
        return not any(self.shown)


class Measured(NamedTuple):
    index_seconds: float
    index_peak: float
    peak: float
    """MiB."""
    version: str
    answered: Sequence[Answered]

    def of(self, group: str, split: str = "") -> list[Answered]:
        return [
            one
            for one in self.answered
            if one.asked.group == group and split in ("", one.asked.split)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--llama", type=Path, default=Path("/tmp/beside-llama"))
    parser.add_argument("--raglite", type=Path, default=Path("/tmp/raglite"))
    parser.add_argument("--keep", type=Path, help="where indexes are, or stay")
    parser.add_argument("--answers", type=Path, help="what was shown, one JSON a line")
    parser.add_argument("--first", type=int, help="so many questions of each group alone")
    parser.add_argument("--write", action="store_true", help="write research/results/beside.md")
    chosen = parser.parse_args()
    pythons = {"ombud": Path(sys.executable), "llama": chosen.llama, "raglite": chosen.raglite}
    pythons = {
        one: path if path.is_file() else path / "bin/python" for one, path in pythons.items()
    }
    if not all(map(needs, [SHARED, *pythons.values()])):
        return
    asked = _first(everything(), chosen.first)
    with tempfile.TemporaryDirectory(prefix="ombud-bench-") as folder:
        measured = measure(asked, chosen.keep or Path(folder), pythons)
    if chosen.answers:
        _keep(chosen.answers, measured)
    lines = [header("beside"), *report(measured)]
    print("\n".join(lines))
    if chosen.write:
        target = ROOT / "research/results/beside.md"
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _first(asked: Sequence[Asked], most: int | None) -> list[Asked]:
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(one.group, []).append(one)
    return [one for group in groups.values() for one in group[:most]]


# Measuring ----------------------------------------------------------------------------------------


class Child:
    """A process with one pipeline; its answers are lines of JSON."""

    def __init__(self, name: str, what: str, folder: Path, python: Path) -> None:
        # RAGLite's database keeps its extensions below the home folder.
        own = dict(os.environ)
        own.pop("PYTHONPATH", None)
        if name.startswith("raglite"):
            own |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        self._log = folder / f"{name}-{what}.log"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [python, CHILD, name, what, folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=own,
            )

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, **question: str) -> dict[str, Any]:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """Raises ChildProcessError where it ended or said nothing for an hour."""
        pipe = self._process.stdout
        assert pipe
        line = pipe.readline() if select.select([pipe], [], [], PATIENCE)[0] else b""
        if not line:
            raise ChildProcessError(f"see {self._log}:\n{self._log.read_text()[-2000:]}")
        told: dict[str, Any] = json.loads(line)
        return told


def measure(
    asked: Sequence[Asked], folder: Path, pythons: Mapping[str, Path]
) -> dict[str, Measured]:
    with serve() as server, ExitStack() as open_ones:
        indexed = dict(_indexed(folder, pythons, server.url))
        children: dict[str, Child] = {}
        for name in NAMES:
            child = Child(name, "answer", _home(folder, name), pythons[name.partition("_")[0]])
            children[name] = open_ones.enter_context(child)
            child.read()
        count = Workspace(folder / OURS).embedder
        assert count
        answered: dict[str, list[Answered]] = {name: [] for name in NAMES}
        peaks: dict[str, float] = {}
        server.turn_to(asked[0].script)
        for text in WARM_UP:
            for child in children.values():
                child.ask(question=text, country="US")
        for number, one in enumerate(asked):
            for name in _turn(number):
                if name == OURS and one.script.understanding is None:
                    continue
                server.turn_to(one.script)
                told = children[name].ask(question=one.question, country=one.country)
                peaks[name] = told["peak"]
                answered[name].append(_judged(one, told, server.calls, count.count))
            if number % 20 == 0:
                say(f"{number} of {len(asked)}")
    return {
        name: Measured(
            index_seconds=indexed[INDEX_OF.get(name, name)]["seconds"],
            index_peak=indexed[INDEX_OF.get(name, name)]["peak"],
            peak=peaks.get(name, 0.0),
            version=indexed[INDEX_OF.get(name, name)]["version"],
            answered=answered[name],
        )
        for name in NAMES
    }


def _home(folder: Path, name: str) -> Path:
    """A copy where the index of another is searched: DuckDB lets one process in."""
    whose = INDEX_OF.get(name, name)
    if whose == name:
        return folder / name
    shutil.rmtree(folder / name, ignore_errors=True)
    return Path(shutil.copytree(folder / whose, folder / name))


def _turn(number: int) -> list[str]:
    first = number % len(NAMES)
    names = list(NAMES)
    return [*names[first:], *names[:first]]


def _indexed(
    folder: Path, pythons: Mapping[str, Path], url: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name of each index and what its process said; ombud's first, for it says which files are
    documents."""
    files: list[dict[str, Any]] = []
    for name in NAMES:
        if name in INDEX_OF:
            continue
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        given = {"url": url, "files": files, "settings": TOML.format(shared=SHARED), **_model()}
        (home / "given.json").write_text(json.dumps(given), encoding="utf-8")
        kept = home / "indexed.json"
        if not kept.is_file():
            say(f"{NAMES[name]} is indexed")
            with Child(name, "index", home, pythons[name.partition("_")[0]]) as child:
                kept.write_text(json.dumps(child.read()), encoding="utf-8")
        if name == OURS:
            files = _files(home)
        yield name, json.loads(kept.read_text(encoding="utf-8"))


def _files(home: Path) -> list[dict[str, Any]]:
    documents = library.documents(Workspace(home), None)
    return [
        {"uri": one.uri, "path": str(SHARED / one.uri), "countries": list(one.countries)}
        for one in documents
        if one.status == "published"
    ]


def _model() -> dict[str, str]:
    """The files of the embedding model, as ombud opens them."""
    spec = find_spec(minilm.PACKAGE)
    assert spec
    assert spec.submodule_search_locations
    model = Path(spec.submodule_search_locations[0], "model")
    name = f"minilm-{minilm.WEIGHTS_SHA256[:12]}-{minilm.GRAPH}.int8.onnx"
    graph = minilm.cached_graph(
        model / "model.safetensors", ROOT / ".bench" / "models", name, build_int8
    )
    return {"graph": str(graph), "tokenizer": str(model / "tokenizer.json")}


def _judged(asked: Asked, told: Mapping[str, Any], calls: Sequence[Call], count: Any) -> Answered:
    said = {text for call in calls for text in call.told}
    statements = [one.text for one in asked.script.statements]
    statements += [asked.script.invented] if asked.script.invented else []
    shown = plain(told["text"])
    return Answered(
        asked=asked,
        text=told["text"],
        told=[text in said for text in statements],
        shown=[plain(text) in shown for text in statements],
        tokens=sum(_tokens(call.body, count) for call in calls),
        seconds=told["seconds"] - sum(call.seconds for call in calls),
    )


def _tokens(body: Mapping[str, Any], count: Any) -> int:
    texts = [str(message.get("content") or "") for message in body["messages"]]
    form = body.get("response_format") or body.get("tools")
    return sum(map(count, [*texts, json.dumps(form) if form else ""]))


def _keep(path: Path, measured: Mapping[str, Measured]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for name, whole in measured.items():
            for one in whole.answered:
                asked = one.asked
                row = {
                    "pipeline": name,
                    "group": asked.group,
                    "id": asked.id,
                    "question": asked.question,
                    "statements": [statement.text for statement in asked.script.statements],
                    "told": one.told,
                    "shown": one.shown,
                    "tokens": one.tokens,
                    "seconds": round(one.seconds, 4),
                    "text": one.text,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


# Telling ------------------------------------------------------------------------------------------


def report(measured: Mapping[str, Measured]) -> Iterator[str]:
    for group, split, title in (
        ("drafts", "", "Drafts of a strong writer"),
        ("drafts", "test", "Of these, test"),
        ("drafts", "dev", "Of these, dev"),
        ("apart", "", "Cases written apart, with their references as the model's words"),
    ):
        yield from ("", f"## {title}", "", *_right(measured, group, split))
        yield from ("", *_against(measured, group, split))
    yield from ("", "## What the documents do not say, and a model that errs", "")
    yield from _wrong(measured)
    yield from ("", "## What it costs", "", *_costs(measured))


def _right(measured: Mapping[str, Measured], group: str, split: str) -> Iterator[str]:
    rows: list[list[str]] = []
    for name, whole in measured.items():
        found = whole.of(group, split)
        if not found:
            continue
        held_back = [one for one in found if one.is_handed_over and not one.is_right]
        rows.append(
            [
                NAMES[name],
                str(len(found)),
                _share([one.is_right for one in found]),
                _share([one.is_handed_over for one in found]),
                str(len(held_back)),
                _share([one.refuses for one in found]),
                f"{median(one.tokens for one in found):.0f}",
            ]
        )
    head = ["", "n", "right", "handed over", "held back", "wrong refusals", "tokens"]
    yield from table(head, rows)


def _against(measured: Mapping[str, Measured], group: str, split: str) -> list[str]:
    """ombud minus each other, over the questions that both were asked."""
    rows: list[Row] = []
    for ours in (OURS, COMPARED):
        mine = measured[ours].of(group, split)
        for name in NAMES:
            if name not in (OURS, COMPARED) and mine:
                rows += _paired(
                    f"{NAMES[ours]} − {NAMES[name]}", measured[name].of(group, split), mine
                )
    return differences("", rows)


def _paired(title: str, other: Sequence[Answered], mine: Sequence[Answered]) -> Iterator[Row]:
    theirs = {one.asked.id: one for one in other}
    pairs = [(theirs[one.asked.id], one) for one in mine]
    clusters = [one.asked.cluster for one in mine]
    for metric in ("is_right", "refuses"):
        first, second = zip(
            *[(float(getattr(a, metric)), float(getattr(b, metric))) for a, b in pairs], strict=True
        )
        label = "right" if metric == "is_right" else "wrong refusals"
        yield Row(title, label, compare(first, second, clusters))


def _wrong(measured: Mapping[str, Measured]) -> Iterator[str]:
    rows: list[list[str]] = []
    for name, whole in measured.items():
        refused = [one.refuses for one in whole.of("unanswerable")]
        invented = [any(one.shown) for one in whole.of("invented")]
        drafts = whole.of("wrong drafts")
        said = [
            shown for one in drafts for told, shown in zip(one.told, one.shown, strict=True) if told
        ]
        asked = [any(one.shown) for one in drafts]
        rows.append([NAMES[name], *map(_share, (refused, invented, asked, said))])
    yield from table(
        [
            "",
            "unanswerable: refused",
            "unanswerable, the model invents: a wrong statement shown",
            "answerable, the model errs: questions with a wrong statement shown",
            "of the wrong statements that the model made: shown",
        ],
        rows,
    )


def _costs(measured: Mapping[str, Measured]) -> Iterator[str]:
    rows: list[list[str]] = []
    for name, whole in measured.items():
        timed = [one for group in TIMED for one in whole.of(group)]
        times = [1000 * one.seconds for one in timed]
        rows.append(
            [
                f"{NAMES[name]} ({whole.version})",
                f"{whole.index_seconds:.0f}",
                f"{whole.index_peak:.0f}",
                str(len(times)),
                f"{percentile(times, 0.5):.0f}",
                f"{percentile(times, 0.95):.0f}",
                f"{whole.peak:.0f}",
                f"{median(one.tokens for one in timed):.0f}",
            ]
        )
    head = ["", "index s", "peak MiB", "answers", "p50 ms", "p95 ms", "peak MiB", "tokens"]
    yield from table(head, rows)


def _share(hits: Sequence[bool]) -> str:
    """`.714 [.60, .80] (5 of 7)`, the interval Wilson's."""
    if not hits:
        return "–"
    low, high = wilson_interval(sum(hits), len(hits))
    return f"{sum(hits) / len(hits):.3f} [{low:.2f}, {high:.2f}] ({sum(hits)} of {len(hits)})"


if __name__ == "__main__":
    main()
