"""A Google Drive to test against: the parts of the Drive API v3 and of Google's sign-in that the
connector may use, by their public reference."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

FOLDER = "application/vnd.google-apps.folder"
ACCOUNT = "ombud@project.iam.gserviceaccount.com"
Grant = dict[str, Any]


@dataclass
class Entry:
    """A file or folder."""

    name: str
    parent: str
    kind: str = "text/markdown"
    data: bytes = b""
    grants: tuple[Grant, ...] = ()
    """Its own; it also has those of what it lies in."""
    trashed: bool = False
    version: int = 1
    hidden: bool = False
    """Its permissions may not be read (403)."""


@dataclass
class Drive:
    """Everything in Drive, and how it misbehaves."""

    entries: dict[str, Entry]
    shared: dict[str, str] = field(default_factory=dict)
    """Shared drives: id -> name."""
    url: str = ""
    changes: list[str] = field(default_factory=list)
    limited: int = 0
    """Requests that are answered with a 403 that asks for a pause."""
    gone: set[str] = field(default_factory=set)
    """Files that disappear after they were listed."""
    during_listing: Callable[[], None] | None = None
    asked: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    given: int = 0
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def service_account(self, key: rsa.RSAPrivateKey | None = None) -> str:
        """The JSON of a key, as the console gives it."""
        pem = (key or self.key).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        info = {"type": "service_account", "client_email": ACCOUNT, "private_key": pem.decode()}
        return json.dumps({**info, "token_uri": f"{self.url}/token"})

    def refresh_token(self, token: str = "refresh-1") -> str:
        info = {"client_id": "app", "client_secret": "s", "refresh_token": token}
        return json.dumps({**info, "token_uri": f"{self.url}/token"})

    def change(self, key: str, **values: Any) -> None:
        for name, value in values.items():
            setattr(self.entries[key], name, value)
        self.changes.append(key)

    def grants(self, key: str) -> list[Grant]:
        entry = self.entries.get(key)
        return [*entry.grants, *self.grants(entry.parent)] if entry else []


class _Handler(BaseHTTPRequestHandler):
    drive: Drive

    def log_message(self, *_: Any) -> None:
        return

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        form = dict(parse_qsl(self.rfile.read(length).decode()))
        if not self._is_accepted(form):
            self._send(400, {"error": "invalid_grant", "error_description": "Bad signature."})
            return
        self.drive.given += 1
        token = f"token-{self.drive.given}"
        self.drive.tokens.add(token)
        self._send(200, {"access_token": token, "expires_in": 3600, "token_type": "Bearer"})

    def _is_accepted(self, form: dict[str, str]) -> bool:
        if form["grant_type"] == "refresh_token":
            return form["refresh_token"] == "refresh-1"
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        try:
            public = self.drive.key.public_key()
            audience = "https://oauth2.googleapis.com/token"
            claims = jwt.decode(form["assertion"], public, ["RS256"], audience=audience)
        except jwt.InvalidTokenError:
            return False
        return "drive.readonly" in claims["scope"] and claims["iss"] == ACCOUNT

    def do_GET(self) -> None:
        drive, parts = self.drive, urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        drive.asked.append(parts.path)
        if self.headers.get("authorization", "").removeprefix("Bearer ") not in drive.tokens:
            return self._fail(401, "authError")
        if drive.limited:
            drive.limited -= 1
            return self._fail(403, "userRateLimitExceeded")
        path = parts.path.removeprefix("/drive/v3")
        if path == "/about":
            return self._send(200, {"user": {"emailAddress": ACCOUNT}})
        if path == "/drives":
            rows = [{"id": key, "name": name} for key, name in drive.shared.items()]
            return self._page("drives", rows, query)
        if path == "/changes/startPageToken":
            return self._send(200, {"startPageToken": str(len(drive.changes))})
        assert query.get("supportsAllDrives", "true") == "true"
        if path == "/changes":
            return self._changes(query)
        if path == "/files":
            return self._files(query)
        return self._file(path.removeprefix("/files/"), query)

    def _files(self, query: dict[str, str]) -> None:
        assert query["includeItemsFromAllDrives"] == "true"
        assert query["q"].endswith("and trashed = false")
        parents = re.findall(r"'([^']+)' in parents", query["q"])
        rows = []
        for key, entry in self.drive.entries.items():
            if entry.parent in parents and not entry.trashed:
                rows.append(self._row(key))
        self._page("files", rows, query)
        meanwhile, self.drive.during_listing = self.drive.during_listing, None
        if meanwhile:
            meanwhile()

    def _changes(self, query: dict[str, str]) -> None:
        rows = []
        for key in self.drive.changes[int(query["pageToken"]) :]:
            removed = key not in self.drive.entries
            change = {} if removed else {"file": self._row(key)}
            rows.append({"fileId": key, "removed": removed, **change})
        self._send(200, {"changes": rows, "newStartPageToken": str(len(self.drive.changes))})

    def _file(self, path: str, query: dict[str, str]) -> None:
        key, _, part = path.partition("/")
        entry = self.drive.entries.get(key)
        if entry is None or key in self.drive.gone:
            return self._fail(404, "notFound")
        if part == "permissions":
            if entry.hidden:
                return self._fail(403, "insufficientFilePermissions")
            return self._page("permissions", self.drive.grants(key), query)
        if query.get("alt") == "media" and entry.kind.startswith("application/vnd.google-apps"):
            return self._fail(403, "fileNotDownloadable")
        if part == "export" and len(entry.data) > 1_000_000:
            return self._fail(403, "exportSizeLimitExceeded")
        if part == "export" or query.get("alt") == "media":
            return self._send_bytes(200, entry.data)
        return self._send(200, self._row(key))

    def _row(self, key: str) -> dict[str, Any]:
        entry = self.drive.entries[key]
        row = {
            "id": key,
            "name": entry.name,
            "mimeType": entry.kind,
            "parents": [entry.parent],
            "trashed": entry.trashed,
            "modifiedTime": f"2026-11-29T10:00:{entry.version:02d}.000Z",
            "webViewLink": f"https://drive.google.com/file/d/{key}/view",
        }
        if not entry.kind.startswith("application/vnd.google-apps"):
            row |= {"md5Checksum": f"md5-{entry.version}", "size": str(len(entry.data))}
        return row

    def _page(self, key: str, rows: list[Any], query: dict[str, str]) -> None:
        """Two rows at once, as a server may send fewer than it was asked for."""
        start = int(query.get("pageToken", "0"))
        page: dict[str, Any] = {key: rows[start : start + 2]}
        if len(rows) > start + 2:
            page["nextPageToken"] = str(start + 2)
        self._send(200, page)

    def _fail(self, status: int, reason: str) -> None:
        error = {"code": status, "errors": [{"domain": "global", "reason": reason}]}
        self._send(status, {"error": error})

    def _send(self, status: int, body: Any) -> None:
        self._send_bytes(status, json.dumps(body).encode())

    def _send_bytes(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(drive: Drive) -> Iterator[Drive]:
    handler = type("Handler", (_Handler,), {"drive": drive})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    drive.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield drive
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
