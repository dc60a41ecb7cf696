"""Who parses untrusted files: a process that can be killed, so that whatever a file does to it
costs that file only.

Where the files are trusted, this process itself: it loads no parsers anew, and nothing protects it.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import weakref
from types import TracebackType
from typing import Any, Protocol, Self

from ombud.documents.parsing import parse_untrusted
from ombud.errors import SourceError
from ombud.settings import DocumentSettings
from ombud.types import Document

_STARTING = 30
"""Seconds on top of the limit for the first document of a process, which loads the parsers."""
_PIECE = 1 << 16
_LARGEST_ANSWER = 1 << 30


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
        request = b"".join(
            len(m).to_bytes(8, "big") + m for m in (facts.model_dump_json().encode(), data)
        )
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

    def _ask(self, request: bytes) -> bytes:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._start()
        process = self._process
        assert process is not None  # noqa: S101 - for the type checker
        deadline = time.monotonic() + self.settings.seconds + (0 if self._parsed else _STARTING)
        try:
            return _exchange(process, request, deadline)
        except TimeoutError as late:
            raise SourceError(
                f"Reading the file took longer than {self.settings.seconds:g} seconds.",
                hint="Split it, or raise [documents] seconds.",
            ) from late
        except EOFError as gone:
            raise SourceError(
                f"The file crashed its parser ({_cause(process.wait())}).",
                hint="Open it in its program and save it again.",
            ) from gone

    def _start(self) -> None:
        limits = [
            str(self.settings.memory_mb),
            str(self.settings.seconds + _STARTING),
            str(self.settings.pages),
        ]
        # Every thread's arena counts against RLIMIT_AS; on a large machine there would be hundreds.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "2", "RAYON_NUM_THREADS": "2",
                       "TOKIO_WORKER_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ombud.documents.child", *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            # A group of its own: what it has started, such as OCR, ends with it.
            start_new_session=True,
        )
        self._finalize = weakref.finalize(self, _end, self._process)
        self._parsed = 0

    def _stop(self) -> None:
        if self._finalize:
            self._finalize()
        self._process = self._finalize = None


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


def _exchange(process: subprocess.Popen[bytes], request: bytes, deadline: float) -> bytes:
    """Write the request and read the answer; raises TimeoutError, or EOFError when the process is
    gone."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    into, out = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(into, False)
    os.set_blocking(out, False)
    rest, answer = memoryview(request), bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(into, selectors.EVENT_WRITE)
        ready.register(out, selectors.EVENT_READ)
        while len(answer) < 8 or len(answer) < 8 + int.from_bytes(answer[:8], "big"):
            left = deadline - time.monotonic()
            events = ready.select(left) if left > 0 else []
            if not events:
                raise TimeoutError
            for key, _ in events:
                if key.fd == out:
                    answer += _read(out)
                elif not (rest := _write(into, rest)):
                    ready.unregister(into)
            if len(answer) > _LARGEST_ANSWER:
                raise EOFError
    return bytes(answer[8:])


def _read(pipe: int) -> bytes:
    try:
        piece = os.read(pipe, _PIECE)
    except BlockingIOError:
        return b""
    if not piece:
        raise EOFError
    return piece


def _write(pipe: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(pipe, rest[:_PIECE]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError as gone:
        raise EOFError from gone


def _cause(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if -code in {signal.SIGABRT, signal.SIGKILL}:
        return f"{signal.Signals(-code).name}, probably out of memory"
    return signal.Signals(-code).name


def _unwrap(answer: bytes) -> Document:
    try:
        told = json.loads(answer)
        if "error" in told:
            raise SourceError(str(told["error"]), hint=str(told.get("hint", "")))
        return Document.model_validate(told["document"], strict=False)
    except (ValueError, KeyError, TypeError) as wrong:
        raise SourceError(
            "The file crashed its parser (unreadable answer).", hint="Report this file."
        ) from wrong
