"""The pages of those who look after it, in a browser: found without help, by keyboard, in both
looks, on a phone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.browsers import NewPage, Page, findings, fits, needs_chromium, playwright
from ombud.app import Workspace, people, signing_in
from ombud.messages import message
from ombud.types import Person
from web.running import make_workspace, running

pytestmark = [pytest.mark.slow, needs_chromium]
PASSWORD = "correct horse battery"
HOSTILE = '"><img src=x onerror="window.hurt=1"><script>window.hurt=2</script>'
TABS = (
    "admin.tab_usage",
    "admin.tab_sources",
    "admin.tab_documents",
    "admin.tab_drafts",
    "admin.tab_prompts",
    "admin.tab_flags",
    "admin.tab_desk",
    "admin.tab_replies",
    "admin.tab_people",
    "admin.tab_groups",
    "admin.tab_audit",
    "page.lab",
    "admin.tab_playground",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        made = make_workspace(tmp_path_factory.mktemp("workspace"))
    made.follow(lambda _: None, clock=lambda: 0.0)
    people.add_person(made, "root", Person(country="GB"), ["admin"], password=PASSWORD)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture
def signed_in(new_page: NewPage) -> NewPage:
    """A page of somebody who has signed in by keyboard alone."""

    def sign_in(*arguments: object, **options: object) -> object:
        page = new_page(*arguments, **options)
        playwright.expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.keyboard.type("root")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        playwright.expect(page.get_by_label("Your question")).to_be_visible()
        return page

    return sign_in


def test_signing_in_has_no_faults_for_an_accessibility_checker(new_page: NewPage, axe: str) -> None:
    page = new_page(complaining=True, viewport={"width": 390, "height": 844})
    assert findings(page, axe) == []
    page.get_by_label("Name").fill("root")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("do not go together")
    playwright.expect(page.get_by_label("Password")).to_be_focused()
    assert findings(page, axe) == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 390])
def test_every_page_is_well_made_in_both_looks_and_on_a_phone(
    signed_in: NewPage, axe: str, dark: bool, width: int
) -> None:
    page = signed_in(viewport={"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if dark else "light")
    base = page.url
    page.goto(base + "admin")
    check_tabs(page, axe, "en")
    for path in ("admin/prompts/compose/default",):
        page.goto(base + path)
        assert findings(page, axe) == [], path
        assert fits(page), path


@pytest.mark.parametrize(("language", "width"), [("de", 390), ("fr", 1440)])
def test_every_page_is_well_made_in_other_languages(
    new_page: NewPage, axe: str, workspace: Workspace, address: str, language: str, width: int
) -> None:
    page = new_page(locale=language, viewport={"width": width, "height": 900})
    login = signing_in.open_browser(workspace, people.find_person(workspace, "root"))
    page.context.add_cookies([{"name": "ombud_login", "value": login, "url": address}])
    page.goto(f"{address}/admin")
    check_tabs(page, axe, language)


def check_tabs(page: Page, axe: str, language: str) -> None:
    tabs = page.get_by_role("navigation", name=message("admin.pages", language))
    for tab in (message(key, language) for key in TABS):
        tabs.get_by_role("link", name=tab, exact=True).click()
        playwright.expect(page.locator("[aria-current=page]")).to_have_text(tab)
        assert findings(page, axe) == [], tab
        assert fits(page), tab


def test_a_newcomer_finds_how_to_hand_in_a_document(
    signed_in: NewPage, workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "Bicycles.md"
    file.write_text("# Bicycles\n\nThe company leases a bicycle to everybody who asks for one.\n")
    page = signed_in()
    page.get_by_label("Signed in as root").click()
    page.get_by_role("link", name="Admin").click()
    page.get_by_role("link", name="Sources").click()
    page.get_by_label("Files").set_input_files(str(file))
    page.get_by_role("button", name=message("admin.upload_button")).click()
    playwright.expect(page.get_by_text(message("admin.sync_done"))).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("link", name="Bicycles").click()
    playwright.expect(page.locator(".passage")).to_contain_text("leases a bicycle")


def test_a_newcomer_finds_how_to_revert_a_prompt(signed_in: NewPage) -> None:
    page = signed_in()
    page.get_by_label("Signed in as root").click()
    page.get_by_role("link", name="Admin").click()
    page.get_by_role("link", name="Prompts").click()
    page.get_by_role("link", name="compose/default").click()
    text = page.get_by_label("Text")
    text.fill(text.input_value() + "\nBe brief.")
    page.get_by_role("button", name=message("admin.prompt_save")).click()
    page.get_by_role("button", name=message("admin.prompt_use")).click()
    playwright.expect(
        page.get_by_text(message("admin.prompt_uses_version", number=1))
    ).to_be_visible()
    page.get_by_role("button", name=message("admin.prompt_revert")).click()
    playwright.expect(page.get_by_text(message("admin.prompt_uses_default"))).to_be_visible()


def test_a_newcomer_finds_how_to_give_a_colleague_access(
    signed_in: NewPage, workspace: Workspace
) -> None:
    page = signed_in()
    page.get_by_label("Signed in as root").click()
    page.get_by_role("link", name="Admin").click()
    page.get_by_role("link", name="People").click()
    adding = page.locator("form[action='/admin/people']")
    adding.get_by_label(message("page.user_name")).fill("ann")
    adding.get_by_label("Password").fill(PASSWORD)
    adding.get_by_label("Country").fill("de")
    adding.get_by_label("Advisor").check()
    adding.get_by_role("button", name="Add").click()
    playwright.expect(page.locator("details", has_text="ann")).to_contain_text("Advisor")
    assert people.find_person(workspace, "ann").person.country == "DE"


def test_what_people_write_runs_nowhere(signed_in: NewPage, workspace: Workspace) -> None:
    account = people.find_person(workspace, "root")
    people.make_token(workspace, account, HOSTILE, ["ask"])
    page = signed_in(complaining=True)
    base = page.url
    for path in ("admin/people", f"admin/documents?q={HOSTILE}", "admin/audit", "admin/documents"):
        page.goto(base + path)
        assert page.evaluate("window.hurt") is None, path
    page.goto(base + "admin/flags")
    form = page.locator("form[action='/admin/flags/country']").last
    form.get_by_label("Country").fill("FR")
    form.get_by_label(message("admin.flags_plan")).fill(f'k = "{HOSTILE}"')
    form.get_by_role("button", name="Add").click()
    # What was refused is said on the form's own page, with what was typed still in it.
    playwright.expect(page.get_by_role("alert")).to_contain_text(message("admin.nothing_done"))
    assert page.evaluate("window.hurt") is None


def test_signing_out_leads_to_where_one_signs_in(signed_in: NewPage) -> None:
    page = signed_in()
    page.get_by_label("Signed in as root").click()
    page.get_by_role("button", name="Sign out").click()
    playwright.expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    page.reload()
    playwright.expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_engineer_tries_a_question_with_every_knob(signed_in: NewPage, axe: str) -> None:
    page = signed_in()
    page.goto(page.url + "playground")
    page.get_by_label("Question").fill("How many days of annual leave do I have?")
    page.get_by_label("Country").select_option("GB")
    page.get_by_label(message("playground.method")).select_option("pa")
    page.get_by_label(message("playground.passages")).fill("2")
    page.get_by_role("button", name="Ask", exact=True).click()
    playwright.expect(page.locator("#answer")).to_contain_text("26 days")
    playwright.expect(page.locator("#nodes article")).to_have_count(2)
    playwright.expect(page.locator("#nodes article").first).to_contain_text("score")
    playwright.expect(page.locator("#routed")).to_contain_text(message("playground.needs_one"))
    playwright.expect(page.locator("#samples .mute")).to_have_count(6)
    playwright.expect(page.locator("#stage")).to_contain_text("Answered")
    assert findings(page, axe) == []
    page.get_by_role("button", name=message("playground.copy")).click()
    playwright.expect(page.locator("#stage")).to_have_text(message("thread.copied"))
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == '[plan]\npreset = "pa"\nk = 2'


def test_a_sweep_is_seen_as_pictures(signed_in: NewPage, axe: str, workspace: Workspace) -> None:
    cases = write_case(workspace)
    ombud(
        workspace, "lab", "sweep", str(cases), "plan.k=1,2", "--name", "how many", "--split", "open"
    )
    page = signed_in()
    page.goto(page.url + "lab")
    page.get_by_role("heading", name=message("evaluation.studies")).scroll_into_view_if_needed()
    page.locator(".rows").get_by_role("link", name="how many").click()
    playwright.expect(page.get_by_role("heading", level=1)).to_have_text("how many")
    reached = page.get_by_role("region", name="What each set-up reaches")
    playwright.expect(reached).to_contain_text("k=2")
    playwright.expect(page.get_by_role("region", name="Quality against time")).to_contain_text(
        "k=1"
    )
    assert findings(page, axe) == []
    page.get_by_label("k=1").check()
    page.get_by_label("k=2").check()
    page.get_by_role("button", name=message("evaluation.compare")).click()
    playwright.expect(page.locator("body")).to_contain_text("Metrics")


def write_case(workspace: Workspace) -> Path:
    case = {
        "id": "leave-1",
        "question": "How many days of annual leave?",
        "type": "simple",
        "person": {"country": "GB"},
        "expect": "answer",
        "references": [{"text": "26 days"}],
        "evidence": [{"document": "handbook/gb/leave.md", "quote": "26 days of paid annual leave"}],
    }
    path = workspace.home / "cases.jsonl"
    path.write_text(json.dumps(case) + "\n")
    return path


def ombud(workspace: Workspace, *words: str) -> None:
    command = [sys.executable, "-m", "ombud", "--home", str(workspace.home), *words]
    subprocess.run(command, check=True, capture_output=True)


def test_answers_are_rated_by_keyboard_alone(
    signed_in: NewPage, axe: str, workspace: Workspace
) -> None:
    cases = write_case(workspace)
    ombud(workspace, "lab", "run", str(cases), "--name", "first")
    page = signed_in()
    page.goto(page.url + "lab")
    assert findings(page, axe) == []
    page.get_by_label(message("evaluation.runs_select", name="first")).check()
    page.get_by_role("button", name=message("evaluation.runs_rate")).click()
    playwright.expect(
        page.get_by_role("heading", name=message("evaluation.rate_title"))
    ).to_be_visible()
    assert findings(page, axe) == []
    for _ in page.locator(".rating fieldset").all():
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_text(message("evaluation.rate_done"))).to_be_visible()
    page.get_by_role("link", name=message("evaluation.agree_title")).click()
    playwright.expect(page.get_by_role("row")).not_to_have_count(0)
    assert findings(page, axe) == []
