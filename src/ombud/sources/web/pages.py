"""What an HTML page says: its links, its wishes, its main content."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.sources.web.kinds import text_of
from ombud.sources.web.urls import absolute, joined

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""
LARGEST_HTML = 20 * 2**20
MOST_LINKS = 5000
LITTLE = 200
"""Characters below which a main part is an empty shell, or holds only a search box."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*?(/?)>")
_VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()  # noqa: SIM905
)
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)

_FURNITURE = (
    "nav, body > header, body > footer, footer, script, style, noscript, template, iframe, "
    "input[type=hidden], [role=navigation], [role=banner], [role=contentinfo], [role=search], "
    "[role=menu], [role=menubar]"
)
_BESIDE = (
    "aside, dialog, [role=complementary], [role=dialog], [role=alertdialog], [aria-modal=true]"
)
"""Furniture that is content inside of the main part."""
_FRAMES = "frame[src], iframe[src]"
_HOLDS_TEXT = "p, h1, h2, h3, h4, li, dd, td, pre, blockquote, a[href], img, form, iframe, frame"
_NAMED_FURNITURE = re.compile(
    r"(?:^|[-_\s])(?:cookies?|consent|gdpr)[-_]?"
    r"(?:banner|bar|notice|popup|pop-up|modal|overlay|dialog|message|layer"
    r"|disclaimer|widget|manager|container|wrapper)(?:$|[-_\s])"
    r"|onetrust-|cybotcookiebot|usercentrics|didomi-|qc-cmp2|cky-consent|truste_"
    r"|sp_message_container|cc-window|osano-cm|klaro|borlabs-cookie"
    r"|(?:^|\s)(?:breadcrumbs?|skip-?(?:link|nav|to-content)|site-(?:header|footer|nav|menu)"
    r"|share-(?:buttons|links)|social-(?:share|links|media)|print-?only|noprint|sidebar"
    r"|mw-editsection|catlinks)(?:\s|$)",
    re.IGNORECASE,
)


class WebPage(NamedTuple):
    title: str = ""
    links: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    """Where the page goes on: the next pages of a series, and its frames."""
    canonical: str = ""
    """The address that the page says is its real one; empty when it says none."""
    listed: bool = True
    """False: it asks not to be found."""
    lines: tuple[str, ...] = ()
    """Its text without navigation and scripts."""
    asks_password: bool = False
    has_scripts: bool = False
    is_shell: bool = False
    """A frame for scripts to fill, or with a word to browsers that run none."""
    has_frames: bool = False
    content: bytes = b""
    """UTF-8 HTML of title, main content and the style sheets that may hide or strike some of it."""


def refuses_index(headers: Mapping[str, str]) -> bool:
    """What X-Robots-Tag says, for everyone or for ombud by name."""
    rules = headers.get("x-robots-tag", "").lower().split(",")
    for rule in rules:
        agent, colon, wish = rule.rpartition(":")
        is_ours = not colon or agent.strip() in {"ombud", "*"}
        if is_ours and wish.strip() in {"noindex", "none"}:
            return True
    return False


def named_address(relation: str, url: str, headers: Mapping[str, str]) -> str:
    """The address that a `Link` header calls `canonical`, `next` or the like; else empty."""
    links = httpx.Response(200, headers=headers).links
    named = links.get(relation, {}).get("url", "")
    return absolute(named, url) if named else ""


def read_page(url: str, body: bytes, headers: Mapping[str, str]) -> WebPage:
    """What a page says. One that nests too deeply for the tree builder keeps its bytes and has no
    links."""
    source = text_of(body, headers).replace("\0", "")
    if depth_of(source) > DEEPEST:
        return WebPage(content=source.encode(errors="replace"), listed=not refuses_index(headers))
    tree = LexborHTMLParser(source)
    wishes = _wishes(tree)
    base = _base(tree, url)
    for_browsers_without_scripts = ""
    for node in tree.css("noscript"):
        for_browsers_without_scripts += node.text(strip=True)
        node.decompose()
    links: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    if not wishes & {"nofollow", "none"}:
        links = _links(tree, base)
        following = (*_next_pages(tree, base, url, headers), *_frames(tree, base))
    canonical = _attribute(tree, "link[rel=canonical][href]", "href")
    if canonical is None:
        real_address = named_address("canonical", url, headers)
    else:
        real_address = absolute(canonical, base)
    shown = WebPage(
        title=_title(tree),
        links=links,
        following=tuple(dict.fromkeys(filter(None, following))),
        canonical=real_address,
        listed=not wishes & {"noindex", "none"} and not refuses_index(headers),
        asks_password=_asks_password(tree),
        has_scripts=tree.css_first("script") is not None,
        is_shell=bool(for_browsers_without_scripts) or _is_shell(tree),
        has_frames=tree.css_first(_FRAMES) is not None,
    )
    sheets = "\n".join(node.text() for node in tree.css("style"))
    complete_links(tree, url, base)
    main = main_content(tree)
    lines = tree.body.text(separator="\n", strip=True).splitlines() if tree.body else []
    return shown._replace(
        lines=tuple(lines),
        content=document(shown.title, main, _language(tree), sheets),
    )


def _is_shell(tree: LexborHTMLParser) -> bool:
    """Whether no element is there for text, but one that a script can find to fill it."""
    if tree.body is None or tree.css_first(_HOLDS_TEXT) is not None:
        return False
    is_named = tree.css_first("body [id]") is not None
    return is_named or any("-" in (node.tag or "")[1:] for node in tree.body.iter())


def _asks_password(tree: LexborHTMLParser) -> bool:
    """Whether the page itself does, and not a box beside it."""
    for field in tree.css("input[type=password]"):
        up = field.parent
        while up is not None and up.tag not in {"nav", "header", "footer", "aside"}:
            up = up.parent
        if up is None:
            return True
    return False


def _next_pages(
    tree: LexborHTMLParser, base: str, url: str, headers: Mapping[str, str]
) -> Iterator[str]:
    """What the page and its server call the next one."""
    yield named_address("next", url, headers)
    for node in tree.css("a[rel~=next i][href], link[rel~=next i][href]"):
        yield absolute(str(node.attributes.get("href") or ""), base)


def _frames(tree: LexborHTMLParser, base: str) -> Iterator[str]:
    for node in tree.css(_FRAMES):
        yield absolute(str(node.attributes.get("src") or ""), base)


def _base(tree: LexborHTMLParser, url: str) -> str:
    """What links of the page count from."""
    named = _attribute(tree, "base[href]", "href")
    if named is None:
        return url
    return absolute(named, url) or url


def _language(tree: LexborHTMLParser) -> str:
    if tree.root is None:
        return ""
    return str(tree.root.attributes.get("lang") or "")


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    """Of the first element that fits; None where none does."""
    node = tree.css_first(selector)
    if node is None:
        return None
    return str(node.attributes.get(name) or "")


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title") or tree.css_first("title")
    return " ".join(node.text().split()) if node else ""


def complete_links(tree: LexborHTMLParser, url: str, base: str) -> None:
    """Write out the addresses of links, which the parser of documents takes for themselves; those
    that lead to a place of the same page are left as such.

    base: what they count from."""
    here = absolute(url)
    for node in tree.css("a[href]")[:MOST_LINKS]:
        link = str(node.attributes.get("href") or "")
        if link.startswith("#"):
            continue
        whole = joined(base, link)
        place = whole.partition("#")[2]
        is_here = bool(place) and absolute(whole) == here
        node.attrs["href"] = f"#{place}" if is_here else whole


def document(title: str, content: str, language: str = "", sheets: str = "") -> bytes:
    """A page of one main part, for the parser of documents."""
    lang = ""
    if re.fullmatch(r"[A-Za-z-]{2,20}", language):
        lang = f' lang="{language}"'
    words = title.replace("&", "&amp;").replace("<", "&lt;")
    style = f"<style>{sheets}</style>" if sheets.strip() else ""
    head = (
        f'<!DOCTYPE html>\n<html{lang}><head><meta charset="utf-8"><title>{words}</title>{style}'
        "</head>\n"
    )
    page = f"{head}<body><main>{content}</main></body></html>\n"
    return page.encode(errors="replace")


def main_content(tree: LexborHTMLParser) -> str:
    """HTML of the main part, tables whole; the tree is changed."""
    if not tree.body:
        return ""
    whole = tree.body.inner_html or ""
    articles = tree.css("article")
    main = tree.css_first("main") or tree.css_first("[role=main]")
    if main is None and len(articles) == 1:
        main = articles[0]
    for node in _furniture(tree):
        node.decompose()
    if main and _is_main(main, tree.body):
        return _head(tree, main) + (main.inner_html or "")
    if tree.body.text().strip():
        return tree.body.inner_html or ""
    return whole


def _head(tree: LexborHTMLParser, main: LexborNode) -> str:
    """The header of the page, where it holds the only heading of the first level."""
    headings = tree.css("h1")
    if len(headings) != 1 or main.css_first("h1") is not None:
        return ""
    up = headings[0].parent
    while up is not None and up.tag != "header":
        up = up.parent
    return up.html or "" if up is not None else ""


def _is_main(main: LexborNode, body: LexborNode) -> bool:
    """Not an empty shell, and no small part of the page."""
    letters = len(main.text())
    return letters >= LITTLE or len(body.text()) <= 4 * letters


def _furniture(tree: LexborHTMLParser) -> list[LexborNode]:
    marked = {node.mem_id for node in tree.css(_FURNITURE)}
    marked |= {node.mem_id for node in tree.css(_BESIDE) if not _is_in_main(node)}
    kept = _around_the_main_part(tree)

    def is_furniture(node: LexborNode) -> bool:
        if node.mem_id in kept:
            return False
        return _is_furniture(node, node.mem_id in marked)

    return outermost(tree.root, is_furniture)


def _is_in_main(node: LexborNode) -> bool:
    up = node.parent
    while up is not None and up.tag not in {"main", "article"}:
        up = up.parent
    return up is not None


def _around_the_main_part(tree: LexborHTMLParser) -> set[int]:
    """What holds the main part or its first heading is never furniture, whatever it is called."""
    kept: set[int] = set()
    for node in tree.css("main, [role=main], article, h1")[:100]:
        up: LexborNode | None = node
        while up is not None and up.mem_id not in kept:
            kept.add(up.mem_id)
            up = up.parent
    return kept


def outermost(root: LexborNode | None, fits: Callable[[LexborNode], bool]) -> list[LexborNode]:
    """Nodes of the tree that fit and are inside no other such node: each may be destroyed with all
    that it holds."""
    nodes: list[LexborNode] = []
    node = root
    end = root.mem_id if root else 0
    while node is not None:
        if fits(node):
            nodes.append(node)
        elif node.child is not None:
            node = node.child
            continue
        up: LexborNode | None = node
        while up is not None and up.next is None and up.mem_id != end:
            up = up.parent
        node = None if up is None or up.mem_id == end else up.next
    return nodes


def _is_furniture(node: LexborNode, marked: bool) -> bool:
    tag = node.tag or "-"
    if tag == "-comment":  # holds times, and so changes with every answer
        return True
    if tag.startswith("-") or tag in {"html", "head", "body"}:
        return False
    if tag == "form":  # old servers wrap the whole page in one
        return node.css_first("table, h2, p + p") is None
    return marked or _is_named_furniture(node)


def _is_named_furniture(node: LexborNode) -> bool:
    attributes = node.attributes
    classes = attributes.get("class") or ""
    identity = attributes.get("id") or ""
    if not classes and not identity:
        return False
    return _NAMED_FURNITURE.search(f"{classes} {identity}") is not None


def _wishes(tree: LexborHTMLParser) -> set[str]:
    wishes: set[str] = set()
    for meta in tree.css("meta[name][content]"):
        name = str(meta.attributes.get("name"))
        if name.strip().lower() not in {"robots", "ombud"}:
            continue
        content = str(meta.attributes.get("content"))
        listed = content.lower().split(",")
        wishes.update(map(str.strip, listed))
    return wishes


def _links(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    addresses = _refreshes(tree, base)
    for node in tree.css("a[href], area[href]"):
        relations = str(node.attributes.get("rel") or "")
        if "nofollow" not in relations.lower().split():
            link = str(node.attributes.get("href") or "")
            addresses.append(absolute(link, base))
        if len(addresses) >= MOST_LINKS:
            break
    return tuple(dict.fromkeys(filter(None, addresses)))


def _refreshes(tree: LexborHTMLParser, base: str) -> list[str]:
    """Where the page goes on to by itself."""
    addresses = []
    for meta in tree.css("meta[http-equiv][content]"):
        directive = str(meta.attributes.get("http-equiv"))
        refresh = _REFRESH.match(str(meta.attributes.get("content")))
        if refresh and directive.lower() == "refresh":
            addresses.append(absolute(refresh.group(1), base))
    return addresses


def depth_of(source: str) -> int:
    """Most tags that are open at once."""
    deepest = depth = 0
    for close, name, empty in _TAG.findall(source):
        if empty or name.lower() in _VOID:
            continue
        depth = max(0, depth - 1) if close else depth + 1
        deepest = max(deepest, depth)
    return deepest
