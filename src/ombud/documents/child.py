"""The parser process: reads requests from standard input, answers on standard output, until the
input closes.

Run as `python -m ombud.documents.child MEMORY_MB SECONDS STARTING PAGES`. A request is two
messages: the facts as JSON, answered by an empty one as soon as their parser is loaded, and the
file, answered by JSON with either `document` or `error` and `hint`."""

import json
import os
import resource
import signal
import sys
import warnings
from importlib import import_module

from ombud.documents.pipes import receive, send

GRACE = 5
"""Seconds that the parent has to kill a process that is late, before it does so itself."""


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
    # What a library prints must not end up in the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import_module("ombud.documents.parsing")  # before the first request, which may be a while
    while (facts := receive(requests)) is not None:
        # No handler: the kernel ends the process even when a library never comes back, and the
        # parent is gone.
        signal.setitimer(signal.ITIMER_REAL, starting + GRACE)
        _load(facts)
        send(answers, b"")
        data = receive(requests)
        if data is None:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        send(answers, _answer(facts, data, pages))
        signal.setitimer(signal.ITIMER_REAL, 0)


def _load(facts: bytes) -> None:
    """What every document needs, and the parser of this one; whether there is one is said later."""
    from ombud.documents.parsing import load_parser
    from ombud.types import Document

    load_parser(Document.model_validate_json(facts).uri)


def _answer(facts: bytes, data: bytes, pages: int) -> bytes:
    from ombud.documents.parsing import parse_untrusted
    from ombud.errors import OmbudError
    from ombud.types import Document

    try:
        document = parse_untrusted(data, Document.model_validate_json(facts), pages)
        return b'{"document":' + document.model_dump_json().encode() + b"}"
    except OmbudError as error:
        return json.dumps({"error": str(error), "hint": error.hint}).encode()


if __name__ == "__main__":
    main()
