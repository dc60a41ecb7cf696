"""Pages of a MediaWiki: against an emulator of its API, and against a real one where it is
installed."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.settings import Web, Wikipedia
from ombud.sources import Ref, open_source, wikipedia
from ombud.sources.wikipedia import WikipediaSource
from ombud.types import Document
from sources.real_mediawiki import Wiki, running
from sources.web.site import HOST, Reply, Site, Time, fetcher, serving

JSON = {"content-type": "application/json"}
NOISE = """<div class="mw-parser-output">
<div class="navbox"><div class="navbox"><a>Navigation</a></div></div>
<p>Leave is <b>paid</b> for 25<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a>\
</sup> days, <s>not 24</s>, see <a href="/wiki/Sick_pay">sick pay</a>.</p>
<h2>Days<span class="mw-editsection">[edit]</span></h2>
<table class="wikitable"><tr><th>Years<th>Days<tr><td>5<td>27</table>
<div class="mw-references-wrap"><ol class="references"><li id="cite_note-1">\
<span class="mw-cite-backlink"><a href="#cite_ref-1">↑</a></span> \
<span class="reference-text">In Ireland 23</span></li></ol></div>
<!-- Cached time: 1 --></div>"""


def read_article(data: bytes) -> Document:
    return parse(data, Document(id="0" * 16, source="wiki", uri="wiki/A.html", title="A"))


class Emulator:
    """api.php as far as the source uses it: titles with redirects, categories with continuation,
    parse."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pages: dict[str, int] = {}
        """Title -> revision."""
        self.redirects: dict[str, str] = {}
        self.categories: dict[str, list[str]] = {}
        self.batch = 2
        self.asked: list[dict[str, str]] = []
        self.texts: dict[int, str] = {}
        self.before: list[Reply] = []
        """Sent first, one for each request."""
        site.otherwise = self.answer

    def answer(self, path: str, headers: Mapping[str, str]) -> Reply:
        query = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
        self.asked.append(query)
        if self.before:
            return self.before.pop(0)
        said = self.parsed(query) if query["action"] == "parse" else self.queried(query)
        return Reply(json.dumps(said).encode(), headers=JSON)

    def queried(self, query: Mapping[str, str]) -> dict[str, Any]:
        if "titles" in query:
            return {
                "query": {
                    "pages": [self.page(title) for title in query["titles"].split("\x1f") if title]
                }
            }
        titles = self.categories.get(query["gcmtitle"], [])
        if not titles:
            return {"batchcomplete": True}
        start = int(query.get("gcmcontinue", "0"))
        said: dict[str, Any] = {
            "query": {"pages": [self.page(t) for t in titles[start : start + self.batch]]}
        }
        if start + self.batch < len(titles):
            said["continue"] = {"gcmcontinue": str(start + self.batch), "continue": "gcmcontinue||"}
        return said

    def page(self, title: str) -> dict[str, Any]:
        title = self.redirects.get(title, title)
        if "[" in title:
            return {"title": title, "invalid": True, "invalidreason": "no"}
        if title not in self.pages:
            return {"ns": 0, "title": title, "missing": True}
        url = f"https://wiki.test/wiki/{title.replace(' ', '_')}"
        return {
            "title": title,
            "lastrevid": self.pages[title],
            "canonicalurl": url,
            "pagelanguage": "en-gb",
        }

    def parsed(self, query: Mapping[str, str]) -> dict[str, Any]:
        revision = int(query["oldid"])
        title = next((t for t, r in self.pages.items() if r == revision), "")
        if not title:
            return {
                "error": {
                    "code": "nosuchrevid",
                    "info": f"There is no revision with ID {revision}.",
                }
            }
        return {
            "parse": {"title": title, "revid": revision, "text": self.texts.get(revision, NOISE)}
        }


@pytest.fixture
def wiki() -> Iterator[Emulator]:
    with serving() as site:
        emulator = Emulator(site)
        emulator.pages = {"Annual leave": 7, "AC/DC & co": 8, "Überstunden": 9}
        yield emulator


def source(wiki: Emulator, time: Time | None = None, **fields: Any) -> WikipediaSource:
    place = Wikipedia(name="wiki", url=f"{wiki.site.url}/w/api.php", **fields)
    return WikipediaSource(place, fetcher(time))


def uris(refs: list[Ref]) -> list[str]:
    return [ref.uri for ref in refs]


def test_titles_become_documents(wiki: Emulator) -> None:
    refs = source(wiki, titles=("Annual leave", "AC/DC & co", "Überstunden"), country="GB").list()
    assert uris(refs) == ["wiki/AC/DC_&_co.html", "wiki/Annual_leave.html", "wiki/Überstunden.html"]
    leave = refs[1]
    assert leave.version.startswith("7")
    assert dict(leave.facts) == {
        "title": "Annual leave",
        "url": "https://wiki.test/wiki/Annual_leave",
        "language": "en",
        "countries": ("GB",),
    }


def test_what_is_read_is_the_article_without_furniture(wiki: Emulator) -> None:
    web = source(wiki, titles=("Annual leave",))
    text = web.read(web.list()[0]).decode()
    for kept in (
        "<title>Annual leave</title>",
        "<h1>Annual leave</h1>",
        "<b>paid</b>",
        "<td>27</td>",
        'lang="en"',
    ):
        assert kept in text
    for gone in ("Navigation", "[edit]", "↑", "Cached time"):
        assert gone not in text


def test_titles_that_the_wiki_does_not_have_are_named(wiki: Emulator) -> None:
    web = source(wiki, titles=("Annual leave", "Nothing"))
    web.list()
    assert [left.uri for left in web.left_out] == ["Nothing"]
    assert web.left_out[0].why


def test_an_article_of_any_title_is_read(wiki: Emulator) -> None:
    wiki.pages["Who's #1? 50%"] = 10
    here = source(wiki, titles=("Who's #1? 50%",))
    (ref,) = here.list()
    assert ref.uri == "wiki/Who's_#1?_50%.html"
    known = Document(id="0" * 16, source="wiki", uri=ref.uri, title="")
    found = parse(here.read(ref), known)
    assert "Leave is paid" in found.text


def test_redirects_are_the_page_they_mean(wiki: Emulator) -> None:
    wiki.redirects = {"Holidays": "Annual leave"}
    assert uris(source(wiki, titles=("Holidays", "Annual leave")).list()) == [
        "wiki/Annual_leave.html"
    ]


def test_a_missing_title_does_not_stop_the_rest(wiki: Emulator) -> None:
    assert uris(source(wiki, titles=("Nothing", "Annual leave", "Bad[x")).list()) == [
        "wiki/Annual_leave.html"
    ]
    with pytest.raises(SourceError, match=r"none of these: Nothing, Bad\[x") as wrong:
        source(wiki, titles=("Nothing", "Bad[x")).list()
    assert wrong.value.hint


def test_many_titles_are_asked_for_in_batches(wiki: Emulator) -> None:
    wiki.pages = {f"Page {number}": number for number in range(1, 121)}
    assert len(source(wiki, titles=tuple(wiki.pages)).list()) == 120
    assert len(wiki.asked) == 3
    wiki.asked.clear()
    wiki.pages = {f"{'Ü' * 200} {number}": number for number in range(1, 8)}
    assert len(source(wiki, titles=tuple(wiki.pages)).list()) == 7
    assert len(wiki.asked) == 7


@pytest.mark.parametrize("name", ["HR", "Category:HR", "category: HR"])
def test_categories_are_read_to_the_end(wiki: Emulator, name: str) -> None:
    wiki.pages = {f"P{number}": number for number in range(1, 6)}
    wiki.categories = {"Category:HR": list(wiki.pages)}
    assert len(source(wiki, categories=(name,)).list()) == 5
    assert len(wiki.asked) == 3
    web = source(wiki, categories=(name,), pages=3)
    assert len(web.list()) == 3
    assert [(left.uri, left.why) for left in web.left_out] == [
        ("P4", "`pages` is 3; what follows it is left out, too")
    ]


def test_a_category_without_pages_is_named(wiki: Emulator) -> None:
    wiki.categories = {"Category:HR": []}
    web = source(wiki, titles=("Annual leave",), categories=("HR",))
    assert len(web.list()) == 1
    assert [left.uri for left in web.left_out] == ["Category:HR"]


def test_patterns_match_titles(wiki: Emulator) -> None:
    found = source(
        wiki, titles=tuple(wiki.pages), exclude=("AC/**",), patterns={"Ü*": {"country": "DE"}}
    ).list()
    assert uris(found) == ["wiki/Annual_leave.html", "wiki/Überstunden.html"]
    assert [ref.facts.get("countries", ()) for ref in found] == [(), ("DE",)]


def test_a_wiki_that_is_busy_is_asked_again(wiki: Emulator) -> None:
    lag = {"error": {"code": "maxlag", "info": "Waiting for a server: 6 seconds lagged."}}
    busy = Reply(
        json.dumps(lag).encode(),
        headers={**JSON, "mediawiki-api-error": "maxlag", "retry-after": "5"},
    )
    wiki.before = [busy, Reply(status=429, headers={"retry-after": "9"})]
    time = Time()
    assert source(wiki, time, titles=("Annual leave",)).list()
    assert time.waits == [5.0, 10.0]
    wiki.before = [busy] * 5
    with pytest.raises(SourceError, match="lagged"):
        source(wiki, titles=("Annual leave",)).list()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>a page</html>"),
        Reply(b"[]"),
        Reply(b'{"query": 7}'),
        Reply(b'{"query": {"pages": [7]}}'),
        Reply(b'{"query": {"pages": [{"lastrevid": "x"}]}}'),
        Reply(status=404),
        Reply(b"[" * 100_000),
        Reply(b'{"error": {"code": "readapidenied", "info": "You need read permission"}}'),
        Reply(b'{"error": 7}'),
    ],
)
def test_what_is_no_answer_of_a_wiki_is_an_error(wiki: Emulator, reply: Reply) -> None:
    wiki.before = [reply]
    with pytest.raises(SourceError):
        source(wiki, titles=("Annual leave",)).list()


def test_a_revision_that_is_gone_fails_alone(wiki: Emulator) -> None:
    web = source(wiki, titles=("Annual leave",))
    (ref,) = web.list()
    wiki.pages.clear()
    with pytest.raises(SourceError, match="no revision with ID 7"):
        web.read(ref)


def test_a_wiki_that_continues_for_ever_is_left(
    wiki: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wikipedia, "MAX_REQUESTS", 20)
    count = iter(range(1000))
    wiki.site.otherwise = lambda path, headers: Reply(
        json.dumps({"continue": {"x": next(count)}}).encode()
    )
    with pytest.raises(SourceError, match="without end"):
        source(wiki, categories=("HR",)).list()


def test_deep_nesting_is_left_to_the_parser(wiki: Emulator) -> None:
    wiki.texts[7] = "<div>" * 50_000 + "deep"
    web = source(wiki, titles=("Annual leave",))
    assert b"deep" in web.read(web.list()[0])


@pytest.mark.parametrize("fields", [{}, {"titles": ("A",), "url": "ftp://x"}])
def test_settings_that_cannot_be_right(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(SourceError) as wrong:
        open_source(Wikipedia(name="wiki", **fields), tmp_path)
    assert wrong.value.hint


def test_a_wiki_inside_the_network_must_be_allowed(wiki: Emulator, tmp_path: Path) -> None:
    place = Wikipedia(
        name="wiki",
        url=f"http://127.0.0.1:{wiki.site.server_port}/api.php",
        titles=("Annual leave",),
    )
    with pytest.raises(SourceError, match="inside the network"):
        open_source(place, tmp_path).list()
    allowed = place.model_copy(update={"private_hosts": ("127.0.0.1",)})
    assert len(open_source(allowed, tmp_path).list()) == 1
    assert HOST not in allowed.private_hosts


# A real one ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    with running(tmp_path_factory.mktemp("mediawiki")) as wiki:
        table = '{| class="wikitable"\n! Years !! Days\n|-\n| 5 || 27\n|}'
        wiki.edit(
            "Annual leave",
            f"Leave is '''paid''' for 25<ref>In Ireland 23</ref> days, <s>not 24</s>, see "
            f"[[Sick pay]].\n== Days ==\n{table}\n[[Category:HR]]",
        )
        wiki.edit("Sick pay", "From the first day, see [[Annual leave]]. [[Category:HR]]")
        wiki.edit("Pay/Überstunden", "Time and a half. [[Category:HR]]")
        wiki.edit("Holidays", "#REDIRECT [[Annual leave]]")
        wiki.settle()
        yield wiki


@pytest.mark.slow
def test_a_real_wiki_by_titles_and_category(real: Wiki, tmp_path: Path) -> None:
    place = Wikipedia(
        name="wiki",
        url=real.api,
        titles=("Holidays", "No such page", "Bad[x"),
        categories=("HR",),
        private_hosts=("127.0.0.1",),
    )
    web = open_source(place, tmp_path)
    refs = web.list()
    assert uris(refs) == [
        "wiki/Annual_leave.html",
        "wiki/Pay/Überstunden.html",
        "wiki/Sick_pay.html",
    ]
    text = web.read(refs[0]).decode()
    assert refs[0].facts["url"] == f"{real.url}/index.php/Annual_leave"
    assert "<b>paid</b>" in text
    assert "<td>27" in text
    for gone in ("[edit", "Cached time", "NewPP"):
        assert gone not in text
    assert web.read(refs[0]).decode() == text


@pytest.mark.slow
def test_a_real_wiki_after_an_edit_and_a_deletion(real: Wiki, tmp_path: Path) -> None:
    real.edit("Short notice", "Two weeks.")
    real.edit("Old rules", "Nothing.")
    place = Wikipedia(
        name="wiki",
        url=real.api,
        titles=("Short notice", "Old rules"),
        private_hosts=("127.0.0.1",),
    )
    web = open_source(place, tmp_path)
    before = {ref.uri: ref.version for ref in web.list()}
    real.edit("Short notice", "Three weeks.")
    real.delete("Old rules")
    (after,) = web.list()
    assert after.version != before[after.uri]
    assert b"Three weeks" in web.read(after)


@pytest.mark.slow
def test_a_real_wiki_as_a_web_site(real: Wiki, tmp_path: Path) -> None:
    place = Web(
        name="site",
        start=(f"{real.url}/index.php/Sick_pay",),
        depth=1,
        rate=100.0,
        private_hosts=("127.0.0.1",),
        include=("index.php/*",),
        exclude=(
            "**/Special:*",
            "**/Talk:*",
            "index.php/Category:*",
            "**/MediaWiki:*",
            "index.php",
        ),
    )
    first = open_source(place, tmp_path)
    refs = {ref.uri.partition("/index.php/")[2]: ref for ref in first.list()}
    assert {"Annual_leave.html", "Sick_pay.html"} <= set(refs)
    text = first.read(refs["Annual_leave.html"]).decode()
    assert "<td>27" in text
    assert "Log in" not in text
    second = open_source(place, tmp_path)
    assert {ref.uri: ref.version for ref in second.list()} == {
        ref.uri: ref.version for ref in refs.values()
    }
