"""Pages of any MediaWiki through its api.php."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from selectolax.lexbor import LexborHTMLParser

from ombud.errors import SourceError
from ombud.settings import Wikipedia
from ombud.sources.client import HttpResponse, PublicClient, checked, refused
from ombud.sources.guard import Network
from ombud.sources.json_values import as_object
from ombud.sources.matching import matching_of
from ombud.sources.source import WRITTEN_BY, LeftOut, Ref, first_of
from ombud.sources.web.pages import DEEPEST, complete_links, depth_of, document, outermost

BATCH = 50
BATCH_LETTERS = 2000
"""Titles in one request, as wikis allow to everyone, and as addresses may be long."""
MAX_REQUESTS = 5000
MISSING = "the wiki has no such page"
NO_MEMBERS = "the wiki has no pages in this category"
BUSY_CODES = frozenset({"maxlag", "ratelimited", "readonly"})
LANGUAGE = re.compile(r"[a-z]{2}(?=$|-)")
FURNITURE = (
    ".mw-editsection, .navbox, .vertical-navbox, .navbar, .sidebar, .toc, .toclimit, "
    ".metadata, .ambox, .noprint, "
    ".mw-empty-elt, .sistersitebox, .mw-jump-link, .mw-indicators, .navigation-not-searchable, "
    ".mw-cite-backlink, .mw-kartographer-map, .catlinks, .printfooter, style, script, link"
)


class Article(NamedTuple):
    title: str
    revision: int
    url: str
    language: str


def open_wikipedia(place: Wikipedia, home: Path) -> "WikipediaSource":
    del home
    if not place.titles and not place.categories:
        raise SourceError(
            f"source `{place.name}` has neither titles nor categories.",
            hint='titles = ["Sick leave"]',
        )
    checked(place.url)
    return WikipediaSource(place, PublicClient(Network(place.private_hosts)))


class WikipediaSource:
    """Pages of a wiki by title and category. Redirects are resolved, so that a page is one
    document; missing titles are left out, and it is an error if no page exists."""

    def __init__(self, place: Wikipedia, client: PublicClient) -> None:
        self.name = place.name
        self.chunker = place.chunker
        self._place = place
        self._client = client
        self._matching = matching_of(place)
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        self.left_out = []
        try:
            titled = ((article.title, article) for article in self._articles())
            articles, cut = first_of(titled, self._place.pages, "pages")
        finally:
            self._client.close()
        self.left_out += cut
        if not articles:
            missing = [one.uri for one in self.left_out]
            named = ", ".join(missing[:5])
            raise SourceError(
                f"{self._place.url} has none of these: {named}.", hint="Are they spelled as there?"
            )
        refs: list[Ref] = []
        for article in articles.values():
            path = f"{article.title.replace(' ', '_')}.html"
            if self._matching.wanted(path):
                refs.append(self._ref(article, path))
        return sorted(refs, key=lambda ref: ref.uri)

    def _ref(self, article: Article, path: str) -> Ref:
        facts = {"title": article.title, "url": article.url}
        language = LANGUAGE.match(article.language)
        if language:
            facts["language"] = language.group()
        revision = str(article.revision)
        return Ref(
            uri=f"{self.name}/{path}",
            place=revision,
            size=0,
            facts=facts | self._matching.facts_of(path),
            version=f"{revision}.{WRITTEN_BY}",
        )

    def read(self, ref: Ref) -> bytes:
        query = {
            "action": "parse",
            "oldid": ref.place,
            "prop": "text",
            "disableeditsection": "1",
            "disabletoc": "1",
            "disablelimitreport": "1",
        }
        try:
            answer = self._request(query)
        finally:
            self._client.close()
        try:
            text = str(answer["parse"]["text"])
            title = str(answer["parse"]["title"])
        except (LookupError, TypeError) as wrong:
            raise self._nonsense() from wrong
        language = str(ref.facts.get("language", ""))
        url = str(ref.facts["url"])
        return document(
            title, f"<h1>{escape(title, quote=False)}</h1>\n{clean_content(text, url)}", language
        )

    def _articles(self) -> Iterator[Article]:
        for batch in batch_titles(self._place.titles):
            # Separated by U+001F, as a title may contain the usual bar.
            yield from self._query_pages({"titles": "\x1f" + "\x1f".join(batch)})
        for category in self._place.categories:
            name = re.sub(r"^\s*category\s*:\s*", "", category, flags=re.IGNORECASE).strip()
            members = {
                "generator": "categorymembers",
                "gcmtitle": f"Category:{name}",
                "gcmtype": "page",
                "gcmlimit": "max",
            }
            is_empty = True
            for article in self._query_pages(members):
                is_empty = False
                yield article
            if is_empty:
                self.left_out.append(LeftOut(uri=f"Category:{name}", why=NO_MEMBERS))

    def _query_pages(self, what: Mapping[str, str]) -> Iterator[Article]:
        """Yield the pages of a query, following its continuations."""
        query = {
            "action": "query",
            "prop": "info",
            "inprop": "url",
            "redirects": "1",
            **what,
        }
        carried: dict[str, str] = {}
        for _ in range(MAX_REQUESTS):
            answer = self._request(query | carried)
            try:
                for page in answer.get("query", {}).get("pages", []):
                    if page.get("missing") or page.get("invalid"):
                        left = LeftOut(uri=str(page.get("title", "")), why=MISSING)
                        self.left_out.append(left)
                    elif page.get("lastrevid"):
                        yield read_article(page)
                following = {str(k): str(v) for k, v in answer.get("continue", {}).items()}
            except (AttributeError, LookupError, TypeError, ValueError) as wrong:
                raise self._nonsense() from wrong
            if not following or following == carried:
                return
            carried = following
        raise SourceError(f"{self._place.url} goes on without end.", hint="Ask for fewer pages.")

    def _request(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        mark = "&" if "?" in self._place.url else "?"
        query = urlencode(
            {
                **parameters,
                "format": "json",
                "formatversion": "2",
                "maxlag": "5",
            }
        )

        def is_busy(reply: HttpResponse) -> bool:
            return reply.headers.get("mediawiki-api-error", "") in BUSY_CODES

        reply = self._client.get(f"{self._place.url}{mark}{query}", is_busy=is_busy)
        if not reply.ok:
            raise refused(reply)
        try:
            answer = json.loads(reply.body)
        except (ValueError, RecursionError) as wrong:
            raise self._nonsense() from wrong
        if not isinstance(answer, dict):
            raise self._nonsense()
        if "error" in answer:
            raise self._refusal(as_object(answer["error"]))
        return answer

    def _refusal(self, error: Mapping[str, Any]) -> SourceError:
        info = str(error.get("info", "no reason given"))
        reason = info[:300].rstrip(".")
        code = str(error.get("code", ""))
        return SourceError(f"{self._place.url} answered: {reason}.", hint=hint_of(code))

    def _nonsense(self) -> SourceError:
        return SourceError(
            f"{self._place.url} sent no answer of a MediaWiki.",
            hint="It must be the wiki's api.php.",
        )


def batch_titles(titles: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for title in dict.fromkeys(title.strip() for title in titles):
        letters = len(quote("".join([*batch, title])))
        if batch and (len(batch) == BATCH or letters > BATCH_LETTERS):
            yield batch
            batch = []
        if title:
            batch.append(title)
    if batch:
        yield batch


def read_article(page: Mapping[str, Any]) -> Article:
    return Article(
        title=str(page["title"]),
        revision=int(page["lastrevid"]),
        url=str(page.get("canonicalurl") or page.get("fullurl") or ""),
        language=str(page.get("pagelanguage", "")),
    )


def clean_content(text: str, url: str) -> str:
    if depth_of(text) > DEEPEST:
        return text  # the parser will report it
    tree = LexborHTMLParser(text)
    complete_links(tree, url, url)
    body = tree.body
    if body is None:
        return ""
    marked = {node.mem_id for node in body.css(FURNITURE)}
    for node in outermost(body, lambda node: node.mem_id in marked or node.tag == "-comment"):
        node.decompose()
    return body.inner_html or ""


def hint_of(code: str) -> str:
    if code in {"readapidenied", "permissiondenied"}:
        return "Only wikis that everyone can read are read."
    return "Try again later." if code in BUSY_CODES else ""
