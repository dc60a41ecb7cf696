"""The client that all sources share: redirects, size and time, trying again, pace."""

import gzip
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from ombud.errors import SourceError
from ombud.sources.client import PublicClient
from ombud.sources.decompression import unzipped
from sources.web.site import HOST, Reply, Site, Time, fetcher, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


# Redirects ----------------------------------------------------------------------------------------


def test_redirects_are_followed_a_few_times(site: Site) -> None:
    for step in range(10):
        site.moved(f"/{step}", f"/{step + 1}", 301 + step % 2)
    site.page("/10", "there")
    assert fetcher().get(f"{site.url}/7").url == f"{site.url}/10"
    with pytest.raises(SourceError, match="redirected more than 5 times"):
        fetcher().get(f"{site.url}/0")
    assert fetcher().get(f"{site.url}/0", hops=0).target == f"{site.url}/1"


# Size and time ------------------------------------------------------------------------------------


def test_a_body_is_read_up_to_its_limit(site: Site) -> None:
    site.send("/", b"x" * 1000)
    site.send("/announced", b"x", content_length=str(10**12))
    site.pages["/endless"] = Reply(endless=b"x" * 4096)
    get = fetcher().get
    assert len(get(site.url, body_limit=lambda reply: 1000).body) == 1000
    for path in ("/", "/announced", "/endless"):
        with pytest.raises(SourceError, match="larger than 999 bytes"):
            get(site.url + path, body_limit=lambda reply: 999)
    assert get(f"{site.url}/endless", body_limit=lambda reply: 0).body == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-gzip"])
def test_what_is_compressed_counts_by_what_it_becomes(site: Site, encoding: str) -> None:
    pack = zlib.compress if encoding == "deflate" else gzip.compress
    site.send("/bomb", pack(b"0" * 50_000_000), content_encoding=encoding)
    site.send("/fine", pack(b"fine " * 50_000), content_encoding=encoding)
    assert fetcher().get(f"{site.url}/fine").body == b"fine " * 50_000
    with pytest.raises(SourceError, match="larger than 1 MB"):
        fetcher().get(f"{site.url}/bomb", body_limit=lambda reply: 2**20)


def test_odd_compression(site: Site) -> None:
    raw = zlib.compressobj(wbits=-15)
    site.send("/raw", raw.compress(b"words") + raw.flush(), content_encoding="deflate")
    site.send("/two", gzip.compress(b"one ") + gzip.compress(b"two"), content_encoding="gzip")
    site.send("/padded", gzip.compress(b"words") + b"\0" * 20, content_encoding="gzip")
    site.send("/cut", gzip.compress(b"words" * 1000)[:-9], content_encoding="gzip")
    site.send("/wrong", b"no gzip at all", content_encoding="gzip")
    site.send("/brotli", b"x", content_encoding="br")
    get = fetcher().get
    assert [get(site.url + path).body for path in ("/raw", "/two", "/padded")] == [
        b"words",
        b"one two",
        b"words",
    ]
    for path in ("/cut", "/wrong"):
        with pytest.raises(SourceError, match="damaged"):
            get(site.url + path)
    with pytest.raises(SourceError, match="not asked for"):
        get(f"{site.url}/brotli")


@pytest.mark.parametrize(
    "whole", [gzip.compress(b"x" * 2**16) + gzip.compress(b"y" * 2**17), zlib.compress(b"z" * 99)]
)
def test_compressed_data_may_be_cut_anywhere(whole: bytes) -> None:
    plain = b"".join(unzipped(iter((whole,))))
    for cut in range(len(whole)):
        assert b"".join(unzipped(iter((whole[:cut], whole[cut:])))) == plain
        # Between two members it cannot be told from the end.
        if cut and whole[cut:][:2] != b"\x1f\x8b":
            with pytest.raises(EOFError):
                list(unzipped(iter((whole[:cut],))))


def test_a_server_that_drips_is_left(site: Site) -> None:
    site.pages["/"] = Reply(endless=b"x")
    with pytest.raises(SourceError, match="not sent within 180 seconds"):
        fetcher(Time(tick=1.0)).get(site.url)
    assert len(site.asked) == 1


def test_headers_that_drip_end_with_the_same_deadline(site: Site) -> None:
    site.pages["/"] = Reply(b"fine")
    with pytest.raises(SourceError, match="not sent within"):
        fetcher(Time(tick=100.0)).get(site.url)


# Trying again -------------------------------------------------------------------------------------


def scripted(*replies: Reply) -> tuple[list[Reply], object]:
    left = list(replies)
    return left, lambda path, headers: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(site: Site, status: int) -> None:
    busy = Reply(status=status)
    _, site.pages["/"] = scripted(busy, busy, Reply(b"well"))  # type: ignore[assignment]
    time = Time()
    assert fetcher(time).get(site.url).body == b"well"
    assert time.waits == [1.0, 2.0]


def test_it_is_given_up_in_the_end(site: Site) -> None:
    site.otherwise = Reply(status=503)
    assert fetcher().get(site.url).status == 503
    assert len(site.asked) == PublicClient.POLICY.tries


def test_retry_after_in_seconds_or_as_a_date(site: Site) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    _, site.pages["/"] = scripted(  # type: ignore[assignment]
        Reply(status=429, headers={"retry-after": "30"}),
        Reply(status=503, headers={"retry-after": later}),
        Reply(b"x"),
    )
    time = Time()
    fetcher(time).get(site.url)
    assert time.waits[0] == 30
    assert 55 < time.waits[1] <= 60


@pytest.mark.parametrize("asked", ["999999999999999", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_server_that_asks_for_too_long_is_not_waited_for(site: Site, asked: str) -> None:
    site.otherwise = Reply(status=503, headers={"retry-after": asked})
    time = Time()
    assert fetcher(time).get(site.url).status == 503
    assert not time.waits


@pytest.mark.parametrize(
    "asked", ["soon", "-5", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 99 Foo 2020"]
)
def test_a_retry_after_that_says_nothing_is_ignored(site: Site, asked: str) -> None:
    busy = Reply(status=503, headers={"retry-after": asked})
    _, site.pages["/"] = scripted(busy, Reply(b"x"))  # type: ignore[assignment]
    time = Time()
    fetcher(time).get(site.url)
    assert time.waits == [1.0]


def test_a_server_that_hangs_up_or_is_not_there(site: Site) -> None:
    site.otherwise = Reply(b"half", cut=True)
    for url in (site.url, "http://gone.test:1/", "http://unknown-name/"):
        with pytest.raises(SourceError, match="cannot be reached") as wrong:
            fetcher(private=(HOST, "gone.test")).get(url)
        assert wrong.value.hint
    assert len(site.asked) == PublicClient.POLICY.tries


def test_requests_to_one_host_are_spaced(site: Site) -> None:
    site.otherwise = Reply(b"x")
    time = Time()
    get = fetcher(time, spacing=0.5)
    for _ in range(3):
        get.get(site.url)
    assert time.waits == [0.5, 0.5]


def test_cookies_are_not_kept(site: Site) -> None:
    site.otherwise = Reply(b"x", headers={"set-cookie": "session=1"})
    client = fetcher()
    client.get(site.url)
    client.get(site.url)
    assert "cookie" not in site.asked[1][1]
    assert site.asked[1][1]["user-agent"].startswith("ombud")
