"""What an answer of a web server is, and what an HTML page says: its links, its wishes, its main
content."""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ombud.sources.matching import plugin_endings
from ombud.sources.web.urls import absolute, path_of

DEEPEST = 1000
"""Open tags. The tree builder takes time quadratic in the depth; real pages stay below 100."""
LARGEST_HTML = 20 * 2**20
MOST_LINKS = 5000
LITTLE = 200
"""Characters below which a main part is an empty shell, or holds only a search box."""

_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
    "message/rfc822": ".eml",
    "application/vnd.oasis.opendocument.text": ".odt",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
}
_VAGUE = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/zip",
        "text/plain",
        "application/download",
        "application/force-download",
    }
)
"""Types that servers give to what they do not know: the address says more."""
_BY_NAME = {suffix: suffix for suffix in _TYPES.values()} | {".htm": ".html", ".markdown": ".md"}
_ZIPPED = frozenset({".docx", ".xlsx", ".pptx", ".odt"})
_TEXTS = frozenset({".html", ".txt", ".md", ".csv"})
_NOT_READ = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?"
    r"|css|js|mjs|map|json|woff2?|ttf|eot"
    r"|mp[34]|m4[av]|mov|avi|webm|og[gv]|wav"
    r"|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|msi|dmg|iso|apk|deb|rpm|jar"
    r"|rss|atom|ics|vcf)$",
    re.IGNORECASE,
)

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*?(/?)>")
_VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()  # noqa: SIM905
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?\s*([\w-]+)", re.IGNORECASE)
_CHARSET = re.compile(r"charset=[\"']?\s*([\w-]+)", re.IGNORECASE)
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)

_FURNITURE = (
    "nav, aside, body > header, body > footer, footer, script, style, noscript, template, iframe, "
    "dialog, input, [role=navigation], [role=banner], [role=contentinfo], [role=search], "
    "[role=complementary], [role=dialog], [role=alertdialog], [role=menu], [role=menubar], "
    "[hidden], [aria-hidden=true], [aria-modal=true]"
)
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
    """UTF-8 HTML of title and main content."""


def worth_asking(url: str) -> bool:
    """False for pictures, programs and the like, by their ending."""
    return not _NOT_READ.search(path_of(url)) or bool(_plugin_kind(url))


def _plugin_kind(url: str) -> str:
    """The ending of an address that a parser of a plugin reads; else empty."""
    suffix = PurePosixPath(path_of(url)).suffix.lower()
    return suffix if suffix in plugin_endings() else ""


def kind_of(url: str, headers: Mapping[str, str], body: bytes | None = None) -> str:
    """The ending that content of this kind gets; empty for what is no document.

    body: what it really is wins over what the server calls it, once it is there.
    """
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    vague = media_type in _VAGUE
    plugin = _plugin_kind(url)
    if plugin and (vague or media_type not in _TYPES):
        return plugin
    by_name = _BY_NAME.get(PurePosixPath(path_of(url)).suffix.lower(), "")
    kind = _TYPES.get(media_type, "")
    if vague and by_name:
        kind = by_name
    if body is not None:
        return _kind_of_body(body, media_type, kind, by_name)
    return kind if media_type else kind or ".html"


def _kind_of_body(body: bytes, media_type: str, kind: str, by_name: str) -> str:
    """What the bytes are; `kind` and `by_name` are what the server and the address say."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_ZIP):
        return next((zipped for zipped in (kind, by_name) if zipped in _ZIPPED), "")
    signed = _kind_of_signature(start)
    if signed:
        return signed
    if kind in {".pdf", *_ZIPPED}:
        return ""  # neither what it is called nor a page
    unnamed = not kind and not media_type
    if unnamed and b"\0" not in start:
        return ".html" if b"<" in start else ".txt"
    return _text_or_nothing(kind, body)


def _text_or_nothing(kind: str, body: bytes) -> str:
    """Empty for what is called a text and is none."""
    if kind in _TEXTS and _is_binary(body):
        return ""
    return kind


_ZIP = b"PK\x03\x04"


def _kind_of_signature(start: bytes) -> str:
    """Of bytes that say themselves what they are; else empty."""
    if start.startswith(b"%PDF-"):
        return ".pdf"
    if start[:100].lower().startswith((b"<!doctype html", b"<html")):
        return ".html"
    return ""


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


def text_of(body: bytes, headers: Mapping[str, str]) -> str:
    """Decoded by byte order mark, header, the page itself, else UTF-8 or Windows-1252."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, errors="replace")
    for name in _named_encodings(body, headers):
        encoding = _ALIASES.get(name.lower(), name)
        try:
            if name and codecs.lookup(encoding)._is_text_encoding:
                return body.decode(encoding, errors="replace")
        except LookupError:
            continue
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def _named_encodings(body: bytes, headers: Mapping[str, str]) -> Iterator[str]:
    """As the header calls it, then as the page does."""
    header = _CHARSET.search(headers.get("content-type", ""))
    if header:
        yield header.group(1)
    inside = _META_CHARSET.search(body[:4096])
    if inside:
        yield inside.group(1).decode("ascii")


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ALIASES = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
}
"""As browsers read them."""


def read_page(url: str, body: bytes, headers: Mapping[str, str]) -> WebPage:
    """What a page says. One that nests too deeply for the tree builder keeps its bytes and has no
    links."""
    source = text_of(body, headers).replace("\0", "")
    if depth_of(source) > DEEPEST:
        return WebPage(content=source.encode(errors="replace"), listed=not refuses_index(headers))
    tree = LexborHTMLParser(source)
    wishes = _wishes(tree)
    base = _base(tree, url)
    for_browsers_without_scripts = _taken_out(tree, "noscript")
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
    main = main_content(tree)
    lines = tree.body.text(separator="\n", strip=True).splitlines() if tree.body else []
    return shown._replace(
        lines=tuple(lines),
        content=document(shown.title, main, _language(tree)),
    )


def _taken_out(tree: LexborHTMLParser, selector: str) -> str:
    """The words of the elements that fit, which are removed."""
    words = []
    for node in tree.css(selector):
        words.append(node.text(separator=" ", strip=True))
        node.decompose()
    return "".join(words)


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


def document(title: str, content: str, language: str = "") -> bytes:
    """A page of one main part, for the parser of documents."""
    lang = ""
    if re.fullmatch(r"[A-Za-z-]{2,20}", language):
        lang = f' lang="{language}"'
    words = title.replace("&", "&amp;").replace("<", "&lt;")
    head = (
        f'<!DOCTYPE html>\n<html{lang}><head><meta charset="utf-8"><title>{words}</title></head>\n'
    )
    page = f"{head}<body><main>{content}</main></body></html>\n"
    return page.encode(errors="replace")


def main_content(tree: LexborHTMLParser) -> str:
    """HTML of the main part, tables whole; the tree is changed."""
    if not tree.body:
        return ""
    whole = _inside(tree.body)
    main = tree.css_first("main") or tree.css_first("[role=main]") or _only(tree, "article")
    for node in _furniture(tree):
        node.decompose()
    if main and _is_main(main, tree.body):
        return _inside(main)
    if tree.body.text().strip():
        return _inside(tree.body)
    return whole


def _is_main(main: LexborNode, body: LexborNode) -> bool:
    """Not an empty shell, and no small part of the page."""
    letters = len(main.text())
    return letters >= LITTLE or len(body.text()) <= 4 * letters


def _furniture(tree: LexborHTMLParser) -> list[LexborNode]:
    marked = {node.mem_id for node in tree.css(_FURNITURE)}
    kept = _around_the_main_part(tree)

    def is_furniture(node: LexborNode) -> bool:
        if node.mem_id in kept:
            return False
        return _is_furniture(node, node.mem_id in marked)

    return outermost(tree.root, is_furniture)


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


def _inside(node: LexborNode) -> str:
    return node.inner_html or ""


def _only(tree: LexborHTMLParser, tag: str) -> LexborNode | None:
    nodes = tree.css(tag)
    return nodes[0] if len(nodes) == 1 else None


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


def _is_binary(body: bytes) -> bool:
    return body.count(0) > len(body) // 1000 and not body.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    )
