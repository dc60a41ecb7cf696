"""Links of documents up to the people who read them, and struck text, which nobody may take for the
rule."""

from collections.abc import Iterator

import httpx
import pytest

from journeys.browsers import NewPage, Page, ask, fits, needs_chromium, playwright
from ombud.app import Workspace, sync_all
from ombud.messages import message
from web.linked import FORM, MAIL, SECRET, SENTENCE, STRUCK, linked_document
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
QUESTION = "How do parents apply for parental leave?"
WORDS = "parental leave form"
HOST = "forms.example.org"
ADDRESS = FORM.replace("(", "%28").replace(")", "%29")
"""In Markdown, where a bracket would end it."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    (made.home / "handbook" / "parental-leave.docx").write_bytes(linked_document())
    sync_all(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture(scope="module")
def answer(address: str) -> dict[str, object]:
    with httpx.Client(base_url=address, timeout=60) as client:
        return dict(client.post("/api/v1/ask", json={"question": QUESTION}).json())


def check_link(link: Page, url: str) -> None:
    playwright.expect(link).to_have_attribute("href", url)
    assert "noopener" in link.get_attribute("rel")
    assert link.get_attribute("target") == "_blank"


def test_an_answer_has_the_link_of_the_sentence_that_it_quotes(answer: dict[str, object]) -> None:
    assert f"[{WORDS} ({HOST})]({ADDRESS})" in str(answer["text"])
    claims = answer["claims"]
    assert isinstance(claims, list)
    assert claims[0]["text"] == SENTENCE


def test_a_citation_says_where_its_links_stand(answer: dict[str, object]) -> None:
    citations = answer["citations"]
    assert isinstance(citations, list)
    (cited,) = [one for one in citations if SENTENCE in one["quote"]]
    stand: list[tuple[str, str]] = []
    for link in cited["annotations"]:
        first, last = link["start"] - cited["start"], link["end"] - cited["start"]
        stand.append((cited["quote"][first:last], link["url"]))
    assert (WORDS, FORM) in stand


def test_a_passage_of_the_search_has_its_links_and_can_be_answered_from(address: str) -> None:
    with httpx.Client(base_url=address, timeout=60) as client:
        hits = client.post("/api/v1/search", json={"query": QUESTION, "k": 3}).json()["hits"]
        (hit,) = [one for one in hits if SENTENCE in one["text"]]
        urls = {link["url"] for link in hit["annotations"]}
        asked = {"question": QUESTION, "evidence": [hit], "triage": False}
        composed = client.post("/api/v1/ask", json=asked).json()
    assert urls == {FORM, MAIL}
    assert f"]({ADDRESS})" in composed["text"]


def test_the_answer_and_its_source_have_the_link(new_page: NewPage) -> None:
    page = new_page()
    turn = ask(page, QUESTION)
    check_link(turn.locator(".body a", has_text=WORDS), ADDRESS)
    playwright.expect(turn.locator(".body")).to_contain_text(f"({HOST})")
    turn.locator(".cite").first.click()
    source = page.locator("#sources .source").first
    link = source.locator("blockquote a", has_text=WORDS)
    check_link(link, FORM)
    playwright.expect(source.locator("blockquote")).to_contain_text(f"{WORDS} ({HOST}) eight weeks")
    playwright.expect(source.locator("mark").last).to_be_visible()
    assert "".join(source.locator("mark").all_text_contents()).startswith(SENTENCE)


def test_without_the_text_around_it_a_quote_keeps_its_link(new_page: NewPage) -> None:
    page = new_page(complaining=True)
    page.route("**/api/v1/documents/**", lambda route: route.fulfill(status=503, body="{}"))
    ask(page, QUESTION).locator(".cite").first.click()
    source = page.locator("#sources .source").first
    playwright.expect(source).to_contain_text(message("thread.no_surroundings"))
    check_link(source.locator("blockquote a", has_text=WORDS), FORM)


def test_the_document_page_shows_links_and_says_that_struck_text_is_not_in_force(
    new_page: NewPage, answer: dict[str, object], address: str
) -> None:
    citations = answer["citations"]
    assert isinstance(citations, list)
    for width in (1440, 390):
        page = new_page(viewport={"width": width, "height": 900})
        page.goto(f"{address}/documents/{citations[0]['document_id']}")
        check_link(page.locator("main a", has_text=WORDS), FORM)
        check_link(page.locator("td a"), FORM)
        check_link(page.locator("main p a", has_text="leave@example.org"), MAIL)
        assert page.locator("main a", has_text="this address").count() == 0
        struck = page.locator(".struck")
        playwright.expect(struck.locator("s")).to_have_text(STRUCK)
        playwright.expect(struck).to_contain_text("not in force")
        line = struck.locator("s").evaluate("(one) => getComputedStyle(one).textDecorationLine")
        assert line == "line-through"
        playwright.expect(page.locator(".about")).to_contain_text("1 struck passage")
        playwright.expect(page.locator(".about")).to_contain_text("1 hidden part")
        assert SECRET not in page.content()
        assert fits(page)


def test_an_exported_conversation_keeps_the_link(new_page: NewPage) -> None:
    page = new_page()
    ask(page, QUESTION)
    with page.expect_download() as waiting:
        page.locator("#keep summary").click()
        page.locator("#markdown").click()
    markdown = waiting.value.path().read_text(encoding="utf-8")
    plain = page.request.get(waiting.value.url.replace("markdown", "text")).text()
    for text, shown in ((markdown, 2), (plain, 1)):
        lines = [line for line in text.splitlines() if "eight weeks ahead" in line]
        assert [f"[{WORDS} ({HOST})]({ADDRESS})" in line for line in lines] == [True] * shown
        assert STRUCK not in text
        assert SECRET not in text
