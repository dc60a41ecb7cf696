"""Spelling correction with the words of the documents that a person may read, which are counted
once for each version of the index."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from ombud.errors import OmbudError
from ombud.index import Engine, Filter, blocking, is_process_ending, is_visible
from ombud.retrieve.strategies.thesaurus import everyday_words
from ombud.text import (
    Corrected,
    Vocabulary,
    correct_spelling,
    message_language,
    surface_words,
    unknown_words,
)
from ombud.types import Chunk

BATCH = 500
"""Chunks that are read at once."""
MOST_COMBINATIONS = 8
"""Vocabularies in memory: one for each set of documents that somebody may read."""
LONGEST_WAIT = 2.0
"""Seconds that a question waits for the words to be counted; after that it stays as typed."""


class Vocabularies:
    """The words of an index. They are counted in a thread when a question first needs them, and
    dropped when the index has changed, so that a deleted document leaves no word behind."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._counting: _Counting | None = None

    def correct(self, text: str, where: Filter) -> Corrected:
        """Correct the typos of a text; unchanged while the vocabulary is still being counted. Only
        words of documents that the reader of `where` may read are proposed."""
        language = message_language(text)
        if not _unknown(text, language, _english()):
            return Corrected(text)
        groups = self._groups(LONGEST_WAIT)
        if groups is None:
            return Corrected(text)
        return groups.correct(text, where, language)

    def ready(self, seconds: float = LONGEST_WAIT) -> bool:
        """Wait up to `seconds` until the words of the present index are counted, and tell whether
        they are."""
        return self._groups(seconds) is not None

    def _groups(self, seconds: float) -> "_Groups | None":
        version = self._engine.version()
        with self._lock:
            if self._counting is None or self._counting.version != version:
                self._counting = _Counting(self._engine, version)
                self._counting.start()
            counting = self._counting
        counting.done.wait(seconds)
        return counting.groups


class _Groups:
    """Counts of words, apart for documents with the same readers, status and language."""

    def __init__(self) -> None:
        self._examples: list[Chunk] = []
        self._counts: list[Counter[str]] = []
        self._places: dict[tuple[str, str, str], int] = {}
        self._combined = lru_cache(maxsize=MOST_COMBINATIONS)(self.combine)

    def add(self, chunk: Chunk) -> None:
        readers = {key: sorted(values) for key, values in chunk.audience.items()}
        key = (repr(sorted(readers.items())), chunk.status, chunk.language)
        place = self._places.setdefault(key, len(self._examples))
        if place == len(self._examples):
            self._examples.append(chunk)
            self._counts.append(Counter())
        self._counts[place].update(words_of(chunk))

    def correct(self, text: str, where: Filter, language: str) -> Corrected:
        anywhere = where.model_copy(update={"countries": None, "as_of": None})
        places = range(len(self._examples))
        readable = [place for place in places if is_visible(self._examples[place], anywhere)]
        vocabulary = self._combined(tuple(readable), "en")
        proposed = vocabulary
        if language != "en":
            own = [place for place in readable if self._examples[place].language == language]
            if not own:
                return Corrected(text)
            proposed = self._combined(tuple(own), language)
        return correct_spelling(text, _unknown(text, language, vocabulary), proposed)

    def combine(self, places: Sequence[int], language: str) -> Vocabulary:
        counts: Counter[str] = Counter()
        for place in places:
            counts.update(self._counts[place])
        return Vocabulary(counts, with_english=language == "en")


class _Counting(threading.Thread):
    """Counts the words of one version of the index."""

    def __init__(self, engine: Engine, version: str) -> None:
        super().__init__(name="vocabularies", daemon=True)
        self._engine = engine
        self.version = version
        self.groups: _Groups | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.groups = self._count()
        except OmbudError:
            # Counted again with the next version; until then questions stay as typed.
            self.groups = None
        except RuntimeError:
            if not is_process_ending():
                raise
        finally:
            self.done.set()

    def _count(self) -> _Groups | None:
        _english()  # read here, so that no question waits for it
        groups = _Groups()
        ids = blocking(self._engine.chunk_ids())
        for start in range(0, len(ids), BATCH):
            if self._engine.version() != self.version:
                return None
            for chunk in blocking(self._engine.get(ids[start : start + BATCH])).values():
                groups.add(chunk)
        return groups


@cache
def _english() -> Vocabulary:
    return Vocabulary({})


def _unknown(text: str, language: str, vocabulary: Vocabulary) -> list[str]:
    words = unknown_words(text, language, vocabulary)
    return [word for word in words if word.lower() not in everyday_words()]


def words_of(chunk: Chunk) -> Iterator[str]:
    parts: Sequence[str] = (chunk.title, *chunk.trail, chunk.header, chunk.text)
    return surface_words(" ".join(parts).lower())
