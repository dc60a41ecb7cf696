"""Papers of arXiv, against an emulator of its Atom API."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ombud.errors import SourceError
from ombud.settings import Arxiv
from ombud.sources import Ref, arxiv, open_source
from ombud.sources.arxiv import ArxivSource
from sources.web.site import Reply, Site, Time, fetcher, serving

ATOM = 'xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'


class Emulator:
    def __init__(self, site: Site) -> None:
        self.site = site
        self.papers: dict[str, int] = {}
        """Id -> latest version."""
        self.asked: list[dict[str, str]] = []
        self.empty = 0
        """Answers that are empty by mistake before there is a right one."""
        self.raw: Reply | None = None
        site.otherwise = self.answer

    def answer(self, path: str, headers: Mapping[str, str]) -> Reply:
        if path.startswith("/pdf/"):
            return Reply(f"%PDF-1.5 {path}".encode(), headers={"content-type": "application/pdf"})
        query = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
        self.asked.append(query)
        if self.raw:
            return self.raw
        ids = query["id_list"].split(",") if "id_list" in query else list(self.papers)
        start, most = int(query.get("start", 0)), int(query["max_results"])
        entries = [self.entry(paper) for paper in ids[start : start + most]]
        if self.empty:
            self.empty, entries = self.empty - 1, []
        total = f"<opensearch:totalResults>{len(ids)}</opensearch:totalResults>"
        feed = (
            f'<?xml version="1.0" encoding="UTF-8"?><feed {ATOM}>{total}{"".join(entries)}</feed>'
        )
        return Reply(feed.encode(), headers={"content-type": "application/atom+xml"})

    def entry(self, asked: str) -> str:
        paper, _, version = asked.partition("v") if asked[:1].isdigit() else (asked, "", "")
        if paper not in self.papers:
            return "<entry><id>http://arxiv.org/abs/</id><title></title></entry>"
        whole = f"{paper}v{version or self.papers[paper]}"
        return (
            f"<entry><id>http://arxiv.org/abs/{whole}</id>"
            f"<updated>2026-01-0{version or 1}T00:00:00Z</updated>"
            "<published>2025-12-01T00:00:00Z</published>"
            f"<title>Paper {paper}:\n  a &lt;study&gt;</title>"
            "<summary>  We show\n that p &lt; .05 &amp; more. </summary>"
            "<author><name>A. Name</name></author>"
            f"<author><name>B. Name</name></author><category term='cs.CL'/>"
            f"<link href='http://arxiv.org/abs/{whole}' rel='alternate' type='text/html'/>"
            f"<link title='pdf' href='{self.site.url}/pdf/{whole}' rel='related' "
            "type='application/pdf'/></entry>"
        )


@pytest.fixture
def api() -> Iterator[Emulator]:
    with serving() as site:
        emulator = Emulator(site)
        emulator.papers = {"2401.00001": 1, "2401.00002": 3, "cs/0112017": 1}
        yield emulator


def source(
    api: Emulator, time: Time | None = None, spacing: float = 0.0, **fields: Any
) -> ArxivSource:
    return ArxivSource(
        Arxiv(name="ax", url=f"{api.site.url}/api/query", **fields), fetcher(time, spacing=spacing)
    )


def listed(refs: list[Ref]) -> list[tuple[str, str]]:
    return [(ref.uri, ref.version) for ref in refs]


def test_each_paper_is_an_abstract_and_a_pdf(api: Emulator) -> None:
    web = source(api, ids=("2401.00002", "cs/0112017"))
    refs = web.list()
    assert [ref.uri for ref in refs] == [
        "ax/2401.00002.html",
        "ax/2401.00002.pdf",
        "ax/cs/0112017.html",
        "ax/cs/0112017.pdf",
    ]
    assert refs[1].version == "v3"
    assert refs[0].facts["title"] == "Paper 2401.00002: a <study>"
    assert refs[0].facts["url"] == "https://arxiv.org/abs/2401.00002v3"
    text = web.read(refs[0]).decode()
    for kept in (
        "<h1>Paper 2401.00002: a &lt;study&gt;</h1>",
        "We show that p &lt; .05 &amp; more.",
        "A. Name, B. Name",
    ):
        assert kept in text
    assert web.read(refs[1]) == b"%PDF-1.5 /pdf/2401.00002v3"


def test_the_pdf_can_be_left_out(api: Emulator) -> None:
    assert [ref.uri for ref in source(api, ids=("2401.00001",), pdf=False).list()] == [
        "ax/2401.00001.html"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2401.00002v2",
        "arXiv:2401.00002v2",
        "https://arxiv.org/abs/2401.00002v2",
        "arxiv.org/pdf/2401.00002v2.pdf",
    ],
)
def test_an_id_may_name_a_version(api: Emulator, text: str) -> None:
    assert ("ax/2401.00002.pdf", "v2") in listed(source(api, ids=(text,)).list())


def test_a_query_is_read_page_by_page(api: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arxiv, "BATCH", 2)
    api.papers = {f"2401.{number:05}": 1 for number in range(7)}
    assert len(source(api, query="cat:cs.CL", pdf=False).list()) == 7
    assert [query["start"] for query in api.asked] == ["0", "2", "4", "6"]
    web = source(api, query="cat:cs.CL", pdf=False, papers=3)
    assert len(web.list()) == 3
    assert [(left.uri, left.why) for left in web.left_out] == [
        ("4 papers of the query", "`papers` is 3")
    ]


def test_ids_and_a_query_together(api: Emulator) -> None:
    assert len(source(api, ids=("cs/0112017",), query="all:leave", pdf=False).list()) == 3


def test_an_empty_page_by_mistake_is_asked_for_again(api: Emulator) -> None:
    api.empty = 2
    assert len(source(api, query="all:leave", pdf=False).list()) == 3
    api.empty = 99
    with pytest.raises(SourceError, match="empty page") as wrong:
        source(api, query="all:leave").list()
    assert wrong.value.hint


def test_nothing_found_is_an_error_and_one_missing_is_not(api: Emulator) -> None:
    web = source(api, ids=("2401.00001v1", "9999.99999"), pdf=False)
    assert len(web.list()) == 1
    assert [left.uri for left in web.left_out] == ["9999.99999"]
    for fields in ({"ids": ("9999.99999",)}, {"query": "all:nothing"}):
        api.papers = {}
        with pytest.raises(SourceError, match="no paper"):
            source(api, **fields).list()


def test_requests_are_three_seconds_apart(api: Emulator) -> None:
    assert arxiv.REQUEST_SPACING == 3.0
    time = Time()
    web = source(api, time, arxiv.REQUEST_SPACING, ids=("2401.00001",))
    web.read(web.list()[1])
    assert time.waits == [3.0]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html><body>x</body></html>"),
        Reply(b"not xml"),
        Reply(b""),
        Reply(status=400),
        Reply(status=404),
        Reply(b'<!DOCTYPE feed [<!ENTITY a "aaaa">]><feed>&a;</feed>'),
        Reply(
            f"<feed {ATOM}><entry><id>http://arxiv.org/api/errors#x</id><title>Error</title>"
            "<summary>incorrect id format</summary></entry></feed>".encode()
        ),
    ],
)
def test_what_is_no_feed_is_an_error(api: Emulator, reply: Reply) -> None:
    api.raw = reply
    with pytest.raises(SourceError):
        source(api, ids=("2401.00001",)).list()


def test_a_pdf_that_is_none_fails_alone(api: Emulator) -> None:
    web = source(api, ids=("2401.00001", "cs/0112017"))
    refs = web.list()
    api.site.send("/pdf/2401.00001v1", "<html>being made</html>", "text/html")
    api.site.send("/pdf/cs/0112017v1", "", status=404)
    for ref in (refs[1], refs[3]):
        with pytest.raises(SourceError):
            web.read(ref)


def test_a_pdf_inside_the_network_is_refused(api: Emulator) -> None:
    web = source(api, ids=("2401.00001",))
    ref = web.list()[1]
    with pytest.raises(SourceError, match="inside the network"):
        web.read(ref._replace(place=f"http://127.0.0.1:{api.site.server_port}/pdf/x"))


@pytest.mark.parametrize(
    "fields", [{}, {"ids": ("nonsense",)}, {"ids": ("2401.1",)}, {"query": "x", "url": "file:///x"}]
)
def test_settings_that_cannot_be_right(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(SourceError) as wrong:
        open_source(Arxiv(name="ax", **fields), tmp_path)
    assert wrong.value.hint
