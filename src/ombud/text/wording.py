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
    alternatives: list[str] = []
    for term in terms:
        words = plain_wording(term.rstrip("*")).split()
        ending = r"\w*" if term.endswith("*") else ""
        alternatives.append(r"\s+".join(map(re.escape, words)) + ending)
    if not alternatives:
        return re.compile(r"(?!)")
    return re.compile(rf"\b(?:{'|'.join(alternatives)})(?!\w)")
