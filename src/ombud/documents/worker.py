"""Who parses untrusted files: a process that can be killed, so that whatever a file does to it
costs that file only.

Where the files are trusted, this process itself: it loads no parsers anew, and nothing protects it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from ombud.documents.parsing import parse_untrusted
from ombud.documents.pipes import exchange, framed
from ombud.errors import SourceError
from ombud.settings import DocumentSettings
from ombud.types import Document

_STARTING = 30
"""Seconds in which a process must have started and loaded the parser of a document; the limit per
document begins after that, and so is the same for the first one."""
_FEW_THREADS = {
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "2",
    "RAYON_NUM_THREADS": "2",
    "TOKIO_WORKER_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Every thread's arena counts against RLIMIT_AS; on a large machine there would be hundreds."""


class DocumentParser(Protocol):
    """Makes a `Document` of bytes, file after file; safe to share between threads."""

    def warm(self) -> None:
        """Get ready for the first file, without waiting for it."""

    def parse(self, data: bytes, facts: Document) -> Document:
        """As `ombud.documents.parse`; every failure is a SourceError and costs this file only."""

    def close(self) -> None:
        """Let go of what it holds."""


def open_parsers(settings: DocumentSettings) -> list[DocumentParser]:
    """As many as can parse at once: `processes` of them, or the one of this process where that
    is 0."""
    if settings.processes == 0:
        return [InlineParser(settings)]
    return [Worker(settings) for _ in range(settings.processes)]


class InlineParser:
    """Parses in this process. Of the limits only those of size and pages hold: a file that crashes
    or hangs a parser takes the process with it."""

    _turn = threading.Lock()
    """One document at a time in the whole process: PDFium and some others know nothing of
    threads."""

    def __init__(self, settings: DocumentSettings) -> None:
        self.settings = settings

    def warm(self) -> None:
        """Nothing to start."""

    def parse(self, data: bytes, facts: Document) -> Document:
        _check_size(data, self.settings)
        with self._turn:
            return parse_untrusted(data, facts, self.settings.pages)

    def close(self) -> None:
        """Nothing to end."""


class _Request(NamedTuple):
    """What the process is sent, framed: once it has answered to the facts, it is ready."""

    facts: bytes
    data: bytes


class Worker:
    """Parses documents in one process at a time; safe to share between threads, which then take
    turns.

    The process starts with the first document, or with `warm`, is replaced after `recycle` of them,
    and is killed when one takes longer than `seconds`. Use as a context manager, or call `close`.
    """

    def __init__(self, settings: DocumentSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._parsed = 0
        self._finalize: weakref.finalize[..., Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process. The worker stays usable: the next document starts another."""
        with self._lock:
            self._stop()

    def warm(self) -> None:
        """Start the process now, so that it has loaded the parsers when the first document comes.
        Does not wait."""
        with self._lock:
            if self._process is None:
                self._start()

    def parse(self, data: bytes, facts: Document) -> Document:
        """As `ombud.documents.parse`; every failure, of the process too, is a SourceError and costs
        this file only."""
        _check_size(data, self.settings)
        request = _Request(framed(facts.model_dump_json().encode()), framed(data))
        with self._lock:
            try:
                answer = self._ask(request)
            except BaseException:
                # Half a conversation is no use to the next document; Ctrl-C comes through here too.
                self._stop()
                raise
            self._parsed += 1
            if self._parsed >= self.settings.recycle:
                self._stop()
        return _unwrap(answer)

    def _ask(self, request: "_Request") -> bytes:
        process = self._running()
        try:
            exchange(process, request.facts, time.monotonic() + _STARTING)
            return exchange(process, request.data, time.monotonic() + self.settings.seconds)
        except TimeoutError as error:
            raise SourceError(
                f"Reading the file took longer than {self.settings.seconds:g} seconds.",
                hint="Split it, or raise [documents] seconds.",
            ) from error
        except EOFError as error:
            raise SourceError(
                f"The file crashed its parser ({_cause(process.wait())}).",
                hint="Open it in its program and save it again.",
            ) from error

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, a new one where there is none or it has ended."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        return self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        limits = [
            str(self.settings.memory_mb),
            str(self.settings.seconds),
            str(_STARTING),
            str(self.settings.pages),
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "ombud.documents.child", *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_FEW_THREADS},
            # A group of its own: what it has started, such as OCR, ends with it.
            start_new_session=True,
        )
        self._process = process
        self._finalize = weakref.finalize(self, _end, process)
        self._parsed = 0
        return process

    def _stop(self) -> None:
        if self._finalize:
            self._finalize()
        self._process = None
        self._finalize = None


def _check_size(data: bytes, settings: DocumentSettings) -> None:
    if len(data) > settings.size_mb * 2**20:
        raise SourceError(
            f"The file has {len(data) / 2**20:,.0f} MB; the limit is {settings.size_mb}.",
            hint="Split it, or raise [documents] size_mb.",
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap; no process and no pipe is left."""
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    process.wait()


def _cause(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if -code in {signal.SIGABRT, signal.SIGKILL}:
        return f"{signal.Signals(-code).name}, probably out of memory"
    return signal.Signals(-code).name


def _unwrap(answer: bytes) -> Document:
    """The document of an answer; raises the SourceError that it tells of."""
    try:
        content = json.loads(answer)
        if "error" in content:
            raise SourceError(str(content["error"]), hint=str(content.get("hint", "")))
        return Document.model_validate(content["document"], strict=False)
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(
            "The file crashed its parser (unreadable answer).", hint="Report this file."
        ) from error
