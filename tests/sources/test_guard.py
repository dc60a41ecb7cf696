"""Nothing is read that lies inside the network, takes for ever or grows without end, whatever a
page links to."""

import gzip
import ipaddress
import ssl
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpcore
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ombud.errors import SourceError
from ombud.sources.client import PublicClient
from ombud.sources.decompression import unzipped
from ombud.sources.guard import GuardedTransport, Network, host_key, refusal
from sources.web_site import HOST, Reply, Site, Time, fetcher, known, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.0.1",
        ),
        *(
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
        ),
        *(
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
        ),
        *(
            "168.63.129.16",
            "100.100.100.200",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
        ),
        *(
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
        ),
        *(
            "2002:7f00:1::",
            "2002:808:808::",
            "fc00::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "fec0::1",
        ),
        *("ff02::1", "5f00::1"),
    ],
)
def test_addresses_that_are_not_the_internet_are_refused(address: str) -> None:
    assert refusal(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "2001:4860::8",
    ],
)
def test_addresses_of_the_internet_are_not(address: str) -> None:
    assert refusal(ipaddress.ip_address(address)) == ""


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        *(
            ("10.1.2.3", True),
            ("127.0.0.1", True),
            ("fd12::1", True),
            ("::1", True),
            ("100.64.0.1", True),
        ),
        *(
            ("169.254.169.254", False),
            ("fd00:ec2::254", False),
            ("100.100.100.200", False),
            ("0.0.0.0", False),
        ),
        *(
            ("169.254.0.1", False),
            ("224.0.0.1", False),
            ("::ffff:10.0.0.1", False),
            ("64:ff9b::a00:1", False),
        ),
    ],
)
def test_an_allowed_host_may_be_inside_but_never_a_metadata_service(
    address: str, allowed: bool
) -> None:
    assert (refusal(ipaddress.ip_address(address), private=True) == "") is allowed


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://[::1]/",
        ),
        *(
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://0/",
            "http://①②⑦.⓪.⓪.①/",
        ),
        *(
            "http://127.0.0.1./",
            "http://localhost/",
            "http://LOCALHOST:80/",
            "http://169.254.169.254/latest/meta-data",
        ),
    ],
)
def test_however_an_address_is_spelled(url: str) -> None:
    with pytest.raises(SourceError):
        PublicClient(Network(), pause=Time().pause).get(url)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a.test/", "gopher://a.test/", "http://", "//a.test/", "x", "http://a.test:0/",
            "http://" + "a" * 5000]
)  # fmt: skip
def test_only_web_addresses_are_asked_for(url: str) -> None:
    with pytest.raises(SourceError, match="no web address") as wrong:
        fetcher().get(url)
    assert wrong.value.hint


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SourceError, match="holds a user or password") as wrong:
        fetcher().get("http://anna:geheim@site.test/")
    assert "geheim" not in str(wrong.value)


def test_a_host_is_allowed_by_name_or_by_name_and_port(site: Site) -> None:
    site.page("/", "hello")
    for private in (HOST, HOST.upper(), f"{HOST}.", f"{HOST}:{site.server_port}"):
        assert fetcher(private=(private,)).get(site.url).status == 200
    for private in ("other.test", f"{HOST}:1", "127.0.0.1"):
        with pytest.raises(SourceError, match="inside the network") as wrong:
            fetcher(private=(private,)).get(site.url)
        assert "private_hosts" in wrong.value.hint
    assert len(site.asked) == 4


def test_one_address_inside_is_enough_to_refuse_a_name() -> None:
    network = Network(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(SourceError, match=r"mixed.test \(10.0.0.1\) is an address inside"):
        network.addresses("mixed.test", 80)


def test_a_name_is_looked_up_once(site: Site) -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    asked = []

    def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    site.pages["/"] = Reply(b"hello", headers={"connection": "close"})
    get = PublicClient(Network((HOST,), rebinding), pause=Time().pause).get
    assert [get(site.url).body for _ in range(3)] == [b"hello"] * 3
    assert asked == [HOST]
    assert site.asked[0][1]["host"] == f"{HOST}:{site.server_port}"


def test_a_second_address_is_tried_when_the_first_does_not_answer(site: Site) -> None:
    site.page("/", "hello")
    network = Network((HOST,), lambda host, port: ["127.0.0.2", "127.0.0.1"])
    assert PublicClient(network).get(site.url).status == 200


def test_the_transport_raises_what_httpx_raises(site: Site) -> None:
    port = site.server_port
    site.pages["/"] = Reply(b"half", cut=True)
    with httpx.Client(
        transport=GuardedTransport(Network((HOST,), known)), trust_env=False
    ) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"http://{HOST}:{port}/")
        with pytest.raises(httpx.ConnectError):
            client.get("http://nowhere-at-all/")
    with pytest.raises(SourceError):
        Network().connect_unix_socket("/run/x")


# Redirects ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "//127.0.0.1:{port}/"],
)
def test_a_redirect_is_judged_like_any_address(site: Site, target: str) -> None:
    with serving() as inside:
        inside.otherwise = Reply(b"secret")
        site.moved("/", target.format(port=inside.server_port))
        with pytest.raises(SourceError, match="not read"):
            fetcher().get(site.url)
        assert not inside.asked


def test_a_redirect_to_another_scheme_or_with_a_password_is_refused(site: Site) -> None:
    site.moved("/file", "file:///etc/passwd")
    site.moved("/user", f"http://a:b@{HOST}/")
    for path in ("/file", "/user"):
        with pytest.raises(SourceError):
            fetcher().get(site.url + path)


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
    _, site.pages["/"] = scripted(Reply(status=status), Reply(status=status), Reply(b"well"))  # type: ignore[assignment]
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
    _, site.pages["/"] = scripted(Reply(status=503, headers={"retry-after": asked}), Reply(b"x"))  # type: ignore[assignment]
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


def test_hosts_have_one_spelling() -> None:
    assert [host_key(host) for host in ("A.Test.", "[::1]", "Bücher.example", " x ")] == [
        "a.test", "::1", "xn--bcher-kva.example", "x",
    ]  # fmt: skip


# TLS ----------------------------------------------------------------------------------------------


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """(server's, client's): the client trusts only this certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    plain = serialization.NoEncryption()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(
        cadata=made.public_bytes(serialization.Encoding.PEM).decode()
    )
    return server, client


def test_tls_speaks_to_the_name_though_the_address_is_pinned(site: Site, tmp_path: Path) -> None:
    server, client = certified(tmp_path, HOST)
    named = []
    server.sni_callback = lambda connection, name, context: named.append(name)
    site.socket = server.wrap_socket(site.socket, server_side=True)
    site.page("/", "hello")
    network = Network((HOST, "other.test"), known)
    with httpx.Client(transport=GuardedTransport(network, client), trust_env=False) as web:
        assert web.get(f"https://{HOST}:{site.server_port}/").status_code == 200
        with pytest.raises(httpx.ConnectError, match="certificate"):
            web.get(f"https://other.test:{site.server_port}/")
    assert named == [HOST, "other.test"]


def test_a_deadline_that_has_passed_stops_before_connecting() -> None:
    network = Network((HOST,), known)
    network.deadline = network.clock() - 1
    with pytest.raises(httpcore.ReadTimeout):
        network.connect_tcp(HOST, 9)
