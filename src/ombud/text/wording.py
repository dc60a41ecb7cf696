"""Finding terms as people write them: whole words in any case, any white space and any
apostrophe."""

import re
from collections.abc import Iterable


def plain_wording(text: str) -> str:
    """What terms are looked for in: lower case, straight apostrophes."""
    return re.sub(r"[’`]", "'", text.lower())


def term_pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """Matches any of `terms` in plain text; a term ending in * also matches every word that begins
    so."""
    words = [
        (re.escape(" ".join(plain_wording(term.rstrip("*")).split())), term.endswith("*"))
        for term in terms
    ]
    parts = [word.replace(r"\ ", r"\s+") + (r"\w*" if open_end else "") for word, open_end in words]
    return re.compile(rf"\b(?:{'|'.join(parts)})(?!\w)") if parts else re.compile(r"(?!)")
