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
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.site import SiteClient

MOST_ANSWERS = 10_000
"""Parts of one list."""
AGAIN = 2
"""Times that a listing is begun anew because Graph lost its place."""
DEEPEST = 400
"""Folders one in the other; SharePoint allows paths of 400 characters."""
HIDDEN = frozenset({403, 404})
GONE = 410
PAGES_LIBRARY = "webPageLibrary"
PUBLISHED = "published"


class Library(NamedTuple):
    drive: str
    name: str


class Item(NamedTuple):
    """A file of a library."""

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
        self._client, self._graph, self._address = client, graph, address
        self._base = f"{graph}/v1.0"
        self._known = ""

    @property
    def id(self) -> str:
        if not self._known:
            parts = urlsplit(self._address)
            path = quote(unquote(parts.path).strip("/"))
            said = self._one(f"/sites/{parts.netloc}{f':/{path}' if path else ''}")
            if said is None:
                raise SourceError(
                    f"The site {self._address} is not there, or the application may not see it.",
                    hint="Check url; grant the application Sites.Read.All, or Sites.Selected and this site.",
                )
            self._known = _id(said)
        return self._known

    def libraries(self, names: tuple[str, ...]) -> list[Library]:
        """Document libraries by name; all when there are no names. Those that SharePoint made for
        itself are none."""
        found = {
            _text(row.get("name")): _id(row) for row in self._rows(f"/sites/{self.id}/drives") or ()
        }
        missing = [name for name in names if name not in found]
        if missing:
            raise SourceError(
                f"There is no library `{missing[0]}`, or the application may not see it.",
                hint=f"It sees {', '.join(sorted(found)[:10]) or 'none of them'}. Capital letters count.",
            )
        if not found:
            raise SourceError(
                "The application sees no library.", hint="Check its permissions for this site."
            )
        return [Library(found[name], name) for name in dict.fromkeys(names or found)]

    def items(self, drive: str, *, unique: bool = False) -> list[Item]:
        """Every file, wherever it lies. unique: with the ids that lists know them by."""
        rows: dict[str, dict[str, Any]] = {}
        select = "?$select=*,sharepointIds" if unique else ""
        for _ in range(1 + AGAIN):
            listed = self._rows(
                f"/drives/{drive}/root/delta{select}", absent={GONE}, until="@odata.deltaLink"
            )
            if listed is not None:
                # What changes meanwhile is listed again; the last word counts.
                rows = {_id(row): row for row in listed}
                break
        else:
            raise SourceError(
                "Graph keeps losing its place in the library.", hint="Sync again later."
            )
        here = {key: row for key, row in rows.items() if "deleted" not in row}
        paths = {key: _path(key, here, rows) for key, row in here.items() if _is_file(row)}
        return [_item(drive, here[key], path) for key, path in paths.items() if path]

    def permissions(self, item: Item) -> list[Any]:
        rows = self._rows(f"/drives/{item.drive}/items/{item.id}/permissions", absent=HIDDEN)
        if rows is None:
            raise NotShown("its permissions are not shown to the application")
        return list(rows)

    def download(self, drive: str, item: str) -> bytes:
        answer = self._client.get(f"{self._base}/drives/{drive}/items/{item}/content", absent={404})
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
        return [
            SitePage(_id(row), _text(row.get("name")), *_state(row), _text(row.get("webUrl")))
            for row in rows
        ]

    def page_items(self) -> dict[str, Item]:
        """Files behind the site's pages by the pages' ids, for it is the files that have
        permissions."""
        lists = (
            self._rows(f"/sites/{self.id}/lists?$select=id,name,list,system", absent=HIDDEN) or []
        )
        found: dict[str, Item] = {}
        for row in lists:
            if _map(row.get("list")).get("template") == PAGES_LIBRARY:
                drive = self._one(f"/sites/{self.id}/lists/{_id(row)}/drive")
                items = self.items(_id(drive), unique=True) if drive is not None else []
                found |= {item.unique: item for item in items if item.unique}
        return found

    def content(self, page: str) -> Content | None:
        """None when the page is gone."""
        said = self._one(
            f"/sites/{self.id}/pages/{page}/microsoft.graph.sitePage?$expand=canvasLayout"
        )
        if said is None:
            return None
        if "canvasLayout" not in said:
            raise SourceError(
                "Graph sent the page without its content.", hint="The next sync tries again."
            )
        return Content(*_state(said), _text(said.get("title")), _map(said["canvasLayout"]))

    def _one(self, path: str) -> Mapping[str, Any] | None:
        """None when it is hidden or gone."""
        answered = self._client.get_json(f"{self._base}{path}", absent=HIDDEN)
        if answered is None:
            return None
        if not isinstance(answered[0], dict):
            raise SourceError(
                f"{path} is no object.", hint="Is the address that of Microsoft Graph?"
            )
        return answered[0]

    def _rows(
        self, path: str, absent: Container[int] = (), until: str = ""
    ) -> list[dict[str, Any]] | None:
        """Every row of a list in parts; None for a status in `absent`. Raises SourceError rather
        than give half.

        until: what the last part must hold.
        """
        url, asked = f"{self._base}{path}", set[str]()
        rows: list[dict[str, Any]] = []
        while url:
            if url in asked or len(asked) >= MOST_ANSWERS:
                raise SourceError(
                    f"The list {_plain(path)} leads round in circles.", hint="Sync again later."
                )
            asked.add(url)
            answered = self._client.get_json(url, absent=absent)
            if answered is None:
                return None
            said = answered[0] if isinstance(answered[0], dict) else {}
            part = said.get("value")
            if not isinstance(part, list) or not all(isinstance(row, dict) for row in part):
                raise SourceError(
                    f"{_plain(path)} is no list.", hint="Is the address that of Microsoft Graph?"
                )
            rows += part
            url = self._following(said)
            if not url and until and not said.get(until):
                raise SourceError(f"The list {_plain(path)} breaks off.", hint="Sync again later.")
        return rows

    def _following(self, said: Mapping[str, Any]) -> str:
        url = said.get("@odata.nextLink")
        if not url:
            return ""
        if not isinstance(url, str) or not url.startswith(f"{self._graph}/"):
            raise SourceError("Graph continues a list on another host, which is not followed.")
        return url


def _path(key: str, here: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Any]) -> str:
    """From the library's root; empty for what lies in a deleted folder."""
    names = [_name(here[key])]
    for _ in range(DEEPEST):
        over = _text(_map(here[key].get("parentReference")).get("id"))
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


def _is_file(row: Mapping[str, Any]) -> bool:
    """A notebook is a package of files, a shortcut a remote item: neither is a document of this
    library."""
    return "file" in row and not row.keys() & {"package", "remoteItem", "folder"}


def _item(drive: str, row: Mapping[str, Any], path: str) -> Item:
    size, ids = row.get("size"), _map(row.get("sharepointIds"))
    return Item(
        drive,
        _id(row),
        path,
        _version(row),
        size if isinstance(size, int) else 0,
        _text(row.get("webUrl")),
        _text(ids.get("listItemUniqueId")).lower(),
    )


def _version(row: Mapping[str, Any]) -> str:
    return _text(row.get("cTag")) or _text(row.get("eTag"))


def _state(row: Mapping[str, Any]) -> tuple[str, bool]:
    """(version, editing). Numbers are MAJOR.MINOR; publishing makes a new major one."""
    said = _map(row.get("publishingState"))
    level, number = _text(said.get("level")), _text(said.get("versionId"))
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
    return _text(row.get("name")).replace("/", "_").encode(errors="backslashreplace").decode()


def _id(row: Mapping[str, Any]) -> str:
    """It goes into addresses and uris, so it must look like one."""
    found = _text(row.get("id"))
    if not re.fullmatch(r"[\w!.,-]{1,300}", found, re.ASCII) or not found.strip("."):
        raise SourceError(
            "Graph listed something without an id.", hint="Is it Microsoft Graph that answers?"
        )
    return found


def _plain(path: str) -> str:
    return path.partition("?")[0]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
