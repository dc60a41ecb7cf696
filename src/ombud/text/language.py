"""Which language a text is in."""

import re
import threading
from functools import lru_cache
from typing import Any

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
_KANA = re.compile("[\u3040-\u30ff]")
_lock = threading.Lock()


def detect_language(text: str, otherwise: str = "en") -> str:
    """ISO 639-1 code of the language of `text`; `otherwise` where the text is too short to tell."""
    beginning = text[:LOOKED_AT]
    letters = sum(map(str.isalpha, beginning))
    kana = len(_KANA.findall(beginning))
    if kana and 10 * kana >= letters:  # a page that only mentions a Japanese word has fewer
        return "ja"
    if letters < SHORTEST:
        return otherwise
    return _placed(text[:5000])


@lru_cache(maxsize=256)
def _placed(text: str) -> str:
    """A question is asked after at several steps."""
    with _lock:
        return str(_identifier().classify(text)[0])


@lru_cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(list(LIKELY))
    return identifier
