"""Which language a document is written in."""

from functools import cache
from typing import Any

KNOWN = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "no", "fi", "cs", "ro", "tr", "el", "ru", "uk",
         "ar", "he", "hi", "ja", "zh", "ko")  # fmt: skip
"""Languages that policies are likely to be in; a short text is easily taken for Latin or Esperanto otherwise."""


def detect(text: str) -> str:
    """ISO 639-1 code of the first 20,000 characters; "en" when there are too few letters to tell."""
    sample = text[:20_000]
    if sum(1 for c in sample if c.isalpha()) < 20:
        return "en"
    return str(_identifier().classify(sample)[0])


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([code for code in KNOWN if code in identifier.labels])
    return identifier
