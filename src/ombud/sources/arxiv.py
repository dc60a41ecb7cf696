"""Papers of arXiv through its query API: the abstract and the PDF."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from ombud.errors import SourceError
from ombud.settings import Arxiv
from ombud.sources.client import PublicClient, checked, refused
from ombud.sources.guard import Network
from ombud.sources.matching import matching_of
from ombud.sources.source import LeftOut, Ref, first_of
from ombud.sources.trees import local, read_tree, words
from ombud.sources.web.pages import document

REQUEST_SPACING = 3.0
"""Seconds between two requests, as arXiv asks of everyone."""
BATCH = 100
PAPER = re.compile(r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d{1,3})?")

_ADDRESS_PARTS = re.compile(
    r"^(?:https?://)?(?:[a-z.]*arxiv\.org/(?:abs|pdf)/|arxiv:)|\.pdf$", re.IGNORECASE
)


class Paper(NamedTuple):
    id: str
    """The id without the version, which is no part of a document's name."""
    version: str
    title: str
    authors: tuple[str, ...]
    subjects: tuple[str, ...]
    published: str
    updated: str
    comment: str
    summary: str
    page: str
    pdf: str


def open_arxiv(place: Arxiv, home: Path) -> "ArxivSource":
    del home
    if not place.query and not place.ids:
        raise SourceError(
            f"source `{place.name}` has neither query nor ids.", hint='query = "cat:cs.CL"'
        )
    checked(place.url)
    return ArxivSource(place, PublicClient(Network(place.private_hosts), spacing=REQUEST_SPACING))


class ArxivSource:
    """Papers by id, then those of the query, up to `papers` in all; each is a document of the
    abstract and, with `pdf`, one of the PDF. Raises SourceError for an invalid id."""

    def __init__(self, place: Arxiv, client: PublicClient) -> None:
        self.name = place.name
        self.chunker = place.chunker
        self._place = place
        self._client = client
        self._matching = matching_of(place)
        self._ids = list(map(read_paper_id, place.ids))
        self._abstracts: dict[str, bytes] = {}
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        self.left_out = []
        try:
            named = ((paper.id, paper) for paper in self._papers())
            papers, cut = first_of(named, self._place.papers, "papers")
        finally:
            self._client.close()
        self.left_out += cut
        if not papers:
            raise SourceError(
                "arXiv has no paper of these ids or this query.", hint="Are they spelled as there?"
            )
        self._abstracts = {f"{paper.id}.html": abstract_page(paper) for paper in papers.values()}
        refs: list[Ref] = []
        for paper in papers.values():
            refs += self._refs(paper)
        return sorted(refs, key=lambda ref: ref.uri)

    def read(self, ref: Ref) -> bytes:
        path = ref.uri.removeprefix(f"{self.name}/")
        if path.endswith(".html"):
            if path in self._abstracts:
                return self._abstracts[path]
            raise SourceError("Its abstract was not listed.", hint="Sync again.")
        try:
            reply = self._client.get(ref.place)
        finally:
            self._client.close()
        if not reply.ok:
            raise refused(reply)
        if not reply.body.startswith(b"%PDF-"):
            raise SourceError(
                f"{reply.url} is no PDF.", hint="arXiv makes some on demand: try later."
            )
        return reply.body

    def _refs(self, paper: Paper) -> Iterator[Ref]:
        abstract = f"{paper.id}.html"
        if self._matching.wanted(abstract):
            version = f"{paper.version} {paper.updated}"
            yield self._ref(abstract, paper, paper.page, version)
        pdf = f"{paper.id}.pdf"
        if not self._place.pdf or not self._matching.wanted(pdf):
            return
        if paper.pdf:
            yield self._ref(pdf, paper, paper.pdf, paper.version)
        else:
            self.left_out.append(LeftOut(uri=pdf, why="arXiv names no PDF of it"))

    def _ref(self, path: str, paper: Paper, url: str, version: str) -> Ref:
        facts = {"title": paper.title, "url": url}
        return Ref(
            uri=f"{self.name}/{path}",
            place=url,
            size=0,
            facts=facts | self._matching.facts_of(path),
            version=version,
        )

    def _papers(self) -> Iterator[Paper]:
        for start in range(0, len(self._ids), BATCH):
            batch = self._ids[start : start + BATCH]
            feed = self._query({"id_list": ",".join(batch), "max_results": str(len(batch))})
            papers = {paper.id: paper for paper in read_entries(feed)}
            for paper_id in batch:
                if PAPER.sub(r"\g<id>", paper_id) not in papers:
                    self.left_out.append(LeftOut(uri=paper_id, why="arXiv has no such paper"))
            yield from papers.values()
        start = 0
        total = 1
        while self._place.query and start < min(total, self._place.papers):
            most = min(BATCH, self._place.papers - start)
            page = {
                "search_query": self._place.query,
                "start": str(start),
                "max_results": str(most),
            }
            # A fixed order, or papers would be missed between two pages.
            feed, total = self._result_page(
                page | {"sortBy": "submittedDate", "sortOrder": "descending"}, start
            )
            yield from read_entries(feed)
            start += most
        if self._place.query and total > start:
            left = LeftOut(f"{total - start:,} papers of the query", f"`papers` is {start:,}")
            self.left_out.append(left)

    def _result_page(self, parameters: Mapping[str, str], start: int) -> tuple[Element, int]:
        """Query a page of results and their total number. The API sometimes sends an empty page by
        mistake; raises SourceError if it does so on every try, as the list would be incomplete."""
        for _ in range(PublicClient.POLICY.tries):
            feed = self._query(parameters)
            results = words(first_child(feed, "totalResults"))
            total = int(results) if results.isdigit() else 0
            at_the_end = results.isdigit() and total <= start
            if at_the_end or first_child(feed, "entry") is not None:
                return feed, total
        raise SourceError("arXiv sent an empty page of results.", hint="Try again later.")

    def _query(self, parameters: Mapping[str, str]) -> Element:
        mark = "&" if "?" in self._place.url else "?"
        reply = self._client.get(f"{self._place.url}{mark}{urlencode(parameters)}")
        if reply.status == 400:
            raise SourceError(
                "arXiv does not understand what is asked.", hint="Check `query` and `ids`."
            )
        if not reply.ok:
            raise refused(reply)
        feed = read_tree(reply.body, f"The answer of {self._place.url}")
        if local(feed) != "feed":
            raise SourceError(
                f"{self._place.url} sent no feed.", hint="It must be arXiv's query API."
            )
        for entry in feed:
            if local(entry) == "entry" and "/api/errors" in words(first_child(entry, "id")):
                reason = words(first_child(entry, "summary"))[:300].rstrip(".")
                raise SourceError(f"arXiv answered: {reason}.", hint="Check `query` and `ids`.")
        return feed


def read_paper_id(text: str) -> str:
    """Read an id, also from an address such as https://arxiv.org/abs/2401.01234v2."""
    plain = _ADDRESS_PARTS.sub("", text.strip())
    if not PAPER.fullmatch(plain):
        raise SourceError(
            f"`{text}` is no id of arXiv.", hint="Such as 2401.01234, 2401.01234v2 or cs/0112017."
        )
    return plain


def read_entries(feed: Element) -> Iterator[Paper]:
    for entry in feed:
        if local(entry) != "entry":
            continue
        match = PAPER.search(words(first_child(entry, "id")))
        # An id that does not exist comes back as an entry without a title.
        if match and words(first_child(entry, "title")):
            yield read_paper(entry, match.group("id"), match.group("version") or "v1")


def read_paper(entry: Element, paper_id: str, version: str) -> Paper:
    page = find_link(entry, "rel", "alternate") or words(first_child(entry, "id"))
    authors = [words(first_child(author, "name")) for author in child_elements(entry, "author")]
    subjects = [category.get("term", "") for category in child_elements(entry, "category")]
    return Paper(
        id=paper_id,
        version=version,
        title=words(first_child(entry, "title")),
        authors=tuple(authors),
        subjects=tuple(subjects),
        published=words(first_child(entry, "published"))[:10],
        updated=words(first_child(entry, "updated")),
        comment=words(first_child(entry, "comment")),
        summary=words(first_child(entry, "summary")),
        page=https_address(page),
        pdf=https_address(find_link(entry, "title", "pdf")),
    )


def find_link(entry: Element, attribute: str, value: str) -> str:
    """Return the first link with this attribute, or an empty string."""
    for link in child_elements(entry, "link"):
        if link.get(attribute) == value:
            return link.get("href", "")
    return ""


def child_elements(element: Element, name: str) -> list[Element]:
    return [child for child in element if local(child) == name]


def https_address(url: str) -> str:
    """Replace http, which the feed still names and arXiv redirects."""
    return re.sub(r"^http://((?:[a-z]+\.)?arxiv\.org/)", r"https://\1", url)


def first_child(element: Element, name: str) -> Element | None:
    return next(iter(child_elements(element, name)), None)


def abstract_page(paper: Paper) -> bytes:
    rows = {
        "Authors": ", ".join(paper.authors),
        "Subjects": ", ".join(paper.subjects),
        "Published": paper.published,
        "Updated": paper.updated[:10],
        "Comments": paper.comment,
        "arXiv": f"{paper.id}{paper.version}",
    }
    lines = [f"<li>{name}: {escape(value)}</li>" for name, value in rows.items() if value]
    content = (
        f"<h1>{escape(paper.title)}</h1>"
        f"<h2>Abstract</h2><p>{escape(paper.summary)}</p>"
        f"<ul>{''.join(lines)}</ul>"
    )
    return document(paper.title, content)
