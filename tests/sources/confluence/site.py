"""A Confluence to test against: the parts of Cloud (v2, v1, CQL) and Data Center (v1) that the
connector may use.

It keeps to the written contract where the real ones are strict or odd, and misbehaves on demand.
Its storage host is another origin, which must never be sent credentials."""

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

USER, TOKEN = "reader@example.com", "secret-token-123"


@dataclass
class Attached:
    name: str
    data: bytes
    id: str = "att1"
    version: int = 1
    status: str = "current"


@dataclass
class WikiPage:
    id: str
    title: str
    body: str = "<p>Text.</p>"
    space: str = "HR"
    version: int = 1
    parent: str = ""
    kind: str = "page"
    """Or folder, whiteboard, database: in no list of pages."""
    status: str = "current"
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    files: tuple[Attached, ...] = ()
    hidden: frozenset[str] = frozenset()
    """What the account may not see (404): page, restriction, labels, attachments."""


@dataclass
class Reply:
    """Said instead of the truth to requests whose path holds `path`, `times` times."""

    path: str
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    hang_up: bool = False


@dataclass
class Wiki:
    pages: list[WikiPage]
    cloud: bool = True
    spaces: dict[str, tuple[str, str]] = field(default_factory=lambda: {"HR": ("11", "current")})
    """Key -> (id, status)."""
    people: dict[str, str] = field(default_factory=dict)
    at_once: int = 250
    """Most rows of one answer, whatever is asked for."""
    next_in: tuple[str, ...] = ("header", "body")
    circle: bool = False
    """Lists of pages lead back to their beginning."""
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """(path with query, headers), for this host and for the storage host (whose paths begin with
    /file)."""
    address: str = ""
    elsewhere: str = ""
    """Address of the storage host."""

    @property
    def url(self) -> str:
        return self.address if self.cloud else f"{self.address}/confluence"

    def page(self, id: str) -> WikiPage:  # noqa: A002 - its name there
        return next(page for page in self.pages if page.id == id)

    def paths(self, part: str) -> list[str]:
        return [path for path, _ in self.asked if part in path]


class Missing(Exception):
    """404: also for what the account may not see."""


class Bad(Exception):
    """400."""


@contextmanager
def standing(wiki: Wiki) -> Iterator[Wiki]:
    with _serving(_Confluence, wiki) as here, _serving(_Storage, wiki) as there:
        wiki.address, wiki.elsewhere = f"http://127.0.0.1:{here}", f"http://localhost:{there}"
        yield wiki


@contextmanager
def _serving(handler: type["_Handler"], wiki: Wiki) -> Iterator[int]:
    class Handler(handler):  # type: ignore[misc, valid-type]
        pass

    Handler.wiki = wiki
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
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
    wiki: Wiki

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("set-cookie", "JSESSIONID=session; Path=/")
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

    def do_GET(self) -> None:
        self.wiki.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        files = {file.id: file for page in self.wiki.pages for file in page.files}
        parts = urlsplit(self.path)
        file = files.get(parts.path.removeprefix("/file/"))
        if file is None or parse_qs(parts.query).get("token") != ["signed"]:
            self.answer(403, b"", {})
        else:
            self.answer(200, file.data, {"content-type": "application/octet-stream"})


class _Confluence(_Handler):
    def do_GET(self) -> None:
        wiki = self.wiki
        wiki.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        for reply in wiki.replies:
            if reply.path in self.path and reply.times > 0:
                reply.times -= 1
                if reply.hang_up:
                    self.close_connection = True
                    return
                self.answer(reply.status, reply.body, reply.headers)
                return
        basic = base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()
        if self.headers.get("authorization") != (
            f"Basic {basic}" if wiki.cloud else f"Bearer {TOKEN}"
        ):
            self.answer(401, b"", {})
            return
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        try:
            said, headers = (_cloud if wiki.cloud else _data_center)(wiki, parts.path, query)
        except Missing:
            self.answer(404, b'{"message": "not found"}', {})
        except Bad as bad:
            self.answer(400, str(bad).encode(), {})
        else:
            moved = headers.pop(":status", "200")
            self.answer(
                int(moved),
                json.dumps(said).encode(),
                {"content-type": "application/json", **headers},
            )


Said = tuple[Any, dict[str, str]]


def _cloud(wiki: Wiki, path: str, query: dict[str, str]) -> Said:
    rest = re.fullmatch(r"/wiki/api/v2/(\w+)(?:/([^/]+))?(?:/(\w+))?", path)
    if rest is None:
        return _shared(wiki, "/wiki", path.removeprefix("/wiki"), query)
    kind, id, part = rest.groups()  # noqa: A001 - its name there
    if kind == "spaces" and part == "pages":
        if query.get("body-format", "storage") not in {"storage", "atlas_doc_format"}:
            raise Bad("body-format")
        key = next((key for key, (number, _) in wiki.spaces.items() if number == id), None)
        # Without a status: current and archived.
        wanted = query.get("status", "current,archived").split(",")
        rows = [
            p
            for p in wiki.pages
            if p.space == key and p.kind == "page" and p.status in wanted and _seen(p)
        ]
        bodies = "body-format" in query
        return _by_cursor(
            wiki, path, query, [_v2(page, bodies) for page in rows], 25, circle=wiki.circle
        )
    if kind == "spaces" and id is None:
        found = [key for key in wiki.spaces if query.get("keys", key) == key]
        rows_ = [
            {"id": wiki.spaces[k][0], "key": k, "status": wiki.spaces[k][1], "name": k}
            for k in found
        ]
        return _by_cursor(wiki, path, query, rows_, 25)
    page = _page(wiki, id)
    if kind != {"page": "pages"}.get(page.kind, f"{page.kind}s"):
        raise Missing
    if part is None:
        return _v2(page, "body-format" in query), {}
    if part in page.hidden:
        raise Missing
    if part == "labels":
        named = [
            {"id": str(n), "name": name, "prefix": "global"} for n, name in enumerate(page.labels)
        ]
        return _by_cursor(
            wiki, path, query, [*named, {"id": "9", "name": "favourite", "prefix": "my"}], 25
        )
    if part == "attachments":
        return _by_cursor(wiki, path, query, [_v2_file(page, file) for file in page.files], 50)
    raise Missing


def _data_center(wiki: Wiki, path: str, query: dict[str, str]) -> Said:
    if not path.startswith("/confluence/"):
        raise Missing
    path = path.removeprefix("/confluence")
    if path == "/rest/api/space":
        found = [key for key in wiki.spaces if query.get("spaceKey", key) == key]
        rows = [
            {"id": int(wiki.spaces[key][0]), "key": key, "status": wiki.spaces[key][1]}
            for key in found
        ]
        return _by_start(wiki, path, query, rows, "/confluence")
    if path == "/rest/api/content":
        pages = [
            p
            for p in wiki.pages
            if p.space == query.get("spaceKey", p.space) and p.status == "current"
        ]
        made = [
            _v1(wiki, page, query.get("expand", ""))
            for page in pages
            if page.kind == "page" and _seen(page)
        ]
        return _by_start(wiki, path, query, made, "/confluence", circle=wiki.circle)
    single = re.fullmatch(r"/rest/api/content/(?!search)([^/]+)(/child/attachment|/label)?", path)
    if single is None:
        return _shared(wiki, "/confluence", path, query)
    page = _page(wiki, single.group(1))
    if single.group(2) == "/label":
        return _by_start(
            wiki,
            path,
            query,
            [{"name": name, "prefix": "global"} for name in page.labels],
            "/confluence",
        )
    if single.group(2):
        if "attachments" in page.hidden:
            raise Missing
        return _by_start(
            wiki, path, query, [_v1_file(page, file) for file in page.files], "/confluence"
        )
    return _v1(wiki, page, query.get("expand", "")), {}


def _shared(wiki: Wiki, context: str, path: str, query: dict[str, str]) -> Said:
    """What Cloud has from v1, and Data Center, too."""
    if restricted := re.fullmatch(r"/rest/api/content/([^/]+)/restriction/byOperation/read", path):
        page = next((p for p in wiki.pages if p.id == restricted.group(1)), None)
        if page is None or page.hidden & {"page", "restriction"}:
            raise Missing
        return _restriction(wiki, page, query), {}
    if path == "/rest/api/content/search":
        return _by_start(wiki, path, query, _searched(wiki, query["cql"]), context)
    if path == "/rest/api/user":
        name = wiki.people.get(
            query.get("accountId") or query.get("key") or query.get("username") or ""
        )
        if name is None:
            raise Missing
        return {"displayName": name}, {}
    if download := re.fullmatch(r"/download/attachments/([^/]+)/([^/]+)", path):
        page = _page(wiki, download.group(1))
        file = next((f for f in page.files if f.name == unquote(download.group(2))), None)
        if file is None:
            raise Missing
        return {}, {":status": "302", "location": f"{wiki.elsewhere}/file/{file.id}?token=signed"}
    raise Missing


def _searched(wiki: Wiki, cql: str) -> list[dict[str, Any]]:
    asked = re.fullmatch(r'space = "([^"]+)" and type = page and macro in \(([^)]+)\)', cql)
    if asked is None:
        raise Bad(f"the query {cql} is not understood")
    macros = [f"ac:name={name.strip()}" for name in asked.group(2).split(",")]
    pages = [
        p for p in wiki.pages if p.space == asked.group(1) and p.status == "current" and _seen(p)
    ]
    return [{"id": p.id, "type": "page"} for p in pages if any(macro in p.body for macro in macros)]


def _restriction(wiki: Wiki, page: WikiPage, query: dict[str, str]) -> dict[str, Any]:
    """Direct ones only: what is inherited is never said."""
    start, limit = int(query.get("start", "0")), min(int(query.get("limit", "100")), wiki.at_once)
    people = [{"accountId" if wiki.cloud else "userKey": u, "displayName": u} for u in page.users]
    groups = [{"type": "group", "name": name, "id": f"id-{name}"} for name in page.groups]
    if not wiki.cloud:
        groups = [{"type": "group", "name": name} for name in page.groups]

    def part(rows: list[dict[str, str]]) -> dict[str, Any]:
        shown = rows[start : start + limit]
        return {"results": shown, "start": start, "limit": limit, "size": len(shown)}

    return {"operation": "read", "restrictions": {"user": part(people), "group": part(groups)}}


def _v2(page: WikiPage, body: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": page.id,
        "status": page.status,
        "title": page.title,
        "parentId": page.parent or None,
        "parentType": None,
        "version": {"number": page.version, "createdAt": "2026-01-01T00:00:00Z"},
        "_links": {"webui": f"/spaces/{page.space}/pages/{page.id}/{quote(page.title)}"},
    }
    if body:
        row["body"] = {"storage": {"representation": "storage", "value": page.body}}
    return row


def _v1(wiki: Wiki, page: WikiPage, expand: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": page.id,
        "type": "page",
        "status": page.status,
        "title": page.title,
        "_links": {"webui": f"/display/{page.space}/{page.id}"},
    }
    if "version" in expand:
        row["version"] = {"number": page.version, "when": "2026-01-01T00:00:00.000Z"}
    if "ancestors" in expand:
        above: list[dict[str, str]] = []
        at = page.parent
        while at:
            above.insert(0, {"id": at, "type": "page"})
            at = wiki.page(at).parent
        row["ancestors"] = above
    if "metadata.labels" in expand and "labels" not in page.hidden:
        row["metadata"] = {
            "labels": {"results": [{"name": n, "prefix": "global"} for n in page.labels]}
        }
    if "body.storage" in expand:
        row["body"] = {"storage": {"value": page.body}}
    return row


def _v2_file(page: WikiPage, file: Attached) -> dict[str, Any]:
    return {
        "id": file.id,
        "status": file.status,
        "title": file.name,
        "fileSize": len(file.data),
        "version": {"number": file.version},
        "downloadLink": _download(page, file),
        "webuiLink": f"/pages/viewpageattachments.action?pageId={page.id}&preview={file.id}",
    }


def _v1_file(page: WikiPage, file: Attached) -> dict[str, Any]:
    return {
        "id": file.id,
        "type": "attachment",
        "status": file.status,
        "title": file.name,
        "extensions": {"fileSize": len(file.data)},
        "version": {"number": file.version},
        "_links": {
            "download": _download(page, file),
            "webui": f"/pages/viewpageattachments.action?pageId={page.id}",
        },
    }


def _by_cursor(
    wiki: Wiki,
    path: str,
    query: dict[str, str],
    rows: list[dict[str, Any]],
    usual: int,
    circle: bool = False,
) -> Said:
    """v2: the link to the next part begins with /wiki already."""
    limit = int(query.get("limit", str(usual)))
    if limit > 250:
        raise Bad("limit")
    for row in rows:
        if row.get("parentId"):
            row["parentType"] = wiki.page(row["parentId"]).kind
    step = min(limit, wiki.at_once)
    start = int(base64.b64decode(query.get("cursor", "MA==")))
    after = start + step if start + step < len(rows) else 0
    said: dict[str, Any] = {
        "results": rows[start : start + step],
        "_links": {"base": f"{wiki.address}/wiki"},
    }
    if not after and not circle:
        return said, {}
    cursor = base64.b64encode(str(after).encode()).decode()
    return _linked(wiki, said, f"{path}?{urlencode(query | {'cursor': cursor})}")


def _by_start(
    wiki: Wiki,
    path: str,
    query: dict[str, str],
    rows: list[dict[str, Any]],
    context: str,
    circle: bool = False,
) -> Said:
    """v1: the link to the next part leaves the context path out."""
    start, step = int(query.get("start", "0")), min(int(query.get("limit", "25")), wiki.at_once)
    said: dict[str, Any] = {
        "results": rows[start : start + step],
        "start": start,
        "limit": step,
        "_links": {"base": f"{wiki.address}{context}", "context": context},
    }
    after = start + step if start + step < len(rows) else 0
    if not after and not circle:
        return said, {}
    said, headers = _linked(wiki, said, f"{path}?{urlencode(query | {'start': str(after)})}")
    return said, {} if context == "/confluence" else headers


def _linked(wiki: Wiki, said: dict[str, Any], following: str) -> Said:
    if "body" in wiki.next_in:
        said["_links"]["next"] = following
    return said, {"link": f'<{following}>; rel="next"'} if "header" in wiki.next_in else {}


def _page(wiki: Wiki, id: str | None) -> WikiPage:  # noqa: A002 - its name there
    found = next((page for page in wiki.pages if page.id == id), None)
    if found is None or not _seen(found):
        raise Missing
    return found


def _seen(page: WikiPage) -> bool:
    return "page" not in page.hidden and page.status != "trashed"


def _download(page: WikiPage, file: Attached) -> str:
    return f"/download/attachments/{page.id}/{quote(file.name)}?version={file.version}"
