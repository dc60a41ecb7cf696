"""Other searches behind two pipes, run by peers.py with the Python of an environment that has them,
without ombud.

Run: peers_child.py PEER FOLDER. The folder holds chunks.jsonl (id, text), vectors.npy,
questions.json and question_vectors.npy. Once the peer is built, a line {"seconds", "version"} is
written; then each line of question numbers that is read is answered by a line of [seconds, [chunk
ids, best first]] for each. The clock runs around the search alone, from the question and its vector
to the best chunks with their texts, and stands while a line is written. Without arguments nothing
is done."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

POOL, BEST = 30, 8
"""Candidates of each leg and chunks in the end: ombud's own defaults."""
DAMPING = 60
BATCH = 5000
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
}
"""Nobody is told of this."""


class Corpus(NamedTuple):
    ids: list[str]
    texts: list[str]
    vectors: Any
    folder: Path
    questions: dict[str, Any]
    """Text -> vector."""


Search = Callable[[str, Any], Sequence[str]]
"""A question and its vector -> ids of the best chunks."""


def main(arguments: Sequence[str]) -> None:
    if len(arguments) != 2:
        print("peers.py runs this; alone it measures nothing.")
        return
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not stand between the answers
    os.environ.update(QUIET)
    name, folder = arguments
    corpus = _read(Path(folder))
    asked = list(corpus.questions.items())
    build, package = PEERS[name]
    began = time.perf_counter()
    search = build(corpus)
    _say(pipe, {"seconds": time.perf_counter() - began, "version": version(package)})
    for line in sys.stdin:
        answers = []
        for number in json.loads(line):
            text, vector = asked[number]
            began = time.perf_counter()
            found = search(text, vector)
            answers.append([time.perf_counter() - began, list(found)[:BEST]])
        _say(pipe, answers)


def _read(folder: Path) -> Corpus:
    with (folder / "chunks.jsonl").open(encoding="utf-8") as file:
        ids, texts = zip(*map(json.loads, file), strict=True)
    asked = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    questions = dict(zip(asked, np.load(folder / "question_vectors.npy"), strict=True))
    return Corpus(list(ids), list(texts), np.load(folder / "vectors.npy"), folder, questions)


def _say(pipe: Any, message: Any) -> None:
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


# The peers ----------------------------------------------------------------------------------------


def llama_index(corpus: Corpus) -> Search:
    core, schema = import_module("llama_index.core"), import_module("llama_index.core.schema")
    mock = import_module("llama_index.core.llms").MockLLM()
    bm25 = import_module("llama_index.retrievers.bm25").BM25Retriever
    rows = zip(corpus.ids, corpus.texts, corpus.vectors.tolist(), strict=True)
    nodes = [
        schema.TextNode(id_=identity, text=text, embedding=vector)
        for identity, text, vector in rows
    ]
    index = core.VectorStoreIndex(
        nodes, embed_model=core.MockEmbedding(embed_dim=corpus.vectors.shape[1])
    )
    legs = [
        index.as_retriever(similarity_top_k=POOL),
        bm25.from_defaults(nodes=nodes, similarity_top_k=min(POOL, len(nodes))),
    ]
    # One query, the question: no model writes others. Asynchronous it is slower, for its legs only
    # compute.
    fused = import_module("llama_index.core.retrievers").QueryFusionRetriever(
        legs,
        llm=mock,
        mode="reciprocal_rerank",
        similarity_top_k=BEST,
        num_queries=1,
        use_async=False,
    )

    def search(text: str, vector: Any) -> list[str]:
        found = fused.retrieve(schema.QueryBundle(text, embedding=vector.tolist()))
        return [one.node.node_id for one in found]

    return search


def haystack(corpus: Corpus) -> Search:
    memory = import_module("haystack.document_stores.in_memory")
    retrievers = import_module("haystack.components.retrievers.in_memory")
    joiners, core = import_module("haystack.components.joiners"), import_module("haystack")
    store = memory.InMemoryDocumentStore(
        embedding_similarity_function="dot_product", return_embedding=False
    )
    rows = zip(corpus.ids, corpus.texts, corpus.vectors.tolist(), strict=True)
    store.write_documents(
        [core.Document(id=i, content=text, embedding=vector) for i, text, vector in rows]
    )
    pipeline = core.Pipeline()
    pipeline.add_component("words", retrievers.InMemoryBM25Retriever(store, top_k=POOL))
    pipeline.add_component("vectors", retrievers.InMemoryEmbeddingRetriever(store, top_k=POOL))
    pipeline.add_component("joined", joiners.DocumentJoiner("reciprocal_rank_fusion", top_k=BEST))
    pipeline.connect("words", "joined")
    pipeline.connect("vectors", "joined")

    def search(text: str, vector: Any) -> list[str]:
        asked = {"words": {"query": text}, "vectors": {"query_embedding": vector.tolist()}}
        return [one.id for one in pipeline.run(asked)["joined"]["documents"]]

    return search


def langchain(corpus: Corpus) -> Search:
    stores = import_module("langchain_community.vectorstores")
    retrievers = import_module("langchain_community.retrievers")
    ensemble = import_module("langchain_classic.retrievers").EnsembleRetriever
    names = [{"id": identity} for identity in corpus.ids]
    words = retrievers.BM25Retriever.from_texts(corpus.texts, metadatas=names)
    words.k = POOL
    pairs = zip(corpus.texts, corpus.vectors.tolist(), strict=True)
    known = {text: vector.tolist() for text, vector in corpus.questions.items()}
    store = stores.FAISS.from_embeddings(pairs, known.__getitem__, metadatas=names)
    legs = [words, store.as_retriever(search_kwargs={"k": POOL})]
    fused = ensemble(retrievers=legs, weights=[0.5, 0.5], id_key="id")

    def search(text: str, _: Any) -> list[str]:
        return [one.metadata["id"] for one in fused.invoke(text)]

    return search


def chroma(corpus: Corpus) -> Search:
    """Vectors only: its own BM25 needs its service. On disk, as it is run where nothing else is."""
    chromadb = import_module("chromadb")
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(corpus.folder / "chroma"), settings=settings)
    # Without a function of its own, else it fetches a model.
    collection = client.create_collection(
        "chunks", embedding_function=None, metadata={"hnsw:space": "ip"}
    )
    for start in range(0, len(corpus.ids), BATCH):
        part = slice(start, start + BATCH)
        collection.add(
            ids=corpus.ids[part], embeddings=corpus.vectors[part], documents=corpus.texts[part]
        )

    def search(_: str, vector: Any) -> list[str]:
        found = collection.query(
            query_embeddings=[vector], n_results=BEST, include=["documents", "distances"]
        )
        return list(found["ids"][0])

    return search


def lancedb(corpus: Corpus) -> Search:
    """Its own hybrid search on disk: BM25 of its index of words, every vector compared, reciprocal
    ranks."""
    database = import_module("lancedb").connect(str(corpus.folder / "lancedb"))
    rows = zip(corpus.ids, corpus.texts, corpus.vectors.tolist(), strict=True)
    table = database.create_table(
        "chunks", [{"id": i, "text": text, "vector": vector} for i, text, vector in rows]
    )
    table.create_fts_index("text")

    def search(text: str, vector: Any) -> list[str]:
        asked = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        found = asked.vector(vector).text(text).limit(BEST).to_list()
        return [row["id"] for row in found]

    return search


def plain(corpus: Corpus) -> Search:
    """What is least: bm25s, every vector compared, ranks fused in six lines."""
    bm25s, stemming = import_module("bm25s"), import_module("Stemmer")
    stemmer = stemming.Stemmer("english")
    ranker = bm25s.BM25()
    ranker.index(
        bm25s.tokenize(corpus.texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    most = min(POOL, len(corpus.ids))

    def search(text: str, vector: Any) -> list[str]:
        terms = bm25s.tokenize(text, stopwords="en", stemmer=stemmer, show_progress=False)
        words = ranker.retrieve(terms, k=most, show_progress=False)[0][0]
        scores = corpus.vectors @ vector
        near = np.argpartition(scores, -most)[-most:]
        fused: dict[int, float] = {}
        for leg in (words, near[np.argsort(-scores[near])]):
            for rank, at in enumerate(leg.tolist(), start=1):
                fused[at] = fused.get(at, 0.0) + 1 / (DAMPING + rank)
        best = sorted(fused, key=lambda at: -fused[at])[:BEST]
        return [corpus.ids[at] for at in best]

    return search


def raglite(corpus: Corpus) -> Search:
    """As in the comparison of quality: see raglite_child.py for what it is spared."""
    sys.path.append(str(Path(__file__).parents[1] / "quality"))
    child = import_module("raglite_child")
    child._load_extensions()
    child._hook()
    own: dict[str, Any] = {}
    child.open_database(own, str(corpus.folder / "raglite" / "raglite.db"), 2048)
    rows = zip(corpus.ids, corpus.texts, corpus.vectors.tolist(), strict=True)
    about = {"document": "chunks", "headings": "", "countries": []}
    child.put(
        own, [{**about, "id": i, "body": text, "vectors": [vector]} for i, text, vector in rows]
    )
    # The question's vector is at hand, as for everyone here.
    searching: Any = import_module("raglite._search")
    searching.embed_strings = lambda texts, **_: np.array([corpus.questions[t] for t in texts])

    def search(text: str, _: Any) -> list[str]:
        return [identity for identity, _ in child.search(own, text, [], BEST)]

    return search


PEERS: dict[str, tuple[Callable[[Corpus], Search], str]] = {
    "llama_index": (llama_index, "llama-index-core"),
    "haystack": (haystack, "haystack-ai"),
    "langchain": (langchain, "langchain-classic"),
    "chroma": (chroma, "chromadb"),
    "lancedb": (lancedb, "lancedb"),
    "plain": (plain, "bm25s"),
    "raglite": (raglite, "raglite"),
}
"""Name -> how it is built, whose version is told."""

if __name__ == "__main__":
    main(sys.argv[1:])
