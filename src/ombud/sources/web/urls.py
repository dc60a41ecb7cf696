"""Normalise the addresses of pages, and name pages as documents."""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, unquote, urljoin

import httpx

LONGEST = 2000
"""Characters of an address; longer ones are generated, not written."""
MAX_REPEATS = 3
"""Times a folder may occur in a path: wrong relative links repeat it endlessly."""

_TRACKING = re.compile(
    r"(utm_[a-z_]+|gclid|gbraid|wbraid|fbclid|msclkid|yclid|dclid|igshid|mc_[ce]id|_ga|_gl|_hsenc"
    r"|_hsmi|mkt_tok|phpsessid|jsessionid|aspsessionid[a-z]*)(=.*)?",
    re.IGNORECASE,
)
LINE_BREAKS = dict.fromkeys(map(ord, "\t\r\n"))
_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ESCAPES = re.compile(r"(?:%[89A-F][0-9A-F])+")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_INDEX = re.compile(r"(?:^|/)(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)


def absolute(link: str, page: str = "") -> str:
    """Resolve and normalise a link of a page; empty if it does not lead to a web page.

    Fragments, default ports and tracking parameters are dropped, parameters are sorted."""
    try:
        url = resolve(link, page)
        if url is None:
            return ""
        host = url.raw_host.decode("ascii").rstrip(".")
        raw_path = url.raw_path.decode("ascii").partition("?")[0]
        query = url.query.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return ""
    if "%" in host:
        return ""
    netloc = f"[{host}]" if ":" in host else host
    if url.port:
        netloc += f":{url.port}"
    without_session = _SESSION.sub("", raw_path)
    path = normalise_escapes(without_session) or "/"
    whole = f"{url.scheme}://{netloc}{path}"
    parameters = normalise_query(query)
    if parameters:
        whole += f"?{parameters}"
    folders = Counter(part for part in path.split("/") if part)
    repeats = max(folders.values(), default=0) > MAX_REPEATS
    return "" if repeats or len(whole) > LONGEST else whole


def resolve(link: str, page: str) -> httpx.URL | None:
    """Resolve a link of a page; None unless it is a web address without user and password."""
    # Browsers ignore line breaks and tabs in links, and white space around them.
    cleaned = link.strip(" \t\r\n\f").translate(LINE_BREAKS)
    url = httpx.URL(page).join(cleaned) if page else httpx.URL(cleaned)
    if url.scheme not in {"http", "https"} or not url.host:
        return None
    return None if url.userinfo or url.port == 0 else url


def joined(base: str, link: str) -> str:
    """Resolve a link, keeping its fragment; empty if it is invalid."""
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""


def host_of(url: str) -> str:
    """Return the host, with a port that is not the default."""
    return url.partition("://")[2].partition("/")[0]


def site_of(url: str) -> str:
    """Return scheme and host, with a port that is not the default."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def bare(host: str) -> str:
    """Remove www., as sites answer with and without it."""
    return host.removeprefix("www.")


def path_of(url: str) -> str:
    """Return the path that patterns match: without its first slash, and with index.html for a
    folder."""
    address = url.partition("://")[2]
    escaped = address.partition("?")[0].partition("/")[2]
    path = readable(escaped)
    if not path or path.endswith("/"):
        return f"{path}index.html"
    return path


def name_of(url: str, suffix: str) -> str:
    """Name an address HOST/path, ending in `suffix` (such as .html) or another spelling of it.

    Names are stable, and unique except for folder/ and folder/index.html, page and page.html."""
    stem = path_of(url)
    ending = suffix
    spelled = PurePosixPath(stem).suffix
    if spelled.lower() in {suffix, *_SAME.get(suffix, ())}:
        stem = stem.removesuffix(spelled)
        ending = spelled
    query = url.partition("?")[2]
    if query:
        readable_query = re.sub(r"[^\w=&.,+-]+", "-", readable(query))[:60]
        mark = sha256(query.encode()).hexdigest()[:8]
        stem += f"~{readable_query}-{mark}"
    return f"{host_of(url)}/{stem}{ending}"


def plain_of(url: str) -> str:
    """Return a key that is equal for addresses that tend to be one page: /a, /a/, /a/index.html and
    /a?sort=x."""
    address = url.partition("://")[2]
    path = address.partition("?")[0]
    without_index = _INDEX.sub("", path)
    return bare(without_index.rstrip("/"))


def next_of_series(url: str, links: Iterable[str], *, is_series: bool) -> str:
    """Find the next page of a listing among the links of a page: the same address with the next
    higher number in one parameter; empty without one.

    A series begins without the number. is_series: the page belongs to a series; otherwise every
    month of a calendar would lead to the next."""
    following: dict[int, str] = {}
    for link in links:
        before, number = changed_number(url, link)
        if number and (is_series or not before) and int(number) > int(before or "1"):
            following.setdefault(int(number), link)
    return following[min(following)] if following else ""


def changed_number(url: str, link: str) -> tuple[str, str]:
    """Return the number in the only parameter in which a link differs from an address, in the
    address and in the link; empty if it is missing or more differs."""
    address, _, query = url.partition("?")
    other_address, _, other_query = link.partition("?")
    changed = dict(set(parse_qsl(query)) ^ set(parse_qsl(other_query)))
    if address != other_address or len(changed) != 1:
        return "", ""
    (name,) = changed
    before = dict(parse_qsl(query)).get(name, "")
    number = dict(parse_qsl(other_query)).get(name, "")
    is_number = number.isdecimal() and (not before or before.isdecimal())
    return (before, number) if is_number else ("", "")


def readable(text: str) -> str:
    """Decode escaped spaces and letters of other alphabets; other escapes stay."""

    def letters(escape: re.Match[str]) -> str:
        escaped = escape.group()
        try:
            plain = unquote(escaped, errors="strict")
        except UnicodeDecodeError:
            return escaped
        only_letters = all(map(str.isalnum, plain))
        return plain if only_letters else escaped

    return _ESCAPES.sub(letters, text.replace("%20", " "))


_SAME = {".html": (".htm",), ".md": (".markdown",)}


def normalise_escapes(path: str) -> str:
    """Decode unreserved characters and write other escapes in capitals."""

    def normalise(escape: re.Match[str]) -> str:
        letter = chr(int(escape.group(1), 16))
        return letter if letter in _UNRESERVED else escape.group().upper()

    return _ESCAPE.sub(normalise, path)


def normalise_query(query: str) -> str:
    parts = []
    for part in normalise_escapes(query).split("&"):
        if part and not _TRACKING.fullmatch(part):
            parts.append(part)
    parts.sort(key=lambda part: part.partition("=")[0])
    return "&".join(parts)
