"""Prompts in named sections: `[name]` alone on a line begins one, and a model's file holds only
those that differ."""

import re
from collections.abc import Sequence
from itertools import zip_longest

HEAD = re.compile(r"^\[([a-z][a-z-]*)\][ \t]*$", re.MULTILINE)


def split(text: str) -> dict[str, str]:
    """Name -> text, in the order of the file; empty where the text has no sections. What stands
    before the first heading belongs to nobody and is left out."""
    heads = list(HEAD.finditer(text))
    sections: dict[str, str] = {}
    for head, following in zip_longest(heads, heads[1:]):
        end = following.start() if following else len(text)
        sections[head[1]] = text[head.end() : end].strip()
    return sections


def layered(texts: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Map each section to (position of the text that it is taken from, its words). texts: strongest
    first.

    The order is that of the weakest text, which holds all. A text without sections is a whole
    prompt: nothing weaker counts, and where it is the strongest it stands as the one section ``.
    """
    layers: dict[str, tuple[int, str]] = {}
    order: list[str] = []
    for number, text in enumerate(texts):
        parts = split(text)
        if not parts and not layers:
            return {"": (number, text.strip())}
        if not parts:
            break
        for part, words in parts.items():
            layers.setdefault(part, (number, words))
        order = [*parts, *(part for part in order if part not in parts)]
    return {part: layers[part] for part in order}
