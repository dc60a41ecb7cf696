"""Files and links that advisors send, as the employee sees them."""

from ombud.handoff.desks.desk import DeskEvent
from ombud.messages import message
from ombud.types import SharedLink

LONGEST_NAME = 200
LONGEST_URL = 2000


def shared_links(event: DeskEvent, who: str, language: str) -> tuple[SharedLink, ...]:
    """Describe the links of an event in the employee's language, or in English if we lack it."""
    links: list[SharedLink] = []
    for link in event.links:
        url = safe_url(link.url)
        name = printable(link.name)[:LONGEST_NAME] or url
        kind = link.kind if name else "other"
        note = message("notices.shared_" + kind, language, who=who, name=name)
        links.append(SharedLink(note=note, url=url))
    return tuple(links)


def safe_url(url: str) -> str:
    """Return the address if a browser may open it (http or https, no password), else nothing."""
    if len(url) > LONGEST_URL or url != printable(url):
        return ""
    import httpx  # slow to import, and a question needs no desk

    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        return ""
    is_web = address.scheme in {"http", "https"} and bool(address.host) and not address.userinfo
    return str(address) if is_web else ""


def printable(text: str) -> str:
    """Drop invisible characters and those that reverse how a name ends, such as U+202E."""
    return "".join(letter for letter in text if letter.isprintable()).strip()
