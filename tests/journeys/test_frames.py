"""Signing in inside a frame of another site's page, in a browser that gives frames no cookies of
their own site."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from journeys.browsers import ARGUMENTS, CHROMIUM, PATIENCE, Page, needs_chromium, playwright
from ombud.app import Workspace, people, signing_in
from ombud.types import Person
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
PASSWORD = "correct horse battery"
PHASED_OUT = "--test-third-party-cookie-phaseout"


class Intranet(ThreadingHTTPServer):
    """Pages of another site: localhost, where the assistant is at 127.0.0.1."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://localhost:{self.server_port}"
        self.page = ""


class _Handler(BaseHTTPRequestHandler):
    server: Intranet

    def do_GET(self) -> None:
        body = self.server.page.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture(scope="module")
def intranet() -> Iterator[Intranet]:
    with Intranet() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()


@pytest.fixture(scope="module")
def served(
    intranet: Intranet, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        patch.setenv("OMBUD_SERVER__EMBED_ORIGINS", f'["{intranet.origin}"]')
        made = make_workspace(tmp_path_factory.mktemp("frames"))
        people.add_person(made, "ann", Person(country="GB"), ["admin"], password=PASSWORD)
        with running(made) as url:
            yield made, url
        made.close()


@pytest.fixture
def open_page() -> Iterator[Callable[[str], Page]]:
    """Opens a page in a browser without third-party cookies."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=str(CHROMIUM), args=[*ARGUMENTS, PHASED_OUT]
        )
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)

        def opened(address: str) -> Page:
            page = context.new_page()
            page.goto(address)
            return page

        yield opened
        browser.close()


def sign_in(page: Page, press: Callable[[], None]) -> None:
    """Sign in in the window that a press opens; it closes by itself."""
    with page.expect_popup() as opened:
        press()
    window = opened.value
    window.get_by_label("Username").fill("ann")
    window.get_by_label("Password").fill(PASSWORD)
    with window.expect_event("close"):
        window.get_by_role("button", name="Sign in").click()


def test_a_frame_of_another_site_signs_in_by_a_window_and_answers(
    intranet: Intranet, served: tuple[Workspace, str], open_page: Callable[[str], Page]
) -> None:
    workspace, url = served
    intranet.page = (
        f'<iframe src="{url}/?embed=1" title="Questions" width="600" height="700"></iframe>'
    )
    page = open_page(intranet.origin)
    frame = page.frame_locator("iframe")
    button = frame.get_by_role("button", name="Sign in")
    sign_in(page, button.click)
    playwright.expect(frame.get_by_label("Your question")).to_be_visible()
    (inside,) = page.frames[1:]
    assert inside.url == f"{url}/?embed=1"
    frame.get_by_label("Your question").fill("How many days of annual leave do I have?")
    frame.get_by_label("Your question").press("Enter")
    playwright.expect(frame.locator(".turn").last).to_contain_text("26 days")
    # In the frame an admin may do what employees may, and nothing more.
    script = "path => fetch(path, {headers: {accept: 'application/json'}}).then(r => r.status)"
    assert inside.evaluate(script, "/api/v1/documents") == 200
    assert inside.evaluate(script, "/admin/people") == 403
    cookies = {one["name"]: one for one in page.context.cookies()}
    assert cookies["ombud_frame"]["partitionKey"]
    assert cookies["ombud_frame"]["httpOnly"]
    # A leaver's frame ends with everything else.
    people.disable(workspace, people.find_person(workspace, "ann"), by="command line")
    assert inside.evaluate(script, "/api/v1/documents") in {200, 401}
    playwright.expect(frame.get_by_role("alert").first).to_contain_text("no longer signed in")
    assert inside.evaluate(script, "/api/v1/documents") == 401
    people.disable(workspace, people.find_person(workspace, "ann"), disabled=False)


def test_a_page_that_is_not_ours_gets_no_code(
    intranet: Intranet, served: tuple[Workspace, str], open_page: Callable[[str], Page]
) -> None:
    """Whoever opens the window from another origin hears nothing, although somebody is signed in."""
    workspace, url = served
    account = people.find_person(workspace, "ann")
    place = f"window.open('{url}/login/done')"
    intranet.page = (
        f'<button onclick="{place}">Open</button><script>heard = [];'
        "addEventListener('message', (event) => heard.push(event.data))</script>"
    )
    page = open_page(intranet.origin)
    secret = signing_in.open_browser(workspace, account)
    page.context.add_cookies([{"name": "ombud_login", "value": secret, "url": url}])
    with page.expect_popup() as opened:
        page.get_by_role("button").click()
    if not opened.value.is_closed():
        opened.value.wait_for_event("close")
    assert page.evaluate("heard") == []


def test_a_code_counts_once_and_only_the_chat_may_be_framed(
    served: tuple[Workspace, str], intranet: Intranet
) -> None:
    workspace, url = served
    account = people.find_person(workspace, "ann")
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    done = httpx.get(f"{url}/login/done", cookies=cookies)
    code = done.text.partition('data-code="')[2].partition('"')[0]
    forged = {"origin": intranet.origin, "sec-fetch-site": "cross-site"}
    statuses = [
        httpx.post(f"{url}/login/frame", data={"code": value}, headers=headers).status_code
        for value, headers in (("x", {}), (code, forged), (code, {}), (code, {}))
    ]
    assert statuses == [401, 403, 204, 401]
    for path, is_framed in (("/?embed=1", True), ("/admin", False), ("/login/done", False)):
        headers = httpx.get(f"{url}{path}", cookies=cookies).headers
        assert (intranet.origin in headers["content-security-policy"]) is is_framed
        assert "'unsafe-inline'" not in headers["content-security-policy"]


def test_signing_out_in_a_browser_ends_a_code_that_waits(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    account = people.find_person(workspace, "ann")
    secret = signing_in.open_browser(workspace, account)
    done = httpx.get(f"{url}/login/done", cookies={"ombud_login": secret})
    code = done.text.partition('data-code="')[2].partition('"')[0]
    signing_in.sign_out(workspace, secret)
    assert httpx.post(f"{url}/login/frame", data={"code": code}).status_code == 401
