"""Opening a graph and its tokenizer, for whatever runs on onnxruntime here."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from ombud.errors import SetupError


def open_onnx(graph: Path, tokenizer: Path, *, what: str, hint: str) -> tuple[Any, Any]:
    """Open (InferenceSession, Tokenizer) from two files; raises SetupError. what: the model in a
    message, such as `embedding model`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a batch and several batches at a time: threads within a batch wait for each other,
    # which costs a fifth more time of the processor and, on a busy machine, makes a query five
    # times as slow.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:  # neither library has an error of its own to catch
        words = open_tokenizer(tokenizer, tokenizer.stat().st_mtime_ns)
        session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )
    except Exception as damaged:
        why = " ".join(str(damaged).split())[:200]
        raise SetupError(
            f"The {what} in {graph.parent} cannot be opened: {why}", hint=hint
        ) from damaged
    return session, words


@lru_cache(maxsize=4)
def open_tokenizer(file: Path, changed: int) -> Any:
    """Load and cache a tokenizer, which the embedder and the small reader share."""
    from tokenizers import Tokenizer

    del changed
    words = Tokenizer.from_file(str(file))
    # What the file says of length suits whoever exported it; we cut ourselves.
    words.no_truncation()
    words.no_padding()
    return words


def require_files(*files: Path, hint: str) -> None:
    """Raise SetupError for the first missing file."""
    for file in files:
        if not file.is_file():
            raise SetupError(f"{file} is missing.", hint=hint)
