"""SharePoint as a source, against a Graph that keeps to the written contract and misbehaves when it
is told to."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.shelf import Shelf, counts
from ombud.app import library
from ombud.documents import parse
from ombud.errors import MissingExtra, SourceError
from ombud.ingest import SyncReport, sync_sources
from ombud.settings import SharePoint
from ombud.sources import Ref, Source, open_source
from ombud.sources import client as http
from ombud.sources.sharepoint.access import NOBODY
from ombud.sources.sharepoint.source import SharePointSource
from ombud.sources.site import SiteClient
from ombud.types import Document, Person
from sources.confluence.site import Reply
from sources.sharepoint.site import (
    CLIENT,
    PAGES_LIST,
    SECRET,
    SITE,
    SITE_URL,
    TENANT,
    Drive,
    SharePointSite,
    Stored,
    Written,
    everyone,
    group,
    link,
    made_pem,
    other_part,
    person,
    site_group,
    standing,
    text_part,
)

DRIVE = "b!documents"
PAGE = "f45354cb-d634-45df-8b88-2b4e96a1dc45"
STAFF = {"groups": ("sharepoint-group:HR Members",)}


@pytest.fixture(scope="session")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_pem(tmp_path_factory.mktemp("tls") / "both.pem")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch, pem: Path) -> list[float]:
    """Seconds that would have been waited; proxies of the machine are not for 127.0.0.1."""
    waited: list[float] = []
    monkeypatch.setattr(http, "sleep", waited.append)
    monkeypatch.setenv("SHAREPOINT_SECRET", SECRET)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    monkeypatch.setenv("NO_PROXY", "*")
    return waited


@pytest.fixture
def site(pem: Path) -> Iterator[SharePointSite]:
    """Documents: Leave.md, Old/ with Pay.md in it, Old/Deep/ with Bonus.md; one page."""
    items = [
        Stored("01LEAVE", "Leave.md", b"# Leave\n\nTwenty-six days of leave.\n"),
        Stored("01PAY", "Pay.md", b"# Pay\n\nPaid monthly.\n", parent="01OLD"),
        Stored("01BONUS", "Bonus.md", b"# Bonus\n\nPaid in May.\n", parent="01DEEP"),
        Stored("01DEEP", "Deep", kind="folder", parent="01OLD"),
        Stored("01OLD", "Old", kind="folder"),
    ]
    made = SharePointSite([Drive(DRIVE, "Documents", items, (site_group("HR Members"),))])
    made.pages = [
        Written(PAGE, "Sick.aspx", "Sick leave", [text_part("<p>Call your manager.</p>")])
    ]
    made.pages_drive.grants = (site_group("HR Members"),)
    made.pages_drive.items = [Stored("01SICK", "Sick.aspx", unique=PAGE.upper())]
    with standing(made, pem) as standing_site:
        yield standing_site


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.delenv("OMBUD_HOME", raising=False)
    made = Shelf(tmp_path)
    yield made
    made.workspace.close()


def source(site: SharePointSite, **settings: Any) -> Source:
    given = {
        "url": SITE_URL,
        "tenant": TENANT,
        "client": CLIENT,
        "graph": site.graph,
        "authority": site.login,
    }
    return open_source(SharePoint(name="hr", **{**given, **settings}), Path())


def listed(site: SharePointSite, **settings: Any) -> dict[str, Ref]:
    return {ref.uri: ref for ref in source(site, **settings).list()}


def uri(item: str, ending: str = "md") -> str:
    return f"hr/{DRIVE}/{item}.{ending}"


def audience(site: SharePointSite, item: str, **settings: Any) -> Any:
    return listed(site, **settings)[uri(item)].facts["audience"]


def failing(work: Callable[[], Any]) -> SourceError:
    with pytest.raises(SourceError) as failed:
        work()
    said = f"{failed.value} {failed.value.hint}"
    assert SECRET not in said
    assert "token-" not in said
    return failed.value


# What is listed -----------------------------------------------------------------------------------


def test_files_and_pages_are_listed_by_their_ids(site: SharePointSite) -> None:
    refs = listed(site)
    assert list(refs) == [uri("01LEAVE"), uri("01PAY"), uri("01BONUS"), f"hr/SitePages/{PAGE}.html"]
    leave = refs[uri("01LEAVE")]
    assert leave.facts["title"] == "Leave"
    assert leave.facts["url"].startswith(SITE_URL)
    assert leave.facts["audience"] == STAFF
    assert leave.size == len(site.drive(DRIVE).item("01LEAVE").data)
    assert all(ref.version for ref in refs.values())
    assert not site.paths("/content")


def test_a_file_is_fetched_from_the_other_host_without_credentials(site: SharePointSite) -> None:
    here = source(site)
    (leave, *_) = here.list()
    assert here.read(leave) == b"# Leave\n\nTwenty-six days of leave.\n"
    (sent,) = [headers for path, headers in site.asked if path.startswith("/storage/")]
    assert "authorization" not in sent
    assert "cookie" not in sent
    assert all(
        "authorization" in headers for path, headers in site.asked if path.startswith("/graph/")
    )
    assert not any("cookie" in headers for _, headers in site.asked)


def test_the_secret_is_told_to_the_sign_in_only_and_once(site: SharePointSite) -> None:
    here = source(site)
    for ref in here.list():
        here.read(ref)
    assert len(site.tokens) == 1
    assert not any(SECRET in f"{path} {headers}" for path, headers in site.asked)


def test_lists_in_parts_are_read_to_their_end(site: SharePointSite) -> None:
    site.at_once = 1
    site.drives.append(
        Drive("b!forms", "Forms", [Stored("01FORM", "Form.PDF")], tuple(map(person, "abcde")))
    )
    refs = listed(site)
    assert len(refs) == 5
    assert refs["hr/b!forms/01FORM.pdf"].facts["audience"]["groups"] == tuple(
        f"sharepoint-user:{p}" for p in "abcde"
    )


def test_libraries_are_chosen_by_name(site: SharePointSite) -> None:
    site.drives.append(Drive("b!forms", "Forms", [Stored("01FORM", "Form.docx")], (everyone(),)))
    assert list(listed(site, libraries=("Forms",), pages=False)) == ["hr/b!forms/01FORM.docx"]
    failed = failing(source(site, libraries=("Forms", "No")).list)
    assert "`No`" in str(failed)
    assert "Documents, Forms" in failed.hint


def test_a_site_without_a_library_is_an_error(site: SharePointSite) -> None:
    site.drives = []
    assert "sees no library" in str(failing(source(site).list))


def test_only_documents_are_listed(site: SharePointSite) -> None:
    names = ["logo.png", "Notes.one", "Form.xlsx", "Mail.MSG", "no ending", "Sick.aspx"]
    site.drives[0].items = [Stored(f"01N{number}", name) for number, name in enumerate(names)]
    site.drives[0].items += [
        Stored("01BOOK", "Book.md", kind="package"),
        Stored("01CUT", "Cut.md", kind="shortcut"),
    ]
    assert list(listed(site, pages=False)) == [uri("01N2", "xlsx"), uri("01N3", "msg")]
    assert len(site.paths("/permissions")) == 2


def test_notebooks_and_shortcuts_are_named(site: SharePointSite) -> None:
    site.drives[0].items = [
        Stored("01BOOK", "Book", kind="package"),
        Stored("01CUT", "Cut.docx", kind="shortcut"),
    ]
    here = source(site, pages=False)
    assert isinstance(here, SharePointSource)
    assert here.list() == []
    library = site.drives[0].name
    assert {left.uri: left.why for left in here.left_out} == {
        f"{library}/Book": "it is a notebook",
        f"{library}/Cut.docx": "it is a shortcut to another library",
    }


def test_files_that_are_not_read_and_pages_never_published_are_named(
    site: SharePointSite,
) -> None:
    site.drives[0].items = [Stored("01N0", "Notes.one"), Stored("01N1", "Form.xlsx")]
    site.pages[0].version, site.pages[0].level = "0.3", "checkout"
    here = source(site)
    assert isinstance(here, SharePointSource)
    here.list()
    library, page = site.drives[0].name, site.pages[0].name
    assert {left.uri: bool(left.why) for left in here.left_out} == {
        f"{library}/Notes.one": True,
        f"SitePages/{page}": True,
    }


def test_names_may_be_odd(site: SharePointSite) -> None:
    names = [
        "100% #1 & +more?.md",
        "Überstunden ‘neu’.md",
        "a_b__c.md",
        "..md",
        " .md",
        "half \ud800.md",
    ]
    site.drives[0].items = [Stored(f"01N{number}", name) for number, name in enumerate(names)]
    here = source(site, pages=False)
    refs = here.list()
    assert [ref.facts["title"] for ref in refs[:3]] == [
        "100% #1 & +more?",
        "Überstunden ‘neu’",
        "a b  c",
    ]
    assert [str(ref).encode() for ref in refs]
    assert all(here.read(ref) for ref in refs)


def test_patterns_see_the_path_that_people_see(site: SharePointSite) -> None:
    refs = listed(
        site,
        exclude=("Documents/Old/Deep/**", "SitePages/Sick.aspx"),
        patterns={"**/Old/**": {"country": "IE"}},
    )
    assert list(refs) == [uri("01LEAVE"), uri("01PAY")]
    assert [ref.facts["countries"] for ref in refs.values()] == [(), ("IE",)]


def test_what_is_listed_twice_is_what_was_said_last(site: SharePointSite) -> None:
    site.twice["01PAY"] = {
        "id": "01PAY",
        "name": "Draft.md",
        "file": {},
        "parentReference": {"id": "root-1"},
    }
    site.twice["01GONE"] = {
        "id": "01GONE",
        "name": "Gone.md",
        "file": {},
        "parentReference": {"id": "root-1"},
    }
    site.drives[0].items.append(Stored("01GONE", "Gone.md", deleted=True))
    refs = listed(site)
    assert len(refs) == 4
    assert refs[uri("01PAY")].facts["title"] == "Pay"


def test_what_lies_in_a_deleted_folder_is_gone(site: SharePointSite) -> None:
    site.drive(DRIVE).item("01OLD").deleted = True
    assert list(listed(site, pages=False)) == [uri("01LEAVE")]


@pytest.mark.parametrize("parent", ["01NOWHERE", "01DEEP"])
def test_a_folder_that_is_hidden_or_in_itself_is_an_error_not_a_guess(
    site: SharePointSite, parent: str
) -> None:
    site.drive(DRIVE).item("01OLD").parent = parent
    failed = failing(source(site, pages=False).list)
    assert failed.hint
    assert ("without the folder" in str(failed)) == (parent == "01NOWHERE")


# What changes -------------------------------------------------------------------------------------


def test_moved_and_renamed_files_stay_the_same_document(site: SharePointSite) -> None:
    before = listed(site)[uri("01PAY")]
    pay = site.drive(DRIVE).item("01PAY")
    pay.name, pay.parent = "Salary_rules.md", "root"
    after = listed(site)[uri("01PAY")]
    assert after.facts["title"] == "Salary rules"
    assert after.version == before.version


def test_versions_change_with_the_content_and_with_nothing_else(site: SharePointSite) -> None:
    before = listed(site)
    site.drive(DRIVE).item("01PAY").version = 2
    site.drive(DRIVE).item("01LEAVE").grants = (everyone(),)
    site.drive(DRIVE).item("01BONUS").name = "May.md"
    after = listed(site)
    assert [one for one in after if after[one].version != before[one].version] == [uri("01PAY")]


def test_a_file_changed_after_its_permissions_were_read_waits(site: SharePointSite) -> None:
    here = source(site)
    refs = {ref.uri: ref for ref in here.list()}
    site.drive(DRIVE).item("01PAY").version += 1
    assert "changed while" in str(failing(lambda: here.read(refs[uri("01PAY")])))
    assert here.read(refs[uri("01LEAVE")])


def test_a_file_or_page_that_is_gone_fails_alone(site: SharePointSite) -> None:
    here = source(site)
    refs = {ref.uri: ref for ref in here.list()}
    site.drive(DRIVE).item("01PAY").deleted = True
    site.pages.clear()
    assert "not there any more" in str(failing(lambda: here.read(refs[uri("01PAY")])))
    assert "not there any more" in str(
        failing(lambda: here.read(refs[f"hr/SitePages/{PAGE}.html"]))
    )
    assert here.read(refs[uri("01LEAVE")])


def test_a_file_that_is_too_large_is_refused(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SiteClient.get, "__kwdefaults__", {"absent": (), "largest": 1000})
    site.drive(DRIVE).item("01PAY").data = b"x" * 5000
    here = source(site)
    refs = {ref.uri: ref for ref in here.list()}
    failed = failing(lambda: here.read(refs[uri("01PAY")]))
    assert "larger than" in str(failed)
    assert "signed" not in str(failed)


# Who may read -------------------------------------------------------------------------------------


def test_permissions_are_those_in_force(site: SharePointSite) -> None:
    drive = site.drive(DRIVE)
    drive.item("01OLD").grants = (group("g-1", "HR Advisors"), person("ann"))
    drive.item("01BONUS").grants = (group("g-1", "HR Advisors", owners=True),)
    assert audience(site, "01LEAVE") == STAFF
    assert audience(site, "01PAY") == {"groups": ("g-1", "sharepoint-user:ann")}
    assert audience(site, "01BONUS") == {"groups": ("g-1_o",)}
    names = {"HR Advisors": "hr", "HR Members": "*"}
    assert audience(site, "01LEAVE", groups=names) == {}
    assert audience(site, "01PAY", groups=names) == {"groups": ("hr", "sharepoint-user:ann")}


def test_a_changed_permission_is_seen_without_a_new_version(site: SharePointSite) -> None:
    assert audience(site, "01BONUS") == STAFF
    site.drive(DRIVE).item("01OLD").grants = (person("ann"),)
    assert audience(site, "01BONUS") == {"groups": ("sharepoint-user:ann",)}


def test_links_for_all_count_only_where_they_are_to(site: SharePointSite) -> None:
    site.drive(DRIVE).item("01PAY").grants = (person("ann"), link("organization"))
    assert audience(site, "01PAY") == {"groups": ("sharepoint-user:ann",)}
    assert audience(site, "01PAY", links=True) == {}


def test_permissions_narrow_what_the_settings_say(site: SharePointSite) -> None:
    site.drive(DRIVE).item("01PAY").grants = (everyone(),)
    roles = {"roles": ("manager",)}
    assert audience(site, "01LEAVE", audience=roles) == roles | STAFF
    assert audience(site, "01PAY", audience=roles) == roles
    assert audience(site, "01LEAVE", audience={"groups": ("it",)}) == NOBODY


@pytest.mark.parametrize("grants", [None, (), (site_group("HR Members", "sp.restricted view"),)])
def test_a_file_whose_readers_are_not_known_fails_and_is_nobodys(
    site: SharePointSite, grants: Any
) -> None:
    pay = site.drive(DRIVE).item("01PAY")
    pay.hidden, pay.grants = grants is None, grants
    here = source(site)
    refs = {ref.uri: ref for ref in here.list()}
    assert refs[uri("01PAY")].facts == {"audience": NOBODY}
    assert refs[uri("01PAY")].version == ""
    failed = failing(lambda: here.read(refs[uri("01PAY")]))
    assert "Who may read it is not known" in str(failed)
    assert failed.hint
    assert here.read(refs[uri("01BONUS")])


def test_permissions_that_fail_for_now_stop_the_list(site: SharePointSite) -> None:
    site.replies = [Reply("/items/01PAY/permissions", 503, times=99)]
    assert "503" in str(failing(source(site).list))


# Pages --------------------------------------------------------------------------------------------


def page_text(site: SharePointSite) -> tuple[str, list[str]]:
    """(title, blocks) of the page."""
    here = source(site)
    (ref,) = [ref for ref in here.list() if "/SitePages/" in ref.uri]
    blank = Document(id="0" * 16, source="hr", uri=ref.uri, title="")
    document = parse(here.read(ref), blank)
    return document.title, [block.text for block in document.blocks]


def test_a_page_is_its_title_and_the_words_of_its_parts(site: SharePointSite) -> None:
    site.pages[0].parts += [
        other_part(
            {"title": "Forms", "items[0].title": "Certificate"}, {"html": "<b>Bring</b> it."}
        )
    ]
    site.pages[0].beside = [text_part("<h2>See also</h2><p>Pay &amp; leave</p>")]
    title, blocks = page_text(site)
    assert title == "Sick leave"
    assert blocks == [
        "Sick leave",
        "Call your manager.",
        "Forms",
        "Certificate",
        "Bring it.",
        "See also",
        "Pay & leave",
    ]


def test_a_page_being_edited_keeps_what_was_published(site: SharePointSite) -> None:
    before = listed(site)[f"hr/SitePages/{PAGE}.html"]
    page = site.pages[0]
    page.title, page.version, page.level = "Sick leave 2", "1.3", "draft"
    here = source(site)
    after = here.list()[-1]
    assert after == before
    assert "being edited" in str(failing(lambda: here.read(after)))
    page.version, page.level = "2.0", "published"
    assert "changed while" in str(failing(lambda: here.read(after)))
    assert listed(site)[before.uri].version != before.version
    assert page_text(site)[0] == "Sick leave 2"


def test_a_page_never_published_is_not_there(site: SharePointSite) -> None:
    site.pages[0].version, site.pages[0].level = "0.3", "checkout"
    assert f"hr/SitePages/{PAGE}.html" not in listed(site)
    assert not site.paths("/lists")


def test_a_page_has_the_permissions_of_its_file(site: SharePointSite) -> None:
    site.pages_drive.items[0].grants = (person("ann"),)
    assert listed(site)[f"hr/SitePages/{PAGE}.html"].facts["audience"] == {
        "groups": ("sharepoint-user:ann",)
    }


@pytest.mark.parametrize("how", ["file", "permissions", "lists", "drive"])
def test_a_page_whose_file_is_hidden_is_nobodys(site: SharePointSite, how: str) -> None:
    if how == "file":
        site.pages_drive.items[0].unique = ""
    site.pages_drive.items[0].hidden = how == "permissions"
    paths = {"lists": f"/sites/{SITE}/lists?", "drive": f"/lists/{PAGES_LIST}/drive"}
    site.replies = [Reply(paths[how], 403)] if how in paths else []
    here = source(site)
    ref = here.list()[-1]
    assert ref.facts == {"audience": NOBODY}
    assert "not known" in str(failing(lambda: here.read(ref)))


def test_pages_may_be_left_out(site: SharePointSite) -> None:
    assert len(listed(site, pages=False)) == 3
    assert not site.paths("/pages/")
    site.replies = [Reply("/pages/", 403)]
    assert "pages = false" in failing(source(site).list).hint


# Signing in ---------------------------------------------------------------------------------------


def test_a_token_that_ends_in_the_middle_is_renewed(site: SharePointSite) -> None:
    site.token_lasts = 10  # of some 19 requests, of which four are asked at once
    here = source(site)
    refs = here.list()
    assert len(refs) == 4
    assert len({here.read(ref) for ref in refs}) == 4
    assert 2 <= len(site.tokens) <= 4


def test_a_token_that_is_never_good_is_asked_for_twice(site: SharePointSite) -> None:
    site.token_lasts = 0
    failed = failing(source(site).list)
    assert "does not accept" in str(failed)
    assert SITE_URL in failed.hint
    assert len(site.tokens) == 2


@pytest.mark.parametrize("secret", ["", "  "])
def test_a_missing_secret_names_the_variable(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("SHAREPOINT_SECRET", secret)
    assert "SHAREPOINT_SECRET" in failing(source(site).list).hint
    assert not site.asked


def test_a_wrong_secret_names_the_variable(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HR_SECRET", "the id, not the value")
    failed = failing(source(site, secret_env="HR_SECRET").list)
    assert "the secret is wrong" in str(failed)
    assert "HR_SECRET" in failed.hint
    assert "not the value" not in f"{failed}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tenant": "fabrikam.example"}, "there is no such tenant"),
        ({"client": "99999999-2222"}, "the tenant knows no such application"),
    ],
)
def test_a_wrong_tenant_or_application_is_said_to_be_that(
    site: SharePointSite, settings: dict[str, Any], said: str
) -> None:
    failed = failing(source(site, **settings).list)
    assert said in str(failed)
    assert failed.hint
    assert "Trace" not in f"{failed}{failed.hint}"


def test_another_refusal_tells_its_number(site: SharePointSite) -> None:
    body = b'{"error": "invalid_grant", "error_description": "AADSTS53003: Blocked. Trace ID: 1"}'
    site.replies = [Reply("/oauth2/v2.0/token", 400, body)]
    assert "AADSTS53003" in str(failing(source(site).list))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"token_endpoint": 1}', b"{}"])
@pytest.mark.parametrize(
    ("path", "status"),
    [("openid-configuration", 200), ("/oauth2/v2.0/token", 200), ("/oauth2/v2.0/token", 403)],
)
def test_a_sign_in_that_talks_nonsense_is_an_error(
    site: SharePointSite, path: str, status: int, body: bytes
) -> None:
    site.replies = [Reply(path, status, body)]
    failed = failing(source(site).list)
    assert "source `hr`" in str(failed)
    assert "tenant" not in str(failed)
    assert failed.hint


def test_the_secret_goes_to_no_other_host(site: SharePointSite) -> None:
    base = f"{site.storage}/{TENANT}/oauth2/v2.0".encode()
    body = b'{"authorization_endpoint": "%s/authorize", "token_endpoint": "%s/token"}' % (
        base,
        base,
    )
    site.replies = [Reply("openid-configuration", 200, body)]
    assert "another host" in str(failing(source(site).list))
    assert not site.paths("/storage")


def test_a_busy_sign_in_is_waited_for(site: SharePointSite, waits: list[float]) -> None:
    site.replies = [
        Reply("openid-configuration", 503),
        Reply("/oauth2/v2.0/token", 429, headers={"retry-after": "7"}),
    ]
    assert len(listed(site)) == 4
    assert waits == [1.0, 7.0]
    site.replies = [Reply("openid-configuration", 503, times=99)]
    assert "503" in str(failing(source(site).list))


def test_a_certificate_is_as_good_as_a_secret(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch, pem: Path
) -> None:
    site.certificate = pem.read_text()
    monkeypatch.setenv("SHAREPOINT_SECRET", pem.read_text())
    assert len(listed(site)) == 4


def test_another_certificate_is_not(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site.certificate = made_pem(tmp_path / "known.pem").read_text()
    monkeypatch.setenv("SHAREPOINT_SECRET", made_pem(tmp_path / "other.pem").read_text())
    assert "not the application's" in str(failing(source(site).list))


@pytest.mark.parametrize("part", ["-----BEGIN", "CERTIFICATE", "PRIVATE"])
def test_half_a_certificate_is_an_error(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch, pem: Path, part: str
) -> None:
    monkeypatch.setenv(
        "SHAREPOINT_SECRET", pem.read_text().replace(part, "-----BEGIN x" if "-" in part else "x")
    )
    failed = failing(source(site).list)
    assert "SHAREPOINT_SECRET holds no certificate" in str(failed)
    assert "MII" not in f"{failed}{failed.hint}"


def test_without_msal_the_pip_command_is_said(
    site: SharePointSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "ombud.sources.sharepoint.source",
        "ombud.sources.sharepoint.token",
        "msal.exceptions",
    ):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "msal", None)
    with pytest.raises(MissingExtra, match="needs the package `msal`") as missing:
        source(site)
    assert missing.value.hint == "pip install 'ombud[sharepoint]'"


# Trouble ------------------------------------------------------------------------------------------


def test_a_busy_site_is_waited_for(site: SharePointSite, waits: list[float]) -> None:
    site.replies = [Reply("/drives", 429, headers={"retry-after": "7"}), Reply("/drives", 503)]
    assert len(listed(site)) == 4
    assert waits == [7.0, 14.0]


def test_a_busy_permission_is_waited_for(site: SharePointSite, waits: list[float]) -> None:
    site.replies = [Reply("/permissions", 429, headers={"retry-after": "30"})]
    assert len(listed(site)) == 4
    assert waits == [30.0]


def test_a_site_that_wants_hours_is_left_alone(site: SharePointSite, waits: list[float]) -> None:
    site.replies = [Reply("/drives", 429, headers={"retry-after": "7200"})]
    assert "7200 seconds" in str(failing(source(site).list))
    assert waits == []


def test_broken_connections_are_tried_again(site: SharePointSite) -> None:
    site.replies = [
        Reply("/root/delta", hang_up=True),
        Reply("/permissions", body=b"{}", headers={"content-length": "9"}),
    ]
    assert len(listed(site)) == 4


def test_a_list_that_leads_back_to_its_beginning_is_an_error(site: SharePointSite) -> None:
    site.circle = True
    assert "round in circles" in str(failing(source(site).list))


@pytest.mark.parametrize("path", ["/drives", "/root/delta", "/permissions", "/pages/"])
def test_a_list_does_not_continue_on_another_host(site: SharePointSite, path: str) -> None:
    away = f'{{"value": [], "@odata.nextLink": "{site.storage}/v1.0/x"}}'
    site.replies = [Reply(path, body=away.encode())]
    assert "another host" in str(failing(source(site).list))
    assert not site.paths("/storage")


def test_a_listing_that_graph_lost_is_begun_anew(site: SharePointSite) -> None:
    site.replies = [Reply("skiptoken", 410, b'{"error": {"code": "resyncRequired"}}')]
    assert len(listed(site)) == 4
    site.replies = [Reply("/root/delta", 410, times=99)]
    assert "losing its place" in str(failing(source(site).list))


def test_a_listing_that_breaks_off_is_no_list(site: SharePointSite) -> None:
    site.replies = [Reply("/root/delta", body=b'{"value": []}')]
    assert "breaks off" in str(failing(source(site).list))


@pytest.mark.parametrize(
    "body", [b'{"value": [', b"<html>Log in</html>", b"[]", b'{"value": [1]}', b"\xff", b"{}"]
)
@pytest.mark.parametrize(
    "path", [f"/sites/{SITE}/drives", "/root/delta", "/permissions", "microsoft.graph.sitePage"]
)
def test_half_an_answer_is_an_error_not_half_a_list(
    site: SharePointSite, path: str, body: bytes
) -> None:
    site.replies = [Reply(path, body=body)]
    assert failing(source(site).list)


@pytest.mark.parametrize("bad", ["", "../x", "a/b", "..", "a b", "x" * 400, None, 5])
def test_ids_that_are_none_are_not_asked_for(site: SharePointSite, bad: Any) -> None:
    site.drives[0].items[0].id = bad if isinstance(bad, str) else ""
    site.twice["x"] = {"id": bad, "name": "x.md", "file": {}}
    assert "without an id" in str(failing(source(site).list))


def test_a_page_without_a_version_is_an_error(site: SharePointSite) -> None:
    site.pages[0].version = "latest"
    assert "without its version" in str(failing(source(site).list))


def test_a_site_that_is_not_there_says_what_to_grant(site: SharePointSite) -> None:
    failed = failing(source(site, url="https://contoso.sharepoint.com/sites/nowhere").list)
    assert "sites/nowhere" in str(failed)
    assert "Sites.Selected" in failed.hint


@pytest.mark.parametrize("key", ["url", "graph", "authority"])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "contoso.sharepoint.com",
        "http://contoso.sharepoint.com",
        "https://",
        "https://[",
        "https://e.com/?a=b",
    ],
)
def test_an_address_that_is_none_is_an_error(site: SharePointSite, key: str, url: str) -> None:
    assert f"{key} is no https address" in str(failing(lambda: source(site, **{key: url})))


@pytest.mark.parametrize("key", ["url", "graph", "authority"])
def test_an_address_holds_no_password(site: SharePointSite, key: str) -> None:
    failed = failing(lambda: source(site, **{key: "https://u:pass-9@example.com/"}))
    assert "pass-9" not in f"{failed}{failed.hint}"


@pytest.mark.parametrize("key", ["tenant", "client"])
@pytest.mark.parametrize("value", ["", "a/b", "..", "a b", "ä"])
def test_ids_of_tenant_and_application_look_like_ids(
    site: SharePointSite, key: str, value: str
) -> None:
    assert f"{key} is no id" in str(failing(lambda: source(site, **{key: value})))


# All the way --------------------------------------------------------------------------------------


def synced(shelf: Shelf, site: SharePointSite) -> SyncReport:
    (report,) = sync_sources(shelf.workspace.ingest, [source(site, groups={"HR Members": "*"})])
    return report


def shown(shelf: Shelf, *groups: str) -> set[str]:
    """Titles of the documents that a member of these groups may see."""
    return {
        document.title for document in library.documents(shelf.workspace, Person(groups=groups))
    }


def words(shelf: Shelf) -> str:
    """All that is in the index."""
    return " ".join(chunk.text for chunk in shelf.chunks())


def test_a_sync_follows_what_happens_in_the_site(shelf: Shelf, site: SharePointSite) -> None:
    drive = site.drive(DRIVE)
    assert counts(synced(shelf, site)) == {"added": 4}
    assert shown(shelf) == {"Leave", "Pay", "Bonus", "Sick leave"}
    assert "Call your manager." in words(shelf)
    site.asked.clear()
    assert counts(synced(shelf, site)) == {"unchanged": 4}
    assert not site.paths("/content")
    drive.item("01PAY").data, drive.item("01PAY").version = b"# Pay\n\nPaid weekly.\n", 2
    drive.item("01LEAVE").parent, drive.item("01LEAVE").name = "01OLD", "Holidays.md"
    assert counts(synced(shelf, site)) == {"updated": 2, "unchanged": 2}
    assert shown(shelf) == {"Holidays", "Pay", "Bonus", "Sick leave"}
    assert "weekly" in words(shelf)
    assert "monthly" not in words(shelf)
    drive.item("01BONUS").deleted = True
    assert counts(synced(shelf, site)) == {"deleted": 1, "unchanged": 3}
    assert "in May" not in words(shelf)


def test_a_sync_takes_permissions_away_at_once(shelf: Shelf, site: SharePointSite) -> None:
    synced(shelf, site)
    pay = site.drive(DRIVE).item("01PAY")
    pay.grants = (group("g-1", "Payroll"),)
    assert counts(synced(shelf, site)) == {"updated": 1, "unchanged": 3}
    assert "Pay" not in shown(shelf)
    assert "Pay" in shown(shelf, "g-1")
    pay.hidden = True
    report = synced(shelf, site)
    (failed,) = report.failed
    assert (failed.uri, failed.name) == (uri("01PAY"), f"{site.drive(DRIVE).name}/Old/Pay.md")
    assert "is not known" in failed.reason
    assert "Pay" not in shown(shelf, "g-1")
    pay.hidden = False
    synced(shelf, site)
    assert "Pay" in shown(shelf, "g-1")


@pytest.mark.parametrize("blank", [b"", b"\n"])
@pytest.mark.parametrize(
    "head", [b"---\naudience: {}\n---\n", b"+++\naudience = {}\n+++\n", b'{"audience": {}}\n']
)
def test_the_head_of_a_file_does_not_undo_a_permission(
    shelf: Shelf, site: SharePointSite, head: bytes, blank: bytes
) -> None:
    pay, leave = site.drive(DRIVE).item("01PAY"), site.drive(DRIVE).item("01LEAVE")
    pay.data, pay.name = blank + head + b"Text.\n", "Pay.mdx"
    pay.grants = (group("g-1", "Payroll"),)
    leave.data, leave.grants = b"---\naudience: {groups: [x]}\n---\nText.\n", (everyone(),)
    synced(shelf, site)
    assert not {"Pay", "Leave"} & shown(shelf)
    assert "Pay" in shown(shelf, "g-1")
    assert "Leave" in shown(shelf, "x")


def test_a_page_that_is_being_edited_is_still_shown(shelf: Shelf, site: SharePointSite) -> None:
    synced(shelf, site)
    page = site.pages[0]
    page.parts, page.title, page.version, page.level = (
        [text_part("<p>Draft.</p>")],
        "Draft",
        "1.1",
        "draft",
    )
    assert counts(synced(shelf, site)) == {"unchanged": 4}
    assert "Call your manager." in words(shelf)
    page.version, page.level = "2.0", "published"
    assert counts(synced(shelf, site)) == {"updated": 1, "unchanged": 3}
    assert "Draft" in shown(shelf)


def test_a_listing_that_fails_deletes_nothing(shelf: Shelf, site: SharePointSite) -> None:
    synced(shelf, site)
    site.replies = [Reply("/root/delta", 500, times=99)]
    assert "Nothing was changed" in synced(shelf, site).note
    assert shown(shelf) == {"Leave", "Pay", "Bonus", "Sick leave"}
