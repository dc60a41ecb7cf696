"""Shared by sources with permissions of their own: principals, and audiences that can only become
narrower."""

from typing import NamedTuple

from ombud.types import Audience


class NotShown(Exception):
    """Raised when the site hides something that decides who may read a document. It stays inside
    the source."""


class Principal(NamedTuple):
    """A person or group that a permission or restriction names."""

    kind: str
    """user | group; in SharePoint, where a group is one of Entra, also site (a group of the site) |
    everybody."""
    id: str = ""
    name: str = ""


def narrow(first: Audience, second: Audience, nobody: Audience) -> Audience:
    """Intersect two audiences, as far as an audience can express it; `nobody` if a key that both
    have shares no value."""
    both = {**first, **second}
    for key in first.keys() & second.keys():
        shared = set(first[key])
        shared.intersection_update(second[key])
        both[key] = tuple(sorted(shared))
    if not all(both.values()):
        return nobody
    return both


def within(inner: Audience, outer: Audience) -> bool:
    """Tell whether everybody in `inner` is surely in `outer`."""
    for key, values in outer.items():
        if key not in inner:  # open to everybody in this respect
            return False
        if not set(values).issuperset(inner[key]):
            return False
    return True
