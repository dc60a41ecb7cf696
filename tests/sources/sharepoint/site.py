"""A SharePoint to test against: the parts of Microsoft Graph v1.0, and of the sign-in, that the
connector may use.

It keeps to the written contract where the real ones are strict or odd, and misbehaves on demand.
Three servers, all
with TLS, as msal insists on it: Graph, the sign-in, and a storage host that must never be sent
credentials."""

import base64
import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from sources.confluence.site import Reply

TENANT, CLIENT, SECRET = (
    "contoso.example",
    "11111111-2222-3333-4444-555555555555",
    "s~cret.value-123",
)
SITE_URL = "https://contoso.sharepoint.com/sites/hr"
SITE = (
    "contoso.sharepoint.com,"
    "2c712604-1370-44e7-a1f5-426573fda80a,2d2244c3-251a-49ea-93a8-39e1c3a060fe"
)
PAGES_LIST = "468fc883-e278-4773-ba09-91351a1e42ed"
Grant = dict[str, Any]


@dataclass
class Stored:
    """A file, folder or package of a library."""

    id: str
    name: str
    data: bytes = b"Text."
    parent: str = "root"
    kind: str = "file"
    version: int = 1
    grants: tuple[Grant, ...] | None = None
    """None = those of what it lies in."""
    deleted: bool = False
    hidden: bool = False
    """Its permissions may not be read (403)."""
    unique: str = ""

    @property
    def tag(self) -> str:
        return f'"c:{{{self.id.upper()}}},{self.version}"'


@dataclass
class Drive:
    id: str
    name: str
    items: list[Stored] = field(default_factory=list)
    grants: tuple[Grant, ...] = ()

    def item(self, id: str) -> Stored:  # noqa: A002 - its name there
        return next(item for item in self.items if item.id == id)

    def effective(self, item: Stored) -> tuple[Grant, ...]:
        while item.grants is None:
            if item.parent == "root":
                return self.grants
            item = self.item(item.parent)
        return item.grants


@dataclass
class Written:
    """A page of the site; its file is in the library of pages."""

    id: str
    name: str
    title: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    beside: list[dict[str, Any]] = field(default_factory=list)
    version: str = "1.0"
    level: str = "published"


@dataclass
class SharePointSite:
    drives: list[Drive]
    pages: list[Written] = field(default_factory=list)
    pages_drive: Drive = field(default_factory=lambda: Drive("b!pages", "Site Pages"))
    at_once: int = 3
    """Rows of one answer."""
    circle: bool = False
    """Lists lead back to their beginning."""
    twice: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Item id -> what is listed of it at first, before the truth."""
    token_lasts: int = 10_000
    """Requests that a token is good for."""
    certificate: str = ""
    """PEM of the application's certificate; empty = it has a secret."""
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """(host's kind and path with query, headers): /graph…, /login…, /storage…"""
    tokens: list[str] = field(default_factory=list)
    """Those given, oldest first; only the last is good."""
    used: int = 0
    """Requests with the last token."""
    graph: str = ""
    login: str = ""
    storage: str = ""

    def drive(self, id: str) -> Drive:  # noqa: A002 - its name there
        return next(drive for drive in (*self.drives, self.pages_drive) if drive.id == id)

    def paths(self, part: str) -> list[str]:
        return [path for path, _ in self.asked if part in path]


# Who may read -------------------------------------------------------------------------------------


def to(role: str = "read", **identity: Any) -> Grant:
    return {"id": "p", "roles": [role], "grantedToV2": identity}


def person(id: str, role: str = "read") -> Grant:  # noqa: A002 - its name there
    login = f"i:0#.f|membership|{id}@contoso.example"
    return to(role, user={"id": id, "displayName": id}, siteUser={"id": "11", "loginName": login})


def group(
    id: str,  # noqa: A002 - its name there
    name: str,
    role: str = "read",
    *,
    owners: bool = False,
) -> Grant:
    login = f"c:0o.c|federateddirectoryclaimprovider|{id}{'_o' if owners else ''}"
    return to(
        role, group={"id": id, "displayName": name}, siteUser={"id": "12", "loginName": login}
    )


def site_group(name: str, role: str = "read") -> Grant:
    return to(role, siteGroup={"id": "5", "displayName": name, "loginName": name})


def everyone(external: bool = False) -> Grant:
    login = "c:0(.s|true" if external else "c:0-.f|rolemanager|spo-grid-all-users/9b1d"
    name = "Everyone" if external else "Everyone except external users"
    return to(
        siteUser={"id": "4", "loginName": login, "displayName": name}, user={"displayName": name}
    )


def link(scope: str, *people: str, kind: str = "view", **more: Any) -> Grant:
    named = [person(one)["grantedToV2"] for one in people]
    said = {
        "scope": scope,
        "type": kind,
        "webUrl": "https://contoso.sharepoint.com/:w:/s/hr/secret",
    }
    return {"id": "l", "roles": ["read"], "link": said, "grantedToIdentitiesV2": named, **more}


# Serving ------------------------------------------------------------------------------------------


class Refused(Exception):
    def __init__(self, status: int, code: str = "") -> None:
        super().__init__(code)
        self.status, self.code = status, code


@contextmanager
def standing(site: SharePointSite, pem: Path) -> Iterator[SharePointSite]:
    """pem: key and certificate for localhost and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with ExitStack() as stack:
        graph, login, storage = (
            stack.enter_context(_serving(handler, site, context))
            for handler in (_Graph, _Login, _Storage)
        )
        site.graph, site.login = f"https://127.0.0.1:{graph}", f"https://localhost:{login}"
        site.storage = f"https://localhost:{storage}"
        yield site


def made_pem(path: Path) -> Path:
    """A certificate of our own, with its key."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    own = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(own + certificate.public_bytes(pem))
    return path


@contextmanager
def _serving(
    handler: type["_Handler"], site: SharePointSite, context: ssl.SSLContext
) -> Iterator[int]:
    class Handler(handler):  # type: ignore[misc, valid-type]
        pass

    Handler.site = site
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign] # clients hang up too
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: SharePointSite
    kind = ""

    def do_GET(self) -> None:
        self.answered({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.answered({key: values[-1] for key, values in parse_qs(body.decode()).items()})

    def answered(self, form: dict[str, str]) -> None:
        whole = f"/{self.kind}{self.path}"
        self.site.asked.append((whole, {k.lower(): v for k, v in self.headers.items()}))
        for reply in self.site.replies:
            if reply.path in whole and reply.times > 0:
                reply.times -= 1
                if reply.hang_up:
                    self.close_connection = True
                    return
                self.answer(reply.status, reply.body, reply.headers)
                return
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        try:
            self.said(unquote(parts.path), query, form)
        except Refused as no:
            body = (
                {"error": {"code": no.code, "message": "no"}}
                if self.kind == "graph"
                else json.loads(no.code or "{}")
            )
            self.answer(no.status, json.dumps(body).encode(), {"content-type": "application/json"})

    def said(self, path: str, query: dict[str, str], form: dict[str, str]) -> None:
        raise NotImplementedError

    def json(self, said: Any) -> None:
        self.answer(200, json.dumps(said).encode(), {"content-type": "application/json"})

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("set-cookie", "session=session; Path=/")
        for name, value in headers.items():
            self.send_header(name, value)
        if "content-length" not in headers:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass


class _Storage(_Handler):
    """Where downloads are redirected to; the address itself is the permission."""

    kind = "storage"

    def said(self, path: str, query: dict[str, str], form: dict[str, str]) -> None:
        _, drive, item = path.split("/")
        if query.get("tempauth") != "signed":
            raise Refused(401)
        self.answer(
            200,
            self.site.drive(drive).item(item).data,
            {"content-type": "application/octet-stream"},
        )


class _Login(_Handler):
    """OpenID discovery, and tokens for client credentials; errors have Entra's numbers."""

    kind = "login"

    def said(self, path: str, query: dict[str, str], form: dict[str, str]) -> None:
        site, tenant = self.site, path.split("/")[1]
        if tenant != TENANT:
            raise self._no(400, "invalid_tenant", 90002)
        if path == f"/{TENANT}/v2.0/.well-known/openid-configuration":
            base = f"{site.login}/{TENANT}/oauth2/v2.0"
            self.json(
                {
                    "issuer": f"{site.login}/{TENANT}/v2.0",
                    "authorization_endpoint": f"{base}/authorize",
                    "token_endpoint": f"{base}/token",
                }
            )
            return
        if path != f"/{TENANT}/oauth2/v2.0/token" or self.command != "POST":
            raise Refused(404)
        if (form.get("grant_type"), form.get("scope")) != (
            "client_credentials",
            f"{site.graph}/.default",
        ):
            raise self._no(400, "invalid_scope", 70011)
        if form.get("client_id") != CLIENT:
            raise self._no(400, "unauthorized_client", 700016)
        self._check(form)
        site.tokens.append(f"token-{len(site.tokens) + 1}")
        site.used = 0
        self.json({"token_type": "Bearer", "expires_in": 3599, "access_token": site.tokens[-1]})

    def _check(self, form: dict[str, str]) -> None:
        if not self.site.certificate:
            if form.get("client_secret") != SECRET:
                raise self._no(401, "invalid_client", 7000215)
            return
        known = x509.load_pem_x509_certificate(self.site.certificate.encode())
        try:
            said = jwt.decode(
                form.get("client_assertion", ""),
                known.public_key(),  # type: ignore[arg-type] # it is RSA's
                algorithms=["PS256"],
                audience=f"{self.site.login}/{TENANT}/oauth2/v2.0/token",
            )
        except jwt.InvalidTokenError:
            raise self._no(401, "invalid_client", 700027) from None
        assert said["iss"] == said["sub"] == CLIENT

    def _no(self, status: int, error: str, number: int) -> Refused:
        text = f"AADSTS{number}: It was said {self.path} with a secret. Trace ID: 1"
        return Refused(
            status, json.dumps({"error": error, "error_description": text, "error_codes": [number]})
        )


class _Graph(_Handler):
    kind = "graph"

    def said(self, path: str, query: dict[str, str], form: dict[str, str]) -> None:
        site = self.site
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        site.used += 1
        if not site.tokens or token != site.tokens[-1] or site.used > site.token_lasts:
            raise Refused(401, "InvalidAuthenticationToken")
        path = path.removeprefix("/v1.0")
        if path == "/sites/contoso.sharepoint.com:/sites/hr":
            self.json({"id": SITE, "webUrl": SITE_URL})
        elif drive := re.fullmatch(r"/drives/([^/]+)/(.+)", path):
            self._drive(drive[1], drive[2], query)
        elif inside := re.fullmatch(rf"/sites/{SITE}/(.+)", path):
            self._site(inside[1], query)
        else:
            raise Refused(404, "itemNotFound")

    def _site(self, path: str, query: dict[str, str]) -> None:
        site = self.site
        if path == "drives":
            self._listed(
                [{"id": d.id, "name": d.name, "driveType": "documentLibrary"} for d in site.drives],
                query,
            )
        elif path == "lists":
            # The list of pages is one of the system's: shown only to those who ask for such.
            rows: list[dict[str, Any]] = [
                {"id": "1-1", "name": "Docs", "list": {"template": "documentLibrary"}}
            ]
            if "system" in query.get("$select", "").split(","):
                rows.append(
                    {
                        "id": PAGES_LIST,
                        "name": "SitePages",
                        "list": {"template": "webPageLibrary"},
                        "system": {},
                    }
                )
            self._listed(rows, query)
        elif path == f"lists/{PAGES_LIST}/drive":
            self.json({"id": site.pages_drive.id, "name": site.pages_drive.name})
        elif path == "pages/microsoft.graph.sitePage":
            self._listed([_page(page) for page in site.pages], query)
        elif one := re.fullmatch(r"pages/([^/]+)/microsoft\.graph\.sitePage", path):
            page = next((page for page in site.pages if page.id == one[1]), None)
            if page is None:
                raise Refused(404, "itemNotFound")
            canvas = (
                {"canvasLayout": _canvas(page)} if query.get("$expand") == "canvasLayout" else {}
            )
            self.json(_page(page) | canvas)
        else:
            raise Refused(404, "itemNotFound")

    def _drive(
        self,
        id: str,  # noqa: A002 - its name there
        path: str,
        query: dict[str, str],
    ) -> None:
        drive = self.site.drive(id)
        if path == "root/delta":
            ids = "sharepointIds" in query.get("$select", "")
            top: dict[str, Any] = {
                "id": "root-1",
                "name": "root",
                "root": {},
                "folder": {"childCount": 1},
            }
            rows = [
                top,
                *self.site.twice.values(),
                *(_row(drive, item, ids) for item in drive.items),
            ]
            self._listed(
                rows, query, last=f"{self.site.graph}/v1.0/drives/{id}/root/delta?token=later"
            )
            return
        one = re.fullmatch(r"items/([^/]+)(/permissions|/content)?", path)
        item = next(
            (item for item in drive.items if one and item.id == one[1] and not item.deleted), None
        )
        if one is None or item is None:
            raise Refused(404, "itemNotFound")
        if one[2] == "/permissions":
            if item.hidden:
                raise Refused(403, "accessDenied")
            self._listed(list(drive.effective(item)), query)
        elif one[2] == "/content":
            self.answer(
                302, b"", {"location": f"{self.site.storage}/{id}/{item.id}?tempauth=signed"}
            )
        else:
            self.json({"id": item.id, "cTag": item.tag, "eTag": f"e{item.tag}"})

    def _listed(self, rows: list[dict[str, Any]], query: dict[str, str], last: str = "") -> None:
        site = self.site
        start = int(base64.b64decode(query.get("$skiptoken", "MA==")))
        end = start + site.at_once
        said: dict[str, Any] = {"value": rows[start:end]}
        if end < len(rows) or site.circle:
            token = base64.b64encode(str(end if end < len(rows) else 0).encode()).decode()
            path = urlsplit(self.path).path
            said["@odata.nextLink"] = (
                f"{site.graph}{path}?{urlencode(query | {'$skiptoken': token})}"
            )
        elif last:
            said["@odata.deltaLink"] = last
        self.json(said)


def _row(drive: Drive, item: Stored, ids: bool) -> dict[str, Any]:
    if item.deleted:
        return {"id": item.id, "deleted": {"state": "deleted"}}
    kinds: dict[str, Any] = {
        "file": {"file": {"mimeType": "text/plain"}, "cTag": item.tag, "size": len(item.data)},
        "folder": {"folder": {"childCount": 0}},
        "package": {"package": {"type": "oneNote"}},
        "shortcut": {"remoteItem": {"id": "x"}, "file": {}},
    }
    row: dict[str, Any] = {
        "id": item.id,
        "name": item.name,
        "eTag": f"e{item.tag}",
        "webUrl": f"{SITE_URL}/{drive.name}/{item.id}",
        "parentReference": {
            "driveId": drive.id,
            "id": "root-1" if item.parent == "root" else item.parent,
        },
    }
    more = {"sharepointIds": {"listItemUniqueId": item.unique}} if ids and item.unique else {}
    return {**row, **kinds[item.kind], **more}


def _page(page: Written) -> dict[str, Any]:
    return {
        "@odata.type": "#microsoft.graph.sitePage",
        "id": page.id,
        "name": page.name,
        "title": page.title,
        "webUrl": f"{SITE_URL}/SitePages/{page.name}",
        "publishingState": {"level": page.level, "versionId": page.version},
    }


def _canvas(page: Written) -> dict[str, Any]:
    columns = [
        {"id": str(number), "width": 6, "webparts": [part]}
        for number, part in enumerate(page.parts, 1)
    ]
    said: dict[str, Any] = {
        "horizontalSections": [{"layout": "twoColumns", "id": "1", "columns": columns}]
    }
    return said | (
        {"verticalSection": {"emphasis": "none", "webparts": page.beside}} if page.beside else {}
    )


def text_part(html: str) -> dict[str, Any]:
    return {"@odata.type": "#microsoft.graph.textWebPart", "id": "t", "innerHtml": html}


def other_part(
    plain: dict[str, str],
    html: dict[str, str] | None = None,
    links: dict[str, str] | None = None,
) -> dict[str, Any]:
    def pairs(said: dict[str, str]) -> list[dict[str, str]]:
        return [{"key": key, "value": value} for key, value in said.items()]

    content = {
        "searchablePlainTexts": pairs(plain),
        "htmlStrings": pairs(html or {}),
        "links": pairs(links or {"a": "https://x"}),
    }
    data = {
        "title": "Quick links",
        "properties": {"layoutId": "List"},
        "serverProcessedContent": content,
    }
    return {
        "@odata.type": "#microsoft.graph.standardWebPart",
        "id": "s",
        "webPartType": "c70391ea",
        "data": data,
    }
