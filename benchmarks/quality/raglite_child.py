"""RAGLite behind two pipes, run by peers.py with the Python of an environment that has it; nothing
of ombud is there.

A request is a line of JSON on standard input, {"do": "open" | "put" | "read" | "chunks" | "search",
…}; its answer is {"done": …} on standard output. In between the child may ask {"embed": [texts]}
and is told {"vectors": [[…], …]}, so that both sides have the same vectors. What RAGLite is spared:
its models from the network. Sentences come from a plain splitter in the place of wtpsplit's model,
DuckDB's extensions from the files of their PyPI packages; no reranker, no query adapter, no chat
model. Everything else is RAGLite's own: chunklets, chunks, multi-vectors, BM25, fusion."""

import json
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PIPE = os.fdopen(os.dup(1), "w", encoding="utf-8")
# What libraries print must not stand between the answers.
os.dup2(2, 1)
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
MODEL, DIMENSION = "ombud/minilm", 384
SENTENCE_ENDS = re.compile(
    r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|\n\s*\n|\n(?=\s*(?:[-*+|#>]|\d+\.)\s?)"
)
"""A full stop before a capital or a digit, an empty line, the next item or row."""
EXTENSIONS = ("fts", "vss")


def main() -> None:
    _load_extensions()
    _hook()
    state: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        _say({"done": COMMANDS[request.pop("do")](state, **request)})


def open_database(state: dict[str, Any], database: str, chunk_size: int) -> dict[str, str]:
    raglite = import_module("raglite")
    Path(database).parent.mkdir(parents=True, exist_ok=True)
    state["config"] = raglite.RAGLiteConfig(
        db_url=f"duckdb:///{database}",
        llm="none/none",
        embedder=MODEL,
        reranker=None,
        chunk_max_size=chunk_size,
    )
    state["database"] = database
    return {"raglite": import_module("importlib.metadata").version("raglite")}


def put(state: dict[str, Any], chunks: list[dict[str, Any]]) -> int:
    """Chunks as ombud made them: id, document, headings, body, countries, vectors."""
    from sqlalchemy import text
    from sqlmodel import Session  # type: ignore[import-not-found, unused-ignore]

    tables = import_module("raglite._database")
    places: dict[str, int] = {}
    rows: dict[str, list[dict[str, Any]]] = {"document": [], "chunk": [], "chunk_embedding": []}
    for chunk in chunks:
        name = chunk["document"]
        if name not in places:
            rows["document"].append({"id": name, "filename": name, "metadata": "{}"})
        index = places[name] = places.get(name, -1) + 1
        about = json.dumps({"country": chunk["countries"], "filename": [name]})
        row = {
            "id": chunk["id"],
            "document_id": name,
            "index": index,
            "headings": chunk["headings"],
        }
        rows["chunk"].append({**row, "body": chunk["body"], "metadata": about})
        rows["chunk_embedding"] += [
            {"chunk_id": chunk["id"], "embedding": vector} for vector in chunk["vectors"]
        ]
    with Session(tables.create_database_engine(state["config"])) as session:
        for table, listed in rows.items():
            for statement in _filling(table, listed, Path(state["database"]).parent):
                session.execute(text(statement))
            session.commit()
        # As raglite.insert_documents does.
        session.execute(text("PRAGMA create_fts_index('chunk', 'id', 'body', overwrite = 1);"))
        session.execute(text("PRAGMA hnsw_compact_index('vector_search_chunk_index');"))
        session.commit()
        session.execute(text("CHECKPOINT;"))
    return len(chunks)


def _filling(table: str, rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """The statement that reads the rows from a file: one by one they take minutes."""
    if not rows:
        return []
    file = folder / f"{table}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kinds = {"index": "INTEGER", "metadata": "VARCHAR", "embedding": f"FLOAT[{DIMENSION}]"}
    columns = ", ".join(f"'{name}': '{kinds.get(name, 'VARCHAR')}'" for name in rows[0])
    names = ", ".join(f'"{name}"' for name in rows[0])
    source = f"read_json('{file}', format = 'newline_delimited', columns = {{{columns}}})"
    return [f"INSERT INTO {table} ({names}) SELECT {names} FROM {source}".replace(":", "\\:")]


def read(state: dict[str, Any], documents: list[dict[str, Any]]) -> int:
    """Files, cut and indexed by RAGLite: path, uri, countries."""
    raglite = import_module("raglite")
    made = [
        raglite.Document.from_path(
            Path(one["path"]), id=one["uri"], config=state["config"], country=one["countries"]
        )
        for one in documents
    ]
    raglite.insert_documents(made, max_workers=1, config=state["config"])
    return len(made)


def chunks(state: dict[str, Any]) -> list[dict[str, Any]]:
    """All of them, by document and place; the bodies of a document follow each other without a
    gap."""
    from sqlmodel import Session, select  # type: ignore[import-not-found, unused-ignore]

    tables = import_module("raglite._database")
    with Session(tables.create_database_engine(state["config"])) as session:
        rows = session.exec(
            select(tables.Chunk).order_by(tables.Chunk.document_id, tables.Chunk.index)
        ).all()
        return [
            {"id": row.id, "document": row.document_id, "headings": row.headings, "body": row.body}
            for row in rows
        ]


def search(
    state: dict[str, Any], text: str, countries: list[str], k: int
) -> list[tuple[str, float]]:
    """RAGLite's hybrid search and retrieve_chunks: (chunk id, score), best first."""
    raglite = import_module("raglite")
    config = state["config"]
    ids, scores = raglite.hybrid_search(
        text,
        num_results=k,
        metadata_filter={"country": countries} if countries else None,
        config=config,
    )
    score = dict(zip(ids, scores, strict=True))
    return [
        (chunk.id, float(score[chunk.id])) for chunk in raglite.retrieve_chunks(ids, config=config)
    ]


class PlainSentences:
    """In the place of wtpsplit's model: how likely a sentence ends with each character. All else is
    RAGLite's."""

    def predict_proba(self, doc: str, **_: Any) -> Any:
        import numpy as np

        likely = np.full(len(doc), 0.01)
        likely[[match.end() - 1 for match in SENTENCE_ENDS.finditer(doc)]] = 0.99
        return likely


def _hook() -> None:
    """LiteLLM's custom provider for the vectors; the plain splitter where RAGLite has a model."""
    litellm: Any = import_module("litellm")

    class Asking(litellm.CustomLLM):  # type: ignore[misc]
        def embedding(
            self,
            model: str,
            input: list[str],  # noqa: A002
            model_response: Any,
            *_: Any,
            **__: Any,
        ) -> Any:
            vectors = _ask(input)
            model_response.data = [
                {"object": "embedding", "index": at, "embedding": vector}
                for at, vector in enumerate(vectors)
            ]
            model_response.model = model
            return model_response

    litellm.custom_provider_map = [
        {"provider": MODEL.partition("/")[0], "custom_handler": Asking()}
    ]
    about = {
        "litellm_provider": "ombud",
        "mode": "embedding",
        "max_tokens": 256,
        "output_vector_size": DIMENSION,
    }
    litellm.register_model({MODEL: about})
    splitting: Any = import_module("raglite._split_sentences")
    splitting._load_sat = lambda: (PlainSentences(), {})


def _load_extensions() -> None:
    """INSTALL finds them where DuckDB keeps what it has: below the home folder, which peers.py
    sets."""
    duckdb = import_module("duckdb")
    connection = duckdb.connect()
    for name in EXTENSIONS:
        package = Path(str(import_module(f"duckdb_extension_{name}").__file__)).parent
        (file,) = package.rglob(f"{name}.duckdb_extension")
        connection.execute(f"INSTALL '{file}'")
        connection.execute(f"LOAD {name}")
    connection.close()


def _ask(texts: list[str]) -> list[list[float]]:
    _say({"embed": texts})
    found: list[list[float]] = json.loads(sys.stdin.readline())["vectors"]
    return found


def _say(message: Any) -> None:
    PIPE.write(json.dumps(message) + "\n")
    PIPE.flush()


COMMANDS: dict[str, Any] = {
    "open": open_database,
    "put": put,
    "read": read,
    "chunks": chunks,
    "search": search,
}

if __name__ == "__main__":
    main()
