"""Files and links that advisors send, as the employee is shown them."""

import tomllib
from functools import cache
from importlib.resources import files

from ombud.handoff.desks.desk import DeskEvent
from ombud.types import SharedLink

LONGEST_NAME = 200
LONGEST_URL = 2000


def shared_links(event: DeskEvent, who: str, language: str) -> tuple[SharedLink, ...]:
    """Say in the employee's language what was sent; English where no other is known."""
    phrases = _phrases().get(language, _phrases()["en"])
    links: list[SharedLink] = []
    for link in event.links:
        url = safe_url(link.url)
        name = _printable(link.name)[:LONGEST_NAME] or url
        kind = link.kind if name else "other"
        links.append(SharedLink(note=phrases[kind].format(who=who, name=name), url=url))
    return tuple(links)


def safe_url(url: str) -> str:
    """Return the address if a browser may open it: http or https, no password; else nothing."""
    if len(url) > LONGEST_URL or url != _printable(url):
        return ""
    import httpx  # takes longer to load than a question that needs no desk may wait

    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        return ""
    is_web = address.scheme in {"http", "https"} and bool(address.host) and not address.userinfo
    return str(address) if is_web else ""


def _printable(text: str) -> str:
    """Drop what hides or turns around how a name ends, such as U+202E."""
    return "".join(letter for letter in text if letter.isprintable()).strip()


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("ombud.handoff").joinpath("shared.toml").read_text("utf-8"))
