"""An OpenID Connect provider that runs here: it signs with a real key, and lies when it is told
to."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT = "ombud-test"


class Provider(ThreadingHTTPServer):
    """claims: of whoever comes. lie: what of its tokens is wrong."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "one"})
        self.claims: dict[str, Any] = {"sub": "u-1", "preferred_username": "Ann@Example.org"}
        self.userinfo: dict[str, Any] = {}
        self.lie = ""
        self.groups: list[str] | None = []
        """Of whoever comes, as Microsoft Graph names them; None = it refuses."""
        self.left: list[dict[str, str]] = []
        """Of each browser that came to end its session: what it came with."""
        self.asked: dict[str, dict[str, str]] = {}
        """Code -> what the browser came with."""

    def token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **self.claims,
        }
        lies: dict[str, dict[str, Any]] = {
            "nonce": {"nonce": "another"},
            "audience": {"aud": "another"},
            "party": {"aud": [CLIENT, "another"]},
            "issuer": {"iss": "http://127.0.0.1:1"},
            "expired": {"exp": now - 3600},
        }
        claims |= lies.get(self.lie, {})
        if self.lie == "none":
            head, body = ({"alg": "none", "kid": "one"}, claims)
            parts = [
                urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (head, body)
            ]
            return b".".join([*parts, b""]).decode()
        if self.lie == "shared key":
            secret = OctKey.import_key(self.key.as_pem(private=False))
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, secret, algorithms=["HS256"])
        key = (
            RSAKey.generate_key(2048, parameters={"kid": "one"}) if self.lie == "key" else self.key
        )
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)

    def logout_token(self, changes: dict[str, Any], kind: str = "logout+jwt") -> str:
        """A logout token of the session `s-1`; changes: claims that differ, None = absent."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 120,
            "jti": str(time.monotonic_ns()),
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
            "sub": "u-1",
            "sid": "s-1",
            **changes,
        }
        present = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({"alg": "RS256", "kid": "one", "typ": kind}, present, self.key)


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""

    def do_GET(self) -> None:
        provider, place = self.server, urlsplit(self.path)
        if place.path == "/.well-known/openid-configuration":
            self._json(
                {
                    "issuer": provider.issuer,
                    "authorization_endpoint": f"{provider.issuer}/authorize",
                    "token_endpoint": f"{provider.issuer}/token",
                    "jwks_uri": f"{provider.issuer}/keys",
                    "userinfo_endpoint": f"{provider.issuer}/userinfo",
                    "end_session_endpoint": f"{provider.issuer}/end",
                }
            )
        elif place.path == "/keys":
            self._json({"keys": [provider.key.as_dict(private=False)]})
        elif place.path == "/userinfo":
            self._json({"sub": provider.claims["sub"], **provider.userinfo})
        elif place.path == "/end":
            came = {name: values[0] for name, values in parse_qs(place.query).items()}
            provider.left.append(came)
            self.send_response(302)
            self.send_header("location", came["post_logout_redirect_uri"])
            self.end_headers()
        elif place.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(place.query).items()}
            code = f"code-{len(provider.asked)}"
            provider.asked[code] = asked
            back = {"code": code, "state": asked["state"]}
            if provider.lie == "refused":
                back = {"error": "access_denied", "state": asked["state"]}
            self.send_response(302)
            self.send_header("location", f"{asked['redirect_uri']}?{urlencode(back)}")
            self.end_headers()

    def do_POST(self) -> None:
        provider = self.server
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path == "/v1.0/me/getMemberGroups":  # of Microsoft Graph
            is_ours = self.headers["authorization"] == "Bearer a"
            is_read = provider.groups is not None and "securityEnabledOnly" in json.loads(body)
            listed: dict[str, object] = {"value": provider.groups}
            if not (is_ours and is_read):
                listed = {"error": {}}
            self._json(listed, 200 if is_ours and is_read else 403)
            return
        said = {name: values[0] for name, values in parse_qs(body).items()}
        asked = provider.asked.pop(said["code"], {})
        digest = sha256(said.get("code_verifier", "").encode()).digest()
        proof = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked.get("code_challenge_method") != "S256" or asked.get("code_challenge") != proof:
            self._json({"error": "invalid_grant"}, 400)
            return
        token = provider.token(asked["nonce"])
        self._json({"access_token": "a", "token_type": "Bearer", "id_token": token})

    def _json(self, said: Any, status: int = 200) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_provider() -> Iterator[Provider]:
    provider = Provider()
    thread = threading.Thread(target=provider.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.shutdown()
        provider.server_close()
