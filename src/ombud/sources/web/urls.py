"""Addresses of pages: one spelling for each, and the name that a page gets as a document."""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, unquote, urljoin

import httpx

LONGEST = 2000
"""Longer ones come from generators, not from people."""
MOST_REPEATS = 3
"""Times a folder may stand in a path: relative links that are wrong repeat it for ever."""

_TRACKING = re.compile(
    r"(utm_[a-z_]+|gclid|gbraid|wbraid|fbclid|msclkid|yclid|dclid|igshid|mc_[ce]id|_ga|_gl|_hsenc"
    r"|_hsmi|mkt_tok|phpsessid|jsessionid|aspsessionid[a-z]*)(=.*)?",
    re.IGNORECASE,
)
_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ESCAPES = re.compile(r"(?:%[89A-F][0-9A-F])+")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_INDEX = re.compile(r"(?:^|/)(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)


def absolute(link: str, page: str = "") -> str:
    """The address that a link of a page means, in its one spelling; empty when it is no page of the
    web.

    Fragments, default ports and tracking parameters are dropped, parameters sorted.
    """
    try:
        url = _resolved(link, page)
        if not _is_plain(url):
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
    path = _spelled(without_session) or "/"
    whole = f"{url.scheme}://{netloc}{path}"
    parameters = _query(query)
    if parameters:
        whole += f"?{parameters}"
    too_long = len(whole) > LONGEST
    return "" if too_long or _repeats(path) else whole


def _resolved(link: str, page: str) -> httpx.URL:
    cleaned = _cleaned(link)
    if not page:
        return httpx.URL(cleaned)
    return httpx.URL(page).join(cleaned)


def _is_plain(url: httpx.URL) -> bool:
    """Whether it is an address of the web, without a user or password."""
    if url.scheme not in {"http", "https"} or not url.host:
        return False
    return not url.userinfo and url.port != 0


def joined(base: str, link: str) -> str:
    """The whole address of a link, its fragment included; empty where it is none."""
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""


def host_of(url: str) -> str:
    """Host, with the port when it is not the usual one."""
    return url.partition("://")[2].partition("/")[0]


def site_of(url: str) -> str:
    """Scheme and host, with the port when it is not the usual one."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def bare(host: str) -> str:
    """Sites answer with and without www."""
    return host.removeprefix("www.")


def path_of(url: str) -> str:
    """What patterns are matched with: the path without its first slash; a folder's is its
    index.html."""
    address = url.partition("://")[2]
    escaped = address.partition("?")[0].partition("/")[2]
    path = readable(escaped)
    if not path or path.endswith("/"):
        return f"{path}index.html"
    return path


def name_of(url: str, suffix: str) -> str:
    """HOST/path, ending in `suffix` (such as .html) or another spelling of it; stable and unique
    for each address but for folder/ and folder/index.html, page and page.html."""
    stem = path_of(url)
    ending = suffix
    spelled = PurePosixPath(stem).suffix
    if spelled.lower() in {suffix, *_SAME.get(suffix, ())}:
        stem = stem.removesuffix(spelled)
        ending = spelled
    query = url.partition("?")[2]
    if query:
        shown = re.sub(r"[^\w=&.,+-]+", "-", readable(query))[:60]
        mark = sha256(query.encode()).hexdigest()[:8]
        stem += f"~{shown}-{mark}"
    return f"{host_of(url)}/{stem}{ending}"


def plain_of(url: str) -> str:
    """The same for addresses that tend to be one page: /a, /a/, /a/index.html and /a?sort=x."""
    address = url.partition("://")[2]
    path = address.partition("?")[0]
    without_index = _INDEX.sub("", path)
    return bare(without_index.rstrip("/"))


def next_of_series(url: str, links: Iterable[str], *, is_series: bool) -> str:
    """The next page of a listing, among the links of one of its pages: the same address, in which
    one number is the next higher; empty where there is none.

    A series begins without the number; is_series: the page is known to be of one. Else every month
    of a calendar would lead to the next."""
    following: dict[int, str] = {}
    for link in links:
        before, number = _changed_number(url, link)
        if number and (is_series or not before) and int(number) > int(before or "1"):
            following.setdefault(int(number), link)
    return following[min(following)] if following else ""


def _changed_number(url: str, link: str) -> tuple[str, str]:
    """The number of the only parameter in which a link differs from an address, as it is in both;
    empty where it is missing, and where more differs."""
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
    """Escaped spaces and letters of other alphabets as they are; everything else that is escaped
    stays so."""

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


def _cleaned(link: str) -> str:
    """Browsers ignore line breaks and tabs in links, and white space around them."""
    return re.sub(r"[\t\r\n]", "", link.strip(" \t\r\n\f"))


def _spelled(path: str) -> str:
    def plain_where_it_may_be(escape: re.Match[str]) -> str:
        letter = chr(int(escape.group(1), 16))
        return letter if letter in _UNRESERVED else escape.group().upper()

    return _ESCAPE.sub(plain_where_it_may_be, path)


def _query(query: str) -> str:
    parts = []
    for part in _spelled(query).split("&"):
        if part and not _TRACKING.fullmatch(part):
            parts.append(part)
    parts.sort(key=lambda part: part.partition("=")[0])
    return "&".join(parts)


def _repeats(path: str) -> bool:
    folders = [part for part in path.split("/") if part]
    return any(folders.count(part) > MOST_REPEATS for part in set(folders))
