"""What a crawl remembers for the next one, and the bodies it keeps until they are read."""

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
"""Changes when the same answer gives other contents or links: what is remembered is then worth
nothing."""
LARGEST_STATE = 512 * 2**20
_NUMBERED = ("links", "following")
"""Fields of addresses, which are saved as numbers."""
MOST_KEPT = 2**30
"""Bytes of bodies on disk; what does not fit is fetched again when it is read."""


class FetchState(BaseModel):
    """One address, as it last answered."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str
    """Ending of the document; empty for what is only followed."""
    why: str = ""
    """Why it is no document, where somebody might take it for one."""
    etag: str = ""
    modified: str = ""
    digest: str = ""
    """Of what `read` would return."""
    size: int = 0
    listed: bool = True
    canonical: str = ""
    links: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    """Where the page goes on: the next pages of a series, and its frames."""
    asks_password: bool = False

    @property
    def conditions(self) -> dict[str, str]:
        """Headers that ask for the body only if it has changed."""
        asked = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in asked.items() if value}


class Memory:
    """A JSON file: addresses once, everything else by their number, for links repeat on every
    page."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, hosts: frozenset[str]) -> dict[str, FetchState]:
        """Empty when there is none that can be used; then everything is fetched anew.

        hosts: those links lead to; links to others are not remembered, so other hosts make it
        unusable as an answer to "not modified" but not as a memory of documents: their conditions
        are dropped."""
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
                pages[url] = _seen(row, urls, same_hosts)
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
        """All or nothing, also when the power fails."""
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
    """Bytes on disk between `list` and `read`; gone when the source is, or when the next crawl
    begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._left = MOST_KEPT
        self._gone = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._left = MOST_KEPT

    def keep(self, key: str, data: bytes) -> None:
        if len(data) > self._left:
            return
        # A full disk costs a second fetch, not the crawl.
        with contextlib.suppress(OSError):
            make_private_folder(self.folder)
            self._file(key).write_bytes(data)
            self._left -= len(data)

    def find(self, key: str, digest: str) -> bytes | None:
        """None when it is not there, or only a part of it."""
        try:
            data = self._file(key).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == digest else None

    def _file(self, key: str) -> Path:
        return self.folder / sha256(key.encode()).hexdigest()


def state_path(home: Path, name: str) -> Path:
    return home / ".ombud" / "sources" / f"{quote(name, safe='')}.json"


def _seen(row: Mapping[str, Any], urls: list[str], same_hosts: bool) -> FetchState:
    fields = dict(row)
    for name in _NUMBERED:
        fields[name] = tuple(urls[number] for number in fields[name])
    seen = FetchState(**fields)
    if same_hosts:
        return seen
    return seen.model_copy(update={"etag": "", "modified": ""})
