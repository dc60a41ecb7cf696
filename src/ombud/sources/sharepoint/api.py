"""What is asked of Microsoft Graph (v1.0) about one site of SharePoint.

A library is listed whole each time, by `delta` without a token: no other listing is promised to be
complete while people write, and what is not in it is deleted here. A token kept from last time
would spare little: a page of some 200 items costs 2 of SharePoint's resource units, while
permissions, whose changes a token tells only to applications that own every site, cost 5 for each
file. An application has 1,250 units a minute in a small organisation and 6,250 in the largest,
which is 250 to 1,250 files.

Permissions are asked for file by file. `Prefer: hierarchicalsharing` would mark the items that have
permissions of their own, but that is promised for changes, not for a whole listing, and an item
that it left unmarked would be shown to the readers of its folder. SharePoint does not return
`inheritedFrom`. `$batch` would not be faster: each request in it is counted alone, and a few at a
time use up what there is."""

import re
from collections.abc import Container, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.json_values import as_object, as_text, is_table
from ombud.sources.site import HIDDEN, MOST_ANSWERS, SiteClient

AGAIN = 2
"""Times that a listing is begun anew because Graph lost its place."""
DEEPEST = 400
"""Folders one in the other; SharePoint allows paths of 400 characters."""
PAGES_LIBRARY = "webPageLibrary"
PUBLISHED = "published"


class Library(NamedTuple):
    drive: str
    name: str


class Item(NamedTuple):
    """A file of a library, or what stands among its files."""

    drive: str
    id: str
    path: str
    """Folders and name, with slashes."""
    version: str
    """Changes with its content only; empty when SharePoint says none."""
    size: int
    url: str
    unique: str
    """Id that the list and the pages know it by; empty where it was not asked for."""
    why: str = ""
    """Why it is no file."""


class SitePage(NamedTuple):
    id: str
    name: str
    version: str
    """Number of what is published, which is not what is being edited; empty when nothing was
    published yet."""
    editing: bool
    """The site shows this application what is being edited, and not what is published."""
    url: str


class Content(NamedTuple):
    version: str
    editing: bool
    title: str
    canvas: Mapping[str, Any]


class SharePointSite:
    """Methods raise SourceError; NotShown where SharePoint hides what it was asked for."""

    def __init__(self, client: SiteClient, graph: str, address: str) -> None:
        """graph: such as https://graph.microsoft.com. address: of the site."""
        self._client = client
        self._graph = graph
        self._address = address
        self._base = f"{graph}/v1.0"
        self._known = ""

    @property
    def id(self) -> str:
        if not self._known:
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
            self._known = _id(site)
        return self._known

    def libraries(self, names: tuple[str, ...]) -> list[Library]:
        """Document libraries by name; all when there are no names. Those that SharePoint made for
        itself are none."""
        drives = self._rows(f"/sites/{self.id}/drives") or []
        libraries = {as_text(row.get("name")): _id(row) for row in drives}
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
        """Every file, notebook and shortcut, wherever it lies. unique: with the ids that lists know
        them by."""
        rows = {_id(row): row for row in self._listing(drive, unique=unique)}
        here = {key: row for key, row in rows.items() if "deleted" not in row}
        items = []
        for key, row in here.items():
            why = _why_no_file(row)
            path = _path(key, here, rows) if "file" in row or why else ""
            if path:
                items.append(_item(drive, row, path)._replace(why=why))
        return items

    def _listing(self, drive: str, *, unique: bool) -> list[Mapping[str, Any]]:
        """What changes meanwhile is listed again; the last word counts."""
        select = "?$select=*,sharepointIds" if unique else ""
        path = f"/drives/{drive}/root/delta{select}"
        for _ in range(1 + AGAIN):
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
        return _version(self._one(f"/drives/{drive}/items/{item}?$select=id,eTag,cTag") or {})

    def pages(self) -> list[SitePage]:
        rows = self._rows(f"/sites/{self.id}/pages/microsoft.graph.sitePage", absent=HIDDEN)
        if rows is None:
            raise SourceError(
                "The application may not read the site's pages.",
                hint="Grant it Sites.Read.All, or set pages = false.",
            )
        return list(map(_site_page, rows))

    def page_items(self) -> dict[str, Item]:
        """Files behind the site's pages by the pages' ids, for it is the files that have
        permissions."""
        path = f"/sites/{self.id}/lists?$select=id,name,list,system"
        by_page: dict[str, Item] = {}
        for row in self._rows(path, absent=HIDDEN) or []:
            if as_object(row.get("list")).get("template") != PAGES_LIBRARY:
                continue
            drive = self._one(f"/sites/{self.id}/lists/{_id(row)}/drive")
            items = self.items(_id(drive), unique=True) if drive is not None else []
            for item in items:
                if item.unique:
                    by_page[item.unique] = item
        return by_page

    def content(self, page: str) -> Content | None:
        """None when the page is gone."""
        path = f"/sites/{self.id}/pages/{page}/microsoft.graph.sitePage?$expand=canvasLayout"
        row = self._one(path)
        if row is None:
            return None
        if "canvasLayout" not in row:
            raise SourceError(
                "Graph sent the page without its content.", hint="The next sync tries again."
            )
        version, editing = _state(row)
        return Content(
            version=version,
            editing=editing,
            title=as_text(row.get("title")),
            canvas=as_object(row["canvasLayout"]),
        )

    def _one(self, path: str) -> Mapping[str, Any] | None:
        """None when it is hidden or gone."""
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
        """Every row of a list in parts; None for a status in `absent`. Raises SourceError rather
        than give half.

        until: what the last part must hold."""
        url = f"{self._base}{path}"
        asked: set[str] = set()
        rows: list[Mapping[str, Any]] = []
        while url:
            if url in asked or len(asked) >= MOST_ANSWERS:
                raise SourceError(
                    f"The list {_plain(path)} leads round in circles.", hint="Sync again later."
                )
            asked.add(url)
            part = self._part(url, path, absent)
            if part is None:
                return None
            rows += part["value"]
            url = self._following(part)
            if not url and until and not part.get(until):
                raise SourceError(f"The list {_plain(path)} breaks off.", hint="Sync again later.")
        return rows

    def _part(self, url: str, path: str, absent: Container[int]) -> Mapping[str, Any] | None:
        """An object with rows in `value`; None for a status in `absent`."""
        answered = self._client.get_json(url, absent=absent)
        if answered is None:
            return None
        part = as_object(answered[0])
        if not is_table(part.get("value")):
            raise SourceError(
                f"{_plain(path)} is no list.", hint="Is the address that of Microsoft Graph?"
            )
        return part

    def _following(self, part: Mapping[str, Any]) -> str:
        url = part.get("@odata.nextLink")
        if not url:
            return ""
        if not isinstance(url, str) or not url.startswith(f"{self._graph}/"):
            raise SourceError("Graph continues a list on another host, which is not followed.")
        return url


def _path(key: str, here: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Any]) -> str:
    """From the library's root; empty for what lies in a deleted folder."""
    names = [_name(here[key])]
    for _ in range(DEEPEST):
        over = as_text(as_object(here[key].get("parentReference")).get("id"))
        if over not in here:
            if over in rows:
                return ""
            # Its path decides whether it is left out, and is not guessed.
            raise SourceError(
                f"Graph lists {names[-1]} without the folder it lies in.",
                hint="Grant the application the whole library.",
            )
        if "root" in here[over]:
            return "/".join(reversed(names))
        names.append(_name(here[over]))
        key = over
    raise SourceError("Folders lie in each other.", hint="Sync again later.")


def _why_no_file(row: Mapping[str, Any]) -> str:
    """A notebook is a package of files, a shortcut a remote item: neither is a document of this
    library."""
    if "package" in row:
        return "it is a notebook"
    return "it is a shortcut to another library" if "remoteItem" in row else ""


def _item(drive: str, row: Mapping[str, Any], path: str) -> Item:
    size = row.get("size")
    ids = as_object(row.get("sharepointIds"))
    return Item(
        drive=drive,
        id=_id(row),
        path=path,
        version=_version(row),
        size=size if isinstance(size, int) else 0,
        url=as_text(row.get("webUrl")),
        unique=as_text(ids.get("listItemUniqueId")).lower(),
    )


def _site_page(row: Mapping[str, Any]) -> SitePage:
    version, editing = _state(row)
    return SitePage(
        id=_id(row),
        name=as_text(row.get("name")),
        version=version,
        editing=editing,
        url=as_text(row.get("webUrl")),
    )


def _version(row: Mapping[str, Any]) -> str:
    return as_text(row.get("cTag")) or as_text(row.get("eTag"))


def _state(row: Mapping[str, Any]) -> tuple[str, bool]:
    """(version, editing). Numbers are MAJOR.MINOR; publishing makes a new major one."""
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


def _name(row: Mapping[str, Any]) -> str:
    """Text of somebody's choice: no step of a path, no half characters."""
    return as_text(row.get("name")).replace("/", "_").encode(errors="backslashreplace").decode()


def _id(row: Mapping[str, Any]) -> str:
    """It goes into addresses and uris, so it must look like one."""
    identity = as_text(row.get("id"))
    if not re.fullmatch(r"[\w!.,-]{1,300}", identity, re.ASCII) or not identity.strip("."):
        raise SourceError(
            "Graph listed something without an id.", hint="Is it Microsoft Graph that answers?"
        )
    return identity


def _plain(path: str) -> str:
    return path.partition("?")[0]
