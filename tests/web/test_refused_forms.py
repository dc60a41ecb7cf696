"""What a form of those who look after it is refused with: on its page, with what was typed."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ombud.app import Workspace, people
from ombud.messages import country_name, message
from ombud.types import Person
from web.running import make_workspace, running

BROWSER = {"accept": "text/html"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("refused"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[httpx.Client]:
    with (
        running(workspace) as url,
        httpx.Client(base_url=url, follow_redirects=True, timeout=60, headers=BROWSER) as made,
    ):
        yield made


def alert(page: httpx.Response) -> str:
    """What the page says went wrong, as people read it."""
    (said,) = re.findall(r'role="alert"[^>]*>(.*?)</div>', page.text, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", "", said).replace("&#39;", "'").split())


def test_a_country_by_its_name_is_that_country(client: httpx.Client, workspace: Workspace) -> None:
    sent = {"name": "bea", "password": "correct horse battery", "country": "Great Britain"}
    assert client.post("/admin/people", data=sent).status_code == 200
    assert people.find_person(workspace, "bea").person.country == "GB"
    page = client.get("/admin/people").text
    assert 'value="United Kingdom"' in page.partition(message("admin.person_add"))[0]
    assert '<option value="Greece">GR</option>' in page
    page = client.get("/admin/people", headers={"accept-language": "de"}).text
    assert 'value="Vereinigtes Königreich"' in page.partition(message("admin.person_add", "de"))[0]


def test_what_is_no_country_is_refused_where_it_was_typed(
    client: httpx.Client, workspace: Workspace
) -> None:
    sent = {"name": "cyd", "password": "a secret of somebody", "country": "Englnd"}
    page = client.post("/admin/people", data={**sent, "roles": "manager", "duty": "advisor"})
    assert page.status_code == 422
    guess = message("admin.error_country_guess", name=country_name("GB"))
    assert alert(page).startswith(
        f"{message('admin.error_country', text='Englnd')} {guess}".replace("`", "")
    )
    assert 'aria-current="page">People' in page.text  # still on the page, with its tabs
    form = page.text.partition(message("admin.person_add"))[2]
    assert form.index('role="alert"') < form.index("<form")
    for typed in ('value="cyd"', 'value="Englnd"', 'value="manager"', 'value="advisor" checked'):
        assert typed in form
    assert "a secret of somebody" not in page.text
    assert "cyd" not in [one.name for one in people.list_people(workspace)]


@pytest.mark.parametrize(
    ("tab", "place", "sent"),
    [
        ("People", "/admin/people", {"name": "Ann Lee", "password": "x" * 12}),
        ("People", "/admin/people", {"name": "ann", "password": "short"}),
        ("People", "/admin/people/bea/password", {"password": "short"}),
        ("People", "/admin/people/nobody/duties", {"duty": "admin"}),
        ("People", "/admin/tokens", {"name": "x", "for": "bea", "right": "admin"}),
        ("Sources", "/admin/sources/folder", {"path": "/nowhere/at/all"}),
        ("Sources", "/admin/sources/folder", {"path": "/", "country": "EN"}),
        ("Sources", "/admin/sources/run", {"name": "unheard"}),
        ("Flags", "/admin/flags/country", {"code": "EN", "plan": "k = 4"}),
        ("Flags", "/admin/flags/experiment", {"name": "../x", "share": "25", "plan": ""}),
        ("Prompts", "/admin/prompts/hyde/default", {"text": "Write of $nonsense"}),
        ("Drafts", "/admin/drafts/upload", {}),
    ],
)
def test_every_form_is_refused_on_its_own_page(
    client: httpx.Client, tab: str, place: str, sent: dict[str, str]
) -> None:
    if "bea" not in client.get("/admin/people").text:
        client.post("/admin/people", data={"name": "bea", "password": "correct horse battery"})
    page = client.post(place, data=sent)
    assert 400 <= page.status_code < 500
    assert f'aria-current="page">{tab}<' in page.text
    assert message("admin.nothing_done") in alert(page)
    assert "`" not in alert(page)


def test_nothing_is_undone_by_a_program_that_reads_problems(client: httpx.Client) -> None:
    sent = {"path": "/nowhere/at/all"}
    said = client.post("/admin/sources/folder", data=sent, headers={"accept": "*/*"})
    assert said.status_code == 422
    assert said.headers["content-type"] == "application/problem+json"


def test_how_to_let_colleagues_in_begins_with_oneself(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    people.add_person(made, "dan", Person(country="GB"), ["employee"], password="x" * 12)
    with running(made) as url:
        page = httpx.get(f"{url}/admin/people").text
        steps = page.partition("<ol")[2].partition("</ol>")[0]
        assert steps.index("Admin") < steps.index('kind = "local"') < steps.index("ombud serve")
        assert message("admin.people_no_admin") in steps
        assert 'host = "0.0.0.0"' in steps
        assert "public_url" in steps
        assert "ombud people add NAME --duty admin" in page
        assert str(tmp_path) not in page
        people.add_person(made, "eve", Person(), ["admin"], password="x" * 12)
        assert message("admin.people_no_admin") not in httpx.get(f"{url}/admin/people").text
    made.close()
