"""Rerankers: endpoints against a server of our own, and a real graph small enough to be reckoned by
hand."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.cross_encoders import BROKEN, make_folder
from models.serving import Server
from ombud.errors import MalformedOutput, ModelUnavailable, OmbudError, SetupError, UnknownName
from ombud.models import Reranker, open_reranker
from ombud.settings import ModelSettings

KEY, TEXT = "secret-key-7f3a", "Employees in Ruritania have 31 days of leave."
KINDS = ["cohere", "jina"]
VARIABLE = {"cohere": "COHERE_API_KEY", "jina": "JINA_API_KEY"}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "JINA_API_KEY", "TEI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def opened(name: str, url: str = "") -> Reranker:
    reranker = open_reranker(ModelSettings(reranker=name, reranker_url=url))
    assert reranker is not None
    return reranker


def scores(reranker: Reranker, query: str, *texts: str, seconds: float = 30) -> list[float]:
    return asyncio.run(reranker.score(query, texts, seconds))


def says_nothing_of_them(error: OmbudError) -> None:
    assert KEY not in f"{error} {error.hint}"
    assert TEXT not in f"{error} {error.hint}"


# What is opened -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "none"])
def test_without_a_name_there_is_none(name: str) -> None:
    assert open_reranker(ModelSettings(reranker=name)) is None


@pytest.mark.parametrize("name", ["voyage:rerank-2", "cohear:rerank-v3.5", "minilm"])
def test_an_unknown_kind_lists_the_known(name: str) -> None:
    with pytest.raises(
        UnknownName, match=f"No reranker is called `{name.partition(':')[0]}`"
    ) as wrong:
        opened(name)
    assert wrong.value.hint.endswith("Known: cohere, folder, jina, tei.")


@pytest.mark.parametrize("kind", KINDS)
def test_the_services_themselves_want_a_key(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE[kind], "  ")
    with pytest.raises(SetupError, match=f"`{kind}:m` needs a key") as wrong:
        opened(f"{kind}:m")
    assert VARIABLE[kind] in wrong.value.hint
    monkeypatch.setenv(VARIABLE[kind], KEY)
    assert opened(f"{kind}:m").name == f"{kind}:m"


@pytest.mark.parametrize("key", [f"{KEY} {KEY}", f"{KEY}\n{KEY}", f"{KEY}…"])
def test_what_cannot_be_a_key_is_not_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_API_KEY", key)
    with pytest.raises(SetupError, match="CO_API_KEY holds no key") as wrong:
        opened("cohere:m")
    says_nothing_of_them(wrong.value)


@pytest.mark.parametrize("kind", KINDS)
def test_an_endpoint_needs_a_model(kind: str, server: Server) -> None:
    with pytest.raises(SetupError, match="names no model"):
        opened(f"{kind}:", server.url)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host", "http://", "/v1", "http://host:port"]
)
def test_what_is_no_address_is_said_at_once(url: str) -> None:
    with pytest.raises(SetupError, match="reranker_url is no address"):
        opened("jina:m", url)


# Endpoints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "path", "more"),
    [("cohere", "/v2/rerank", {}), ("jina", "/v1/rerank", {"return_documents": False})],
)
def test_a_request_is_as_the_service_documents_it(
    kind: str, path: str, more: dict[str, bool], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE[kind], KEY)
    reranker = opened(f"{kind}:org/rerank:8b", server.url.removesuffix("/v1"))
    # The server gives them by relevance, which is their length: 0.05, 0.02, 0.09.
    assert scores(reranker, "Leave?", "x" * 5, "x" * 2, "x" * 9) == [0.05, 0.02, 0.09]
    assert reranker.price is None
    asked = {
        "model": "org/rerank:8b",
        "query": "Leave?",
        "documents": ["xxxxx", "xx", "x" * 9],
        "top_n": 3,
    }
    assert server.asked == [{"path": path, "authorization": f"Bearer {KEY}"} | asked | more]


def tei_reply(*rows: tuple[int, float]) -> bytes:
    return json.dumps([{"index": index, "score": score} for index, score in rows]).encode()


def test_tei_is_asked_in_its_own_form(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEI_API_KEY", KEY)
    server.body = tei_reply((2, 0.9), (0, 0.5), (1, 0.002))
    reranker = opened("tei:BAAI/bge-reranker-v2-m3", server.url.removesuffix("/v1"))
    assert scores(reranker, "Leave?", "a", "b", "c") == [0.5, 0.002, 0.9]
    body = {"query": "Leave?", "texts": ["a", "b", "c"], "truncate": True}
    assert server.asked == [{"path": "/rerank", "authorization": f"Bearer {KEY}"} | body]


def test_tei_without_an_address_names_the_setting() -> None:
    with pytest.raises(SetupError, match="has no address") as wrong:
        opened("tei")
    assert "models.reranker_url" in wrong.value.hint


@pytest.mark.parametrize(
    "body",
    [
        tei_reply((0, 0.5)),
        tei_reply((0, 0.5), (0, 0.6)),
        b'{"results": [{"index": 0, "relevance_score": 0.5}]}',
    ],
)
def test_tei_scores_that_do_not_fit_are_malformed(body: bytes, server: Server) -> None:
    server.body = body
    with pytest.raises(MalformedOutput, match="`tei:m`") as wrong:
        scores(opened("tei:m", server.url.removesuffix("/v1")), "Leave?", TEXT, "b")
    says_nothing_of_them(wrong.value)


@pytest.mark.parametrize(
    ("kind", "end", "path"),
    [
        ("jina", "", "/v1/rerank"),
        ("jina", "/", "/v1/rerank"),
        ("jina", "/v1", "/v1/rerank"),
        ("jina", "/v3/", "/v3/rerank"),
        ("jina", "/api/rerank", "/api/rerank"),
        ("jina", "/api", "/api/v1/rerank"),
        ("cohere", "/v1", "/v1/rerank"),
        ("cohere", "", "/v2/rerank"),
    ],
)
def test_an_address_may_end_before_or_after_the_version(
    kind: str, end: str, path: str, server: Server
) -> None:
    scores(opened(f"{kind}:m", server.url.removesuffix("/v1") + end), "a", "b")
    assert server.asked[0]["path"] == path


def test_servers_of_ones_own_want_no_key(server: Server) -> None:
    scores(opened("jina:m", server.url), "a", "b")
    assert server.asked[0]["authorization"] is None


def test_the_second_variable_of_cohere_counts_too(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CO_API_KEY", f" {KEY}\n")
    scores(opened("cohere:m", server.url), "a", "b")
    assert server.asked[0]["authorization"] == f"Bearer {KEY}"


def test_nothing_is_asked_about_nothing(server: Server) -> None:
    assert scores(opened("jina:m", server.url), "a") == []
    assert server.asked == []


def test_one_client_serves_many_event_loops(server: Server) -> None:
    reranker = opened("jina:m", server.url)
    assert [scores(reranker, "a", "xx") for _ in range(3)] == [[0.02]] * 3


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "COHERE_API_KEY"),
        (403, "CO_API_KEY"),
        (404, "reranker_url"),
        (429, "busy"),
        (500, "busy"),
    ],
)
def test_a_refusal_is_asked_once_and_quotes_nothing(
    status: int, hint: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    server.status, server.body = status, f'{{"message": "{KEY} {TEXT}"}}'.encode()
    with pytest.raises(ModelUnavailable, match=f"`cohere:m` answered with HTTP {status}") as wrong:
        scores(opened("cohere:m", server.url), "Leave?", TEXT)
    assert hint in wrong.value.hint
    says_nothing_of_them(wrong.value)
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(server: Server) -> None:
    server.status = 307
    with pytest.raises(ModelUnavailable, match="HTTP 307"):
        scores(opened("jina:m", server.url), "a", "b")


def result(index: object, score: object) -> str:
    return f'{{"index": {index}, "relevance_score": {score}, "document": {{"text": "{TEXT}"}}}}'


@pytest.mark.parametrize(
    "results",
    [
        result(0, 0.5),
        f"{result(0, 0.5)}, {result(0, 0.6)}",
        f"{result(0, 0.5)}, {result(2, 0.6)}",
        f"{result(0, 0.5)}, {result(-1, 0.6)}",
        f"{result(0, 0.5)}, {result(1, 0.6)}, {result(1, 0.7)}",
        f"{result(0, 0.5)}, {result(1, 'NaN')}",
        f"{result(0, 0.5)}, {result(1, 'null')}",
        f'{result(0, 0.5)}, {{"index": 1, "score": 0.6}}',
        f"{result(0, 0.5)}, 1",
    ],
)
def test_scores_that_do_not_fit_the_texts_are_malformed(results: str, server: Server) -> None:
    server.body = f'{{"results": [{results}]}}'.encode()
    with pytest.raises(MalformedOutput, match="`jina:m`") as wrong:
        scores(opened("jina:m", server.url), "Leave?", TEXT, "b")
    says_nothing_of_them(wrong.value)
    assert wrong.value.__cause__ is None


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"results": null}', b"<html></html>", b"\xff\xfe"]
)
def test_something_else_than_results_is_malformed(body: bytes, server: Server) -> None:
    server.body = body
    with pytest.raises(MalformedOutput, match="in another form") as wrong:
        scores(opened("cohere:m", server.url), "a", "b")
    assert "/v2/rerank" in wrong.value.hint


@pytest.fixture
def deaf() -> Iterator[str]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_server_that_says_nothing_in_time_is_unavailable(deaf: str) -> None:
    with pytest.raises(ModelUnavailable, match="no scores within 0 seconds") as wrong:
        scores(opened("jina:m", deaf), "a", "b", seconds=0.01)
    assert "models.search_seconds" in wrong.value.hint


def test_a_server_that_is_not_there_is_unavailable(deaf: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ModelUnavailable, match=r"cannot be reached \(ConnectError\)"):
        scores(opened("jina:m", f"http://127.0.0.1:{port}"), "a", "b")


# A folder -----------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Reranker:
    return opened(f"folder:{make_folder(tmp_path / 'model')}")


def test_a_pair_is_scored_as_the_graph_says(tiny: Reranker) -> None:
    # 100 times the query's words, and the passage's
    assert scores(tiny, "one", "two ten", "ten", "two two two") == [112, 110, 106]
    assert scores(tiny, "two one", "") == [300]
    assert tiny.price == 0


def test_scores_stand_in_the_order_of_the_texts(tiny: Reranker) -> None:
    lengths = [7, 1, 30, 3, 200, 2, 9, 500, 4]
    assert scores(tiny, "one", *("one " * n for n in lengths)) == [100 + n for n in lengths]
    assert scores(tiny, "one") == []


def test_only_the_passage_is_cut(tiny: Reranker) -> None:
    """512 tokens less three special ones and the query."""
    assert scores(tiny, "ten", "two " * 600) == [1000 + 2 * 508]
    assert scores(tiny, "ten " * 200, "two " * 600) == [200 * 1000 + 2 * 309]
    assert scores(tiny, "ten", "two " * 508 + "ten") == [1000 + 2 * 508]


def test_a_query_leaves_half_the_room(tiny: Reranker) -> None:
    assert scores(tiny, "ten " * 600, "two " * 600) == [256 * 1000 + 2 * 253]


def test_a_graph_of_two_classes_counts_the_second_over_the_first(tmp_path: Path) -> None:
    assert scores(
        opened(f"folder:{make_folder(tmp_path / 'm', classes=2)}"), "one", "two", "ten"
    ) == [102, 110]


def test_a_graph_without_token_types_is_one_too(tmp_path: Path) -> None:
    assert scores(
        opened(f"folder:{make_folder(tmp_path / 'm', inputs=['attention_mask'])}"), "one", "ten"
    ) == [11]
    assert scores(opened(f"folder:{make_folder(tmp_path / 'n', inputs=[])}"), "one", "ten") == [11]


def test_a_path_alone_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path / "model")
    assert scores(opened(str(tmp_path / "model")), "one", "ten") == [110]
    monkeypatch.chdir(tmp_path)
    assert scores(opened("model"), "one", "ten") == [110]


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_its_files_says_which(file: str, tmp_path: Path) -> None:
    (make_folder(tmp_path / "m") / file).unlink()
    with pytest.raises(SetupError, match=f"{file} is missing"):
        opened(f"folder:{tmp_path / 'm'}")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_a_matter_of_setup(file: str, tmp_path: Path) -> None:
    (make_folder(tmp_path / "m") / file).write_bytes(b"{}")
    with pytest.raises(SetupError, match=r"cross-encoder in .* cannot be opened"):
        opened(f"folder:{tmp_path / 'm'}")


def test_a_graph_of_another_kind_is_a_matter_of_setup(tmp_path: Path) -> None:
    make_folder(tmp_path / "m", classes=3)
    with pytest.raises(SetupError, match=r"no cross-encoder.*3 scores for a pair"):
        opened(f"folder:{tmp_path / 'm'}")
    make_folder(tmp_path / "m", inputs=["attention_mask", "pixel_values"])
    with pytest.raises(SetupError, match="no cross-encoder"):
        opened(f"folder:{tmp_path / 'm'}")


def test_a_score_that_is_no_number_is_malformed(tiny: Reranker) -> None:
    with pytest.raises(MalformedOutput, match="no number"):
        scores(tiny, "one", "ten", "none", "two")


def test_a_graph_that_fails_is_unavailable_and_quotes_nothing(tiny: Reranker) -> None:
    with pytest.raises(ModelUnavailable, match="failed") as wrong:
        scores(tiny, "one", f"ten {BROKEN}", *["two"] * 20)
    assert BROKEN not in f"{wrong.value} {wrong.value.hint}"
    assert scores(tiny, "one", "ten") == [110]


def test_a_graph_that_takes_too_long_is_unavailable(tiny: Reranker) -> None:
    with pytest.raises(ModelUnavailable, match="no scores within 0 seconds") as wrong:
        scores(tiny, "one", *["two " * 500] * 50, seconds=0)
    assert "models.search_seconds" in wrong.value.hint
    assert scores(tiny, "one", "ten") == [110]
