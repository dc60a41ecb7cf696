"""Local models are reached past every proxy of the environment, looked at from the proxy."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from models.serving import Server, serving
from ombud.errors import ModelUnavailable, OmbudError
from ombud.models import PlainText, is_remote, open_chat, open_embedder, open_reranker
from ombud.proxies import bypass_proxies, is_local, proxy_of, route_of
from ombud.settings import ModelSettings

QUESTION = "My manager gropes me at work and I feel suicidal"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class RecordingProxy(ThreadingHTTPServer):
    """A proxy that records every request and forwards none."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class ProxyHandler(BaseHTTPRequestHandler):
    server: RecordingProxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append(f"{self.command} {self.path} {body.decode()}")
        self.send_error(502)

    def do_GET(self) -> None:
        self.do_POST()

    def do_CONNECT(self) -> None:
        self.do_POST()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingProxy]:
    # Set before they are deleted, so that what the code under test sets is undone as well.
    for name in (*VARIABLES, "NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    with RecordingProxy() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def ask(settings: ModelSettings) -> str:
    chat = open_chat(settings)
    assert chat
    reply = chat.reply("", QUESTION, PlainText, temperature=0.0, seconds=10.0)
    return asyncio.run(reply).value.text


def named(server: Server, host: str) -> str:
    return f"http://{host}:{server.server_port}/v1"


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_local_chat_model_never_uses_the_proxy(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy, variable: str
) -> None:
    monkeypatch.setenv(variable, proxy.url)
    with serving() as server:
        server.said = "Talk to a counsellor."
        assert ask(ModelSettings(chat="openai:own", base_url=server.url)) == server.said
        assert len(server.asked) == 1
    assert proxy.requests == []


@pytest.mark.parametrize("kind", ["ollama", "vllm"])
def test_a_local_server_named_by_its_own_variable_is_reached_directly(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy, kind: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("VLLM_API_KEY", "x")
    with serving() as server:
        server.said = "Talk to a counsellor."
        monkeypatch.setenv(f"{kind.upper()}_BASE_URL", named(server, "localhost"))
        settings = ModelSettings(chat=f"{kind}:own")
        assert ask(settings) == server.said
        chat = open_chat(settings)
        assert chat
        assert chat.remote_models == ()
    assert proxy.requests == []


def test_the_local_embedder_and_reranker_never_use_the_proxy(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy, tmp_path: Path
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy.url)
    with serving() as server:
        settings = ModelSettings(
            embedder="openai:own",
            base_url=named(server, "localhost"),
            reranker="jina:own",
            reranker_url=server.url,
        )
        embedder = open_embedder(settings, tmp_path)
        reranker = open_reranker(settings)
        assert embedder
        assert reranker
        embedder.embed([QUESTION])
        asyncio.run(reranker.score(QUESTION, ["Counselling is free."], 10.0))
        assert not is_remote(embedder)
        assert not is_remote(reranker)
        assert {Path(request["path"]).name for request in server.asked} == {"embeddings", "rerank"}
    assert proxy.requests == []


def test_a_local_embedder_named_by_a_variable_is_reached_directly(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy, tmp_path: Path
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        embedder = open_embedder(ModelSettings(embedder="openai:own"), tmp_path)
        assert embedder
        assert not is_remote(embedder)
    assert proxy.requests == []


def test_a_redirect_of_a_local_server_takes_the_question_nowhere(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    with serving() as server:
        server.status = 307
        server.location = "http://models.example/v1/chat/completions"
        with pytest.raises(OmbudError):
            ask(ModelSettings(chat="openai:own", base_url=server.url, retries=0))
    assert proxy.requests == []


def test_a_model_elsewhere_uses_the_proxy_and_is_remote(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    settings = ModelSettings(chat="openai:own", base_url="http://models.example/v1", retries=0)
    with pytest.raises(ModelUnavailable):
        ask(settings)
    chat = open_chat(settings)
    assert chat
    assert chat.remote_models == ("openai:own",)
    assert len(proxy.requests) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.9.9.9/v1",
        "http://[::1]:8080/v1",
        "http://localhost/v1",
        "http://LOCALHOST./v1",
        "http://models.localhost:1/v1",
        "https://10.1.2.3/v1",
        "https://192.168.4.5/v1",
        "http://[fd00::5]/v1",
    ],
)
def test_a_local_address_is_exempt_beside_the_exceptions_that_stand(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy, url: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    assert is_local(url)
    assert proxy_of(url)
    assert bypass_proxies(url)
    assert not proxy_of(url)
    assert not bypass_proxies(url)
    assert not proxy_of("http://wiki.intranet.example")
    assert proxy_of("http://models.example") == proxy.url


def test_the_way_of_requests_names_the_proxy_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: RecordingProxy
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
    route = route_of("https://models.example/v1")
    assert "proxy.example:3128" in route
    assert "models.example" in route
    assert "secret" not in route
    assert route_of("http://127.0.0.1:8080/v1") == "directly to 127.0.0.1:8080"
