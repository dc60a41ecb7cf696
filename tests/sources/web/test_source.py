"""Crawling a site: what is found, what costs nothing the next time, and what never happens."""

import gc
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ombud.errors import SourceError
from ombud.settings import Web
from ombud.sources import Ref, open_source
from ombud.sources.web import state
from ombud.sources.web.kinds import kind_of
from ombud.sources.web.pages import read_page
from ombud.sources.web.source import WebSource
from ombud.sources.web.urls import absolute, name_of, path_of
from sources.web.site import HOST, Reply, Site, Time, fetcher, serving, source

LONG = "Every employee has 25 days of annual leave in each calendar year. " * 5


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def names(refs: list[Ref]) -> list[str]:
    """Paths of what was listed, without source and host."""
    return [ref.uri.partition("/")[2].partition("/")[2] for ref in refs]


def crawled(site: Site, home: Path, **fields: Any) -> list[str]:
    return names(source(site, home, **fields).list())


def by_name(refs: list[Ref]) -> dict[str, Ref]:
    return dict(zip(names(refs), refs, strict=True))


# Finding ------------------------------------------------------------------------------------------


def test_pages_are_found_through_links_and_named_by_their_address(
    site: Site, tmp_path: Path
) -> None:
    site.page("/", "front", "/leave", "sick/", "/form.pdf", "/notes.txt?v=2")
    site.page("/leave", LONG)
    site.page("/sick/", "sick")
    site.send("/form.pdf", b"%PDF-1.4 form", "application/pdf")
    site.send("/notes.txt?v=2", "notes", "text/plain")
    web = source(site, tmp_path)
    refs = web.list()
    assert names(refs) == [
        "form.pdf",
        "index.html",
        "leave.html",
        "notes~v=2-269fc203.txt",
        "sick/index.html",
    ]
    leave = by_name(refs)["leave.html"]
    assert leave.uri == f"hr/{HOST}:{site.server_port}/leave.html"
    assert leave.facts["url"] == f"{site.url}/leave"
    assert leave.version
    assert LONG.strip().encode() in web.read(leave)
    assert web.read(by_name(refs)["form.pdf"]) == b"%PDF-1.4 form"
    assert sorted(path for path in site.paths if path in site.pages) == sorted(
        ["/", "/leave", "/sick/", "/form.pdf", "/notes.txt?v=2"]
    )


def test_depth_counts_links_from_a_start_page(site: Site, tmp_path: Path) -> None:
    for step in range(5):
        site.page(f"/{step}", str(step), f"/{step + 1}")
    assert crawled(site, tmp_path, start=("/0",), depth=0) == ["0.html"]
    assert crawled(site, tmp_path, start=("/0",), depth=2) == ["0.html", "1.html", "2.html"]


def test_other_hosts_are_left_alone_unless_they_are_named(site: Site, tmp_path: Path) -> None:
    with serving() as other:
        port = other.server_port
        other.page("/a", "other")
        site.page(
            "/",
            "front",
            f"http://docs.test:{port}/a",
            f"http://{HOST}:{port}/a",
            "mailto:a@b",
            "javascript:x()",
        )
        assert crawled(site, tmp_path) == ["index.html"]
        assert not other.asked
        place = Web(name="hr", start=(f"{site.url}/",), hosts=(f"docs.test:{port}",))
        refs = WebSource(place, tmp_path, fetcher(private=(HOST, "docs.test"))).list()
        assert names(refs) == ["a.html", "index.html"]


def test_a_start_page_may_move_to_www_but_not_elsewhere(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = lambda path, headers: (
        Reply(b"<html>www", headers={"content-type": "text/html"})
        if headers["host"].startswith("www.")
        else Reply(status=301, headers={"location": f"http://www.{HOST}:{site.server_port}/"})
    )
    place = Web(name="hr", start=(f"{site.url}/",))
    refs = WebSource(place, tmp_path, fetcher(private=(HOST, f"www.{HOST}"))).list()
    assert [ref.uri for ref in refs] == [f"hr/www.{HOST}:{site.server_port}/index.html"]
    site.moved("/", "http://elsewhere.test/")
    with pytest.raises(SourceError, match=r"leads to elsewhere.test") as wrong:
        source(site, tmp_path).list()
    assert "hosts" in wrong.value.hint


def test_sitemaps_indexes_and_gzipped_ones(site: Site, tmp_path: Path) -> None:
    site.sitemap("/index.xml", "/one.xml", "/two.xml.gz", "/gone.xml", "/index.xml", index=True)
    site.sitemap("/one.xml", "/a", "/b")
    site.sitemap("/two.xml.gz", "/c", zipped=True)
    site.send("/plain.txt", f"{site.url}/d\n\n", "text/plain")
    for path in "abcd":
        site.page(f"/{path}", path, "/deeper")
    site.page("/deeper", "deeper")
    found = crawled(site, tmp_path, sitemaps=("/index.xml", "/plain.txt"))
    assert found == ["a.html", "b.html", "c.html", "d.html"]
    assert "deeper.html" in crawled(site, tmp_path, sitemaps=("/one.xml",), start=("/a",))


@pytest.mark.parametrize(
    "text",
    [
        *("", "<html><body>no</body></html>", "<urlset><url>", "<feed/>", "\x1f\x8bbroken"),
        '<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
        "<urlset>" + "<url>" * 200 + "</url>" * 200 + "</urlset>",
    ],
)
def test_a_sitemap_that_cannot_be_read_is_an_error(site: Site, tmp_path: Path, text: str) -> None:
    site.send("/map.xml", text, "application/xml")
    with pytest.raises(SourceError):
        source(site, tmp_path, sitemaps=("/map.xml",)).list()


def test_patterns_choose_and_say_what_the_settings_say_of_files(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/uk/leave", "/uk/old/rules", "/de/urlaub%20und%20%C3%BCberstunden")
    site.page("/uk/leave", "leave")
    site.page("/uk/old/rules", "old")
    site.page("/de/urlaub%20und%20%C3%BCberstunden", "Urlaub")
    fields: dict[str, Any] = {"country": "CH", "patterns": {"uk/**": {"country": "GB"}}}
    refs = by_name(
        source(
            site, tmp_path, include=("uk/**", "de/urlaub und*"), exclude=("**/old/**",), **fields
        ).list()
    )
    assert list(refs) == ["de/urlaub und überstunden.html", "uk/leave.html"]
    assert refs["uk/leave.html"].facts["countries"] == ("GB",)
    assert refs["de/urlaub und überstunden.html"].facts["countries"] == ("CH",)
    assert "/uk/old/rules" not in site.paths


# Rules --------------------------------------------------------------------------------------------


def test_robots_txt_is_kept_and_its_delay_too(site: Site, tmp_path: Path) -> None:
    site.send(
        "/robots.txt",
        "User-agent: *\nDisallow: /\n\nUser-agent: ombud\nDisallow: /private\nCrawl-delay: 7\n",
    )
    site.page("/", "front", "/private/a", "/open")
    site.page("/open", "open")
    time = Time()
    refs = source(site, tmp_path, time, rate=100.0).list()
    assert names(refs) == ["index.html", "open.html"]
    assert "/private/a" not in site.paths
    assert {round(wait) for wait in time.waits[1:]} == {7}


def test_a_start_page_that_robots_txt_closes_is_an_error(site: Site, tmp_path: Path) -> None:
    site.send("/robots.txt", "User-agent: *\nDisallow: /")
    with pytest.raises(SourceError, match="closed to ombud"):
        source(site, tmp_path).list()


def test_while_robots_txt_cannot_be_had_nothing_is_asked(site: Site, tmp_path: Path) -> None:
    site.send("/robots.txt", "", status=503)
    site.page("/", "front")
    with pytest.raises(SourceError, match=r"robots.txt answered 503"):
        source(site, tmp_path).list()
    assert "/" not in site.paths


def test_pages_that_ask_not_to_be_found_are_not(site: Site, tmp_path: Path) -> None:
    site.page(
        "/",
        "front",
        "/meta",
        "/header",
        "/google",
        "/nofollow",
        head='<meta name="robots" content="all">',
    )
    site.page("/meta", "x", "/behind", head='<meta name="ROBOTS" content="NOINDEX, follow">')
    site.page("/header", "x", **{"x-robots-tag": "noindex"})
    site.page("/google", "x", **{"x-robots-tag": "googlebot: noindex"})
    site.page("/nofollow", "x", "/unseen", head='<meta name="robots" content="nofollow">')
    site.page("/behind", "x")
    site.page("/unseen", "x")
    assert crawled(site, tmp_path) == ["behind.html", "google.html", "index.html", "nofollow.html"]


def test_requests_are_spaced_by_the_rate(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/a")
    site.page("/a", "a")
    time = Time()
    source(site, tmp_path, time, rate=4.0).list()
    assert len(time.waits) >= 2
    assert set(time.waits) == {0.25}


# One page, one document
# -----------------------------------------------------------------------------


def test_a_page_of_many_addresses_is_one_document(site: Site, tmp_path: Path) -> None:
    canonical = f'<link rel="canonical" href="{site.url}/leave">'
    site.page(
        "/",
        "front",
        "/leave?utm_source=mail",
        "/leave#days",
        "/Leave?sort=up",
        "/print/leave",
        "/old",
        "/sick",
        "/sick/",
        "/sick/index.html",
    )
    site.page("/leave", "leave", head=canonical)
    site.page("/Leave?sort=up", "leave sorted", head=canonical)
    site.page("/print/leave", "leave printed", head=canonical)
    site.moved("/old", "/leave", 301)
    for path in ("/sick", "/sick/", "/sick/index.html"):
        site.page(path, "sick")
        site.send(path, "<html><title>Sick</title><main>sick</main>", "text/html")
    assert crawled(site, tmp_path) == ["index.html", "leave.html", "sick.html"]
    assert site.paths.count("/leave") == 1


def test_canonical_links_that_cannot_be_meant_are_ignored(site: Site, tmp_path: Path) -> None:
    front = f'<link rel="canonical" href="{site.url}/">'
    site.page("/", "front", "/a", "/b", "/c", "/d", head=front)
    site.page("/a", "a", head=front)
    site.page("/b", "b", head='<link rel="canonical" href="https://elsewhere.test/b">')
    site.page("/c", "c", head='<link rel="canonical" href="/d">')
    site.page("/d", "d", head='<link rel="canonical" href="/c">')
    assert crawled(site, tmp_path) == ["a.html", "b.html", "c.html", "index.html"]


def test_names_that_would_collide_stay_apart(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/a", "/a.html")
    site.page("/a", "without")
    site.page("/a.html", "with")
    web = source(site, tmp_path)
    refs = by_name(web.list())
    assert len(refs) == 3
    assert b"with<" in web.read(refs["a.html"])
    assert any(name.startswith("a~") and name.endswith(".html") for name in refs)


# Contents -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content_type", "body", "kind"),
    [
        ("/a", "text/html; charset=utf-8", b"<html>", ".html"),
        ("/a", "", b"<p>words", ".html"),
        ("/a", "application/pdf", b"%PDF-1.7", ".pdf"),
        ("/a", "text/html", b"%PDF-1.7", ".pdf"),
        ("/a.pdf", "application/pdf", b"<!DOCTYPE html><html>Please log in", ".html"),
        ("/a.pdf", "application/pdf", b"what is this", ""),
        ("/a.pdf", "application/octet-stream", b"%PDF-1.7", ".pdf"),
        ("/a.docx", "application/octet-stream", b"PK\x03\x04", ".docx"),
        ("/a.docx", "application/zip", b"PK\x03\x04", ".docx"),
        ("/a.zip", "application/zip", b"PK\x03\x04", ""),
        ("/a.md", "text/plain", b"# words", ".md"),
        ("/a", "text/plain", b"words", ".txt"),
        ("/a", "text/plain", b"\x00\x01\x02" * 100, ""),
        ("/a", "text/html", b"\x89PNG\x00\x00\x00" * 100, ""),
        ("/a", "image/png", b"\x89PNG", ""),
        ("/a", "application/json", b"{}", ""),
        (
            "/a",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            b"PK\x03\x04",
            ".docx",
        ),
    ],
)
def test_what_an_answer_is(path: str, content_type: str, body: bytes, kind: str) -> None:
    headers = {"content-type": content_type} if content_type else {}
    assert kind_of(f"https://a.test{path}", headers, body) == kind


def test_types_that_are_no_documents_are_not_downloaded(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/logo.png", "/film", "/data")
    site.pages["/film"] = Reply(endless=b"x" * 1000, headers={"content-type": "video/mp4"})
    site.send("/data", "{}", "application/json")
    assert crawled(site, tmp_path) == ["index.html"]
    assert "/logo.png" not in site.paths


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html; charset=iso-8859-1", "<html><main>Überstunden – ja</main>".encode("cp1252")),
        ("text/html; charset=utf-16", "<html><main>Überstunden – ja</main>".encode("utf-16")),
        (
            "text/html",
            "<html><meta charset='windows-1252'><main>Überstunden – ja</main>".encode("cp1252"),
        ),
        ("text/html; charset=nonsense", "<html><main>Überstunden – ja</main>".encode()),
        ("text/html; charset=hex", "<html><main>Überstunden – ja</main>".encode()),
        ("text/html", "<html><main>Überstunden – ja</main>".encode("cp1252")),
        ("text/plain; charset=cp1252", "Überstunden – ja".encode("cp1252")),
    ],
)
def test_whatever_the_charset_what_is_read_is_utf8(
    site: Site, tmp_path: Path, content_type: str, body: bytes
) -> None:
    site.send("/", body, content_type)
    web = source(site, tmp_path)
    (ref,) = web.list()
    assert "Überstunden – ja" in web.read(ref).decode()


def content(html: str, **headers: str) -> str:
    return read_page("https://a.test/", html.encode(), headers).content.decode()


def test_main_content_without_furniture_and_with_tables() -> None:
    html = f"""<html lang="en-GB"><head><title>Leave &amp; rest</title></head>
    <body class="cookie-notice-shown">
    <header><nav><a href="/">Home</a></nav></header>
    <div id="onetrust-consent-sdk">We value cookies</div>
    <div class="x cookie-banner">Accept all</div><div role="search">Find</div>
    <ol class="breadcrumb"><li>You are here</ol>
    <article><h1>Leave</h1><p>{LONG}</p>
    <table><tr><th>Years</th><th>Days</th></tr><tr><td>5</td><td>27</td></tr></table>
    <div class="cookies">Biscuits are free.</div><aside>Not for temps.</aside>
    <!-- rendered 12:01 --></article><aside>Related</aside>
    <footer>Imprint</footer><script>var x</script></body></html>"""
    found = content(html)
    for gone in (
        "Home",
        "value cookies",
        "Accept",
        "Find",
        "You are here",
        "Related",
        "Imprint",
        "12:01",
        "var x",
    ):
        assert gone not in found
    for kept in (
        "<title>Leave &amp; rest</title>",
        "<h1>Leave</h1>",
        "<td>27</td>",
        "Biscuits",
        "Not for temps.",
        'lang="en-GB"',
    ):
        assert kept in found


@pytest.mark.parametrize(
    "body",
    [
        f"<main></main><div id='app'><h1>Leave</h1><p>{LONG}</p></div>",
        f"<main><form>Search</form></main><div><p>{LONG}</p></div>",
        f"<form action='x'><h2>Leave</h2><p>{LONG}</p></form>",
        f"<div class='sidebar'><main><p>{LONG}</p></main></div>",
        f"<header><h1>Leave</h1><p>{LONG}</p></header>",
        f"<article>one</article><article><p>{LONG}</p></article>",
        f"<aside><p>{LONG}</p></aside>",
    ],
)
def test_main_content_is_never_thrown_away_with_furniture(body: str) -> None:
    assert LONG.strip() in content(f"<html><body>{body}</body></html>")


def test_a_page_made_to_hurt_is_left_to_the_parser(site: Site, tmp_path: Path) -> None:
    site.send("/", "<html>" + "<div>" * 100_000 + "deep", "text/html")
    web = source(site, tmp_path)
    (ref,) = web.list()
    assert web.read(ref).endswith(b"deep")


# The next time
# --------------------------------------------------------------------------------------


def test_a_site_without_changes_costs_only_questions(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/a")
    site.page("/a", "a", "/b")
    site.page("/b", "b")
    site.sitemap("/map.xml", "/a", "/c")
    site.page("/c", "c")
    first = source(site, tmp_path, start=("/",), sitemaps=("/map.xml",)).list()
    site.asked.clear()
    second = source(site, tmp_path, start=("/",), sitemaps=("/map.xml",)).list()
    assert first == second
    assert [path for path, headers in site.asked if "if-none-match" not in headers] == [
        "/robots.txt"
    ]
    site.page("/b", "changed")
    third = by_name(source(site, tmp_path, start=("/",), sitemaps=("/map.xml",)).list())
    assert {name for name, ref in by_name(first).items() if third[name].version != ref.version} == {
        "b.html"
    }


def test_last_modified_serves_where_there_is_no_etag(site: Site, tmp_path: Path) -> None:
    day = "Wed, 21 Oct 2026 07:28:00 GMT"
    html = {"content-type": "text/html", "last-modified": day}

    def dated(path: str, headers: Mapping[str, str]) -> Reply:
        return (
            Reply(status=304)
            if headers.get("if-modified-since") == day
            else Reply(b"<html>x", headers=html)
        )

    site.tags, site.pages["/"] = False, dated
    assert source(site, tmp_path).list() == source(site, tmp_path).list()
    assert site.asked[-1][1]["if-modified-since"] == day


def test_the_version_is_that_of_the_content_not_of_the_answer(site: Site, tmp_path: Path) -> None:
    site.tags = False
    for number in range(2):
        site.send(
            "/",
            f"<html><main>same</main><!-- {number} --><script>{number}</script>",
            "text/html",
            etag=f'"{number}"',
        )
        versions = {ref.version for ref in source(site, tmp_path).list()}
        site.send("/", "<html><main>same</main><footer>2</footer>", "text/html")
        assert versions == {ref.version for ref in source(site, tmp_path).list()}


def test_each_page_is_fetched_once_and_its_bytes_are_gone_afterwards(
    site: Site, tmp_path: Path
) -> None:
    site.page("/", "front")
    web = source(site, tmp_path)
    (ref,) = web.list()
    folder = tmp_path / ".ombud" / "sources" / "hr.pages"
    assert len(list(folder.iterdir())) == 1
    assert web.read(ref) == web.read(ref)
    assert site.paths.count("/") == 1
    del web
    gc.collect()
    assert not folder.exists()
    assert (tmp_path / ".ombud" / "sources" / "hr.json").exists()


def test_a_page_whose_bytes_are_not_at_hand_is_fetched_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "MAX_BODY_BYTES", 10)
    site.page("/", "front")
    web = source(site, tmp_path)
    (ref,) = web.list()
    assert b"front" in web.read(ref)
    (same,) = source(site, tmp_path).list()  # 304: no body came
    assert same == ref
    fresh = source(site, tmp_path)
    assert b"front" in fresh.read(ref)
    site.send("/", "", status=404)
    with pytest.raises(SourceError, match="answered 404"):
        fresh.read(ref)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        "null",
        '{"format": 1}',
        '{"format": 99, "urls": [], "pages": {}}',
        '{"format": 1, "hosts": [], "urls": [], "pages": {"7": {"kind": ".html"}}}',
        "[" * 100_000,
    ],
)
def test_a_broken_state_is_no_state(site: Site, tmp_path: Path, broken: str) -> None:
    site.page("/", "front")
    file = tmp_path / ".ombud" / "sources" / "hr.json"
    file.parent.mkdir(parents=True)
    file.write_text(broken)
    assert crawled(site, tmp_path) == ["index.html"]
    assert json.loads(file.read_text())["format"] == state.FORMAT


def test_other_hosts_in_the_settings_make_old_links_worthless(site: Site, tmp_path: Path) -> None:
    site.page("/", "front")
    crawled(site, tmp_path)
    site.asked.clear()
    crawled(site, tmp_path, hosts=("more.test",))
    assert "if-none-match" not in site.asked[-1][1]


# Failing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410, 401, 403, 500, 503])
def test_a_start_page_that_fails_is_an_error_never_half_a_list(
    site: Site, tmp_path: Path, status: int
) -> None:
    site.page("/", "front")
    site.send("/other", "", status=status)
    with pytest.raises(SourceError, match=f"answered {status}") as wrong:
        source(site, tmp_path, start=("/", "/other")).list()
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("path", "status"), [("/map.xml", 404), ("/map.xml", 500), ("/child.xml", 500)]
)
def test_so_is_a_sitemap(site: Site, tmp_path: Path, path: str, status: int) -> None:
    site.sitemap("/map.xml", "/child.xml", index=True)
    site.sitemap("/child.xml", "/a")
    site.send(path, "", status=status)
    with pytest.raises(SourceError, match=f"answered {status}"):
        source(site, tmp_path, sitemaps=("/map.xml",)).list()


def test_pages_that_fail_for_the_moment_stay_and_so_does_what_is_behind_them(
    site: Site, tmp_path: Path
) -> None:
    site.page("/", "front", "/a", "/gone")
    site.page("/a", "a", "/b")
    site.page("/b", "b")
    site.page("/gone", "x")
    first = by_name(source(site, tmp_path).list())
    site.send("/a", "", status=502)
    site.send("/gone", "", status=410)
    for _ in range(2):
        second = by_name(source(site, tmp_path).list())
        assert second == {name: ref for name, ref in first.items() if name != "gone.html"}


@pytest.mark.parametrize(
    "answer",
    [
        Reply(status=500),
        Reply(b"x", cut=True),
        Reply(endless=b"x" * 9999, headers={"content-type": "text/html"}),
    ],
)
def test_a_page_that_was_never_read_is_listed_and_says_why(
    site: Site, tmp_path: Path, answer: Reply
) -> None:
    site.page("/", "front", "/a")
    site.pages["/a"] = answer
    web = source(site, tmp_path)
    refs = by_name(web.list())
    assert list(refs) == ["a.html", "index.html"]
    assert refs["a.html"].version == ""
    asked = len(site.asked)
    with pytest.raises(SourceError) as wrong:
        web.read(refs["a.html"])
    assert wrong.value.hint
    assert len(site.asked) == asked


def test_what_needs_a_login_now_is_gone(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/a")
    site.page("/a", "a")
    assert len(crawled(site, tmp_path)) == 2
    site.send("/a", "", status=403)
    assert crawled(site, tmp_path) == ["index.html"]


# Traps --------------------------------------------------------------------------------------------


def test_a_calendar_without_end_keeps_nothing_out(site: Site, tmp_path: Path) -> None:
    def month(path: str, headers: Mapping[str, str]) -> Reply:
        number = int(path.rpartition("=")[2] or 0) if path.startswith("/calendar") else -1
        link = f"<a href='/calendar?month={number + 1}'>next</a>"
        html = f"<html><title>{number}</title>{link}<p>{number}"
        return Reply(html.encode(), 200 if number >= 0 else 404, {"content-type": "text/html"})

    site.otherwise = month
    site.page("/", "front", "/calendar?month=0", "/a")
    site.page("/a", "a", "/b")
    site.page("/b", "b")
    found = crawled(site, tmp_path, depth=50, pages=12)
    assert len(found) == 12
    assert {"a.html", "b.html"} <= set(found)
    assert len(crawled(site, tmp_path, depth=3)) == 6


def test_redirects_in_circles_and_without_end(site: Site, tmp_path: Path) -> None:
    site.otherwise = lambda path, headers: Reply(status=302, headers={"location": f"{path}x"})
    site.send("/robots.txt", "")
    site.page("/", "front", "/one", "/self", "/endless")
    site.moved("/one", "/two")
    site.moved("/two", "/one")
    site.moved("/self", "/self")
    assert crawled(site, tmp_path) == ["index.html"]
    assert len(site.asked) < 15
    with pytest.raises(SourceError, match="in circles"):
        source(site, tmp_path, start=("/one",)).list()


def test_relative_links_that_repeat_themselves_end(site: Site, tmp_path: Path) -> None:
    html = {"content-type": "text/html"}
    for depth in range(6):
        path = "/" + depth * "sub/"
        site.pages[path] = Reply(f"<html><p>{path}<a href='sub/'>x</a>".encode(), headers=html)
    assert len(crawled(site, tmp_path, depth=50)) == 4


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:{port}/",
        "http://inside.test:{port}/",
    ],
)
def test_links_and_redirects_lead_nowhere_inside(site: Site, tmp_path: Path, target: str) -> None:
    with serving() as inside:
        inside.otherwise = Reply(b"<html>secret", headers={"content-type": "text/html"})
        where = target.format(port=inside.server_port)
        site.page("/", "front", where, "/moved", head=f'<link rel="canonical" href="{where}">')
        site.moved("/moved", where)
        assert crawled(site, tmp_path) == ["index.html"]
        # Named as one of the site's hosts it is still refused, and says so.
        web = source(site, tmp_path, hosts=(where.split("/")[2],))
        refused = [ref for ref in web.list() if ref.version == ""]
        assert refused
        with pytest.raises(SourceError, match="not read"):
            web.read(refused[0])
        assert not inside.asked


# Addresses and settings
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("HTTPS://A.Test:443/x/../y#part", "https://a.test/y"),
        ("?b=1&a=2&utm_campaign=z&fbclid=q", "https://a.test/dir/page?a=2&b=1"),
        ("  one\n two ", "https://a.test/dir/one%20two"),
        ("/%7euser/%c3%a4;jsessionid=AB12?x", "https://a.test/~user/%C3%A4?x"),
        ("//b.test", "https://b.test/"),
        ("", "https://a.test/dir/page"),
        ("mailto:a@a.test", ""),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("https://u:p@a.test/", ""),
        ("http://[broken/", ""),
        ("/" + "x" * 3000, ""),
        ("/a/a/a/a/", ""),
    ],
)
def test_every_address_has_one_spelling(link: str, address: str) -> None:
    assert absolute(link, "https://a.test/dir/page") == address


@pytest.mark.parametrize(
    ("url", "suffix", "name"),
    [
        ("https://a.test/", ".html", "a.test/index.html"),
        ("https://a.test/x", ".html", "a.test/x.html"),
        ("https://a.test/x.php", ".html", "a.test/x.php.html"),
        ("https://a.test/x.htm", ".html", "a.test/x.htm"),
        ("https://a.test/X.PDF", ".pdf", "a.test/X.PDF"),
        ("https://a.test/get", ".pdf", "a.test/get.pdf"),
        ("https://a.test/a%20b/%C3%BC", ".html", "a.test/a b/ü.html"),
        ("https://a.test/a%2Fb%00", ".html", "a.test/a%2Fb%00.html"),
        ("https://a.test/x.pdf?v=1", ".pdf", "a.test/x~v=1-a798de8e.pdf"),
    ],
)
def test_names_end_in_what_the_content_is(url: str, suffix: str, name: str) -> None:
    assert name_of(url, suffix) == name


def test_names_of_queries_are_safe_and_differ() -> None:
    urls = [
        f"https://a.test/x?q={query}" for query in ("a/b", "a-b", "a%2Fb", "../../c", "y" * 500)
    ]
    named = [name_of(url, ".html") for url in urls]
    assert len(set(named)) == len(urls)
    assert all(name.count("/") == 1 and len(name) < 100 for name in named)
    assert path_of("https://a.test/dir/?x=1") == "dir/index.html"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"start": ("ftp://a.test/",)},
        {"start": ("a.test",)},
        {"sitemaps": ("x",)},
        {"start": ("https://anna:geheim@a.test/",)},
        {"start": ("https://a.test/",), "patterns": {"*": {"nonsense": 1}}},
    ],
)
def test_settings_that_cannot_be_right_are_refused_at_once(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    with pytest.raises(SourceError) as wrong:
        open_source(Web(name="hr", **fields), tmp_path)
    assert wrong.value.hint
    assert "geheim" not in str(wrong.value)


def test_a_source_is_opened_without_asking_anything(tmp_path: Path) -> None:
    assert open_source(Web(name="hr", start=("https://a.test/",)), tmp_path).name == "hr"
    assert not list(tmp_path.iterdir())
