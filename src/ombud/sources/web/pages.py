"""Read an HTML page: its links, its directives to robots, its main content."""

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
LITTLE_TEXT = 200
"""Characters below which a main part is empty, or only a search box."""

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
"""Elements that are content inside the main part and page furniture elsewhere."""
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
    """Addresses at which the page continues: next pages of a series, and frames."""
    canonical: str = ""
    """The address that the page calls its own; empty without one."""
    listed: bool = True
    """False if it asks not to be indexed."""
    lines: tuple[str, ...] = ()
    """Lines of text without navigation and scripts."""
    asks_password: bool = False
    has_scripts: bool = False
    is_shell: bool = False
    """True if scripts fill it, or it has a message for browsers without scripts."""
    has_frames: bool = False
    content: bytes = b""
    """UTF-8 HTML of title, main content, and style sheets, which may hide or strike parts of it."""


def refuses_index(headers: Mapping[str, str]) -> bool:
    """Tell whether X-Robots-Tag forbids indexing, for everyone or for ombud by name."""
    rules = headers.get("x-robots-tag", "").lower().split(",")
    for rule in rules:
        agent, colon, wish = rule.rpartition(":")
        is_ours = not colon or agent.strip() in {"ombud", "*"}
        if is_ours and wish.strip() in {"noindex", "none"}:
            return True
    return False


def named_address(relation: str, url: str, headers: Mapping[str, str]) -> str:
    """Return the address with a relation such as `canonical` or `next` in a `Link` header, else an
    empty string."""
    links = httpx.Response(200, headers=headers).links
    named = links.get(relation, {}).get("url", "")
    return absolute(named, url) if named else ""


def read_page(url: str, body: bytes, headers: Mapping[str, str]) -> WebPage:
    """Read a page. One that nests too deeply for the tree builder keeps its bytes and has no
    links."""
    source = text_of(body, headers).replace("\0", "")
    if depth_of(source) > DEEPEST:
        return WebPage(content=source.encode(errors="replace"), listed=not refuses_index(headers))
    tree = LexborHTMLParser(source)
    directives = robots_directives(tree)
    base = _base(tree, url)
    for_browsers_without_scripts = ""
    for node in tree.css("noscript"):
        for_browsers_without_scripts += node.text(strip=True)
        node.decompose()
    links: tuple[str, ...] = ()
    following: tuple[str, ...] = ()
    if not directives & {"nofollow", "none"}:
        links = _links(tree, base)
        frames = [absolute(value_of(node, "src"), base) for node in tree.css(_FRAMES)]
        following = (*next_pages(tree, base, url, headers), *frames)
    canonical = _attribute(tree, "link[rel=canonical][href]", "href")
    if canonical is None:
        real_address = named_address("canonical", url, headers)
    else:
        real_address = absolute(canonical, base)
    head = WebPage(
        title=title_of(tree),
        links=links,
        following=tuple(dict.fromkeys(filter(None, following))),
        canonical=real_address,
        listed=not directives & {"noindex", "none"} and not refuses_index(headers),
        asks_password=_asks_password(tree),
        has_scripts=tree.css_first("script") is not None,
        has_frames=tree.css_first(_FRAMES) is not None,
    )
    sheets = "\n".join(node.text() for node in tree.css("style"))
    complete_links(tree, url, base)
    main = main_content(tree)
    lines = tree.body.text(separator="\n", strip=True).splitlines() if tree.body else []
    language = value_of(tree.root, "lang") if tree.root else ""
    return head._replace(
        lines=tuple(lines),
        is_shell=bool(for_browsers_without_scripts) or _is_shell(tree),
        content=document(head.title, main, language, sheets),
    )


def value_of(node: LexborNode, attribute: str) -> str:
    """Return the value of an attribute; empty without one."""
    return str(node.attributes.get(attribute) or "")


def _is_shell(tree: LexborHTMLParser) -> bool:
    """Tell whether no element is for text, but one has a name by which a script can fill it."""
    if tree.body is None or tree.css_first(_HOLDS_TEXT) is not None:
        return False
    is_named = tree.css_first("body [id]") is not None
    return is_named or any("-" in (node.tag or "")[1:] for node in tree.body.iter())


def _asks_password(tree: LexborHTMLParser) -> bool:
    """Tell whether the page itself asks for a password, at once or after the user's name, and not a
    box in its header or sidebar."""
    for field in tree.css("input[type=password], input[autocomplete~=username]"):
        up = field.parent
        while up is not None and up.tag not in {"nav", "header", "footer", "aside"}:
            up = up.parent
        if up is None:
            return True
    return False


def next_pages(
    tree: LexborHTMLParser, base: str, url: str, headers: Mapping[str, str]
) -> Iterator[str]:
    """Yield the addresses that the server and the page call the next one."""
    yield named_address("next", url, headers)
    for node in tree.css("a[rel~=next i][href], link[rel~=next i][href]"):
        yield absolute(value_of(node, "href"), base)


def _base(tree: LexborHTMLParser, url: str) -> str:
    """Return the base of the page's relative links."""
    named = _attribute(tree, "base[href]", "href")
    if named is None:
        return url
    return absolute(named, url) or url


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    """Return an attribute of the first matching element; None without one."""
    node = tree.css_first(selector)
    return None if node is None else value_of(node, name)


def complete_links(tree: LexborHTMLParser, url: str, base: str) -> None:
    """Make links absolute for the document parser, except those to an anchor of the same page.

    base: base of relative links."""
    here = absolute(url)
    for node in tree.css("a[href]")[:MOST_LINKS]:
        link = value_of(node, "href")
        if link.startswith("#"):
            continue
        whole = joined(base, link)
        place = whole.partition("#")[2]
        is_here = bool(place) and absolute(whole) == here
        node.attrs["href"] = f"#{place}" if is_here else whole


def document(title: str, content: str, language: str = "", sheets: str = "") -> bytes:
    """Write a page with one main part for the document parser."""
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
    """Return the HTML of the main part; the tree is changed."""
    if not tree.body:
        return ""
    whole = tree.body.inner_html or ""
    articles = tree.css("article")
    main = tree.css_first("main") or tree.css_first("[role=main]")
    if main is None and len(articles) == 1:
        main = articles[0]
    for node in find_furniture(tree):
        node.decompose()
    if main and is_prominent(main, tree.body):
        return page_header(tree, main) + (main.inner_html or "")
    if tree.body.text().strip():
        return tree.body.inner_html or ""
    return whole


def title_of(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title") or tree.css_first("title")
    return " ".join(node.text().split()) if node else ""


def is_prominent(main: LexborNode, body: LexborNode) -> bool:
    """Tell whether a main part is neither empty nor a small part of the page."""
    letters = len(main.text())
    return letters >= LITTLE_TEXT or len(body.text()) <= 4 * letters


def page_header(tree: LexborHTMLParser, main: LexborNode) -> str:
    """Return the header of the page if it contains the only heading of the first level."""
    headings = tree.css("h1")
    if len(headings) != 1 or main.css_first("h1") is not None:
        return ""
    up = headings[0].parent
    while up is not None and up.tag != "header":
        up = up.parent
    return up.html or "" if up is not None else ""


def find_furniture(tree: LexborHTMLParser) -> list[LexborNode]:
    marked = {node.mem_id for node in tree.css(_FURNITURE)}
    marked |= {node.mem_id for node in tree.css(_BESIDE) if not is_in_main(node)}
    ancestors = ancestors_of_content(tree)
    return outermost(
        tree.root,
        lambda node: node.mem_id not in ancestors and is_furniture(node, node.mem_id in marked),
    )


def is_in_main(node: LexborNode) -> bool:
    up = node.parent
    while up is not None and up.tag not in {"main", "article"}:
        up = up.parent
    return up is not None


def ancestors_of_content(tree: LexborHTMLParser) -> set[int]:
    """Return main parts, headings and all elements around them, which are never furniture, whatever
    they are called."""
    ancestors: set[int] = set()
    for node in tree.css("main, [role=main], article, h1")[:100]:
        up: LexborNode | None = node
        while up is not None and up.mem_id not in ancestors:
            ancestors.add(up.mem_id)
            up = up.parent
    return ancestors


def outermost(root: LexborNode | None, fits: Callable[[LexborNode], bool]) -> list[LexborNode]:
    """List the nodes that fit and are inside no other such node, so that each can be destroyed."""
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


def is_furniture(node: LexborNode, marked: bool) -> bool:
    """Tell whether a node is navigation, a banner or the like. marked: it matches a selector."""
    tag = node.tag or "-"
    if tag == "-comment":  # may contain a time, which changes with every answer
        return True
    if tag.startswith("-") or tag in {"html", "head", "body"}:
        return False
    if tag == "form":  # old servers wrap the whole page in one
        return node.css_first("table, h2, p + p") is None
    attributes = node.attributes
    classes = attributes.get("class") or ""
    identity = attributes.get("id") or ""
    if marked or not (classes or identity):
        return marked
    return _NAMED_FURNITURE.search(f"{classes} {identity}") is not None


def robots_directives(tree: LexborHTMLParser) -> set[str]:
    directives: set[str] = set()
    for meta in tree.css("meta[name][content]"):
        name = str(meta.attributes.get("name"))
        if name.strip().lower() not in {"robots", "ombud"}:
            continue
        content = str(meta.attributes.get("content"))
        listed = content.lower().split(",")
        directives.update(map(str.strip, listed))
    return directives


def _links(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    addresses = refresh_targets(tree, base)
    for node in tree.css("a[href], area[href]"):
        if "nofollow" not in value_of(node, "rel").lower().split():
            addresses.append(absolute(value_of(node, "href"), base))
        if len(addresses) >= MOST_LINKS:
            break
    return tuple(dict.fromkeys(filter(None, addresses)))


def refresh_targets(tree: LexborHTMLParser, base: str) -> list[str]:
    """List the addresses to which the page refreshes itself."""
    addresses = []
    for meta in tree.css("meta[http-equiv][content]"):
        directive = str(meta.attributes.get("http-equiv"))
        refresh = _REFRESH.match(str(meta.attributes.get("content")))
        if refresh and directive.lower() == "refresh":
            addresses.append(absolute(refresh.group(1), base))
    return addresses


def depth_of(source: str) -> int:
    """Count the most tags that are open at the same time."""
    deepest = depth = 0
    for close, name, empty in _TAG.findall(source):
        if empty or name.lower() in _VOID:
            continue
        depth = max(0, depth - 1) if close else depth + 1
        deepest = max(deepest, depth)
    return deepest
