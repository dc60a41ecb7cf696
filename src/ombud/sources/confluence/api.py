"""What is asked of Confluence: Cloud (REST v2, v1 where v2 has nothing) and Data Center (REST v1).

Lists never come with bodies: a page is read alone, and only when its version number is new.
Deletions show in the whole list of ids. CQL would report neither deletions nor changed
restrictions, searches an index that lags behind, and compares times in the instance's zone; so it
decides nothing here but which pages are read again for safety."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.client import HttpResponse
from ombud.sources.json_values import as_object, as_text, is_table
from ombud.sources.site import HIDDEN, MOST_ANSWERS, SiteClient

TALLEST = 200
"""Levels over a page."""
PAGES_AT_ONCE = 250
V1_AT_ONCE = 100


class Space(NamedTuple):
    id: str
    key: str


class ConfluencePage(NamedTuple):
    id: str
    space: str
    """Its key."""
    title: str
    number: int
    """Of its version."""
    version: str
    """The number and when it was made: a restored backup counts from an older number again."""
    url: str
    above: tuple[str, ...] | None = None
    """Ids over it, where the list says; None where they must be asked for."""
    labels: tuple[str, ...] | None = None


class Attachment(NamedTuple):
    name: str
    size: int
    version: str
    """With its id: a file that is removed and attached again begins at 1."""
    link: str
    url: str


class PageBody(NamedTuple):
    number: int
    title: str
    storage: str


class ConfluenceSite:
    """What both kinds share. Methods raise SourceError; NotShown where Confluence hides what it was
    asked for."""

    def __init__(self, client: SiteClient, root: str, context: str) -> None:
        """root: address up to what the REST API calls /. context: /wiki on Cloud, which its own
        links carry."""
        self._client = client
        self._root = root
        self._context = context
        self._base = root + context
        self._shown = self._base

    def restriction(self, content: str, start: int) -> Any:
        path = f"/rest/api/content/{content}/restriction/byOperation/read"
        expand = "restrictions.user,restrictions.group"
        answer = self._one(path, {"expand": expand, "start": start, "limit": V1_AT_ONCE})
        if answer is None:
            raise NotShown(f"the read restrictions of {content} are not shown to the account")
        return answer

    def including(self, space: Space) -> set[str] | None:
        """Ids of pages that show text of others, whose bytes so change without their version. None
        = not known."""
        key = _quoted(space.key)
        cql = f'space = "{key}" and type = page and macro in ("include", "excerpt-include")'
        query = {"cql": cql, "limit": V1_AT_ONCE}
        rows = self._rows("/rest/api/content/search", query, absent={400, 403, 404, 501})
        return None if rows is None else {_id(row) for row in rows}

    def person(self, kind: str, value: str) -> str:
        """kind: account-id | userkey | username. Empty when the name is not shown."""
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
        """Every row of a list in parts; None for a status in `absent`. Raises SourceError rather
        than give half."""
        url = f"{self._base}{path}?{urlencode(query)}"
        asked: set[str] = set()
        rows: list[dict[str, Any]] = []
        while url:
            if url in asked or len(asked) >= MOST_ANSWERS:
                raise SourceError(
                    f"The list {path} leads round in circles.", hint="Sync again later."
                )
            asked.add(url)
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
        """The rows of each key, one request a key; of all where there are no keys."""
        queries = [{parameter: key, **query} for key in keys]
        if not keys:
            queries = [dict(query)]
        rows: list[dict[str, Any]] = []
        for asked in queries:
            rows += self._rows(path, asked) or []
        return rows

    def _following(self, part: Mapping[str, Any], answer: HttpResponse) -> str:
        links = as_object(part.get("_links"))
        base = as_text(links.get("base"))
        if base.startswith(("http://", "https://")):
            self._shown = base.rstrip("/")
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
        """A link of an answer as an address. v2 begins its own with /wiki, v1 and downloads leave
        that out."""
        if re.match(r"https?://", link):
            return link
        path = link if link.startswith("/") else f"/{link}"
        root = urlsplit(self._root)
        if root.path and path.startswith(f"{root.path}/"):
            return f"{root.scheme}://{root.netloc}{path}"
        if self._context and path.startswith(f"{self._context}/"):
            return self._root + path
        return self._base + path

    def _url(self, row: Mapping[str, Any], *names: str) -> str:
        """The first of these links, where it leads to this site; else empty."""
        links = as_object(row.get("_links"))
        for name in names:
            path = as_text(links.get(name) or row.get(name))
            if path:
                return f"{self._shown}{path}" if path.startswith("/") else ""
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
    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root.removesuffix("/wiki"), "/wiki")
        self._parents: dict[str, tuple[str, str]] = {}
        """Content id -> (kind, id) of what it lies in; ("", "") at the top."""

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        self._parents.clear()  # a new look: folders may have been moved since the last one
        query: dict[str, Any] = {"limit": PAGES_AT_ONCE}
        rows = self._named_rows("/api/v2/spaces", query, "keys", keys)
        return _chosen(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        query: dict[str, Any] = {"limit": PAGES_AT_ONCE}
        if not archived:  # without a status the list holds current and archived pages
            query["status"] = "current"
        rows = self._rows(f"/api/v2/spaces/{space.id}/pages", query) or []
        for row in rows:  # archived pages may be parents of current ones, too
            self._parents[_id(row)] = _parent(row)
        wanted = {"current", "archived"} if archived else {"current"}
        pages = []
        for row in rows:
            if row.get("status", "current") in wanted:
                url = self._url(row, "webui")
                pages.append(_page(row, space, url))
        return pages

    def above(self, page: ConfluencePage) -> tuple[str, ...]:
        above: list[str] = []
        kind, content = self._lies_in("page", page.id)
        while content:
            if content in above or len(above) >= TALLEST:
                raise NotShown("the pages over it form a circle")
            above.append(content)
            kind, content = self._lies_in(kind, content)
        return tuple(above)

    def labels(self, page: ConfluencePage) -> tuple[str, ...]:
        rows = self._rows(
            f"/api/v2/pages/{page.id}/labels", {"limit": PAGES_AT_ONCE}, absent=HIDDEN
        )
        return _labels(rows)

    def attachments(self, page: ConfluencePage) -> list[Attachment] | None:
        """None when the page is gone."""
        path = f"/api/v2/pages/{page.id}/attachments"
        rows = self._rows(path, {"limit": PAGES_AT_ONCE}, absent={404})
        return None if rows is None else _present(map(self._attachment, rows))

    def body(self, page: str) -> PageBody | None:
        """None when the page is gone."""
        return _body(self._one(f"/api/v2/pages/{page}", {"body-format": "storage"}))

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        links = as_object(row.get("_links"))
        link = as_text(row.get("downloadLink")) or as_text(links.get("download"))
        url = self._url(row, "webui", "webuiLink")
        return _file(row, row.get("fileSize"), link, url)

    def _lies_in(self, kind: str, content: str) -> tuple[str, str]:
        if content not in self._parents:
            # Folders, whiteboards and archived pages are in no list of pages.
            path = _COLLECTIONS.get(kind)
            row = self._one(f"/api/v2/{path}/{content}", {}) if path else None
            if not isinstance(row, dict):
                raise NotShown(
                    f"the {kind or 'content'} {content} over it is not shown to the account"
                )
            self._parents[content] = _parent(row)
        return self._parents[content]


class DataCenter(ConfluenceSite):
    """Archived pages are an invention of Cloud: here only spaces are archived."""

    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root, "")

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        query: dict[str, Any] = {"start": 0, "limit": V1_AT_ONCE}
        rows = self._named_rows("/rest/api/space", query, "spaceKey", keys)
        return _chosen(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        del archived
        query = {
            "type": "page",
            "spaceKey": space.key,
            "status": "current",
            "start": 0,
            "limit": V1_AT_ONCE,
            "expand": "version,ancestors,metadata.labels",
        }
        rows = self._rows("/rest/api/content", query) or []
        return [self._page(row, space) for row in rows if _is_current(row)]

    def above(self, page: ConfluencePage) -> tuple[str, ...]:
        if page.above is None:
            raise NotShown("the pages over it were not named")
        return page.above

    def labels(self, page: ConfluencePage) -> tuple[str, ...]:
        if page.labels is not None:
            return page.labels
        return _labels(
            self._rows(f"/rest/api/content/{page.id}/label", {"limit": V1_AT_ONCE}, absent=HIDDEN)
        )

    def attachments(self, page: ConfluencePage) -> list[Attachment] | None:
        path = f"/rest/api/content/{page.id}/child/attachment"
        query = {"start": 0, "limit": V1_AT_ONCE, "expand": "version"}
        rows = self._rows(path, query, absent={404})
        return None if rows is None else _present(map(self._attachment, rows))

    def body(self, page: str) -> PageBody | None:
        return _body(self._one(f"/rest/api/content/{page}", {"expand": "body.storage,version"}))

    def _page(self, row: dict[str, Any], space: Space) -> ConfluencePage:
        ancestors = row.get("ancestors")
        above = tuple(map(_id, ancestors)) if isinstance(ancestors, list) else None
        metadata = as_object(row.get("metadata"))
        named = as_object(metadata.get("labels")).get("results")
        labels = _labels(named) if isinstance(named, list) else None
        page = _page(row, space, self._url(row, "webui"))
        return page._replace(above=above, labels=labels)

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        links = as_object(row.get("_links"))
        extensions = as_object(row.get("extensions"))
        url = self._url(row, "webui")
        return _file(row, extensions.get("fileSize"), as_text(links.get("download")), url)


def _chosen(rows: list[dict[str, Any]], keys: tuple[str, ...], archived: bool) -> list[Space]:
    """Spaces by key; those that are named are read although they are archived."""
    spaces = {str(row.get("key")): row for row in rows}
    for key in keys:
        if key not in spaces:
            raise _no_space(key, sorted(spaces))
    if not spaces:
        # Not an empty site: an account that is not recognised is let in as a guest who sees
        # nothing.
        raise SourceError(
            "The account sees no space.", hint="Check user and token, and its permissions."
        )
    wanted = list(keys)
    if not keys:
        wanted = [key for key, row in spaces.items() if archived or _is_current(row)]
    return [Space(_id(spaces[key]), key) for key in dict.fromkeys(wanted)]


def _no_space(key: str, seen: Sequence[str]) -> SourceError:
    listed = ", ".join(seen[:10]) or "none of them"
    return SourceError(
        f"There is no space `{key}`, or the account may not see it.",
        hint=f"It sees {listed}. Capital letters count.",
    )


def _is_current(row: Mapping[str, Any]) -> bool:
    return bool(row.get("status", "current") == "current")


def _present(attachments: Iterable[Attachment | None]) -> list[Attachment]:
    return [attachment for attachment in attachments if attachment]


def _page(row: dict[str, Any], space: Space, url: str) -> ConfluencePage:
    number, version = _version(row)
    return ConfluencePage(
        id=_id(row),
        space=space.key,
        title=as_text(row.get("title")),
        number=number,
        version=version,
        url=url,
    )


def _file(row: dict[str, Any], size: Any, link: str, url: str) -> Attachment | None:
    if not _is_current(row) or not link:
        return None
    _, version = _version(row)
    return Attachment(
        name=as_text(row.get("title")),
        size=size if isinstance(size, int) else 0,
        version=f"{_id(row)}.{version}",
        link=link,
        url=url,
    )


def _body(answer: Any) -> PageBody | None:
    if answer is None:
        return None
    row = as_object(answer)
    body = as_object(row.get("body"))
    storage = as_object(body.get("storage")).get("value")
    if not isinstance(storage, str):
        raise SourceError(
            "Confluence sent the page without its body.", hint="The next sync tries again."
        )
    number, _ = _version(row)
    return PageBody(number=number, title=as_text(row.get("title")), storage=storage)


def _labels(rows: list[dict[str, Any]] | None) -> tuple[str, ...]:
    if rows is None:
        raise NotShown("its labels are not shown to the account")
    # Personal labels ("my") belong to one reader, not to the page.
    shared = [row for row in rows if row.get("prefix", "global") != "my"]
    return tuple(as_text(row.get("name")).lower() for row in shared)


def _version(row: Mapping[str, Any]) -> tuple[int, str]:
    version = as_object(row.get("version"))
    number = version.get("number")
    if not isinstance(number, int):
        raise SourceError(
            "Confluence listed something without its version.",
            hint="Is it Confluence that answers?",
        )
    made = as_text(version.get("createdAt") or version.get("when"))
    return number, f"{number}.{made}"


def _parent(row: Mapping[str, Any]) -> tuple[str, str]:
    parent = row.get("parentId")
    if not parent:
        return "", ""
    return as_text(row.get("parentType")) or "page", _id({"id": parent})


def _id(row: Mapping[str, Any]) -> str:
    """It goes into addresses and uris, so it must look like one."""
    identity = str(row.get("id", ""))
    if not re.fullmatch(r"[\w-]{1,80}", identity):
        raise SourceError(
            "Confluence listed something without an id.", hint="Is it Confluence that answers?"
        )
    return quote(identity)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
