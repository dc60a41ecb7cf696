"""The chat, its documents and its live connection below a path of the intranet, in a browser."""

from collections.abc import Iterator

import pytest

from journeys.browsers import NewPage, ask, needs_chromium, playwright
from web.proxy import stripping
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, stripping("/ombud") as proxy:
        public = f"http://127.0.0.1:{proxy.port}/ombud"
        patch.setenv("OMBUD_SERVER__PUBLIC_URL", public)
        made = make_workspace(tmp_path_factory.mktemp("home"))
        with running(made) as url:
            proxy.target = url
            yield f"{public}/"
        made.close()


def test_everything_of_the_chat_works_below_the_path(new_page: NewPage, address: str) -> None:
    page = new_page()
    paths: list[str] = []
    page.on("request", lambda request: paths.append(request.url))
    page.on("websocket", lambda socket: paths.append(socket.url.replace("ws:", "http:")))
    page.reload()
    turn = ask(page, "May I work from home, and on how many days a week?")
    turn.locator(".cite").first.click()
    panel = page.get_by_role("complementary")
    playwright.expect(panel.locator(".source.on mark")).to_have_count(1)
    with page.context.expect_page() as opened:
        panel.get_by_role("link", name="Open document").first.click()
    document = opened.value
    playwright.expect(document.get_by_role("heading", level=1)).to_have_text("Remote work")
    assert document.url.startswith(f"{address}documents/")
    page.get_by_role("link", name="Documents").first.click()
    playwright.expect(page.get_by_role("link", name="Travel and expenses").first).to_be_visible()
    assert page.url.startswith(f"{address}documents")
    assert any(path.endswith("/live") for path in paths)
    assert all(path.startswith(address) for path in paths)
