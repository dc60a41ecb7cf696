"""The parser process: reads requests from standard input and answers on standard output, until the
input closes.

Run as `python -m ombud.documents.child MEMORY_MB SECONDS STARTING PAGES`. A request is two
messages: the order as JSON, answered with an empty message once the parser is loaded, and the bytes
of the file or, for a parsed document, its JSON. The answer is JSON with either `document` or
`error` and `hint`; before it, the child may send `count` or `embed`, which the parent answers."""

import json
import os
import resource
import signal
import sys
import warnings
from base64 import b64encode
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from ombud.documents.pipes import receive, send

if TYPE_CHECKING:
    from ombud.documents.blocks import AttachedFile

GRACE = 5
"""Seconds after the limit at which the process ends itself if the parent has not killed it."""


def main() -> None:
    """Serve requests; limits are set before any parser is imported."""
    memory = int(sys.argv[1]) * 2**20
    seconds = float(sys.argv[2])
    starting = float(sys.argv[3])
    pages = int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    # The terminal's Ctrl-C is the parent's business.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = sys.stdin.buffer
    # Output of libraries must not end up in the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    models = _ParentModels(requests, answers, seconds)
    import_module("ombud.documents.parsing")  # before the first request, which may be a while
    while (message := receive(requests)) is not None:
        # No handler: the kernel ends the process even when a library hangs and the parent is gone.
        signal.setitimer(signal.ITIMER_REAL, starting + GRACE)
        order = json.loads(message)
        load_modules(order)
        send(answers, b"")
        data = receive(requests)
        if data is None:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        send(answers, make_answer(order, data, pages, models))
        signal.setitimer(signal.ITIMER_REAL, 0)


class _ParentModels:
    """Calls the embedder of the parent process: a model needs more memory than a document may
    use."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO, seconds: float) -> None:
        self._requests = requests
        self._answers = answers
        self._seconds = seconds

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return int(self._ask({"count": text}))

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts as unit vectors."""
        import numpy as np

        vectors = self._ask({"embed": list(texts)})
        return np.frombuffer(vectors, np.float32).reshape(len(texts), -1)

    def _ask(self, question: dict[str, Any]) -> bytes:
        send(self._answers, json.dumps(question).encode())
        reply = receive(self._requests)
        if reply is None:
            sys.exit()
        # The parent counts the seconds, without those of its models.
        signal.setitimer(signal.ITIMER_REAL, self._seconds + GRACE)
        return reply


def load_modules(order: dict[str, Any]) -> None:
    """Load the modules that every document needs, and the parser of this one."""
    from ombud.documents.contents import document_contents  # noqa: F401 - loaded, not called
    from ombud.documents.parsing import load_parser

    load_parser(order["facts"]["uri"])


def make_answer(order: dict[str, Any], data: bytes, pages: int, models: _ParentModels) -> bytes:
    from ombud.documents.parsing import parse_file, untrusted
    from ombud.errors import OmbudError, SetupError
    from ombud.types import Document

    attached: Sequence[AttachedFile] = ()
    try:
        with untrusted(order["facts"]["uri"]):
            if order["is_parsed"]:
                document = Document.model_validate_json(data)
            else:
                facts = Document.model_validate(order["facts"], strict=False)
                document, attached = parse_file(data, facts, pages)
    except OmbudError as error:
        return json.dumps({"error": str(error), "hint": error.hint}).encode()
    if order["index"] is None:
        return b'{"document":' + document.model_dump_json().encode() + b"}"
    try:
        with untrusted(document.uri):
            return make_contents(document, attached, order, models)
    except SetupError as error:
        # The settings are wrong, not the document.
        setup = type(error).__name__
        return json.dumps({"error": str(error), "hint": error.hint, "setup": setup}).encode()
    except OmbudError as error:
        return json.dumps({"error": str(error), "hint": error.hint}).encode()


def make_contents(
    document: Any, attached: Sequence["AttachedFile"], order: dict[str, Any], models: _ParentModels
) -> bytes:
    from ombud.documents.contents import Chunking, document_contents
    from ombud.settings import IndexSettings

    settings = IndexSettings.model_validate(order["index"])
    embed = models.embed if order["can_embed"] else None
    contents = document_contents(document, Chunking(settings, models.count, embed))
    chunks = [chunk.model_dump(mode="json") for chunk in contents.chunks]
    answer = {
        "document": document.model_dump(mode="json"),
        "chunks": chunks,
        "abbreviations": contents.abbreviations,
        "attached": [(file.name, b64encode(file.data).decode()) for file in attached],
    }
    return json.dumps(answer).encode()


if __name__ == "__main__":
    main()
