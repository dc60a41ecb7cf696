"""Nothing is read that lies inside the network, takes for ever or grows without end, whatever a
page links to."""

import ipaddress
import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
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
from ombud.sources.guard import GuardedTransport, Network, host_key, refusal
from sources.web.site import HOST, Reply, Site, Time, fetcher, known, serving


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
    "url",
    [
        "file:///etc/passwd",
        "ftp://a.test/",
        "gopher://a.test/",
        "http://",
        "//a.test/",
        "x",
        "http://a.test:0/",
        "http://" + "a" * 5000,
    ],
)
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


def test_hosts_have_one_spelling() -> None:
    assert [host_key(host) for host in ("A.Test.", "[::1]", "Bücher.example", " x ")] == [
        "a.test",
        "::1",
        "xn--bcher-kva.example",
        "x",
    ]


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
