"""What people write where others read it: nothing of it runs, with the pages' policy switched off, so
that nothing but their own care stands between."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from typing import Any

import pytest

from journeys.browsers import NewPage, ask, needs_chromium, playwright
from ombud.app import Workspace, library
from ombud.handoff import Advisor, session
from ombud.messages import message
from web.running import HANDBOOK, make_workspace, running

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


def hostile_page(number: int, payload: str) -> str:
    """Hostile in its title, headings, text, lists and tables."""
    words = escape(payload).replace("|", "\\|").replace("\n", " ")
    about = (
        f"title: {json.dumps(payload)}\nowner: {json.dumps(payload)}\ntopic: {json.dumps(payload)}"
    )
    return (
        f"---\n{about}\n---\n# {words}\n\nRule {number} of the gardens says {words} to all.\n\n"
        f"## Gate {number} {words}\n\n- {words}\n\n| Gate | {words} |\n|---|---|\n| {number} | {words} |\n"
    )


def file_name(number: int, payload: str) -> str:
    """The payload as far as a file may be called so."""
    return f"global/{number} {payload.replace('/', chr(0x2215))[:80]}.md"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    pages = {file_name(n, one): hostile_page(n, one) for n, one in enumerate(PAYLOADS)}
    made = make_workspace(tmp_path_factory.mktemp("workspace"), handbook=HANDBOOK | pages)
    cases = made.home / "cases.jsonl"
    with cases.open("w", encoding="utf-8") as file:
        for number, payload in enumerate(PAYLOADS):
            references = [{"text": payload}]
            case = {"id": f"leave-{number}", "question": payload, "references": references}
            file.write(json.dumps(case) + "\n")
    program = [sys.executable, "-m", "ombud", "--home", str(made.home)]
    run = ["lab", "sweep", str(cases), "plan.k=1,2", "--name", PAYLOADS[11], "--split", "open"]
    subprocess.run([*program, *run], check=True, capture_output=True)
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
    listed = page.get_by_role("navigation", name="Conversations")
    playwright.expect(listed.get_by_role("listitem")).to_have_count(len(PAYLOADS))
    check(page)
    listed.get_by_role("listitem").first.get_by_role("button").first.click()
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


def test_nothing_in_a_document_runs(new_page: NewPage, workspace: Workspace, address: str) -> None:
    """Through its title, its file's name, its owner and topic, its text: on its own pages, in the
    lists, in the answer that quotes it and in the panel beside that."""
    page = new_page(complaining=True, bypass_csp=True, base_url=address)
    hostile = [one for one in library.documents(workspace, None) if one.title in PAYLOADS]
    assert len(hostile) == len(PAYLOADS)
    for one in hostile:
        for path in (f"/documents/{one.id}?start=0&end=40", f"/admin/documents/{one.id}"):
            page.goto(address + path)
            check(page)
    for path in ("/documents", "/documents?q=gardens", "/admin/documents", "/admin/documents?q=js"):
        page.goto(address + path)
        check(page)
    page.goto(address)
    for number in range(0, len(PAYLOADS), 6):
        turn = ask(page, f"What does rule {number} of the gardens say?")
        turn.locator(".cite").first.click()
        playwright.expect(page.locator("#panel .source.on")).to_be_visible()
        check(page)
        page.keyboard.press("Escape")


def test_nothing_in_a_case_or_a_run_runs(new_page: NewPage, address: str) -> None:
    """Through questions, references, answers and names, on every page of the lab."""
    page = new_page(complaining=True, bypass_csp=True, base_url=address)
    client = page.context.request
    lab = client.get("/lab").text()
    runs = re.findall(r'name="run" value="([^"]+)"', lab)
    study = re.findall(r'href="(/lab/study[^"]+)"', lab)[0].replace("&amp;", "&")
    listed = client.get(f"/lab/cases?run={runs[0]}").text()
    cases = [one.replace("&amp;", "&") for one in re.findall(r'href="(/lab/case\?[^"]+)"', listed)]
    assert len(cases) > len(PAYLOADS) // 2  # the rest of them are sealed
    compared = f"/lab/report?run={runs[0]}&run={runs[1]}"
    for path in ("/lab", study, f"/lab/cases?run={runs[0]}", compared, *cases):
        page.goto(address + path)
        check(page)
    page.goto(address + "/lab")
    for box in page.locator("input[name=run]").all():
        box.check()
    with page.expect_navigation(url="**/annotate/*"):
        page.get_by_role("button", name=message("evaluation.runs_rate")).click()
    for _ in range(len(cases)):
        check(page)
        for _ in page.locator(".rating fieldset").all():
            page.keyboard.press("1")
        page.get_by_label("Comment").fill(PAYLOADS[0])
        with page.expect_navigation():
            page.keyboard.press("Enter")


def test_nothing_in_a_draft_or_a_prompt_runs(new_page: NewPage, address: str) -> None:
    page = new_page(complaining=True, bypass_csp=True, base_url=address)
    files = [
        {"name": name.rpartition("/")[2], "mimeType": "text/markdown", "buffer": text.encode()}
        for name, text in (
            (file_name(number, one), hostile_page(number, one))
            for number, one in enumerate(PAYLOADS[:20])
        )
    ]
    page.goto(address + "/admin/drafts")
    page.get_by_label(message("admin.drafts_files")).set_input_files(files)
    page.get_by_role("button", name=message("admin.drafts_upload")).click()
    page.wait_for_load_state()
    playwright.expect(page.locator("main")).to_contain_text("window.hurt")
    check(page)
    page.goto(address + "/admin/prompts/compose/default")
    text = page.get_by_label(message("admin.prompt_text"))
    kept = text.input_value()
    words = "\n".join(PAYLOADS).replace("$", "$$")
    text.fill(f"{kept}\n{words}\n</textarea><script>window.hurt=1</script>")
    page.get_by_role("button", name=message("admin.prompt_save")).click()
    playwright.expect(page.get_by_role("button", name=message("admin.prompt_use"))).to_be_visible()
    check(page)
