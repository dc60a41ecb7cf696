"""Signing in with a password, and by a provider that really runs."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from ombud.app import Workspace, people
from ombud.types import Person
from web.provider import CLIENT, Provider, running_provider
from web.running import make_workspace, running

PASSWORD = "correct horse battery"
FORM = "application/x-www-form-urlencoded"
PART = b'--x\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n'


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        made = make_workspace(tmp_path_factory.mktemp("local"))
    people.add_person(made, "ann", Person(country="GB"), [], password=PASSWORD)
    people.add_person(made, "eve", Person(country="GB"), [], password=PASSWORD)
    people.add_person(made, "robot", Person(country="GB"), [])
    with running(made) as url:
        yield made, url
    made.close()


def sign_in(
    client: httpx.Client, name: str = "ann", password: str = PASSWORD, place: str = "/documents"
) -> httpx.Response:
    return client.post("/login", data={"name": name, "password": password, "next": place})


def test_name_and_password_open_the_page_that_was_wanted(local: tuple[Workspace, str]) -> None:
    with httpx.Client(base_url=local[1]) as client:
        form = client.get("/login?next=%2Fdocuments")
        assert 'autocomplete="current-password"' in form.text
        reply = sign_in(client, name=" ANN ")
        assert (reply.status_code, reply.headers["location"]) == (303, "/documents")
        cookie = reply.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert client.get("/documents").status_code == 200
        assert client.get("/", headers={"accept": "text/html"}).text.count("Signed in as ann") == 1


@pytest.mark.parametrize(
    "place",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/logout"],
)
def test_nobody_is_led_to_another_site(local: tuple[Workspace, str], place: str) -> None:
    with httpx.Client(base_url=local[1]) as client:
        assert sign_in(client, place=place).headers["location"] == "/"


@pytest.mark.parametrize(
    ("name", "password"),
    [("robot", ""), ("robot", PASSWORD), ("nobody-here", PASSWORD), ("ann", "wrong" * 4)],
)
def test_what_does_not_go_together_gets_the_same_words(
    local: tuple[Workspace, str], name: str, password: str
) -> None:
    with running(local[0]) as fresh, httpx.Client(base_url=fresh) as client:
        reply = sign_in(client, name=name, password=password)
        assert reply.status_code == 401
        assert "Name and password do not go together." in reply.text
        assert "set-cookie" not in reply.headers
        assert 'role="alert"' in reply.text


def test_wrong_passwords_of_a_stranger_turn_nobody_away(local: tuple[Workspace, str]) -> None:
    with running(local[0]) as fresh, httpx.Client(base_url=fresh, timeout=60) as client:
        statuses = [sign_in(client, "eve", f"guess number {n}").status_code for n in range(6)]
        assert statuses == [401] * 6
        assert sign_in(client, "ann").status_code == 303
        assert sign_in(client, "eve").status_code == 303


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, "&".join(f"name{n}=x" for n in range(11)).encode()),
        (FORM, b"name=a%00b&password=x"),
        ("application/json", b"{}"),
        ("multipart/form-data", b"name=ann"),
        ("multipart/form-data; boundary=x", b"no part of it"),
        ("multipart/form-data; boundary=x", b"--x\r\nbroken\r\n\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", PART % (b"name", b"a" * 1_100_000)),
        ("multipart/form-data; boundary=x", PART % (b'a"; filename="b', b"c") * 51 + b"--x--"),
        (
            "multipart/form-data; boundary=x; charset=idna",
            PART % (b"name", b"xn--" + b"a" * 70) + b"--x--",
        ),
        (
            "multipart/form-data; boundary=x; charset=unicode_escape",
            PART % (b"name", b"\\ud800") + b"--x--",
        ),
    ],
)
def test_a_form_that_is_none_is_refused(
    local: tuple[Workspace, str], kind: str, body: bytes
) -> None:
    reply = httpx.post(f"{local[1]}/login", content=body, headers={"content-type": kind})
    assert 400 <= reply.status_code < 500
    assert reply.status_code != 401
    assert reply.headers["content-type"] == "application/problem+json"


def test_signing_out_ends_it_also_for_a_copied_cookie(local: tuple[Workspace, str]) -> None:
    with httpx.Client(base_url=local[1]) as client:
        sign_in(client)
        copied = dict(client.cookies)
        assert client.post("/logout").headers["location"] == "/login"
    for _ in range(2):
        again = httpx.get(f"{local[1]}/api/v1/documents", cookies=copied)
        assert again.status_code == 401


def test_who_is_disabled_is_out_at_once_in_a_new_look(local: tuple[Workspace, str]) -> None:
    workspace, url = local
    people.add_person(workspace, "temp", Person(), [], password=PASSWORD)
    with httpx.Client(base_url=url) as client:
        sign_in(client, "temp")
        cookies = dict(client.cookies)
        people.disable(workspace, people.find_person(workspace, "temp"))
        with running(workspace) as fresh:
            assert httpx.get(f"{fresh}/api/v1/documents", cookies=cookies).status_code == 401
            with httpx.Client(base_url=fresh) as other:
                assert sign_in(other, "temp").status_code == 401


def test_a_form_of_another_site_signs_nobody_in(local: tuple[Workspace, str]) -> None:
    reply = httpx.post(
        f"{local[1]}/login",
        data={"name": "ann", "password": PASSWORD},
        headers={"origin": "https://evil.example"},
    )
    assert reply.status_code == 403


def test_a_public_address_is_served_and_its_cookies_go_over_tls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_IDENTITY__KIND", "local")
    monkeypatch.setenv("OMBUD_SERVER__PUBLIC_URL", "https://ask.example.com")
    made = make_workspace(tmp_path)
    people.add_person(made, "ann", Person(), [], password=PASSWORD)
    said = {"name": "ann", "password": PASSWORD}
    with running(made) as url:
        host = {"host": "ask.example.com", "origin": "https://ask.example.com"}
        reply = httpx.post(f"{url}/login", data=said, headers=host)
        other = httpx.get(f"{url}/login", headers={"host": "evil.example"})
    made.close()
    assert "; secure" in reply.headers["set-cookie"].lower()
    assert other.status_code == 400


# By a provider ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    pytest.importorskip("authlib", reason="the extra `oidc` is not installed")
    with running_provider() as made:
        yield made


@pytest.fixture
def through(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], httpx.Response]]:
    """A browser that signs in once more, by the provider; what it sees at the end."""
    provider.claims = {"sub": "u-1", "preferred_username": "Ann@Example.org"}
    provider.userinfo, provider.lie = {}, ""
    monkeypatch.setenv("OMBUD_IDENTITY__KIND", "oidc")
    monkeypatch.setenv("OMBUD_IDENTITY__ISSUER", provider.issuer)
    monkeypatch.setenv("OMBUD_IDENTITY__CLIENT_ID", CLIENT)
    monkeypatch.setenv(
        "OMBUD_IDENTITY__DUTIES", '{"hr-team": ["advisor"], "it": ["engineer", "admin"]}'
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("OMBUD_SERVER__PORT", str(port))
    made = make_workspace(tmp_path)
    with (
        running(made, port) as url,
        httpx.Client(base_url=url, follow_redirects=True, timeout=30) as client,
    ):
        yield lambda: client.get("/login/provider?next=%2Fdocuments")
    made.close()


def test_a_provider_says_who_somebody_is(
    provider: Provider, through: Callable[[], httpx.Response]
) -> None:
    provider.claims |= {"country": "DE", "roles": ["manager", "hr-team"], "locale": "de-DE"}
    page = through()
    assert page.status_code == 200
    assert page.url.path == "/documents"
    assert "Annual leave in Germany" in page.text
    assert "Annual leave in Great Britain" not in page.text
    assert "Pay bands for managers" in page.text
    assert "Signed in as ann@example.org" in page.text
    assert 'href="/desk"' in page.text
    assert 'href="/admin"' not in page.text


def test_what_only_userinfo_says_counts_too(
    provider: Provider, through: Callable[[], httpx.Response]
) -> None:
    provider.userinfo = {"country": "GB"}
    assert "Annual leave in Great Britain" in through().text


def test_who_comes_again_is_as_the_provider_says_then(
    provider: Provider, through: Callable[[], httpx.Response]
) -> None:
    provider.claims |= {"country": "DE"}
    assert "Annual leave in Germany" in through().text
    provider.claims |= {"country": "GB"}
    again = through()
    assert "Annual leave in Great Britain" in again.text
    assert "Annual leave in Germany" not in again.text


@pytest.mark.parametrize(
    "lie",
    ["nonce", "audience", "party", "issuer", "expired", "none", "shared key", "key", "refused"],
)
def test_a_token_that_does_not_hold_lets_nobody_in(
    provider: Provider, through: Callable[[], httpx.Response], lie: str
) -> None:
    provider.lie = lie
    page = through()
    assert page.status_code == 401
    assert "Annual leave" not in page.text
    provider.lie = ""
    assert through().status_code == 200


def test_userinfo_of_somebody_else_lets_nobody_in(
    provider: Provider, through: Callable[[], httpx.Response]
) -> None:
    provider.userinfo = {"sub": "u-2", "country": "GB"}
    assert through().status_code == 401


def test_another_browsers_code_signs_nobody_in(
    provider: Provider, through: Callable[[], httpx.Response]
) -> None:
    """Who is led to the way back with a code of the attacker's has not begun."""
    del provider
    page = through()
    back = httpx.get(f"{page.url.scheme}://{page.url.netloc.decode()}/login/back?code=x&state=y")
    assert back.status_code == 422
    assert "set-cookie" not in back.headers or "ombud_login=" not in back.headers["set-cookie"]
