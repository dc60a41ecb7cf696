"""Chunking by a regular expression (`pattern`): every match begins a chunk, such as each clause of
a contract.

The text before the first match is a chunk of its own. Pieces that are too long for a chunk are cut
between sentences. An expression that takes too long (`(a+)+b` may never end) fails the document."""

import re
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.documents.chunking.packing import Packer
from ombud.errors import BadSetting, SourceError
from ombud.settings import IndexSettings
from ombud.types import Document

SECONDS = 10.0
"""Most time for the matches of one document; real expressions take milliseconds."""

# Python's `re` cannot be stopped within a match, `regex` can; it is installed with the tokenizer of
# OpenAI's models.
_engine: Any = import_module("regex") if find_spec("regex") else re


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    text = document.text
    packer = Packer(document, settings.size, count)
    starts = {0, *match_starts(settings.pattern, text), len(text)}
    for start, end in pairwise(sorted(starts)):
        units = list(packer.units(start, end))
        yield from packer.piece(units)


def match_starts(pattern: str, text: str) -> Iterator[int]:
    """Find where matches begin."""
    compiled = compile_pattern(pattern)
    try:
        for match in find_within_seconds(compiled, text):
            yield match.start()
    except TimeoutError as error:
        raise SourceError(
            f"index.pattern takes more than {SECONDS:.0f} s on it.",
            hint="Repetitions inside of repetitions do that.",
        ) from error


def compile_pattern(pattern: str) -> Any:
    hint = "Such as '(?m)^§ ?[0-9]+' for lines that begin with a paragraph's number."
    if not pattern:
        raise BadSetting("The chunker `pattern` needs index.pattern, which is empty.", hint=hint)
    try:
        compiled = _engine.compile(pattern)
    except (_engine.error, OverflowError, RecursionError) as error:
        raise BadSetting(
            f"index.pattern = {pattern!r} is no regular expression: {error}.", hint=hint
        ) from error
    if compiled.search(""):
        raise BadSetting(
            f"index.pattern = {pattern!r} matches the empty text, so everywhere.", hint=hint
        )
    return compiled


def find_within_seconds(compiled: Any, text: str) -> Iterator[Any]:
    if _engine is not re:
        yield from compiled.finditer(text, timeout=SECONDS)
        return
    deadline = time.monotonic() + SECONDS
    for match in compiled.finditer(text):
        if time.monotonic() > deadline:
            raise TimeoutError
        yield match
