"""An employee in trouble and an advisor, each in a browser of their own, with a server that is
killed between them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MailHandler

from handoff.replicas import Replica, free_port
from journeys.browsers import Page, findings, fits, needs_chromium, playwright
from ombud.app import Workspace
from ombud.messages import message
from web.running import LEAVE_GB, make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]

TROUBLE = "My manager is harassing me, what can I do?"
LEAVE = "How many days of annual leave do I have?"
ADVISORS = """
[[handoff.advisor]]
id = "ana"
name = "Ana Ruiz"
[[handoff.advisor]]
id = "tom"
name = "Tom Berg"
topics = ["pay"]
"""
REPLIES = '[[reply]]\ntitle = "Thank you"\ntext = "Thank you for telling me."\n'
SECONDS = 30_000


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    home = tmp_path_factory.mktemp("workspace")
    make_workspace(home).close()
    settings = home / "ombud.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + ADVISORS, encoding="utf-8")
    (home / "replies.toml").write_text(REPLIES, encoding="utf-8")
    started = Replica(home, {})
    started.start()
    yield started
    started.stop()


class Mails(MailHandler):
    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def handle_message(self, message: Any) -> None:
        self.got.append(message)


class Colleague:
    """Somebody who waits as well, without a browser."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=30)
        self.client.get("/")
        made = self.client.post("/api/v1/conversations", json={"person": {"country": "GB"}})
        self.talk = made.json()["id"]
        self.client.post(
            f"/api/v1/conversations/{self.talk}/handoff", json={"reason": "asked", "topic": "pay"}
        )

    def leave(self) -> None:
        self.client.delete(f"/api/v1/conversations/{self.talk}/handoff").raise_for_status()
        self.client.close()


@contextmanager
def two_pages(browser: Any, url: str, width: int, scheme: str) -> Iterator[tuple[Page, Page]]:
    options = {
        "viewport": {"width": width, "height": 860},
        "color_scheme": scheme,
        "reduced_motion": "reduce",
        "bypass_csp": True,
    }
    contexts = [browser.new_context(**options) for _ in range(2)]
    try:
        for context in contexts:
            context.set_default_timeout(SECONDS)
        employee, advisor = (context.new_page() for context in contexts)
        employee.goto(url)
        advisor.goto(f"{url}/desk")
        yield employee, advisor
    finally:
        for context in contexts:
            context.close()


def expect(found: Any) -> Any:
    return playwright.expect(found)


def ask(page: Page, question: str) -> Page:
    before = page.locator(".turn .badge").count()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".turn .badge")).to_have_count(before + 1, timeout=SECONDS)
    return page.locator(".turn").last


def said(page: Page, text: str) -> Page:
    return page.locator(".said .words", has_text=text)


@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
)
def test_somebody_in_trouble_is_heard(
    browser: Any, replica: Replica, axe: str, width: int, scheme: str
) -> None:
    faults: list[str] = []
    colleague = Colleague(replica.url)
    with two_pages(browser, replica.url, width, scheme) as (employee, advisor):
        # Trouble is told, and a person is one click away.
        employee.get_by_label("Country").select_option("GB")
        turn = ask(employee, TROUBLE)
        faults += findings(employee, axe)
        turn.get_by_role("button", name="Talk to a person").click()
        bar = employee.locator("#bar")
        expect(bar).to_contain_text("You are number 2 in the queue", timeout=SECONDS)
        expect(ask(employee, LEAVE)).to_contain_text(LEAVE_GB)

        # The queue moves on.
        faults += findings(advisor, axe)
        advisor.get_by_role("button", name="Ana Ruiz").click()
        expect(advisor.locator("#waiting .card")).to_have_count(2)
        faults += findings(advisor, axe)
        colleague.leave()
        expect(bar).to_contain_text("You are number 1 in the queue", timeout=SECONDS)

        # A person takes it, and sees why and what was said.
        advisor.locator("#waiting .card", has_text=message("desklive.reason_sensitive")).click()
        expect(advisor.locator("#thread")).to_contain_text(TROUBLE)
        advisor.get_by_role("button", name=message("desk.claim")).click()
        expect(bar).to_contain_text("Ana Ruiz is with you", timeout=SECONDS)
        expect(employee.locator("#log")).to_contain_text("Ana Ruiz has joined.")
        words = advisor.get_by_label("Your reply")
        words.fill("/thank")
        words.press("Enter")
        expect(words).to_have_value("Thank you for telling me.")
        words.press("Enter")
        expect(said(employee, "Thank you for telling me.")).to_have_count(1)

        # Each sees that the other is writing.
        box = employee.get_by_label("Your question")
        box.press_sequentially("It began in")
        expect(advisor.locator("#types")).to_contain_text("writing")
        words.press_sequentially("When")
        expect(bar.locator(".types")).to_contain_text("Ana Ruiz is writing")

        # The server is killed while both write.
        replica.kill()
        box.press_sequentially(" March.")
        employee.keyboard.press("Enter")
        expect(said(employee, "It began in March.")).to_have_count(1)
        box.fill("And there is more")
        replica.start()
        expect(said(advisor, "It began in March.")).to_have_count(1, timeout=SECONDS)
        expect(words).to_have_value("When")
        employee.reload()
        expect(box).to_have_value("And there is more")
        expect(said(employee, "It began in March.")).to_have_count(1)
        words.fill("When in March?")
        words.press("Enter")
        expect(said(employee, "When in March?")).to_have_count(1, timeout=SECONDS)
        faults += findings(employee, axe)
        faults += findings(advisor, axe)

        # The assistant returns and says so.
        details = advisor.locator("#details")
        if not details.is_visible():
            advisor.get_by_role("button", name="Details").click()
        faults += findings(advisor, axe)
        details.get_by_role("button", name=message("desk.end_button")).click()
        expect(bar).to_contain_text("The assistant is back", timeout=SECONDS)
        expect(employee.locator("#log")).to_contain_text(message("thread.person_ended"))
        expect(ask(employee, LEAVE)).to_contain_text(LEAVE_GB)
        assert fits(employee)
        assert fits(advisor)
    assert faults == []


def test_a_copy_of_what_was_said_comes_by_mail(browser: Any, tmp_path: Path) -> None:
    port = free_port()
    mails = Mails()
    server = Controller(mails, hostname="127.0.0.1", port=port)
    server.start()
    make_workspace(tmp_path).close()
    settings = tmp_path / "ombud.toml"
    mail = f'[mail]\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\nsender = "a@b.org"\n'
    settings.write_text(settings.read_text(encoding="utf-8") + mail, encoding="utf-8")
    try:
        with (
            closing(Workspace(tmp_path)) as workspace,
            running(workspace) as url,
            two_pages(browser, url, 390, "light") as (employee, _),
        ):
            ask(employee, LEAVE)
            employee.get_by_role("button", name="Talk to a person").click()
            employee.get_by_role("button", name="No longer needed").click()
            employee.get_by_role("button", name=message("thread.email_copy")).click()
            employee.get_by_label(message("thread.your_address")).fill("ann@example.org")
            employee.keyboard.press("Enter")
            expect(employee.locator("#bar")).to_contain_text("Sent")
    finally:
        server.stop()
    (got,) = mails.got
    assert got["To"] == "ann@example.org"
    assert LEAVE in got.get_payload()
