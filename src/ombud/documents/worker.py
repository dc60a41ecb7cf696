"""Parse and cut untrusted files in a process that can be killed, so that a hostile file concerns
that file only; or trusted files in this process, which is faster and unprotected."""

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
RECYCLE_AFTER = 1000
"""Documents that a parser process reads before it is replaced: parsers leak memory."""
"""Seconds in which a process must start and load the parser of a document; the limit per document
begins after that, and so is the same for the first one."""
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
}
"""Settings that are sent to the process; others may contain passwords."""
_MODEL_CALLS = (b'{"count": ', b'{"embed": ')
_SETUP_ERRORS: dict[str, type[SetupError]] = {
    kind.__name__: kind for kind in (SetupError, BadSetting, UnknownName, MissingExtra)
}


class DocumentParser(Protocol):
    """Parses files into documents; safe to share between threads.

    Failures that a document causes are SourceErrors; a SetupError is an error of the settings."""

    def warm(self) -> None:
        """Prepare for the first file without waiting."""

    def parse(self, data: bytes, facts: Document) -> Document:
        """Parse as `ombud.documents.parse` does."""

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        """Parse and cut a file; attached files are returned without being parsed."""

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        """Cut a parsed document."""

    def close(self) -> None:
        """Release its resources."""


def open_parsers(settings: DocumentSettings) -> list[DocumentParser]:
    """Open as many parsers as there are `processes`, or one in this process if that is 0."""
    if settings.processes == 0:
        return [InlineParser(settings)]
    return [Worker(settings) for _ in range(settings.processes)]


class InlineParser:
    """Parses in this process. Only the limits of size and pages apply: a file that crashes or hangs
    a parser does so to this process."""

    _turn = threading.Lock()
    """One document at a time in the whole process, as PDFium and others are not thread-safe."""

    def __init__(self, settings: DocumentSettings) -> None:
        self.settings = settings

    def warm(self) -> None:
        """Do nothing, as there is no process."""

    def parse(self, data: bytes, facts: Document) -> Document:
        check_size(data, self.settings)
        with self._turn, untrusted(facts.uri):
            return parse(data, facts, self.settings.pages)

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        check_size(data, self.settings)
        with self._turn, untrusted(facts.uri):
            document, attached = parse_file(data, facts, self.settings.pages)
        return self.cut(document, chunking)._replace(attached=attached)

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        return document_contents(document, chunking)

    def close(self) -> None:
        """Do nothing, as there is no process."""


class _Request(NamedTuple):
    """The framed messages of a request: the data is sent once the order is answered."""

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
        """End the process; the next document starts another."""
        with self._lock:
            self._stop()

    def warm(self) -> None:
        """Start the process without waiting, so that it has loaded the parsers when the first
        document comes."""
        with self._lock:
            if self._process is None:
                self._start()

    def parse(self, data: bytes, facts: Document) -> Document:
        """Parse as `ombud.documents.parse` does; failures of the process are SourceErrors, too."""
        check_size(data, self.settings)
        answer = self._run(make_request(facts, data), None)
        with checked_answer():
            return Document.model_validate(unwrap_answer(answer)["document"], strict=False)

    def read(self, data: bytes, facts: Document, chunking: Chunking) -> DocumentContents:
        """Parse and cut a file in the process."""
        check_size(data, self.settings)
        return read_contents(self._run(make_request(facts, data, chunking), chunking))

    def cut(self, document: Document, chunking: Chunking) -> DocumentContents:
        """Cut a parsed document in the process."""
        facts = document.model_copy(update={"blocks": (), "text": ""})
        data = document.model_dump_json().encode()
        request = make_request(facts, data, chunking, is_parsed=True)
        return read_contents(self._run(request, chunking))

    def _run(self, request: "_Request", chunking: Chunking | None) -> bytes:
        with self._lock:
            try:
                answer = self._ask(request, chunking)
            except BaseException:
                # The next document cannot continue half a conversation; Ctrl-C comes here too.
                self._stop()
                raise
            self._parsed += 1
            if self._parsed >= RECYCLE_AFTER:
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
                reply, is_timed = call_model(answer, chunking)
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
                f"The file crashed its parser ({describe_exit(process.wait())}).",
                hint="Open it in its program and save it again.",
            ) from error

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process; start one if there is none or it has ended."""
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
            # A group of its own, so that its children, such as OCR, end with it.
            start_new_session=True,
        )
        self._process = process
        self._finalize = weakref.finalize(self, end_process, process)
        self._parsed = 0
        return process

    def _stop(self) -> None:
        if self._finalize:
            self._finalize()
        self._process = None
        self._finalize = None


def check_size(data: bytes, settings: DocumentSettings) -> None:
    if len(data) > settings.size_mb * 2**20:
        raise SourceError(
            f"The file has {len(data) / 2**20:,.0f} MB; the limit is {settings.size_mb}.",
            hint="Split it, or raise [documents] size_mb.",
        )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap a process, and close its pipes."""
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


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    if -code in {signal.SIGABRT, signal.SIGKILL}:
        return f"{signal.Signals(-code).name}, probably out of memory"
    return signal.Signals(-code).name


def make_request(
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


def call_model(message: bytes, chunking: Chunking) -> tuple[bytes, bool]:
    """Answer a call of the process, and tell whether its time counts against the document: counting
    does, a model does not."""
    call = json.loads(message)
    if "count" in call:
        return str(chunking.count(call["count"])).encode(), True
    if chunking.embed is None:
        raise EOFError
    vectors = np.asarray(chunking.embed(call["embed"]), np.float32)
    return vectors.tobytes(), False


def read_contents(answer: bytes) -> DocumentContents:
    with checked_answer():
        content = unwrap_answer(answer)
        document = Document.model_validate(content["document"], strict=False)
        chunks = [Chunk.model_validate(chunk, strict=False) for chunk in content["chunks"]]
        pairs = [(str(short), str(long)) for short, long in content["abbreviations"]]
        attached = [AttachedFile(name, b64decode(data)) for name, data in content["attached"]]
        return DocumentContents(document, chunks, pairs, tuple(attached))


@contextlib.contextmanager
def checked_answer() -> Iterator[None]:
    """Turn errors of reading an answer into SourceErrors."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            "The file crashed its parser (unreadable answer).", hint="Report this file."
        ) from error


def unwrap_answer(answer: bytes) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(answer)
    if "error" not in content:
        return content
    kind = _SETUP_ERRORS.get(content.get("setup", ""), SourceError)
    raise kind(str(content["error"]), hint=str(content.get("hint", "")))
