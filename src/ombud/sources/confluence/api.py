"""What is asked of Confluence: Cloud (REST v2, v1 where v2 has nothing) and Data Center (REST v1).

Lists never come with bodies: a page is read alone, and only when its version number is new.
Deletions show in the whole list of ids. CQL would report neither deletions nor changed
restrictions, searches an index that lags behind, and compares times in the instance's zone; so it
decides nothing here but which pages are read again for safety."""

import re
from collections.abc import Container, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.client import HttpResponse
from ombud.sources.site import SiteClient

MOST_ANSWERS = 10_000
"""Parts of one list."""
TALLEST = 200
"""Levels over a page."""
HIDDEN = frozenset({403, 404})
"""Confluence says 404 also for what the account may not see."""
PAGES_AT_ONCE, V1_AT_ONCE = 250, 100


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


class Body(NamedTuple):
    number: int
    title: str
    storage: str


class ConfluenceSite:
    """What both kinds share. Methods raise SourceError; NotShown where Confluence hides what it was
    asked for."""

    def __init__(self, client: SiteClient, root: str, context: str) -> None:
        """root: address up to what the REST API calls /. context: /wiki on Cloud, which its own
        links carry."""
        self._client, self._root, self._context = client, root, context
        self._base = root + context
        self._shown = self._base

    def restriction(self, content: str, start: int) -> Any:
        said = self._one(
            f"/rest/api/content/{content}/restriction/byOperation/read",
            {"expand": "restrictions.user,restrictions.group", "start": start, "limit": V1_AT_ONCE},
        )
        if said is None:
            raise NotShown(f"the read restrictions of {content} are not shown to the account")
        return said

    def including(self, space: Space) -> set[str] | None:
        """Ids of pages that show text of others, whose bytes so change without their version. None
        = not known."""
        cql = f'space = "{_quoted(space.key)}" and type = page and macro in ("include", "excerpt-include")'
        query = {"cql": cql, "limit": V1_AT_ONCE}
        rows = self._rows("/rest/api/content/search", query, absent={400, 403, 404, 501})
        return None if rows is None else {_id(row) for row in rows}

    def person(self, kind: str, value: str) -> str:
        """kind: account-id | userkey | username. Empty when the name is not shown."""
        key = {"account-id": "accountId", "userkey": "key"}.get(kind, kind)
        said = self._one("/rest/api/user", {key: value}, absent={400, 403, 404})
        return _text(said.get("displayName")) if isinstance(said, dict) else ""

    def download(self, link: str) -> bytes:
        answer = self._client.get(self._resolved(link), absent=HIDDEN)
        if answer is None:
            raise SourceError(
                "The attachment is not there any more.", hint="The next sync will not list it."
            )
        return answer.body

    def _one(self, path: str, query: Mapping[str, Any], absent: Container[int] = HIDDEN) -> Any:
        said = self._client.get_json(f"{self._base}{path}?{urlencode(query)}", absent=absent)
        return None if said is None else said[0]

    def _rows(
        self, path: str, query: Mapping[str, Any], absent: Container[int] = ()
    ) -> list[dict[str, Any]] | None:
        """Every row of a list in parts; None for a status in `absent`. Raises SourceError rather
        than give half."""
        url, asked = f"{self._base}{path}?{urlencode(query)}", set[str]()
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
            said, answer = answered
            part = said.get("results") if isinstance(said, dict) else None
            if not isinstance(part, list) or not all(isinstance(row, dict) for row in part):
                raise SourceError(f"{path} is no list.", hint="Is the address that of Confluence?")
            rows += part
            url = self._following(said, answer)
        return rows

    def _following(self, said: Mapping[str, Any], answer: HttpResponse) -> str:
        links = _map(said.get("_links"))
        base = _text(links.get("base"))
        if base.startswith(("http://", "https://")):
            self._shown = base.rstrip("/")
        following = answer.next or _text(links.get("next"))
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
        place = urlsplit(self._root)
        if place.path and path.startswith(f"{place.path}/"):
            return f"{place.scheme}://{place.netloc}{path}"
        if self._context and path.startswith(f"{self._context}/"):
            return self._root + path
        return self._base + path

    def _url(self, row: Mapping[str, Any], *names: str) -> str:
        links = _map(row.get("_links"))
        found = next(
            (path for name in names if (path := _text(links.get(name) or row.get(name)))), ""
        )
        return f"{self._shown}{found}" if found.startswith("/") else ""


class Cloud(ConfluenceSite):
    _KINDS = {  # noqa: RUF012 - never written
        "page": "pages",
        "folder": "folders",
        "whiteboard": "whiteboards",
        "database": "databases",
        "embed": "embeds",
    }

    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root.removesuffix("/wiki"), "/wiki")
        self._parents: dict[str, tuple[str, str]] = {}
        """Content id -> (kind, id) of what it lies in; ("", "") at the top."""

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        self._parents.clear()  # a new look: folders may have been moved since the last one
        query: dict[str, Any] = {"limit": PAGES_AT_ONCE}
        asked = [{"keys": key, **query} for key in keys] or [query]
        rows = [row for one in asked for row in self._rows("/api/v2/spaces", one) or ()]
        return _chosen(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        # Without a status the list holds current and archived pages.
        query = {"limit": PAGES_AT_ONCE} | ({} if archived else {"status": "current"})
        rows = self._rows(f"/api/v2/spaces/{space.id}/pages", query) or []
        # Archived pages may be parents of current ones, too.
        self._parents |= {_id(row): _parent(row) for row in rows}
        wanted = {"current", "archived"} if archived else {"current"}
        return [
            _page(row, space, self._url(row, "webui"))
            for row in rows
            if row.get("status", "current") in wanted
        ]

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
        rows = self._rows(
            f"/api/v2/pages/{page.id}/attachments", {"limit": PAGES_AT_ONCE}, absent={404}
        )
        return None if rows is None else [a for row in rows if (a := self._attachment(row))]

    def body(self, page: str) -> Body | None:
        """None when the page is gone."""
        return _body(self._one(f"/api/v2/pages/{page}", {"body-format": "storage"}))

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        link = _text(row.get("downloadLink")) or _text(_map(row.get("_links")).get("download"))
        return _file(row, row.get("fileSize"), link, self._url(row, "webui", "webuiLink"))

    def _lies_in(self, kind: str, content: str) -> tuple[str, str]:
        if content not in self._parents:
            # Folders, whiteboards and archived pages are in no list of pages.
            path = self._KINDS.get(kind)
            said = self._one(f"/api/v2/{path}/{content}", {}) if path else None
            if not isinstance(said, dict):
                raise NotShown(
                    f"the {kind or 'content'} {content} over it is not shown to the account"
                )
            self._parents[content] = _parent(said)
        return self._parents[content]


class DataCenter(ConfluenceSite):
    """Archived pages are an invention of Cloud: here only spaces are archived."""

    def __init__(self, client: SiteClient, root: str) -> None:
        super().__init__(client, root, "")

    def spaces(self, keys: tuple[str, ...], archived: bool) -> list[Space]:
        query: dict[str, Any] = {"start": 0, "limit": V1_AT_ONCE}
        asked = [{"spaceKey": key, **query} for key in keys] or [query]
        rows = [row for one in asked for row in self._rows("/rest/api/space", one) or ()]
        return _chosen(rows, keys, archived)

    def pages(self, space: Space, archived: bool) -> list[ConfluencePage]:
        del archived
        query = {
            "type": "page",
            "spaceKey": space.key,
            "status": "current",
            "start": 0,
            "limit": V1_AT_ONCE,
        }
        rows = (
            self._rows("/rest/api/content", query | {"expand": "version,ancestors,metadata.labels"})
            or []
        )
        return [self._page(row, space) for row in rows if row.get("status", "current") == "current"]

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
        rows = self._rows(
            path, {"start": 0, "limit": V1_AT_ONCE, "expand": "version"}, absent={404}
        )
        return None if rows is None else [a for row in rows if (a := self._attachment(row))]

    def body(self, page: str) -> Body | None:
        return _body(self._one(f"/rest/api/content/{page}", {"expand": "body.storage,version"}))

    def _page(self, row: dict[str, Any], space: Space) -> ConfluencePage:
        over = row.get("ancestors")
        above = tuple(_id(one) for one in over) if isinstance(over, list) else None
        named = _map(_map(row.get("metadata")).get("labels")).get("results")
        labels = _labels(named) if isinstance(named, list) else None
        return _page(row, space, self._url(row, "webui"))._replace(above=above, labels=labels)

    def _attachment(self, row: dict[str, Any]) -> Attachment | None:
        link = _text(_map(row.get("_links")).get("download"))
        return _file(
            row, _map(row.get("extensions")).get("fileSize"), link, self._url(row, "webui")
        )


def _chosen(rows: list[dict[str, Any]], keys: tuple[str, ...], archived: bool) -> list[Space]:
    """Spaces by key; those that are named are read although they are archived."""
    found = {str(row.get("key")): row for row in rows}
    missing = [key for key in keys if key not in found]
    if missing:
        raise SourceError(
            f"There is no space `{missing[0]}`, or the account may not see it.",
            hint=f"It sees {', '.join(sorted(found)[:10]) or 'none of them'}. Capital letters count.",
        )
    if not found:
        # Not an empty site: an account that is not recognised is let in as a guest who sees
        # nothing.
        raise SourceError(
            "The account sees no space.", hint="Check user and token, and its permissions."
        )
    wanted = keys or tuple(
        key for key, row in found.items() if archived or row.get("status", "current") == "current"
    )
    return [Space(_id(found[key]), key) for key in dict.fromkeys(wanted)]


def _page(row: dict[str, Any], space: Space, url: str) -> ConfluencePage:
    number, version = _version(row)
    return ConfluencePage(_id(row), space.key, _text(row.get("title")), number, version, url)


def _file(row: dict[str, Any], size: Any, link: str, url: str) -> Attachment | None:
    if row.get("status", "current") != "current" or not link:
        return None
    version = f"{_id(row)}.{_version(row)[1]}"
    return Attachment(
        _text(row.get("title")), size if isinstance(size, int) else 0, version, link, url
    )


def _body(said: Any) -> Body | None:
    if said is None:
        return None
    row = _map(said)
    storage = _map(_map(row.get("body")).get("storage")).get("value")
    if not isinstance(storage, str):
        raise SourceError(
            "Confluence sent the page without its body.", hint="The next sync tries again."
        )
    return Body(_version(row)[0], _text(row.get("title")), storage)


def _labels(rows: list[dict[str, Any]] | None) -> tuple[str, ...]:
    if rows is None:
        raise NotShown("its labels are not shown to the account")
    # Personal labels ("my") belong to one reader, not to the page.
    return tuple(
        _text(row.get("name")).lower() for row in rows if row.get("prefix", "global") != "my"
    )


def _version(row: Mapping[str, Any]) -> tuple[int, str]:
    said = _map(row.get("version"))
    number = said.get("number")
    if not isinstance(number, int):
        raise SourceError(
            "Confluence listed something without its version.",
            hint="Is it Confluence that answers?",
        )
    return number, f"{number}.{_text(said.get('createdAt') or said.get('when'))}"


def _parent(row: Mapping[str, Any]) -> tuple[str, str]:
    parent = row.get("parentId")
    if not parent:
        return "", ""
    return _text(row.get("parentType")) or "page", _id({"id": parent})


def _id(row: Mapping[str, Any]) -> str:
    """It goes into addresses and uris, so it must look like one."""
    found = str(row.get("id", ""))
    if not re.fullmatch(r"[\w-]{1,80}", found):
        raise SourceError(
            "Confluence listed something without an id.", hint="Is it Confluence that answers?"
        )
    return quote(found)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
