"""The requests of Microsoft Graph (v1.0) about one SharePoint site.

A library is listed completely each time, by `delta` without a token: no other listing is guaranteed
to be complete while people write, and what it lacks is deleted here. A stored token would save
little: a page of some 200 items costs 2 of SharePoint's resource units, while permissions cost 5
for each file, and changes of these are reported only to applications that own every site. An
application has 1,250 units a minute in a small organisation and 6,250 in the largest, which is 250
to 1,250 files.

Permissions are requested file by file. `Prefer: hierarchicalsharing` would mark items with
permissions of their own, but only guarantees it for changes, not for a complete listing, and an
unmarked item would become readable for the readers of its folder. SharePoint does not return
`inheritedFrom`. `$batch` would not be faster, as each request in it counts by itself."""

import re
from collections.abc import Container, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.json_values import as_object, as_text, is_table
from ombud.sources.site import HIDDEN, MAX_LIST_PARTS, SiteClient

MAX_RESTARTS = 2
"""Times that a listing is restarted because Graph lost its place."""
DEEPEST = 400
"""Levels of folders; SharePoint allows paths of 400 characters."""
PAGES_LIBRARY = "webPageLibrary"
PUBLISHED = "published"


class Library(NamedTuple):
    drive: str
    name: str


class Item(NamedTuple):
    """A file of a library, or another item among its files."""

    drive: str
    id: str
    path: str
    """Folders and name, with slashes."""
    version: str
    """Changes with its content only; empty if SharePoint has none."""
    size: int
    url: str
    unique: str
    """Its id in lists and pages; empty if it was not requested."""
    why: str = ""
    """Why it is no file; empty for files."""


class SitePage(NamedTuple):
    id: str
    name: str
    version: str
    """Number of the published version, not of the draft; empty if nothing was published yet."""
    editing: bool
    """True if the site shows this application the draft and not the published version."""
    url: str


class Content(NamedTuple):
    version: str
    editing: bool
    title: str
    canvas: Mapping[str, Any]


class SharePointSite:
    """A SharePoint site. Methods raise SourceError, and NotShown for what it hides from the
    application."""

    def __init__(self, client: SiteClient, graph: str, address: str) -> None:
        """graph: such as https://graph.microsoft.com. address: address of the site."""
        self._client = client
        self._graph = graph
        self._address = address
        self._base = f"{graph}/v1.0"
        self._id = ""

    @property
    def id(self) -> str:
        """The site's id, requested once."""
        if not self._id:
            parts = urlsplit(self._address)
            name = parts.netloc
            path = quote(unquote(parts.path).strip("/"))
            if path:
                name += f":/{path}"
            site = self._one(f"/sites/{name}")
            if site is None:
                raise SourceError(
                    f"The site {self._address} is not there, or the application may not see it.",
                    hint="Check url; grant the application Sites.Read.All, or Sites.Selected and "
                    "this site.",
                )
            self._id = read_id(site)
        return self._id

    def libraries(self, names: tuple[str, ...]) -> list[Library]:
        """Find document libraries by name, or all without names; SharePoint's own are left out."""
        drives = self._rows(f"/sites/{self.id}/drives") or []
        libraries = {as_text(row.get("name")): read_id(row) for row in drives}
        missing = [name for name in names if name not in libraries]
        if missing:
            seen = ", ".join(sorted(libraries)[:10]) or "none of them"
            raise SourceError(
                f"There is no library `{missing[0]}`, or the application may not see it.",
                hint=f"It sees {seen}. Capital letters count.",
            )
        if not libraries:
            raise SourceError(
                "The application sees no library.", hint="Check its permissions for this site."
            )
        wanted = dict.fromkeys(names or libraries)
        return [Library(drive=libraries[name], name=name) for name in wanted]

    def items(self, drive: str, *, unique: bool = False) -> list[Item]:
        """List every file, notebook and shortcut of a library. unique: with their ids in lists."""
        rows = {read_id(row): row for row in self._listing(drive, unique=unique)}
        here = {key: row for key, row in rows.items() if "deleted" not in row}
        items = []
        for key, row in here.items():
            # A notebook is a package of files, a shortcut is a file of another library.
            why = "it is a notebook" if "package" in row else ""
            if "remoteItem" in row and not why:
                why = "it is a shortcut to another library"
            path = path_in_library(key, here, rows) if "file" in row or why else ""
            if path:
                items.append(read_item(drive, row, path)._replace(why=why))
        return items

    def _listing(self, drive: str, *, unique: bool) -> list[Mapping[str, Any]]:
        """List all rows; an item that changes meanwhile is listed again, its last row counts."""
        select = "?$select=*,sharepointIds" if unique else ""
        path = f"/drives/{drive}/root/delta{select}"
        for _ in range(1 + MAX_RESTARTS):
            listed = self._rows(path, absent={HTTPStatus.GONE}, until="@odata.deltaLink")
            if listed is not None:
                return listed
        raise SourceError("Graph keeps losing its place in the library.", hint="Sync again later.")

    def permissions(self, item: Item) -> list[Any]:
        rows = self._rows(f"/drives/{item.drive}/items/{item.id}/permissions", absent=HIDDEN)
        if rows is None:
            raise NotShown("its permissions are not shown to the application")
        return list(rows)

    def download(self, drive: str, item: str) -> bytes:
        address = f"{self._base}/drives/{drive}/items/{item}/content"
        answer = self._client.get(address, absent={404})
        if answer is None:
            raise SourceError(
                "The file is not there any more.", hint="The next sync will not list it."
            )
        return answer.body

    def version(self, drive: str, item: str) -> str:
        return read_version(self._one(f"/drives/{drive}/items/{item}?$select=id,eTag,cTag") or {})

    def pages(self) -> list[SitePage]:
        rows = self._rows(f"/sites/{self.id}/pages/microsoft.graph.sitePage", absent=HIDDEN)
        if rows is None:
            raise SourceError(
                "The application may not read the site's pages.",
                hint="Grant it Sites.Read.All, or set pages = false.",
            )
        return list(map(read_site_page, rows))

    def page_items(self) -> dict[str, Item]:
        """List the files of the site's pages by page id, as the files have the permissions."""
        path = f"/sites/{self.id}/lists?$select=id,name,list,system"
        by_page: dict[str, Item] = {}
        for row in self._rows(path, absent=HIDDEN) or []:
            if as_object(row.get("list")).get("template") != PAGES_LIBRARY:
                continue
            drive = self._one(f"/sites/{self.id}/lists/{read_id(row)}/drive")
            items = self.items(read_id(drive), unique=True) if drive is not None else []
            for item in items:
                if item.unique:
                    by_page[item.unique] = item
        return by_page

    def content(self, page: str) -> Content | None:
        """Read a page; None if it is gone."""
        path = f"/sites/{self.id}/pages/{page}/microsoft.graph.sitePage?$expand=canvasLayout"
        row = self._one(path)
        if row is None:
            return None
        if "canvasLayout" not in row:
            raise SourceError(
                "Graph sent the page without its content.", hint="The next sync tries again."
            )
        version, editing = read_state(row)
        return Content(
            version=version,
            editing=editing,
            title=as_text(row.get("title")),
            canvas=as_object(row["canvasLayout"]),
        )

    def _one(self, path: str) -> Mapping[str, Any] | None:
        """Request an object; None if it is hidden or gone."""
        answered = self._client.get_json(f"{self._base}{path}", absent=HIDDEN)
        if answered is None:
            return None
        value, _ = answered
        if not isinstance(value, dict):
            raise SourceError(
                f"{path} is no object.", hint="Is the address that of Microsoft Graph?"
            )
        return value

    def _rows(
        self, path: str, absent: Container[int] = (), until: str = ""
    ) -> list[Mapping[str, Any]] | None:
        """Request all rows of a list; None for a status in `absent`. Raises SourceError rather than
        return an incomplete list.

        until: key that the last part must have."""
        url = f"{self._base}{path}"
        visited: set[str] = set()
        rows: list[Mapping[str, Any]] = []
        while url:
            if url in visited or len(visited) >= MAX_LIST_PARTS:
                raise SourceError(
                    f"The list {without_query(path)} leads round in circles.",
                    hint="Sync again later.",
                )
            visited.add(url)
            part = self._part(url, path, absent)
            if part is None:
                return None
            rows += part["value"]
            url = self._following(part)
            if not url and until and not part.get(until):
                raise SourceError(
                    f"The list {without_query(path)} breaks off.", hint="Sync again later."
                )
        return rows

    def _part(self, url: str, path: str, absent: Container[int]) -> Mapping[str, Any] | None:
        """Request an object with rows in `value`; None for a status in `absent`."""
        answered = self._client.get_json(url, absent=absent)
        if answered is None:
            return None
        part = as_object(answered[0])
        if not is_table(part.get("value")):
            raise SourceError(
                f"{without_query(path)} is no list.", hint="Is the address that of Microsoft Graph?"
            )
        return part

    def _following(self, part: Mapping[str, Any]) -> str:
        url = part.get("@odata.nextLink")
        if not url:
            return ""
        if not isinstance(url, str) or not url.startswith(f"{self._graph}/"):
            raise SourceError("Graph continues a list on another host, which is not followed.")
        return url


def path_in_library(
    key: str, here: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Any]
) -> str:
    """Return the path from the library's root; empty for an item in a deleted folder."""
    names = [read_name(here[key])]
    for _ in range(DEEPEST):
        over = as_text(as_object(here[key].get("parentReference")).get("id"))
        if over not in here:
            if over in rows:
                return ""
            # Its path decides whether it is excluded, so it is not guessed.
            raise SourceError(
                f"Graph lists {names[-1]} without the folder it lies in.",
                hint="Grant the application the whole library.",
            )
        if "root" in here[over]:
            return "/".join(reversed(names))
        names.append(read_name(here[over]))
        key = over
    raise SourceError("Folders lie in each other.", hint="Sync again later.")


def read_item(drive: str, row: Mapping[str, Any], path: str) -> Item:
    size = row.get("size")
    ids = as_object(row.get("sharepointIds"))
    return Item(
        drive=drive,
        id=read_id(row),
        path=path,
        version=read_version(row),
        size=size if isinstance(size, int) else 0,
        url=as_text(row.get("webUrl")),
        unique=as_text(ids.get("listItemUniqueId")).lower(),
    )


def read_site_page(row: Mapping[str, Any]) -> SitePage:
    version, editing = read_state(row)
    return SitePage(
        id=read_id(row),
        name=as_text(row.get("name")),
        version=version,
        editing=editing,
        url=as_text(row.get("webUrl")),
    )


def read_version(row: Mapping[str, Any]) -> str:
    return as_text(row.get("cTag")) or as_text(row.get("eTag"))


def read_state(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Read version and editing of a page. Numbers are MAJOR.MINOR; publishing makes a new major
    one."""
    state = as_object(row.get("publishingState"))
    level = as_text(state.get("level"))
    number = as_text(state.get("versionId"))
    if not level or not re.fullmatch(r"\d{1,9}\.\d{1,9}", number):
        raise SourceError(
            "Graph listed a page without its version.",
            hint="Sync again later, or set pages = false.",
        )
    if level == PUBLISHED:
        return number, False
    major = int(number.partition(".")[0])
    return (f"{major}.0" if major else ""), True


def read_name(row: Mapping[str, Any]) -> str:
    """Read a name. It is foreign text: no step of a path, no half characters."""
    return as_text(row.get("name")).replace("/", "_").encode(errors="backslashreplace").decode()


def read_id(row: Mapping[str, Any]) -> str:
    """Read an id; it goes into addresses and uris, so it must look like one."""
    identity = as_text(row.get("id"))
    if not re.fullmatch(r"[\w!.,-]{1,300}", identity, re.ASCII) or not identity.strip("."):
        raise SourceError(
            "Graph listed something without an id.", hint="Is it Microsoft Graph that answers?"
        )
    return identity


def without_query(path: str) -> str:
    return path.partition("?")[0]
