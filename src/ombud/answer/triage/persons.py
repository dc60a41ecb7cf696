"""Requests for a human in place of the assistant, in English, German, French and Spanish."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ombud.text import Phrases, fold, phrase_tables, split_words

LONGEST = 60
"""Words that are read of a message."""
REACH = 7
"""Words between how somebody wants to be reached and whom they want to reach."""
CLOSE_REACH = 4
"""The same behind a verb that fits other wishes as well, such as "need"."""
BARE = 5
"""Most words of a request that only names whom it wants."""
Roles = Mapping[str, Phrases[str]]


def asks_for_person(text: str) -> bool:
    """Tell whether a message asks for a human, whatever subject it names beside."""
    words = split_words(fold(text))[:LONGEST]
    if not words:
        return False
    return any(_asks(words, roles) for roles in _languages().values())


def _asks(words: Sequence[str], roles: Roles) -> bool:
    if _is_bare(words, roles):
        return True
    is_fact = bool(_length_at(words, 0, roles["fact"]))
    contacts = _places(words, roles["contact"])
    humans = _places(words, roles["human"])
    if humans and _places(words, roles["machine"]) and (contacts or not is_fact):
        return True
    if is_fact or _places(words, roles["others"]):
        return False
    return bool(_places(words, roles["to_me"])) or _reaches_for(humans, contacts, words, roles)


def _reaches_for(
    humans: Sequence[int], contacts: Sequence[int], words: Sequence[str], roles: Roles
) -> bool:
    """Tell whether a verb of contact, or right before it one of any wish, goes with a human."""
    for human in humans:
        if any(place != human and abs(place - human) <= REACH for place in contacts):
            return True
        if any(0 < human - place <= CLOSE_REACH for place in _places(words, roles["wants"])):
            return True
    return False


def _is_bare(words: Sequence[str], roles: Roles) -> bool:
    """Tell whether a short message names a human and says nothing else."""
    if len(words) > BARE or not _places(words, roles["bare"]):
        return False
    place = 0
    while place < len(words):
        length = _length_at(words, place, roles["bare"]) or _length_at(
            words, place, roles["filler"]
        )
        if not length:
            return False
        place += length
    return True


def _places(words: Sequence[str], phrases: Phrases[str]) -> list[int]:
    return [place for place in range(len(words)) if _length_at(words, place, phrases)]


def _length_at(words: Sequence[str], place: int, phrases: Phrases[str]) -> int:
    length, _ = next(phrases.at(words, place), (0, ""))
    return length


@cache
def _languages() -> Mapping[str, Roles]:
    path = Path(__file__).with_name("persons.toml")
    return phrase_tables(tomllib.loads(path.read_text(encoding="utf-8")))
