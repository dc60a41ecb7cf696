"""Messages through the pipes of a parser process: 8 bytes of length, big-endian, and the bytes."""

import os
import selectors
import subprocess
import time
from typing import BinaryIO

HEADER = 8
"""Bytes of the length."""
LARGEST_ANSWER = 1 << 30
"""Bytes; a process that announces more is broken."""
_PIECE = 1 << 16
"""Bytes that are written or read at a time."""


def framed(message: bytes) -> bytes:
    """Put the length of a message before it."""
    return len(message).to_bytes(HEADER, "big") + message


def receive(stream: BinaryIO) -> bytes | None:
    """Read the next message; None at the end of the stream."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    size = int.from_bytes(header, "big")
    message = stream.read(size)
    return message if len(message) == size else None


def send(stream: BinaryIO, message: bytes) -> None:
    stream.write(framed(message))
    stream.flush()


def exchange(process: subprocess.Popen[bytes], request: bytes, deadline: float) -> bytes:
    """Write framed messages to a process and read its answer, one message.

    deadline: by `time.monotonic`. Raises TimeoutError after it, EOFError if the process has
    ended."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    requests = process.stdin.fileno()
    answers = process.stdout.fileno()
    os.set_blocking(requests, False)
    os.set_blocking(answers, False)
    unsent = memoryview(request)
    answer = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(requests, selectors.EVENT_WRITE)
        ready.register(answers, selectors.EVENT_READ)
        while not is_complete(answer):
            for pipe in wait_for_pipes(ready, deadline):
                if pipe == answers:
                    answer += read_piece(answers)
                    continue
                unsent = write_piece(requests, unsent)
                if not unsent:
                    ready.unregister(requests)
            if len(answer) > LARGEST_ANSWER:
                raise EOFError
    return bytes(answer[HEADER:])


def is_complete(answer: bytearray) -> bool:
    if len(answer) < HEADER:
        return False
    size = int.from_bytes(answer[:HEADER], "big")
    return len(answer) >= HEADER + size


def wait_for_pipes(ready: selectors.BaseSelector, deadline: float) -> list[int]:
    """Wait for pipes that can be read or written; raises TimeoutError after the deadline."""
    seconds = deadline - time.monotonic()
    events = ready.select(seconds) if seconds > 0 else []
    if not events:
        raise TimeoutError
    return [key.fd for key, _ in events]


def read_piece(pipe: int) -> bytes:
    try:
        piece = os.read(pipe, _PIECE)
    except BlockingIOError:
        return b""
    if not piece:
        raise EOFError
    return piece


def write_piece(pipe: int, unsent: memoryview) -> memoryview:
    """Write a piece, and return the rest."""
    try:
        written = os.write(pipe, unsent[:_PIECE])
    except BlockingIOError:
        return unsent
    except BrokenPipeError as error:
        raise EOFError from error
    return unsent[written:]
