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
        closed = term.rstrip("*")
        words = plain_wording(closed).split()
        alternative = r"\s+".join(map(re.escape, words))
        if term.endswith("*"):
            alternative += r"\w*"
        alternatives.append(alternative)
    if not alternatives:
        return re.compile(r"(?!)")
    any_of_them = "|".join(alternatives)
    return re.compile(rf"\b{beginning(alternatives)}(?:{any_of_them})(?!\w)")


def beginning(alternatives: Iterable[str]) -> str:
    """A look ahead for the letters that any of these patterns begin with: most places of a text
    are told by it at once, where alternatives are tried one after the other (a third of the time).
    Empty where one begins with something else than a letter."""
    letters = {alternative[:1] for alternative in alternatives}
    return f"(?=[{''.join(sorted(letters))}])" if all(map(str.isalpha, letters)) else ""
