"""The worker survives what files do to its process, and leaves nothing behind."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ombud.documents import Chunking, Worker, parse
from ombud.documents.pipes import framed
from ombud.errors import SourceError
from ombud.settings import DocumentSettings, IndexSettings
from ombud.types import Document

from .hostile import FILES, LONG_TEXTS, drawn_pdf, good_pdf

CALM = DocumentSettings(seconds=30, memory_mb=2048)

HEAVY = {"flate.pdf", "form.pdf", "rows.csv", "bomb.docx", "bomb.xlsx", "bomb.pptx", "bomb.odt"}
"""These take seconds, as they are meant to."""


def facts(uri: str) -> Document:
    return Document(id="0123456789abcdef", source="s", uri=uri, title="", language="")


def pid(worker: Worker) -> int:
    assert worker._process
    return worker._process.pid


def is_gone(process: int) -> bool:
    """Ended and reaped: not even a zombie has the number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def shared() -> Iterator[Worker]:
    with Worker(CALM) as worker:
        yield worker


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in HEAVY)) for name in FILES]
)
def test_a_hostile_file_costs_one_clear_error(shared: Worker, name: str) -> None:
    with pytest.raises(SourceError) as wrong:
        shared.parse(FILES[name](), facts(name))
    assert str(wrong.value).endswith(".")
    assert "\n" not in str(wrong.value)
    assert wrong.value.hint
    assert shared.parse(good_pdf(), facts("good.pdf")).text == "Leave is asked for in writing."


def test_it_returns_what_parse_returns(shared: Worker) -> None:
    data = (
        "# Urlaub\n\nBeschäftigte haben Anspruch auf dreißig Tage Urlaub.\n\n| a | b |\n"
        "|--|--|\n| 1 | 2 |\n"
    ).encode()
    assert shared.parse(data, facts("urlaub.md")) == parse(data, facts("urlaub.md"))


def test_a_document_larger_than_a_pipe(shared: Worker) -> None:
    data = ("Leave is asked for in writing by everybody.\n\n" * 100_000).encode()
    assert len(shared.parse(data, facts("long.txt")).blocks) == 100_000


def test_a_late_document_is_given_up_and_the_next_one_parses() -> None:
    with Worker(DocumentSettings(seconds=0.2)) as worker:
        worker.parse(b"Text", facts("a.txt"))
        first = pid(worker)
        with pytest.raises(SourceError, match=r"longer than 0\.2 seconds"):
            worker.parse(b"<p>" * 2 + b"<p>Some words.</p>" * 1_500_000, facts("b.html"))
        assert is_gone(first)
        assert worker.parse(b"Text", facts("a.txt")).text == "Text"


def test_a_text_that_takes_too_long_to_cut_is_given_up_and_the_next_one_is_cut() -> None:
    long = Document(id="d", source="s", uri="a.txt", title="", text="Leave is paid. " * 200_000)
    short = long.model_copy(update={"text": "Leave is paid."})
    chunking = Chunking(IndexSettings(), count=len)
    with Worker(DocumentSettings(seconds=0.2)) as worker:
        with pytest.raises(SourceError, match=r"longer than 0\.2 seconds"):
            worker.cut(long, chunking)
        assert [chunk.text for chunk in worker.cut(short, chunking).chunks] == ["Leave is paid."]


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_a_long_text_without_structure_is_read_within_the_limits(shared: Worker, name: str) -> None:
    contents = shared.read(
        LONG_TEXTS[name](), facts(name), Chunking(IndexSettings(), lambda text: len(text.split()))
    )
    assert contents.chunks


def test_the_first_document_of_a_process_has_no_more_time_than_the_others() -> None:
    with Worker(DocumentSettings(seconds=0.2)) as worker:
        with pytest.raises(SourceError, match=r"longer than 0\.2 seconds"):
            worker.parse(b"<p>Some words.</p>" * 1_500_000, facts("b.html"))
        assert worker.parse(b"Text", facts("a.txt")).text == "Text"


def test_a_process_that_died_is_replaced() -> None:
    with Worker(CALM) as worker:
        worker.parse(b"Text", facts("a.txt"))
        first = pid(worker)
        os.kill(first, signal.SIGKILL)
        assert worker._process
        worker._process.wait()
        assert worker.parse(b"Text", facts("a.txt")).text == "Text"
        assert pid(worker) != first
        assert is_gone(first)


def test_too_little_memory_is_an_error_of_the_document() -> None:
    with Worker(DocumentSettings(memory_mb=400)) as worker:
        with pytest.raises(SourceError):
            worker.parse(("<p>word " * 4_000_000).encode(), facts("big.html"))
        assert worker.parse(b"Text", facts("a.txt")).text == "Text"


def test_the_process_is_recycled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ombud.documents.worker.RECYCLE_AFTER", 2)
    with Worker(DocumentSettings()) as worker:
        worker.parse(b"One", facts("a.txt"))
        first = pid(worker)
        worker.parse(b"Two", facts("a.txt"))
        worker.parse(b"Three", facts("a.txt"))
        assert pid(worker) != first
        assert is_gone(first)


def test_limits_of_size_and_pages() -> None:
    with Worker(DocumentSettings(size_mb=1, pages=2)) as worker:
        with pytest.raises(SourceError, match="2 MB; the limit is 1"):
            worker.parse(b"x" * 2 * 2**20, facts("a.txt"))
        with pytest.raises(SourceError, match="3,000 pages; the limit is 2"):
            worker.parse(FILES["many-pages.pdf"](), facts("a.pdf"))


def test_nothing_is_left_when_it_closes() -> None:
    with Worker(CALM) as worker:
        worker.parse(b"Text", facts("a.txt"))
        process = pid(worker)
    assert is_gone(process)
    worker.close()


def test_nothing_is_left_when_it_is_forgotten() -> None:
    worker = Worker(CALM)
    worker.parse(b"Text", facts("a.txt"))
    process = pid(worker)
    del worker
    assert is_gone(process)


def test_the_child_ends_with_its_parent() -> None:
    code = (
        "import os; from ombud.documents import Worker;"
        "from ombud.settings import DocumentSettings;"
        "from ombud.types import Document; w = Worker(DocumentSettings());"
        "w.parse(b'Text', Document(id='x', source='s', uri='a.txt', title=''));"
        "print(w._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    # The child holds no end of this pipe but standard error; reading to its end waits for both.
    read, write = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=(write,)
    )
    os.close(write)
    with parent, os.fdopen(read, "rb") as alive:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert alive.read() == b""
    assert child > 0


def test_threads_take_turns(shared: Worker) -> None:
    texts: dict[int, str] = {}

    def read(number: int) -> None:
        texts[number] = shared.parse(f"Document {number}".encode(), facts("a.txt")).text

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: f"Document {number}" for number in range(8)}


def test_what_the_parser_has_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "read")
    program = tmp_path / "tesseract"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --list-langs ] && { echo Languages; echo eng; exit; }\n'
        f"exec 3<{tmp_path}/read; cat <&3\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Worker(DocumentSettings(seconds=3)) as worker:
        worker.parse(b"Text", facts("a.txt"))
        # Both ends are open here until the program has its own.
        both = os.open(tmp_path / "read", os.O_RDWR)
        with pytest.raises(SourceError, match="longer than 3 seconds"):
            worker.parse(drawn_pdf(), facts("scan.pdf"))
        write = os.open(tmp_path / "read", os.O_WRONLY)
        os.close(both)
        # The pipe is broken once nobody is left to read it.
        waiting = select.poll()
        waiting.register(write, 0)
        assert waiting.poll(30_000)
        os.close(write)


def test_what_a_parser_prints_does_not_reach_the_answer(tmp_path: Path) -> None:
    code = (
        "import os, sys; from ombud.documents import child\n"
        "sys.argv = ['', '2048', '30', '30', '10']; child.main()"
    )
    noisy = (
        "import os; import ombud.documents.plain as p; r = p.read\n"
        "p.read = lambda d, n: (print('noise'), os.write(1, b'noise'), r(d, n))[2]\n"
    )
    order = {"facts": facts("a.txt").model_dump(mode="json"), "index": None, "is_parsed": False}
    out = subprocess.run(
        [sys.executable, "-c", noisy + code],
        input=framed(json.dumps(order).encode()) + framed(b"Text"),
        capture_output=True,
        check=True,
        cwd=tmp_path,
    ).stdout
    ready, answer = out[:8], out[8:]
    assert int.from_bytes(ready, "big") == 0
    assert int.from_bytes(answer[:8], "big") == len(answer) - 8
    assert b"noise" not in out
