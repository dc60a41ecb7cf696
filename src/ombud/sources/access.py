"""What sources with permissions of their own share: who is named there, and audiences that only
ever get narrower."""

from typing import NamedTuple

from ombud.types import Audience


class NotShown(Exception):
    """The site does not say what must be known to give a document to anybody. Stays inside the
    source."""


class Principal(NamedTuple):
    """Whom a permission or a restriction names."""

    kind: str
    """user | group; in SharePoint, where a group is one of Entra, also site (a group of the site) |
    everybody."""
    id: str = ""
    name: str = ""


def narrow(first: Audience, second: Audience, nobody: Audience) -> Audience:
    """Those who are in both, as far as an audience can say it; a key of both that shares no value
    is `nobody`."""
    both = {**first, **second}
    for key in first.keys() & second.keys():
        shared = set(first[key])
        shared.intersection_update(second[key])
        both[key] = tuple(sorted(shared))
    if not all(both.values()):
        return nobody
    return both


def within(inner: Audience, outer: Audience) -> bool:
    """Everybody of `inner` is surely in `outer`."""
    for key, values in outer.items():
        if key not in inner:  # open to everybody in this respect
            return False
        if not set(values).issuperset(inner[key]):
            return False
    return True
