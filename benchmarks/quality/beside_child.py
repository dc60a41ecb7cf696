"""One pipeline from question to answer behind two pipes, run by beside.py with the Python that has
it.

Run: beside_child.py PIPELINE index|answer FOLDER. FOLDER/given.json names the files, the chat
model's address and the files of the embedding model; the pipeline keeps its index in FOLDER. `index`
builds it and writes {"seconds", "version", "peak"}. `answer` opens it, writes a line, and answers
each line {"question", "country"} by {"text", "seconds", "peak"}. peak: of this process's memory so
far, in MiB. The clock runs from the question to the whole answer, the chat model's part included.
Each has the same embedding model, run here, in its own process."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

MODEL = "gpt-4o-mini"
"""What everybody takes the recorded model for: its window is long, its form of calls well known."""
WINDOW = 256
"""Tokens that MiniLM reads."""
EVERYWHERE = "global"
FUSED, SHORT, OVERLAP = 8, 256, 20
"""For the second way to run LlamaIndex: passages, as many as ombud's; tokens of a chunk, as many as
the embedding model reads; LlamaIndex's smaller overlap."""
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
    "OPENAI_API_KEY": "none",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}

Ask = Callable[[str, str], str]
"""A question and a country -> what is shown."""


class Given(NamedTuple):
    folder: Path
    url: str
    """Of the chat model."""
    files: Sequence[dict[str, Any]]
    """uri, path, countries."""
    graph: str
    tokenizer: str
    settings: str
    """ombud.toml."""


def main(arguments: Sequence[str]) -> None:
    if len(arguments) != 3:
        print("beside.py runs this; alone it measures nothing.")
        return
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not stand between the answers
    name, what, folder = arguments
    given = Given(Path(folder), **json.loads(Path(folder, "given.json").read_text("utf-8")))
    os.environ.update(QUIET, OPENAI_API_BASE=given.url, OPENAI_BASE_URL=given.url)
    one = PIPELINES[name]
    began = time.perf_counter()
    if what == "index":
        one.build(given)
        _say(pipe, seconds=time.perf_counter() - began, version=version(one.package))
        return
    ask = one.open(given)
    _say(pipe, seconds=time.perf_counter() - began)
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.perf_counter()
        text = ask(asked["question"], asked["country"])
        _say(pipe, text=text, seconds=time.perf_counter() - began)


def _say(pipe: Any, **message: Any) -> None:
    """Memory of processes that were started and have ended counts like this one's own."""
    peaks = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    pipe.write(json.dumps({**message, "peak": max(peaks) / 1024}) + "\n")
    pipe.flush()


class Minilm:
    """The embedding model as ombud runs it: a text at a time, on one thread each, its first
    window."""

    def __init__(self, graph: str, tokenizer: str) -> None:
        runtime, words = import_module("onnxruntime"), import_module("tokenizers")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._tokenizer = words.Tokenizer.from_file(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._threads = ThreadPoolExecutor(os.cpu_count())

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        encodings = self._tokenizer.encode_batch(list(texts))
        return list(self._threads.map(self._one, [encoding.ids for encoding in encodings]))

    def _one(self, ids: list[int]) -> list[float]:
        np: Any = import_module("numpy")
        kept = ids if len(ids) <= WINDOW else [*ids[: WINDOW - 1], ids[-1]]
        row = np.array([kept], np.int64)
        fed = {"input_ids": row, "attention_mask": np.ones_like(row)}
        vector = self._session.run(["embedding"], fed)[0][0]
        made: list[float] = (vector / np.linalg.norm(vector)).tolist()
        return made


# ombud --------------------------------------------------------------------------------------------


def index_ombud(given: Given) -> None:
    app, ingest = import_module("ombud.app"), import_module("ombud.ingest")
    (given.folder / "ombud.toml").write_text(given.settings, encoding="utf-8")
    workspace = app.Workspace(given.folder)
    sources = app.configured_sources(workspace.settings, workspace.home, workspace.store)
    for report in ingest.sync_sources(workspace.ingest, sources):
        print(report)  # to the log


def open_ombud(given: Given, strategies: Sequence[str] = ()) -> Ask:
    asyncio, types = import_module("asyncio"), import_module("ombud.types")
    app = import_module("ombud.app")
    settings: dict[str, Any] = {"models": {"chat": f"openai:{MODEL}", "base_url": given.url}}
    if strategies:
        settings["plan"] = {"strategies": list(strategies)}
    workspace = app.Workspace(given.folder, settings)
    loop = asyncio.Runner()  # stays, as when it serves

    def ask(text: str, country: str) -> str:
        question = types.Question(text=text, asker=types.Person(country=country or None))
        answer = loop.run(app.asking.ask(workspace, question, keep=False))
        shown: str = answer.text
        return shown

    return ask


# LlamaIndex ---------------------------------------------------------------------------------------


def index_llama(given: Given, **splitting: int) -> None:
    core, parsing = import_module("llama_index.core"), import_module("llama_index.core.node_parser")
    documents = []
    for one in given.files:
        told = {"file_path": one["uri"], "country": (one["countries"] or [EVERYWHERE])[0]}
        document = core.Document(text=Path(one["path"]).read_text("utf-8"), metadata=told)
        for hidden in (
            document.excluded_embed_metadata_keys,
            document.excluded_llm_metadata_keys,
        ):
            hidden.append("country")
        documents.append(document)
    index = core.VectorStoreIndex.from_documents(
        documents,
        embed_model=_llama_embedder(given),
        transformations=[parsing.SentenceSplitter(**splitting)],
    )
    index.storage_context.persist(str(given.folder))


def open_llama(given: Given, fused: bool = False) -> Ask:
    core = import_module("llama_index.core")
    llm = import_module("llama_index.llms.openai").OpenAI(model=MODEL, api_base=given.url)
    storage = core.StorageContext.from_defaults(persist_dir=str(given.folder))
    index = core.load_index_from_storage(storage, embed_model=_llama_embedder(given))

    def engine(country: str) -> Any:
        filters = _llama_filters(country)
        if not fused:
            return index.as_query_engine(llm=llm, filters=filters)
        engines = import_module("llama_index.core.query_engine")
        return engines.RetrieverQueryEngine.from_args(_both_legs(index, filters, llm), llm=llm)

    # Elsewhere people see what everybody sees.
    countries = {country for one in given.files for country in one["countries"]} | {""}
    engine_of = {country: engine(country) for country in countries}
    return lambda text, country: str(engine_of.get(country, engine_of[""]).query(text))


def _both_legs(index: Any, filters: Any, llm: Any) -> Any:
    """Its BM25 and its vectors, fused by their ranks; no model writes other questions."""
    core = import_module("llama_index.core.retrievers")
    words = import_module("llama_index.retrievers.bm25").BM25Retriever
    legs = [
        index.as_retriever(similarity_top_k=2 * FUSED, filters=filters),
        words.from_defaults(index=index, similarity_top_k=2 * FUSED, filters=filters),
    ]
    return core.QueryFusionRetriever(
        legs,
        llm=llm,
        mode="reciprocal_rerank",
        similarity_top_k=FUSED,
        num_queries=1,
        use_async=False,
    )


def _llama_filters(country: str) -> Any:
    stores = import_module("llama_index.core.vector_stores")
    seen = stores.MetadataFilter(
        key="country", value=[country, EVERYWHERE], operator=stores.FilterOperator.IN
    )
    return stores.MetadataFilters(filters=[seen])


def _llama_embedder(given: Given) -> Any:
    minilm = Minilm(given.graph, given.tokenizer)
    base: Any = import_module("llama_index.core.base.embeddings.base").BaseEmbedding

    class Ours(base):  # type: ignore[misc]
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return minilm.embed(texts)

        def _get_text_embedding(self, text: str) -> list[float]:
            return minilm.embed([text])[0]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return minilm.embed([query])[0]

    return Ours(model_name="minilm")


# RAGLite ------------------------------------------------------------------------------------------


def index_raglite(given: Given) -> None:
    child, state = _raglite(given)
    documents = [{**one, "countries": one["countries"] or [EVERYWHERE]} for one in given.files]
    child.read(state, documents)


def open_raglite(given: Given, hybrid: bool = False) -> Ask:
    raglite, dataclasses = import_module("raglite"), import_module("dataclasses")
    _, state = _raglite(given)
    search = {"search_method": raglite.hybrid_search} if hybrid else {}
    config = dataclasses.replace(state["config"], llm=f"openai/{MODEL}", **search)

    def ask(text: str, country: str) -> str:
        seen = {"country": [country, EVERYWHERE] if country else [EVERYWHERE]}
        context = raglite.retrieve_context(text, metadata_filter=seen, config=config)
        messages = [raglite.add_context(text, context, config)]
        return "".join(raglite.rag(messages, config=config))

    return ask


def _raglite(given: Given) -> tuple[Any, dict[str, Any]]:
    """As in the comparison of what is found: see raglite_child.py for what it is spared."""
    child: Any = import_module("raglite_child")
    child._load_extensions()
    child._hook()
    child._ask = Minilm(given.graph, given.tokenizer).embed
    state: dict[str, Any] = {}
    child.open_database(state, str(given.folder / "raglite.db"), 2048)
    return child, state


class Pipeline(NamedTuple):
    build: Callable[[Given], None]
    open: Callable[[Given], Ask]
    package: str


PIPELINES = {
    "ombud": Pipeline(index_ombud, open_ombud, "ombud"),
    "ombud_alone": Pipeline(index_ombud, partial(open_ombud, strategies=["standard"]), "ombud"),
    "llama": Pipeline(index_llama, open_llama, "llama-index-core"),
    "llama_fused": Pipeline(
        partial(index_llama, chunk_size=SHORT, chunk_overlap=OVERLAP),
        partial(open_llama, fused=True),
        "llama-index-core",
    ),
    "raglite": Pipeline(index_raglite, open_raglite, "raglite"),
    "raglite_hybrid": Pipeline(index_raglite, partial(open_raglite, hybrid=True), "raglite"),
}

if __name__ == "__main__":
    main(sys.argv[1:])
