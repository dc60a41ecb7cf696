"""Every page there is, in a browser: no fault for an accessibility checker in either look, on a desk
and on a telephone; reached by keyboard alone; light; nothing on its console, its policy in force."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from journeys.browsers import NewPage, findings, fits, needs_chromium
from ombud.app import Workspace, library, people, sync_all
from ombud.types import Person
from ombud.web import create_app
from web.running import HANDBOOK, make_workspace, running
from web.test_originals import write_pdf
from web.weighing import weigh

pytestmark = [pytest.mark.slow, needs_chromium]
MOST_TABS = 400
"""On one page, before what was not reached counts as out of reach."""
HEAVIEST = 60_000
"""Bytes of a page with all it loads, on the wire; the chat has a limit of its own."""
ELSEWHERE = {"/login", "/login/done", "/shared/{secret}"}
"""Pages of journeys of their own: nobody signs in here."""
NAMES = (
    "/",
    "/desk",
    "/documents",
    "/documents/{document_id}",
    "/documents/{document_id}/changes",
    "/admin",
    "/admin/sources",
    "/admin/documents",
    "/admin/documents/{document_id}",
    "/admin/drafts",
    "/admin/prompts",
    "/admin/prompts/{task}/{variant}",
    "/admin/flags",
    "/admin/people",
    "/admin/groups",
    "/admin/audit",
    "/admin/desk",
    "/admin/replies",
    "/lab",
    "/lab/cases",
    "/lab/case",
    "/lab/report",
    "/lab/study",
    "/lab/production",
    "/lab/datasets",
    "/lab/datasets/{name}",
    "/lab/annotate/{identity}",
    "/lab/annotate/{identity}/agreement",
    "/playground",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """With something on every page: versions, a PDF, people, a token, a sweep."""
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    folder = made.home / "handbook"
    write_pdf(folder / "global" / "equipment.pdf")
    again = HANDBOOK["global/travel.md"].replace("EUR 220", "EUR 240")
    (folder / "global/travel.md").write_text(again, encoding="utf-8")
    sync_all(made)
    account = people.add_person(made, "ann", Person(country="GB"), ["advisor"], password="x" * 12)
    people.make_token(made, account, "open-webui", ["ask"])
    case = {
        "id": "leave-1",
        "question": "How many days of annual leave?",
        "person": {"country": "GB"},
        "expect": "answer",
        "references": [{"text": "26 days"}],
        "evidence": [{"document": "handbook/gb/leave.md", "quote": "26 days of paid annual leave"}],
    }
    cases = made.home / "cases.jsonl"
    cases.write_text(json.dumps(case) + "\n")
    program = [sys.executable, "-m", "ombud", "--home", str(made.home)]
    sweep = ["lab", "sweep", str(cases), "plan.k=1,2", "--name", "ks", "--split", "open"]
    subprocess.run([*program, *sweep], check=True, capture_output=True)
    for k in (1, 2):
        watched = ["lab", "run", str(cases), "--name", "watch", "--plan", f"k={k}"]
        subprocess.run([*program, *watched, "--split", "open"], check=True, capture_output=True)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


@pytest.fixture(scope="module")
def places(workspace: Workspace, address: str) -> dict[str, str]:
    """Name of a route -> one address of it."""
    by_name = {one.uri.rsplit("/", 1)[-1]: one.id for one in library.documents(workspace, None)}
    with httpx.Client(base_url=address, timeout=60) as client:
        runs = re.findall(r'name="run" value="([^"]+)"', client.get("/lab").text)
        rated = client.post("/lab/annotate", data={"run": runs, "criteria": "hypa"})
        travel = client.get(f"/documents/{by_name['travel.md']}").text
        begun = rated.headers["location"]
        cases = {"file": ("cases.jsonl", (workspace.home / "cases.jsonl").read_bytes())}
        client.post("/lab/datasets", data={"name": "leave", "why": "the first"}, files=cases)
    compared = re.findall(r'href="([^"]+/changes[^"]+)"', travel)[0].replace("&amp;", "&")
    found = {name: name for name in NAMES if "{" not in name}
    found |= {
        "/documents": "/documents?q=Hotel",
        "/documents/{document_id}": f"/documents/{by_name['equipment.pdf']}?start=0&end=20",
        "/documents/{document_id}/changes": compared,
        "/admin/documents/{document_id}": f"/admin/documents/{by_name['travel.md']}",
        "/admin/prompts/{task}/{variant}": "/admin/prompts/compose/default",
        "/lab/cases": f"/lab/cases?run={runs[0]}",
        "/lab/case": f"/lab/case?run={runs[0]}&case=leave-1",
        "/lab/report": f"/lab/report?run={runs[0]}&run={runs[1]}",
        "/lab/study": "/lab/study?name=ks",
        "/lab/datasets/{name}": "/lab/datasets/leave?case=leave-1",
        "/lab/annotate/{identity}": begun,
        "/lab/annotate/{identity}/agreement": f"{begun}/agreement",
    }
    return found


def pages_of(routes: list[BaseRoute]) -> Iterator[str]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        if inside is not None:
            yield from pages_of(inside.routes)
        elif isinstance(route, APIRoute):
            is_page = route.response_class is HTMLResponse and "GET" in (route.methods or ())
            yield from [route.path] if is_page else []


def test_no_page_is_left_out(workspace: Workspace) -> None:
    """A new page fails here until it is visited."""
    pages = set(pages_of(list(create_app(workspace).routes)))
    assert pages - ELSEWHERE - {"/admin/drafts/{identity}/report"} == set(NAMES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_every_page_has_no_fault_and_fits(
    new_page: NewPage, axe: str, places: dict[str, str], address: str, scheme: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    faults: dict[str, Any] = {}
    for name, place in places.items():
        reply = page.goto(address + place)
        assert reply.ok, name
        page.wait_for_load_state("networkidle")
        found = findings(page, axe)
        if found or not fits(page):
            faults[name] = found or "wider than the window"
    assert faults == {}


# What can be reached, but for radio buttons of a group, of which one can.
UNREACHED = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
  .filter((one) => one.tabIndex >= 0 && one.type !== "hidden" && one.type !== "radio")
  .filter((one) => !window.reached.has(one)).map((one) => one.outerHTML.slice(0, 120))"""


def test_every_page_is_reached_by_keyboard_alone(
    new_page: NewPage, places: dict[str, str], address: str
) -> None:
    page = new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(
        "window.reached = new Set(); addEventListener('focusin', (e) => reached.add(e.target), true)"
    )
    missed: dict[str, list[str]] = {}
    for name, place in places.items():
        page.goto(address + place)
        page.wait_for_load_state("networkidle")
        left = page.evaluate(UNREACHED)
        pressed = 0
        while left and pressed < MOST_TABS:
            for _ in left:
                page.keyboard.press("Tab")
            pressed += len(left)
            left = page.evaluate(UNREACHED)
        if left:
            missed[name] = left
    assert missed == {}


def test_every_page_is_light_and_has_its_policy(places: dict[str, str], address: str) -> None:
    heavy: dict[str, int] = {}
    with httpx.Client(base_url=address, timeout=60) as client:
        for name, place in places.items():
            reply = client.get(place)
            policy = reply.headers["content-security-policy"]
            assert "unsafe" not in policy, name
            assert "default-src" in policy, name
            weight = weigh(client, place)
            # A report is a file of its own, which holds every case.
            if weight > HEAVIEST and name != "/lab/report":
                heavy[name] = weight
    assert heavy == {}
