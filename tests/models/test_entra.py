"""Azure OpenAI without a key, against servers of our own that play Microsoft Entra, the endpoint of
managed identities and Azure OpenAI."""

import asyncio
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import trustme
from pydantic import BaseModel

from ombud.errors import ModelUnavailable, SetupError
from ombud.models import ModelRoles, open_embedder
from ombud.settings import ModelSettings

TENANT = "11111111-2222-3333-4444-555555555555"
SECRET = "secret-key-7f3a"
CLOUD = "https://cognitiveservices.azure.com"
VARIABLES = (
    *("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"),
)


class Word(BaseModel):
    word: str


class Handler(BaseHTTPRequestHandler):
    """Plays all three by their paths."""

    server: "Azure"

    def do_GET(self) -> None:
        if self.path.startswith("/msi"):
            self.server.logins.append(dict(parse_qs(self.path.partition("?")[2])))
            expiry = str(int(time.time()) + self.server.lasts)
            self.send(self.server.new_token() | {"expires_on": expiry, "resource": CLOUD})
            return
        base = self.server.authority
        self.send(
            {
                "authorization_endpoint": f"{base}/{TENANT}/oauth2/v2.0/authorize",
                "token_endpoint": f"{base}/{TENANT}/oauth2/v2.0/token",
                "issuer": f"{base}/{TENANT}/v2.0",
            }
        )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path.endswith("/token"):
            self.server.logins.append(dict(parse_qs(body)))
            if self.server.refusal:
                self.send(
                    {"error": "invalid_client", "error_description": self.server.refusal}, 401
                )
            else:
                self.send(self.server.new_token() | {"expires_in": self.server.lasts})
            return
        asked = json.loads(body)
        self.server.asked.append((self.path, self.headers["Authorization"]))
        if "/embeddings" in self.path:
            rows = [
                {"object": "embedding", "index": n, "embedding": [3.0, 4.0]}
                for n, _ in enumerate(asked["input"])
            ]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            self.send({"object": "list", "model": "m", "data": rows, "usage": usage})
            return
        call = {"name": "final_result", "arguments": '{"word": "yes"}'}
        message: dict[str, Any] = {"role": "assistant", "content": '{"word": "yes"}'}
        if asked.get("tools"):
            message["content"] = None
            message["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4.1"}
        self.send(reply | {"choices": [choice]})

    def send(self, reply: Any, status: int = 200) -> None:
        body = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Azure(ThreadingHTTPServer):
    """lasts: seconds for which its tokens are valid. refusal: Entra's words instead of a token."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.logins: list[dict[str, list[str]]] = []
        self.asked: list[tuple[str, str]] = []
        self.lasts = 3600
        self.refusal = ""
        self.authority = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def new_token(self) -> dict[str, Any]:
        return {"access_token": f"token-{len(self.logins)}", "token_type": "Bearer"}


@contextmanager
def running(server: Azure) -> Iterator[Azure]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def certificates() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def entra(
    certificates: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Azure]:
    """Microsoft Entra, which is reached by TLS only."""
    bundle = tmp_path / "authorities.pem"
    certificates.cert_pem.write_to_path(str(bundle))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificates.issue_cert("127.0.0.1").configure_cert(context)
    server = Azure()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.authority = f"https://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", server.authority)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    with running(server):
        yield server


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[Azure]:
    """Azure OpenAI, and an environment without any identity."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    # The identities of a developer's own tools, and the address of virtual machines, stay out.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    with running(Azure()) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        yield server


def be_service_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_CLIENT_ID", "ombud")
    monkeypatch.setenv("AZURE_CLIENT_SECRET", SECRET)


def ask(times: int = 1) -> None:
    roles = ModelRoles(ModelSettings(chat="azure:hr-chat", retries=0))
    chat = roles.chat("compose")
    assert chat is not None
    for _ in range(times):
        reply = asyncio.run(chat.reply("Brief.", "Yes?", Word, temperature=0, seconds=30))
        assert reply.value.word == "yes"
    roles.close()


def test_a_service_principal_asks_chat_and_embedder(
    openai: Azure, entra: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_service_principal(monkeypatch)
    ask(times=2)
    (login,) = entra.logins  # its token counts for both
    assert (login["client_id"], login["client_secret"]) == (["ombud"], [SECRET])
    assert f"{CLOUD}/.default" in login["scope"][0]
    path = "/openai/deployments/hr-chat/chat/completions?api-version=2024-10-21"
    assert openai.asked == [(path, "Bearer token-1")] * 2

    embedder = open_embedder(ModelSettings(embedder="azure:hr-vectors"), tmp_path)
    assert embedder is not None
    assert embedder.embed(["leave"]).tolist() == [pytest.approx([0.6, 0.8])]
    path = "/openai/deployments/hr-vectors/embeddings?api-version=2024-10-21"
    assert openai.asked[-1] == (path, "Bearer token-2")


def test_an_expired_token_is_renewed(
    openai: Azure, entra: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_service_principal(monkeypatch)
    entra.lasts = 0
    ask(times=2)
    assert [token for _, token in openai.asked] == ["Bearer token-1", "Bearer token-2"]


def test_a_workload_identity_shows_the_token_of_its_pod(
    openai: Azure, entra: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pod_token = tmp_path / "token"
    pod_token.write_text("token-of-the-pod", encoding="utf-8")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "WorkloadIdentityCredential")
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_CLIENT_ID", "ombud")
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(pod_token))
    ask()
    assert entra.logins[0]["client_assertion"] == ["token-of-the-pod"]
    assert openai.asked[0][1] == "Bearer token-1"


def test_a_managed_identity_takes_the_token_of_its_machine(
    openai: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{openai.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "header")
    ask()
    assert openai.logins[0]["resource"] == [CLOUD]
    assert openai.asked[0][1] == "Bearer token-1"


def test_the_versionless_interface_takes_tokens_too(
    openai: Azure, entra: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_service_principal(monkeypatch)
    monkeypatch.delenv("OPENAI_API_VERSION")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{openai.url}/openai/v1/")
    ask()
    assert openai.asked == [("/openai/v1/chat/completions", "Bearer token-1")]


def test_without_an_identity_the_next_step_is_named(openai: Azure) -> None:
    with pytest.raises(ModelUnavailable, match="No identity") as wrong:
        ask()
    for step in ("managed identity", "workload identity", "AZURE_CLIENT_SECRET"):
        assert step in wrong.value.hint
    assert openai.asked == []


def test_a_refused_identity_is_named_by_its_code_alone(
    openai: Azure, entra: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_service_principal(monkeypatch)
    entra.refusal = f"AADSTS7000215: Invalid client secret provided: {SECRET}."
    with pytest.raises(ModelUnavailable, match="AADSTS7000215") as wrong:
        ask()
    assert "Cognitive Services OpenAI User" in wrong.value.hint
    assert SECRET not in f"{wrong.value} {wrong.value.hint}"
    with pytest.raises(ModelUnavailable, match="AADSTS7000215"):
        open_embedder(ModelSettings(embedder="azure:hr-vectors"), tmp_path)
    assert openai.asked == []


@pytest.mark.parametrize("missing", ["AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"])
def test_what_is_not_set_is_named(
    missing: str, openai: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(missing)
    with pytest.raises(SetupError) as wrong:
        ask()
    assert missing in wrong.value.hint
    with pytest.raises(SetupError) as wrong:
        open_embedder(ModelSettings(embedder="azure:hr-vectors"), tmp_path)
    assert missing in wrong.value.hint
    assert openai.asked == []
