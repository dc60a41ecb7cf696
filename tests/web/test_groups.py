"""Rules of groups: edited on a page, counted at once, recorded."""

import json
from collections.abc import Iterator

import httpx
import pytest

from ombud.app import Workspace, people, signing_in
from ombud.messages import message
from ombud.store import read_links, verify_chain
from ombud.types import Account, Person
from web.running import make_workspace, running

PAY = "Pay bands for managers"
GROUP = "b3a4-directors"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMBUD_IDENTITY__KIND", "local")
        made = make_workspace(tmp_path_factory.mktemp("groups"))
    with running(made) as url:
        yield made, url
    made.close()


def browser(workspace: Workspace, url: str, account: Account) -> httpx.Client:
    cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
    return httpx.Client(base_url=url, cookies=cookies, follow_redirects=True)


def test_a_rule_gives_and_takes_roles_audiences_and_duties(served: tuple[Workspace, str]) -> None:
    workspace, url = served
    root = people.add_person(workspace, "root", Person(), ["admin"])
    ann = people.add_person(workspace, "ann", Person(country="GB", groups=(GROUP,)), [])
    bob = people.add_person(workspace, "bob", Person(country="GB", groups=("other",)), [])
    with (
        browser(workspace, url, root) as admin,
        browser(workspace, url, ann) as own,
        browser(workspace, url, bob) as other,
    ):
        assert PAY not in own.get("/documents").text
        rule = {"group": GROUP, "roles": "manager", "audiences": "board", "duty": "advisor"}
        assert GROUP in admin.post("/admin/groups", data=rule).text
        assert PAY in own.get("/documents").text
        assert own.get("/desk").status_code == 200
        assert own.get("/admin/groups").status_code == 403
        assert PAY not in other.get("/documents").text
        assert GROUP not in admin.post("/admin/groups/remove", data={"group": GROUP}).text
        assert PAY not in own.get("/documents").text
        assert own.get("/desk").status_code == 403
    facts = [link.facts for link in read_links(workspace.store, range(1, 20))]
    actions = [one["action"] for one in facts if "group" in one]
    assert actions == ["group rule saved", "group rule removed"]
    assert GROUP not in json.dumps(facts)
    assert verify_chain(workspace.store).broken is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"group": "", "roles": "manager"}, message("admin.error_group_id")),
        ({"group": "x" * 201, "roles": "manager"}, message("admin.error_group_id")),
        ({"group": "g"}, message("admin.error_rule_empty")),
        ({"group": "g", "duty": "king"}, "king"),
    ],
)
def test_a_rule_that_is_none_is_refused(
    served: tuple[Workspace, str], rule: dict[str, str], words: str
) -> None:
    workspace, url = served
    root = people.add_person(
        workspace, f"root{len(rule['group'])}{len(words)}", Person(), ["admin"]
    )
    with browser(workspace, url, root) as admin:
        reply = admin.post("/admin/groups", data=rule, headers={"accept": "text/html"})
        assert reply.status_code == 422
        assert words in reply.text
