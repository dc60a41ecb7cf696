"""A network as companies have it: an authority of their own, and no way out but a proxy."""

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from models.serving import Handler, Server
from ombud.app import Workspace, flagging
from ombud.errors import BadSetting, ModelError, SourceError
from ombud.models import PlainText, open_chat, open_embedder, open_reranker
from ombud.settings import Settings, open_settings
from ombud.sources.client import PublicClient
from ombud.sources.guard import Network
from ombud.sources.site import SiteClient

VARIABLES = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "OPENAI_API_KEY"),
)
NAMES = ("models.example", "docs.example")


class Page(Handler):
    def do_GET(self) -> None:  # noqa: N802
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")


class Tunnel(BaseHTTPRequestHandler):
    """Looks every name up as this machine."""

    server: "Proxy"

    def do_CONNECT(self) -> None:
        self.server.reached.append(self.path)
        with socket.create_connection(("127.0.0.1", self.server.target)) as away:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_copy, args=(away, self.connection), daemon=True)
            back.start()
            _copy(self.connection, away)
            back.join(10)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.target, self.reached = target, list[str]()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def proxy(authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    for name in VARIABLES:  # set first, so that what the code sets is undone as well
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("JINA_API_KEY", "x")
    with Server() as inside:
        inside.RequestHandlerClass = Page
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*NAMES).configure_cert(context)
        inside.socket = context.wrap_socket(inside.socket, server_side=True)
        inside.said = "hello"
        with Proxy(inside.server_port) as server:
            for each in (inside, server):
                threading.Thread(target=each.serve_forever, args=(0.01,), daemon=True).start()
            yield server
            server.shutdown()
            inside.shutdown()


def settings(home: Path, proxy: Proxy, authority: trustme.CA | None, toml: str = "") -> Settings:
    lines = [f'[network]\nproxy = "http://127.0.0.1:{proxy.server_port}"']
    if authority:
        authority.cert_pem.write_to_path(str(home / "company.pem"))
        lines.append('ca_file = "company.pem"')
    lines.append(f"{toml}\n[models]\nchat = 'openai:a'\nembedder = 'openai:b'\nreranker = 'jina:c'")
    lines.append("base_url = 'https://models.example/v1'\nreranker_url = 'https://models.example'")
    (home / "ombud.toml").write_text("\n".join(lines), encoding="utf-8")
    return open_settings(home)


def test_models_and_sources_go_through_the_proxy_and_trust_the_authority(
    tmp_path: Path, proxy: Proxy, authority: trustme.CA
) -> None:
    models = settings(tmp_path, proxy, authority).models
    chat, embedder, reranker = (
        open_chat(models),
        open_embedder(models, tmp_path),
        open_reranker(models),
    )
    assert chat
    assert embedder
    assert reranker
    asked = chat.reply("", "Hello?", PlainText, temperature=0.0, seconds=30.0)
    assert asyncio.run(asked).value.text == "hello"
    assert embedder.embed(["abc"]).shape == (1, 3)
    assert len(asyncio.run(reranker.score("a", ["b", "c"], 30.0))) == 2
    site = SiteClient("Docs", "https://docs.example", credentials={}, hint="")
    page = site.get("https://docs.example/page")
    assert page
    assert page.body == b"hello"
    assert PublicClient(Network()).get("https://docs.example/page").body == b"hello"
    assert set(proxy.reached) == {"models.example:443", "docs.example:443"}


def test_an_authority_that_nobody_named_is_not_trusted(tmp_path: Path, proxy: Proxy) -> None:
    chat = open_chat(settings(tmp_path, proxy, None, "").models.model_copy(update={"retries": 0}))
    assert chat
    with pytest.raises(ModelError):
        asyncio.run(chat.reply("", "Hello?", PlainText, temperature=0.0, seconds=30.0))
    with pytest.raises(SourceError, match="certificate"):
        PublicClient(Network(), pause=lambda _: None).get("https://docs.example/")


def test_hosts_without_the_proxy_are_reached_directly(
    tmp_path: Path, proxy: Proxy, authority: trustme.CA
) -> None:
    settings(tmp_path, proxy, authority, 'no_proxy = ["docs.example"]')
    with pytest.raises(SourceError):
        PublicClient(Network(), pause=lambda _: None).get("https://docs.example/")
    assert proxy.reached == []


def test_no_proxy_leads_a_stranger_inside(
    tmp_path: Path, proxy: Proxy, authority: trustme.CA
) -> None:
    settings(tmp_path, proxy, authority)
    for address in ("https://169.254.169.254/", "https://10.0.0.1/", "https://localhost/"):
        with pytest.raises(SourceError, match="not read"):
            PublicClient(Network()).get(address)
    assert proxy.reached == []


def test_a_file_that_holds_no_certificate_is_a_bad_setting(tmp_path: Path, proxy: Proxy) -> None:
    (tmp_path / "company.pem").write_text("nothing", encoding="utf-8")
    (tmp_path / "ombud.toml").write_text('[network]\nca_file = "company.pem"\n', encoding="utf-8")
    with pytest.raises(BadSetting, match="ca_file"):
        open_settings(tmp_path)


def test_a_change_of_flags_leaves_the_authority_in_its_place(
    tmp_path: Path, proxy: Proxy, authority: trustme.CA
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "company.pem"))
    (tmp_path / "ombud.toml").write_text(
        '[network]\nca_file = "company.pem"\n[models]\nembedder = "none"\n', encoding="utf-8"
    )
    with closing(Workspace(tmp_path)) as workspace:
        trusted = os.environ["SSL_CERT_FILE"]
        flagging.set_country(workspace, "GB", "k = 3", by="anna")
        assert os.environ["SSL_CERT_FILE"] == trusted
        assert Path(trusted).is_relative_to(tmp_path)
        assert Path(trusted).is_file()
