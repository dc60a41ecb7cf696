"""The REST API of Confluence: Cloud (v2, and v1 for what v2 lacks) and Data Center (v1).

Lists come without bodies: a page is read by itself, and only if its version is new. Deletions show
in the complete list of ids. CQL reports neither deletions nor changed restrictions, searches an
index that lags behind, and compares times in the instance's zone; it only decides which pages are
read again for safety."""

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.client import HttpResponse
from ombud.sources.json_values import as_object, as_text, is_table
from ombud.sources.site import HIDDEN, MAX_LIST_PARTS, SiteClient

MAX_ANCESTORS = 200
V2_LIMIT = 250
V1_LIMIT = 100
"""Rows of one answer."""


class Space(NamedTuple):
    id: str
    key: str


class ConfluencePage(NamedTuple):
    id: str
    space: str
    """Key of its space."""
    title: str
    number: int
    """Version number."""
    version: str
    """Version number and time: after a restored backup, numbers repeat."""
    url: str
    above: tuple[str, ...] | None = None
    """Ids of the content above it; None if the list does not name them."""
    labels: tuple[str, ...] | None = None


class Attachment(NamedTuple):
    name: str
    size: int
    version: str
    """Version and id: a file that is removed and attached again begins at 1."""
    link: str
    url: str


class PageBody(NamedTuple):
    number: int
    title: str
    storage: str


class ConfluenceSite:
    """The requests that Cloud and Data Center share. Methods raise SourceError, and NotShown for
    what Confluence hides from the account."""

    def __init__(self, client: SiteClient, root: str, context: str) -> None:
        """root: address of the REST API's /. context: /wiki on Cloud, with which its links
        begin."""
        self._client = client
        self._root = root
        self._context = context
        self._base = root + context
        self._web_base = self._base

    def restriction(self, content: str, start: int) -> Any:
        path = f"/rest/api/content/{content}/restriction/byOperation/read"
        expand = "restrictions.user,restrictions.group"
        answer = self._one(path, {"expand": expand, "start": start, "limit": V1_LIMIT})
        if answer is None:
            raise NotShown(f"the read restrictions of {content} are not shown to the account")
        return answer

    def including(self, space: Space) -> set[str] | None:
        """Find the ids of pages that include text of others, so that their bytes change without
        their version. None = unknown."""
        key = space.key.replace("\\", "\\\\").replace('"', '\\"')
        cql = f'space = "{key}" and type = page and macro in ("include", "excerpt-include")'
        query = {"cql": cql, "limit": V1_LIMIT}
        rows = self._rows("/rest/api/content/search", query, absent={400, 403, 404, 501})
        return None if rows is None else {read_id(row) for row in rows}

    def person(self, kind: str, value: str) -> str:
        """Return the name of a person; empty if it is hidden. kind: account-id | userkey |
        username."""
        key = {"account-id": "accountId", "userkey": "key"}.get(kind, kind)
        user = self._one("/rest/api/user", {key: value}, absent={400, 403, 404})
        return as_text(as_object(user).get("displayName"))

    def download(self, link: str) -> bytes:
        answer = self._client.get(self._resolved(link), absent=HIDDEN)
        if answer is None:
            raise SourceError(
                "The attachment is not there any more.", hint="The next sync will not list it."
            )
        return answer.body

    def _one(self, path: str, query: Mapping[str, Any], absent: Container[int] = HIDDEN) -> Any:
        answered = self._client.get_json(f"{self._base}{path}?{urlencode(query)}", absent=absent)
        return None if answered is None else answered[0]

    def _rows(
        self, path: str, query: Mapping[str, Any], absent: Container[int] = ()
    ) -> list[dict[str, Any]] | None:
        """Request all rows of a list; None for a status in `absent`. Raises SourceError rather than
        return an incomplete list."""
        url = f"{self._base}{path}?{urlencode(query)}"
        visited: set[str] = set()
        rows: list[dict[str, Any]] = []
        while url:
            if url in visited or len(visited) >= MAX_LIST_PARTS:
                raise SourceError(
                    f"The list {path} leads round in circles.", hint="Sync again later."
                )
            visited.add(url)
            answered = self._client.get_json(url, absent=absent)
            if answered is None:
                return None
            part = as_object(answered[0])
            if not is_table(part.get("results")):
                raise SourceError(f"{path} is no list.", hint="Is the address that of Confluence?")
            rows += part["results"]
            url = self._following(part, answered[1])
        return rows

    def _named_rows(
        self, path: str, query: Mapping[str, Any], parameter: str, keys: tuple[str, ...]
    ) -> list[dict[str, Any]]:
        """Request the rows of each key, one request per key; all rows without keys."""
        queries = [{parameter: key, **query} for key in keys]
        if not keys:
            queries = [dict(query)]
        rows: list[dict[str, Any]] = []
        for key_query in queries:
            rows += self._rows(path, key_query) or []
        return rows

    def _following(self, part: Mapping[str, Any], answer: HttpResponse) -> str:
        links = as_object(part.get("_links"))
        base = as_text(links.get("base"))
        if base.startswith(("http://", "https://")):
            self._web_base = base.rstrip("/")
        following = answer.next or as_text(links.get("next"))
        if not following:
            return ""
        url = self._resolved(following)
        if urlsplit(url)[:2] != urlsplit(self._root)[:2]:
            raise SourceError(
                "Confluence continues a list on another host.", hint="Is `url` its own address?"
            )
        return url

    def _resolved(self, link: str) -> str:
        """Resolve a link of an answer. Those of v2 begin with /wiki, those of v1 and of downloads
        do not."""
        if link.startswith(("http://", "https://")):
            return link
        path = link if link.startswith("/") else f"/{link}"
        root = urlsplit(self._root)
        if root.path and path.startswith(f"{root.path}/"):
            return f"{root.scheme}://{root.netloc}{path}"
        if self._context and path.startswith(f"{self._context}/"):
            return self._root + path
        return self._base + path

    def _url(self, row: Mapping[str, Any], *names: str) -> str:
        """Return the first of these links if it leads to this site, else an empty string."""
        links = as_object(row.get("_links"))
        for name in names:
            path = as_text(links.get(name) or row.get(name))
            if path:
                return f"{self._web_base}{path}" if path.startswith("/") else ""
        return ""


_COLLECTIONS = {
    "page": "pages",
    "folder": "folders",
    "whiteboard": "whiteboards",
    "database": "databases",
    "embed": "embeds",
}
"""Kind of content -> its name in the addresses of REST v2."""


class Cloud(ConfluenceSite):
    """Confluence Cloud."""

    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root.removesuffix("/wiki"), "/wiki")
        self._parents: dict[str, tuple[str, str]] = {}
        """Content id -> (kind, id) of its parent; ("", "") at the top."""

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        self._parents.clear()  # folders may have been moved since the last list
        query: dict[str, Any] = {"limit": V2_LIMIT}
        rows = self._named_rows("/api/v2/spaces", query, "keys", keys)
        return choose_spaces(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        query: dict[str, Any] = {"limit": V2_LIMIT}
        if not archived:  # without a status the list holds current and archived pages
            query["status"] = "current"
        rows = self._rows(f"/api/v2/spaces/{space.id}/pages", query) or []
        for row in rows:  # archived pages may be parents of current ones, too
            self._parents[read_id(row)] = read_parent(row)
        statuses = {"current", "archived"} if archived else {"current"}
        pages = []
        for row in rows:
            if row.get("status", "current") in statuses:
                url = self._url(row, "webui")
                pages.append(make_page(row, space, url))
        return pages

    def above(self, page: ConfluencePage) -> tuple[str, ...]:
        above: list[str] = []
        kind, content = self._parent_of("page", page.id)
        while content:
            if content in above or len(above) >= MAX_ANCESTORS:
                raise NotShown("the pages over it form a circle")
            above.append(content)
            kind, content = self._parent_of(kind, content)
        return tuple(above)

    def labels(self, page: ConfluencePage) -> tuple[str, ...]:
        rows = self._rows(f"/api/v2/pages/{page.id}/labels", {"limit": V2_LIMIT}, absent=HIDDEN)
        return shared_labels(rows)

    def attachments(self, page: ConfluencePage) -> list[Attachment] | None:
        """List the attachments of a page; None if the page is gone."""
        path = f"/api/v2/pages/{page.id}/attachments"
        rows = self._rows(path, {"limit": V2_LIMIT}, absent={404})
        return None if rows is None else drop_missing(map(self._attachment, rows))

    def body(self, page: str) -> PageBody | None:
        """Read the body of a page; None if the page is gone."""
        return read_body(self._one(f"/api/v2/pages/{page}", {"body-format": "storage"}))

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        links = as_object(row.get("_links"))
        link = as_text(row.get("downloadLink")) or as_text(links.get("download"))
        url = self._url(row, "webui", "webuiLink")
        return make_attachment(row, row.get("fileSize"), link, url)

    def _parent_of(self, kind: str, content: str) -> tuple[str, str]:
        if content not in self._parents:
            # Folders, whiteboards and archived pages are in no list of pages.
            path = _COLLECTIONS.get(kind)
            row = self._one(f"/api/v2/{path}/{content}", {}) if path else None
            if not isinstance(row, dict):
                raise NotShown(
                    f"the {kind or 'content'} {content} over it is not shown to the account"
                )
            self._parents[content] = read_parent(row)
        return self._parents[content]


class DataCenter(ConfluenceSite):
    """Confluence Data Center, where spaces may be archived, but not pages."""

    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root, "")

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        query: dict[str, Any] = {"start": 0, "limit": V1_LIMIT}
        rows = self._named_rows("/rest/api/space", query, "spaceKey", keys)
        return choose_spaces(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        del archived
        query = {
            "type": "page",
            "spaceKey": space.key,
            "status": "current",
            "start": 0,
            "limit": V1_LIMIT,
            "expand": "version,ancestors,metadata.labels",
        }
        rows = self._rows("/rest/api/content", query) or []
        return [self._page(row, space) for row in rows if is_current(row)]

    def above(self, page: ConfluencePage) -> tuple[str, ...]:
        if page.above is None:
            raise NotShown("the pages over it were not named")
        return page.above

    def labels(self, page: ConfluencePage) -> tuple[str, ...]:
        if page.labels is not None:
            return page.labels
        return shared_labels(
            self._rows(f"/rest/api/content/{page.id}/label", {"limit": V1_LIMIT}, absent=HIDDEN)
        )

    def attachments(self, page: ConfluencePage) -> list[Attachment] | None:
        path = f"/rest/api/content/{page.id}/child/attachment"
        query = {"start": 0, "limit": V1_LIMIT, "expand": "version"}
        rows = self._rows(path, query, absent={404})
        return None if rows is None else drop_missing(map(self._attachment, rows))

    def body(self, page: str) -> PageBody | None:
        return read_body(self._one(f"/rest/api/content/{page}", {"expand": "body.storage,version"}))

    def _page(self, row: dict[str, Any], space: Space) -> ConfluencePage:
        ancestors = row.get("ancestors")
        above = tuple(map(read_id, ancestors)) if isinstance(ancestors, list) else None
        metadata = as_object(row.get("metadata"))
        named = as_object(metadata.get("labels")).get("results")
        labels = shared_labels(named) if isinstance(named, list) else None
        page = make_page(row, space, self._url(row, "webui"))
        return page._replace(above=above, labels=labels)

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        links = as_object(row.get("_links"))
        extensions = as_object(row.get("extensions"))
        url = self._url(row, "webui")
        return make_attachment(row, extensions.get("fileSize"), as_text(links.get("download")), url)


def choose_spaces(rows: list[dict[str, Any]], keys: tuple[str, ...], archived: bool) -> list[Space]:
    """Choose spaces by key; those named in the settings are read even if archived."""
    spaces = {str(row.get("key")): row for row in rows}
    for key in keys:
        if key not in spaces:
            visible = ", ".join(sorted(spaces)[:10]) or "none of them"
            raise SourceError(
                f"There is no space `{key}`, or the account may not see it.",
                hint=f"It sees {visible}. Capital letters count.",
            )
    if not spaces:
        # An account that is not recognised is let in as a guest, who sees nothing.
        raise SourceError(
            "The account sees no space.", hint="Check user and token, and its permissions."
        )
    chosen = list(keys)
    if not keys:
        chosen = [key for key, row in spaces.items() if archived or is_current(row)]
    return [Space(read_id(spaces[key]), key) for key in dict.fromkeys(chosen)]


def is_current(row: Mapping[str, Any]) -> bool:
    return bool(row.get("status", "current") == "current")


def drop_missing(attachments: Iterable[Attachment | None]) -> list[Attachment]:
    return [attachment for attachment in attachments if attachment]


def make_page(row: dict[str, Any], space: Space, url: str) -> ConfluencePage:
    number, version = read_version(row)
    return ConfluencePage(
        id=read_id(row),
        space=space.key,
        title=as_text(row.get("title")),
        number=number,
        version=version,
        url=url,
    )


def make_attachment(row: dict[str, Any], size: Any, link: str, url: str) -> Attachment | None:
    if not is_current(row) or not link:
        return None
    _, version = read_version(row)
    return Attachment(
        name=as_text(row.get("title")),
        size=size if isinstance(size, int) else 0,
        version=f"{read_id(row)}.{version}",
        link=link,
        url=url,
    )


def read_body(answer: Any) -> PageBody | None:
    if answer is None:
        return None
    row = as_object(answer)
    body = as_object(row.get("body"))
    storage = as_object(body.get("storage")).get("value")
    if not isinstance(storage, str):
        raise SourceError(
            "Confluence sent the page without its body.", hint="The next sync tries again."
        )
    number, _ = read_version(row)
    return PageBody(number=number, title=as_text(row.get("title")), storage=storage)


def shared_labels(rows: list[dict[str, Any]] | None) -> tuple[str, ...]:
    if rows is None:
        raise NotShown("its labels are not shown to the account")
    # Personal labels ("my") belong to one reader, not to the page.
    shared = [row for row in rows if row.get("prefix", "global") != "my"]
    return tuple(as_text(row.get("name")).lower() for row in shared)


def read_version(row: Mapping[str, Any]) -> tuple[int, str]:
    version = as_object(row.get("version"))
    number = version.get("number")
    if not isinstance(number, int):
        raise SourceError(
            "Confluence listed something without its version.",
            hint="Is it Confluence that answers?",
        )
    created = as_text(version.get("createdAt") or version.get("when"))
    return number, f"{number}.{created}"


def read_parent(row: Mapping[str, Any]) -> tuple[str, str]:
    parent = row.get("parentId")
    if not parent:
        return "", ""
    return as_text(row.get("parentType")) or "page", read_id({"id": parent})


def read_id(row: Mapping[str, Any]) -> str:
    """Read an id; it goes into addresses and uris, so it must look like one."""
    identity = str(row.get("id", ""))
    if not re.fullmatch(r"[\w-]{1,80}", identity):
        raise SourceError(
            "Confluence listed something without an id.", hint="Is it Confluence that answers?"
        )
    return quote(identity)
