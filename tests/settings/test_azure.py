"""Key Vault and App Configuration, by Microsoft's own packages, against servers that run here: the
token of the machine's identity as App Service gives it, and the two services behind TLS."""

import datetime
import ipaddress
import json
import os
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ombud.errors import BadSetting
from ombud.settings import Flags, load, open_settings
from sources.test_company_network import VARIABLES, Proxy

pytest.importorskip("azure.identity", reason="the extra `azure` is not installed")


class Azure(ThreadingHTTPServer):
    """Key vault and App Configuration at one address."""

    def __init__(self, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server_port}"
        self.domain = f"https://0.0.1:{self.server_port}"
        """The vault is challenged for a token of its own domain."""
        self.secrets = {"openai-key": "sk-from-the-vault"}
        self.flags: dict[tuple[str, str], tuple[str, str]] = {}
        """(key, label) -> (value, type of its content)."""
        self.is_down = False


class _Handler(BaseHTTPRequestHandler):
    server: Azure

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if self.server.is_down:
            self._say(503, {})
        elif self.headers.get("authorization") != "Bearer of-this-machine":
            says = "https://login.windows.net/t"
            challenge = f'Bearer authorization="{says}", resource="{self.server.domain}"'
            self._say(401, {}, challenge=challenge)
        elif url.path.startswith("/secrets/"):
            held = self.server.secrets.get(url.path.split("/")[2])
            if held is None:
                self._say(404, {"error": {"code": "SecretNotFound", "message": "none"}})
            else:
                self._say(200, {"value": held, "id": f"{self.server.url}/secrets/x/1"})
        else:
            self._say(200, {"items": self._flags(parse_qs(url.query))})

    def _flags(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        start, label = query["key"][0].removesuffix("*"), query["label"][0]
        wanted = "" if label == "\0" else label
        return [
            {"key": key, "label": named or None, "value": value, "content_type": media}
            for (key, named), (value, media) in self.server.flags.items()
            if key.startswith(start) and named == wanted
        ]

    def _say(self, status: int, body: dict[str, Any], challenge: str = "") -> None:
        said = json.dumps(body).encode()
        self.send_response(status)
        if challenge:
            self.send_header("www-authenticate", challenge)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


class _Machine(BaseHTTPRequestHandler):
    """The identity endpoint of App Service."""

    def do_GET(self) -> None:
        until = int(datetime.datetime.now(datetime.UTC).timestamp()) + 3600
        said = json.dumps({"access_token": "of-this-machine", "expires_on": str(until)}).encode()
        self.send_response(200 if self.headers.get("x-identity-header") == "h" else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


def make_certificate(path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))


@pytest.fixture
def azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Azure]:
    certificate = tmp_path / "certificate.pem"
    make_certificate(certificate)
    with Azure(certificate) as made, ThreadingHTTPServer(("127.0.0.1", 0), _Machine) as machine:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{machine.server_port}/token")
        monkeypatch.setenv("IDENTITY_HEADER", "h")
        threads = [
            threading.Thread(target=one.serve_forever, args=(0.01,)) for one in (made, machine)
        ]
        for thread in threads:
            thread.start()
        yield made
        made.shutdown()
        machine.shutdown()
        for thread in threads:
            thread.join()


def home_of(tmp_path: Path, azure: Azure, more: str = "") -> Path:
    text = f'[azure]\nkey_vault = "{azure.url}"\napp_configuration = "{azure.url}"\n{more}'
    (tmp_path / "ombud.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_secret_of_the_vault_becomes_its_variable(
    tmp_path: Path, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure.secrets["database"] = "postgresql+psycopg://ombud:pw@db/ombud"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_VAULT", "openai-key")
    monkeypatch.setenv("OMBUD_STORE__URL_VAULT", "database")
    monkeypatch.setenv("MISTRAL_API_KEY", "mine")
    monkeypatch.setenv("MISTRAL_API_KEY_VAULT", "openai-key")
    settings = load(home_of(tmp_path, azure))
    assert os.environ["OPENAI_API_KEY"] == "sk-from-the-vault"
    assert os.environ["MISTRAL_API_KEY"] == "mine"
    assert settings.store.url == "postgresql+psycopg://ombud:pw@db/ombud"
    for made in ("OPENAI_API_KEY", "OMBUD_STORE__URL"):
        del os.environ[made]  # it came by no patch


def test_the_vault_is_reached_by_the_proxy_of_the_company(
    tmp_path: Path, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "company.pem"))
    issued = tmp_path / "issued.pem"
    authority.issue_cert("acme.vault.example").private_key_and_cert_chain_pem.write_to_path(
        str(issued)
    )
    for name in (*VARIABLES, "OPENAI_API_KEY"):  # set first, so that what the code sets is undone
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY_VAULT", "openai-key")
    with Azure(issued) as vault, Proxy(vault.server_port) as proxy:
        vault.domain = "https://vault.example"
        for one in (vault, proxy):
            threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True).start()
        (tmp_path / "ombud.toml").write_text(
            '[azure]\nkey_vault = "https://acme.vault.example"\n'
            f'[network]\nproxy = "http://127.0.0.1:{proxy.server_port}"\nca_file = "company.pem"\n',
            encoding="utf-8",
        )
        open_settings(tmp_path)
        assert os.environ["OPENAI_API_KEY"] == "sk-from-the-vault"
        assert set(proxy.reached) == {"acme.vault.example:443"}
        vault.shutdown()
        proxy.shutdown()


def test_a_secret_that_is_not_there(
    tmp_path: Path, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_VAULT", "nothing")
    with pytest.raises(BadSetting) as refused:
        load(home_of(tmp_path, azure))
    assert "OPENAI_API_KEY_VAULT" in str(refused.value)
    assert refused.value.hint


def test_flags_of_app_configuration_win_over_the_file(tmp_path: Path, azure: Azure) -> None:
    azure.flags = {
        ("ombud:plan:k", ""): ("5", ""),
        ("ombud:country:GB:plan:mode", ""): ("sparse", ""),
        ("ombud:experiment:hyde", ""): (
            '{"share": 0.1, "plan": {"strategies": ["hyde"]}}',
            "application/json",
        ),
        ("ombud:plan:k", "prod"): ("7", ""),
        ("other:key", ""): ("1", ""),
    }
    settings = load(home_of(tmp_path, azure, "[plan]\nk = 9\nmode = 'dense'\n"))
    assert settings.plan.k == 5
    assert settings.plan.mode == "dense"
    assert settings.country["GB"].plan == {"mode": "sparse"}
    assert settings.experiment["hyde"].share == 0.1
    assert load(home_of(tmp_path, azure, 'label = "prod"\n')).plan.k == 7


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("ombud:server:port", "1", "`ombud:server:port`, which is no flag"),
        ("ombud:plan:kk", "1", "`plan.kk` in App Configuration"),
        ("ombud:plan:k", "{", "valid JSON"),
    ],
)
def test_what_may_not_stand_there(
    tmp_path: Path, azure: Azure, key: str, value: str, said: str
) -> None:
    azure.flags = {(key, ""): (value, "application/json")}
    with pytest.raises(BadSetting) as refused:
        load(home_of(tmp_path, azure))
    assert said in str(refused.value)


def test_a_flag_that_changes_counts_in_a_running_server(tmp_path: Path, azure: Azure) -> None:
    told: list[str] = []
    now = [0.0]
    flags = Flags(home_of(tmp_path, azure), on_change=told.append, clock=lambda: now[0])
    assert flags.current().plan.k == 8

    def after(seconds: float) -> int:
        """The flag, once the look that is then due has ended."""
        now[0] += seconds
        flags.current()
        for thread in threading.enumerate():
            if thread.name.endswith("(look)"):
                thread.join(30)
        now[0] += 1
        return flags.current().plan.k

    azure.flags = {("ombud:plan:k", ""): ("5", "")}
    assert after(31) == 5
    assert told == ["settings read again: plan.k 8 -> 5"]
    azure.is_down = True
    assert after(31) == 5
    assert "App Configuration cannot be read" in told[-1]
    azure.is_down = False
    azure.flags = {("ombud:plan:k", ""): ("0", "")}
    assert after(31) == 5
    assert any("App Configuration is wrong" in line for line in told)
    azure.flags = {}
    assert after(31) == 8
