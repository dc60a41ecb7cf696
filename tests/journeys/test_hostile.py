"""What people write where others read it: nothing of it runs, with the pages' policy switched off, so
that nothing but their own care stands between."""

from collections.abc import Iterator
from typing import Any

import pytest

from journeys.browsers import NewPage, needs_chromium, playwright
from ombud.app import Workspace
from ombud.handoff import Advisor, session
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]

# One for each way into a page that the OWASP sheet on evading filters tells of.
PAYLOADS = (
    "<script>window.hurt=1</script>",
    "<SCRIPT SRC=data:text/javascript,window.hurt=1></SCRIPT>",
    "<img src=x onerror=window.hurt=1>",
    "<IMG SRC=javascript:window.hurt=1>",
    "<img src=`x` onerror=`window.hurt=1`>",
    '<img """><script>window.hurt=1</script>">',
    "<img src=# onmouseover=window.hurt=1>",
    "<img/onerror='window.hurt=1' src=/>",
    "<<script>window.hurt=1;//<</script>",
    "<script/xss src=x>window.hurt=1</script>",
    "<scr<script>ipt>window.hurt=1</scr</script>ipt>",
    '"><svg/onload=window.hurt=1>',
    "'><svg onload=window.hurt=1//",
    "<svg><script>window.hurt=1</script></svg>",
    "<svg><animate onbegin=window.hurt=1 attributeName=x dur=1s>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.hurt=1>",
    "<body onload=window.hurt=1>",
    "<iframe srcdoc='<script>parent.window.hurt=1</script>'></iframe>",
    "<iframe src=javascript:window.hurt=1></iframe>",
    "<object data=javascript:window.hurt=1></object>",
    "<embed src=javascript:window.hurt=1>",
    "<details open ontoggle=window.hurt=1>x</details>",
    "<input autofocus onfocus=window.hurt=1>",
    "<video><source onerror=window.hurt=1></video>",
    "<audio src=x onerror=window.hurt=1>",
    "<marquee onstart=window.hurt=1>x</marquee>",
    "<meta http-equiv=refresh content='0;url=javascript:window.hurt=1'>",
    "<base href=javascript:window.hurt=1//>",
    "<link rel=stylesheet href=javascript:window.hurt=1>",
    "<style>@import 'javascript:window.hurt=1';</style>",
    "<style onload=window.hurt=1></style>",
    "<template><script>window.hurt=1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=window.hurt=1>'></noscript>",
    "</textarea><script>window.hurt=1</script>",
    "</title><script>window.hurt=1</script>",
    "</script><script>window.hurt=1</script>",
    "--><script>window.hurt=1</script><!--",
    "[click](javascript:window.hurt=1)",
    "[click](data:text/html,<script>window.hurt=1</script>)",
    "![x](x 'onerror=window.hurt=1')",
    "`<img src=x onerror=window.hurt=1>`",
    "&lt;img src=x onerror=window.hurt=1&gt;",
    "&#60;script&#62;window.hurt=1&#60;/script&#62;",
    "\\x3cscript\\x3ewindow.hurt=1\\x3c/script\\x3e",
    "{{constructor.constructor('window.hurt=1')()}}",
    "${window.hurt=1}",
    "javascript:window.hurt=1",
    "\u202e<img src=x onerror=window.hurt=1>",
)
ANNA = Advisor(id="advisor", name=PAYLOADS[2])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


def begin(page: Any, payload: str) -> str:
    """A conversation of this browser in which that was asked; its id."""
    client = page.context.request
    talk = str(client.post("/api/v1/conversations", data={}).json()["id"])
    body = {"question": payload, "conversation_id": talk}
    answer = client.post("/api/v1/ask", data=body).json()
    said = client.post(
        f"/api/v1/answers/{answer['id']}/feedback", data={"thumb": -1, "comment": payload}
    )
    assert said.ok, said.text()
    assert client.patch(f"/api/v1/conversations/{talk}", data={"title": payload}).ok
    return talk


def check(page: Any) -> None:
    for link in page.locator("a[href^='javascript'], a[href^='data']").all():
        pytest.fail(f"a link leads into the page: {link.get_attribute('href')}")
    page.evaluate(
        "document.querySelectorAll('*').forEach((one) => one.dispatchEvent(new MouseEvent('mouseover')))"
    )
    assert page.evaluate("window.hurt") is None


def test_nothing_that_is_written_runs(
    new_page: NewPage, workspace: Workspace, address: str
) -> None:
    page = new_page(complaining=True, bypass_csp=True, base_url=address)
    talks = [begin(page, payload) for payload in PAYLOADS]
    last = talks[-1]
    client = page.context.request
    handed = {"reason": "asked", "topic": PAYLOADS[0]}
    assert client.post(f"/api/v1/conversations/{last}/handoff", data=handed).ok
    session.claim(workspace.store, last, ANNA)
    for number, payload in enumerate(PAYLOADS):
        assert client.post(
            f"/api/v1/conversations/{last}/messages",
            data={"text": payload, "id": f"00000000-0000-4000-8000-{number:012d}"},
        ).ok
        session.reply(workspace.store, last, ANNA, payload, f"k{number}")
    # The list of conversations by their titles, then the one with the advisor.
    page.reload()
    page.get_by_role("button", name="Conversations").click()
    dialog = page.get_by_role("dialog", name="Conversations")
    playwright.expect(dialog.get_by_role("listitem")).to_have_count(len(PAYLOADS))
    check(page)
    dialog.get_by_role("listitem").first.get_by_role("button").first.click()
    playwright.expect(page.locator("#log")).to_contain_text("onerror=window.hurt=1")
    check(page)
    for path in ("/desk", "/admin", "/admin/audit", "/lab", "/playground", "/documents"):
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        if path == "/desk":
            page.get_by_role("button", name="Advisor").first.click()
            page.locator("button.card, .card").first.click()
            playwright.expect(page.locator("#thread")).to_contain_text("window.hurt")
        check(page)
