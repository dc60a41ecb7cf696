"""The requests of the Google Drive API (v3): https://developers.google.com/drive/api/reference.

Everything below the chosen folders is listed each time, as what a listing lacks is deleted here.
The changes feed, from before the listing on, tells what was moved, trashed or added meanwhile."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.client import HttpResponse
from ombud.sources.json_values import as_object, as_objects, as_text
from ombud.sources.site import HIDDEN, MAX_LIST_PARTS, SiteClient

FOLDER = "application/vnd.google-apps.folder"
ALL_DRIVES = {"supportsAllDrives": "true", "includeItemsFromAllDrives": "true"}
FILE_FIELDS = "id,name,mimeType,parents,trashed,size,md5Checksum,modifiedTime,webViewLink"
PERMISSION_FIELDS = (
    "type,role,emailAddress,domain,allowFileDiscovery,deleted,pendingOwner,expirationTime,view"
)


class DriveFile(NamedTuple):
    """A file or folder."""

    id: str
    name: str
    kind: str
    """MIME type."""
    parent: str
    version: str
    """Changes with its content: a checksum, or the time of the last change of a Google document."""
    size: int
    url: str


class GoogleDrive:
    """A client for the files of Google Drive that an account can see. Methods raise SourceError,
    and NotShown for what is hidden from the account."""

    def __init__(self, client: SiteClient, address: str) -> None:
        self._client = client
        self._base = f"{address}/drive/v3"

    def account(self) -> str:
        user = as_object(self._get("/about", {"fields": "user"}).get("user"))
        return as_text(user.get("emailAddress")) or as_text(user.get("displayName"))

    def shared_drives(self) -> dict[str, str]:
        """List the shared drives: id -> name."""
        rows = self._rows("/drives", "drives", {"pageSize": "100"})
        return {as_text(row.get("id")): as_text(row.get("name")) for row in rows}

    def find(self, file_id: str) -> DriveFile | None:
        """Return a file; None if it is gone, trashed or hidden."""
        query = {"fields": FILE_FIELDS, "supportsAllDrives": "true"}
        row = self._get(f"/files/{file_id}", query, absent=HIDDEN)
        return read_file(row) if row and not row.get("trashed") else None

    def tree(self, roots: Mapping[str, str]) -> dict[str, DriveFile]:
        """Return everything below some folders, by id, as it was at one moment."""
        token_query = {"supportsAllDrives": "true"}
        token = as_text(self._get("/changes/startPageToken", token_query).get("startPageToken"))
        items: dict[str, DriveFile] = {}
        self._list_below(list(roots), items)
        self._catch_up(token, items)
        # A folder that came in meanwhile brings files that did not change themselves.
        listed = set(roots) | set(items)
        inside = {key for key in items if is_below(key, items, roots)}
        late = [key for key in inside if items[key].kind == FOLDER and key not in listed]
        self._list_below(late, items)
        return {key: item for key, item in items.items() if is_below(key, items, roots)}

    def permissions(self, file_id: str) -> list[Mapping[str, Any]]:
        query = {
            "pageSize": "100",
            "supportsAllDrives": "true",
            "fields": f"nextPageToken,permissions({PERMISSION_FIELDS})",
        }
        return list(self._rows(f"/files/{file_id}/permissions", "permissions", query, hidden=True))

    def download(self, file_id: str, export_as: str) -> bytes:
        """Return the content. export_as: MIME type for a Google document, empty for other files."""
        path, query = f"/files/{file_id}", {"alt": "media", "supportsAllDrives": "true"}
        if export_as:
            path, query = f"/files/{file_id}/export", {"mimeType": export_as}
        answer = self._client.get(f"{self._base}{path}?{urlencode(query)}", absent=HIDDEN)
        if answer is None:
            raise SourceError(
                "The file is gone, may not be downloaded, or is too large to be exported.",
                hint="Google exports at most 10 MB: split it, or leave it out with `exclude`.",
            )
        return answer.body

    def _list_below(self, folders: list[str], items: dict[str, DriveFile]) -> None:
        """List everything below folders, level by level."""
        while folders:
            subfolders: list[str] = []
            for start in range(0, len(folders), 30):  # a query has its longest length
                some = folders[start : start + 30]
                parents = " or ".join(f"'{folder}' in parents" for folder in some)
                query = {
                    **ALL_DRIVES,
                    "q": f"({parents}) and trashed = false",
                    "pageSize": "1000",
                    "fields": f"nextPageToken,incompleteSearch,files({FILE_FIELDS})",
                }
                for row in self._rows("/files", "files", query):
                    item = read_file(row)
                    if item.kind == FOLDER and item.id not in items:
                        subfolders.append(item.id)
                    items[item.id] = item
            folders = subfolders

    def _catch_up(self, token: str, items: dict[str, DriveFile]) -> None:
        """Apply the changes since a token."""
        fields = f"nextPageToken,changes(fileId,removed,file({FILE_FIELDS}))"
        query = {**ALL_DRIVES, "pageToken": token, "pageSize": "1000", "fields": fields}
        for change in self._rows("/changes", "changes", query):
            file = as_object(change.get("file"))
            if change.get("removed") or file.get("trashed") or not file:
                items.pop(as_text(change.get("fileId")), None)
            else:
                items[as_text(file.get("id"))] = read_file(file)

    def _rows(
        self, path: str, key: str, query: Mapping[str, str], *, hidden: bool = False
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of all pages. hidden: raise NotShown if the account may not see them."""
        wanted = dict(query)
        for _ in range(MAX_LIST_PARTS):
            page = self._get(path, wanted, absent=HIDDEN if hidden else frozenset())
            if not isinstance(page.get(key, []), list) or page.get("incompleteSearch"):
                raise SourceError("Google Drive sent an incomplete list.", hint="Sync again later.")
            if hidden and key not in page:
                raise NotShown("its permissions are not shown to the account")
            yield from as_objects(page.get(key))
            if not page.get("nextPageToken"):
                return
            wanted["pageToken"] = as_text(page.get("nextPageToken"))
        raise SourceError("Google Drive sends lists without an end.", hint="Sync again later.")

    def _get(
        self, path: str, query: Mapping[str, str], absent: frozenset[int] = frozenset()
    ) -> Mapping[str, Any]:
        got = self._client.get_json(f"{self._base}{path}?{urlencode(query)}", absent=absent)
        return as_object(got[0]) if got else {}


def is_below(key: str, items: Mapping[str, DriveFile], roots: Mapping[str, str]) -> bool:
    """Tell whether an item lies below one of the roots."""
    return path_of(key, items, roots) != ""


def path_of(key: str, items: Mapping[str, DriveFile], roots: Mapping[str, str]) -> str:
    """Join the names from a root's down to an item's; empty if it lies below none."""
    names: list[str] = []
    for _ in range(len(items) + 1):
        if key in roots:
            return "/".join([roots[key], *reversed(names)])
        item = items.get(key)
        if item is None:
            return ""
        names.append(item.name.replace("/", "_"))
        key = item.parent
    return ""


def read_file(row: Mapping[str, Any]) -> DriveFile:
    parents = row.get("parents")
    size = as_text(row.get("size"))
    return DriveFile(
        id=as_text(row.get("id")),
        name=as_text(row.get("name")),
        kind=as_text(row.get("mimeType")),
        parent=as_text(parents[0]) if isinstance(parents, list) and parents else "",
        version=as_text(row.get("md5Checksum")) or as_text(row.get("modifiedTime")),
        size=int(size) if size.isdecimal() else 0,
        url=as_text(row.get("webViewLink")),
    )


def is_rate_limited(response: HttpResponse) -> bool:
    """Tell whether a 403 only asks for a pause, as Google Drive answers too many requests."""
    if response.status != 403:
        return False
    try:
        error = as_object(as_object(json.loads(response.body)).get("error"))
    except ValueError:
        return False
    reasons = [as_text(one.get("reason")) for one in as_objects(error.get("errors"))]
    return any(reason.lower().endswith("ratelimitexceeded") for reason in reasons)
