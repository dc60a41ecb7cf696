"""Pages that no plain link leads to, and answers that look like pages and are none."""

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ombud.sources import LeftOut
from sources.web.site import Reply, Site, serving, source

RULE = "Every employee has 25 days of annual leave in each calendar year. " * 5
HTML = {"content-type": "text/html"}


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def crawl(site: Site, home: Path, **fields: Any) -> tuple[set[str], dict[str, str]]:
    """The paths of the documents, and path -> reason of what was left out."""
    web = source(site, home, **fields)
    listed = {str(ref.facts["url"]).removeprefix(site.url) for ref in web.list()}
    return listed, {path_of(site, left): left.why for left in web.left_out}


def path_of(site: Site, left: LeftOut) -> str:
    return left.uri.removeprefix(site.url)


# Sitemaps of robots.txt ---------------------------------------------------------------------------


def robots(site: Site, *sitemaps: str) -> None:
    lines = [f"Sitemap: {sitemap}" for sitemap in sitemaps]
    site.send("/robots.txt", "User-agent: *\nAllow: /\n" + "\n".join(lines), "text/plain")


def test_sitemaps_that_robots_txt_names_are_followed(site: Site, tmp_path: Path) -> None:
    robots(site, f"{site.url}/index.xml", "/more.txt")
    site.sitemap("/index.xml", "/one.xml.gz", index=True)
    site.sitemap("/one.xml.gz", "/rules/leave", "/rules/sick", zipped=True)
    site.send("/more.txt", gzip.compress(f"{site.url}/pay\n".encode(), mtime=0), "text/plain")
    site.page("/", "front")
    for path in ("/rules/leave", "/rules/sick", "/pay"):
        site.page(path, f"{RULE} {path}")
    listed, left_out = crawl(site, tmp_path)
    assert listed == {"/", "/rules/leave", "/rules/sick", "/pay"}
    assert not left_out


def test_a_start_page_in_a_folder_takes_only_that_folder_from_them(
    site: Site, tmp_path: Path
) -> None:
    robots(site, "/map.xml")
    site.sitemap("/map.xml", "/hr/leave", "/shop/shoes")
    site.page("/hr/", "front")
    site.page("/hr/leave", RULE)
    site.page("/shop/shoes", RULE + "shoes")
    assert crawl(site, tmp_path, start=("/hr/",))[0] == {"/hr/", "/hr/leave"}
    assert crawl(site, tmp_path, start=("/hr/",), depth=0)[0] == {"/hr/"}


def test_what_is_linked_comes_before_what_only_a_sitemap_names(site: Site, tmp_path: Path) -> None:
    robots(site, "/map.xml")
    site.sitemap("/map.xml", *(f"/news/{number}" for number in range(20)))
    site.otherwise = lambda path, headers: (
        Reply(f"<html><p>{path * 9}".encode(), headers=HTML)
        if path.startswith("/news/")
        else Reply(status=404)
    )
    site.page("/", "front", "/leave")
    site.page("/leave", RULE, "/sick")
    site.page("/sick", RULE + "sick")
    listed, left_out = crawl(site, tmp_path, pages=5)
    assert {"/", "/leave", "/sick"} < listed
    assert len(listed) == 5
    assert left_out == {"18 addresses": "`pages` is 5"}


def test_a_sitemap_that_fails_for_the_moment_names_what_it_named(
    site: Site, tmp_path: Path
) -> None:
    robots(site, "/map.xml")
    site.sitemap("/map.xml", "/leave")
    site.page("/", "front")
    site.page("/leave", RULE)
    for status in (200, 503, 503, 404):
        if status != 200:
            site.send("/map.xml", "", status=status)
        assert crawl(site, tmp_path)[0] == {"/", "/leave"}


@pytest.mark.parametrize("text", ["", "<html>not here", "<urlset><url>"])
def test_one_that_was_never_read_is_named_and_costs_no_page(
    site: Site, tmp_path: Path, text: str
) -> None:
    robots(site, "/map.xml", "http://other.test/map.xml")
    site.send("/map.xml", text, "application/xml")
    site.page("/", "front")
    listed, left_out = crawl(site, tmp_path)
    assert listed == {"/"}
    assert set(left_out) == {"/map.xml", "http://other.test/map.xml"}
    assert all(left_out.values())


# Series -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["link", "head", "header", "parameter", "offset"])
def test_pages_of_a_series_are_as_near_as_the_first(site: Site, tmp_path: Path, how: str) -> None:
    step = 20 if how == "offset" else 1
    name = "from" if how == "offset" else "page"
    pages = ["/news", *(f"/news?{name}={step * number}" for number in range(2, 9))]
    site.page("/", "front", "/news")
    for number, path in enumerate(pages):
        following = pages[number + 1] if number < 7 else ""
        links = [following] if how in {"parameter", "offset"} and following else []
        head = f'<link rel="next" href="{following}">' if how == "head" and following else ""
        named = {"link": f'<{following}>; rel="next"'} if how == "header" and following else {}
        text = f'<p>{RULE} {number}</p><a rel="nofollow next" href="{following}">on</a>'
        site.page(path, text if how == "link" and following else text[:300], *links, head=head)
        reply = site.pages[path]
        assert isinstance(reply, Reply)
        site.pages[path] = reply._replace(headers={**reply.headers, **named})
    assert crawl(site, tmp_path, depth=1)[0] == {"/", *pages}


def test_pages_that_call_the_first_their_own_address_stay_documents(
    site: Site, tmp_path: Path
) -> None:
    canonical = f'<link rel="canonical" href="{site.url}/news">'
    site.page("/", "front", "/news")
    site.page("/news", "first" + RULE, "/news?page=2", head=canonical)
    site.page("/news?page=2", "second" + RULE, "/news?page=3", head=canonical)
    site.page("/news?page=3", "third" + RULE, head=canonical)
    listed, _ = crawl(site, tmp_path)
    assert listed == {"/", "/news", "/news?page=2", "/news?page=3"}


def test_a_series_without_end_ends(site: Site, tmp_path: Path) -> None:
    def day(path: str, headers: Mapping[str, str]) -> Reply:
        if not path.startswith("/day"):
            return Reply(status=404)
        number = int(path.rpartition("/")[2])
        html = f"<html><p>Day {number}: {RULE}<a rel=next href='/day/{number + 1}'>on</a>"
        return Reply(html.encode(), headers=HTML)

    site.otherwise = day
    site.page("/", "front", "/day/0", "/a")
    site.page("/a", RULE, "/b")
    site.page("/b", RULE + "b")
    listed, _ = crawl(site, tmp_path)
    assert {"/a", "/b", "/day/50"} < listed
    assert len(listed) < 200


# No documents -------------------------------------------------------------------------------------


def not_found(path: str, headers: Mapping[str, str]) -> Reply:
    """The page of a site that says "not found" with status 200."""
    menu = "".join(f"<li>Our department number {number}" for number in range(60))
    html = f"<html><ul>{menu}</ul><p>Sorry, {path} is not here. Please try our search instead."
    return Reply(html.encode(), headers=HTML)


def test_pages_of_addresses_that_do_not_exist_are_no_documents(site: Site, tmp_path: Path) -> None:
    menu = "".join(f"<li>Our department number {number}" for number in range(60))
    site.otherwise = not_found
    site.send("/robots.txt", "")
    links = "".join(f'<a href="{path}">x</a>' for path in ("/leave", "/old", "/gone/for/good"))
    site.send("/", f"<html><ul>{menu}</ul><p>Welcome.{links}", "text/html")
    # Next to nothing but the menu, which is the same on all of them.
    site.send("/leave", f"<html><ul>{menu}</ul><p>Leave is 25 days.", "text/html")
    for _ in range(2):
        listed, left_out = crawl(site, tmp_path)
        assert listed == {"/", "/leave"}
        assert set(left_out) == {"/old", "/gone/for/good"}
        assert all("do not exist" in why for why in left_out.values())
    site.send("/leave", f"<html><ul>{menu}</ul><p>Leave is 26 days.", "text/html")
    assert crawl(site, tmp_path)[0] == {"/", "/leave"}


def test_an_error_page_that_missing_addresses_are_sent_to_is_no_document(
    site: Site, tmp_path: Path
) -> None:
    site.otherwise = Reply(status=302, headers={"location": "/error"})
    site.send("/robots.txt", "")
    site.page("/", "front", "/old", "/leave")
    site.page("/error", "This page has moved or never was. Use the search above.")
    site.page("/leave", RULE)
    listed, left_out = crawl(site, tmp_path)
    assert listed == {"/", "/leave"}
    assert "/error" in left_out


def test_a_site_that_sends_all_to_its_front_page_keeps_it(site: Site, tmp_path: Path) -> None:
    site.otherwise = Reply(status=302, headers={"location": "/"})
    site.send("/robots.txt", "")
    site.page("/", "front", "/old", "/leave")
    site.page("/leave", RULE)
    assert crawl(site, tmp_path)[0] == {"/", "/leave"}


LOGIN = (
    "<html><h1>Welcome</h1><form action='/in'><p>Name <input name=n></p>"
    "<p>Password <input type='password' name=p></p></form>"
)


def test_sign_in_pages_are_no_documents_and_what_is_behind_is_named(
    site: Site, tmp_path: Path
) -> None:
    notice = "<p>" + "Use of this system is watched. " * 30
    site.page("/", "front", "/pay", "/bonus?year=1", "/plain", "/name", "/leave", "/sso")
    site.moved("/pay", "/login?next=/pay")
    site.moved("/bonus?year=1", f"/login?next={site.url}/bonus%3Fyear%3D1")
    site.send("/login?next=/pay", LOGIN + notice, "text/html")
    site.pages["/login?next=" + f"{site.url}/bonus?year=1".replace("?", "%3F")] = Reply(
        (LOGIN + notice).encode(), headers=HTML
    )
    site.send("/plain", LOGIN, "text/html")
    name_first = "<h1>Sign in</h1><form><input type=email autocomplete='username webauthn'></form>"
    site.send("/name", name_first, "text/html")
    site.moved("/sso", "https://sso.test/?back=/sso")
    site.send("/closed", "", status=403)
    # A box to sign in beside a rule, or above it, makes no sign-in page of it.
    box = f"<html><header>{LOGIN[6:]}</header><p>Leave is 25 days.<a href='/closed'>x</a>"
    site.send("/leave", box, "text/html")
    listed, left_out = crawl(site, tmp_path)
    assert listed == {"/", "/leave"}
    assert {"/pay", "/bonus?year=1", "/plain", "/sso", "/closed", "/login?next=/pay"} <= set(
        left_out
    )
    assert "sign" in left_out["/pay"]
    assert "sign-in page" in left_out["/plain"]
    assert "sign-in page" in left_out["/name"]
    assert "sso.test" in left_out["/sso"]
    assert "403" in left_out["/closed"]


def test_an_address_that_names_where_it_came_from_is_no_sign_in_page_by_itself(
    site: Site, tmp_path: Path
) -> None:
    site.page("/", "front", "/old")
    site.moved("/old", "/new?from=/old")
    site.page("/new?from=/old", RULE)
    assert crawl(site, tmp_path)[0] == {"/", "/new?from=/old"}


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=/app.js></script>",
        "<app-root>Loading…</app-root><script src=/app.js></script>",
        "<header><a href=/>Home</a></header><div id=root></div><footer>Acme</footer>"
        "<script src=/app.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript>"
        "<div class=splash><p>Loading…</p></div><script src=/app.js></script>",
    ],
)
def test_pages_that_only_scripts_fill_are_named(site: Site, tmp_path: Path, body: str) -> None:
    site.page("/", "front", "/app", "/hours")
    site.send("/app", f"<html><title>Intranet</title><body>{body}", "text/html")
    site.send("/hours", "<html><body><p>Open from 9.<script>track()</script>", "text/html")
    listed, left_out = crawl(site, tmp_path)
    assert listed == {"/", "/hours"}
    assert "scripts" in left_out["/app"]


def test_frames_are_read_by_themselves(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/old/", "/mixed", "/foreign")
    site.send(
        "/old/",
        "<html><frameset cols='1,2'><frame src=menu.html><frame src='rules.html'>"
        "<noframes>Your browser shows no frames.</noframes></frameset></html>",
        "text/html",
    )
    site.page("/old/menu.html", "menu", "leave.html")
    site.page("/old/rules.html", RULE)
    site.page("/old/leave.html", RULE + "leave")
    site.page("/mixed", f"{RULE} around <iframe src='/inner'></iframe>")
    site.page("/inner", RULE + "inner")
    site.send("/foreign", "<html><iframe src='https://elsewhere.test/x'></iframe>", "text/html")
    listed, left_out = crawl(site, tmp_path, depth=1)
    assert listed == {"/", "/old/menu.html", "/old/rules.html", "/mixed", "/inner"}
    assert {"/old/", "/foreign"} == set(left_out)
    assert all("frames" in why for why in left_out.values())


def test_what_no_parser_reads_and_what_asks_not_to_be_listed_is_named(
    site: Site, tmp_path: Path
) -> None:
    site.page("/", "front", "/data", "/quiet", "/closed", "/dead")
    site.send("/robots.txt", "User-agent: *\nDisallow: /closed")
    site.send("/data", "{}", "application/json")
    site.page("/quiet", RULE, head='<meta name="robots" content="noindex">')
    _, left_out = crawl(site, tmp_path)
    assert set(left_out) == {"/data", "/quiet", "/closed"}
    assert "application/json" in left_out["/data"]
    assert "robots.txt" in left_out["/closed"]


def test_what_was_left_out_is_named_again_where_nothing_changed(site: Site, tmp_path: Path) -> None:
    site.page("/", "front", "/app", "/plain")
    site.send("/app", "<html><body><div id=a></div><script src=x></script>", "text/html")
    site.send("/plain", LOGIN, "text/html")
    first = crawl(site, tmp_path)
    site.asked.clear()
    assert crawl(site, tmp_path) == first
    assert [path for path, asked in site.asked if "if-none-match" not in asked] == ["/robots.txt"]
