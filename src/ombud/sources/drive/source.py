"""Google Drive as a source: files and Google documents below folders and in shared drives.

A document is NAME/FILE ID.ending: renamed or moved within the source it stays the same. Patterns
match what people see: FOLDER/SUBFOLDER/FILE. `access` decides who may read them, `api` lists them.
"""

import mimetypes
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from ombud.errors import SourceError
from ombud.settings import DriveFolders
from ombud.sources.access import NotShown, narrow
from ombud.sources.drive.access import NOBODY, audience, readers
from ombud.sources.drive.api import FOLDER, DriveFile, GoogleDrive, is_rate_limited, path_of
from ombud.sources.drive.token import DriveToken
from ombud.sources.matching import is_document, matching_of, why_unreadable
from ombud.sources.site import PARALLEL_REQUESTS, SiteClient
from ombud.sources.source import LeftOut, Ref

GOOGLE = "application/vnd.google-apps."
OFFICE = "application/vnd.openxmlformats-officedocument."
EXPORTS = {
    f"{GOOGLE}document": (".docx", f"{OFFICE}wordprocessingml.document"),
    f"{GOOGLE}spreadsheet": (".xlsx", f"{OFFICE}spreadsheetml.sheet"),
    f"{GOOGLE}presentation": (".pptx", f"{OFFICE}presentationml.presentation"),
}
"""Kind of a Google document -> (ending, MIME type) as which it is exported."""
_REFUSED = "refused "


def open_drive(place: DriveFolders, home: Path) -> "DriveSource":
    """Open a source; raises SourceError if it names no folder, or something that is no id."""
    del home
    if not place.folders and not place.drives:
        raise SourceError(
            f"source `{place.name}`: no folder is named.", hint="Set folders or drives."
        )
    for folder in place.folders:
        if not folder.isascii() or not folder.replace("-", "").replace("_", "").isalnum():
            raise SourceError(
                f"source `{place.name}`: `{folder[:100]}` is no id of a folder.",
                hint="It is the last part of the folder's address in the browser.",
            )
    return DriveSource(place)


class DriveSource:
    """Files of Google Drive."""

    def __init__(self, place: DriveFolders) -> None:
        self.name = place.name
        self._place = place
        self._matching = matching_of(place)
        self._opened: GoogleDrive | None = None
        self.left_out: list[LeftOut] = []

    def check(self) -> str:
        """Sign in, and describe the account and its folders. Raises SourceError."""
        account = self._drive().account()
        return f"{self.name}: {', '.join(self._roots().values())} as {account}"

    def list(self) -> list[Ref]:
        """List all files. Permissions of each are requested, as they change without the file."""
        self.left_out = []
        roots = self._roots()
        items = self._drive().tree(roots)
        refs: list[Ref] = []
        for item in items.values():
            path = path_of(item.id, items, roots)
            if item.kind == FOLDER or not self._matching.wanted(path):
                continue
            ending, why = ending_of(item)
            if why:
                self.left_out.append(LeftOut(uri=path, why=why))
            else:
                refs.append(self._ref(item, path, ending))
        pool = ThreadPoolExecutor(PARALLEL_REQUESTS, thread_name_prefix="drive")
        try:
            return [*pool.map(self._with_readers, refs)]
        finally:
            pool.shutdown(cancel_futures=True)

    def read(self, ref: Ref) -> bytes:
        if ref.place.startswith(_REFUSED):
            raise SourceError(
                f"Who may read it is not known: {ref.place.removeprefix(_REFUSED)}.",
                hint="Let the account see its permissions, or leave it out with `exclude`.",
            )
        file_id, _, export_as = ref.place.partition(" ")
        data = self._drive().download(file_id, export_as)
        item = self._drive().find(file_id)
        if item is None or item.version != ref.version:
            # Its permissions were read for another version.
            raise SourceError(
                "The file was changed while it was read.", hint="The next sync reads it."
            )
        return data

    def _roots(self) -> dict[str, str]:
        """Find the chosen folders and shared drives: id -> name. Raises SourceError if one is
        missing, as an empty list would delete its documents."""
        drive, roots = self._drive(), dict[str, str]()
        shared = drive.shared_drives() if self._place.drives else {}
        for wanted in self._place.drives:
            matching = [key for key, name in shared.items() if wanted in (key, name)]
            if len(matching) != 1:
                raise SourceError(
                    f"There is no shared drive `{wanted}`, or not only one, for the account.",
                    hint="Add the account as a member, or name the drive by its id.",
                )
            roots[matching[0]] = shared[matching[0]]
        for folder in self._place.folders:
            item = drive.find(folder)
            if item is None or item.kind != FOLDER:
                raise SourceError(
                    f"The folder {folder} is not there, or the account may not see it.",
                    hint="Share it with the account as a viewer.",
                )
            roots[folder] = item.name
        return roots

    def _drive(self) -> GoogleDrive:
        if self._opened is None:
            place = self._place
            key = os.environ.get(place.key_env, "").strip()
            if not key:
                raise SourceError(
                    f"There is no key for source `{self.name}`.",
                    hint=f"Set the environment variable {place.key_env}.",
                )
            token = DriveToken(self.name, key, place.key_env, place.subject)
            hint = f"Check {place.key_env}, and that the Drive API is enabled in its project."
            address = place.api.rstrip("/")
            client = SiteClient(
                "Google Drive", address, credentials=token, hint=hint, is_busy=is_rate_limited
            )
            self._opened = GoogleDrive(client, address)
        return self._opened

    def _ref(self, item: DriveFile, path: str, ending: str) -> Ref:
        title = PurePosixPath(item.name).stem if is_document(item.name) else item.name
        facts = {"title": title.replace("_", " ").strip()} | self._matching.facts_of(path)
        return Ref(
            uri=f"{self.name}/{item.id}{ending}",
            place=f"{item.id} {EXPORTS.get(item.kind, ('', ''))[1]}",
            size=item.size,
            facts=facts | {"url": item.url},
            version=item.version,
            name=path,
        )

    def _with_readers(self, ref: Ref) -> Ref:
        """Add the audience of a file; if it is unknown, nobody may read it."""
        try:
            permissions = self._drive().permissions(ref.place.partition(" ")[0])
            principals = readers(permissions, links=self._place.links, now=datetime.now(UTC))
        except NotShown as hidden:
            place = f"{_REFUSED}{hidden}"
            return Ref(ref.uri, place, 0, {"audience": NOBODY}, name=ref.name)
        groups = {address.lower(): name for address, name in self._place.groups.items()}
        site_audience = audience(principals, groups)
        allowed = narrow(ref.facts.get("audience", {}), site_audience, NOBODY)
        final = ("audience",) if allowed else ()
        return ref._replace(facts={**ref.facts, "audience": allowed}, final=final)


def ending_of(item: DriveFile) -> tuple[str, str]:
    """Return the ending that decides on the parser, and why the file is not read, or empty."""
    if item.kind in EXPORTS:
        return EXPORTS[item.kind][0], ""
    if item.kind.startswith(GOOGLE):
        return "", f"it is a {item.kind.removeprefix(GOOGLE)} of Google"
    ending = PurePosixPath(item.name).suffix.lower()
    if not is_document(item.name):
        ending = mimetypes.guess_extension(item.kind) or ending
    readable = is_document(f"file{ending}")
    return ending, "" if readable else why_unreadable(item.name)
