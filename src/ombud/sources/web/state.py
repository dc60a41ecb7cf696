"""The state that a crawl saves for the next one, and the bodies it stores until they are read."""

import contextlib
import json
import os
import shutil
import weakref
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from ombud.errors import SourceError
from ombud.private_files import make_private_folder

FORMAT = 2
"""Version of how answers are turned into contents and links; a saved state of another version is
discarded."""
LARGEST_STATE = 512 * 2**20
_NUMBERED = ("links", "following")
"""Fields of addresses, which are saved as numbers."""
MAX_BODY_BYTES = 2**30
"""Bytes of bodies on disk; those that do not fit are fetched again when they are read."""


class FetchState(BaseModel):
    """The last answer of one address."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str
    """File ending of the document; empty if only its links are followed."""
    why: str = ""
    """Why it is no document, if it could be taken for one."""
    etag: str = ""
    modified: str = ""
    digest: str = ""
    """Digest of what `read` would return."""
    size: int = 0
    listed: bool = True
    canonical: str = ""
    links: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    """Addresses at which the page continues: next pages of a series, and frames."""
    asks_password: bool = False

    @property
    def conditions(self) -> dict[str, str]:
        """Headers that request the body only if it has changed."""
        headers = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in headers.items() if value}


class Memory:
    """A JSON file of states. Addresses are stored once and referred to by number, as links repeat
    on every page."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, hosts: frozenset[str]) -> dict[str, FetchState]:
        """Load the states; without a usable file there are none, and everything is fetched again.

        hosts: hosts whose links are saved. If they have changed, a state cannot answer "not
        modified", as it lacks links, so its conditions are dropped."""
        try:
            if self.path.stat().st_size > LARGEST_STATE:
                return {}
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            if saved["format"] != FORMAT:
                return {}
            urls = saved["urls"]
            same_hosts = set(saved["hosts"]) == hosts
            pages: dict[str, FetchState] = {}
            for number, row in saved["pages"].items():
                url = urls[int(number)]
                pages[url] = load_state(row, urls, same_hosts)
            return pages
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
            ValidationError,
        ):
            return {}

    def save(self, pages: Mapping[str, FetchState], hosts: frozenset[str]) -> None:
        """Save the states, completely or not at all, even when the power fails."""
        numbers: dict[str, int] = {}

        def number_of(url: str) -> int:
            return numbers.setdefault(url, len(numbers))

        rows = {}
        for url, seen in pages.items():
            row = seen.model_dump(exclude_defaults=True)
            for name in _NUMBERED:
                row[name] = list(map(number_of, getattr(seen, name)))
            rows[str(number_of(url))] = row
        whole = {
            "format": FORMAT,
            "hosts": sorted(hosts),
            "urls": list(numbers),
            "pages": rows,
        }
        fresh = self.path.with_suffix(".new")
        try:
            make_private_folder(self.path.parent)
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(whole, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as failed:
            raise SourceError(
                f"{self.path} cannot be written: {failed.strerror}.", hint="Is the disk full?"
            ) from failed


class Bodies:
    """Bodies on disk between `list` and `read`, removed with the source or when the next crawl
    begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._left = MAX_BODY_BYTES
        self._gone = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._left = MAX_BODY_BYTES

    def keep(self, key: str, data: bytes) -> None:
        if len(data) > self._left:
            return
        # A full disk costs a second fetch, not the crawl.
        with contextlib.suppress(OSError):
            make_private_folder(self.folder)
            self._file(key).write_bytes(data)
            self._left -= len(data)

    def find(self, key: str, digest: str) -> bytes | None:
        """Read a body; None if it is missing or damaged."""
        try:
            data = self._file(key).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == digest else None

    def _file(self, key: str) -> Path:
        return self.folder / sha256(key.encode()).hexdigest()


def state_path(home: Path, name: str) -> Path:
    return home / ".ombud" / "sources" / f"{quote(name, safe='')}.json"


def load_state(row: Mapping[str, Any], urls: list[str], same_hosts: bool) -> FetchState:
    fields = dict(row)
    for name in _NUMBERED:
        fields[name] = tuple(urls[number] for number in fields[name])
    seen = FetchState(**fields)
    if same_hosts:
        return seen
    return seen.model_copy(update={"etag": "", "modified": ""})
