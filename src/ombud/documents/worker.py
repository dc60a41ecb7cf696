"""The process that parses and cuts untrusted files: it can be killed, so that whatever a file does
to it costs that file only.

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
from base64 import b64decode
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ombud.documents.blocks import AttachedFile
from ombud.documents.contents import Chunking, DocumentContents, document_contents
from ombud.documents.parsing import parse, parse_file, untrusted
from ombud.documents.pipes import exchange, framed
from ombud.errors import BadSetting, MissingExtra, SetupError, SourceError, UnknownName
from ombud.settings import DocumentSettings
from ombud.types import Chunk, Document

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
_CHUNKER_SETTINGS = {
    "chunker",
    "chunk_tokens",
    "overlap_tokens",
    "pattern",
    "percentile",
    "window",
    "min_sentences",
}
"""What the process is told of the settings: the others may hold passwords."""
_MODEL_CALLS = (b'{"count": ', b'{"embed": ')
_SETUP_ERRORS: dict[str, type[SetupError]] = {
    kind.__name__: kind for kind in (SetupError, BadSetting, UnknownName, MissingExtra)
}


class DocumentParser(Protocol):
    """Makes documents of bytes, file after file; safe to share between threads.

    Every failure that a document causes is a SourceError and costs this document only; a SetupError
    is one of the settings."""

    def warm(self) -> None:
        """Get ready for the first file, without waiting for it."""

    def parse(self, data: bytes, facts: Document) -> Document:
        """Parse as `ombud.documents.parse` does."""

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        """Parse and cut; the files attached to it come along, unread."""

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        """Cut a document that was parsed before."""

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
        with self._turn, untrusted(facts.uri):
            return parse(data, facts, self.settings.pages)

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        _check_size(data, self.settings)
        with self._turn, untrusted(facts.uri):
            document, attached = parse_file(data, facts, self.settings.pages)
        return self.cut(document, chunking)._replace(attached=attached)

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        return document_contents(document, chunking)

    def close(self) -> None:
        """Nothing to end."""


class _Request(NamedTuple):
    """What the process is sent, framed: once it has answered to the order, it is ready."""

    order: bytes
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
        """Parse as `ombud.documents.parse` does; every failure, of the process too, is a
        SourceError and costs this file only."""
        _check_size(data, self.settings)
        answer = self._run(_request(facts, data), None)
        return _document(answer)

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        """Parse and cut, in the process."""
        _check_size(data, self.settings)
        return _contents(self._run(_request(facts, data, chunking), chunking))

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        """Cut a document that was parsed before, in the process."""
        facts = document.model_copy(update={"blocks": (), "text": ""})
        data = document.model_dump_json().encode()
        request = _request(facts, data, chunking, is_parsed=True)
        return _contents(self._run(request, chunking))

    def _run(self, request: "_Request", chunking: Chunking | None) -> bytes:
        with self._lock:
            try:
                answer = self._ask(request, chunking)
            except BaseException:
                # Half a conversation is no use to the next document; Ctrl-C comes through here too.
                self._stop()
                raise
            self._parsed += 1
            if self._parsed >= self.settings.recycle:
                self._stop()
        return answer

    def _ask(self, request: "_Request", chunking: Chunking | None) -> bytes:
        process = self._running()
        try:
            exchange(process, request.order, time.monotonic() + _STARTING)
            deadline = time.monotonic() + self.settings.seconds
            answer = exchange(process, request.data, deadline)
            while chunking and answer.startswith(_MODEL_CALLS):
                begun = time.monotonic()
                reply, is_timed = _call_model(answer, chunking)
                if not is_timed:
                    deadline += time.monotonic() - begun
                answer = exchange(process, framed(reply), deadline)
            return answer
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


def _request(
    facts: Document, data: bytes, chunking: Chunking | None = None, *, is_parsed: bool = False
) -> _Request:
    index = chunking.settings.model_dump(include=_CHUNKER_SETTINGS) if chunking else None
    order = {
        "facts": facts.model_dump(mode="json"),
        "index": index,
        "can_embed": chunking is not None and chunking.embed is not None,
        "is_parsed": is_parsed,
    }
    return _Request(framed(json.dumps(order).encode()), framed(data))


def _call_model(message: bytes, chunking: Chunking) -> tuple[bytes, bool]:
    """The reply to a call of the process, and whether it counts against the document's seconds:
    counting does, a model does not."""
    call = json.loads(message)
    if "count" in call:
        return str(chunking.count(call["count"])).encode(), True
    if chunking.embed is None:
        raise EOFError
    vectors = np.asarray(chunking.embed(call["embed"]), np.float32)
    return vectors.tobytes(), False


def _document(answer: bytes) -> Document:
    with _checked_answer():
        return Document.model_validate(_unwrap(answer)["document"], strict=False)


def _contents(answer: bytes) -> DocumentContents:
    with _checked_answer():
        content = _unwrap(answer)
        document = Document.model_validate(content["document"], strict=False)
        chunks = [Chunk.model_validate(chunk, strict=False) for chunk in content["chunks"]]
        pairs = [(str(short), str(long)) for short, long in content["abbreviations"]]
        attached = [AttachedFile(name, b64decode(data)) for name, data in content["attached"]]
        return DocumentContents(document, chunks, pairs, tuple(attached))


@contextlib.contextmanager
def _checked_answer() -> Iterator[None]:
    """Around reading an answer: one that cannot be read is a SourceError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            "The file crashed its parser (unreadable answer).", hint="Report this file."
        ) from error


def _unwrap(answer: bytes) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(answer)
    if "error" not in content:
        return content
    kind = _SETUP_ERRORS.get(content.get("setup", ""), SourceError)
    raise kind(str(content["error"]), hint=str(content.get("hint", "")))
