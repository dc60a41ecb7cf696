"""The words that documents have, for reading mistyped ones: kept in memory, for one version of the
index."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.errors import OmbudError
from ombud.index import Engine, Filter, blocking, is_process_ending, is_visible
from ombud.retrieve.strategies.thesaurus import everyday_words
from ombud.text import (
    SpellingChange,
    SpellingReading,
    Vocabulary,
    analyse,
    may_be_joined,
    message_language,
    read_spelling,
    spell_out,
    surface_words,
    unknown_words,
)
from ombud.types import Chunk, Message, Person, Question

BATCH = 500
"""Chunks that are read at once."""
MOST_READ = 10
"""Passages in which a word is looked for as it was typed."""
LONGEST_WAIT = 2.0
"""Seconds that a question waits for the words; one that comes before they are there is answered as
it was typed."""
EVERYONE = Filter(countries=None, reader=Person())
"""What everyone may read, in any country and on any day: no word of a document for few is ever
proposed."""
_NOTHING = Vocabulary({})


class KnownWords:
    """Words of an index. They are read when a question first needs them, in a thread of their own,
    and let go with the first that comes after the index has changed, so that a deleted document
    leaves none behind."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._building: _Building | None = None

    def read(self, text: str, where: Filter) -> SpellingReading:
        """The text as it was meant; as it is where nothing is mistyped, or nothing known yet."""
        if not (unknown_words(text, _NOTHING) or may_be_joined(text)):
            return SpellingReading(text)
        vocabulary = self.vocabulary()
        if vocabulary is None:
            return SpellingReading(text)
        right = everyday_words()
        reading = read_spelling(text, vocabulary, right)
        typed = {word.lower() for change in reading.changes for word in change.typed.split()}
        kept = self._held(sorted(typed), where)
        return read_spelling(text, vocabulary, right | kept) if kept else reading

    def vocabulary(self, seconds: float = LONGEST_WAIT) -> Vocabulary | None:
        """Of the index as it is now; None where it is not ready in so many seconds."""
        version = self._engine.version()
        with self._lock:
            if self._building is None or self._building.version != version:
                self._building = _Building(self._engine, version)
                self._building.start()
            building = self._building
        building.done.wait(seconds)
        return building.vocabulary

    def _held(self, words: Sequence[str], where: Filter) -> frozenset[str]:
        """Those that stand in a document which the asker may read, such as one for few: they are
        right, whatever everyone's documents say."""
        terms_of = {word: analyse(word) for word in words}
        terms = [term for terms in terms_of.values() for term in terms]
        if not terms:
            return frozenset()
        holders = blocking(self._engine.stats(terms)).documents_with
        held: set[str] = set()
        for word, own in terms_of.items():
            # Stemmed, so a slip may be what a document has: only the word itself counts.
            if any(map(holders.get, own)) and self._reads(word, own, where):
                held.add(word)
        return frozenset(held)

    def _reads(self, word: str, terms: Sequence[str], where: Filter) -> bool:
        legs = blocking(self._engine.search(" ".join(terms), None, where, MOST_READ, "sparse"))
        for leg in legs:
            for chunk, _ in leg.hits:
                if word in _words_of(chunk):
                    return True
        return False


class QuestionReading(NamedTuple):
    question: Question
    """As it was meant, what the asker said before too."""
    changes: tuple[SpellingChange, ...] = ()
    """Of the question alone."""


def read_question(
    question: Question, where: Filter, known_words: KnownWords | None
) -> QuestionReading:
    """A question without its mistyped words and with its short forms spelled out; in another
    language than English none are known."""
    if known_words is None or message_language(question.text) != "en":
        return QuestionReading(question)
    reading = known_words.read(spell_out(question.text), where)
    history: list[Message] = []
    for message in question.history:
        if message.role == "user":
            meant = known_words.read(spell_out(message.content), where).text
            message = message.model_copy(update={"content": meant})
        history.append(message)
    update = {"text": reading.text, "history": tuple(history)}
    return QuestionReading(question.model_copy(update=update), reading.changes)


class _Building(threading.Thread):
    """Reads the words of one version."""

    def __init__(self, engine: Engine, version: str) -> None:
        super().__init__(name="known-words", daemon=True)
        self._engine = engine
        self.version = version
        self.vocabulary: Vocabulary | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.vocabulary = self._read()
        except OmbudError:
            # Read again with the next version; until then questions are taken as typed.
            self.vocabulary = None
        except RuntimeError:
            if not is_process_ending():
                raise
        finally:
            self.done.set()

    def _read(self) -> Vocabulary | None:
        counts: Counter[str] = Counter()
        ids = blocking(self._engine.chunk_ids())
        for start in range(0, len(ids), BATCH):
            if self._engine.version() != self.version:
                return None
            chunks = blocking(self._engine.get(ids[start : start + BATCH]))
            for chunk in chunks.values():
                if is_visible(chunk, EVERYONE):
                    counts.update(_words_of(chunk))
        vocabulary = Vocabulary(counts)
        vocabulary.near("warm", 1)
        return vocabulary


def _words_of(chunk: Chunk) -> Iterator[str]:
    parts: Sequence[str] = (chunk.title, *chunk.trail, chunk.header, chunk.text)
    return surface_words(" ".join(parts).lower())
