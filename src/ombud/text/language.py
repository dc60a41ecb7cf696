"""Which language a text is in."""

import os
import re
import threading
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from ombud.cache import user_cache
from ombud.text.analysis import fold
from ombud.text.wording import plain_wording

LIKELY = (
    "ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "nl", "no",
    "pl", "pt", "ro", "ru", "sv", "tr", "uk", "zh",
)  # fmt: skip
"""Languages that policies are likely to be in; a short text is easily taken for Latin or Esperanto
otherwise."""
SHORTEST = 20
"""Letters below which a guess is worth less than the fall-back."""
LOOKED_AT = 2000
"""Characters that are counted."""
FEW_WORDS = 20
"""Different words of a document below which its letters alone do not tell its language."""
SURE = 11.5
"""Logarithm of how much likelier than English a language must be to be taken for that of a
message. Of 6,458 messages those from here to 14 are in another one, as "bin krank" is; keys that
were struck, "sdlfkj wer sdf", are at 11.1."""
DETECTED_BY_WORDS = ("de", "es", "fr", "it", "nl", "pl", "pt")
"""Languages with a list of common words."""
WORD_WEIGHT = 6.0
"""What a common word of one language, not of the other, is worth; a message with none is doubted by
as much."""
UNTOLD = 30.0
"""What a language without a list must be likelier still: keys struck at random look Swedish."""
_LATIN = "\u024f"
"""Last letter of the extended Latin alphabets."""
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019`][^\W\d_]+)*")
_KANA = re.compile("[\u3040-\u30ff]")
_lock = threading.Lock()


def detect_language(text: str, otherwise: str = "en") -> str:
    """Return the ISO 639-1 code of the language of `text`, or `otherwise` if it is too short to
    tell."""
    beginning = text[:LOOKED_AT]
    letters = sum(map(str.isalpha, beginning))
    kana = len(_KANA.findall(beginning))
    if kana and 10 * kana >= letters:  # a page that only mentions a Japanese word has fewer
        return "ja"
    if letters < SHORTEST:
        return otherwise
    return _placed(text[:5000])


def document_language(text: str) -> str:
    """Return the language of a document by each of its words once, for cells of a table repeat;
    one of few words is in English unless it is surely not."""
    words = dict.fromkeys(_WORD.findall(fold(text)))
    joined = " ".join(words)
    return detect_language(joined) if len(words) >= FEW_WORDS else message_language(joined)


@lru_cache(maxsize=256)
def _placed(text: str) -> str:
    """Cache the ranking, because several steps ask about the same question."""
    language, _ = _ranked(text)[0]
    return language


@lru_cache(maxsize=256)
def _ranked(text: str) -> tuple[tuple[str, float], ...]:
    """Return languages with their log-likelihood, likeliest first."""
    with _lock:
        ranked = _identifier().rank(text)
    return tuple((str(language), float(score)) for language, score in ranked)


def language_margin(text: str) -> float:
    """Return how much likelier the language of a text is than any other; 1 or more is certain."""
    first, second = _ranked(text[:5000])[:2]
    return (first[1] - second[1]) / SURE


# A message of a few words ----------------------------------------------------------------------


@lru_cache(maxsize=256)
def message_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of a message, however short; English in doubt. It
    is decided by letters (py3langid) and common words."""
    beginning = text[:LOOKED_AT]
    letters = list(filter(str.isalpha, beginning))
    if not letters:
        return "en"
    if 2 * sum(letter <= _LATIN for letter in letters) < len(letters):
        return detect_language(beginning, _placed(beginning))
    scores = against_english(beginning)
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= SURE else "en"


def against_english(text: str) -> dict[str, float]:
    """Return each language's log-likelihood ratio to English."""
    ranked = dict(_ranked(text))
    words = set(_WORD.findall(plain_wording(fold(text))))
    english = words & _common_words("en")
    scores: dict[str, float] = {}
    for language in LIKELY:
        score = ranked[language] - ranked["en"]
        if language in DETECTED_BY_WORDS:
            common = words & _common_words(language) - _common_words("en")
            against = english - _common_words(language)
            without = int(not common)
            score += WORD_WEIGHT * (len(common) - len(against) - without)
        else:
            score -= UNTOLD
        scores[language] = score
    scores["en"] = 0.0
    return scores


@lru_cache
def _common_words(language: str) -> frozenset[str]:
    path = Path(__file__).parent / "common_words" / f"{language}.txt"
    return frozenset(fold(path.read_text(encoding="utf-8")).split())


def common_words(language: str) -> frozenset[str]:
    """Return function words without accents; none for a language without a list."""
    return _common_words(language) if language in DETECTED_BY_WORDS else frozenset()


# Its model --------------------------------------------------------------------------------------


@lru_cache
def _identifier() -> Any:
    """Load py3langid for LIKELY. Its 68 MB model takes long to decompress, so the first process
    writes it to the user's cache as it lies in memory."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    packed = MODEL_DIR / MODEL_FILE
    form = crc32(",".join(LIKELY).encode(), crc32(packed.read_bytes()))
    cached = user_cache() / f"languages-{form:08x}.npy"
    try:
        return _opened(cached)
    except (OSError, ValueError, EOFError):  # not there yet, or only in part
        identifier = _unpacked(packed)
        with suppress(OSError):
            _keep(identifier, cached)
        return identifier


def _unpacked(packed: Path) -> Any:
    from py3langid.langid import LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(packed)
    identifier.set_languages(list(LIKELY))
    return identifier


def _opened(cached: Path) -> Any:
    """Load what `_keep` has written. The largest array is memory-mapped, so that processes share
    it."""
    import numpy as np
    from py3langid.langid import LanguageIdentifier

    with cached.open("rb") as file:
        weights, base, classes, row, output, size = (np.load(file) for _ in range(6))
        moves: Any = np.memmap(file, np.uint8, "r", file.tell(), tuple(size))
    return LanguageIdentifier(
        weights,
        base,
        classes.tolist(),
        memoryview(moves).cast("I"),
        output.tolist(),
        tk_row=row.tolist(),
    )


def _keep(identifier: Any, cached: Path) -> None:
    import numpy as np

    moves = np.asarray(identifier.tk_nextmove, dtype=np.uintc).tobytes()
    cached.parent.mkdir(parents=True, exist_ok=True)
    whole = cached.with_suffix(f".{os.getpid()}")
    try:
        with whole.open("wb") as file:
            np.save(file, identifier.nb_ptc)
            np.save(file, identifier.nb_pc)
            np.save(file, np.asarray(identifier.nb_classes))
            np.save(file, np.asarray(identifier.tk_row))
            np.save(file, np.asarray(identifier.tk_output))
            np.save(file, np.asarray([len(moves)]))
            file.write(moves)
        whole.replace(cached)
    finally:
        whole.unlink(missing_ok=True)
